"""Kills each process of an arena with workers on other machines, at each stage of a deal-set: the same standings, to the byte.

`python -m tests.cli.killed_workers --kills 100` plays round robins of uploaded bots by two `arena worker`, with the
results in PostgreSQL. It stops the arena at a stage (`tests/cli/stages.py`), kills one process with SIGKILL, and starts
again what does not start by itself. The twin is played by one process on SQLite, and nothing is killed.
"""

import argparse
import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from arena.replay.read import replay_path
from arena.server.data_folder import store_path
from arena.store import StoreError, open_store
from tests.cli.killed_competitions import ROOT, arena, is_finished
from tests.cli.stages import STAGES
from tests.cli.test_worker import PLAN, keyed, made, standings
from tests.store.clusters import Cluster

TARGETS = ("arena", "arena worker", "worker process", "spawner", "PostgreSQL")
KILLS_A_TRIAL = 6
REACH_S = 60.0
"""Time for a stage to come, after which another one is tried: the deal-sets may be over."""
LONGEST_S = 600.0
"""For one trial."""
STOPPING = """
import sys
from pathlib import Path
from tests.cli import stages
stages.install(Path(sys.argv[sys.argv.index("--data") + 1]))
"""


class Trial:
    """One competition, its processes, and what is killed of them."""

    def __init__(self, folder, cluster, seed):
        self.data = folder / "data"
        self.machines = [folder / "m1", folder / "m2"]
        self.cluster, self.seed = cluster, seed
        self.processes = {}
        self.end_s = time.monotonic() + LONGEST_S

    def run(self, kills, told):
        """Play the competition with these kills, each a target and a stage; how many were done."""
        made(self.data, plan(self.seed, "speed_class = 0\n"), self.cluster.new_store())
        keyed(self.data)
        for each in self.machines:
            each.mkdir()
        done = []
        try:
            for target, stage in kills:
                if self.killed(target, stage):
                    done.append((target, stage))
                    told(f"{target} was killed at {stage}")
            while not self.is_finished():
                self.supervise()
            while not self.is_published():
                self.supervise()
        finally:
            for process in self.processes.values():
                process.kill()
                process.wait()
        return done

    def supervise(self):
        """Start what has ended, as a service manager does."""
        assert time.monotonic() < self.end_s, self.said()
        if not is_alive(self.cluster.pid):
            self.cluster.start()
        commands = {"arena": self.serving()} | {
            each: working(each, self.data) for each in self.machines
        }
        for name, command in commands.items():
            process = self.processes.get(name)
            if process is None or process.poll() is not None:
                folder = self.data if name == "arena" else name
                self.processes[name] = started(folder, command)
        time.sleep(0.05)

    def serving(self):
        words = arena(self.data, "serve", "--host", f"unix:{self.data / 's'}", "--no-metrics")
        words[2] = STOPPING + words[2]
        return words

    def killed(self, target, stage):
        """Kill a process once a deal-set comes to a stage; False if none does."""
        wanted, reached = self.data / "kill-at", self.data / "reached"
        wanted.write_text(stage, "utf-8")
        end_s = time.monotonic() + REACH_S
        while not reached.exists():
            self.supervise()
            if time.monotonic() > end_s or self.is_finished():
                wanted.unlink(missing_ok=True)
                if not reached.exists():
                    return False
        pid = self.pid_of(target)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while pid is not None and is_alive(pid):
            self.reap()
            time.sleep(0.005)
        reached.unlink()
        return pid is not None

    def pid_of(self, target):
        if target == "arena":
            return self.processes["arena"].pid
        if target == "PostgreSQL":
            return self.cluster.pid
        machines = [self.processes[each].pid for each in self.machines]
        if target == "arena worker":
            return machines[0]
        workers = [pid for each in machines for pid in children(each)]
        if target == "worker process":
            return workers[0] if workers else None
        spawners = [pid for each in workers for pid in children(each)]
        return spawners[0] if spawners else None

    def reap(self):
        for process in self.processes.values():
            process.poll()

    def is_finished(self):
        try:
            return is_finished("swiss", self.data)
        except StoreError:
            return False

    def is_published(self):
        try:
            with open_store(store_path(self.data)) as store:
                (game,) = store.competitions().record("swiss").games
        except StoreError:
            return False
        ids = [match.id for each in game.deal_sets for match in each.plan.matches]
        return all(replay_path(self.data / "replays", each).exists() for each in ids)

    def said(self):
        return [
            (each / "told").read_text("utf-8", "replace")[-2000:]
            for each in (self.data, *self.machines)
        ]


def plan(seed, more=""):
    return PLAN.replace('seed = "twins"', f'seed = "twins {seed}"') + more


def working(folder, data):
    at = ("--server", f"unix:{data / 's'}", "--token-file", str(data / "token"))
    return arena(folder, "worker", *at, "--speed-class", "0")


def started(folder, command):
    with (folder / "told").open("ab") as told:
        return subprocess.Popen(command, stdout=told, stderr=told)


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def children(pid):
    with contextlib.suppress(FileNotFoundError):
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        return [int(word) for each in tasks for word in each.read_text("ascii").split()]
    return []


def twin(folder, seed):
    """The standings of a competition that nobody kills, by one process."""
    alone = folder / "alone"
    made(alone, plan(seed))
    process = started(alone, arena(alone, "serve", "--port", "0", "--no-metrics"))
    try:
        end_s = time.monotonic() + LONGEST_S
        while not is_finished("swiss", alone):
            assert time.monotonic() < end_s, (alone / "told").read_text("utf-8", "replace")
            time.sleep(0.1)
    finally:
        process.kill()
        process.wait()
    return alone, standings(alone, alone)


def cells(draw):
    """Every target at every stage, in an order that is drawn, again and again."""
    while True:
        matrix = list(itertools.product(TARGETS, STAGES))
        draw.shuffle(matrix)
        yield from matrix


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.cli.killed_workers",
        description="Kill what plays competitions on several machines, and compare the standings.",
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(argv)
    wanted, counted = cells(random.Random(given.seed)), Counter()
    began_s, different = time.monotonic(), 0

    def say(text):
        sys.stdout.write(f"{time.monotonic() - began_s:6.0f} s  {text}\n")
        sys.stdout.flush()

    with Cluster() as cluster:
        for seed in itertools.count(given.seed):
            if counted.total() >= given.kills:
                break
            with tempfile.TemporaryDirectory() as folder:
                alone, expected = twin(Path(folder), seed)
                trial = Trial(Path(folder), cluster, seed)
                kills = list(itertools.islice(wanted, KILLS_A_TRIAL))
                counted.update(
                    trial.run(kills, lambda what, seed=seed: say(f"seed {seed}: {what}"))
                )
                same = standings(trial.data, alone) == expected
                different += not same
                verdict = "the same standings" if same else "OTHER STANDINGS"
                say(f"seed {seed}: {verdict} ({counted.total()} of {given.kills} kills)")
    for target, stage in itertools.product(TARGETS, STAGES):
        say(f"{target:15} {stage:9} {counted[target, stage]}")
    say(f"{counted.total()} kills, {different} standings differ")
    return int(different > 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
