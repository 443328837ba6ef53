"""Plain numbers that are counted while play goes on, and made into metrics when somebody asks.

Counting happens at every move, so it must cost next to nothing: these are whole
numbers and lists. `arena.server.services` gives them their public names.
"""

import itertools
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from arena.referee import AbortCause, Ending, FaultKind

OWN_TIME_S: Final[Sequence[float]] = (
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    1.0,
)
"""Bounds for what the arena itself takes."""
DISK_TIME_S: Final[Sequence[float]] = (
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.02,
    0.04,
    0.08,
    0.25,
    1.0,
)
BOT_TIME_S: Final[Sequence[float]] = (
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    5.0,
    20.0,
)


class Histogram:
    """How often a time fell between which bounds."""

    __slots__ = ("bounds_s", "counts", "sum_s")

    def __init__(self, bounds_s: Sequence[float]) -> None:
        self.bounds_s = tuple(bounds_s)
        """Upper bounds, included, from low to high."""
        self.counts = [0] * (len(self.bounds_s) + 1)
        """By bound; the last are those above all bounds."""
        self.sum_s = 0.0

    def observe(self, seconds: float) -> None:
        """Count one time."""
        self.counts[bisect_left(self.bounds_s, seconds)] += 1
        self.sum_s += seconds

    def quantile_s(self, share: float) -> float | None:
        """The bound below which a share of the times were; None if there were none.

        Infinite if they were above all bounds.
        """
        wanted = share * sum(self.counts)
        if not any(self.counts):
            return None
        bounds = zip((*self.bounds_s, math.inf), itertools.accumulate(self.counts), strict=True)
        return next(bound_s for bound_s, so_far in bounds if so_far >= wanted)


class GameCounts:
    """What was counted of one game."""

    __slots__ = ("begun", "decisions", "ended")

    def __init__(self) -> None:
        self.decisions = 0
        self.begun = 0
        self.ended: Counter[Ending] = Counter()


class Counts:
    """Everything that is counted of one arena since it was started."""

    def __init__(self) -> None:
        self.games: dict[str, GameCounts] = {}
        """By id, of games that were played."""
        self.faults: Counter[FaultKind] = Counter()
        self.aborted: Counter[AbortCause] = Counter()
        """Matches that the arena aborted."""
        self.charged = Histogram(BOT_TIME_S)
        """Time that bots were charged for each decision they were asked for."""
        self.refunded_s = 0.0
        """Time that no bot was charged, as the arena was late."""
        self.received_s = 0.0
        """Arrival of the message in hand; 0 between messages."""
        self.turnaround = Histogram(OWN_TIME_S)
        """From the arrival of an answer to the sending of the ask that followed from it."""
        self.waiting_bytes = 0
        """What waits to be sent to all bots."""
        self.messages = 0
        """Messages that bots sent, whatever was in them, but for the first of a stream."""
        self.streams_opened = 0
        self.streams_closed: Counter[str] = Counter()
        """By reason."""
        self.calls: Counter[tuple[str, str]] = Counter()
        """Calls that have ended, by name and gRPC's status code."""
        self.calls_refused: Counter[str] = Counter()
        """By reason."""
        self.messages_refused: Counter[int] = Counter()
        """By `cardarena.v1.RefusalReason`."""
        self.journal_write = Histogram(OWN_TIME_S)
        self.journal_sync = Histogram(DISK_TIME_S)

    def game(self, game_id: str) -> GameCounts:
        """What is counted of a game."""
        found = self.games.get(game_id)
        if found is None:
            found = self.games[game_id] = GameCounts()
        return found
