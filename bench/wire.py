"""The wire: the arena's decisions a second as ratios to a bare grpc.aio ping-pong.

Both speak over the same grpcio, on as many streams, with messages as long as
the arena's for one ask and one answer, and take turns in the same call: what
else the machine does so strikes both. A ratio is the median over rounds. The
arena is the whole of it, with the journal on; only the game is trivial.
"""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bench import arena_server, trivial
from bench.processes import Measured, Side, arena_side, bare_side


@dataclass(frozen=True, slots=True)
class Case:
    """One load to compare under."""

    name: str
    streams: int
    matches: int
    """Matches on each stream, and asks that may be open on it."""
    target: float | None = None
    target_us: float | None = None
    """Of the arena's processor time for a decision."""


CASES: Final = (
    Case("single_2", streams=2, matches=1),
    Case("single_64", streams=64, matches=1, target=0.90, target_us=19.0),
    Case("batch_8", streams=8, matches=8, target=3.0),
    Case("batch_64", streams=8, matches=64, target=4.5, target_us=10.0),
)


@dataclass(frozen=True, slots=True)
class Ratio:
    """The outcome of a case; decisions a second are medians."""

    case: Case
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
"""Measurements that frames are given to fill, at most."""


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


def compare(case: Case, rounds: int, seconds: float, progress: Callable[[str], None]) -> Ratio:
    """Measure one case, the two servers taking turns."""
    job = arena_server.Job(
        game=trivial.ID,
        streams=case.streams,
        seats=2,
        matches=case.matches,
        options={"turns": 1 << 60},
    )
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
        case=case,
        ratio=statistics.median(ratios),
        low=min(ratios),
        high=max(ratios),
        arena_per_s=statistics.median(ours.per_s for _, ours in pairs),
        bare_per_s=statistics.median(floor.per_s for floor, _ in pairs),
        cpu_us=statistics.median(ours.cpu_us for _, ours in pairs),
        bare_cpu_us=statistics.median(floor.cpu_us for floor, _ in pairs),
        asks_per_frame=sum(o.decisions for _, o in pairs) / sum(o.frames for _, o in pairs),
    )
