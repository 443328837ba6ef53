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

from arena.referee import FaultKind
from arena.replay.records import JOURNAL_MAGIC, Damaged, read_records
from bench import arena_server, clock_bots, trivial
from bench.processes import Failed, Process
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
class Fairness:
    """The result of one case. Milliseconds are charged less true time."""

    case: str
    decisions: int
    p50_ms: float
    """The absolute difference."""
    p99_ms: float
    extra_ms: float
    """The most that was charged above the true time of a decision."""
    refunded_s: float
    """The sum of all refunds."""
    timeouts: int
    """Time-outs, all of them false."""


@dataclass(frozen=True, slots=True)
class _Charge:
    charged_us: int
    refunded_us: int
    timeout: bool


def measure(case: Case, seconds: float, progress: Callable[[str], None]) -> Fairness:
    """Let the bots play for some seconds.

    Raises:
      Failed: if a process ends or hangs, or no decision was made.
    """
    progress(f"clock, {case.name}")
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as data:
        thoughts = _by_ask(_play(case, seconds, data))
        charges = _charges(Path(data) / "journal")
    pairs = _pairs(charges, thoughts)
    above_ms = sorted(_above_ms(pairs))
    errors_ms = sorted(abs(each) for each in above_ms)
    return Fairness(
        case=case.name,
        decisions=len(pairs),
        p50_ms=round(errors_ms[len(errors_ms) // 2], 2),
        p99_ms=round(errors_ms[len(errors_ms) * 99 // 100], 2),
        extra_ms=round(above_ms[-1], 2),
        refunded_s=round(sum(charge.refunded_us for charge, _ in pairs) / 1e6, 2),
        timeouts=sum(charge.timeout for charge in charges.values()),
    )


def extra_ms(data: Path, thoughts: Thoughts) -> list[float]:
    """Return the time charged above the true time of decisions, by the journal in a folder.

    Raises:
      Failed: if the journal has none of the decisions.
    """
    return _above_ms(_pairs(_charges(data / "journal"), _by_ask(thoughts)))


def _by_ask(thoughts: Thoughts) -> dict[tuple[str, int], int]:
    return {(bot, ask_id): thought_us for bot, ask_id, thought_us in thoughts}


def _pairs(
    charges: dict[tuple[str, int], _Charge], thoughts: dict[tuple[str, int], int]
) -> list[tuple[_Charge, int]]:
    pairs = [(charges[key], thought) for key, thought in thoughts.items() if key in charges]
    if not pairs:
        raise Failed("no decision was found in the journal")
    return pairs


def _above_ms(pairs: list[tuple[_Charge, int]]) -> list[float]:
    return [(charge.charged_us - true_us) / 1000 for charge, true_us in pairs]


def _play(case: Case, seconds: float, data: str) -> Thoughts:
    job = arena_server.Job(
        game=trivial.ID,
        streams=STREAMS,
        seats=2,
        matches=1,
        options={"turns": 1 << 60},
        move_ms=BUDGET_MS,
        data=data,
        hog=case.hog,
    )
    with contextlib.ExitStack() as stack:
        server = Process("bench.arena_server", json.dumps(asdict(job)))
        stack.callback(server.end)
        play = clock_bots.Job(server.line(), STREAMS, trivial.ID, THINK_MS)
        bots = Process("bench.clock_bots", json.dumps(asdict(play)))
        stack.callback(bots.end)
        bots.line()
        if case.busy:
            stack.enter_context(_burning())
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


def _charges(folder: Path) -> dict[tuple[str, int], _Charge]:
    """Return the charged time of each decision, by bot and id of the ask."""
    seated: dict[int, list[tuple[str, int]]] = {}
    found = {}
    for record in _records(folder):
        match record.WhichOneof("body"):
            case "seated":
                seated[record.match] = [(each.bot, each.match) for each in record.seated.bots]
            case "decided":
                decided = record.decided
                bot, number = seated[record.match][decided.seat]
                found[bot, number << 20 | decided.decision] = _Charge(
                    decided.charged_us,
                    decided.refunded_us,
                    decided.fault == FaultKind.TIMEOUT,
                )
            case _:
                pass
    return found


def _records(folder: Path) -> Iterator[journal_pb2.Record]:
    for path in sorted(folder.glob("*.journal")):
        with path.open("rb") as file, contextlib.suppress(Damaged):  # killed while it wrote
            for framed in read_records(file, JOURNAL_MAGIC):
                yield journal_pb2.Record.FromString(framed.body)
