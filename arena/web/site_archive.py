"""Reads the public part of an arena's store. All pages read it through this module.

Of an open deal-set only its existence is public: its matches have the same cards, so the result of one
would reveal the cards of another. This module leaves out their ids, results and faults, so no page can
show them.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arena.competition.record import CompetitionRecord, DrawnDealSet, bot_of
from arena.games.catalogue import UnknownGame, game_by_id
from arena.games.game import Game
from arena.referee.spec import FaultKind
from arena.replay.read import Replay, replay_path
from arena.replay.records import Damaged
from arena.schedule.deal_sets import MatchOutcome, is_complete
from arena.server.data_folder import store_path
from arena.store import (
    MatchFilter,
    NoCompetition,
    NoOfficialStandings,
    OfficialStandings,
    Store,
    StoredMatch,
    is_there,
    open_public,
)
from arena.web.addresses import NoSuchPage
from arena.web.rendering import game_title
from arena.web.winners import winning_seats

if TYPE_CHECKING:
    from arena.competition.draws import GroupResult
    from arena.rating.pairs import Pair

PAGE: Final = 50
"""The rows of a list on a page."""
EVERY: Final = MatchFilter()
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MOST_AT_ONCE: Final = 500

Json = Mapping[str, Any]


class DisplayState(StrEnum):
    """The public state of a deal-set."""

    CLOSED = "closed"
    """All its matches have results, and their replays are published."""
    OPEN = "open"
    VOID = "void"
    """Given up or cancelled: it does not count."""


@dataclass(frozen=True, slots=True)
class DealSetRecord:
    """A deal-set of a competition."""

    number: int
    bots: tuple[str, ...]
    state: DisplayState
    matches: tuple[str, ...]
    """The ids of its public matches; empty while it is open."""
    winners: tuple[tuple[str, ...], ...]
    """The names of the winners of each of these matches, see `winning_seats`."""


@dataclass(frozen=True, slots=True)
class CompetitionGame:
    """A game of a competition."""

    game: str
    seats: int


@dataclass(frozen=True, slots=True)
class CompetitionSummary:
    """A competition in a list."""

    competition: str
    kind: str
    """`tournament` or `ladder`."""
    format: str | None
    """None for a ladder."""
    state: str
    games: tuple[CompetitionGame, ...]
    bots: tuple[str, ...]
    begun: str
    """The time of its creation, UTC, to the minute."""
    season: str
    official: int
    """The number of official standings so far."""
    announcement: str
    """What its organisers tell all readers; empty for nothing."""
    announced: str
    """The time of the announcement, UTC, to the minute."""

    @property
    def format_name(self) -> str:
        """The format, for people."""
        return (self.format or self.kind).replace("_", " ")


@dataclass(frozen=True, slots=True)
class GameResults:
    """The closed deal-sets of a game of a competition, and their results."""

    game: str
    format: str | None
    """None for a ladder."""
    terms: Json
    standings: Json
    """The game's part of the competition's standings."""
    rounds: "tuple[GroupResult, ...]"
    """The groups of all rounds; empty for formats without rounds."""
    deal_sets: tuple[DealSetRecord, ...]
    margins: "Mapping[Pair, Sequence[float]]"
    """The margins of each pair of bots in their closed deal-sets, in order."""
    bound: float | None
    """The largest margin that the rules allow; None if they have no bound."""

    def count(self, state: DisplayState) -> int:
        """The number of deal-sets in a state."""
        return sum(each.state is state for each in self.deal_sets)


@dataclass(frozen=True, slots=True)
class PublicCompetition:
    """The public part of a competition."""

    summary: CompetitionSummary
    standings: Json
    """The official standings if it is finished, otherwise the live ones."""
    games: tuple[GameResults, ...]


@dataclass(frozen=True, slots=True)
class Appearance:
    """A bot in a game of a competition."""

    competition: str
    standings: Json
    """The standings of the game."""
    row: Json
    """The row of the bot in them."""


@dataclass(frozen=True, slots=True)
class ListedFault:
    """A fault of a bot in a match."""

    decision: int
    kind: str


class SiteArchive:
    """The public content of an arena's data folder. Calls block, and are safe on any thread."""

    def __init__(self, data: Path, *, only: str = "", shown: frozenset[str] | None = None) -> None:
        """Open nothing yet.

        Args:
          data: The data folder.
          only: The one competition that is public; empty for all.
          shown: The ids of the matches that have pages; None for all.
        """
        self._data = data
        self._only = only
        self._shown = shown
        self._kept: dict[str, tuple[object, PublicCompetition]] = {}
        """Competitions by name, each with a stamp that changes when the competition does."""
        self._store: Store | None = None

    @property
    def data(self) -> Path:
        """The data folder."""
        return self._data

    def limited_to(self, matches: frozenset[str] | None) -> "SiteArchive":
        """An archive of the same data in which these matches alone have pages; None for all."""
        return SiteArchive(self._data, only=self._only, shown=matches)

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            self._store.close()
            self._store = None

    @property
    def _open(self) -> Store | None:
        """The store; None if it does not exist yet.

        Raises:
          StoreError: if it cannot be read.
        """
        if self._store is None and is_there(store_path(self._data)):
            self._store = open_public(store_path(self._data))
        return self._store

    # Matches.

    def matches(
        self, wanted: MatchFilter = EVERY, *, page: int = 1, lost_by: str = ""
    ) -> tuple[tuple[StoredMatch, ...], bool]:
        """A page of closed matches, newest first, and whether there is another. Pages count from 1.

        With `lost_by` only matches in which this bot was not first.
        """
        store = self._open
        if store is None:
            return (), False
        competition = self._only or wanted.competition
        chosen = replace(wanted, competition=competition, closed=True)
        found: list[StoredMatch] = []
        needed = page * PAGE + 1
        after: tuple[int, str] | None = None
        while len(found) < needed:
            batch = store.matches().find(chosen, limit=_MOST_AT_ONCE, after=after)
            found += [each for each in batch if not lost_by or _lost(each, lost_by)]
            if len(batch) < _MOST_AT_ONCE:
                break
            after = batch[-1].ended_unix_ms, batch[-1].outcome.match_id
        shown = found[(page - 1) * PAGE : page * PAGE]
        return tuple(map(self._as_shown, shown)), len(found) >= needed

    def games(self, bot: str = "") -> tuple[str, ...]:
        """The ids of games with ended matches, of one bot or of all, sorted by title."""
        store = self._open
        if store is None:
            return ()
        bots = (bot,) if bot else ()
        wanted = MatchFilter(bots=bots, competition=self._only, closed=True)
        return tuple(sorted(store.matches().games(wanted), key=game_title))

    def _as_shown(self, match: StoredMatch) -> StoredMatch:
        """A match, with `published` only if it has pages."""
        wanted = self._shown is None or match.outcome.match_id in self._shown
        published = match.published and wanted and self._file(match).is_file()
        return replace(match, published=published)

    def _file(self, match: StoredMatch) -> Path:
        return replay_path(self._data / "replays", match.outcome.match_id)

    def match(self, match_id: str) -> StoredMatch | None:
        """A public match; None if it does not exist, or is not public yet."""
        store = self._open
        found = store.matches().get(match_id) if store and _ID.fullmatch(match_id) else None
        if found is None or not found.closed:
            return None
        shown = self._as_shown(found)
        return shown if self._only in ("", shown.competition) else None

    def replay(self, match: StoredMatch) -> Path | None:
        """The replay file of a match; None if it does not exist."""
        path = self._file(match)
        return path if match.published and path.is_file() else None

    # Competitions.

    def competitions(self) -> tuple[CompetitionSummary, ...]:
        """All competitions, newest first."""
        if self._open is None:
            return ()
        found = reversed(list(_summaries(self._open)))
        chosen = [each for each in found if self._only in ("", each.competition)]
        return tuple(sorted(chosen, key=lambda each: each.begun, reverse=True))

    def of_game(self, game_id: str) -> tuple[CompetitionSummary, ...]:
        """The competitions with a game, newest first."""
        return tuple(
            each for each in self.competitions() if game_id in {own.game for own in each.games}
        )

    def competition(self, name: str) -> PublicCompetition:
        """One competition.

        Raises:
          NoSuchPage: if there is none of this name.
        """
        summary, store = self._summary(name)
        return self._read(store, summary)

    def record(self, name: str) -> CompetitionRecord:
        """The record of one competition, from which standings are computed.

        Raises:
          NoSuchPage: if there is none of this name.
        """
        summary, store = self._summary(name)
        return store.competitions().record(summary.competition)

    def _read(self, store: Store, summary: CompetitionSummary) -> PublicCompetition:
        """A competition, from memory if it has not changed."""
        held, name = store.competitions(), summary.competition
        stamp = summary, held.progress(name), held.published(name)
        kept = self._kept.get(name)
        if kept is None or kept[0] != stamp:
            made = _public(store, summary, self._shown)
            kept = self._kept[name] = stamp, made
        return kept[1]

    def official(self, name: str, number: int) -> Json:
        """Official standings by their number, with key and signature.

        Raises:
          NoSuchPage: if there are none.
        """
        from arena.server.competition_service import signed_standings

        return signed_standings(self._official(name, number))

    def official_export(self, name: str, number: int) -> bytes:
        """Official standings and their inputs, as JSON Lines.

        Raises:
          NoSuchPage: if there are none.
        """
        from arena.server.competition_service import official_lines

        lines = official_lines(self._official(name, number))
        return "".join(f"{line}\n" for line in lines).encode()

    def _official(self, name: str, number: int) -> OfficialStandings:
        _, store = self._summary(name)
        try:
            found = store.competitions().official(name, number)
        except NoOfficialStandings as error:
            raise NoSuchPage(str(error), "competitions") from None
        assert found is not None
        return found

    def _summary(self, name: str) -> tuple[CompetitionSummary, Store]:
        store = self._open
        found = next((each for each in self.competitions() if each.competition == name), None)
        if store is None or found is None:
            raise NoSuchPage(str(NoCompetition(name)), "competitions")
        return found, store

    # Bots.

    def faults(self, bot: str, most: int) -> tuple[tuple[ListedFault, ...], ...]:
        """The bot's faults in its newest `most` matches with faults, match by match, oldest first."""
        found, _ = self.matches(MatchFilter(bots=(bot,), faulted=True, published=True))
        files = [(each, file) for each in found[:most] if (file := self.replay(each))]
        return tuple(
            own for each, file in reversed(files) if (own := _faults_in(file, each.bots.index(bot)))
        )

    def bots(self) -> tuple[str, ...]:
        """The names of all bots that have played, sorted; those of `only` if they have not, too."""
        store = self._open
        if store is None:
            return ()
        if not self._only:
            return store.matches().bots()
        played = store.matches().bots(self._only)
        entered = {bot for each in self.competitions() for bot in each.bots}
        return tuple(sorted({*played, *entered.difference(map(bot_of, played))}))

    def appearances(self, bot: str) -> tuple[Appearance, ...]:
        """The rows of a bot in the standings of competitions, oldest first."""
        store = self._open
        read = (
            (each.competition, self._read(store, each))
            for each in reversed(self.competitions())
            if store is not None and bot_of(bot) in each.bots
        )
        return tuple(
            Appearance(name, game.standings, row)
            for name, own in read
            for game in own.games
            for row in game.standings["rows"]
            if row["bot"] == bot
        )


