"""The table of all pages by their paths, for `arena web` and `arena web export`.

A path has no leading slash and no suffix: `competitions/autumn`. Both commands make pages with
`Site.page`, so a served page and its export are equal.
"""

import base64
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from arena.api.site_archive import NotPublic, SiteArchive
from arena.web.addresses import NoSuchPage, slug, unslug
from arena.web.page import Page
from arena.web.pages import bot, competition, counted, filters, games, lists, reference, search
from arena.web.rendering import SITE

Query: TypeAlias = Mapping[str, str]
NO_QUERY: Final[Query] = {}
LONGEST_PATH: Final = 400
_NAME: Final = r"([A-Za-z0-9_~% -]+?)"
_GAME: Final = r"(?!lost\b|faulted\b)[a-z][a-z0-9_]*"
_NUMBER: Final = r"[1-9][0-9]{0,4}"
_LIST: Final = rf"(?:\.({_GAME}))?"
_PAGE: Final = rf"(?:\.({_NUMBER}))?"


@dataclass(frozen=True, slots=True)
class Route:
    """A kind of page."""

    pattern: str
    """Matches the whole path of a page."""
    make: Callable[..., Page]
    """Makes the page from the archive and the groups of the pattern."""
    query: Callable[[Query], Mapping[str, Any]] | None = None
    """Makes further arguments from the query of a served page; None if the page has no query."""
    paths: Callable[[SiteArchive], Iterable[str]] | None = None
    """The paths of an export, without those of further pages of a list; None if the pattern is the path."""


def _wanted(query: Query) -> Mapping[str, Any]:
    return {"wanted": filters.ListFilters.of(query)}


ROUTES: Final = (
    Route("index", lists.home),
    Route(rf"matches{_LIST}{_PAGE}", lists.matches, _wanted, paths=lists.matches_paths),
    Route("live", lists.live),
    Route("competitions", lists.competitions, _wanted),
    Route(
        rf"competitions/{_NAME}\.official-({_NUMBER})",
        competition.official,
        paths=competition.official_paths,
    ),
    Route(
        r"competitions/([A-Za-z0-9_~%. -]*[A-Za-z0-9_~%-])",
        competition.competition,
        paths=competition.paths,
    ),
    Route(
        r"standings/([a-z0-9_]+)(?:\.by-(bot|deal-sets|faults))?",
        competition.standings,
        paths=competition.standings_paths,
    ),
    Route("overall", counted.overall),
    Route("bots", lists.bots, _wanted),
    Route(
        rf"bots/{_NAME}(?:\.vs-([A-Za-z0-9_~%-]+))?{_LIST}(?:\.(lost|faulted))?{_PAGE}",
        bot.bot,
        paths=bot.paths,
    ),
    Route("games", games.games),
    Route("games/([a-z0-9_]+)", games.game, paths=games.paths),
    Route("search", search.search, lambda query: {"words": query.get("q", "")}),
    Route("write", reference.write),
    Route("fair", reference.fair),
    Route("api", reference.api),
    Route("browser-bot", reference.browser_bot),
)

ORGANISER_ROUTES: Final = (
    Route("workers", lists.workers),
    Route(rf"competitions/{_NAME}\.collusion", competition.collusion),
)
"""Pages that only `arena web --organiser` serves; they are never exported."""


class Site:
    """The pages of one archive, without those of matches."""

    def __init__(self, archive: SiteArchive, *, organiser: bool = False, first: str = "") -> None:
        """`first` is the competition whose page is the first of the site; empty for the home page."""
        self._archive = archive
        self._first = first
        self._routes = (*ORGANISER_ROUTES, *ROUTES) if organiser else ROUTES

    def page(self, path: str, query: Query = NO_QUERY) -> Page:
        """Make the page of a path, and of a query if it has one.

        Raises `NoSuchPage` if it does not exist, and `StoreError` if the store cannot be read.
        """
        for route in self._routes:
            match = re.fullmatch(route.pattern, path) if len(path) <= LONGEST_PATH else None
            if match is not None:
                parts = (unslug(part or "") for part in match.groups())
                further = route.query(query) if route.query is not None else {}
                try:
                    return route.make(self._archive, *parts, **further)
                except NotPublic as error:
                    raise NoSuchPage(str(error), "competitions") from None
        raise NoSuchPage(f"there is no page /{path[:LONGEST_PATH]}")

    def pages(self) -> Iterator[tuple[str, Page]]:
        """Make all pages of an export, each with its path."""
        for route in ROUTES:
            if self._first and route.make is lists.home:
                yield "index", competition.competition(self._archive, self._first)
                continue
            for path in (route.pattern,) if route.paths is None else route.paths(self._archive):
                yield path, (page := self.page(path))
                for number in itertools.count(2):
                    if not page.view.get("more"):
                        break
                    further = f"{path}.{number}"
                    yield further, (page := self.page(further))


def verifier(match_id: str = "", replay: bytes = b"") -> bytes:
    """Return the page that verifies deals, from the browser client, with links to the site, and the replay of a match, if given.

    The page itself has no address and no network, so that a copy on a disk needs neither.
    """
    installed = Path(__file__).with_name("kit") / "verify.html"
    checkout = Path(__file__).parents[2] / "clients" / "browser" / "verify.html"
    page = (installed if installed.is_file() else checkout).read_bytes()
    links = f'<a href="index.html">{SITE}</a>'
    if match_id:
        links += f' <a href="m/{slug(match_id)}.html">back to the match</a>'
        given = b'<p id="given" title="%b.replay" hidden>%b</p>'
        filled = given % (slug(match_id).encode(), base64.b64encode(replay))
        page = page.replace(b'<p id="given" hidden></p>', filled, 1)
    return page.replace(b"<strong>Card Arena</strong>", links.encode(), 1)
