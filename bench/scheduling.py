"""A tournament of a hundred thousand deal-sets by workers that play nothing (`bench/stub_worker.py`).

Measured is the arena's part of a deal-set: its draw, lease, begin and report, the journal, the signed replays, and
the standings. Deals are seeded. Reports are of local workers, so they are not verified.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.competition.standings import official_bytes, official_standings
from arena.competition.states import Action, State
from arena.replay.signing import arena_key
from arena.sandbox import parse_commands
from arena.server.competition_service import CompetitionService
from arena.server.data_folder import read_notice, store_path
from arena.store import BotKind, CompetitionEntry, keep_in, open_store
from arena.store.schema import COMPLETE
from bench.processes import Failed, cpu_s, memory_mb
from bench.stub_worker import HANDS, REPLAY_VARIABLE

ROOT: Final = Path(__file__).parents[1]
BOTS: Final = 200
DEAL_SETS: Final = 99_500
WORKERS: Final = 2
START_S: Final = 120.0
INTERVAL_S: Final = 5.0
"""Interval of samples of memory and progress."""
STALLED_S: Final = 300.0
BYTES_IN_MB: Final = 1 << 20
_PLAN: Final = """
name = "stub"
kind = "tournament"
game = "sixty_six"
format = "round_robin"
seats = 2
seed = "bench"
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
class Case:
    """The results with one store."""

    store: str
    deal_sets: int
    seconds: float
    """From the first deal-set to the last; standings are made meanwhile, as in any competition."""
    per_s: tuple[float, float]
    """Deal-sets a second in the first fifth and in the last fifth of the run."""
    cpu_ms: float
    """CPU time of the arena's process for a deal-set, in milliseconds."""
    memory_mb: tuple[float, float]
    """Resident memory of the arena's process early and at its peak, in MiB."""
    store_mb: float
    """Size of the store's file, in MiB; 0 for a server."""
    folder_mb: float
    """Size of all files in the data folder, in MiB: journal, replays and the store's file."""
    standings_s: float
    """Time to make the final standings from all results again, in seconds."""


def measure(
    bots: int, deal_sets: int, progress: Callable[[str], None], url: str = "", max_s: float = 1e9
) -> Case:
    """Play a round robin of `deal_sets` deal-sets, or as many as fill whole rounds.

    `url` is the address of a PostgreSQL store. A run longer than `max_s` ends early.
    """
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as folder:
        data = Path(folder) / "data"
        replay = _replay(Path(folder) / "one")
        total = _begin(data, bots, deal_sets, url)
        with _served(data, replay):
            samples = _watched(data, total, progress, max_s)
        done = samples[-1].done
        began_s = time.perf_counter()
        with open_store(store_path(data)) as store:
            official_bytes(official_standings(store.competitions().record("stub"), 1))
        standings_s = time.perf_counter() - began_s
        return Case(
            "PostgreSQL" if url else "SQLite",
            done,
            samples[-1].at_s - samples[0].at_s,
            (_rate(samples, 0, done / 5), _rate(samples, done * 4 / 5, done)),
            1000 * (samples[-1].cpu_s - samples[0].cpu_s) / (done - samples[0].done),
            (samples[0].memory_mb, max(each.memory_mb for each in samples)),
            0.0 if url else store_path(data).stat().st_size / BYTES_IN_MB,
            sum(each.stat().st_size for each in data.rglob("*") if each.is_file()) / BYTES_IN_MB,
            standings_s,
        )


@dataclass(frozen=True, slots=True)
class _Sample:
    at_s: float
    done: int
    cpu_s: float
    memory_mb: float


def _rate(samples: list[_Sample], low: float, high: float) -> float:
    within = [each for each in samples if low <= each.done <= high]
    if len(within) < 2:
        within = [samples[0], samples[-1]]
    return (within[-1].done - within[0].done) / (within[-1].at_s - within[0].at_s)


def _replay(folder: Path) -> Path:
    """A replay of one match, for the stubs."""
    bot = str(ROOT / "sample_bots" / "random_bot.py")
    words = ["play", "sixty_six", f"a={bot}", f"b={bot}", "-o", f"hands={HANDS}", "--seed", "1"]
    command = [sys.executable, "-m", "arena", *words, "--sandbox", "off", "--data", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (found,) = folder.rglob("*.replay")
    return found


def _begin(data: Path, bots: int, deal_sets: int, url: str) -> int:
    """Start the tournament within the folder; returns the number of its deal-sets."""
    data.mkdir()
    if url:
        keep_in(url, store_path(data))
    pairs = bots * (bots - 1) // 2
    each_pair = max(1, -(-deal_sets // pairs))
    entries = []
    for number in range(bots):
        argv = f"{sys.executable} bot{number}"
        (command,) = parse_commands([f"bot{number}={argv}"])
        entries.append(
            CompetitionEntry(
                f"bot{number}", f"bot{number}", BotKind.COMMAND, argv, command.content()
            )
        )
    with open_store(store_path(data)) as store:
        service = CompetitionService(store.competitions(), arena_key(data))
        plan = _PLAN.format(deal_sets=each_pair, hands=HANDS)
        service.create(plan, who="bench", bots=entries)
        service.control("stub", Action.START, who="bench")
    return pairs * each_pair


@contextlib.contextmanager
def _served(data: Path, replay: Path) -> Iterator[None]:
    words = ["serve", "--port", "0", "--take-all", "--data", str(data), "--workers", str(WORKERS)]
    served = subprocess.Popen(
        [sys.executable, "-c", _ARENA, *words, "--sandbox", "off", "--drain", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, REPLAY_VARIABLE: str(replay)},
    )
    try:
        assert served.stdout is not None
        readable, _, _ = select.select([served.stdout], [], [], START_S)
        if not readable or "listens" not in served.stdout.readline():
            raise Failed("arena serve did not start")
        yield
    finally:
        served.terminate()
        try:
            served.wait(START_S)
        except subprocess.TimeoutExpired:
            served.kill()
            served.wait()


def _watched(
    data: Path, total: int, progress: Callable[[str], None], max_s: float
) -> list[_Sample]:
    """Sample the arena until the tournament has finished."""
    notice = read_notice(data)
    assert notice is not None
    samples: list[_Sample] = []
    began_s = moved_s = time.monotonic()
    with open_store(store_path(data)) as store:
        competitions = store.competitions()
        while True:
            (found,) = competitions.progress("stub")
            done = found.deal_sets.get(COMPLETE, 0)
            now_s = time.monotonic()
            if samples and done > samples[-1].done:
                moved_s = now_s
            if done:
                samples.append(_Sample(now_s, done, cpu_s(notice.pid), memory_mb(notice.pid)))
                progress(f"{done:,} of {total:,} deal-sets, {samples[-1].memory_mb:.0f} MB")
            if competitions.get("stub").state is State.FINISHED or now_s > began_s + max_s:
                return samples
            if now_s > moved_s + STALLED_S:
                raise Failed(f"the tournament stands at {done} of {total} deal-sets")
            time.sleep(INTERVAL_S)


def main() -> None:
    """Measure one store by itself: `python -m bench.scheduling DEAL_SETS BOTS [URL]`."""
    deal_sets, bots, *url = sys.argv[1:]
    say = lambda text: print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)  # noqa: E731
    found = measure(int(bots), int(deal_sets), say, *url)
    json.dump({name: getattr(found, name) for name in found.__slots__}, sys.stdout)


if __name__ == "__main__":
    main()
