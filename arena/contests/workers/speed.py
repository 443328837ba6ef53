"""The speed class of a machine, so that all matches of a competition are played on equally fast ones."""

import math
import time
from collections.abc import Callable
from typing import Final

REFERENCE_S: Final = 0.21
"""Processor time of the piece of work on the reference machine: two shared cores, Python 3.11, 2026-11-25."""
CLASS_RATIO: Final = 1.15
"""Each class is faster than the one below it by this ratio."""
ATTEMPTS: Final = 3
_ROUNDS: Final = 240_000


def speed_class(now_s: Callable[[], float] = time.process_time) -> int:
    """Measure the class of this machine: 0 is the reference machine's, and a higher one is faster.

    Takes about a second. `now_s` reads the processor time.
    """
    return class_of(min(_timed(now_s) for _ in range(ATTEMPTS)))


def class_of(lasted_s: float) -> int:
    """Return the class of a machine that takes this long for the piece of work."""
    return round(math.log(REFERENCE_S / lasted_s, CLASS_RATIO))


def _timed(now_s: Callable[[], float]) -> float:
    began_s = now_s()
    _work()
    return max(now_s() - began_s, 1e-6)


def _work() -> None:
    """Do a fixed piece of work of the kind that bots do in Python: deal, sort and count small hands."""
    state = 1
    counts: dict[int, int] = {}
    for _ in range(_ROUNDS):
        hand = []
        for _ in range(5):
            state = state * 1_103_515_245 + 12_345 & 0x7FFFFFFF
            hand.append(state % 52)
        hand.sort()
        best = hand[-1]
        counts[best] = counts.get(best, 0) + 1
