"""Many deal-sets in processes of this machine, or on a cluster of Dask or Ray; the results are the same.

A deal-set is a task that follows from its seed: its bots are new, and nothing is kept from one to the next. So it does
not matter where tasks run, in which order, or how often.
"""

import copy
import hashlib
import json
import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from google.protobuf.json_format import MessageToDict, ParseDict

from arena.games.catalogue import game_by_id
from arena.local.engines import Engine
from arena.local.kept_lines import KeptLines, OtherRun
from arena.local.match import Failure, Match, Result, names_of
from arena.local.place import AnyBot, require_fit
from arena.referee.terms import MatchTerms
from cardarena._ask import OptionValue
from cardarena._raised import Raised
from cardarena.v1.game_pb2 import Fault

MOST_BEGINS: Final = 3
"""The maximal number of begins of a task whose process dies."""
AHEAD: Final = 256
"""The number of tasks that are submitted ahead, so that no process waits for the next one."""
RESULTS: Final = "results.jsonl"
"""The file of results in a folder, beside its replays."""


class Unplayed(Exception):
    """A deal-set cannot be played, or the folder has results of another run. The text says why."""


@dataclass(frozen=True, slots=True)
class DealSetResult:
    """A deal-set that was played: the same cards once for each rotation of the bots over the seats."""

    table: int
    """The number of its table, from 0."""
    number: int
    """Its number among the deal-sets of the table, from 0."""
    seed: str
    """The seed of its matches. `play` deals the same cards with it."""
    matches: tuple[Result, ...]
    """By rotation: in match `r` bot `i` has seat `(i + r) % seats`."""

    @property
    def scores(self) -> tuple[int, ...]:
        """The sum of each bot's scores over all rotations, by the order of the table."""
        seats = len(self.matches)
        return tuple(
            sum(
                match.scores[(bot + rotation) % seats]
                for rotation, match in enumerate(self.matches)
            )
            for bot in range(seats)
        )


@dataclass(frozen=True, slots=True)
class _Run:
    """The parameters that all tasks of a run share."""

    game: str
    options: Mapping[str, OptionValue]
    seed: str
    raising: bool
    replays: bool

    def seed_of(self, number: int) -> str:
        """Return the seed of a deal-set. Every table plays the same cards."""
        return f"{self.seed}/{number}"

    def match_id(self, table: int, number: int, rotation: int) -> str:
        """Return the id of a match, which is the same in each run."""
        named = json.dumps([self.game, self.seed, table, number, rotation])
        return hashlib.sha256(named.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _DealSet:
    table: int
    number: int
    bots: Sequence[AnyBot]


@dataclass(frozen=True, slots=True)
class _Task:
    run: _Run
    deal_sets: Sequence[_DealSet]

    def __str__(self) -> str:
        return f"deal-set {self.deal_sets[0].number} of table {self.deal_sets[0].table}"


S = TypeVar("S")
T = TypeVar("T")
Played: TypeAlias = tuple[DealSetResult, tuple[bytes, ...]]
"""A deal-set and its replays by rotation, or none."""


def play_many(
    game: str,
    tables: Sequence[Sequence[AnyBot]],
    *,
    deal_sets: int,
    seed: str | int,
    options: Mapping[str, OptionValue] | None = None,
    client: Any = None,
    processes: int | None = None,
    deal_sets_per_task: int = 1,
    raising: bool = True,
    folder: str | os.PathLike[str] | None = None,
    replays: bool = False,
    on_progress: Callable[[int, int], object] = lambda *_: None,
) -> Iterator[DealSetResult]:
    """Play deal-sets of several tables, and yield their results in order: deal-set 0 of all tables, then deal-set 1.

    Each task gets copies of the bots, so results do not depend on how many processes there are. Bots must be picklable:
    classes of modules that the processes can import, or objects of these. Ray and Dask also take classes of a notebook.

    Args:
      game: The id of the game, such as `abstrac`.
      tables: The bots of each table by their seats in the first match: classes, which are instantiated for each match,
        or objects, which are copied for each.
      deal_sets: Deal-sets of each table. One has as many matches as seats.
      seed: Gives the same cards again. All tables get the same.
      options: The options of the game.
      client: The engine of the tasks: None for processes of this machine, the `Client` of a Dask cluster, the module `ray`
        after `ray.init`, an executor of `concurrent.futures`, or an `Engine`, which stays open.
      processes: Without a client, the number of processes; by default one for each core.
      deal_sets_per_task: The number of deal-sets of a task. A higher number saves messages if a deal-set takes less than some milliseconds.
      raising: Whether an exception in a bot ends the run; otherwise it is a fault, as in `play`.
      folder: A folder that keeps the results. The same call, also with more deal-sets, continues after the last result in it.
      replays: Whether the folder also gets replays.
      on_progress: Called after each deal-set with the number of those played, and of all.

    Raises:
      LookupError: if there is no such game.
      ValueError: if the game cannot be played with these seats or options, or a bot does not play
        it.
      Unplayed: if the folder has results of another run, or a process dies repeatedly.
      Exception: an exception of a bot, if `raising`.
    """
    run = _Run(game, dict(options or {}), str(seed), raising, replays)
    for bots in tables:
        chosen = game_by_id(game)
        chosen.options(run.options, len(bots))
        for bot in bots:
            require_fit(bot, game)
    where = None if folder is None else Path(folder)
    if replays and where is None:
        raise ValueError("replays need a folder")
    wanted = [
        _DealSet(table, number, bots)
        for number in range(deal_sets)
        for table, bots in enumerate(tables)
    ]
    return _play(run, wanted, tables, client, processes, deal_sets_per_task, where, on_progress)


def _play(
    run: _Run,
    wanted: Sequence[_DealSet],
    tables: Sequence[Sequence[AnyBot]],
    client: Any,
    processes: int | None,
    deal_sets_per_task: int,
    folder: Path | None,
    on_progress: Callable[[int, int], object],
) -> Iterator[DealSetResult]:
    with ExitStack() as stack:
        kept = None if folder is None else stack.enter_context(closing(_Kept(folder, run, tables)))
        earlier = [] if kept is None else kept.earlier[: len(wanted)]
        for done, result in enumerate(earlier, 1):
            on_progress(done, len(wanted))
            yield result
        tasks = [
            _Task(run, wanted[first : first + deal_sets_per_task])
            for first in range(len(earlier), len(wanted), deal_sets_per_task)
        ]
        engine = _engine(stack, client, processes)
        played = chain.from_iterable(results_in_order(engine, _played, tasks))
        for done, (result, bodies) in enumerate(played, len(earlier) + 1):
            on_progress(done, len(wanted))
            yield result if kept is None else kept.add(result, bodies)


def _engine(stack: ExitStack, client: Any, processes: int | None) -> Engine:
    if isinstance(client, Engine):
        return client
    return stack.enter_context(closing(Engine(client, processes)))


# A task.


def _played(task: _Task) -> list[Played]:
    return [_play_deal_set(task.run, deal_set) for deal_set in task.deal_sets]


def _play_deal_set(run: _Run, deal_set: _DealSet) -> Played:
    table, number, seats = deal_set.table, deal_set.number, len(deal_set.bots)
    game, seed = game_by_id(run.game), run.seed_of(number)
    terms = MatchTerms(game, game.options(run.options, seats), seats, seeded=True)
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder) if run.replays else None
        matches = []
        for rotation in range(seats):
            bots = [
                copy.deepcopy(deal_set.bots[(seat - rotation) % seats]) for seat in range(seats)
            ]
            match_id = run.match_id(table, number, rotation)
            match = Match(terms, seed, bots, raising=run.raising, folder=into, match_id=match_id)
            matches.append(match.play())
        replays = tuple(match.replay.read_bytes() for match in matches if match.replay is not None)
    bare = tuple(replace(match, replay=None) for match in matches)
    return DealSetResult(table, number, seed, bare), replays


