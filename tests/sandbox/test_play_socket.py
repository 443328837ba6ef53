"""The one socket that a sandboxed bot has: there it can play, call nothing else, and not flood."""

import os
import stat
import threading

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens, new_token
from cardarena.v1 import lobby_pb2, replay_pb2
from tests.attack.http2 import Frame, Wire, frame
from tests.doubles.streams import PATIENCE_S, Client
from tests.live.running import running

# fmt: off
CALLS = [
    ("ListGames",  lambda c: c.lobby.ListGames(lobby_pb2.ListGamesRequest())),
    ("CreateMatch", lambda c: c.lobby.CreateMatch(lobby_pb2.CreateMatchRequest())),
    ("ListBots",   lambda c: c.lobby.ListBots(lobby_pb2.ListBotsRequest())),
    ("GetReplay",  lambda c: list(c.replays.GetReplay(replay_pb2.GetReplayRequest()))),
    ("health",     lambda c: health_pb2_grpc.HealthStub(c.channel).Check(health_pb2.HealthCheckRequest())),
    ("reflection", lambda c: next(reflection_pb2_grpc.ServerReflectionStub(c.channel).ServerReflectionInfo(
        iter([reflection_pb2.ServerReflectionRequest(list_services="")])))),
]
# fmt: on


@pytest.fixture(scope="module")
def tokens():
    return Tokens(guests=True)  # where a call without a token may do all


@pytest.fixture(scope="module")
def arena(tmp_path_factory, tokens):
    with running(tmp_path_factory.mktemp("arena") / "data", tokens, play_socket=True) as found:
        yield found


def on_loop(arena, call):
    """What a call on the arena's thread returns, or None if it raises."""
    done, found = threading.Event(), []

    def run():
        try:
            found.append(call())
        finally:
            done.set()

    arena.matches._token.run_sync_soon(run)
    assert done.wait(PATIENCE_S)
    return found[0]


def opened(arena, report=lambda _: None):
    """The socket of a new bot."""
    return on_loop(arena, lambda: arena.play_sockets.open(report))


@pytest.fixture(scope="module")
def address(arena):
    return opened(arena).address


def code_of(call, address):
    with Client(address) as client:
        try:
            call(client)
        except grpc.RpcError as error:
            return error.code()
        return grpc.StatusCode.OK


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[row[0] for row in CALLS])
def test_there_is_no_other_call_on_the_socket_of_sandboxed_bots(arena, address, name, call):
    assert code_of(call, arena.address) is not grpc.StatusCode.UNIMPLEMENTED, "there is elsewhere"
    assert code_of(call, address) is grpc.StatusCode.UNIMPLEMENTED


def test_a_sandboxed_bot_is_welcomed_on_the_play_socket(address, tokens):
    token = new_token()
    tokens.add(token, BotId("ann"), sandboxed=True)
    with Client(address) as client:
        client.stream(token).expect("welcome")


def test_its_token_is_good_nowhere_else_and_no_other_is_good_there(arena, address, tokens):
    sandboxed, other = new_token(), new_token()
    tokens.add(sandboxed, BotId("bob"), sandboxed=True)
    tokens.add(other, BotId("cec"))
    for token, where in ((sandboxed, arena.address), (other, address)):
        with Client(where) as client:
            assert client.stream(token).error().code() is grpc.StatusCode.PERMISSION_DENIED


def test_each_bot_has_a_private_socket_that_is_removed_when_it_ends(tmp_path):
    folder = tmp_path / "data" / "run"
    with running(tmp_path / "data", Tokens(), play_socket=True) as arena:
        ann, bob = opened(arena), opened(arena)
        assert ann.path != bob.path
        assert len(ann.path.stem) >= 16, "no other bot guesses it"
        assert ann.path.parent == folder
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        with Wire(ann.address) as wire:
            assert wire.wait_for(lambda seen: seen.kind == Frame.SETTINGS, PATIENCE_S)
            on_loop(arena, ann.close)
            assert wire.wait_closed(PATIENCE_S)
        assert not ann.path.exists()
        assert bob.path.exists()
    assert list(folder.iterdir()) == []


def test_sockets_of_a_killed_arena_are_removed(tmp_path):
    left = tmp_path / "data" / "run" / "abc.sock"
    left.parent.mkdir(parents=True)
    left.write_text("")
    with running(tmp_path / "data", Tokens(), play_socket=True):
        assert not left.exists()


def test_a_socket_may_have_a_long_path(tmp_path):
    data = tmp_path / ("long" * 30) / "data"
    data.parent.mkdir()
    with running(data, Tokens(), play_socket=True) as arena:
        ann = opened(arena)
        assert len(os.fsencode(ann.path)) > 107
        assert ann.path.is_socket()


def test_a_bot_that_floods_is_cut_off_and_reported_and_another_is_not(arena):
    reports, told = [], threading.Event()
    flooder, other = (
        opened(arena, lambda report: (reports.append(report), told.set())),
        opened(arena),
    )
    with Wire(flooder.address) as bad, Wire(other.address) as good:
        bad.send(frame(Frame.PRIORITY, stream=1, body=bytes(5)) * 30_000)
        assert bad.wait_closed(PATIENCE_S)
        assert told.wait(PATIENCE_S)
        good.send(frame(Frame.PING, body=bytes(8)))
        assert good.wait_for(lambda seen: seen.kind == Frame.PING, PATIENCE_S)
    (report,) = reports
    assert (
        report.why == "it sent more than 262,144 bytes besides messages at once and 65,536 a second"
    )
    assert report.flood_s >= 0


def test_the_way_of_sandboxed_bots_is_probed_too(arena):
    assert [bot.to for bot in arena.play_sockets._bots.values() if bot.to.endswith("/probe")]


@pytest.mark.slow
def test_a_relay_that_has_ended_is_started_again(arena, address):
    relay = arena.play_sockets._relay
    relay.kill()
    relay.wait()
    with Wire(address) as wire:
        assert wire.wait_for(lambda seen: seen.kind == Frame.SETTINGS, PATIENCE_S)
    assert arena.play_sockets._relay is not relay


def test_without_sandboxed_bots_there_is_no_play_socket(tmp_path):
    with running(tmp_path / "data", Tokens()) as arena:
        assert arena.play_sockets is None
        assert not (tmp_path / "data" / "run").exists()
