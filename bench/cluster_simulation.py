"""A discrete-event simulation of an arena with many workers on other machines: where it saturates.

A slot asks the arena for a deal-set, plays it, and has its report verified and recorded before it asks again. The
arena's process is one server, since Python runs one thread at a time; the verifying processes are several. Their times
are those that `bench/scheduling.py` measures. Run it with `python -m bench.cluster_simulation`.
"""

import argparse
import heapq
import itertools
import random
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

ARENA_S: Final = 0.0113
"""Processor time of the arena for a deal-set of two matches: lease, begin, journal, replays, result."""
DECISION_S: Final = 0.000_1
"""Processor time to verify a decision."""
DECISIONS: Final = 130
"""Decisions of a deal-set of two matches of twelve hands of Sixty-Six."""
SPREAD: Final = 0.3
"""Standard deviation of the duration of a deal-set, as a share of its mean."""
LASTS: Final = 40
"""Simulated time, as a multiple of the duration of a deal-set. The first quarter is not counted."""


class _Server:
    """A queue with some processors, each of which serves one customer at a time."""

    def __init__(self, clock: "_Clock", processors: int) -> None:
        self._clock, self._free = clock, processors
        self._waiting: deque[tuple[float, Callable[[], None]]] = deque()
        self.busy_s = 0.0
        self.longest = 0
        """Most customers that waited."""

    def serve(self, lasts_s: float, then: Callable[[], None]) -> None:
        """Serve a customer for a time, then go on."""
        if self._free:
            self._begin(lasts_s, then)
        else:
            self._waiting.append((lasts_s, then))
            self.longest = max(self.longest, len(self._waiting))

    def _begin(self, lasts_s: float, then: Callable[[], None]) -> None:
        self._free -= 1
        self.busy_s += lasts_s

        def end() -> None:
            self._free += 1
            if self._waiting:
                self._begin(*self._waiting.popleft())
            then()

        self._clock.after(lasts_s, end)


class _Clock:
    """Simulated time, and what happens then."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self._order = itertools.count()
        self._events: list[tuple[float, int, Callable[[], None]]] = []

    def after(self, wait_s: float, call: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now_s + wait_s, next(self._order), call))

    def run(self, end_s: float) -> None:
        """Run until a time."""
        while self._events and self._events[0][0] <= end_s:
            self.now_s, _, call = heapq.heappop(self._events)
            call()


@dataclass(frozen=True, slots=True)
class Found:
    """The results of one simulation."""

    per_s: float
    """Deal-sets a second."""
    slots_busy: float
    """Share of time in which a slot plays."""
    arena_busy: float
    """Share of time in which the arena's process works."""
    verifying_busy: float
    """The same of each verifying process."""
    most_waiting: int
    """Most reports that waited for verification."""


def simulate(
    slots: int,
    deal_set_s: float,
    *,
    verifying: int,
    arena_s: float = ARENA_S,
    verify_s: float = DECISION_S * DECISIONS,
    seed: int = 1,
) -> Found:
    """Play deal-sets of `deal_set_s` on average at each slot, for `LASTS` times that."""
    draw, clock = random.Random(seed), _Clock()
    arena, verifier = _Server(clock, 1), _Server(clock, verifying)
    done, played_s = 0, 0.0

    def ask() -> None:
        arena.serve(arena_s / 2, play)

    def play() -> None:
        lasts_s = max(0.1, draw.gauss(1, SPREAD)) * deal_set_s
        clock.after(lasts_s, lambda: report(lasts_s))

    def report(lasted_s: float) -> None:
        nonlocal played_s
        played_s += lasted_s
        verifier.serve(verify_s, lambda: arena.serve(arena_s / 2, recorded))

    def recorded() -> None:
        nonlocal done
        done += 1
        ask()

    for _ in range(slots):
        clock.after(draw.uniform(0, deal_set_s), ask)
    begin_s, end_s = LASTS / 4 * deal_set_s, LASTS * deal_set_s
    clock.run(begin_s)
    before = done, played_s, arena.busy_s, verifier.busy_s
    clock.run(end_s)
    after = done, played_s, arena.busy_s, verifier.busy_s
    counted, played, worked, verified = (
        (late - early) / (end_s - begin_s) for early, late in zip(before, after, strict=True)
    )
    return Found(counted, played / slots, worked, verified / verifying, verifier.longest)


def main(argv: list[str] | None = None) -> None:
    """Print a row for each number of workers, duration of a deal-set and number of verifying processes."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster_simulation")
    parser.add_argument("--arena-ms", type=float, default=ARENA_S * 1000)
    parser.add_argument("--decision-us", type=float, default=DECISION_S * 1e6)
    parser.add_argument("--decisions", type=int, default=DECISIONS)
    given = parser.parse_args(argv)
    sys.stdout.write(
        "| workers \N{MULTIPLICATION SIGN} slots | deal-set, s | verifying | deal-sets/s | slots play | arena | "
        "each verifying | most waiting |\n" + "|---" * 8 + "|\n"
    )
    cases = itertools.product((25, 100), (3.0, 60.0), (2, 16))
    for workers, deal_set_s, verifying in cases:
        found = simulate(
            workers * 8,
            deal_set_s,
            verifying=verifying,
            arena_s=given.arena_ms / 1000,
            verify_s=given.decision_us * given.decisions / 1e6,
        )
        sys.stdout.write(
            f"| {workers} \N{MULTIPLICATION SIGN} 8 | {deal_set_s:.0f} | {verifying} | {found.per_s:.1f} | "
            f"{found.slots_busy:.0%} | {found.arena_busy:.0%} | {found.verifying_busy:.0%} | {found.most_waiting} |\n"
        )


if __name__ == "__main__":
    main()