# What runs tasks.


def results_in_order(engine: Engine, call: Callable[[S], T], tasks: Iterable[S]) -> Iterator[T]:
    """Yield the results of the tasks in order.

    Some tasks are submitted ahead; these are cancelled when the caller closes the iterator.

    Raises:
      Unplayed: if the process of a task dies repeatedly; `str` of a task names it.
      Exception: the exception of a task.
    """
    ahead = deque[tuple[S, Future[T]]]()
    left = iter(tasks)
    try:
        while True:
            ahead += (
                (task, engine.submit(call, task)) for task in islice(left, AHEAD - len(ahead))
            )
            if not ahead:
                return
            task, future = ahead.popleft()
            yield _result(engine, call, task, future)
    finally:
        for _, future in ahead:
            future.cancel()


def _result(engine: Engine, call: Callable[[S], T], task: S, future: "Future[T]") -> T:
    for _ in range(MOST_BEGINS - 1):
        try:
            return future.result()
        except BrokenProcessPool:
            future = engine.submit(call, task)
    try:
        return future.result()
    except BrokenProcessPool:
        raise Unplayed(f"a process has died {MOST_BEGINS} times at {task}") from None


# What a folder keeps.


class _Kept:
    """The results of a run in a folder: a line that names the run, and one for each deal-set in order."""

    def __init__(self, folder: Path, run: _Run, tables: Sequence[Sequence[AnyBot]]) -> None:
        """Read the results so far. An incomplete last line is removed.

        Raises `Unplayed` if these are results of another run.
        """
        self._replays = folder / "replays"
        named = asdict(run) | {"tables": [names_of(bots) for bots in tables]}
        try:
            self._lines = KeptLines(folder / RESULTS, named, _plain)
        except OtherRun as error:
            raise Unplayed(str(error)) from None
        self.earlier = [*map(_result_of, self._lines.earlier)]

    def close(self) -> None:
        self._lines.close()

    def add(self, result: DealSetResult, replays: Sequence[bytes]) -> DealSetResult:
        paths = []
        for rotation, body in enumerate(replays):
            self._replays.mkdir(exist_ok=True)
            path = self._replays / f"{result.table}-{result.number}-{rotation}.replay"
            path.write_bytes(body)
            paths.append(path)
        if paths:
            matches = zip(result.matches, paths, strict=True)
            kept = tuple(replace(match, replay=path) for match, path in matches)
            result = replace(result, matches=kept)
        self._lines.add(asdict(result))
        return result


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else MessageToDict(value)


def _result_of(values: dict[str, Any]) -> DealSetResult:
    matches = [
        Result(
            **match
            | {
                "scores": tuple(match["scores"]),
                "places": tuple(match["places"]),
                "hand_scores": tuple(map(tuple, match["hand_scores"])),
                "faults": tuple(ParseDict(fault, Fault()) for fault in match["faults"]),
                "exceptions": tuple(
                    Failure(**failure | {"raised": Raised(**failure["raised"])})
                    for failure in match["exceptions"]
                ),
                "replay": match["replay"] and Path(match["replay"]),
            }
        )
        for match in values["matches"]
    ]
    return DealSetResult(**values | {"matches": tuple(matches)})
