"""What pages may know of an arena's folder: the one place where the store is read for them.

Of a deal-set that is open nothing is told but that it is: its tables play the same boards, so
how one goes tells what is to come at another. Its results, faults and ids are left out here, so
no page can show them.
"""

import contextlib
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arena.games.catalogue import Game, UnknownGame, game_by_id
from arena.games.contract import BadOptions
from arena.ladder.schedule import DealSetPlan
from arena.referee.spec import FaultKind
from arena.replay.read import Replay, replay_path
from arena.replay.records import Damaged
from arena.server.data_folder import store_path
from arena.store import MatchFilter, Settings, Store, StoredMatch, Tournament, is_there, open_public
from arena.web.winners import winning_seats

if TYPE_CHECKING:
    from arena.ladder.head_to_head import Records
    from arena.ladder.pairs import Pair
    from arena.ladder.standings import Row, Standings

PAGE: Final = 50
"""Rows of a list on a page."""
EVERY: Final = MatchFilter()
_GIVEN_UP: Final = "given up"
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MOST_AT_ONCE: Final = 500


class State(StrEnum):
    """How a deal-set stands, to everybody."""

    CLOSED = "closed"
    """All its matches have results, and their replays are published."""
    OPEN = "open"
    VOID = "void"
    """Given up: it counts for nothing."""


@dataclass(frozen=True, slots=True)
class DealSetRecord:
    """A deal-set of a tournament."""

    number: int
    bots: tuple[str, ...]
    state: State
    matches: tuple[str, ...]
    """Ids of its matches that can be watched; none while it is open."""
    winners: tuple[tuple[str, ...], ...]
    """Who won each of them, by name: as `winning_seats`."""


@dataclass(frozen=True, slots=True)
class Headline:
    """A tournament in a line."""

    name: str
    game: str
    seats: int
    bots: tuple[str, ...]
    created: str
    """ISO 8601, UTC."""


@dataclass(frozen=True, slots=True)
class TournamentRecord:
    """A tournament as far as its deal-sets are closed."""

    headline: Headline
    terms: Mapping[str, Any]
    versions: Mapping[str, str]
    """By bot, a short hash of what it was; empty if that is not known."""
    standings: "Standings"
    records: "Records"
    deal_sets: tuple[DealSetRecord, ...]
    margins: "Mapping[Pair, Sequence[float]]"
    """For each two bots that met, the margin of every closed deal-set in order."""
    bound: float | None
    """The most that a margin can be by the rules; None if they set no bound."""

    def count(self, state: State) -> int:
        """How many deal-sets stand so."""
        return sum(each.state is state for each in self.deal_sets)


