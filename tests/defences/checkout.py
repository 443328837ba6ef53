"""A copy of the checkout, in which a defence is removed and tests are run."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

from tests.defences.witness import ASSERTION, ERROR, PASSED, REPORT

LEFT_OUT = shutil.ignore_patterns(
    *(".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "arena-data"),
    *("build", "node_modules", "dist", "target", "*.so"),
)
"""Not what was compiled either: it would be run in place of the source that is changed. And while other
tests compile, files come and go there."""
OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "tests.defences.witness", "--tb=short")


@dataclass(frozen=True)
class Failed:
    """A test that failed."""

    test: str
    what: str


@dataclass(frozen=True)
class Outcome:
    """What became of some tests."""

    passed: tuple[str, ...]
    asserted: tuple[Failed, ...]
    """Tests that failed by their own word."""
    broke: tuple[Failed, ...]
    """Tests that failed otherwise, and files that could not be collected."""
    took_s: float
    in_time: bool = True

    @property
    def seen(self):
        return bool(self.asserted)


class Checkout:
    """A copy of a checkout below a folder. Removals in it are undone again."""

    def __init__(self, root, folder):
        """Copy what stands below `root`, but for what is made from it."""
        self.root = folder / root.name
        self._report = folder / "report.jsonl"
        self._output = folder / "output.txt"
        shutil.copytree(root, self.root, ignore=LEFT_OUT, symlinks=True)
        self._written_s = int(time.time())

    @contextlib.contextmanager
    def without(self, defence):
        """Have the defence removed for a while.

        Raises:
          Stale: if its words are not there exactly once.
        """
        changed = defence.removed_from(self.root)
        before = {file: (self.root / file).read_text("utf-8") for file in changed}
        self._write(changed)
        try:
            yield
        finally:
            self._write(before)

    def run(self, tests, timeout_s):
        """Run tests until one notices something; with all they start, they end in that time."""
        self._report.write_text("")
        paths = [str(self.root), str(self.root / "clients/python")]
        env = os.environ | {"PYTHONPATH": os.pathsep.join(paths), REPORT: str(self._report)}
        began_s = time.monotonic()
        with self._output.open("wb") as output:
            child = subprocess.Popen(
                [sys.executable, "-m", "pytest", *OPTIONS, *tests],
                cwd=self.root,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                child.wait(timeout_s)
                in_time = True
            except subprocess.TimeoutExpired:
                in_time = False
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        lines = [json.loads(line) for line in self._report.read_text("utf-8").splitlines()]
        failed = {
            how: tuple(Failed(line["test"], line["what"]) for line in lines if line["how"] == how)
            for how in (ASSERTION, ERROR)
        }
        passed = tuple(line["test"] for line in lines if line["how"] == PASSED)
        took_s = time.monotonic() - began_s
        return Outcome(passed, failed[ASSERTION], failed[ERROR], took_s, in_time)

    @property
    def output(self):
        """What the last tests printed."""
        return self._output.read_text("utf-8", "replace")

    def _write(self, sources):
        for file, source in sources.items():
            path = self.root / file
            path.write_text(source, "utf-8")
            # Python takes compiled code for that of a source of the same second and length.
            self._written_s += 1
            os.utime(path, (self._written_s, self._written_s))
