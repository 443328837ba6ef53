"""Workers on engines: placed, found again by another program, started anew after a death, drained."""

import contextlib
import os
import signal
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from arena.app.placement.placement import WorkerProgram, open_placement
from arena.local.engines import EngineError

pytestmark = [pytest.mark.slow, pytest.mark.deep("engines")]
ROOT = Path(__file__).parents[3]
PATIENCE_S = 240.0


def until(done, why):
    """Wait until something is so, as engines tell no event of it."""
    end_s = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < end_s, why
        time.sleep(0.1)


def program_of(folder):
    """A worker that notes what it does in a folder."""
    return WorkerProgram(
        str(folder),
        "secret",
        options=("--last", "option"),
        command=("-m", "tests.app.placement.stub_worker"),
    )


class Folder:
    """What stub workers have noted."""

    def __init__(self, path):
        self.path = path

    def started(self):
        return {int(path.name.partition("-")[2]) for path in self.path.glob("started-*")}

    def drained(self):
        return {int(path.name.partition("-")[2]) for path in self.path.glob("drained-*")}

    def said(self):
        return {path.read_text() for path in self.path.glob("started-*")}


@contextlib.contextmanager
def dask():
    """A cluster of three processes in this one, and how a placement joins it."""
    distributed = pytest.importorskip("distributed", reason="needs cardarena-engine[dask]")
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=None, resources={"sandbox:S2": 1}
    ) as cluster:
        yield {"scheduler": cluster.scheduler_address, "resources": {"sandbox:S2": 1}}


@contextlib.contextmanager
def ray():
    """A cluster of this machine, in this process."""
    module = pytest.importorskip("ray", reason="needs cardarena-engine[ray]")
    # Its sockets need a short path.
    with tempfile.TemporaryDirectory(prefix="ray") as folder:
        module.init(
            num_cpus=3, include_dashboard=False, _temp_dir=folder, resources={"sandbox:S2": 3},
            log_to_driver=False,
        )  # fmt: skip
        address = module.get_runtime_context().gcs_address
        try:
            yield {"address": address, "resources": {"sandbox:S2": 1}, "ignore_reinit_error": True}
        finally:
            module.shutdown()


ENGINES = {"dask": dask, "ray": ray}


@pytest.mark.parametrize("engine", ENGINES)
def test_workers_are_placed_found_again_and_drained(engine, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "120")
    noted = Folder(tmp_path)
    with ENGINES[engine]() as options:
        first = open_placement(engine, program_of(tmp_path), options)
        first.scale(2)
        until(lambda: len(noted.started()) == 2, "two start")
        assert noted.said() == {"secret option"}
        # Another program finds them, as after a crash of the first.
        again = open_placement(engine, program_of(tmp_path), options)
        until(lambda: sum(bool(worker.where) for worker in again.running()) == 2, "both run")
        again.scale(5)
        until(lambda: len(noted.started()) == 3, "a third finds room")
        until(lambda: len(again.running()) == 5, "two wait")
        until(lambda: sum(bool(worker.where) for worker in again.running()) == 3, "three run")
        running = next(worker for worker in again.running() if worker.where)
        until(lambda: "it plays" in "\n".join(again.logs(running.id)), "its output is kept")
        # One dies with its machine.
        victim = min(noted.started())
        os.kill(parent_of(victim), signal.SIGKILL)
        until(lambda: len(noted.started()) == 4, "it is started again")
        until(lambda: victim in noted.drained(), "it does not outlive the process of its engine")
        again.scale(1)
        until(lambda: len(noted.started() - noted.drained()) == 1, "the others are drained")
        assert len(again.running()) == 1
        again.scale(0)
        until(lambda: noted.started() == noted.drained(), "all are drained")
        until(lambda: not again.running(), "none is left")


def parent_of(pid):
    """The process id of the parent of a process."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


# fmt: off
READABLE = [
    # given                                 address of the scheduler   why
    ({"scheduler": "tcp://10.0.0.5:8786"},  "",                        "a scheduler on another machine"),
    ({"cluster": "ssh"},                    "tcp://10.0.0.5:8786",     "a cluster that is started there"),
]
# fmt: on


@pytest.mark.parametrize(("given", "address", "why"), READABLE, ids=[row[-1] for row in READABLE])
def test_the_key_of_a_worker_goes_to_no_scheduler_that_others_can_hear(
    monkeypatch, given, address, why
):
    pytest.importorskip("distributed", reason="needs cardarena-engine[dask]")
    from arena.app.placement import dask_engine

    closed = []
    cluster = SimpleNamespace(scheduler_address=address, close=lambda: closed.append(why))
    monkeypatch.setattr(
        dask_engine, "import_module", lambda _: SimpleNamespace(SSHCluster=lambda: cluster)
    )
    monkeypatch.setattr(dask_engine, "Client", lambda *_, **__: pytest.fail("it is connected"))
    with pytest.raises(
        EngineError, match=r"tcp://10\.0\.0\.5:8786 is on another machine, and needs TLS"
    ):
        open_placement("dask", WorkerProgram("", "secret"), given)
    assert closed == [why] * ("cluster" in given)


def test_a_worker_of_dask_outlasts_the_scheduler_without_a_traceback(monkeypatch):
    dask_engine = pytest.importorskip(
        "arena.app.placement.dask_engine", reason="needs cardarena-engine[dask]"
    )
    raised, asked = [], threading.Event()

    class Gone:
        def __init__(self, *given, **named):
            pass

        def wait(self):
            asked.set()
            raise OSError("the stream is closed")

    class Child:
        def __init__(self, *given):
            pass

        def wait(self):
            assert asked.wait(10)
            for thread in threading.enumerate():
                if thread.name.endswith("(drain)"):
                    thread.join(10)
            return "ended"

    monkeypatch.setattr(threading, "excepthook", raised.append)
    for name, double in {"Event": Gone, "WorkerChild": Child, "get_client": lambda: None}.items():
        monkeypatch.setattr(dask_engine, name, double)
    assert dask_engine.run_worker(None, "w1") == "ended"
    assert not raised


def test_a_worker_program_that_an_engine_logs_has_no_key():
    assert "secret" not in repr(WorkerProgram("https://arena.example:7654", "secret"))


def test_an_engine_without_its_package_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    monkeypatch.delitem(__import__("sys").modules, "arena.app.placement.dask_engine", raising=False)
    with pytest.raises(EngineError, match=r"pip install 'cardarena-engine\[dask\]'"):
        open_placement("dask", WorkerProgram("", ""), {})
