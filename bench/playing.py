"""A ladder of launched bots by `arena serve --workers N`: decisions a second, matches an hour, processor time and memory.

Bots, arena and workers share the machine, and bots run in its best sandbox, as in a first trial. Each round has a
new folder with its own ladder.
"""

import contextlib
import json
import statistics
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.store.data_folder import read_notice
from bench.competitions import LADDER, RANDOM_BOT, begin
from bench.processes import START_S, Failed, cpu_s, memory_mb, served

BOTS: Final = 4
GAMES: Final = ("sixty_six", "pineapple")
HANDS: Final = 12
NUMBERS: Final = (0, 2)
WARM_UP_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Case:
    """The results with a number of workers."""

    game: str
    workers: int
    per_s: float
    """Decisions a second of all seats together: the median of the rounds."""
    cpu_us: float
    """CPU time of the arena and its workers for a decision, without the bots."""
    matches_per_h: float
    """Matches an hour. Workers do not count theirs: their matches are taken to be as long as without workers."""
    arena_mb: float
    """Resident memory of the arena's process, without workers and bots, in MiB."""
    worker_mb: float
    """Resident memory of a worker, in MiB; 0 without workers."""
    bot_mb: float
    """Memory of the process of a bot, in MiB, where what processes share is divided among them; 0 if it cannot be read."""


@dataclass(frozen=True, slots=True)
class _Round:
    per_s: float
    cpu_us: float
    decisions_a_match: float
    """0 if the arena itself played none."""
    arena_mb: float
    worker_mb: float
    bot_mb: float


def measure(
    games: tuple[str, ...], rounds: int, seconds: float, progress: Callable[[str], None]
) -> list[Case]:
    """Measure each game with each number of workers, in turns."""
    cases = []
    for game in games:
        found: dict[int, list[_Round]] = {number: [] for number in NUMBERS}
        for at in range(rounds):
            for number in NUMBERS:
                found[number].append(_round(game, number, seconds))
                per_s = found[number][-1].per_s
                progress(f"{game}, --workers {number}, {at + 1}/{rounds}: {per_s:.0f}/s")
        length = _median(found[0], "decisions_a_match")
        for number, values in found.items():
            per_s = _median(values, "per_s")
            others = {
                name: _median(values, name)
                for name in ("cpu_us", "arena_mb", "worker_mb", "bot_mb")
            }
            cases.append(Case(game, number, per_s, matches_per_h=per_s * 3600 / length, **others))
    return cases


def _median(rounds: list[_Round], name: str) -> float:
    return float(statistics.median(getattr(each, name) for each in rounds))


def _round(game: str, workers: int, seconds: float) -> _Round:
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as folder:
        data = Path(folder)
        bots = dict.fromkeys((f"bot{number}" for number in range(BOTS)), RANDOM_BOT)
        begin(data, LADDER.format(game=game, hands=HANDS), bots)
        words = ("--data", str(data), "--workers", str(workers))
        with served("-m", "arena", "serve", *words):
            notice = read_notice(data)
            assert notice is not None
            _wait_for_play(notice.metrics, workers)
            time.sleep(WARM_UP_S)
            before, began_s = _counted(notice.metrics, notice.pid), time.perf_counter()
            time.sleep(seconds)
            after, took_s = _counted(notice.metrics, notice.pid), time.perf_counter() - began_s
            told = _told(notice.metrics)
            ended = sum(told["matches"]["ended"].values())
            memory = {
                "arena_mb": memory_mb(notice.pid),
                "worker_mb": _mean(memory_mb(worker["pid"]) for worker in told["workers"]),
                "bot_mb": _mean(_bots_mb()),
            }
    decisions, used_s = (late - early for early, late in zip(before, after, strict=True))
    length = _own(told) / ended if ended else 0.0
    return _Round(decisions / took_s, used_s * 1e6 / decisions, length, **memory)


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


def _wait_for_play(metrics: str, workers: int) -> None:
    """Wait until all workers play."""
    end_s = time.monotonic() + START_S
    while time.monotonic() < end_s:
        told = _told(metrics)
        playing = [each["decisions"] for each in told["workers"]] or [_own(told)]
        if all(playing) and len(playing) == max(1, workers):
            return
        time.sleep(0.2)
    raise Failed("the ladder did not begin")


def _counted(metrics: str, pid: int) -> tuple[float, float]:
    """Return the decisions so far and the CPU time."""
    told = _told(metrics)
    processes = told["workers"]
    decisions = _own(told) + sum(each["decisions"] for each in processes)
    return decisions, sum(map(cpu_s, [pid, *(each["pid"] for each in processes)]))


def _own(told: dict[str, Any]) -> int:
    return sum(told["decisions"].values())


def _told(metrics: str) -> dict[str, Any]:
    with urllib.request.urlopen(metrics.replace("/metrics", "/status"), timeout=START_S) as page:
        found: dict[str, Any] = json.load(page)
        return found
