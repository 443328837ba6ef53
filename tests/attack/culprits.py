"""What attackers do, each in a process of its own.

    python -m tests.attack.culprits NAME ADDRESS SECONDS [SOURCE]

goes on for so long and then prints, as JSON, what came of it: how many attempts
there were, how long each took until the arena had cut it off, and how many it
did not cut. An attack that the arena cuts off is begun again. SOURCE is the address that it comes from.
"""

import contextlib
import gzip
import ipaddress
import json
import random
import sys
import time
from dataclasses import asdict, dataclass

from cardarena.v1 import play_pb2
from tests.attack.http2 import (
    PLAY,
    Frame,
    Wire,
    call,
    frame,
    header_block,
    message,
    reset,
    said,
    settings,
)
from tests.chaos.processes import die_with_parent

STRANGERS = "127.9.0.0/16"
"""Addresses of this machine that may stand for other machines'."""
LOBBY = "/cardarena.v1.LobbyService/ListGames"
SLOT_S = 0.01
"""Messages of a flood go out in this rhythm."""
PER_SLOT = 100
"""Which makes 10,000 a second."""
BLOCK_BYTES = 1 << 16
"""Of frames that are sent without a rest."""
BOMB = gzip.compress(bytes(30_000_000), 9)
AT_LEAST_S = 1.0
"""An attack that goes on for longer counts as one that was not cut off: the arena has so much time."""
SHUT_OUT_S = 5.0
"""Who has no connection after so long will have none."""
PATIENCE_S = 8.0
"""How long an attacker waits to be cut off; more than any limit."""


@dataclass
class Outcome:
    """What came of an attack."""

    attempts: int = 0
    sent: int = 0
    cut: int = 0
    """Attempts that were cut off."""
    longest_s: float = 0.0
    """The longest that one of them took, from its first bad byte."""
    uncut: int = 0
    shut_out: bool = False
    """Whether it came to no connection any more, at last."""


class ShutOut(Exception):
    """Nobody answers who wants to connect."""


def stranger(number):
    """An address of its own for each attacker, as one that was shut out stays out."""
    return str(ipaddress.ip_network(STRANGERS)[1 + number])


def bot_message(**body):
    return play_pb2.BotMessage(**body).SerializeToString()


def hello(name):
    games = [play_pb2.GameSupport(game="abstrac")]
    return bot_message(hello=play_pb2.Hello(token=f"guest:{name}", games=games, max_matches=8))


class Attacker:
    """Attempts, one after another, until the time is up."""

    def __init__(self, address, seconds, source=""):
        self.address = address
        self.source = source
        self.end_s = time.monotonic() + seconds
        self.outcome = Outcome()
        self._random = random.Random(1)

    @property
    def goes_on(self):
        return time.monotonic() < self.end_s

    def wire(self, **values):
        """One more connection, and attempt.

        Raises:
          ShutOut: if there is none.
        """
        try:
            wire = Wire(self.address, source=self.source, patience_s=SHUT_OUT_S, **values)
        except TimeoutError:
            self.outcome.shut_out = True
            raise ShutOut from None
        self.outcome.attempts += 1
        return wire

    def bot(self, name="culprit", **values):
        """A connection with a play stream that has said hello and was welcomed."""
        wire = self.wire(**values)
        wire.send(call(1) + said(1, hello(name)))
        if values.get("window") != 0:
            wire.wait_for(lambda seen: seen.kind == Frame.DATA, PATIENCE_S)
        return wire

    def judge(self, began_s, cut):
        """Note how an attempt ended; one that was just begun when the time was up is none."""
        if cut:
            self.outcome.cut += 1
            self.outcome.longest_s = max(self.outcome.longest_s, time.monotonic() - began_s)
        elif time.monotonic() - began_s > AT_LEAST_S:
            self.outcome.uncut += 1

    def flood(self, data, *, name="culprit"):
        """Say one thing 10,000 times a second on a stream of a bot, until it is over."""
        while self.goes_on:
            with self.bot(name) as wire:
                began_s, cut = time.monotonic(), False
                while self.goes_on and not cut and not wire.closed:
                    slot_s = time.monotonic()
                    wire.send(b"".join(data() for _ in range(PER_SLOT)))
                    self.outcome.sent += PER_SLOT
                    left_s = slot_s + SLOT_S - time.monotonic()
                    cut = any(seen.ends_stream for seen in wire.frames(left_s))
                self.judge(began_s, cut or wire.closed)