@dataclass(frozen=True, slots=True)
class Appearance:
    """A bot at a tournament."""

    headline: Headline
    row: "Row"
    version: str
    records: "Records"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a bot in a match."""

    decision: int
    kind: str


class Archive:
    """A folder of an arena, read. Calls block; any thread may call."""

    def __init__(self, data: Path, *, only: str = "", per_game: int | None = None) -> None:
        """`only` names the one tournament that is told of.

        With `per_game` only so many matches of each game, the newest, can be watched.
        """
        self._data = data
        self._only = only
        self._per_game = per_game
        self._chosen: frozenset[str] | None = None
        self._kept: dict[str, tuple[object, TournamentRecord]] = {}
        """Tournaments as they were last read, by name, and what tells whether they still are so."""
        self._store: Store | None = None

    def close(self) -> None:
        """Let go of the store."""
        if self._store is not None:
            self._store.close()
            self._store = None

    @property
    def _open(self) -> Store | None:
        """The store; None as long as there is none.

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
        """A page of closed matches, newest first, counted from 1, and whether there is another.

        `lost_by` leaves those that this bot was not first in.
        """
        store = self._open
        if store is None:
            return (), False
        chosen = MatchFilter(
            wanted.game,
            wanted.bots,
            self._only or wanted.tournament,
            wanted.ending,
            wanted.faulted,
            wanted.published,
            closed=True,
        )
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
        """The games, by title, of which a match has ended here; of one bot's, if it is named."""
        store = self._open
        if store is None:
            return ()
        bots = (bot,) if bot else ()
        wanted = MatchFilter(bots=bots, tournament=self._only, closed=True)
        return tuple(sorted(store.matches().games(wanted), key=title_of))

    def _as_shown(self, match: StoredMatch) -> StoredMatch:
        shown = self._shown()
        wanted = shown is None or match.outcome.match_id in shown
        if wanted and self._file(match).is_file():
            return match
        return replace(match, published=False)

    def _file(self, match: StoredMatch) -> Path:
        return replay_path(self._data / "replays", match.outcome.match_id)

    def _shown(self) -> frozenset[str] | None:
        """The matches that can be watched; None where all can."""
        store = self._open
        if self._per_game is None or store is None:
            return None
        if self._chosen is None:
            self._chosen = frozenset(
                each.outcome.match_id
                for game in {each.game for each in self.headlines()}
                for each in store.matches().find(
                    MatchFilter(game, tournament=self._only, published=True),
                    limit=self._per_game,
                )
            )
        return self._chosen

    def match(self, match_id: str) -> StoredMatch | None:
        """A match that may be watched; None if there is none, or none that may be watched yet."""
        store = self._open
        found = store.matches().get(match_id) if store and _ID.fullmatch(match_id) else None
        if found is None or not found.closed:
            return None
        return self._as_shown(found) if self._only in ("", found.tournament) else None

    def replay(self, match: StoredMatch) -> Path | None:
        """The file of a match; None if it was taken away, or never was there."""
        path = self._file(match)
        return path if match.published and path.is_file() else None

    # Tournaments.

    def headlines(self) -> tuple[Headline, ...]:
        """All tournaments, newest first."""
        store = self._open
        if store is None:
            return ()
        return tuple(
            _headline(each, store.tournament(each.name))
            for each in reversed(store.tournaments())
            if self._only in ("", each.name)
        )

    def tournament(self, name: str) -> TournamentRecord | None:
        """One tournament; None if there is none of this name."""
        store = self._open
        names = [each.name for each in store.tournaments()] if store else []
        if store is None or name not in names or self._only not in ("", name):
            return None
        found = store.tournament(name)
        stands = found.states(), found.published()
        kept = self._kept.get(name)
        if kept is None or kept[0] != stands:
            kept = self._kept[name] = stands, _record(found, self._shown())
        return kept[1]

    # Bots.

    def faults(self, bot: str, most: int) -> tuple[tuple[Fault, ...], ...]:
        """For each of the newest matches of a bot with a fault in them, oldest first, its own faults."""
        found, _ = self.matches(MatchFilter(bots=(bot,), faulted=True, published=True))
        files = [(each, file) for each in found[:most] if (file := self.replay(each))]
        return tuple(
            own for each, file in reversed(files) if (own := _faults_in(file, each.bots.index(bot)))
        )

    def bots(self) -> tuple[str, ...]:
        """Everybody that sat at a match, by name."""
        store = self._open
        if store is None:
            return ()
        if self._only:
            return tuple(sorted({bot for each in self.headlines() for bot in each.bots}))
        return store.matches().bots()

    def appearances(self, bot: str) -> tuple[Appearance, ...]:
        """The tournaments of a bot, oldest first."""
        found = []
        for headline in reversed(self.headlines()):
            if bot not in headline.bots:
                continue
            record = self.tournament(headline.name)
            row = (
                next((row for row in record.standings.rows if row.bot == bot), None)
                if record
                else None
            )
            if record is not None and row is not None:
                found.append(Appearance(headline, row, record.versions[bot], record.records))
        return tuple(found)


