"""The charged time of bots compared with the time that they measured themselves.

Bots sleep at most half of their budget for a move, so each time-out is a false one. Charged times are read from the
journal. The cases are an idle machine, a machine that other processes keep busy, a server that is stopped for
seconds, and one with a thread that holds the interpreter.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, TypeAlias

from arena.records.records import JOURNAL_MAGIC, Damaged, read_records
from arena.referee.spec import FaultKind
from bench import arena_server, trivial
from bench.processes import Failed, Process, played
from cardarena.v1 import journal_pb2

STREAMS: Final = 16
THINK_MS: Final = 80.0
BUDGET_MS: Final = 160
STOP_S: Final = 3.0
STOP_EVERY_S: Final = 10.0
BUSY_SHARE: Final = 0.8
"""The share of each processor that other processes use."""
_BURN: Final = """
import time
while True:
    until = time.perf_counter() + 0.040
    while time.perf_counter() < until:
        pass
    time.sleep(0.010)
"""
"""Use `BUSY_SHARE` of a processor."""


Thoughts: TypeAlias = list[tuple[str, int, int]]
"""Measured times: the bot, the id of the ask, and microseconds."""


@dataclass(frozen=True, slots=True)
class Case:
    """The load beside the play."""

    name: str
    busy: bool = False
    """Other processes use `BUSY_SHARE` of each processor."""
    hog: bool = False
    """A thread of the server computes all the time."""
    stops: bool = False
    """The server is stopped for `STOP_S` every `STOP_EVERY_S`."""
    p99_target_ms: float | None = None
    """Limit on the difference of charged and true time, in milliseconds."""
    extra_target_ms: float | None = None
    """Limit on the time charged above the true time of one decision, in milliseconds."""


CASES: Final = (
    Case("idle", p99_target_ms=10),
    Case("busy", busy=True, p99_target_ms=25),
    Case("hogged", hog=True),
    Case("stopped", stops=True, extra_target_ms=50),
)


@dataclass(frozen=True, slots=True)
class Charge:
    """What a decision was charged."""

    above_ms: float
    """Charged less true time."""
    refunded_us: int
    timeout: bool


def measure(case: Case, seconds: float, progress: Callable[[str], None]) -> dict[str, float | None]:
    """Let the bots play for some seconds. Milliseconds are charged less true time; all time-outs are false.

    Raises:
      Failed: if a process ends or hangs, or no decision was made.
    """
    progress(f"clock, {case.name}")
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as data:
        charged = charges(Path(data), _play(case, seconds, data))
    above_ms = sorted(charge.above_ms for charge in charged)
    errors_ms = sorted(map(abs, above_ms))
    return {
        "decisions": len(charged),
        "p50_ms": round(errors_ms[len(errors_ms) // 2], 2),
        "p99_ms": round(errors_ms[len(errors_ms) * 99 // 100], 2),
        "p99_goal_ms": case.p99_target_ms,
        "most_above_ms": round(above_ms[-1], 2),
        "above_goal_ms": case.extra_target_ms,
        "refunded_s": round(sum(charge.refunded_us for charge in charged) / 1e6, 2),
        "timeouts": sum(charge.timeout for charge in charged),
    }


@contextlib.contextmanager
def thinking(
    job: arena_server.Job, think_ms: float, *, first: bool = False
) -> Iterator[tuple[Process, Process]]:
    """Run an arena and its bots, each in a process, from when the bots have asks."""
    server = Process("bench.arena_server", json.dumps(asdict(job)))
    play = {"streams": job.streams, "game": job.game, "first": first, "think_ms": think_ms}
    with played(server, "bench.clock_bots", play) as bots:
        yield server, bots


def _play(case: Case, seconds: float, data: str) -> Thoughts:
    job = arena_server.Job(
        trivial.ID, STREAMS, 2, 1, {"turns": 1 << 60}, BUDGET_MS, data=data, hog=case.hog
    )
    with (
        thinking(job, THINK_MS, first=True) as (server, bots),
        _burning() if case.busy else contextlib.nullcontext(),
    ):
        time.sleep(1.0)  # code is still loaded in the first moments
        bots.tell(str(seconds))
        if case.stops:
            _stop_often(server, seconds)
        thoughts: Thoughts = json.loads(bots.line())
    return thoughts


def _stop_often(server: Process, seconds: float) -> None:
    for _ in range(max(1, int(seconds / STOP_EVERY_S))):
        time.sleep(1.0)
        server.signal(signal.SIGSTOP)
        time.sleep(STOP_S)
        server.signal(signal.SIGCONT)
        time.sleep(max(0.0, min(STOP_EVERY_S, seconds) - STOP_S - 2.0))


@contextlib.contextmanager
def _burning() -> Iterator[None]:
    burners = [
        subprocess.Popen([sys.executable, "-S", "-c", _BURN]) for _ in range(os.cpu_count() or 1)
    ]
    try:
        yield
    finally:
        for each in burners:
            each.kill()
            each.wait()


def charges(data: Path, thoughts: Thoughts) -> list[Charge]:
    """Return the charge of each measured decision, by the journal in a data folder.

    Raises:
      Failed: if the journal has none of them.
    """
    thought_us = {(bot, ask_id): us for bot, ask_id, us in thoughts}
    seated: dict[int, list[tuple[str, int]]] = {}
    found = []
    for record in _records(data / "journal"):
        if record.HasField("seated"):
            seated[record.match] = [(bot.bot, bot.match) for bot in record.seated.bots]
        elif record.HasField("decided"):
            decided = record.decided
            bot, number = seated[record.match][decided.seat]
            true_us = thought_us.get((bot, number << 20 | decided.decision))
            if true_us is not None:
                above_ms = (decided.charged_us - true_us) / 1000
                late = decided.fault == FaultKind.TIMEOUT.value
                found.append(Charge(above_ms, decided.refunded_us, late))
    if not found:
        raise Failed("no decision was found in the journal")
    return found


def _records(folder: Path) -> Iterator[journal_pb2.Record]:
    for path in sorted(folder.glob("*.journal")):
        with path.open("rb") as file, contextlib.suppress(Damaged):  # killed while it wrote
            for framed in read_records(file, JOURNAL_MAGIC):
                yield journal_pb2.Record.FromString(framed.body)
