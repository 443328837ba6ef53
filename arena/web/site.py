"""The table of all pages by their paths, for `arena web` and `arena web export`.

A path has no leading slash and no suffix: `competitions/autumn`. Both commands make pages with
`Site.page`, so a served page and its export are equal.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from arena.games.catalogue import GAMES
from arena.web.addresses import NoSuchPage, unslug
from arena.web.page import Page
from arena.web.pages import bot, competition, game, lists, reference, workers
from arena.web.site_archive import SiteArchive

Pages: TypeAlias = tuple[tuple[re.Pattern[str], Callable[..., Page]], ...]
"""The pattern of each page's path, and the function that makes the page from the archive and the pattern's groups."""

LONGEST_PATH: Final = 400
_NAME: Final = r"([A-Za-z0-9_~% -]+?)"
_GAME: Final = r"(?!lost\b|faulted\b)[a-z][a-z0-9_]*"
_NUMBER: Final = r"[1-9][0-9]{0,4}"
_LIST: Final = rf"(?:\.({_GAME}))?"
_PAGE: Final = rf"(?:\.({_NUMBER}))?"

PAGES: Final[Pages] = tuple(
    (re.compile(pattern), make)
    for pattern, make in (
        ("index", lists.home),
        (rf"matches{_LIST}{_PAGE}", lists.matches),
        ("live", lists.live),
        ("competitions", lists.competitions),
        (rf"competitions/{_NAME}\.official-({_NUMBER})", competition.official),
        (r"competitions/([A-Za-z0-9_~%. -]*[A-Za-z0-9_~%-])", competition.competition),
        (r"standings/([a-z0-9_]+)(?:\.by-(bot|deal-sets|faults))?", competition.standings),
        ("bots", lists.bots),
        (
            rf"bots/{_NAME}(?:\.vs-([A-Za-z0-9_~%-]+))?{_LIST}(?:\.(lost|faulted))?{_PAGE}",
            bot.bot,
        ),
        ("games", lists.games),
        ("games/([a-z0-9_]+)", game.game),
        ("fair", reference.fair),
        ("api", reference.api),
    )
)

ORGANISER_PAGES: Final[Pages] = (
    (re.compile("workers"), workers.workers),
    (re.compile(rf"competitions/{_NAME}\.collusion"), competition.collusion),
)
"""Pages that only `arena web --organiser` serves; they are never exported."""


class Site:
    """The pages of one archive, without those of matches."""

    def __init__(self, archive: SiteArchive, *, organiser: bool = False) -> None:
        self._archive = archive
        self._pages = (*ORGANISER_PAGES, *PAGES) if organiser else PAGES

    def page(self, path: str) -> Page:
        """Make the page of a path.

        Raises:
          NoSuchPage: if it does not exist.
          StoreError: if the store cannot be read.
        """
        for pattern, make in self._pages:
            found = pattern.fullmatch(path) if len(path) <= LONGEST_PATH else None
            if found is not None:
                return make(self._archive, *(unslug(each or "") for each in found.groups()))
        raise NoSuchPage(f"there is no page /{path[:LONGEST_PATH]}")

    def pages(self) -> Iterator[tuple[str, Page]]:
        """Make all pages, each with its path."""
        fixed = ("index", "live", "competitions", "bots", "games", "fair", "api")
        games = (f"games/{each.id}" for each in GAMES)
        for path in (*fixed, *games, *competition.paths(self._archive)):
            yield path, self.page(path)
        played = self._archive.games()
        for each in ("", *played) if len(played) > 1 else ("",):
            yield from self._list(lists.matches_path(each))
        for name in self._archive.bots():
            for wanted in bot.filters(self._archive, name):
                yield from self._list(wanted.path(name))

    def _list(self, path: str) -> Iterator[tuple[str, Page]]:
        number, more = 1, True
        while more:
            whole = path if number == 1 else f"{path}.{number}"
            page = self.page(whole)
            yield whole, page
            more = page.view.more
            number += 1


def verifier() -> bytes:
    """The page that verifies deals, from the browser client."""
    installed = Path(__file__).with_name("kit") / "verify.html"
    checkout = Path(__file__).parents[2] / "clients" / "browser" / "verify.html"
    return (installed if installed.is_file() else checkout).read_bytes()
