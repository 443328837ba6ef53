"""All pages of a site by their paths: what `arena web` serves and `arena export-site` writes.

A path has no slash in front and no ending: `t/autumn`. `PAGES` is the whole table; both
callers make a page by `Site.sheet`, so they cannot differ.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from arena.games.catalogue import GAMES
from arena.web.archive import Archive, known_game
from arena.web.document import Place
from arena.web.match_paths import Missing
from arena.web.pages import about, bot, lists, tournament
from arena.web.sheet import Sheet
from arena.web.slugs import slug, unslug

LONGEST_PATH: Final = 400
_NAME: Final = r"([A-Za-z0-9_~%. -]*[A-Za-z0-9_~%-])"
_GAME: Final = r"(?!lost\b|faulted\b)[a-z][a-z0-9_]*"
_PAGE: Final = r"(?:\.([1-9][0-9]{0,4}))?"


class NotFound(Missing):
    """There is no such page. The text says what was looked for."""

    def __init__(self, text: str, listed: str = "") -> None:
        """`listed` is the path of the list in which to look."""
        super().__init__(text)
        self.listed = listed


@dataclass(frozen=True, slots=True)
class Asked:
    """A page that is asked for."""

    archive: Archive
    place: Place
    groups: tuple[str | None, ...]

    def name(self, at: int = 0) -> str:
        """What a part of the path stands for."""
        try:
            return unslug(self.groups[at] or "")
        except ValueError:
            raise NotFound(f"{self.groups[at]!r} is no name") from None

    def page(self, at: int) -> int:
        """A number of a page; 1 where there is none."""
        return int(self.groups[at] or 1)


_Maker: TypeAlias = Callable[[Asked], Sheet]


def _home(asked: Asked) -> Sheet:
    return lists.home(asked.archive, asked.place)


def _matches(asked: Asked) -> Sheet:
    return lists.matches(asked.archive, asked.place, asked.page(1), _known(asked.groups[0]))


def _tables(asked: Asked) -> Sheet:
    return lists.tables(asked.archive, asked.place)


def _table(asked: Asked) -> Sheet:
    game, order = asked.name(), tournament.Order(asked.groups[1] or "skill")
    found = tournament.table(asked.archive, asked.place, game, order)
    if found is None:
        raise NotFound(f"no tournament of a game {game!r} has been played here", "tables")
    return found


def _tournament(asked: Asked) -> Sheet:
    name = asked.name()
    found = tournament.tournament(asked.archive, asked.place, name)
    if found is None:
        raise NotFound(f"there is no tournament {name!r}", "tables")
    return found


def _bots(asked: Asked) -> Sheet:
    return lists.bots(asked.archive, asked.place)


def _bot(asked: Asked) -> Sheet:
    name, opponent = asked.name(), asked.name(1)
    chosen = bot.Chosen(asked.groups[3] or "all")
    wanted = bot.Filter(chosen, _known(asked.groups[2]), opponent)
    found = bot.bot(asked.archive, asked.place, name, wanted, asked.page(4))
    if found is None:
        others = f", and one named {opponent!r}," if opponent else ""
        raise NotFound(f"no bot named {name!r}{others} has sat at a table here", "bots")
    return found


def _known(game: str | None) -> str:
    """A game that is asked for; empty if none is."""
    if game and known_game(game) is None:
        raise NotFound(f"there is no game {game!r}", "games")
    return game or ""


def _games(asked: Asked) -> Sheet:
    return lists.games(asked.place)


def _game(asked: Asked) -> Sheet:
    game = asked.name()
    found = about.game(asked.archive, asked.place, game)
    if found is None:
        raise NotFound(f"there is no game {game!r}", "games")
    return found


def _live(asked: Asked) -> Sheet:
    """What is live where nobody plays: `arena web` answers for itself."""
    return lists.live_sheet(asked.archive, asked.place, lists.NOTHING_LIVE)


def _fair(asked: Asked) -> Sheet:
    return about.fair(asked.place)


def _api(_: Asked) -> Sheet:
    return about.api()


PAGES: Final[tuple[tuple[re.Pattern[str], _Maker], ...]] = tuple(
    (re.compile(pattern), maker)
    for pattern, maker in (
        ("index", _home),
        (rf"matches(?:\.({_GAME}))?{_PAGE}", _matches),
        ("live", _live),
        ("tables", _tables),
        (r"tables/([a-z0-9_]+)(?:\.by-(bot|deal-sets|faults))?", _table),
        (f"t/{_NAME}", _tournament),
        ("bots", _bots),
        (
            (
                rf"bots/([A-Za-z0-9_~% -]+?)(?:\.vs-([A-Za-z0-9_~%-]+))?(?:\.({_GAME}))?"
                rf"(?:\.(lost|faulted))?{_PAGE}"
            ),
            _bot,
        ),
        ("games", _games),
        ("games/([a-z0-9_]+)", _game),
        ("fair", _fair),
        ("api", _api),
    )
)


class Site:
    """The pages of words and tables of one archive."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def sheet(self, path: str) -> tuple[Sheet, Place]:
        """The page of a path, and where it stands.

        Raises:
          NotFound: if there is none.
          StoreError: if the store cannot be read.
        """
        for pattern, maker in PAGES:
            found = pattern.fullmatch(path) if len(path) <= LONGEST_PATH else None
            if found is not None:
                place = Place(path)
                return maker(Asked(self._archive, place, found.groups())), place
        raise NotFound(f"there is no page /{path[:LONGEST_PATH]}")

    def sheets(self) -> Iterator[tuple[str, Sheet, Place]]:
        """All pages with their paths, each made once."""
        for path in self._single():
            yield path, *self.sheet(path)
        games = self._archive.games()
        for game in ("", *games) if len(games) > 1 else ("",):
            yield from self._list(lists.matches_path(game))
        for name in self._archive.bots():
            for wanted in bot.filters(self._archive, name):
                yield from self._list(wanted.path(name))

    def _single(self) -> Iterator[str]:
        """The paths of pages that are no pages of a list."""
        yield from ("index", "live", "tables", "bots", "games", "fair", "api")
        yield from (f"games/{game.id}" for game in GAMES)
        headlines = self._archive.headlines()
        for game in sorted({each.game for each in headlines}):
            yield from (tournament.table_path(game, order) for order in tournament.Order)
        yield from (f"t/{slug(each.name)}" for each in headlines)

    def _list(self, path: str) -> Iterator[tuple[str, Sheet, Place]]:
        page, more = 1, True
        while more:
            whole = path if page == 1 else f"{path}.{page}"
            sheet, place = self.sheet(whole)
            yield whole, sheet, place
            more = bool(sheet.data["more"])
            page += 1


def verifier() -> bytes:
    """The page that verifies deals, unchanged."""
    installed = Path(__file__).with_name("kit") / "verify.html"
    checkout = Path(__file__).parents[2] / "clients" / "browser" / "verify.html"
    return (installed if installed.is_file() else checkout).read_bytes()
