"""Kills an engine, its workers, the program that places them, and the arena: the same standings, to the byte.

`python -m tests.app.placement.killed_engines --on dask --kills 20` needs root. A round robin of submitted, sandboxed bots
is played by workers that `arena workers up` places, none before the competition begins and none after its end, and at
most three. With Dask, the arena, the scheduler and two Dask workers are in four network namespaces, and all connections
have TLS. A Ray is a cluster of this machine, and a SLURM is that of `real_slurm`. What was killed is started again, as a
service manager does. The twin is played by one process, and nothing is killed. It fails if standings differ, or if
there never were three workers.
"""

import argparse
import contextlib
import itertools
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from arena.contests.competition_service import CompetitionService
from arena.records.signing import arena_key
from arena.results.states import Action, State
from arena.store import StoreError, open_store
from arena.store.data_folder import store_path
from tests.app.placement import real_slurm
from tests.cli.killed_competitions import PATIENT, ROOT, arena, complete, is_finished
from tests.cli.killed_workers import plan, twin
from tests.cli.partitioned_workers import network
from tests.cli.serving import children_of, is_alive
from tests.cli.test_worker import begun, keyed, made, standings
from tests.doubles.certificates import Authority

MOST = 3
"""Workers at a time."""
KILLS_A_TRIAL = 10
HANDS = 12
"""Of a match, so that some are in play at each kill."""
BETWEEN = 1
"""Deal-sets that are played from one kill to the next."""
LONGEST_S = 3600.0
"""For one trial."""
PORT, SCHEDULER_PORT, RAY_PORT = 7654, 8786, 6379
ADDRESSES = {
    "ca-arena": "10.77.0.1",
    "ca-m1": "10.77.0.2",
    "ca-m2": "10.77.0.3",
    "ca-engine": "10.77.0.4",
}
PLACES = f"""
from functools import partial
from arena.cli import workers
workers.EVERY_S = 1.0
workers.WorkerProgram = partial(workers.WorkerProgram, command=("-c", {PATIENT!r}, "worker"))
"""


class Dask:
    """A scheduler and two Dask workers, each on a machine of its own."""

    arena_address = ADDRESSES["ca-arena"]

    def __init__(self, folder, authority):
        certificate, key = authority.sign("dask", "DNS:dask")
        files = {"CERT": certificate, "KEY": key}
        roles = itertools.product(("SCHEDULER", "WORKER", "CLIENT"), files.items())
        self.environment = {
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(authority.file),
            "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true",
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
            **{f"DASK_DISTRIBUTED__COMM__TLS__{role}__{name}": str(file) for role, (name, file) in roles},
        }  # fmt: skip
        self.address = f"tls://{ADDRESSES['ca-engine']}:{SCHEDULER_PORT}"
        self.words = ("--scheduler", self.address, "--resource", "sandbox:S2=1")
        self.folder = folder

    @contextlib.contextmanager
    def ready(self):
        with network(ADDRESSES):
            yield

    def within(self, namespace, *command):
        return ("ip", "netns", "exec", namespace, *command)

    def commands(self):
        python = (sys.executable, "-m")
        scheduler = (
            *(*python, "distributed.cli.dask_scheduler", "--protocol", "tls", "--no-dashboard"),
            *("--host", ADDRESSES["ca-engine"], "--port", str(SCHEDULER_PORT)),
        )
        worker = (
            *(*python, "distributed.cli.dask_worker", self.address, "--nthreads", "2"),
            *("--no-nanny", "--no-dashboard", "--resources", "sandbox:S2=2"),
            *("--local-directory", str(self.folder / "dask")),
        )
        return {
            "scheduler": self.within("ca-engine", *scheduler),
            "Dask worker 1": self.within("ca-m1", *worker),
            "Dask worker 2": self.within("ca-m2", *worker),
        }

    def victims(self, processes):
        """What may be killed: its name, and the processes that are."""
        return {name: [processes[name].pid] for name in self.commands()}