@lru_cache(4_096)
def _faults_in(file: Path, seat: int) -> tuple[Fault, ...]:
    """The faults of a seat in a finished replay, which never changes; none where it cannot be read."""
    try:
        decided = Replay.open(file).decided
    except (Damaged, OSError):
        return ()
    return tuple(
        Fault(each.decision, FaultKind(each.fault).name.lower())
        for each in decided
        if each.seat == seat and each.fault
    )


def utc(unix_ms: int) -> str:
    """A time as pages have it: `2026-11-22 17:30`."""
    return f"{datetime.fromtimestamp(unix_ms / 1000, UTC):%Y-%m-%d %H:%M}" if unix_ms else ""


def title_of(game_id: str) -> str:
    """A game's title, also of one that this arena does not have any more."""
    game = known_game(game_id)
    return game.title if game else game_id


def known_game(game_id: str) -> Game | None:
    """A game of this arena, by its id."""
    with contextlib.suppress(UnknownGame):
        return game_by_id(game_id)
    return None


def _lost(match: StoredMatch, bot: str) -> bool:
    places = match.outcome.places
    return any(name == bot and place > 1 for name, place in zip(match.bots, places, strict=False))


def _headline(settings: Settings, tournament: Tournament) -> Headline:
    return Headline(
        settings.name,
        settings.terms["game"],
        settings.terms["seats"],
        tuple(sorted(each.name for each in settings.entrants)),
        tournament.created(),
    )


def _record(tournament: Tournament, shown: frozenset[str] | None) -> TournamentRecord:
    # What reckons needs numpy: it is loaded once somebody asks for a table.
    from arena.ladder.head_to_head import records
    from arena.ladder.margins import DealSet, Table
    from arena.ladder.pairs import pair_margins
    from arena.ladder.standings import standings

    settings, plans = tournament.settings(), tournament.deal_sets()
    published, states = tournament.published(), tournament.states()
    outcomes = tournament.outcomes()

    def state(plan: DealSetPlan) -> State:
        if states[plan.id] == _GIVEN_UP:
            return State.VOID
        over = all(
            match.id in published and match.id in outcomes and outcomes[match.id].has_result
            for match in plan.matches
        )
        return State.CLOSED if over else State.OPEN

    standing = {plan.id: state(plan) for plan in plans}
    closed = [plan for plan in plans if standing[plan.id] is State.CLOSED]
    told = {match.id: outcomes[match.id] for plan in closed for match in plan.matches}
    scored = (
        DealSet(tuple(Table(match.bots, told[match.id].scores) for match in plan.matches))
        for plan in closed
    )

    def record(plan: DealSetPlan) -> DealSetRecord:
        is_closed = standing[plan.id] is State.CLOSED
        seen = [each for each in plan.matches if is_closed and (shown is None or each.id in shown)]
        return DealSetRecord(
            plan.number,
            plan.bots,
            standing[plan.id],
            tuple(each.id for each in seen),
            tuple(
                tuple(each.bots[seat] for seat in winning_seats(told[each.id].places))
                for each in seen
            ),
        )

    return TournamentRecord(
        headline=_headline(settings, tournament),
        terms=settings.terms,
        versions={each.name: _short(each.version) for each in settings.entrants},
        standings=standings(plans, told),
        records=records(plans, told),
        deal_sets=tuple(map(record, plans)),
        margins=pair_margins(scored),
        bound=_bound(settings.terms),
    )


def _bound(terms: Mapping[str, Any]) -> float | None:
    game, seats = known_game(terms["game"]), terms["seats"]
    with contextlib.suppress(BadOptions):
        if game is not None:
            return game.margin_bound(game.options(terms["options"], seats), seats)
    return None


def _short(version: str) -> str:
    """A few digits that tell a bot's versions apart: of all its files together."""
    if not version:
        return ""
    return hashlib.sha256(version.encode()).hexdigest()[:8]


def faults_of(match: StoredMatch) -> int:
    """How many faults there were at a match."""
    return sum(sum(Counter(kinds).values()) for kinds in match.outcome.faults)
