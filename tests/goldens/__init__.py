"""One golden file per game: a match in notation, and counts of move sequences.

A change in what the rules do shows here. It must raise the game's rules
version; then `python -m tests.goldens GAME` writes the file anew, and with it
the sample and the document of the game's page.
"""

import textwrap
from functools import cache
from pathlib import Path

from arena.games.catalogue import GAMES, game_by_id
from arena.games.contract import SentEvent
from arena.games.notation import Notation
from arena.testing.deals import SeededDeals
from tests.games.random_play import moments

FOLDER = Path(__file__).parent
PAGES = FOLDER.parents[1] / "arena" / "games" / "pages"
DOCUMENTS = FOLDER.parents[1] / "docs" / "games"
PICTURES = DOCUMENTS / "pictures"
INDEX_HEAD = [
    "# Games",
    "",
    "These pages have the rules of the games. `arena games show GAME` prints the same pages.",
    "",
    "| game | id | seats | |",
    "|---|---|---|---|",
]
SAMPLE_LINES = 30
SEED = 2026
PERFT_NODES = 2_000
"""Sequences are counted to the depth that first has more than this."""


def golden(game):
    """The text of a game's golden file."""
    return _golden(game.id)


@cache
def _golden(game_id):
    game = game_by_id(game_id)
    seats = game.seats[0]
    options = game.options({"hands": seats}, seats)
    lines = [
        f"game {game.id}",
        f"rules_version {game.rules_version}",
        f"seats {seats}",
        f"options {options}",
        f"perft {' '.join(map(str, perft(game, options, seats)))}",
        "",
    ]
    moves, events = Notation(game.messages.Move), Notation(game.messages.Event)
    deals = SeededDeals(f"random play {SEED}")
    lines += [told_line(told, events) for told in game.rules.start(options, seats, deals).events]
    last = None
    for moment in moments(game, options, seats, SEED):
        lines += [f"{seat}: {moves.write(move)}" for seat, move in moment.chosen]
        lines += [told_line(told, events) for told in moment.told]
        last = moment.after
    lines.append(f"result {game.rules.result(last)}")
    return "\n".join(lines) + "\n"


def told_line(told: SentEvent, notation: Notation):
    audience = "" if told.sent_to is None else f"[{','.join(map(str, told.sent_to))}] "
    return f"  > {audience}{notation.write(told.event)}"


def perft(game, options, seats):
    """Distinct sequences of offered moves by depth, from a fixed deal.

    A depth is one seat's choice; of a simultaneous step every seat's counts.
    """
    rules = game.rules
    deals = SeededDeals("perft")
    state, _ = rules.start(options, seats, deals)
    level, counts = [(state, ())], []
    while level and (not counts or counts[-1] <= PERFT_NODES):
        following = []
        for at, pending in level:
            acting = rules.to_act(at)
            if len(pending) < len(acting):
                seat = acting[len(pending)]
                offered = rules.moves(at, seat).offered
                following += [(at, (*pending, (seat, move))) for move in offered]
        counts.append(len(following))
        if counts[-1] > PERFT_NODES or not following:
            break
        level = [settled(rules, at, pending, deals) for at, pending in following]
    return counts


def settled(rules, state, pending, deals):
    """Play a step whose choices are all in."""
    if len(pending) < len(rules.to_act(state)):
        return state, pending
    return rules.step(state, pending, deals).state, ()


def path_of(game):
    return FOLDER / f"{game.id}.txt"


def sample(game):
    """The beginning of the golden match, for the game's page."""
    match = golden(game).split("\n\n", 1)[1].splitlines()
    return (
        "\n".join(
            textwrap.shorten(line, 200) if len(line) > 200 else line
            for line in match[:SAMPLE_LINES]
        )
        + "\n"
    )


def sample_path(game):
    return PAGES / f"{game.id}.sample"


def document(game):
    """The page of a game on the site: its rules, with a picture below the title where there is one."""
    title, rest = game.describe().split("\n", 1)
    if not (PICTURES / f"{game.id}.png").exists():
        return f"{title}\n{rest}"
    return f"{title}\n\n![A hand of {game.title} as seat 0 sees it](pictures/{game.id}.png)\n{rest}"


def index():
    """The page of the site that lists all games."""
    rows = [
        f"| [{game.title}]({game.id}.md) | `{game.id}` | {seats_text(game)} | {game.summary} |"
        for game in sorted(GAMES, key=lambda game: game.title)
    ]
    return "\n".join([*INDEX_HEAD, *rows, ""])


def seats_text(game):
    first, last = game.seats[0], game.seats[-1]
    return str(first) if first == last else f"{first} to {last}"


def document_path(game):
    return DOCUMENTS / f"{game.id}.md"
