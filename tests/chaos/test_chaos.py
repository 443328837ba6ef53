"""The short form of the chaos suite: real processes, real kills, every invariant.

Times are measured by `scripts/chaos` only: what is asserted here does not
depend on the machine.
"""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chaos.processes import ROOT, until
from tests.chaos.scenarios import SCENARIOS
from tests.chaos.scenarios.killed_server import SHORT_GAMES

SEED = 4

SHORT = {
    "killed-server": {"kills": 5, "matches": 6, "life_s": 0.4, "games": SHORT_GAMES, "amid": 0.0},
    "every-boundary": {"games": ("chinese_poker",)},
    "random-faults": {"faults": 20, "matches": 6, "bots": 8, "games": SHORT_GAMES},
    "bot-processes": {"kills": 1, "hands": 4},
    "reconnect-storm": {"sessions": 20},
    "drained-server": {"matches": 8, "drain_s": 0.5},
    "frozen-server": {"frozen_s": 1.2, "matches": 4, "move_ms": 800},
    "full-disk": {"matches": 4},
    "failing-writes": {"first": 9, "every": 100, "deeds": ("torn", "unsynced")},
    "journal-speed": {"seconds": 0.2},
}


@pytest.mark.parametrize("name", SHORT)
def test_what_is_promised_holds(name):
    report = asyncio.run(SCENARIOS[name].play(SEED, **SHORT[name]))
    assert report.violations == []
    assert report.figures


def test_every_scenario_says_what_it_does():
    assert all(scenario.about.endswith(".") for scenario in SCENARIOS.values())
    # Locked for longer than anybody waits, the database takes too long for this suite.
    assert SCENARIOS.keys() - SHORT.keys() == {"locked-database"}


PARENT = """
import sys, time
from pathlib import Path
from tests.chaos.processes import Child
child = Child("tests.chaos.client", "bot", "127.0.0.1:1", sys.argv[1] + "/h", log=Path(sys.argv[1]) / "log")
print(child.pid, flush=True)
time.sleep(60)
"""


def test_children_die_with_their_test(tmp_path):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, cwd=ROOT, text=True
    )
    child = int(parent.stdout.readline())
    history = tmp_path / "h"

    async def main():
        await until(history.exists, "the child to begin")
        os.kill(parent.pid, signal.SIGKILL)
        parent.communicate()
        await until(lambda: not Path(f"/proc/{child}/cmdline").exists() or ended(child), "its end")

    asyncio.run(main())


def ended(pid):
    """Whether a process is a corpse that nobody has collected yet."""
    return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z"


def test_the_command_lists_its_scenarios():
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos", "--list"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert all(f"{name}: " in done.stdout for name in SCENARIOS)
