"""Decisions a second over the wire: the arena beside a bare grpc.aio ping-pong, and whole matches of real games.

The arena and the ping-pong speak over the same grpcio, on as many streams, with messages as long as the arena's for one
ask and one answer, and take turns: other work of the machine strikes both. A ratio is the median over rounds. The arena
is the whole of it, with the journal on; the game of the ratios is trivial.

In matches of real games, bots read each ask in full and take an offered move at random.
"""

import contextlib
import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any, Final

from arena.games.game import Game
from bench import arena_server, load, trivial
from bench.processes import Failed, Process

STREAMS: Final = 8
MATCHES: Final = 8
"""Matches on each stream, and as many asks may be open on it."""
HANDS: Final = 12
"""Hands of a match, rounded up to a multiple of the seats."""
LONG: Final = ("pineapple", 240)
"""A game, and hands of a match of which beginning and end hardly count."""
BARE_STREAMS: Final = (1, 2, 64)
ASK_BYTES: Final = 300
ANSWER_BYTES: Final = 30

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a load did while its gate was open."""

    decisions: int
    frames: int
    asked_bytes: int
    answered_bytes: int
    seconds: float
    played: int
    """All decisions since the gate was opened: those counted above come after a start."""
    cpu_s: float
    """Processor time of the server, for all that was played."""

    @property
    def cpu_us(self) -> float:
        """Processor time of the server for a decision, in microseconds."""
        return self.cpu_s * 1e6 / self.played

    @property
    def per_s(self) -> float:
        """Decisions a second."""
        return self.decisions / self.seconds


class Side:
    """A server with its load, ready to be measured."""

    def __init__(self, server: Process, client: Process) -> None:
        self._server = server
        self._client = client

    def measure(self, seconds: float) -> Measured:
        """Let the load play for so long, all else being at rest."""
        before_s = self._server.cpu_s
        self._client.tell(str(seconds))
        done = json.loads(self._client.line(seconds))
        return Measured(**done, cpu_s=self._server.cpu_s - before_s)


@contextlib.contextmanager
def bare_side(
    streams: int, ask_bytes: int, answer_bytes: int, path: str | None = None
) -> Iterator[Side]:
    """Run the bare ping-pong with messages of these lengths, one under way on each stream."""
    server = Process("bench.bare", str(ask_bytes), path=path)
    with _loaded(server, path, streams=streams, answer_bytes=answer_bytes) as side:
        yield side


@contextlib.contextmanager
def arena_side(
    job: arena_server.Job, *, first: bool = False, calls: bool = False
) -> Iterator[Side]:
    """Run the arena, with bots that answer by the first move, by check or call, or by a move at random."""
    server = Process("bench.arena_server", json.dumps(asdict(job)))
    answers = {"first": first, "calls": calls}
    play = {"streams": job.streams, "game": job.game, "matches": job.matches} | answers
    with _loaded(server, None, **play) as side:
        yield side


@contextlib.contextmanager
def _loaded(server: Process, path: str | None, **job: Any) -> Iterator[Side]:
    with contextlib.ExitStack() as stack:
        stack.callback(server.end)
        play = load.Job(address=server.line(), **job)
        client = Process("bench.load", json.dumps(asdict(play)), path=path)
        stack.callback(client.end)
        client.line()
        yield Side(server, client)


@dataclass(frozen=True, slots=True)
class Case:
    """A load to compare under."""

    name: str
    streams: int
    matches: int
    """Matches on each stream, and asks that may be open on it."""
    target: float | None = None
    target_us: float | None = None
    """The goal of the arena's processor time for a decision."""


CASES: Final = (
    Case("single_2", streams=2, matches=1),
    Case("single_64", streams=64, matches=1, target=0.90, target_us=19.0),
    Case("batch_8", streams=8, matches=8, target=3.5),
    Case("batch_64", streams=8, matches=64, target=4.5, target_us=10.0),
)


@dataclass(frozen=True, slots=True)
class Ratio:
    """The outcome of a case; decisions a second are medians."""

    ratio: float
    low: float
    high: float
    arena_per_s: float
    bare_per_s: float
    asks_per_frame: float
    cpu_us: float
    """Processor time of the arena for a decision, with the kernel's and gRPC's; median."""
    bare_cpu_us: float
    """The same of the bare server, for a round trip."""


