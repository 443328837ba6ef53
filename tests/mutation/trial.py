"""Trials: a mutant is put in place of its module in a forked child, and the checks are run.

The first check that fails has caught it. A child that takes far longer than the
unharmed rules took, or more memory than it may, has caught it as well: no bot
would get an answer.
"""

import contextlib
import importlib.abc
import importlib.util
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

STAGES = ("goldens", "vectors", "tests")
"""In this order: the cheapest first."""
SLOWER = 3
"""How many times as long as the unharmed rules a stage may take, and a little more."""
EXTRA_CPU_S = 2
MEMORY_BYTES = 3 << 30
WALL_FACTOR = 20
"""A shared machine gives a child a part of a core; this much of its time is enough."""


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant."""

    caught: str
    """The stage that noticed, `import`, `timeout` or `crash`; empty if none did."""
    by: str = ""
    """The first check that failed."""
    cpu_s: dict = field(default_factory=dict)
    """CPU seconds of each stage that ended."""


class _Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from the given source."""

    def __init__(self, path, source):
        self._package = Path(path).stem == "__init__"
        self._name = _module_of(path)
        self._path, self._source = path, source

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(
            fullname,
            self._path,
            loader=self,
            submodule_search_locations=[str(Path(self._path).parent)] if self._package else None,
        )

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(compile(self._source, self._path, "exec"), module.__dict__)


def _module_of(path):
    parts = Path(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Trials:
    """Runs trials of one target, several at once if asked."""

    def __init__(self, stages, processes=1, *, extra_cpu_s=EXTRA_CPU_S):
        """`stages` maps a stage's name to a function that raises when its checks fail."""
        self._stages = stages
        self._processes = processes
        self._extra_cpu_s = extra_cpu_s
        self._limits = {}

    def baseline(self):
        """Try the rules unharmed; later trials get a multiple of its time.

        Raises:
          RuntimeError: if a check fails without any fault planted.
        """
        (_, outcome), *_ = self.run([None])
        if outcome.caught:
            raise RuntimeError(f"without a fault, {outcome.caught} fails: {outcome.by}")
        self._limits = {name: SLOWER * s + self._extra_cpu_s for name, s in outcome.cpu_s.items()}
        return outcome

    def run(self, mutants):
        """Yield each mutant, a pair of path and source in an object, with its outcome."""
        waiting, running = list(reversed(mutants)), {}
        while waiting or running:
            while waiting and len(running) < self._processes:
                child = _Child(waiting.pop(), self._stages, self._limits)
                running[child.pipe] = child
            timeout = max(0.0, min(child.deadline for child in running.values()) - time.monotonic())
            ready, _, _ = select.select(list(running), [], [], timeout)
            now = time.monotonic()
            for pipe, child in list(running.items()):
                if pipe in ready:
                    if child.read():
                        continue
                elif child.deadline > now:
                    continue
                else:
                    os.kill(child.pid, signal.SIGKILL)
                del running[pipe]
                outcome = child.outcome()
                if outcome.caught == "misplaced":
                    raise RuntimeError("the module was imported before its fault was planted")
                yield child.mutant, outcome


class _Child:
    """The forked process of one trial."""

    def __init__(self, mutant, stages, limits):
        self.mutant = mutant
        self._stages = set(stages)
        self._text = b""
        self.pipe, write = os.pipe()
        self.deadline = time.monotonic() + (sum(limits.values()) * WALL_FACTOR or 3600)
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.pipe)
            _run(mutant, stages, limits, write)
        os.close(write)

    def read(self):
        """Whether there is more to come."""
        part = os.read(self.pipe, 1 << 16)
        self._text += part
        return bool(part)

    def outcome(self):
        os.close(self.pipe)
        _, status = os.waitpid(self.pid, 0)
        lines = [json.loads(line) for line in self._text.splitlines() if line.endswith(b"}")]
        cpu_s = {line["stage"]: line["cpu_s"] for line in lines if "cpu_s" in line}
        for line in lines:
            if "caught" in line:
                return Outcome(line["caught"], line["by"], cpu_s)
        if status == 0 and set(cpu_s) == self._stages:
            return Outcome("", "", cpu_s)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGXCPU):
            return Outcome("timeout", "", cpu_s)
        return Outcome("crash", f"status {status}", cpu_s)


def _run(mutant, stages, limits, write):
    """The child's whole life: never returns."""
    devnull = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(devnull, standard)

    def say(**what):
        os.write(write, json.dumps(what).encode() + b"\n")

    name = "import"

    def late(signum, frame):
        say(caught="timeout", by=name)
        os._exit(1)

    code = 1
    try:
        if limits:
            total = int(sum(limits.values())) + EXTRA_CPU_S
            resource.setrlimit(resource.RLIMIT_CPU, (total, total + 1))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        signal.signal(signal.SIGPROF, late)
        if mutant is not None:
            name = "misplaced"  # no fault is planted in a module that was imported before
            assert _module_of(mutant.planted[0]) not in sys.modules
            name = "import"
            sys.meta_path.insert(0, _Planted(*mutant.planted))
        for name, check in stages.items():
            if limits:
                signal.setitimer(signal.ITIMER_PROF, limits[name])
            began = time.process_time()
            check()
            say(stage=name, cpu_s=round(time.process_time() - began, 2))
        code = 0
    except BaseException as error:
        with contextlib.suppress(BaseException):
            say(caught=name, by=_named(error))
    finally:
        os._exit(code)


def _named(error):
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" at {Path(last[0].filename).name}:{last[0].lineno}" if last else ""
    return f"{type(error).__name__}: {str(error)[:200]}{where}"
