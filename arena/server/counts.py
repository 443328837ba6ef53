"""The counts of an arena, which metrics and status are made from.

Counting happens at every move and must be cheap, so the counts are numbers and lists. `arena.server.services` gives
them their public names.
"""

import itertools
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from arena.referee import AbortCause, Ending, FaultKind


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """The counts of a worker, for `arena status`."""

    number: int
    pid: int
    """Of its process, on its machine."""
    starts: int
    """How often it was started."""
    matches: int
    """In play."""
    decisions: int
    """Since its process began."""
    name: str = ""
    """The name by which it has joined from another machine; empty for a local worker."""


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
"""Bucket bounds for times of the arena itself, in seconds."""
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
    """Counts times in buckets."""

    __slots__ = ("bounds_s", "counts", "sum_s")

    def __init__(self, bounds_s: Sequence[float]) -> None:
        self.bounds_s = tuple(bounds_s)
        """Upper bounds, included, from low to high."""
        self.counts = [0] * (len(self.bounds_s) + 1)
        """By bucket; the last one is for times above all bounds."""
        self.sum_s = 0.0

    def observe(self, seconds: float) -> None:
        """Count one time."""
        self.counts[bisect_left(self.bounds_s, seconds)] += 1
        self.sum_s += seconds

    def quantile_s(self, share: float) -> float | None:
        """The upper bound of the bucket of this quantile, in seconds; None without times.

        It is infinite above all bounds.
        """
        wanted = share * sum(self.counts)
        if not any(self.counts):
            return None
        bounds = zip((*self.bounds_s, math.inf), itertools.accumulate(self.counts), strict=True)
        return next(bound_s for bound_s, so_far in bounds if so_far >= wanted)


class GameCounts:
    """The counts of one game."""

    __slots__ = ("begun", "decisions", "ended")

    def __init__(self) -> None:
        self.decisions = 0
        self.begun = 0
        self.ended: Counter[Ending] = Counter()

    def begins(self) -> None:
        """Count a match that begins, or is resumed."""
        self.begun += 1

    def decided(self) -> None:
        """Count a decision."""
        self.decisions += 1


class Counts:
    """The counts of one arena since it started."""

    def __init__(self) -> None:
        self.games: dict[str, GameCounts] = {}
        """By the id of the game, for games that were played."""
        self.faults: Counter[FaultKind] = Counter()
        self.aborted: Counter[AbortCause] = Counter()
        """Matches that the arena aborted."""
        self.charged = Histogram(BOT_TIME_S)
        """Time charged to bots for each ask."""
        self.refunded_s = 0.0
        """Seconds that were not charged because the arena was late."""
        self.received_s = 0.0
        """When the message that is being delivered arrived; 0 between messages."""
        self.turnaround = Histogram(OWN_TIME_S)
        """From the arrival of an answer to the sending of the ask that followed it."""
        self.waiting_bytes = 0
        """Bytes that wait to be sent to all bots."""
        self.messages = 0
        """Messages from bots, without the hello of each stream."""
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

    def message_came(self, received_s: float) -> None:
        """A bot's message has arrived, and is delivered next."""
        self.messages += 1
        self.received_s = received_s

    def message_delivered(self) -> None:
        """The message was delivered."""
        self.received_s = 0.0

    def waits(self, size: int) -> int:
        """Add to the bytes that wait to be sent, or subtract; returns the sum of all bots."""
        self.waiting_bytes += size
        return self.waiting_bytes

    def refunded(self, seconds: float) -> None:
        """A bot was not charged this time."""
        self.refunded_s += seconds

    def stream_opened(self) -> None:
        """A bot has said hello on a new stream."""
        self.streams_opened += 1

    def game(self, game_id: str) -> GameCounts:
        """The counts of a game."""
        found = self.games.get(game_id)
        if found is None:
            found = self.games[game_id] = GameCounts()
        return found