GROWS: Final = 1.05
"""Frames with so many times the asks of those before are still filling."""
STAYS: Final = 2
"""Measurements in a row without such growth, after which they are full."""
SETTLES: Final = 30
"""Most measurements that frames are given to fill."""


def _settled(arena: Side, seconds: float) -> Measured:
    """Let an arena play until its frames do not fill any more: matches begin one by one, so do their asks."""
    fullest, stays = 0.0, 0
    now = arena.measure(seconds / 2)
    for _ in range(SETTLES):
        asks = now.decisions / max(1, now.frames)
        stays = stays + 1 if asks < GROWS * fullest else 0
        if stays == STAYS:
            break
        fullest = max(fullest, asks)
        now = arena.measure(seconds / 2)
    return now


def compare(case: Case, rounds: int, seconds: float, progress: Progress) -> Ratio:
    """Measure one case, the two servers taking turns."""
    job = arena_server.Job(trivial.ID, case.streams, 2, case.matches, {"turns": 1 << 60})
    with arena_side(job, first=True) as arena:
        warm = _settled(arena, seconds)
        ask_bytes = round(warm.asked_bytes / warm.decisions)
        answer_bytes = round(warm.answered_bytes / warm.decisions)
        with bare_side(case.streams, ask_bytes, answer_bytes) as bare:
            bare.measure(seconds / 2)
            pairs: list[tuple[Measured, Measured]] = []
            for at in range(rounds):
                pairs.append((bare.measure(seconds), arena.measure(seconds)))
                floor, ours = pairs[-1]
                progress(f"{case.name} {at + 1}/{rounds}: {ours.per_s / floor.per_s:.2f}")
    ratios = [ours.per_s / floor.per_s for floor, ours in pairs]
    return Ratio(
        ratio=statistics.median(ratios),
        low=min(ratios),
        high=max(ratios),
        arena_per_s=statistics.median(ours.per_s for _, ours in pairs),
        bare_per_s=statistics.median(floor.per_s for floor, _ in pairs),
        cpu_us=statistics.median(ours.cpu_us for _, ours in pairs),
        bare_cpu_us=statistics.median(floor.cpu_us for floor, _ in pairs),
        asks_per_frame=sum(o.decisions for _, o in pairs) / sum(o.frames for _, o in pairs),
    )


def decisions_per_s(
    game: Game, rounds: int, seconds: float, progress: Progress, *, hands: int = HANDS
) -> float:
    """Return the median of the rounds in whole matches of a game with its fewest seats, all seats together."""
    seats = min(game.seats)
    options: dict[str, object] = {"hands": -(-hands // seats) * seats}
    found = []
    with arena_side(arena_server.Job(game.id, STREAMS, seats, MATCHES, options)) as arena:
        arena.measure(seconds / 2)
        for at in range(rounds):
            found.append(arena.measure(seconds).per_s)
            progress(f"{game.id} {at + 1}/{rounds}: {found[-1]:.0f}/s")
    return statistics.median(found)


def bare_per_s(
    paths: Sequence[str], rounds: int, seconds: float, progress: Progress
) -> dict[tuple[str, int], list[float]]:
    """Return round trips a second of the bare server by version of grpcio and streams, for each round.

    Each path is a folder made by `pip install --target FOLDER grpcio==VERSION`; without one it is the installed
    version. Versions take turns. A version that hangs, as some did, has no figure there.
    """
    versions = {_grpcio_in(path): path for path in paths or (None,)}
    found: dict[tuple[str, int], list[float]] = {}
    hangs: set[tuple[str, int]] = set()
    for at in range(rounds):
        for streams in BARE_STREAMS:
            for version, path in versions.items():
                if (version, streams) in hangs:
                    continue
                try:
                    with bare_side(streams, ASK_BYTES, ANSWER_BYTES, path) as side:
                        per_s = side.measure(seconds).per_s
                except Failed:
                    hangs.add((version, streams))
                    continue
                found.setdefault((version, streams), []).append(per_s)
                progress(f"grpcio {version}, {streams} streams, {at + 1}/{rounds}: {per_s:.0f}/s")
    return {where: rates for where, rates in found.items() if where not in hangs}


def _grpcio_in(path: str | None) -> str:
    if path is None:
        return metadata.version("grpcio")
    for found in metadata.distributions(name="grpcio", path=[path]):
        return found.version
    raise Failed(f"there is no grpcio in {path}")