class Ray:
    """A cluster of this machine."""

    arena_address = "127.0.0.1"

    def __init__(self, folder, _authority):
        self.environment = {
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_raylet_start_wait_time_s": "120",
            "RAY_gcs_rpc_server_reconnect_timeout_s": "10",
        }
        self.words = ("--address", f"127.0.0.1:{RAY_PORT}", "--resource", "sandbox:S2=1")
        self.folder = folder

    @contextlib.contextmanager
    def ready(self):
        yield

    def within(self, _namespace, *command):
        return command

    def commands(self):
        head = (
            *(str(Path(sys.executable).with_name("ray")), "start", "--head", "--block"),
            *("--node-ip-address", "127.0.0.1", "--port", str(RAY_PORT), "--num-cpus", "3"),
            *("--resources", '{"sandbox:S2": 3}', "--include-dashboard", "false"),
            *("--temp-dir", str(self.folder / "ray")),
        )
        return {"head": head}

    def victims(self, processes):
        everything = descendants(processes["head"].pid)
        actors = [pid for pid in everything if "ray::WorkerActor" in title(pid)]
        heads = [pid for pid in everything if re.search("raylet|gcs_server", title(pid))]
        return {"head": [processes["head"].pid, *heads], "actor": actors[:1]}


class Slurm:
    """The daemons of SLURM, which `real_slurm` starts."""

    arena_address = "127.0.0.1"

    def __init__(self, folder, _authority):
        programs = folder / "programs"
        programs.mkdir()
        (programs / "arena").write_text(f"#!{sys.executable}\n{PATIENT}")
        (programs / "arena").chmod(0o755)
        (folder / "logs").mkdir()
        self.environment = {"PATH": f"{programs}:{real_slurm.PATH}"}
        script = str(ROOT / "deploy" / "slurm" / "workers.sbatch")
        self.words = (
            *("--script", script, "--logs", str(folder / "logs"), "--submit=--cpus-per-task=1"),
            *("--submit=--mem=0", "--submit=--time=60"),
        )

    @contextlib.contextmanager
    def ready(self):
        with real_slurm.slurm() as configuration:
            self.environment["SLURM_CONF"] = str(configuration)
            yield

    def within(self, _namespace, *command):
        return command

    def commands(self):
        return {}

    def victims(self, _processes):
        running = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
        jobs = [pid for pid in running if "/programs/arena worker" in title(pid)]
        return {"job": jobs[:1]}


ENGINES = {"dask": Dask, "ray": Ray, "slurm": Slurm}


