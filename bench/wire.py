"""Decisions a second over the wire: the arena beside a bare grpc.aio ping-pong, and whole matches of real games.

The arena and the ping-pong speak over the same grpcio, on as many streams, with messages as long as the arena's for one
ask and one answer, and take turns: other work of the machine strikes both. A ratio is the median over rounds. The arena
is the whole of it, with the journal on; the game of the ratios is trivial.

In matches of real games, bots read each ask in full and take an offered move at random.
"""

import contextlib
import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Final

from arena.games.game import Game
from bench import arena_server, trivial
from bench.processes import Process, played

STREAMS: Final = 8
MATCHES: Final = 8
"""Matches on each stream, and as many asks may be open on it."""
HANDS: Final = 12
"""Hands of a match, rounded up to a multiple of the seats."""
LONG: Final = ("pineapple", 240)
"""A game, and hands of a match of which beginning and end hardly count."""

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
def bare_side(streams: int, ask_bytes: int, answer_bytes: int) -> Iterator[Side]:
    """Run the bare ping-pong with messages of these lengths, one under way on each stream."""
    server = Process("bench.bare", str(ask_bytes))
    with played(server, "bench.load", {"streams": streams, "answer_bytes": answer_bytes}) as bots:
        yield Side(server, bots)


@contextlib.contextmanager
def arena_side(
    job: arena_server.Job, *, first: bool = False, calls: bool = False
) -> Iterator[Side]:
    """Run the arena, with bots that answer by the first move, by check or call, or by a move at random."""
    server = Process("bench.arena_server", json.dumps(asdict(job)))
    play = {"streams": job.streams, "game": job.game, "matches": job.matches}
    with played(server, "bench.load", play | {"first": first, "calls": calls}) as bots:
        yield Side(server, bots)


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


def compare(case: Case, rounds: int, seconds: float, progress: Progress) -> dict[str, float | None]:
    """Measure one case, the two servers taking turns. Figures are medians; processor time is a server's, with the kernel's and gRPC's."""
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
    return {
        "ratio": statistics.median(ratios),
        "low": min(ratios),
        "high": max(ratios),
        "goal": case.target,
        "arena_per_s": statistics.median(ours.per_s for _, ours in pairs),
        "bare_per_s": statistics.median(floor.per_s for floor, _ in pairs),
        "asks_per_frame": sum(o.decisions for _, o in pairs) / sum(o.frames for _, o in pairs),
        "cpu_us": statistics.median(ours.cpu_us for _, ours in pairs),
        "goal_us": case.target_us,
        "bare_cpu_us": statistics.median(floor.cpu_us for floor, _ in pairs),
    }


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
