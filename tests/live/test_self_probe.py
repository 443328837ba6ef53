"""The arena notices for how long an answer would have waited to be read."""

import asyncio
import os
import socket
import tempfile
import time
from pathlib import Path

import grpc
import pytest

from arena.live import self_probe as probe_module
from arena.live.self_probe import SelfProbe
from arena.referee import clock
from arena.referee.clock import LagMeter


def probing(play):
    """Serve probes of a meter, and do something with both."""

    async def main():
        loop = asyncio.get_running_loop()
        meter = LagMeter(loop.call_later, time.monotonic, time.thread_time)
        probe = SelfProbe(meter, time.monotonic)
        server = grpc.aio.server()
        probe.listen(server)
        await server.start()
        probe.start()
        try:
            return await play(meter, probe, server)
        finally:
            await probe.stop()
            await server.stop(0)

    return asyncio.run(main())


async def until(true):
    async with asyncio.timeout(30):
        while not true():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)


def test_probes_are_sent_while_the_meter_measures_and_come_back():
    async def play(meter, probe, _):
        await asyncio.sleep(0)
        assert probe._returned == 0
        with meter.measuring():
            due_s = time.monotonic()
            assert not meter.late(due_s)
            await until(lambda: probe._returned >= 2)
            now_s = time.monotonic()
            # A pause of the machine's own may have happened: then it is not over for 0.1 s.
            await until(lambda: not meter.late(time.monotonic(), due_s))
            assert meter.late(now_s, time.monotonic()), "none has left after that moment"
        meter.start()
        before = probe._returned
        await until(lambda: probe._returned > before)

    probing(play)


def test_a_probe_that_is_kept_makes_a_pause(monkeypatch):
    """As by a flood on another connection, while the loop itself ticks on."""
    kept_s = 5 * clock.PAUSE_S

    async def keeps(_, context):
        while (data := await context.read()) is not grpc.aio.EOF:
            await asyncio.sleep(kept_s)
            yield data

    monkeypatch.setattr(probe_module, "_echo", keeps)

    async def play(meter, probe, _):
        with meter.measuring():
            began_s = time.monotonic()
            await until(lambda: probe._returned >= 1)
            assert meter.refund_s(began_s, time.monotonic()) >= kept_s - clock.TICK_S
            assert meter.counts().longest_pause_s >= kept_s

    probing(play)


def test_the_probe_cannot_be_called_by_others():
    async def play(meter, probe, server):
        first, second = probe.call, SelfProbe(meter, time.monotonic)
        assert first != second.call
        assert len(first) > 32
        await second.stop()

    probing(play)


def test_when_probes_fail_for_good_no_time_is_kept_waiting_for_them(caplog):
    async def play(meter, probe, server):
        await server.stop(0)
        with meter.measuring():
            await until(lambda: "cannot be probed" in caplog.text)
            assert not meter._probed

    probing(play)


def test_a_probe_that_never_returns_is_given_up(monkeypatch):
    monkeypatch.setattr(probe_module, "PATIENCE_S", 0.05)
    calls = []

    async def swallows(_, context):
        calls.append(context)
        while await context.read() is not grpc.aio.EOF:
            pass
        yield b""

    monkeypatch.setattr(probe_module, "_echo", swallows)

    async def play(meter, probe, _):
        with meter.measuring():
            await until(lambda: len(calls) == probe_module.TRIES)
            await until(lambda: not meter._probed)

    probing(play)


@pytest.mark.parametrize(
    ("listens", "age_s", "stays"),
    [
        pytest.param(False, 2 * probe_module.OLD_S, False, id="its-arena-was-killed"),
        pytest.param(False, 0, True, id="its-arena-may-be-about-to-listen"),
        pytest.param(True, 2 * probe_module.OLD_S, True, id="its-arena-runs"),
    ],
)
def test_a_new_arena_removes_the_sockets_of_killed_ones(
    listens, age_s, stays, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"{probe_module.PREFIX}of-another"
    folder.mkdir()
    place = folder / probe_module._SOCKET
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(place))
        if listens:
            other.listen()
        then_s = time.time() - age_s
        os.utime(place, (then_s, then_s))
        begin_and_end()
        assert folder.exists() == stays


# fmt: off
FOLDERS = [
    # length of TMPDIR  XDG_RUNTIME_DIR  where         why
    (76,                "",              "TMPDIR",     "as long as a socket's path allows"),
    (77,                "",              "/tmp",       "a longer one, as of a batch system"),
    (150,               "run",           "run",        "the user's own folder, where there is one"),
    (150,               "r" * 90,        "/tmp",       "a user's own folder that is too long as well"),
]
# fmt: on


@pytest.mark.parametrize(
    ("length", "runtime", "where", "why"), FOLDERS, ids=[row[-1] for row in FOLDERS]
)
def test_probes_find_a_path_that_is_short_enough(length, runtime, where, why, monkeypatch):
    # The folders of pytest have longer names with each run.
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        (folder / runtime).mkdir(exist_ok=True)
        temporary = folder.joinpath("y" * (length - len(name) - 1))
        temporary.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(temporary))
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime and str(folder / runtime))
        places = {"TMPDIR": temporary, "run": folder / "run", "/tmp": Path("/tmp")}
        assert Path(made_and_probed()).parent == places[where]


def made_and_probed():
    """The folder of a probe that came back."""

    async def play(meter, probe, _):
        with meter.measuring():
            await until(lambda: probe._returned >= 1)
        return probe._folder.name

    return probing(play)


def begin_and_end():
    probe = SelfProbe(LagMeter(None, time.monotonic, time.thread_time), time.monotonic)
    asyncio.run(probe.stop())


@pytest.mark.parametrize(
    "linked",
    [
        pytest.param("folder", id="a-link-to-a-folder-elsewhere"),
        pytest.param("file", id="a-file-that-is-no-socket"),
    ],
)
def test_nothing_but_a_socket_of_its_own_is_removed(linked, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"{probe_module.PREFIX}of-another"
    if linked == "folder":
        (tmp_path / "home").mkdir()
        folder.symlink_to(tmp_path / "home")
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(folder / probe_module._SOCKET))
    else:
        folder.mkdir()
        (folder / probe_module._SOCKET).touch()
    long_ago_s = time.time() - 2 * probe_module.OLD_S
    os.utime(folder / probe_module._SOCKET, (long_ago_s, long_ago_s))
    begin_and_end()
    assert (folder / probe_module._SOCKET).exists()
