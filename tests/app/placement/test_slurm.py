"""Workers as jobs of SLURM, by its four commands."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from arena.app.placement.placement import (
    PlacedWorker,
    WorkerProgram,
    open_placement,
)
from arena.local.engines import EngineError
from tests.app.placement import fake_slurm, real_slurm
from tests.app.placement.test_engines import until

SCRIPT = Path(__file__).parents[3] / "deploy" / "slurm" / "workers.sbatch"
PROGRAM = WorkerProgram(
    "https://arena.example:7654",
    "secret",
    speed_class=2,
    options=("--sandbox", "off"),
    files={"token": "/home/ann/token", "ca": "/home/ann/ca.crt"},
)


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    """The jobs of a SLURM that consists of four programs on the path."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("sbatch", "squeue", "scancel", "scontrol"):
        program = programs / name
        program.write_text(f"#!{sys.executable}\n{Path(fake_slurm.__file__).read_text()}")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("FAKE_SLURM", str(tmp_path))
    monkeypatch.setattr(fake_slurm, "FOLDER", tmp_path)
    return fake_slurm.jobs


def placed(**options):
    return open_placement("slurm", PROGRAM, {"script": str(SCRIPT), **options})


def test_jobs_are_an_array_with_the_arena_and_the_key(jobs, tmp_path):
    placed(logs=str(tmp_path), submit=["--partition=long"]).scale(2)
    first, second = jobs()
    assert (first["id"], second["id"]) == ("100_1", "100_2")
    assert first["script"] == str(SCRIPT)
    assert first["options"]["partition"] == "long"
    assert first["options"]["output"] == f"{tmp_path}/%A_%a.log"
    assert first["environment"] == {
        "ARENA_SERVER": "https://arena.example:7654",
        "ARENA_TOKEN_FILE": "/home/ann/token",
        "ARENA_SPEED_CLASS": "2",
        "ARENA_WORKER_OPTIONS": "--ca /home/ann/ca.crt --sandbox off",
    }


def test_the_key_is_no_part_of_a_job(jobs):
    placed().scale(1)
    assert "secret" not in str(jobs())


def test_jobs_are_found_by_their_name(jobs):
    placed().scale(4)
    placed(name="others").scale(1)
    assert placed().running() == [
        PlacedWorker("100_1", "RUNNING", "n0"),
        PlacedWorker("100_2", "RUNNING", "n1"),
        PlacedWorker("100_3", "RUNNING", "n2"),
        PlacedWorker("100_4", "PENDING", ""),
    ]


def test_jobs_that_wait_are_cancelled_before_one_that_runs_is_drained(jobs):
    slurm = placed()
    slurm.scale(5)
    slurm.scale(2)
    assert [worker.id for worker in slurm.running()] == ["100_2", "100_3"]
    (drained,) = (job for job in jobs() if "signalled" in job)
    assert drained["id"] == "100_1"


def test_more_jobs_are_a_further_array(jobs):
    slurm = placed()
    slurm.scale(1)
    slurm.scale(3)
    assert [job["id"] for job in jobs()] == ["100_1", "101_1", "101_2"]


def test_the_last_lines_of_a_job_are_those_of_its_file(jobs, tmp_path):
    (tmp_path / "100_1.log").write_text("it plays\nStopped.\n")
    slurm = placed(logs=str(tmp_path))
    assert list(slurm.logs("100_1")) == ["it plays", "Stopped."]
    with pytest.raises(EngineError, match="the job has not begun"):
        list(slurm.logs("100_2"))


WRONG = [
    # what is wrong, words
    ("down", "squeue failed: squeue: error: Unable to contact slurm controller"),
    ("absent", "there is no squeue on this machine, as it has no SLURM"),
    ("script", "give --script, a batch script like"),
    ("options", "the batch script gets options as plain words, which 'a b' is not"),
]


@pytest.mark.parametrize(("what", "words"), WRONG, ids=[row[0] for row in WRONG])
def test_what_goes_wrong_is_a_sentence(what, words, jobs, tmp_path, monkeypatch):
    program = PROGRAM
    if what == "down":
        (tmp_path / "down").touch()
    elif what == "absent":
        monkeypatch.setenv("PATH", "/nowhere")
    elif what == "options":
        program = WorkerProgram("a", "", options=("--ro", "a b"), files={"token": "t"})
    script = "" if what == "script" else str(SCRIPT)
    with pytest.raises(EngineError, match=words):
        open_placement("slurm", program, {"script": script}).scale(1)


# The daemons of SLURM itself.

STUB = """#!/usr/bin/env bash
# Stands in for `arena worker`: notes its start, and its end by SIGTERM.
trap 'touch "$NOTED/drained-$$"; exit 0' TERM
printf '%s\\n' "$@" >"$NOTED/started-$$"
echo "it plays"
while :; do sleep 0.1; done
"""


@pytest.mark.slow
@pytest.mark.deep("engines")
@pytest.mark.skipif(bool(real_slurm.missing()), reason=real_slurm.missing())
def test_jobs_of_slurm_itself_are_placed_requeued_and_drained(tmp_path, monkeypatch):
    noted, programs, logs = (tmp_path / name for name in ("noted", "programs", "logs"))
    for folder in (noted, programs, logs):
        folder.mkdir()
    (programs / "arena").write_text(STUB)
    (programs / "arena").chmod(0o755)
    monkeypatch.setenv("NOTED", str(noted))
    monkeypatch.setenv("PATH", f"{programs}:{real_slurm.PATH}")

    def started():
        return {path.name.partition("-")[2] for path in noted.glob("started-*")}

    def drained():
        return {path.name.partition("-")[2] for path in noted.glob("drained-*")}

    def states(slurm):
        return [worker.state for worker in slurm.running()]

    with real_slurm.slurm() as configuration:
        monkeypatch.setenv("SLURM_CONF", str(configuration))
        small = {"logs": str(logs), "submit": ["--cpus-per-task=1", "--mem=0", "--time=10"]}
        first = placed(**small)
        first.scale(2)
        until(lambda: len(started()) == 2, "two start")
        words = (noted / f"started-{min(started())}").read_text().split()
        assert words[: words.index("--sandbox")] == [
            *("worker", "--server", "https://arena.example:7654"),
            *("--token-file", "/home/ann/token", "--workers", "1"),
        ]
        # Another program finds them.
        again = placed(**small)
        again.scale(5)
        until(lambda: sorted(states(again)) == ["PENDING"] * 2 + ["RUNNING"] * 3, "three fit")
        until(lambda: len(started()) == 3, "a third starts")
        running = next(worker for worker in again.running() if worker.where)
        assert running.where == socket.gethostname()
        until(lambda: list(again.logs(running.id)) == ["it plays"], "its output is kept")
        # It is preempted: it drains, and comes back.
        subprocess.run(["scontrol", "requeue", running.id], check=True)
        until(lambda: len(drained()) == 1, "it gets SIGTERM")
        until(
            lambda: sorted(states(again)) == ["PENDING"] * 2 + ["RUNNING"] * 3, "another one runs"
        )
        again.scale(1)
        until(lambda: len(started() - drained()) == 1, "the others are drained")
        until(lambda: states(again) == ["RUNNING"], "one is left")
        again.scale(0)
        until(lambda: started() == drained(), "all are drained")
        assert again.running() == []
