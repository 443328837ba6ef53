"""What the host of an arena does before it serves, and tells of errors that nobody awaits."""

import asyncio
import math

import grpc
import pytest
import trio

from arena.bots.tokens import Tokens
from arena.live import host
from arena.live.host import TrioGuest, report_error
from arena.live.listen import CannotServe
from cardarena.v1 import lobby_pb2
from tests.doubles.streams import Client
from tests.live.running import running

WAKE_UP = "Exception in callback PollerCompletionQueue._handle_events()()"


@pytest.mark.parametrize(
    ("message", "error", "told"),
    [
        (WAKE_UP, BlockingIOError(11, "Resource temporarily unavailable"), False),
        (WAKE_UP, RuntimeError("a queue that broke"), True),
        ("Exception in callback ours()()", BlockingIOError(11, "unavailable"), True),
        ("Task exception was never retrieved", None, True),
    ],
    ids=[
        "a wake-up of gRPC that finds nothing to read is no error",
        "any other error of gRPC is one",
        "a read of our own that would block is one",
        "so is what has no exception",
    ],
)
def test_an_error_in_a_callback_is_reported_if_it_is_one(message, error, told, caplog):
    loop = asyncio.new_event_loop()
    try:
        report_error(loop, {"message": message} | ({"exception": error} if error else {}))
    finally:
        loop.close()
    assert [message in line for line in caplog.messages] == [True] * told


def test_half_written_replays_of_a_killed_arena_are_removed_when_the_next_one_starts(tmp_path):
    replays = tmp_path / "replays"
    replays.mkdir()
    (replays / ".one-77-1.partial").write_bytes(b"half")
    (replays / "two.replay").write_bytes(b"whole")
    with running(tmp_path, Tokens(guests=True)):
        assert [path.name for path in replays.iterdir()] == ["two.replay"]


def test_half_written_replays_of_a_running_arena_are_left_to_it(tmp_path):
    with running(tmp_path, Tokens(guests=True)):
        partial = tmp_path / "replays" / ".one-77-1.partial"
        partial.write_bytes(b"half")
        with pytest.raises(CannotServe), running(tmp_path, Tokens(guests=True)):
            pass
        assert partial.exists()


def test_a_worker_offers_play_and_nothing_else(tmp_path):
    folder = tmp_path / "worker"
    with (
        running(folder, Tokens(guests=True), is_worker=True) as arena,
        Client(arena.address) as client,
    ):
        client.stream("guest:ann").expect("welcome")
        with pytest.raises(grpc.RpcError) as raised:
            client.lobby.ListBots(lobby_pb2.ListBotsRequest())
        assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED
        own = {path.name for path in folder.iterdir()}
        assert own >= {"journal", "lock"}
        assert "live" not in own, own


async def _sleeps(_: trio.Event) -> None:
    await trio.sleep(0.01)


async def _is_woken(woken: trio.Event) -> None:
    asyncio.get_running_loop().call_later(0.01, woken.set)
    await woken.wait()


async def _has_its_deadline_moved(_: trio.Event) -> None:
    with trio.move_on_after(math.inf) as scope:
        asyncio.get_running_loop().call_later(0.01, scope.cancel)
        await trio.sleep_forever()


async def _reads(_: trio.Event) -> None:
    near, far = trio.socket.socketpair()
    with near, far:
        asyncio.get_running_loop().call_later(0.01, far._sock.send, b"x")
        await near.recv(1)


async def _waits_for_a_thread(_: trio.Event) -> None:
    await trio.to_thread.run_sync(str)


@pytest.mark.parametrize(
    "waits", [_sleeps, _is_woken, _has_its_deadline_moved, _reads, _waits_for_a_thread]
)
def test_a_guest_waits_on_the_loop_of_its_host_and_not_in_a_thread(waits, monkeypatch):
    threads = []
    monkeypatch.setattr(host, "_begin_thread", lambda *_: threads.append(waits))

    async def run() -> object:
        guest = TrioGuest(lambda: waits(trio.Event()))
        guest.start()
        async with asyncio.timeout(20):
            return await guest.ended

    assert asyncio.run(run()).unwrap() is None
    assert threads == []


def test_a_guest_that_another_host_runs_waits_in_a_thread():
    async def run() -> object:
        loop = asyncio.get_running_loop()
        ended = loop.create_future()
        trio.lowlevel.start_guest_run(
            trio.sleep,
            0.01,
            run_sync_soon_threadsafe=loop.call_soon_threadsafe,
            done_callback=ended.set_result,
        )
        async with asyncio.timeout(20):
            return await ended

    assert asyncio.run(run()).unwrap() is None
