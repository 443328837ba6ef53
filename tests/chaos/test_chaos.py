"""The short form of the chaos suite: real processes, real kills, every invariant.

Times are measured by `scripts/chaos` only: what is asserted here does not
depend on the machine.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.chaos.__main__ import SCENARIOS as ALL
from tests.chaos.__main__ import command, main, play
from tests.chaos.case import Violation
from tests.chaos.processes import ROOT, until
from tests.chaos.report import Report
from tests.chaos.scenarios import SCENARIOS, Scenario
from tests.chaos.scenarios.killed_server import SHORT_GAMES

SEED = 4

SHORT = {
    "killed-server": {"kills": 5, "matches": 6, "life_s": 0.4, "games": SHORT_GAMES},
    "every-boundary": {"games": ("pineapple",)},
    "random-faults": {"faults": 20, "matches": 6, "bots": 8, "games": SHORT_GAMES},
    "bot-processes": {"kills": 1, "hands": 4},
    "reconnect-storm": {"sessions": 20},
    "drained-server": {"matches": 8, "drain_s": 0.5},
    "frozen-server": {"frozen_s": 1.2, "matches": 4, "move_ms": 800},
    "full-disk": {"matches": 4},
    "failing-writes": {"first": 9, "every": 100, "deeds": ("torn",)},
    "journal-speed": {"seconds": 0.2},
}

ALONE = ("frozen-server", "journal-speed")
"""Their bots have little time, or all else would wait for them."""
AT_ONCE = 3
"""Others wait for processes to start most of the time."""


async def play_all(names):
    """The reports of scenarios, or what they stumbled over, by name."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def play(name):
        async with slots:
            return await SCENARIOS[name].play(SEED, **SHORT[name])

    found = {}
    for together in ([[name] for name in names if name in ALONE]) + [
        [name for name in names if name not in ALONE]
    ]:
        reports = await asyncio.gather(*map(play, together), return_exceptions=True)
        found |= dict(zip(together, reports, strict=True))
    return found


@pytest.fixture(scope="module")
def reports(request):
    """The reports of all scenarios that were chosen to be tested."""
    chosen = [getattr(item, "callspec", None) for item in request.session.items]
    names = {each.params["scenario"] for each in chosen if each and "scenario" in each.params}
    return asyncio.run(play_all([name for name in SHORT if name in names]))


@pytest.mark.deep("chaos")
@pytest.mark.parametrize("scenario", SHORT)
def test_what_is_promised_holds(scenario, reports):
    report = reports[scenario]
    if isinstance(report, BaseException):
        raise report
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

    async def watch():
        await until(history.exists, "the child to begin")
        os.kill(parent.pid, signal.SIGKILL)
        parent.communicate()
        await until(lambda: not Path(f"/proc/{child}/cmdline").exists() or ended(child), "its end")

    asyncio.run(watch())


def ended(pid):
    """Whether a process is a corpse that nobody has collected yet."""
    return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z"


def test_the_command_lists_its_scenarios():
    done = CliRunner().invoke(main, ["--list"])
    assert done.exit_code == 0
    for name in ALL:
        assert f"{name}: " in done.output


def test_the_command_fails_where_an_invariant_is_broken(monkeypatch):
    async def broken(seed):
        """Break something."""
        return Report(violations=[Violation("nothing breaks", "here")])

    monkeypatch.setitem(ALL, "broken", Scenario(broken, {}))
    assert command("broken", 7, quick=True) == "scripts/chaos --only broken --seed 7 --quick"
    report = play("broken", 7, quick=True, given={})
    assert not report.held
    done = CliRunner().invoke(main, ["--only", "journal-speed", "--quick", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["scenarios"]["journal-speed"]["violations"] == []


def test_a_scenario_is_repeated_in_the_size_that_it_had():
    options = ["--only", "journal-speed", "--quick", "--json", "--size", "seconds=0.1"]
    done = CliRunner().invoke(main, [*options, "--seed", "7"])
    found = json.loads(done.stdout)["scenarios"]["journal-speed"]
    repeat = "scripts/chaos --only journal-speed --seed 7 --size seconds=0.1 --quick"
    assert found["repeat"] == repeat


@pytest.mark.parametrize(
    ("size", "said"),
    [("seconds", "is not WHAT=N"), ("seconds=a", "is not WHAT=N"), ("kills=3", "no scenario")],
    ids=["no number", "a word", "that of another scenario"],
)
def test_a_size_that_is_none_is_refused(size, said):
    done = CliRunner().invoke(main, ["--only", "journal-speed", "--size", size])
    assert done.exit_code == 2
    assert said in done.output


def test_what_a_scenario_stumbles_over_is_a_violation(monkeypatch):
    async def stumbles(seed):
        """Fall."""
        raise RuntimeError("over its feet")

    monkeypatch.setitem(ALL, "stumbles", Scenario(stumbles, {}))
    (violation,) = play("stumbles", 7, quick=True, given={}).violations
    assert violation.where == "RuntimeError: over its feet"
