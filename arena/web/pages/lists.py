"""The home page, and the lists of matches, competitions, bots and games."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from arena.games.catalogue import GAMES
from arena.store import MatchFilter, StoredMatch
from arena.web.live_table import (
    NOTHING_LIVE,
    EndedRow,
    LiveRow,
    LiveView,
    age,
    live_tree,
)
from arena.web.page import Page
from arena.web.rendering import SITE, game_title
from arena.web.site_archive import CompetitionSummary, SiteArchive, require_game, utc
from arena.web.winners import winning_seats
from cardarena.v1 import watch_pb2

HOME_LIVE: Final = 3
"""The number of matches in play on the home page."""
LIVE_ENDED: Final = 10
"""The number of ended matches on the page of matches in play."""


@dataclass(frozen=True, slots=True)
class MatchRow:
    """An ended match in a list."""

    match: str
    game: str
    bots: tuple[str, ...]
    """By seat, as are scores, places and faults."""
    scores: tuple[float, ...]
    """Empty for a match that the arena aborted, as are the places."""
    places: tuple[int, ...]
    winners: tuple[str, ...]
    """Several if they share the first place, none if all do."""
    ending: str
    faults: tuple[dict[str, int], ...]
    """The number of faults of each kind."""
    competition: str | None
    ended: str | None
    """UTC, to the minute; None if it is not known."""
    published: bool
    """Whether it has pages."""

    @property
    def fault_count(self) -> int:
        """The number of faults of all seats."""
        return sum(sum(kinds.values()) for kinds in self.faults)


def match_rows(found: Sequence[StoredMatch]) -> tuple[MatchRow, ...]:
    """Matches as rows of a list."""
    return tuple(
        MatchRow(
            match=each.outcome.match_id,
            game=each.game,
            bots=each.bots,
            scores=each.outcome.scores,
            places=each.outcome.places,
            winners=tuple(each.bots[seat] for seat in winning_seats(each.outcome.places)),
            ending=each.outcome.ending,
            faults=tuple(map(dict, each.outcome.faults)),
            competition=each.competition or None,
            ended=utc(each.ended_unix_ms) or None,
            published=each.published,
        )
        for each in found
    )


class Choice(NamedTuple):
    """One of several links, of which one is chosen."""

    text: str
    path: str
    chosen: bool


def game_choices(
    games: Sequence[str], chosen: str, path_of: Callable[[str], str]
) -> tuple[Choice, ...]:
    """Links to the list of each game; empty if there is only one."""
    if len(games) < 2 and not chosen:
        return ()
    every = Choice("all games", path_of(""), not chosen)
    return (every, *(Choice(game_title(each), path_of(each), each == chosen) for each in games))


@dataclass(frozen=True, slots=True)
class HomeView:
    """The newest matches and competitions."""

    live: tuple[LiveRow, ...]
    competitions: tuple[CompetitionSummary, ...]
    matches: tuple[MatchRow, ...]


def home(archive: SiteArchive, found: watch_pb2.ListLiveResponse | None = NOTHING_LIVE) -> Page:
    """Make `/`; `found` are the matches in play, None if no arena answers."""
    now, (matches, _) = LiveView.of(found), archive.matches()
    newest = LiveView(now.arena, now.matches[:HOME_LIVE])
    view = HomeView(newest.matches, archive.competitions()[:3], match_rows(matches[:5]))
    return Page("home.html", SITE, view, {"live_tree": live_tree, "now": newest})


def live(
    archive: SiteArchive,
    found: watch_pb2.ListLiveResponse | None = NOTHING_LIVE,
    at: str = "",
    now_unix_ms: int = 0,
) -> Page:
    """Make `/live`; `at` is the time of day of the list, `now_unix_ms` the time of ages."""
    view = LiveView.of(found, ended_rows(archive, now_unix_ms))
    return Page("live.html", "Live", view, {"live_tree": live_tree, "at": at})


def ended_rows(archive: SiteArchive, now_unix_ms: int) -> tuple[EndedRow, ...]:
    """The public matches that ended last and have pages, newest first."""
    found, _ = archive.matches(MatchFilter(published=True))
    return tuple(
        EndedRow(
            each.outcome.match_id,
            each.game,
            each.bots,
            each.competition or None,
            each.ended_unix_ms,
            age(each.ended_unix_ms, now_unix_ms),
        )
        for each in [each for each in found if each.published][:LIVE_ENDED]
    )


@dataclass(frozen=True, slots=True)
class MatchesView:
    """One page of the list of matches."""

    matches: tuple[MatchRow, ...]
    more: bool
    """Whether the list has another page."""


def matches_path(game: str = "") -> str:
    """The path of the list of matches of one game, or of all."""
    return f"matches.{game}" if game else "matches"


def matches(archive: SiteArchive, game: str, page: str) -> Page:
    """Make `/matches`.

    Raises:
      NoSuchPage: if there is no such game.
    """
    if game:
        require_game(game)
    number = int(page or 1)
    found, more = archive.matches(MatchFilter(game=game), page=number)
    of_game = f" of {game_title(game)}" if game else ""
    pictures: dict[str, Any] = {
        "of_game": of_game,
        "games": game_choices(archive.games(), game, matches_path),
        "path": matches_path(game),
        "page": number,
    }
    return Page("matches.html", f"Matches{of_game}", MatchesView(match_rows(found), more), pictures)


def competitions(archive: SiteArchive) -> Page:
    """Make `/competitions`."""
    view = {"competitions": archive.competitions()}
    return Page("competitions.html", "Competitions", view)


@dataclass(frozen=True, slots=True)
class BotRow:
    """A bot in the list of all."""

    bot: str
    games: tuple[str, ...]
    """The ids of its games in competitions."""
    competitions: tuple[str, ...]


def bots(archive: SiteArchive) -> Page:
    """Make `/bots`."""
    entered: dict[str, list[CompetitionSummary]] = {bot: [] for bot in archive.bots()}
    for each in archive.competitions():
        for bot in each.bots:
            entered.setdefault(bot, []).append(each)
    rows = [
        BotRow(
            bot,
            tuple(sorted({game.game for each in own for game in each.games})),
            tuple(each.competition for each in own),
        )
        for bot, own in sorted(entered.items())
    ]
    return Page("bots.html", "Bots", {"bots": rows})


@dataclass(frozen=True, slots=True)
class GameRow:
    """A game in the list of all."""

    game: str
    title: str
    seats: tuple[int, ...]
    """The possible numbers of seats."""
    rules_version: int
    summary: str


def games(_: SiteArchive) -> Page:
    """Make `/games`."""
    rows = [
        GameRow(each.id, each.title, each.seats, each.rules_version, each.summary) for each in GAMES
    ]
    return Page("games.html", "Games", {"games": rows})