# Messages.


def messages(attacker):
    """Messages that are in order, and that nobody asked for."""
    data = said(1, bot_message(ready=play_pb2.Ready(max_matches=8)))
    attacker.flood(lambda: data)


def out_of_turn(attacker):
    """Answers to asks that were never made."""

    def data():
        ask_id = attacker._random.randrange(1, 1 << 40)
        answer = play_pb2.Answer(ask_id=ask_id, index=attacker._random.randrange(60))
        return said(1, bot_message(answers=play_pb2.Answers(answers=[answer])))

    attacker.flood(data)


def garbage(attacker):
    """Bytes that are no message."""
    attacker.flood(lambda: said(1, b"\xff" + attacker._random.randbytes(40)))


def oversized(attacker):
    """Messages of 100 kB."""
    once(attacker, bytes(100_000))


def bombs(attacker):
    """Messages of 30 kB that unpack to 30 MB."""
    once(attacker, BOMB, compressed=True, **{"grpc-encoding": "gzip"})


def once(attacker, data, *, compressed=False, **headers):
    """Say hello and one bad thing, again and again, on new streams of one connection."""
    wire, stream = None, 0
    while attacker.goes_on:
        if wire is None or wire.closed:
            wire, stream = attacker.wire(), 1
        else:
            attacker.outcome.attempts += 1
        wire.send(call(stream, **headers) + said(stream, hello("culprit")))
        began_s = time.monotonic()
        wire.send(said(stream, data, compressed=compressed))
        attacker.outcome.sent += 1
        seen = wire.wait_for(_ends(stream), PATIENCE_S)
        attacker.judge(began_s, seen or wire.closed)
        stream += 2


def _ends(stream):
    return lambda seen: seen.ends_stream and seen.stream == stream


# Silence.


def silent(attacker):
    """Fifty connections on which nothing is ever said."""
    slowly(attacker, 50, lambda wire: None, silent=True)


def headers_only(attacker):
    """A hundred calls of which only the headers come."""
    paths = (PLAY, LOBBY, "/cardarena.v1.ReplayService/GetReplay")

    def begin(wire):
        for number in range(10):
            wire.send(call(2 * number + 1, paths[number % len(paths)]))

    slowly(attacker, 10, begin, streams=10)


def half_messages(attacker):
    """A hundred calls whose first message never gets to its end, though another byte comes now and then."""

    def begin(wire):
        for number in range(10):
            stream = 2 * number + 1
            wire.send(call(stream, PLAY if number % 2 else LOBBY))
            wire.send(frame(Frame.DATA, stream=stream, body=message(bytes(1000))[:10]))

    def drip(wire):
        for number in range(10):
            wire.send(frame(Frame.DATA, stream=2 * number + 1, body=b"\0"))

    slowly(attacker, 10, begin, streams=10, drip=drip)


def slowly(attacker, connections, begin, *, streams=0, drip=None, **values):
    """Open connections and wait until each, or each of its streams, has been ended."""
    while attacker.goes_on:
        wires = [attacker.wire(**values) for _ in range(connections)]
        began_s = time.monotonic()
        for wire in wires:
            begin(wire)
        left = dict.fromkeys(wires, streams or 1)
        while left and time.monotonic() < began_s + PATIENCE_S:
            for wire in list(left):
                seen = wire.frames(0.0)
                left[wire] -= sum(each.ends_stream for each in seen)
                if wire.closed or left[wire] <= 0:
                    del left[wire]
                    attacker.judge(began_s, True)
            if drip is not None:
                for wire in left:
                    drip(wire)
            time.sleep(0.2)
        attacker.outcome.uncut += len(left)
        for wire in wires:
            wire.close()


def never_reads(attacker):
    """Bots that take in nothing, and send what the arena would have to answer."""
    data = said(1, b"\xff\xff")
    wires = []
    while attacker.goes_on:
        wire = attacker.bot(f"culprit {len(wires)}", window=0)
        wires.append(wire)
        for _ in range(40):
            wire.send(data)
        attacker.outcome.sent += 40
        time.sleep(0.1)
    for wire in wires:
        wire.close()


# Frames.


