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

from arena.contests.competition_service import CompetitionService
from arena.records.read import replay_path
from arena.records.signing import arena_key
from arena.results.states import Action, State
from arena.store import StoreError, open_store
from arena.store.data_folder import store_path
from tests.cli.killed_competitions import ROOT, arena, is_finished
from tests.cli.serving import children_of, is_alive
from tests.cli.stages import STAGES
from tests.cli.test_worker import PLAN, keyed, made, standings
from tests.store.clusters import Cluster

TARGETS = ("arena", "arena worker", "worker process", "spawner", "PostgreSQL")
KILLS_A_TRIAL = 12
DEAL_SETS = 30
"""Of each pair of bots: enough for all stages to come again after each kill."""
REACH_S = 20.0
"""Time for a stage to come, after which any other one will do."""
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

    def __init__(self, folder, cluster, seed, draw):
        self.data = folder / "data"
        self.machines = [folder / "m1", folder / "m2"]
        self.cluster, self.seed, self.draw = cluster, seed, draw
        self.processes = {}
        self.pauses = 0
        self.end_s = time.monotonic() + LONGEST_S

    def run(self, counted, most, told):
        """Play the competition with up to so many kills, which are counted by target and stage."""
        made(self.data, plan(self.seed, "speed_class = 0\n"), self.cluster.new_store())
        keyed(self.data)
        for each in self.machines:
            each.mkdir()
        try:
            kills = 0
            while not self.is_finished():
                if kills < most and (stage := self.reached(counted)):
                    self.kill_at(stage, counted, told)
                    kills += 1
                self.supervise()
            while not self.is_published():
                self.supervise()
        finally:
            for process in self.processes.values():
                process.kill()
                process.wait()

    def supervise(self):
        """Start what has ended, as a service manager does."""
        assert time.monotonic() < self.end_s, self.said()
        if not is_alive(self.cluster.pid):
            with contextlib.suppress(subprocess.CalledProcessError):  # its children may still end
                self.cluster.start()
        self.resume()
        commands = {"arena": self.serving()} | {
            each: working(each, self.data) for each in self.machines
        }
        for name, command in commands.items():
            process = self.processes.get(name)
            if process is None or process.poll() is not None:
                folder = self.data if name == "arena" else name
                self.processes[name] = started(folder, command)
        time.sleep(0.05)

    def resume(self):
        """Start the competition again where a deal-set was given up, as its organiser does."""
        with contextlib.suppress(StoreError), open_store(store_path(self.data)) as store:
            if store.competitions().get("swiss").state is State.PAUSED:
                service = CompetitionService(store.competitions(), arena_key(self.data))
                service.control("swiss", Action.START, who="organiser")
                self.pauses += 1

    def serving(self):
        words = arena(self.data, "serve", "--host", f"unix:{self.data / 's'}", "--no-metrics")
        words[2] = STOPPING + words[2]
        return words

    def reached(self, counted):
        """Wait until a deal-set comes to a stage at which little was killed so far; the stage, or empty."""
        wanted, reached = self.data / "kill-at", self.data / "reached"
        fewest = {stage: min(counted[target, stage] for target in TARGETS) for stage in STAGES}
        seldom = [stage for stage in STAGES if fewest[stage] == min(fewest.values())]
        wanted.write_text(",".join(seldom), "utf-8")
        end_s = time.monotonic() + REACH_S
        while not reached.exists():
            self.supervise()
            if time.monotonic() > end_s and wanted.exists():
                wanted.write_text(",".join(STAGES), "utf-8")
            if self.is_finished():
                wanted.unlink(missing_ok=True)
                if not reached.exists():
                    return ""
        return reached.read_text("utf-8")

    def kill_at(self, stage, counted, told):
        """Kill the process that was killed least at a stage."""
        running = {target: pid for target in TARGETS if (pid := self.pid_of(target))}
        target = min(running, key=lambda each: (counted[each, stage], self.draw.random()))
        pid = running[target]
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        while is_alive(pid):
            for process in self.processes.values():
                process.poll()
            time.sleep(0.005)
        (self.data / "reached").unlink()
        counted[target, stage] += 1
        told(f"{target} was killed at {stage}")

    def pid_of(self, target):
        if target == "arena":
            return self.processes["arena"].pid
        if target == "PostgreSQL":
            return self.cluster.pid
        machines = [self.processes[each].pid for each in self.machines]
        if target == "arena worker":
            return machines[0]
        workers = [pid for each in machines for pid in children_of(each)]
        if target == "worker process":
            return workers[0] if workers else None
        spawners = [pid for each in workers for pid in children_of(each)]
        return spawners[0] if spawners else None

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
        ids = [match.id for each in game.deal_sets for match in each.matches]
        return all(replay_path(self.data / "replays", each).exists() for each in ids)

    def said(self):
        return [
            (each / "told").read_text("utf-8", "replace")[-2000:]
            for each in (self.data, *self.machines)
        ]


def plan(seed, more="", deal_sets=DEAL_SETS, hands=2):
    own = PLAN.replace('seed = "twins"', f'seed = "twins {seed}"')
    own = own.replace("hands = 2", f"hands = {hands}")
    return own.replace("deal_sets = 4", f"deal_sets = {deal_sets}") + more


def working(folder, data):
    at = ("--server", f"unix:{data / 's'}", "--token-file", str(data / "token"))
    return arena(folder, "worker", *at, "--speed-class", "0")


def started(folder, command):
    with (folder / "told").open("ab") as told:
        return subprocess.Popen(command, stdout=told, stderr=told)


def twin(folder, seed, deal_sets=DEAL_SETS, hands=2):
    """The standings of a competition that is not killed, by one process."""
    alone = folder / "alone"
    made(alone, plan(seed, deal_sets=deal_sets, hands=hands))
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


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.cli.killed_workers",
        description="Kill what plays competitions on several machines, and compare the standings.",
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(argv)
    counted, draw = Counter(), random.Random(given.seed)
    began_s, different = time.monotonic(), 0

    def say(text):
        sys.stdout.write(f"{time.monotonic() - began_s:6.0f} s  {text}\n")
        sys.stdout.flush()

    with Cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        alone, expected = twin(Path(folder), given.seed)
        say("the twin was played")
        for number in itertools.count(1):
            if counted.total() >= given.kills:
                break
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own:
                trial = Trial(Path(own), cluster, given.seed, draw)
                most = min(KILLS_A_TRIAL, given.kills - counted.total())
                trial.run(counted, most, lambda what, at=number: say(f"{at}: {what}"))
                same = standings(trial.data, alone) == expected
            different += not same
            verdict = "the same standings" if same else "OTHER STANDINGS"
            if trial.pauses:
                verdict += f", paused {trial.pauses} times"
            say(f"{number}: {verdict} ({counted.total()} of {given.kills} kills)")
    for target, stage in itertools.product(TARGETS, STAGES):
        say(f"{target:15} {stage:9} {counted[target, stage]}")
    say(f"{counted.total()} kills, {different} standings differ")
    return int(different > 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and leave no process behind
    sys.exit(main())
