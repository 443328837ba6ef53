"""Competitions that are killed again and again, beside a twin that is left alone: the same tables, to the byte.

`python -m tests.cli.killed_competitions --kills 100` is the long form; the suite kills a few times. With
`--workers 3` up to three workers play for the arena, another number of them at each start, and any of them
or the arena itself is killed; the twin is played by one process alone.

The table hangs on the seed and on what the bots choose, which they choose by what they see alone. Time has no
part in it, as long as no bot is ever late: so they have all the time there is, to come and to move. Where one
is late all the same in the twin that nobody kills, the machine was too busy, and the trial is spoilt: it counts
for nothing, and another one is played.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from arena.contests.competition_service import CompetitionService
from arena.contests.standings import official_bytes, official_standings
from arena.records.read import replay_path
from arena.records.signing import arena_key
from arena.results.deal_sets import DealSetState
from arena.results.record import CompetitionRecord, GameRecord
from arena.results.states import Action, State
from arena.store import StoreError, keep_in, open_store
from arena.store.data_folder import is_running, read_notice, store_path, worker_folders

ROOT = Path(__file__).parents[2]
BOT = ROOT / "tests" / "live" / "any_move.py"
PATIENCE_S = 120
"""Without one deal-set more: a busy machine takes long, and one that hangs takes for ever."""
LADDER_DEAL_SETS = 8
KILLS_A_TRIAL = 3
POLL_S = 0.2
"""Between two looks at the store, each of which opens it."""
MOST_SPOILT = 3
"""Times as many kills as were asked for, after which it is given up."""
CONNECT_S = 300
"""Longest that a launched bot takes to say hello: many start at once, on few cores."""
HEAD = """
name = "{name}"
kind = "{kind}"
game = "sixty_six"
seats = 2
seed = "twins"
fair = false
options = {{ hands = 2 }}
time_control = {{ move_ms = 600000, bank_ms = 3600000 }}
"""
BOTS = "\n[bots]\n" + "\n".join(
    f"{name} = {json.dumps(f'{sys.executable} {BOT} {name}')}" for name in ("ann", "bob", "cid")
)
PLANS = {
    "swiss": 'format = "swiss"\ndeal_sets = 2\n',
    "knockout": 'format = "knockout"\n[knockout]\nmost_deal_sets = 10\n',
    "ladder": "",
}


PATIENT = f"""
from arena.cli import main
from arena.cli import worker_process as worker
from arena.live import launcher
launcher.CONNECT_S = {CONNECT_S}
worker.PROGRAM = ("-c", {{program!r}})
{{command}}()
"""
PATIENT = PATIENT.format(
    program=PATIENT.format(program="", command="worker.worker"), command="main"
)


def arena(data, *words):
    return [sys.executable, "-c", PATIENT, *words, "--data", str(data)]


def made(kind, data, *, start, url=""):
    """A competition of a kind, ready to start, with its store in a database if there is an address."""
    data.mkdir()
    if url:
        keep_in(url, store_path(data))
    head = HEAD.format(name=kind, kind="ladder" if kind == "ladder" else "tournament")
    (data / "plan.toml").write_text(head + PLANS[kind] + BOTS, "utf-8")
    subprocess.run(arena(data, "competition", "new", str(data / "plan.toml")), check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    if start:
        with open_store(store_path(data)) as store:
            service = CompetitionService(store.competitions(), arena_key(data))
            service.control(kind, Action.START, who="organiser")
    return kind, data


def complete(kind, data):
    try:
        with open_store(store_path(data)) as store:
            (progress,) = store.competitions().progress(kind)
    except StoreError:
        return 0
    return progress.deal_sets.get(DealSetState.COMPLETE, 0)


def is_finished(kind, data):
    with open_store(store_path(data)) as store:
        return store.competitions().get(kind).state is State.FINISHED


def started(kind, data, workers):
    words = ("competition", "start", kind)
    if is_served(kind, workers):
        words = ("serve", "--port", "0", "--no-metrics", "--workers", str(workers))
    with told_by(data).open("ab") as told:
        return subprocess.Popen(arena(data, *words), stdout=subprocess.DEVNULL, stderr=told)


def is_served(kind, workers):
    """Whether an arena plays it, that goes on when it is over."""
    return kind == "ladder" or workers > 0


def is_over(kind, data, workers):
    if kind == "ladder":
        return beginning_is_complete(data)
    return is_served(kind, workers) and is_finished(kind, data)


def beginning_is_complete(data):
    """Whether the first deal-sets of a ladder are complete, of which its table is made."""
    try:
        with open_store(store_path(data)) as store:
            (game,) = beginning(store.competitions().record("ladder")).games
    except StoreError:
        return False
    return sum(each.state is DealSetState.COMPLETE for each in game.deal_sets) == LADDER_DEAL_SETS


def killed_one(process, data, draw):
    """Kill the arena or one of its workers, whichever is drawn; whether it was the arena."""
    notices = [read_notice(each) for each in running_workers(data)]
    pid = draw.choice([process.pid, *(each.pid for each in notices if each is not None)])
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return pid == process.pid


def running_workers(data):
    """The folders of workers that run."""
    return [each for each in worker_folders(data).glob("*") if is_running(each)]


def told_by(data):
    """What the processes of a competition said, for when one of them fails."""
    return data / "told"


def said(data):
    return told_by(data).read_text("utf-8", "replace")[-2_000:]


def run(kind, data, kills, draw, told=lambda _: None, workers=0):
    """Play it to its end, with so many kills on the way, of which `told` hears; its table as bytes."""
    made(kind, data, start=is_served(kind, workers))
    killed, most = 0, workers

    def is_played():
        # A ladder goes on after its beginning, so the kills that are still owed come then.
        return is_over(kind, data, most) and (kind != "ladder" or killed >= kills)

    while not (is_finished(kind, data) or is_played()):
        # Other workers than before begin again what these have not reported.
        workers = draw.randint(1, most) if most and killed else most
        process = started(kind, data, workers)
        stop_at = complete(kind, data) + draw.randint(0, 2)
        wait_s, last, end = draw.uniform(0, 0.3), -1, 0.0
        try:
            while process.poll() is None:
                done = complete(kind, data)
                if is_played():
                    break
                if killed < kills and done > stop_at:
                    time.sleep(wait_s)
                    killed += 1
                    told(killed)
                    if killed_one(process, data, draw):
                        break
                    stop_at, wait_s = done + draw.randint(0, 2), draw.uniform(0, 0.3)
                if done > last:
                    last, end = done, time.monotonic() + PATIENCE_S
                hangs = f"{kind} does not go on from deal-set {done} after {killed} kills"
                assert time.monotonic() < end, f"{hangs}: {said(data)}"
                time.sleep(POLL_S)
            else:
                failed = f"{kind} failed after {killed} kills: {said(data)}"
                assert process.returncode == 0, failed
                break
        finally:
            process.kill()
            process.wait()
    if most:
        published(kind, data, most)
    while running_workers(data):  # they end when their standard input does
        time.sleep(POLL_S)
    return table(kind, data), killed


def published(kind, data, workers):
    """See that there is a replay of every match that counts."""
    process = started(kind, data, workers)
    try:
        end = time.monotonic() + PATIENCE_S
        while lacking := [each for each in counting(kind, data) if not replay_path(data / "replays", each).exists()]:  # fmt: skip
            assert time.monotonic() < end, f"{kind}: no replay of {lacking}: {said(data)}"
            time.sleep(POLL_S)
    finally:
        process.kill()
        process.wait()


def counting(kind, data):
    """The matches that a table is made of, by id."""
    with open_store(store_path(data)) as store:
        (game,) = beginning(store.competitions().record(kind)).games
    return [match.id for each in game.deal_sets for match in each.matches]


def table(kind, data):
    with open_store(store_path(data)) as store:
        assert store.violations() == ()
        if kind != "ladder":
            return store.competitions().official(kind).body.encode()
        return official_bytes(official_standings(beginning(store.competitions().record(kind)), 1))


def beginning(record: CompetitionRecord):
    """A ladder has no end: its first deal-sets, of which every one is complete."""
    (game,) = record.games
    most = LADDER_DEAL_SETS if game.rounds == () else len(game.deal_sets)
    held = tuple(each for each in game.deal_sets if each.number <= most)
    return replace(record, games=(GameRecord((), held, game.outcomes),))


def twins(kind, kills, seed, folder, told=lambda _: None, workers=0):
    """The table of a competition that was killed and of one that was not, and the kills.

    Up to so many `workers` play the one that is killed.
    """
    draw = random.Random(seed)
    told("the twin that nobody kills is played")
    alone, _ = run(kind, folder / f"{kind}-alone", 0, draw)
    killed, times = run(
        kind,
        folder / f"{kind}-killed",
        kills,
        draw,
        lambda number: told(f"kill {number}"),
        workers,
    )
    return alone, killed, times


def rows_of(table):
    return json.loads(table)["games"][0]["rows"]


def is_spoilt(table):
    """Whether a bot was late or away, in a competition that nobody killed."""
    return any(row["faults"] or row["forfeited"] for row in rows_of(table))


def difference(alone, killed):
    """The rows of both tables that differ."""
    rows = [
        [json.dumps(row | {"version": ""}, sort_keys=True) for row in rows_of(each)]
        for each in (alone, killed)
    ]
    for one, other in zip(*rows, strict=True):
        if one != other:
            yield f"  alone:  {one}\n  killed: {other}\n"


class Kills:
    """What trials have come to, and whether that is enough."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.counted, self.spoilt, self.different = 0, 0, 0

    @property
    def goes_on(self) -> bool:
        """Whether more trials are needed, and may still help."""
        return self.counted < self.wanted and self.spoilt < MOST_SPOILT * self.wanted

    def judge(self, alone: bytes, killed: bytes, times: int) -> str:
        """Count one trial; what is said of it."""
        if is_spoilt(alone):
            self.spoilt += times
            return "SPOILT: without a kill, too, a bot was late, so this counts for nothing"
        self.counted += times
        if alone == killed:
            return "the same table"
        self.different += 1
        return "ANOTHER TABLE\n" + "".join(difference(alone, killed))

    def end(self, say: Callable[[str], object]) -> int:
        """Say what it came to; the exit code, which is 0 if all that was asked for was tried and held."""
        say(f"{self.counted} kills counted, {self.different} tables differ")
        if self.spoilt:
            say(f"{self.spoilt} kills more were in trials that a busy machine spoilt")
        if self.counted < self.wanted:
            say(f"TOO FEW: {self.wanted} kills were asked for; try again on a quiet machine")
        return int(self.different > 0 or self.counted < self.wanted)


def main(argv=None, trial=twins):
    parser = argparse.ArgumentParser(
        prog="python -m tests.cli.killed_competitions",
        description="Kill competitions and compare their tables with those of unkilled twins.",
        epilog="It ends with 1 if a table differs, or if too few trials were not spoilt.",
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(PLANS), help="one kind; all of them if left out")
    parser.add_argument("--workers", type=int, default=0, help="most that play what is killed")
    given = parser.parse_args(argv)
    kills, seed, began_s = Kills(given.kills), given.seed, time.monotonic()

    def say(text):
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    while kills.goes_on:
        for kind in [given.only] if given.only else PLANS:
            name = f"seed {seed} {kind}"
            with tempfile.TemporaryDirectory() as folder:
                found = trial(
                    kind,
                    KILLS_A_TRIAL,
                    seed,
                    Path(folder),
                    lambda what, name=name: sys.stderr.write(f"  {name}: {what}\n"),
                    given.workers,
                )
            told = kills.judge(*found)
            lasted_s = time.monotonic() - began_s
            so_far = f"{kills.counted} of {given.kills} after {lasted_s:.0f} s"
            say(f"{name}: {found[2]} kills, {told} ({so_far})")
        seed += 1
    return kills.end(say)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
