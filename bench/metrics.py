"""The cost of metrics: in the path of a decision, and for the page of metrics."""

import asyncio
import tempfile
import time
import timeit
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from arena.referee import Settled
from arena.replay.journal.match_log import MatchLog
from arena.server.admission.match_admission import Admission
from arena.server.bots import BotId
from arena.server.metrics import Metrics
from arena.server.services.metrics_page import families, metrics_page
from arena.server.services.metrics_source import MetricsSource
from arena.server.session.session import Session
from arena.testing.referee import seeded_spec

SESSIONS: Final = 1_000
LOOPS: Final = 20_000


@dataclass(frozen=True, slots=True)
class MetricsCosts:
    """Costs in microseconds, and in milliseconds for the page."""

    ledger_us: float
    """Counting a decision."""
    message_us: float
    """Counting a message."""
    sent_us: float
    """Counting and timing a batch of asks."""
    journal_us: float
    """Timing a write of the journal."""
    page_ms: float
    """The page with a thousand sessions."""
    page_loop_ms: float
    """The part of the page that delays play."""

    @property
    def decision_us(self) -> float:
        """The cost for a decision with a message, an ask and a write of its own."""
        return self.ledger_us + self.message_us + self.sent_us + self.journal_us


def measure(rounds: int) -> MetricsCosts:
    """The least time of a number of rounds, as other load only adds to it."""
    metrics = Metrics()
    spec = seeded_spec("abstrac", 2, {"hands": 2})
    settled = Settled(0, 1, b"", 1.0, 0.004, 0, None, "", "", unasked=False, forfeited=False)
    counts, now_s = metrics.counts, _Clock().current_time

    def least_us(call: Callable[[], object], without: Callable[[], object]) -> float:
        took = [
            min(timeit.repeat(each, number=LOOPS, repeat=rounds)) / LOOPS * 1e6
            for each in (call, without)
        ]
        return max(0.0, took[0] - took[1])

    def ledger_us() -> float:
        # A log grows, so each round has a new one.
        counted, plain = [], []
        for _ in range(rounds):
            ledger, log = metrics.ledger(MatchLog(_Nowhere(), 1), spec), MatchLog(_Nowhere(), 1)
            counted.append(timeit.timeit(partial(ledger.decided, settled), number=LOOPS))
            plain.append(timeit.timeit(partial(log.decided, settled), number=LOOPS))
        return max(0.0, min(counted) - min(plain)) / LOOPS * 1e6

    def message() -> None:
        counts.messages += 1
        counts.received_s = 1.0
        try:
            pass
        finally:
            counts.received_s = 0.0

    sent: Any = SimpleNamespace(received_s=0.0, unstamped=[])

    turnaround = counts.turnaround

    def send() -> None:
        if not sent.unstamped:
            sent.received_s = counts.received_s
        sent.received_s = 1.0
        if sent.received_s:
            turnaround.observe(now_s() - sent.received_s)

    def write() -> None:
        began_s = time.perf_counter()
        metrics.wrote(time.perf_counter() - began_s)

    def nothing() -> None:
        pass

    page_ms, page_loop_ms = asyncio.run(_page_ms(metrics, rounds))
    return MetricsCosts(
        ledger_us(),
        least_us(message, nothing),
        least_us(send, nothing),
        least_us(write, nothing),
        page_ms,
        page_loop_ms,
    )


class _Nowhere:
    """A journal that writes nothing."""

    def append(self, body: bytes) -> None:
        pass


class _Clock:
    """A clock that is as fast as trio's."""

    def __init__(self) -> None:
        self.offset_s = 12_345.0

    def current_time(self) -> float:
        return self.offset_s + time.perf_counter()


async def _page_ms(metrics: Metrics, rounds: int) -> tuple[float, float]:
    sessions = [Session(BotId(f"bot {at}"), time.perf_counter) for at in range(SESSIONS)]
    referee = SimpleNamespace(runners={})
    matches = SimpleNamespace(referee=referee)
    arena = SimpleNamespace(
        metrics=metrics, sessions=sessions, matches=matches, workers=None, draining=False
    )
    journal, deals = (
        SimpleNamespace(written_bytes=0, unsynced_bytes=0),
        SimpleNamespace(counts=Counter()),
    )
    with tempfile.TemporaryDirectory() as folder:
        door = Admission(
            p99_ms=lambda: 0.0, disk=lambda: (1 << 40, 0, 1 << 40), now_s=time.perf_counter
        )
        parts: list[Any] = [arena, journal, deals, Path(folder), door]
        source = MetricsSource(*parts)
        whole, loop = [], []
        for _ in range(max(3, rounds)):
            began_s = time.perf_counter()
            families(source)
            loop.append(time.perf_counter() - began_s)
            began_s = time.perf_counter()
            await metrics_page(source)
            whole.append(time.perf_counter() - began_s)
    return min(whole) * 1000, min(loop) * 1000
