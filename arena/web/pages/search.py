"""The search for bots, games, competitions and matches by name."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

from arena.api.site_archive import SiteArchive
from arena.games.catalogue import GAMES
from arena.web.page import Json, Page
from arena.web.pages.filters import LONGEST_SEARCH
from arena.web.pages.lists import bots, progress

MOST_FOUND: Final = 50
NEAREST: Final = 3
"""The maximal number of names that a search without results suggests."""


def search(archive: SiteArchive, words: str = "") -> Page:
    """Make `/search`: bots, games and competitions whose names have the words, and the match of an id."""
    wanted = words.casefold().strip()[:LONGEST_SEARCH]
    competitions = [info.name for info in archive.competitions()]
    known = {row["bot"]: row for row in bots(archive).view["bots"]} if wanted else {}
    match = archive.match(words.strip()) if wanted else None
    view: Json = {
        "words": wanted,
        "bots": _having(wanted, known),
        "games": [
            game.id for game in GAMES if wanted and wanted in f"{game.id} {game.title}".casefold()
        ],
        "competitions": _having(wanted, competitions),
        "match": match.match_id if match is not None and match.published else None,
    }
    ends = archive.last_ends() if view["competitions"] else {}
    near = get_close_matches(wanted, (*known, *(game.id for game in GAMES), *competitions), NEAREST)
    pictures = {
        "bots": [known[name] for name in view["bots"]],
        "running": [progress(archive, name, ends) for name in view["competitions"]],
        "near": near if not any(view[kind] for kind in ("bots", "games", "competitions")) else (),
    }
    about = "Find bots, games, competitions and matches."
    title = f"Search: {wanted}" if wanted else "Search"
    return Page("search.html", title, view, pictures, about)


def _having(wanted: str, names: Iterable[str]) -> Sequence[str]:
    """Return the names that contain `wanted`, first those that begin with it."""
    having = [name for name in names if wanted and wanted in name.casefold()]
    return sorted(having, key=lambda name: not name.casefold().startswith(wanted))[:MOST_FOUND]