@lru_cache(4_096)
def _faults_in(file: Path, seat: int) -> tuple[ListedFault, ...]:
    """The faults of a seat in a replay, whose file never changes; empty if it cannot be read."""
    try:
        decided = Replay.open(file).decided
    except (Damaged, OSError):
        return ()
    return tuple(
        ListedFault(each.decision, FaultKind(each.fault).name.lower())
        for each in decided
        if each.seat == seat and each.fault
    )


def utc(unix_ms: int) -> str:
    """A time for pages: `2026-11-22 17:30`."""
    return f"{datetime.fromtimestamp(unix_ms / 1000, UTC):%Y-%m-%d %H:%M}" if unix_ms else ""


def require_game(game_id: str) -> Game:
    """The game with an id.

    Raises:
      NoSuchPage: if this arena has no such game.
    """
    try:
        return game_by_id(game_id)
    except UnknownGame:
        raise NoSuchPage(f"there is no game {game_id!r}", "games") from None


def _lost(match: StoredMatch, bot: str) -> bool:
    places = match.outcome.places
    return any(name == bot and place > 1 for name, place in zip(match.bots, places, strict=False))


def _summaries(store: Store) -> Iterator[CompetitionSummary]:
    """All competitions, the oldest first."""
    for each in store.competitions().all():
        plan = tomllib.loads(each.config)
        yield CompetitionSummary(
            competition=each.name,
            kind=plan["kind"],
            format=plan.get("format"),
            state=str(each.state),
            games=tuple(CompetitionGame(own["game"], own["seats"]) for own in each.terms),
            bots=tuple(sorted(bot.entry.name for bot in each.entries)),
            begun=each.created.replace("T", " ")[:16],
            season=plan.get("season", ""),
            official=each.official,
            announcement=each.announcement,
            announced=(each.announced or "").replace("T", " ")[:16],
        )


