"""A ladder of launched bots by `arena serve --workers N`: decisions a second, matches an hour, processor time and memory.

Bots, arena and workers share the machine, and bots run in its best sandbox, as in a first trial. Each round has a
new folder with its own ladder.
"""

import contextlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from bench.competitions import LADDER, RANDOM_BOT, begin
from bench.processes import START_S, Failed, cpu_s, memory_mb, served, status_of

BOTS: Final = 4
GAMES: Final = ("sixty_six", "pineapple")
HANDS: Final = 12
NUMBERS: Final = (0, 2)
WARM_UP_S: Final = 5.0


Figures: TypeAlias = dict[str, float]


def measure(
    games: tuple[str, ...], rounds: int, seconds: float, progress: Callable[[str], None]
) -> list[dict[str, str | float]]:
    """Measure each game with each number of workers, in turns.

    Decisions are of all seats together, and their processor time is of the arena and its workers, without the bots. Memory is
    resident, of the arena's process, of a worker and of a bot, in MiB; what processes of bots share is divided among them. Workers
    do not count matches: theirs are taken to be as long as without workers.
    """
    cases: list[dict[str, str | float]] = []
    for game in games:
        found: dict[int, list[Figures]] = {number: [] for number in NUMBERS}
        for at in range(rounds):
            for number in NUMBERS:
                found[number].append(_round(game, number, seconds))
                per_s = found[number][-1]["per_s"]
                progress(f"{game}, --workers {number}, {at + 1}/{rounds}: {per_s:.0f}/s")
        length = statistics.median(each["decisions_a_match"] for each in found[0])
        for number, values in found.items():
            medians = {name: statistics.median(each[name] for each in values) for name in values[0]}
            medians |= {"matches_per_h": medians["per_s"] * 3600 / length}
            cases.append({"game": game, "workers": number} | medians)
    return cases


def _round(game: str, workers: int, seconds: float) -> Figures:
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as folder:
        data = Path(folder)
        bots = dict.fromkeys((f"bot{number}" for number in range(BOTS)), RANDOM_BOT)
        begin(data, LADDER.format(game=game, hands=HANDS), bots)
        words = ("--data", str(data), "--workers", str(workers))
        with served("-m", "arena", "serve", *words) as pid:
            _wait_for_play(data, workers)
            time.sleep(WARM_UP_S)
            before, began_s = _counted(data, pid), time.perf_counter()
            time.sleep(seconds)
            after, took_s = _counted(data, pid), time.perf_counter() - began_s
            status = status_of(data)
            ended = sum(status["matches"]["ended"].values())
            memory = {
                "arena_mb": memory_mb(pid),
                "worker_mb": _mean(memory_mb(worker["pid"]) for worker in status["workers"]),
                "bot_mb": _mean(_bots_mb()),
            }
    decisions, used_s = (late - early for early, late in zip(before, after, strict=True))
    return {
        "per_s": decisions / took_s,
        "cpu_us": used_s * 1e6 / decisions,
        "decisions_a_match": _of_arena(status) / ended if ended else 0.0,
    } | memory


def _mean(values: Iterable[float]) -> float:
    return statistics.mean([*values] or [0.0])


def _bots_mb() -> Iterator[float]:
    """Yield the memory of each bot's process, in MiB."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            program, *arguments = (folder / "cmdline").read_bytes().split(b"\0")
            if program.endswith(b"bwrap") or RANDOM_BOT.encode() not in arguments:
                continue
            for line in (folder / "smaps_rollup").read_text("ascii").splitlines():
                if line.startswith("Pss:"):
                    yield int(line.split()[1]) / 1024


def _wait_for_play(data: Path, workers: int) -> None:
    """Wait until all workers play."""
    end_s = time.monotonic() + START_S
    while time.monotonic() < end_s:
        status = status_of(data)
        playing = [each["decisions"] for each in status["workers"]] or [_of_arena(status)]
        if all(playing) and len(playing) == max(1, workers):
            return
        time.sleep(0.2)
    raise Failed("the ladder did not begin")


def _counted(data: Path, pid: int) -> tuple[float, float]:
    """Return the decisions so far and the CPU time."""
    status = status_of(data)
    processes = status["workers"]
    decisions = _of_arena(status) + sum(each["decisions"] for each in processes)
    return decisions, sum(map(cpu_s, [pid, *(each["pid"] for each in processes)]))


def _of_arena(status: dict[str, Any]) -> int:
    return sum(status["decisions"].values())
