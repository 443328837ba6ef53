"""The public part of a data folder, from which all pages of the site are made. No arena has to run.

The connection to the store is one for public readers: it cannot write, and has no keys, seeds and commands. Of an open
deal-set only its existence is public: its matches have the same cards, so the result of one would reveal the cards of
another. This module leaves out their ids, results and faults, so no page can show them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from arena.api.match_messages import stored_filter, stored_match_message
from arena.api.pair_tests import Json
from arena.api.public_competition import PublicCompetition, competition_message, public_competition
from arena.records.read import Replay, replay_path
from arena.records.records import Damaged
from arena.referee.spec import FaultKind
from arena.results.deal_sets import bot_of
from arena.results.record import FINALS
from arena.results.states import State
from arena.store import (
    Competition,
    MatchFilter,
    NoCompetition,
    NoOfficialStandings,
    OfficialStandings,
    Store,
    StoredMatch,
    is_there,
    open_public,
)
from arena.store.competition_rows import GameProgress
from arena.store.data_folder import arena_version, store_path, watch_socket
from cardarena.v1 import competitions_pb2, lobby_pb2

if TYPE_CHECKING:
    from concurrent.futures import Future

    from arena.process_pool import ProcessPool
    from arena.results.pairs import Pair

PAGE: Final = 50
"""The rows of a list on a page."""
EVERY: Final = lobby_pb2.MatchFilter()
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


class NotPublic(Exception):
    """A competition or its standings do not exist, or are not public. The text says which."""


@dataclass(frozen=True, slots=True)
class ConductInMatch:
    """The decisions of a seat in a match: its faults and the time that they took."""

    faults: tuple[tuple[int, str], ...] = ()
    """The number of the decision and the kind of each fault."""
    times_ms: tuple[float, ...] = ()
    """The time charged for each decision that was asked for."""


@dataclass(frozen=True, slots=True)
class ListedMatch:
    """A match of a list."""

    match: lobby_pb2.MatchInfo
    worth: str
    """Why it is worth watching, by `arena.results.worth`; empty without a reason."""
    costliest_hand: int
    """The number of the hand with the largest difference between seats, from 1; 0 if it is not known."""
    cost: int
    """The difference of points in that hand."""


@dataclass(frozen=True, slots=True)
class Appearance:
    """A bot in a game of a competition."""

    competition: str
    standings: Json
    row: Json
    terms: Json
    margins: "Mapping[Pair, Sequence[float]]"
    """The margins of each pair of bots of the game, in order."""


def is_played_by(player: str, bot: str) -> bool:
    """Return whether a player is a bot, or one of its versions."""
    return bot in (player, bot_of(player))


_Stamped: TypeAlias = tuple[object, PublicCompetition]


class SiteArchive:
    """The public content of an arena's data folder. Calls block, and are safe on any thread."""

    def __init__(
        self,
        data: Path,
        *,
        store_url: str = "",
        only: str = "",
        shown: frozenset[str] | None = None,
        workers: "ProcessPool | None" = None,
    ) -> None:
        """Open nothing yet.

        Args:
          store_url: The address of a store in PostgreSQL; empty for the store of the folder.
          only: The one competition that is public; empty for all.
          shown: The ids of the matches that have pages; None for all.
          workers: Compute competitions after each closed deal-set; until a result is ready, pages
            show the previous one. None to compute competitions when they are read.
        """
        self._data = data
        self._store_url = store_url
        self._only = only
        self._shown = shown
        self._workers = workers
        self._kept: dict[str, _Stamped] = {}
        """Competitions by name, each with a stamp that changes when the competition does."""
        self._awaited: dict[str, Future[_Stamped]] = {}
        """What workers compute, by the name of the competition."""
        self._store: Store | None = None

    @property
    def data(self) -> Path:
        return self._data

    @property
    def watch_socket(self) -> Path:
        """The socket of the arena that runs in the data folder, for spectators."""
        return watch_socket(self._data)

    @property
    def reader(self) -> str:
        """The version of the arena whose code reads the data folder."""
        return arena_version()

    def limited_to(self, matches: frozenset[str] | None) -> "SiteArchive":
        """Return an archive of the same data in which only these matches have pages; None for all."""
        return SiteArchive(self._data, store_url=self._store_url, only=self._only, shown=matches)

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    @property
    def _open(self) -> Store | None:
        """The store; None if it does not exist yet. Raises `StoreError` if it cannot be read."""
        path, url = store_path(self._data), self._store_url
        if self._store is None and (url or is_there(path)):
            self._store = open_public(path, url=url)
        return self._store

    # Matches.

    def matches(
        self, wanted: lobby_pb2.MatchFilter = EVERY, *, page: int = 1
    ) -> tuple[Sequence[lobby_pb2.MatchInfo], bool]:
        """Return a page of closed matches, newest first, and whether there is another. Pages count from 1."""
        listed, more = self.listed(wanted, page=page)
        return tuple(row.match for row in listed), more

    def listed(
        self,
        wanted: lobby_pb2.MatchFilter = EVERY,
        *,
        page: int = 1,
        worth: str = "",
        most_margin: float | None = None,
        by_others: bool = False,
    ) -> tuple[Sequence[ListedMatch], bool]:
        """Return what `matches` returns, with the reasons why matches are worth watching.

        `worth` is a kind of `arena.results.worth`, `any`, or empty for all matches; of matches `by_others` the
        arena's own bots do not fill all seats.
        """
        store = self._open
        if store is None:
            return (), False
        chosen = replace(
            self._public(wanted), worth=worth, most_margin=most_margin, by_others=by_others
        )
        matches = store.matches().find(chosen, limit=PAGE + 1, skip=(page - 1) * PAGE)
        return tuple(
            ListedMatch(
                self._shown_match(match),
                match.worth,
                match.outcome.costliest_hand,
                match.outcome.cost,
            )
            for match in matches[:PAGE]
        ), len(matches) > PAGE

    def _public(self, wanted: lobby_pb2.MatchFilter) -> MatchFilter:
        chosen = stored_filter(wanted, sees_all=False)
        return replace(chosen, competition=self._only or chosen.competition)

    def games(self, bot: str = "") -> frozenset[str]:
        """Return the ids of games with ended matches, of one bot or of all."""
        store = self._open
        if store is None:
            return frozenset()
        wanted = lobby_pb2.MatchFilter(bots=(bot,) if bot else ())
        return store.matches().games(self._public(wanted))

    def _shown_match(self, match: StoredMatch) -> lobby_pb2.MatchInfo:
        """Return a match, with `published` only if it has pages."""
        match_id = match.outcome.match_id
        wanted = self._shown is None or match_id in self._shown
        has_pages = match.published and wanted and self._file(match_id).is_file()
        return stored_match_message(replace(match, published=has_pages), sees_all=False)

    def _file(self, match_id: str) -> Path:
        return replay_path(self._data / "replays", match_id)

    def match(self, match_id: str) -> lobby_pb2.MatchInfo | None:
        """Return a public match; None if it does not exist, or is not public yet."""
        store = self._open
        match = store.matches().get(match_id) if store and _ID.fullmatch(match_id) else None
        if match is None or not match.closed:
            return None
        return self._shown_match(match) if self._only in ("", match.competition) else None

    def replay(self, match: lobby_pb2.MatchInfo) -> Path | None:
        """Return the replay file of a match; None if it does not exist."""
        path = self._file(match.match_id)
        return path if match.published and path.is_file() else None

    # Competitions.

    def competitions(self) -> Sequence[competitions_pb2.CompetitionInfo]:
        """Return all competitions, newest first, without the counts of their deal-sets."""
        return [_message(row, ()) for row in self._rows()]

    def _rows(self) -> Sequence[Competition]:
        if self._open is None:
            return ()
        newest_first = reversed(self._open.competitions().all())
        chosen = [row for row in newest_first if self._only in ("", row.name)]
        return sorted(chosen, key=lambda row: row.created, reverse=True)

    def last_ends(self) -> Mapping[str, int]:
        """Return when the last match of each competition ended, by its name, in UNIX milliseconds."""
        return {} if self._open is None else self._open.matches().last_ends()

    def of_game(self, game_id: str) -> Sequence[str]:
        """Return the names of the competitions with a game, newest first."""
        return [
            row.name for row in self._rows() if game_id in {terms["game"] for terms in row.terms}
        ]

    def competition(self, name: str) -> PublicCompetition:
        """Return one competition. Raises `NotPublic` if there is none of this name."""
        row, store = self._row(name)
        return self._read(store, row)

    def finals(self, name: str) -> Sequence[str]:
        """Return the names of the finals of a ladder, newest first."""
        return [row.name for row in self._rows() if row.name.startswith(f"{name}{FINALS}")]

    def collusion(self, name: str) -> Json:
        """Return the report of owners whose bots may help each other in a competition, and of workers that may help a bot; for organisers.

        Raises `NotPublic` if there is no such competition.
        """
        from arena.contests.collusion_report import suspected

        _, store = self._row(name)
        held = store.competitions()
        return suspected(held.record(name), held.begins_at_workers(name))

    def _read(self, store: Store, row: Competition) -> PublicCompetition:
        """Return a competition, from memory if it has not changed.

        While a worker computes the last results, the competition is not shown as finished.
        """
        held, name = store.competitions(), row.name
        info = _message(row, held.progress(name))
        stamp = info, held.published_number(name)
        kept = self._kept.get(name)
        if kept is None or kept[0] != stamp:
            kept = self._kept[name] = (
                (stamp, public_competition(store, info, self._shown))
                if self._workers is None
                else self._from_worker(name, kept)
            )
        if row.state is State.FINISHED:
            info.state, info.official = kept[1].info.state, kept[1].info.official
        return replace(kept[1], info=info)

    def _from_worker(self, name: str, kept: _Stamped | None) -> _Stamped:
        """Return the latest result of a worker for a competition; only the first call waits for it."""
        assert self._workers is not None
        awaited = self._awaited.get(name)
        if awaited is None:
            given = self._data, self._store_url, self._only, name
            awaited = self._awaited[name] = self._workers.submit(_computed, *given)
        if kept is not None and not awaited.done():
            return kept
        self._awaited.pop(name, None)
        return awaited.result()

    def official(self, name: str, number: int) -> Json:
        """Official standings by their number, with key and signature. Raises `NotPublic` if there are none."""
        from arena.contests.official_standings import signed_standings

        return signed_standings(self._official(name, number))

    def official_export(self, name: str, number: int) -> bytes:
        """Official standings and their inputs, as JSON Lines. Raises `NotPublic` if there are none."""
        from arena.contests.official_standings import official_lines

        lines = official_lines(self._official(name, number))
        return "".join(f"{line}\n" for line in lines).encode()

    def _official(self, name: str, number: int) -> OfficialStandings:
        _, store = self._row(name)
        try:
            official = store.competitions().official(name, number)
        except NoOfficialStandings as error:
            raise NotPublic(str(error)) from None
        assert official is not None
        return official

    def _row(self, name: str) -> tuple[Competition, Store]:
        store = self._open
        if store is None or self._only not in ("", name):
            raise NotPublic(str(NoCompetition(name)))
        try:
            return store.competitions().get(name), store
        except NoCompetition as error:
            raise NotPublic(str(error)) from None

    # Bots.

    def conduct(self, bot: str, most: int, *, faulted: bool) -> Sequence[ConductInMatch]:
        """Return how the bot decided in its newest `most` matches, or in those with faults of any bot, oldest match first."""
        wanted = lobby_pb2.MatchFilter(bots=(bot,), faulted=faulted, published=True)
        newest, _ = self.matches(wanted)
        files = [(match, file) for match in newest[:most] if (file := self.replay(match))]
        seats = (
            (file, next(at for at, name in enumerate(match.bots) if is_played_by(name, bot)))
            for match, file in reversed(files)
        )
        return [conduct_in(file, seat) for file, seat in seats]

    def bots(self) -> tuple[str, ...]:
        """Return the names of all bots and versions that have played, are entered or are registered, sorted.

        If the site shows `only` one competition, they are its bots.
        """
        store = self._open
        if store is None:
            return ()
        played = store.matches().bots(self._only)
        entered = {entry.name for row in self._rows() for entry in row.entries}
        registered = () if self._only else store.registry().names()
        return tuple(sorted({*played, *entered.difference(map(bot_of, played)), *registered}))

    def owners(self) -> Mapping[str, str]:
        """Return the owner of each registered bot, by its name."""
        store = self._open
        return {} if store is None else store.registry().owners_of_bots()

    def profile(self, bot: str) -> Json | None:
        """Owner, kind and versions of a registered bot, oldest version first; None if it is not registered."""
        store = self._open
        registered = None if store is None else store.registry().find_bot(bot)
        if store is None or registered is None:
            return None
        versions = store.registry().versions(bot)
        return {
            "owner": registered.owner,
            "kind": str(registered.kind),
            "runtime": next((v.manifest.get("runtime", "") for v in reversed(versions)), ""),
            "versions": [
                {"number": v.number, "state": str(v.state), "since_unix_ms": v.since_unix_ms}
                for v in versions
            ],
        }

    def appearances(self, bot: str) -> tuple[Appearance, ...]:
        """Return the rows of a bot, and of its versions, in the standings of competitions, oldest first."""
        store = self._open
        read = (
            self._read(store, row)
            for row in reversed(self._rows())
            if store is not None and bot_of(bot) in {entry.name for entry in row.entries}
        )
        return tuple(
            Appearance(competition.info.name, game.standings, row, game.terms, game.margins)
            for competition in read
            for game in competition.games
            for row in game.standings["rows"]
            if is_played_by(row["bot"], bot)
        )


