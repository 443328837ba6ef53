"""The cost of a decision: instructions of the arena's process, counted by valgrind.

Seconds vary with the machine and its load; instructions of the same program on the same input vary by some hundredths
on an idle machine. Each case therefore has a budget in `bench/budget.json`. A case that exceeds it by more than
`TOLERANCE` is an error.

Load can only make a decision more expensive: threads take other turns, fewer asks share a frame, and each frame has its
cost. A case over its budget is therefore counted again, up to `TRIES` times, and the least count is its cost.

The count includes the arena without gRPC and the kernel (`bench.in_process`), and bots that answer with the first
move. Other minor versions and builds of Python and the compiled arena have budgets of their own.

A budget that is too high would hide an increase, so one that is more than `SLACK` above the count is an error, too.
With both bounds no case can become a tenth more expensive unnoticed.
"""

import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from arena.compiled import built
from arena.heap import keep_loaded_objects
from bench import arena_server, encode, in_process, trivial
from bench.processes import Failed

TOLERANCE: Final = 0.044
"""How far a case may exceed its budget. Runs differ by up to 3 %; with a larger tolerance an increase of a tenth could
stay between the bounds."""
SLACK: Final = 0.05
"""How far a case may be below its budget before the budget must be lowered."""
BUDGET: Final = Path(__file__).with_name("budget.json")
_MARKS_SOURCE: Final = Path(__file__).with_name("callgrind_marks.c")
TRIES: Final = 3
"""Counts of a case that exceeds its budget."""
LONGEST_S: Final = 900.0
"""Time limit of a case in seconds."""
TOURNAMENT: Final = """
kind = "tournament"
format = "round_robin"
game = "sixty_six"
seats = 2
options = {{ hands = {hands} }}
deal_sets = {deal_sets}
"""
"""The plan of a `MatchCase`, without its name and seed."""
PROGRAM: Final = "bench.cost"
"""The module that plays a case under valgrind."""


@dataclass(frozen=True, slots=True)
class Case:
    """A load, and the counted part of it."""

    name: str
    game: str
    streams: int
    matches: int
    """Matches of each stream, and asks that may be open on it."""
    warm: int
    """Decisions before the count, after which matches have begun and caches are full."""
    counted: int
    hands: int = 0
    """Counted decisions. For a real game all of a match, as the cost of its beginning and end depends on threads that
    write."""

    @property
    def job(self) -> arena_server.Job:
        """The arguments of the bots."""
        options: dict[str, object] = {"hands": self.hands} if self.hands else {"turns": 1 << 60}
        return arena_server.Job(self.game, self.streams, 2, self.matches, options)

    def play(self, begin: in_process.Marks, end: in_process.Marks) -> tuple[int, int]:
        """Play it, with a mark at the first and at the last counted decision; returns decisions and frames."""
        played = in_process.Played(self.warm, self.counted, begin, end)
        in_process.play(self.job, played)
        return played.counted, played.frames


