"""A tournament of a hundred thousand deal-sets by workers that play nothing (`bench/stub_worker.py`).

Measured is the arena's part of a deal-set: its draw, lease, begin and report, the journal, the signed replays, and
the standings. Deals are seeded. Reports are of local workers, so they are not verified.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, TypeVar

from arena.competition.draws import next_round
from arena.competition.plan import read_plan
from arena.competition.standings import official_bytes, official_standings
from arena.competition.states import Action, State
from arena.replay.signing import arena_key
from arena.sandbox import parse_commands
from arena.schedule.deal_sets import MatchOutcome
from arena.schedule.work import DealSetJob
from arena.server.competition_service import CompetitionService
from arena.server.data_folder import read_notice, store_path
from arena.store import BotKind, CompetitionEntry, keep_in, open_store
from arena.store.leases import LeaseBegin, LeaseReport
from arena.store.schema import COMPLETE
from bench.processes import Failed, cpu_s, memory_mb, served
from bench.stub_worker import HANDS, REPLAY_VARIABLE, outcome_of

ROOT: Final = Path(__file__).parents[1]
BOTS: Final = 200
DEAL_SETS: Final = 99_500
WORKERS: Final = 2
AT_A_TIME: Final = 64
"""Deal-sets of a transaction where only the store is measured."""
DECISIONS: Final = 64
"""Decisions of a match there."""
T = TypeVar("T")
INTERVAL_S: Final = 5.0
"""Interval of samples of memory and progress."""
STALLED_S: Final = 300.0
STANDINGS_S: Final = 1800.0
"""Longest time for the final standings, which take minutes with 200 bots."""
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
    """From the start of the arena to the final standings."""
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


def measure(bots: int, deal_sets: int, progress: Callable[[str], None], url: str = "") -> Case:
    """Play a round robin of at least `deal_sets` deal-sets; `url` is the address of a PostgreSQL store."""
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as folder:
        data = Path(folder) / "data"
        replay = _replay(Path(folder) / "one")
        total = _begin(data, bots, deal_sets, url)
        words = ("--data", str(data), "--workers", str(WORKERS), "--sandbox", "off")
        with served("-c", _ARENA, "serve", *words, environment={REPLAY_VARIABLE: str(replay)}):
            samples = _watched(data, total, progress)
        done = samples[-1].done
        began_s = time.perf_counter()
        with open_store(store_path(data)) as store:
            official_bytes(official_standings(store.competitions().record("stub"), 1))
        standings_s = time.perf_counter() - began_s
        return Case(
            "PostgreSQL" if url else "SQLite",
            done,
            samples[-1].at_s - samples[0].at_s,
            (_rate(samples, 1, done / 5), _rate(samples, done * 4 / 5, done)),
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
    # Final standings are made after the last deal-set, and nothing is played meanwhile.
    end = next((each for each in within[1:] if each.done == within[-1].done), within[-1])
    return (end.done - within[0].done) / (end.at_s - within[0].at_s)


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


def _watched(data: Path, total: int, progress: Callable[[str], None]) -> list[_Sample]:
    """Sample the arena until the tournament has finished."""
    notice = read_notice(data)
    assert notice is not None
    samples: list[_Sample] = []
    moved_s = time.monotonic()
    with open_store(store_path(data)) as store:
        competitions = store.competitions()
        while True:
            (found,) = competitions.progress("stub")
            done = found.deal_sets.get(COMPLETE, 0)
            now_s = time.monotonic()
            if samples and done > samples[-1].done:
                moved_s = now_s
            samples.append(_Sample(now_s, done, cpu_s(notice.pid), memory_mb(notice.pid)))
            progress(f"{done:,} of {total:,} deal-sets, {samples[-1].memory_mb:.0f} MB")
            if competitions.get("stub").state is State.FINISHED:
                return samples
            if now_s > moved_s + (STANDINGS_S if done == total else STALLED_S):
                raise Failed(f"the tournament stands at {done} of {total} deal-sets")
            time.sleep(INTERVAL_S)


@dataclass(frozen=True, slots=True)
class StoreCase:
    """The results of the store alone."""

    deal_sets: int
    draw_cpu_s: float
    """CPU time to draw the rounds, in seconds."""
    keep_cpu_s: float
    """CPU time to store them."""
    cpu_ms: tuple[float, float]
    """CPU time of this process for a deal-set in the first tenth and in the last tenth, in milliseconds."""
    per_s: float
    """Deal-sets a second."""
    record_cpu_s: float
    """CPU time to read all results."""
    standings_cpu_s: float
    """CPU time to make the final standings of them."""


def measure_store(
    bots: int, deal_sets: int, progress: Callable[[str], None], url: str = ""
) -> StoreCase:
    """Lease, begin and report the deal-sets of `measure`, `AT_A_TIME` at a time, without an arena."""
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as folder:
        data = Path(folder) / "data"
        total = _begin(data, bots, deal_sets, url)
        with open_store(store_path(data)) as store:
            competitions = store.competitions()
            record = competitions.record("stub")
            plan = read_plan(record.config)
            draw_s, drawn = _cpu(lambda: next_round(plan, 0, record.candidates, ()))
            assert drawn is not None
            keep_s, _ = _cpu(
                lambda: competitions.keep_round("stub", 0, drawn.round, drawn.deal_sets)
            )
            leases, used_s, done = competitions.leases("stub", 0), [0.0], [0]
            began_s, cpu_began_s = time.perf_counter(), time.process_time()
            while jobs := leases.lease("bench", AT_A_TIME, now_unix_ms=_unix_ms()):
                begun = leases.begin_many([LeaseBegin("bench", job, "stub") for job in jobs])
                reports = [LeaseReport("bench", job, _outcomes(job)) for job in begun]
                leases.report_many(reports, now_unix_ms=_unix_ms())
                used_s.append(time.process_time() - cpu_began_s)
                done.append(done[-1] + len(jobs))
                if len(done) % 100 == 0:
                    progress(f"{done[-1]:,} of {total:,} deal-sets")
            took_s, tenth = time.perf_counter() - began_s, max(1, len(done) // 10)
            read_s, full = _cpu(lambda: competitions.record("stub"))
            standings_s, _ = _cpu(lambda: official_bytes(official_standings(full, 1)))
    first = 1000 * used_s[tenth] / done[tenth]
    last = 1000 * (used_s[-1] - used_s[-1 - tenth]) / (done[-1] - done[-1 - tenth])
    return StoreCase(
        done[-1], draw_s, keep_s, (first, last), done[-1] / took_s, read_s, standings_s
    )


def _cpu(call: Callable[[], T]) -> tuple[float, T]:
    began_s = time.process_time()
    found = call()
    return time.process_time() - began_s, found


def _unix_ms() -> int:
    return time.time_ns() // 1_000_000


def _outcomes(job: DealSetJob) -> dict[str, MatchOutcome]:
    return {
        match.id: outcome_of(match.id, match.bots, decisions=DECISIONS)
        for match in job.deal_set.matches
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Print the results of one run as JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.scheduling",
        description="Measure the arena's part of a tournament whose workers play nothing.",
    )
    parser.add_argument("deal_sets", type=int, nargs="?", default=DEAL_SETS)
    parser.add_argument("bots", type=int, nargs="?", default=BOTS)
    parser.add_argument("--store", default="", metavar="URL", help="a store in PostgreSQL")
    parser.add_argument("--only-store", action="store_true", help="without an arena")
    given = parser.parse_args(argv)

    def say(text: str) -> None:
        sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")

    call = measure_store if given.only_store else measure
    found = call(given.bots, given.deal_sets, say, given.store)
    json.dump(asdict(found), sys.stdout)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