def _message(
    row: Competition, progress: Sequence[GameProgress]
) -> competitions_pb2.CompetitionInfo:
    """Return a competition as the message of `GetCompetition`, without its organiser, who may be a user of this machine.

    Pages are kept, so `waits` says nothing that depends on the time.
    """
    info = competition_message(row, progress, row.waits)
    info.ClearField("organiser")
    return info


@lru_cache
def _archive_of(data: Path, store_url: str, only: str) -> SiteArchive:
    return SiteArchive(data, store_url=store_url, only=only)


def _computed(data: Path, store_url: str, only: str, name: str) -> _Stamped:
    """Compute a competition in a worker, which caches what does not change when a deal-set closes."""
    archive = _archive_of(data, store_url, only)
    archive.competition(name)
    return archive._kept[name]


@lru_cache(4_096)
def conduct_in(file: Path, seat: int) -> ConductInMatch:
    """Return the decisions of a seat in a replay, whose file never changes; none if it cannot be read."""
    try:
        decided = [row for row in Replay.open(file).decided if row.seat == seat]
    except (Damaged, OSError):
        return ConductInMatch()
    return ConductInMatch(
        tuple((row.decision, FaultKind(row.fault).name.lower()) for row in decided if row.fault),
        tuple(row.charged_us / 1000 for row in decided if not row.unasked),
    )