def _public(
    store: Store, summary: CompetitionSummary, shown: frozenset[str] | None
) -> PublicCompetition:
    # Imported here, because they load numpy.
    from arena.competition.draws import round_results
    from arena.competition.pair_margins import measure
    from arena.competition.plan import read_plan
    from arena.competition.standings import as_measured, is_house, rated
    from arena.rating.pairs import pair_margins
    from arena.server.competition_service import latest_standings

    held, name = store.competitions(), summary.competition
    record, published, terms = held.record(name), held.published(name), held.get(name).terms
    plan, standings = read_plan(record.config), latest_standings(held, name)

    def results(number: int) -> GameResults:
        game, measured_by = record.games[number], measure(plan.games[number].terms)
        deal_sets = [_deal_set(each, game.outcomes, published, shown) for each in game.deal_sets]
        house = {bot for each in deal_sets for bot in each.bots if is_house(bot)}
        of_rows, _ = rated(plan, game, record.disqualified)
        measured = (as_measured(each.plan, game.outcomes, measured_by, house) for each in of_rows)
        return GameResults(
            game=terms[number]["game"],
            format=summary.format,
            terms=terms[number],
            standings=standings["games"][number],
            rounds=round_results(plan, number, record.candidates, game.past()),
            deal_sets=tuple(deal_sets),
            margins=pair_margins(measured),
            bound=measured_by.bound,
        )

    return PublicCompetition(summary, standings, tuple(map(results, range(len(terms)))))


def _deal_set(
    drawn: DrawnDealSet,
    outcomes: Mapping[str, MatchOutcome],
    published: frozenset[str],
    shown: frozenset[str] | None,
) -> DealSetRecord:
    plan, state = drawn.plan, DisplayState.OPEN
    if drawn.void or drawn.given_up:
        state = DisplayState.VOID
    elif is_complete(plan, outcomes) and all(match.id in published for match in plan.matches):
        state = DisplayState.CLOSED
    closed = state is DisplayState.CLOSED
    seen = [each for each in plan.matches if closed and (shown is None or each.id in shown)]
    winners = tuple(
        tuple(each.bots[seat] for seat in winning_seats(outcomes[each.id].places)) for each in seen
    )
    return DealSetRecord(plan.number, plan.bots, state, tuple(each.id for each in seen), winners)
