"""The list of games, and the page of a game: a sample hand, rules, options, and a sample bot."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from arena.api.site_archive import SiteArchive
from arena.games.catalogue import GAMES
from arena.games.game import Game
from arena.records.phrases import count
from arena.web.page import Json, Page
from arena.web.pages.counted import counted, standings_rows
from arena.web.pages.lists import match_rows, require_game, varied, with_pages
from arena.web.rendering import ends

LEADERS: Final = 5
"""The number of bots on the page of a game."""
KINDS: Final = (
    ("Trick games", ("klaberjass", "sixty_six", "jam", "loo", "democracy", "arlington")),
    ("Poker and betting", ("soko", "pineapple", "crazy_pineapple", "crazy_pineapple_hi_lo")),
    ("Hands in rows", ("chinese_poker", "open_face_chinese_poker")),
    (
        "Taking from a row",
        ("abstrac", "abstrac_fiftytwo", "abstrac_suit", "abstrac_unfettered"),
    ),
    ("Rummy and finding out", ("oklahoma_rummy", "eleusis", "eleusis_express")),
)
"""The kinds of games, each with the ids of its games."""


def games(archive: SiteArchive) -> Page:
    """Make `/games`."""
    bots = _bots_by_game(archive)
    rows = {
        game.id: {
            "game": game.id,
            "title": game.title,
            "seats": game.seats,
            "rules_version": game.rules_version,
            "summary": game.summary,
            "bots": len(bots.get(game.id, ())),
            "length": _hands(game),
            "until": _until(game),
        }
        for game in GAMES
    }
    families = [(kind, [rows[game] for game in of_kind]) for kind, of_kind in KINDS]
    view = {"games": [rows[game.id] for game in GAMES]}
    about = "The card games that bots play here, the length of a match, and the bots of each."
    return Page("games.html", f"{len(GAMES)} games", view, {"families": families}, about)


def _bots_by_game(archive: SiteArchive) -> Mapping[str, set[str]]:
    """Return the bots that were entered for each game."""
    bots: dict[str, set[str]] = {}
    for info in archive.competitions():
        for game in info.games:
            bots.setdefault(game.game, set()).update(entrant.bot for entrant in info.bots)
    return bots


def _hands(game: Game) -> int:
    """Return the hands of a match by default; 0 if the score ends it."""
    return next((int(one.default) for one in game.settings if one.name == "hands"), 0)


def _until(game: Game) -> str:
    """Return the default end of a match in a few words: `2 hands`, `to 501`, `one deal by each seat`."""
    options = {one.name: one for one in game.settings}
    if hands := _hands(game):
        return count(hands, "hand")
    if "target" in options:
        return f"to {options['target'].default}"
    words = re.split("[,;]", options["hands"].meaning.partition("; 0 is ")[2])[0]
    return words.replace(" for each", " hands for each")


def paths(_: SiteArchive) -> Iterator[str]:
    """Yield the paths of the pages of all games."""
    yield from (f"games/{game.id}" for game in GAMES)


def game(archive: SiteArchive, game_id: str) -> Page:
    """Make `/games/ID`. Raises `NoSuchPage` if this arena has no such game."""
    # Imported here, because no other page needs them.
    from arena.pictures.examples import examples_of
    from arena.web.markdown import game_rules
    from arena.web.sample_hand import NAMES, sample_hand
    from arena.web.table import mini

    chosen = require_game(game_id)
    picture, sentences = sample_hand(game_id)
    newest = with_pages(archive, game=game_id)
    bots = _bots_by_game(archive).get(game_id, ())
    view = {
        "game": game_id,
        "title": chosen.title,
        "summary": chosen.summary,
        "seats": chosen.seats,
        "rules_version": chosen.rules_version,
        "options": chosen.settings,
    }
    pictures = {
        "picture": picture,
        "names": NAMES[: chosen.seats[0]],
        "sentences": sentences,
        "newest": match_rows(newest[:5]),
        "moment": None,
        "best_row": next(iter((*varied(archive, 1, game_id), *newest)), None),
        "kind": next(kind for kind, of_kind in KINDS if game_id in of_kind),
        "stats": [
            (ends(chosen.seats), "seats"),
            (_until(chosen), "a match"),
            *([(f"{len(bots)}", "bots")] if bots else []),
        ],
        **_leaders(archive, game_id),
        "examples": [(row.title, mini(row.groups), row.sentence) for row in examples_of(game_id)],
        "rules": game_rules(chosen),
        "family": chosen.family,
    }
    return Page("game.html", chosen.title, view, pictures, description=chosen.summary)


def _leaders(archive: SiteArchive, game_id: str) -> Json:
    """Return the first rows of the standings that count for the game, and their competition."""
    of_game = counted(archive, game_id).get(game_id)
    if of_game is None:
        return {"leaders": (), "competition": ""}
    rows = standings_rows(of_game.results.standings["rows"])
    return {"leaders": rows[:LEADERS], "competition": of_game.competition}