def title(pid):
    """The command of a process; empty if it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")  # fmt: skip
    return ""


def descendants(pid):
    """The processes below a process."""
    below = children_of(pid)
    return below + [other for child in below for other in descendants(child)]


class Trial:
    """One competition, its processes, and what is killed of them."""

    def __init__(self, name, folder, seed, deal_sets):
        self.name, self.folder, self.seed, self.deal_sets = name, folder, seed, deal_sets
        self.data = folder / "data"
        self.authority = Authority.make(folder, "authority")
        self.engine = ENGINES[name](folder, self.authority)
        self.processes = {}
        self.end_s = time.monotonic() + LONGEST_S
        self.gave_up = 0

    def run(self, counted, most, say):
        """Play the competition with up to so many kills, counted by what was killed."""
        made(self.data, plan(self.seed, "speed_class = 0\n", self.deal_sets, HANDS), start=False)
        keyed(self.data)
        with self.engine.ready():
            try:
                self.until(lambda: self.sizes()[-1:] == [0])
                self.control()
                kills = 0
                while not self.is_finished():
                    wanted = complete("swiss", self.data) + BETWEEN
                    self.until(lambda wanted=wanted: self.is_finished() or self.plays_on(wanted))
                    if kills < most and not self.is_finished():
                        self.kill(counted, say)
                        kills += 1
                self.until(lambda: self.sizes()[-1:] == [0])
            finally:
                for process in self.processes.values():
                    for pid in [*descendants(process.pid), process.pid]:
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                    process.wait()

    def commands(self):
        """The command of each process that is kept running."""
        certificate, key = self.folder / "arena.crt", self.folder / "arena.key"
        if not certificate.exists():
            for made_file, path in zip(self.authority.sign("arena", f"IP:{self.engine.arena_address}"), (certificate, key), strict=True):  # fmt: skip
                path.write_bytes(Path(made_file).read_bytes())
        serve = arena(
            self.data,
            *("serve", "--host", self.engine.arena_address, "--port", str(PORT), "--no-metrics"),
            *("--tls-cert", str(certificate), "--tls-key", str(key)),
        )
        places = (
            *(sys.executable, "-c", f"{PLACES}\n{PATIENT}", "workers", "up", "--on", self.name),
            *(*self.engine.words, "--server", f"https://{self.engine.arena_address}:{PORT}"),
            *("--token-file", str(self.data / "token"), "--ca", str(self.authority.file)),
            *("--max", str(MOST), "--target", "1", "--idle", "30"),
        )
        return {
            **self.engine.commands(),
            "arena": self.engine.within("ca-arena", *serve),
            "placing program": self.engine.within("ca-engine", *places),
        }

    def until(self, is_so):
        """Wait until something is so, and start meanwhile what has ended."""
        while not is_so():
            assert time.monotonic() < self.end_s, self.said()
            for name, command in self.commands().items():
                process = self.processes.get(name)
                if process is None or process.poll() is not None:
                    with self.log(name).open("ab") as log:
                        environment = {**os.environ, **self.engine.environment}
                        self.processes[name] = subprocess.Popen(command, stdout=log, stderr=log, env=environment)  # fmt: skip
            self.resume()
            time.sleep(0.2)

    def kill(self, counted, say):
        """Kill what was killed least of what runs."""
        victims = {name: [self.processes[name].pid] for name in ("placing program", "arena")}
        victims |= self.engine.victims(self.processes)
        running = {name: [pid for pid in pids if is_alive(pid)] for name, pids in victims.items()}
        target = min((name for name in running if running[name]), key=lambda name: counted[name])
        for pid in running[target]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self.processes.values():
            process.poll()
        counted[target] += 1
        say(f"{target} was killed, with {self.sizes()[-1]} workers")

    def control(self):
        with open_store(store_path(self.data)) as store:
            service = CompetitionService(store.competitions(), arena_key(self.data))
            service.control("swiss", Action.START, who="organiser")

    def resume(self):
        """Start the competition again where a deal-set was given up, as its organiser does."""
        with contextlib.suppress(StoreError), open_store(store_path(self.data)) as store:
            if store.competitions().get("swiss").state is State.PAUSED:
                self.control()
                self.gave_up += 1

    def plays_on(self, wanted):
        """Whether so many deal-sets are played, and workers run."""
        return complete("swiss", self.data) >= wanted and self.sizes()[-1] > 0

    def is_finished(self):
        return is_finished("swiss", self.data)

    def sizes(self):
        """How many workers ran at each change, as the placing program printed it."""
        log = self.log("placing program")
        text = log.read_text("utf-8", "replace") if log.exists() else ""
        return [int(number) for number in re.findall(r"^(\d+) run, ", text, re.MULTILINE)]

    def log(self, name):
        return self.folder / f"{name}.log"

    def said(self):
        return {
            path.name: path.read_text("utf-8", "replace")[-2500:]
            for path in self.folder.glob("*.log")
        }


def play(name, kills, seed, say, deal_sets=30):
    """Play competitions until so many kills were made.

    Returns the kills by what was killed, how many standings differ, and the most workers that ran at a time.
    """
    counted, different, largest = Counter(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        alone, expected = twin(Path(folder), seed, deal_sets, HANDS)
        say("the twin was played")
        number = 0
        while counted.total() < kills:
            number += 1
            with tempfile.TemporaryDirectory(prefix="k-", ignore_cleanup_errors=True) as own:
                trial = Trial(name, Path(own), seed, deal_sets)
                most = min(KILLS_A_TRIAL, kills - counted.total())
                trial.run(counted, most, lambda what, at=number: say(f"{at}: {what}"))
                same = standings(trial.data, alone) == expected
                begins = begun(trial.data)
                sizes = [size for size, _ in itertools.groupby(trial.sizes())]
            different += not same
            largest = max(largest, *sizes)
            verdict = "the same standings" if same else "OTHER STANDINGS"
            say(
                f"{number}: {verdict}; {3 * deal_sets} deal-sets, {begins} begins, {trial.gave_up} pauses; workers: {sizes}"
            )
    return counted, different, largest


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.app.placement.killed_engines", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--on", choices=ENGINES, required=True)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deal-sets", type=int, default=30, help="of each pair of bots")
    given = parser.parse_args(argv)
    began_s = time.monotonic()

    def say(text):
        sys.stdout.write(f"{time.monotonic() - began_s:6.0f} s  {text}\n")
        sys.stdout.flush()

    counted, different, largest = play(given.on, given.kills, given.seed, say, given.deal_sets)
    for target, number in counted.items():
        say(f"{target:15} {number}")
    say(f"{counted.total()} kills, {different} standings differ; at most {largest} workers")
    return int(different > 0 or largest < MOST)


if __name__ == "__main__":
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and leave no process behind
    sys.exit(main())
