"""A tournament of a hundred thousand deal-sets by workers that play nothing (`bench/stub_worker.py`).

    python -m bench.scheduling [DEAL_SETS [BOTS]] [--store URL]

It measures the arena's part of a deal-set: its draw, take, begin and report, the journal, the signed replays, and
the standings. Deals are seeded. Reports are of local workers, so they are not verified.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from arena.results.deal_sets import DealSetState
from arena.results.states import State
from arena.store import keep_in, open_store
from arena.store.data_folder import store_path
from bench.competitions import NAME, RANDOM_BOT, begin
from bench.processes import Failed, computing_processes, cpu_s, memory_mb, served
from bench.stub_worker import HANDS, REPLAY_VARIABLE

WORKERS: Final = 2
INTERVAL_S: Final = 2.0
"""Interval of samples of memory and progress."""
STALLED_S: Final = 1800.0
"""Longest time without progress: final standings take minutes with 200 bots."""
_PLAN: Final = """
kind = "tournament"
game = "sixty_six"
format = "round_robin"
seats = 2
fair = false
deal_sets = {deal_sets}
options = {{ hands = {hands} }}
"""
_ARENA: Final = """
from arena.cli import main, worker_process
worker_process.PROGRAM = ("-m", "bench.stub_worker")
main()
"""


@dataclass(frozen=True, slots=True)
class _Sample:
    at_s: float
    done: int
    cpu_s: float
    helpers_cpu_s: float
    memory_mb: float


def measure(
    bots: int, deal_sets: int, progress: Callable[[str], None], url: str = ""
) -> dict[str, Any]:
    """Play a round robin of at least `deal_sets` deal-sets; `url` is the address of a PostgreSQL store.

    Seconds are from the start of the arena to the final standings. Processor time is of the arena's process for a deal-set with
    its part of the start, and that of helpers of the processes that it computes in, without workers. Figures of fifths are of the
    first and the last fifth of the play, without the start. Memory is the arena's at its peak, and the folder has journal, replays
    and the store's file, in MiB.
    """
    pairs = bots * (bots - 1) // 2
    of_pair = max(1, -(-deal_sets // pairs))
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as folder:
        data = Path(folder) / "data"
        data.mkdir()
        if url:
            keep_in(url, store_path(data))
        replay = _replay(Path(folder) / "one")
        names = (f"bot{number}" for number in range(bots))
        begin(data, _PLAN.format(deal_sets=of_pair, hands=HANDS), {name: name for name in names})
        words = ("--data", str(data), "--workers", str(WORKERS), "--sandbox", "off")
        environment = {REPLAY_VARIABLE: str(replay)}
        with served("-c", _ARENA, "serve", *words, environment=environment) as pid:
            samples = _watched(data, pid, pairs * of_pair, progress)
        with open_store(store_path(data)) as store:
            official = store.competitions().official(NAME)
            assert official is not None
        files = sum(path.stat().st_size for path in data.rglob("*") if path.is_file())
    first, last = samples[0], samples[-1]
    played = next(sample for sample in samples if sample.done == last.done)
    fifths = (_within(samples, 1, last.done / 5), _within(samples, last.done * 4 / 5, last.done))
    return {
        "store": "PostgreSQL" if url else "SQLite",
        "deal_sets": last.done,
        "seconds": last.at_s - first.at_s,
        "per_s": [(end.done - begin.done) / (end.at_s - begin.at_s) for begin, end in fifths],
        "cpu_ms": 1000 * (played.cpu_s - first.cpu_s) / (last.done - first.done),
        "fifths_cpu_ms": [
            1000 * (end.cpu_s - begin.cpu_s) / max(1, end.done - begin.done)
            for begin, end in fifths
        ],
        "helpers_cpu_ms": 1000
        * (played.helpers_cpu_s - first.helpers_cpu_s)
        / (last.done - first.done),
        "standings_sha256": hashlib.sha256(official.body.encode()).hexdigest(),
        "memory_mb": max(sample.memory_mb for sample in samples),
        "folder_mb": files / (1 << 20),
    }


def _within(samples: list[_Sample], low: float, high: float) -> tuple[_Sample, _Sample]:
    """Return the first and the last sample with so many complete deal-sets."""
    within = [sample for sample in samples if low <= sample.done <= high]
    if len(within) < 2:
        within = [samples[0], samples[-1]]
    # Final standings are made after the last deal-set, and nothing is played meanwhile.
    end = next(sample for sample in within[1:] if sample.done == within[-1].done)
    return within[0], end


def _replay(folder: Path) -> Path:
    """Return a replay of one match, for the stubs."""
    bots = [f"{name}={RANDOM_BOT}" for name in "ab"]
    words = ["play", "sixty_six", *bots, "-o", f"hands={HANDS}", "--seed", "1", "--sandbox", "off"]
    command = [sys.executable, "-m", "arena", *words, "--data", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (replay,) = folder.rglob("*.replay")
    return replay


def _watched(data: Path, pid: int, total: int, progress: Callable[[str], None]) -> list[_Sample]:
    """Sample the arena until the tournament has finished."""
    samples: list[_Sample] = []
    moved_s = time.monotonic()
    with open_store(store_path(data)) as store:
        competitions = store.competitions()
        while True:
            (record,) = competitions.progress(NAME)
            done = record.deal_sets.get(DealSetState.COMPLETE, 0)
            now_s = time.monotonic()
            if samples and done > samples[-1].done:
                moved_s = now_s
            helpers_s = sum(map(cpu_s, computing_processes(pid)))
            samples.append(_Sample(now_s, done, cpu_s(pid), helpers_s, memory_mb(pid)))
            progress(f"{done:,} of {total:,} deal-sets, {samples[-1].memory_mb:.0f} MB")
            if competitions.get(NAME).state is State.FINISHED:
                return samples
            if now_s > moved_s + STALLED_S:
                raise Failed(f"the tournament stands at {done} of {total} deal-sets")
            time.sleep(INTERVAL_S)


@click.command()
@click.argument("deal_sets", default=99_500)
@click.argument("bots", default=200)
@click.option("--store", default="", metavar="URL", help="A store in PostgreSQL.")
def main(deal_sets: int, bots: int, store: str) -> None:
    """Measure one tournament, and print the results as JSON."""
    case = measure(bots, deal_sets, lambda text: click.echo(text, err=True), store)
    click.echo(json.dumps(case))


if __name__ == "__main__":
    main()
