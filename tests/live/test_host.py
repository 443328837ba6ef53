"""What the host of an arena does before it serves, and tells of errors that nobody awaits."""

import asyncio

import grpc
import pytest

from arena.bots.tokens import Tokens
from arena.live.host import report_error
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