def resets(attacker):
    """Calls that are given up at once, thousands of them."""
    while attacker.goes_on:
        with attacker.wire() as wire:
            began_s, stream = time.monotonic(), 1
            while attacker.goes_on and not wire.closed:
                slot_s = time.monotonic()
                wire.send(b"".join(call(s) + reset(s) for s in range(stream, stream + 100, 2)))
                stream += 100
                attacker.outcome.sent += 50
                wire.frames(slot_s + SLOT_S - time.monotonic())
            attacker.judge(began_s, wire.closed)


def pings(attacker):
    """Pings without end."""
    ping = frame(Frame.PING, body=bytes(8))
    frames(attacker, ping * PER_SLOT)


def unread_pings(attacker):
    """Pings without end, whose answers are never read."""
    unpaced(attacker, frame(Frame.PING, body=bytes(8)))


def settings_flood(attacker):
    """Settings that change nothing and have to be acknowledged."""
    frames(attacker, settings() * PER_SLOT)


def priorities(attacker):
    """Priorities of a stream that there is not, as fast as they go."""
    unpaced(attacker, frame(Frame.PRIORITY, stream=1, body=bytes(5)))


def window_updates(attacker):
    """A window that grows by a byte, as fast as it goes."""
    unpaced(attacker, frame(Frame.WINDOW_UPDATE, body=(1).to_bytes(4, "big")))


def goaways(attacker):
    """The connection is about to end, again and again."""
    unpaced(attacker, frame(Frame.GOAWAY, body=bytes(8)))


def unknown_frames(attacker):
    """Frames of a kind that HTTP/2 does not know, and passes over."""
    unpaced(attacker, frame(0xF0, body=b"?"))


def continuations(attacker):
    """Headers that never come to their end."""
    block = header_block(PLAY, x="y" * 100)
    begin = frame(Frame.HEADERS, stream=1, body=block)
    frames(attacker, frame(Frame.CONTINUATION, stream=1, body=block) * 10, begin=begin)


def frames(attacker, data, *, begin=b""):
    """Send the same frames until the arena has enough."""
    while attacker.goes_on:
        with attacker.wire() as wire:
            began_s = time.monotonic()
            wire.send(begin)
            while attacker.goes_on and not wire.closed:
                slot_s = time.monotonic()
                wire.send(data)
                attacker.outcome.sent += PER_SLOT
                wire.frames(slot_s + SLOT_S - time.monotonic())
            attacker.judge(began_s, wire.closed)


def unpaced(attacker, data):
    """Send the same frame without a rest."""
    block = data * (BLOCK_BYTES // len(data))
    while attacker.goes_on:
        with attacker.wire() as wire:
            began_s = time.monotonic()
            while attacker.goes_on and not wire.closed:
                wire.send(block)
                attacker.outcome.sent += len(block) // len(data)
            attacker.judge(began_s, wire.closed)


# Bots without end.


def newcomers(attacker):
    """Ever new bots, which say hello and hang up."""
    number = 0
    while attacker.goes_on:
        with attacker.wire() as wire:
            for stream in range(1, 2_000, 2):
                number += 1
                wire.send(call(stream) + said(stream, hello(f"new {number}")))
                if stream > 20:
                    wire.send(reset(stream - 20))
                attacker.outcome.sent += 1
                wire.frames(0.001)
                if not attacker.goes_on:
                    break


def takeovers(attacker):
    """Streams that take over from one another."""
    while attacker.goes_on:
        with attacker.wire() as wire:
            for stream in range(1, 2_000, 2):
                wire.send(call(stream) + said(stream, hello("culprit")))
                attacker.outcome.sent += 1
                wire.frames(0.001)
                if not attacker.goes_on:
                    break


ATTACKS = {
    each.__name__.replace("_", "-"): each
    for each in (
        messages,
        out_of_turn,
        garbage,
        oversized,
        bombs,
        silent,
        headers_only,
        half_messages,
        never_reads,
        resets,
        pings,
        unread_pings,
        settings_flood,
        priorities,
        window_updates,
        goaways,
        unknown_frames,
        continuations,
        newcomers,
        takeovers,
    )
}


if __name__ == "__main__":
    die_with_parent()
    name, address, seconds, *source = sys.argv[1:]
    attacker = Attacker(address, float(seconds), *source)
    print("begins", flush=True)  # noqa: T201
    with contextlib.suppress(ShutOut):
        ATTACKS[name](attacker)
    print(json.dumps(asdict(attacker.outcome)))  # noqa: T201
