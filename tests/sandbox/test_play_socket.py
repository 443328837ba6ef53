"""The one socket that a sandboxed bot has: there it can play, and call nothing else."""

import os
import stat

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from arena.server.admission.tokens import Tokens, new_token
from arena.server.bots import BotId
from cardarena.v1 import lobby_pb2, replay_pb2
from tests.doubles.streams import Client
from tests.server.running import running

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


def code_of(call, address):
    with Client(address) as client:
        try:
            call(client)
        except grpc.RpcError as error:
            return error.code()
        return grpc.StatusCode.OK


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[row[0] for row in CALLS])
def test_there_is_no_other_call_on_the_socket_of_sandboxed_bots(arena, name, call):
    assert code_of(call, arena.address) is not grpc.StatusCode.UNIMPLEMENTED, "there is elsewhere"
    assert code_of(call, f"unix:{arena.play_socket}") is grpc.StatusCode.UNIMPLEMENTED


def test_a_sandboxed_bot_is_welcomed_on_the_play_socket(arena, tokens):
    token = new_token()
    tokens.add(token, BotId("ann"), sandboxed=True)
    with Client(f"unix:{arena.play_socket}") as client:
        client.stream(token).expect("welcome")


def test_its_token_is_good_nowhere_else_and_no_other_is_good_there(arena, tokens):
    sandboxed, other = new_token(), new_token()
    tokens.add(sandboxed, BotId("bob"), sandboxed=True)
    tokens.add(other, BotId("cec"))
    for token, address in ((sandboxed, arena.address), (other, f"unix:{arena.play_socket}")):
        with Client(address) as client:
            assert client.stream(token).error().code() is grpc.StatusCode.PERMISSION_DENIED


def test_the_play_socket_is_private_and_removed_at_the_end(tmp_path):
    with running(tmp_path / "data", Tokens(), play_socket=True) as arena:
        path = arena.play_socket
        assert path == tmp_path / "data" / "run" / "play.sock"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not path.exists()


def test_a_play_socket_of_a_killed_arena_is_replaced(tmp_path):
    (tmp_path / "data" / "run").mkdir(parents=True)
    (tmp_path / "data" / "run" / "play.sock").write_text("")
    with running(tmp_path / "data", Tokens(), play_socket=True) as arena:
        assert arena.play_socket.is_socket()


def test_a_play_socket_may_have_a_long_path(tmp_path):
    data = tmp_path / ("long" * 30) / "data"
    data.parent.mkdir()
    with running(data, Tokens(), play_socket=True) as arena:
        assert len(os.fsencode(arena.play_socket)) > 107
        assert arena.play_socket.is_socket()


def test_without_sandboxed_bots_there_is_no_play_socket(tmp_path):
    with running(tmp_path / "data", Tokens()) as arena:
        assert arena.play_socket is None
        assert not (tmp_path / "data" / "run").exists()