@dataclass(frozen=True, slots=True)
class MatchCase:
    """Short matches of a tournament: begin, few decisions, result, replay. Counts are of a match."""

    name: str
    hands: int
    warm: int
    """Matches before the count."""
    counted: int

    def play(self, begin: in_process.Marks, end: in_process.Marks) -> tuple[int, int]:
        """Play them, with marks as `Case.play`; returns matches and frames."""
        played = in_process.Played(self.warm, self.counted, begin, end, of_matches=True)
        job = arena_server.Job("sixty_six", streams=3, seats=2, matches=8)
        plan = TOURNAMENT.format(hands=self.hands, deal_sets=(self.warm + self.counted) // 3)
        in_process.play(job, played, tournament=plan)
        return played.counted, played.frames


@dataclass(frozen=True, slots=True)
class AskCase:
    """One ask with 60 moves, built and encoded repeatedly, or read and answered as well."""

    name: str
    made: Callable[[], Callable[[], bytes]]
    """Returns the function that handles one."""
    warm: int
    counted: int

    def play(self, begin: in_process.Marks, end: in_process.Marks) -> tuple[int, int]:
        """Handle asks, each a decision in a frame of its own."""
        build = self.made()
        for _ in range(self.warm):
            build()
        begin()
        for _ in range(self.counted):
            build()
        end()
        return self.counted, self.counted


AnyCase: TypeAlias = Case | MatchCase | AskCase

CASES: Final = (
    Case("wire 8×64", trivial.ID, streams=8, matches=64, warm=3_000, counted=6_000),
    Case("wire 64×1", trivial.ID, streams=64, matches=1, warm=1_000, counted=4_000),
    Case(
        "pineapple", "pineapple", streams=4, matches=8, warm=400, counted=600, hands=1_000
    ),  # whole hands
    Case("klaberjass", "klaberjass", streams=4, matches=8, warm=400, counted=3_000, hands=100),
    Case("democracy", "democracy", streams=4, matches=8, warm=400, counted=3_000, hands=40),
    MatchCase("match of two hands", hands=2, warm=24, counted=30),
    AskCase("ask of 60 moves", encode.ask_60_moves, warm=50, counted=500),
    AskCase("ask of 60 moves, answered by the SDK", encode.answered_ask, warm=50, counted=500),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """The count of a case."""

    case: str
    instructions: int
    """Instructions of a decision."""
    asks_per_frame: float
    budget: int | None
    """The budget of a decision; None if this Python has none."""

    @property
    def over(self) -> float:
        """How far it exceeds its budget: 0.1 is 10 %."""
        return self.instructions / self.budget - 1 if self.budget else 0.0

    @property
    def is_within(self) -> bool:
        """Whether it is within its budget, or has none."""
        return self.over <= TOLERANCE

    @property
    def is_loose(self) -> bool:
        """Whether its budget could hide an increase of a tenth."""
        return self.over < -SLACK


def measure(cases: Sequence[AnyCase], progress: Callable[[str], None]) -> list[Cost]:
    """Count cases, as many at a time as there are processors; those over their budgets again.

    Raises:
      Failed: if valgrind or a C compiler is missing, or a case does not end.
    """
    budgets = _budgets()
    with tempfile.TemporaryDirectory(prefix="cardarena-cost-") as folder:
        marks = _marks(Path(folder))

        def count(case: AnyCase) -> Cost:
            counted: list[Cost] = []
            while len(counted) < TRIES and not (counted and counted[-1].is_within):
                progress(f"{case.name}, again" if counted else case.name)
                counted.append(_count(case, marks, Path(folder), budgets.get(case.name)))
            return min(counted, key=lambda each: each.instructions)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(count, cases))


def _marks(folder: Path) -> Path:
    """Return the library with which the program starts and stops valgrind's count."""
    for tool, package in (("valgrind", "valgrind"), ("cc", "gcc")):
        if shutil.which(tool) is None:
            raise Failed(f"{tool} is needed to count instructions: install the package {package}")
    marks = folder / "marks.so"
    made = subprocess.run(
        ["cc", "-shared", "-fPIC", "-O2", "-o", marks, _MARKS_SOURCE],
        capture_output=True,
        check=False,
        text=True,
    )
    if made.returncode:
        raise Failed(f"the marks for valgrind cannot be compiled: {made.stderr.strip()}")
    return marks


def build() -> str:
    """Return the program that a budget is for: `CPython 3.11.7, pure`."""
    return f"{platform.python_implementation()} {platform.python_version()}, {built()}"


def _budgets() -> dict[str, int]:
    budgets: dict[str, int] = json.loads(BUDGET.read_text("utf-8"))["instructions"].get(build(), {})
    return budgets


def _count(case: AnyCase, marks: Path, folder: Path, budget: int | None) -> Cost:
    out = folder / f"callgrind.{CASES.index(case)}"
    command = [
        *("valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet"),
        *(f"--callgrind-out-file={out}", sys.executable, "-m", PROGRAM, case.name, str(marks)),
    ]
    # The order of sets, and with it the path through the code, must be the same in each run.
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            check=False,
            text=True,
            env=environment,
            timeout=LONGEST_S,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{case.name} did not come to its end in {LONGEST_S:.0f} s") from None
    if done.returncode:
        raise Failed(f"{case.name} ended with {done.returncode}: {done.stderr.strip()[-2_000:]}")
    decisions, frames = json.loads(done.stdout)
    return Cost(
        case=case.name,
        instructions=round(_summary(Path(f"{out}.1")) / decisions),
        asks_per_frame=decisions / frames,
        budget=budget,
    )


def _summary(dump: Path) -> int:
    """Return all instructions of a dump of callgrind."""
    totals = re.search(r"^totals: (\d+)", dump.read_text("utf-8"), re.MULTILINE)
    if totals is None:
        raise Failed(f"valgrind wrote no sum into {dump.name}")
    return int(totals[1])


def play(name: str, marks: str) -> None:
    """Play a case under valgrind, and print its decisions and frames."""
    trivial.offer()
    case = next(each for each in CASES if each.name == name)
    library = ctypes.CDLL(marks)
    # As a served arena does. Otherwise the count depends on the packages that are installed: the more of them are loaded,
    # the less often Python examines all objects.
    keep_loaded_objects()
    print(json.dumps(case.play(library.begin_count, library.end_count)))


if __name__ == "__main__":
    play(sys.argv[1], sys.argv[2])
