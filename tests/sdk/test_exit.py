"""Every way out of `run` ends the process with its exit code, whatever gRPC's threads are doing."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import cardarena
from arena.testing.conformance.cases import load
from arena.testing.conformance.play import judge
from cardarena._connection import Connection
from sample_bots.random_bot import RandomBot
from tests.doubles.streams import PATIENCE_S
from tests.rows import slow_unless
from tests.sdk import languages, slow_threads

KIT = Path(__file__).resolve().parents[2] / "clients" / "conformance"
CASES = {case.id: case for case in load(KIT)}

# fmt: off
WAYS_OUT = [
    # case               why it is over
    ("C15",              "the arena sent it home"),
    ("C26-cut",          "there is no arena any more"),
    ("C1-contract",      "the arena will not do"),
    ("C21-wrong-secret", "the arena lied"),
    ("C26-interrupt",    "its author pressed Ctrl-C"),
]
# fmt: on


@pytest.mark.parametrize(
    ("case", "why"),
    slow_unless(lambda case, why: case == "C26-interrupt", WAYS_OUT),
    ids=[row[1] for row in WAYS_OUT],
)
def test_it_exits_and_leaves_no_thread_to_the_end_of_the_interpreter(case, why):
    verdict = judge(CASES[case], [sys.executable, slow_threads.__file__], KIT)
    assert verdict.passed, f"{verdict.sentence}\n{verdict.stderr_tail}"
    assert "at exit there are ['MainThread']" in verdict.stderr_tail


# Where SIGINT is ignored, as in what a script starts in the background.

IGNORING = ("sh", "-c", 'trap "" INT; exec "$0" "$@"')
"""Starts the program that follows in that state, as the same process."""
ARENA = (sys.executable, "-c", "from arena.cli import main; main()")


@pytest.mark.parametrize("language", languages.each_language(deep=True))
def test_the_kit_interrupts_clients_also_where_interrupts_are_ignored(language):
    words = ("conformance", "--case", "C26-interrupt", "--", *language.client())
    done = subprocess.run([*IGNORING, *ARENA, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, "PASS 1/1" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.parametrize("language", languages.each_language(deep=True))
def test_sigterm_ends_a_bot_also_where_interrupts_are_ignored(language):
    command = [*IGNORING, *language.client(), "--address", "127.0.0.1:1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as bot:
        assert bot.stderr.readline(), "it says that no arena answers"
        bot.terminate()
        bot.communicate(timeout=PATIENCE_S)
    assert bot.returncode in {-signal.SIGTERM, 128 + signal.SIGTERM}  # the latter in Java


@pytest.mark.parametrize("starts", [True, False], ids=["after its start", "before"])
def test_ctrl_c_while_the_connection_starts_leaves_no_thread(starts, monkeypatch):
    right = Connection.start

    def start(self):
        if starts:
            right(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(Connection, "start", start)
    with pytest.raises(KeyboardInterrupt):
        cardarena.play(RandomBot, address="127.0.0.1:1", token="guest:ann")
    assert "cardarena" not in {thread.name for thread in threading.enumerate()}
