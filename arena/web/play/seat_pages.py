"""The pages of people's seats: the lobby, the table, and the comparison with the house bot."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode

from markupsafe import Markup

from arena.games.catalogue import GAMES, game_by_id
from arena.games.contract import Seat
from arena.pictures.choices import choices
from arena.records.read import Replay
from arena.referee.spec import Ending, Outcome
from arena.referee.terms import TIME_CLASSES
from arena.sandbox.house_levels import STEPS
from arena.web.addresses import NoSuchPage
from arena.web.markdown import game_rules
from arena.web.names import LEVELS
from arena.web.page import Page
from arena.web.play.arena_match import ArenaMatch
from arena.web.play.controls import Controls
from arena.web.play.seat_drawer import Picture
from arena.web.play.seats import LENGTHS, SHORT, PersonsSeat
from arena.web.rendering import game_title
from arena.web.rich_text import text
from arena.web.trees import Tree, element, listed

COMPARED_LEVEL: Final = "search-20ms"
"""The level of the house bot with whose moves a person's are compared."""
MOST_BEFORE: Final = 6
"""The maximal number of pictures of others' moves that a page shows one by one before its own."""
_USUAL: Final = {"level": "sample", "length": SHORT, "seats": "", "name": "guest"}
"""The default values of the form of the lobby."""
_ROWS: Final = 8
"""The number of latest hands on the score pad."""


def lobby(game_id: str, bots: Mapping[str, Sequence[str]], chosen: Mapping[str, str]) -> Page:
    """Return the page that begins a match of a game; `bots` accept people in games, and `chosen` has fields of the form."""
    control = TIME_CLASSES["human"]
    game = next((known for known in GAMES if known.id == game_id), game_by_id("klaberjass"))
    view = {
        "games": GAMES,
        "chosen": game.id,
        "title": game.title,
        "seats": game.seats,
        "before": {name: chosen.get(name) or usual for name, usual in _USUAL.items()},
        "lengths": LENGTHS,
        "bots": [bot for bot, games in bots.items() if game.id in games],
        "move_s": control.move_ms // 1000,
        "bank_min": control.bank_ms // 60_000,
    }
    return Page("play_lobby.html", "Play", view)


def lobby_from(replay: Replay, step: str, seat: str) -> Page:
    """Return the page that continues an ended match after a step."""
    game = replay.spec().terms.game
    view = {
        "step": step.partition(".")[0][:6] or "0",
        "seat": seat,
        "names": list(replay.names),
        "before": _USUAL,
        "match": replay.opened.match_id,
    }
    return Page("play_from.html", f"What if? {game.title}", view)


def table(seat: PersonsSeat, shown: int | None) -> Page:
    """Return the page of a seat, now or with an earlier picture."""
    asked = seat.asked()
    drawer, match = seat.drawer, seat.match
    latest = len(drawer.pictures) - 1
    at = latest if shown is None or shown >= latest else shown
    picture = drawer.pictures[at]
    unseen = seat.show_latest() if at == latest else range(0)
    before = [drawer.pictures[number] for number in unseen[:-1][-MOST_BEFORE:]]
    outcome = match.outcome
    tree = drawer.tree(
        picture, is_over=outcome is not None, has_clock=asked is not None and at == latest
    )
    if asked is not None and at == latest:
        controls = Controls(*asked, drawer.scene(picture), drawer.names)
        tree = controls.form(tree, seat.take_notice())
    hand = picture.hand
    story = [
        (number, element("span", "", *_sentences(drawn, drawer.names)))
        for number, drawn in enumerate(drawer.pictures)
        if drawn.hand == hand and drawn.sentences
    ]
    game = match.terms.game
    names = [name for at_seat, name in enumerate(match.names) if at_seat != match.seat]
    waits = asked is None and outcome is None
    return Page(
        "play.html",
        f"{game.title} with {' and '.join(names) if len(names) < 3 else ', '.join(names[:2]) + ' and others'}",
        {},
        {
            "tree": tree,
            "decision": asked[0].ask.decision if asked else 0,
            "is_past": at != latest,
            "at": at,
            "latest": latest,
            "before": json.dumps([listed(drawer.tree(earlier)) for earlier in before])
            if before
            else "",
            "names": match.names,
            "story": story,
            "hand": hand + 1,
            "pad": _pad(match.hand_scores, match.names, match.seat),
            "result": None if outcome is None else _result(outcome, match.names),
            "match_id": "" if match.replay is None else match.match_id,
            "public_id": match.match_id if isinstance(match, ArenaMatch) else "",
            "waits": waits,
            "own": int(match.seat),
            "rules": _rules(game.id),
            "level": LEVELS.get(seat.level, ""),
            "again": urlencode(
                {
                    "game": game.id,
                    "level": seat.level,
                    "seats": match.terms.seats,
                    "name": match.names[match.seat],
                    "length": seat.length,
                }
            ),
        },
    )


@cache
def _rules(game_id: str) -> Markup:
    return game_rules(game_by_id(game_id))


def _sentences(picture: Picture, names: Sequence[str]) -> list[Tree]:
    parts: list[Tree] = []
    for line in picture.sentences:
        parts += [" ", *text(line, names)] if parts else text(line, names)
    return parts


def _pad(scores: Sequence[Sequence[int]], names: Sequence[str], own: Seat) -> Any:
    order = [own, *(seat for seat in range(len(names)) if seat != own)]
    rows = [(number, [of_hand[seat] for seat in order]) for number, of_hand in enumerate(scores, 1)]
    totals = [sum(of_hand[seat] for of_hand in scores) for seat in order]
    return {"names": [names[seat] for seat in order], "rows": rows[-_ROWS:], "totals": totals}


def _result(outcome: Outcome, names: Sequence[str]) -> str:
    if outcome.ending is Ending.ABORTED:
        return "The match was left before its end, and has no result."
    ranked = sorted(zip(outcome.places, names, outcome.scores, strict=True))
    return "The match is over: " + ", ".join(f"{name} {score}" for _, name, score in ranked) + "."


def house(replay: Replay, seat: str) -> Page:
    """Return the page that shows the moves of the house bot in place of a person's."""
    from arena.house.par import CannotCompare, compare  # loads the search

    spec = replay.spec()
    # Any other text would make the same page again, which takes seconds.
    if seat not in map(str, range(spec.terms.seats)):
        raise NoSuchPage(f"the match has no seat {seat}")
    own = Seat(int(seat))
    view: dict[str, Any] = {"match": spec.match_id, "seat": int(own), "name": replay.names[own]}
    try:
        compared = compare(replay, own, STEPS[COMPARED_LEVEL])
        view |= {"par": compared.par[own], "decisions": compared.decisions, "why": ""}
        view["costliest"] = [
            {
                "hand": row.hand + 1,
                "step": row.step,
                "words": [
                    element("span", "", *text(choice.words, replay.names))
                    for choice in choices(spec.terms.game, row.view, row.moves)
                ],
                "loss": round(row.loss, 1),
            }
            for row in compared.costliest
        ]
    except CannotCompare as error:
        view |= {"par": None, "decisions": 0, "costliest": [], "why": f"{error}"}
    title = f"What the house bot would have done · {game_title(game_by_id(spec.terms.game.id).id)}"
    return Page("play_house.html", title, view)
