"""Rows that only a transport shows, over real sockets: `tests/testing/conformance/__init__.py`."""

import re
from pathlib import Path

import grpc
import pytest

from arena.api import play
from arena.bots.tokens import Tokens
from cardarena.v1 import play_pb2
from tests.doubles.streams import Client, reason_of
from tests.live.running import running
from tests.live.test_sockets import seated

PROTO = Path(__file__).parents[3] / "proto/cardarena/v1/play.proto"
READY = play_pb2.BotMessage(ready=play_pb2.Ready()).SerializeToString()
NOT_NOW, FULL = grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    with running(tmp_path_factory.mktemp("arena"), Tokens(guests=True)) as found:
        yield found


@pytest.fixture
def client(arena):
    with Client(arena.address) as found:
        yield found


def late(stream):
    pass


def not_hello(stream):
    stream.send(READY)


def too_long(stream):
    stream.send(bytes(65_537))


def garbage(stream):
    for _ in range(11):
        stream.send(b"\xff")


def flood(stream):
    for _ in range(200):
        stream.send(READY)


HELLO, NONE = True, False
# fmt: off
ENDS = [
    # what it does  after hello   how the stream ends                                      why
    (late,          NONE,         (grpc.StatusCode.DEADLINE_EXCEEDED, "NO_HELLO"),         "S1 no hello"),
    (not_hello,     NONE,         (NOT_NOW, "NO_HELLO"),                                   "S1 another first message"),
    (too_long,      NONE,         (FULL, "MESSAGE_TOO_LONG"),                              "S9 a hello that is too long"),
    (too_long,      HELLO,        (FULL, "MESSAGE_TOO_LONG"),                              "S9 over 64 kB"),
    (garbage,       HELLO,        (FULL, "TOO_MANY_REFUSALS"),                             "S7 eleven times garbage"),
    (flood,         HELLO,        (FULL, "TOO_MANY_MESSAGES"),                             "S10 a flood"),
]
# fmt: on


@pytest.mark.parametrize(("act", "greets", "end", "why"), ENDS, ids=[row[-1] for row in ENDS])
def test_a_stream_ends_with_a_reason(client, monkeypatch, act, greets, end, why):
    monkeypatch.setattr(play, "HELLO_S", 0.05 if act is late else 5.0)
    stream = client.stream(f"guest:{act.__name__} {greets}" if greets else None)
    act(stream)
    assert reason_of(stream.error()) == end


def test_s1_a_second_hello_is_refused_and_the_stream_goes_on(arena):
    with seated(arena, "s1") as (stream,):
        stream.say(hello=play_pb2.Hello(token="guest:s1"))
        assert stream.expect("refusal").reason == play_pb2.REFUSAL_REASON_OUT_OF_ORDER
        stream.end()


def test_s12_a_takeover_ends_the_older_stream(arena, client):
    with seated(arena, "s12") as (older,):
        newer = client.stream("guest:s12")
        assert newer.expect("welcome").epoch == 2
        assert reason_of(older.error()) == (grpc.StatusCode.ABORTED, "TAKEN_OVER")
        newer.end()


def test_every_reason_that_the_play_stream_may_give_stands_in_the_table():
    """The table in `play.proto` is for programs: a reason that it lacks would be a surprise."""
    text = PROTO.read_text("utf-8")
    table = text[text.index("how a stream ends, and what") : text.index("rpc Play(")]
    named = set(re.findall(r"[A-Z]+(?:_[A-Z]+)+|BUSY|MALFORMED|DRAINING|SUSPENDED|INCIDENT", table))
    arena = Path(play.__file__).parents[1]
    sources = "\n".join(path.read_text("utf-8") for path in sources_of_play(arena))
    calls = r"Refused\(\s*\"([A-Z_]+)\""
    given = set(re.findall(calls, sources)) - OF_OTHER_CALLS
    assert len(given) > 15
    assert given - named == set()


def sources_of_play(arena):
    """The sources that a play stream's refusals come from."""
    names = ("errors/refused.py", "api/play.py", "live/limits.py", "bots/tokens.py")
    names += tuple(f"api/admission/{name}.py" for name in ("key_reload", "calls", "access"))
    return [*(arena / name for name in names), *(arena / "live" / "session").glob("*.py")]


OF_OTHER_CALLS = {"NO_REQUEST", "TOO_SLOW"}
"""Of calls with one request."""
