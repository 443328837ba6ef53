"""The same over real sockets: raw bytes as messages and requests, beside a client that plays."""

import contextlib
import functools
import tempfile
import threading
from pathlib import Path

import grpc
from hypothesis import strategies as st

from arena.api.admission.access import CALLS
from arena.bots.tokens import Tokens
from arena.testing.orders import match_request
from cardarena.v1 import play_pb2
from tests.doubles.streams import PATIENCE_S, Client, Stream
from tests.fuzz.calls import REFUSALS, honest_requests
from tests.fuzz.play_stream import INSIDE, bot_messages
from tests.fuzz.target import Target, packed, unpacked
from tests.fuzz.wild import mutated
from tests.live.running import running

STATUSES = REFUSALS | {
    grpc.StatusCode.OK,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
}
"""How a call with any bytes may end: never as an error of the arena's own."""
UNARY = [call for call in CALLS if "Play" not in call and "Watch" not in call]
PLAYED_EVERY = 10
"""Inputs between two matches of the honest bots."""


class House:
    """An arena with sockets, a channel to be abused, and two honest bots on another."""

    def __init__(self):
        self.files = contextlib.ExitStack()
        folder = self.files.enter_context(tempfile.TemporaryDirectory(prefix="fuzz-sockets-"))
        self.arena = self.files.enter_context(running(Path(folder), Tokens(guests=True)))
        self.wild = self.files.enter_context(Client(self.arena.address))
        self.good = self.files.enter_context(Client(self.arena.address))
        games = [play_pb2.GameSupport(game="abstrac")]
        self.bots = [self.good.stream(f"guest:good{n}", games=games) for n in (1, 2)]
        for bot in self.bots:
            bot.expect("welcome")
        self.inputs = 0

    def honest_match(self):
        """Two bots play as if nothing were."""
        wanted = match_request("abstrac", ["good1", "good2"], {"hands": 2})
        self.good.lobby.CreateMatch(wanted, timeout=PATIENCE_S)
        ends = _play_both(self.bots)
        assert all(end.ending == 1 for end in ends)
        assert all(not end.faults for end in ends)


def _play_both(bots):
    ends = [None, None]

    def play(at):
        ends[at] = bots[at].play()

    threads = [threading.Thread(target=play, args=(at,)) for at in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE_S)
    assert all(end is not None for end in ends), "an honest bot waits in vain"
    return ends


@functools.cache
def house():
    return House()


def close():
    """Stop the arena, if one was started."""
    if house.cache_info().currsize:
        house().files.close()
        house.cache_clear()


def check_stream(data):
    """Any messages on a stream: it ends with a status of those that there are."""
    built = house()
    stream = Stream(built.wild.channel)
    for message in unpacked(data)[:20]:
        stream.send(message)
    stream._out.put(None)  # the bot closes its side: then the arena closes its own
    last = stream.next()
    while isinstance(last, play_pb2.ArenaMessage):
        last = stream.next()
    _check_end(last)
    built.inputs += 1
    if built.inputs % PLAYED_EVERY == 1:
        built.honest_match()


def _check_end(error):
    if error is None:
        return
    assert error.code() in STATUSES, (error.code(), error.details())
    assert not INSIDE.search(error.details() or "")


def check_unary(data):
    """Any bytes as the request of any call, those of health and reflection too."""
    if not data:
        return
    call = UNARY[data[0] % len(UNARY)]
    channel = house().wild.channel
    try:
        if "Reflection" in call:
            list(channel.stream_stream(call)(iter([data[1:]]), timeout=PATIENCE_S))
        elif "GetReplay" in call:
            list(channel.unary_stream(call)(data[1:], timeout=PATIENCE_S))
        else:
            channel.unary_unary(call)(data[1:], timeout=PATIENCE_S)
    except grpc.RpcError as error:
        if "Reflection" in call:
            return  # grpc's own code, which says what it likes of published things
        _check_end(error)


def streams():
    return st.lists(bot_messages(), min_size=1, max_size=8).map(packed)


def requests():
    return mutated([bytes((at,)) + each[2:] for at in range(9) for each in honest_requests()])


STREAM = Target(
    "stream", "anything on a play stream, over a socket",
    check_stream, streams, short=15, slow=True,
)  # fmt: skip
UNARY_CALL = Target(
    "unary", "anything as the request of a call, over a socket",
    check_unary, requests, short=40, slow=True,
)  # fmt: skip
