"""HTTP connections have a limited time and a limited number, for the pages as for the metrics port."""

import asyncio
from unittest.mock import Mock

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from arena.api.admission.http_connections import BoundedConnection, HttpLimits, Places

LIMITS = HttpLimits(of_address=2, remote=4, local=3, head_s=10.0, answer_s=60.0)
REQUEST = b"GET /status HTTP/1.1\r\nHost: a\r\n\r\n"


class Transport(asyncio.Transport):
    """A connection from an address."""

    def __init__(self, host):
        super().__init__({"peername": (host, 4711)})
        self.cut = self.closing = False
        self.written = b""

    def abort(self):
        self.cut = True

    def close(self):
        self.closing = True

    def is_closing(self):
        return self.closing or self.cut

    def write(self, data):
        self.written += data


class Loop:
    """Deadlines and tasks of connections, which the test lets pass and runs."""

    def __init__(self):
        self.deadlines = []
        self.tasks = []

    def call_later(self, delay_s, call):
        return Deadline(self.deadlines, delay_s, call)

    def create_task(self, task):
        self.tasks.append(task)
        return asyncio.Future(loop=Mock())

    def of(self, call):
        """The times of the deadlines that end in this call."""
        return [each.delay_s for each in self.deadlines if each.call == call]

    def pass_(self):
        """Have the time of all deadlines come."""
        for each in tuple(self.deadlines):
            each.call()


class Deadline:
    def __init__(self, among, delay_s, call):
        self.among, self.delay_s, self.call = among, delay_s, call
        among.append(self)

    def cancel(self):
        if self in self.among:
            self.among.remove(self)


def site(*headers):
    async def answered(scope, receive, send):
        length = (b"content-length", b"4")
        await send({"type": "http.response.start", "status": 200, "headers": [length, *headers]})
        await send({"type": "http.response.body", "body": b"page"})

    return answered


def connected(places, host, loop, app=None):
    config = Config(app or site(), interface="asgi3", ws="none", lifespan="off", log_config=None)
    config.load()
    made = BoundedConnection(places, config, ServerState(), {}, loop)
    made.connection_made(Transport(host))
    return made


HERE = ["127.0.0.1"] * 3
# fmt: off
PLACES = [
    ([*HERE, "127.0.0.1"],                                     0,    "one more of this machine"),
    ([*HERE, "::1"],                                           0,    "one more of this machine, by another address"),
    (["192.0.2.1"] * 3,                                        0,    "one more of an address"),
    (["198.51.100.1", *["192.0.2.1"] * 3],                     1,    "the oldest of that address, not of all"),
    (["2001:db8::1", "2001:db8::2", "2001:db8::3"],            0,    "one more of a network of IPv6"),
    ([*(f"192.0.2.{n}" for n in range(4)), "198.51.100.1"],    0,    "one more of all other machines"),
    (["192.0.2.1", "192.0.2.2", "192.0.2.2", "192.0.2.3", "192.0.2.4"], 1, "the address with the most connections loses one"),
    ([*(f"192.0.2.{n}" for n in range(4)), *HERE],             None, "others and this machine have places of their own"),
    ([*HERE, *(f"192.0.2.{n}" for n in range(4))],             None, "in any order"),
]
# fmt: on


@pytest.mark.parametrize(("hosts", "cut", "_why"), PLACES, ids=[row[-1] for row in PLACES])
def test_room_is_made_by(hosts, cut, _why):
    places, loop = Places(LIMITS), Loop()
    made = [connected(places, host, loop) for host in hosts]
    assert [at for at, each in enumerate(made) if each.transport.cut] == (
        [] if cut is None else [cut]
    )
    assert set(places.open_connections()) == {each for each in made if not each.transport.cut}


def test_a_connection_in_use_is_closed_after_one_that_is_silent():
    places, loop = Places(LIMITS), Loop()
    asking, silent = (connected(places, "192.0.2.1", loop) for _ in range(2))
    asking.data_received(REQUEST)
    asyncio.run(loop.tasks.pop())
    connected(places, "192.0.2.1", loop)
    assert (asking.transport.cut, silent.transport.cut) == (False, True)


def test_a_request_has_its_time_however_it_trickles():
    places, loop = Places(LIMITS), Loop()
    reader = connected(places, "127.0.0.1", loop)
    begun = list(loop.deadlines)
    for byte in REQUEST[:-1]:
        reader.data_received(bytes([byte]))
    assert loop.deadlines == begun
    assert [each.delay_s for each in begun] == [LIMITS.head_s]
    loop.pass_()
    assert (reader.transport.cut, places.open_connections(), loop.deadlines) == (True, [], [])


def test_an_answer_has_its_time_too():
    places, loop = Places(LIMITS), Loop()
    reader = connected(places, "127.0.0.1", loop, site((b"connection", b"close")))
    reader.data_received(REQUEST)
    asyncio.run(loop.tasks.pop())
    assert reader.transport.written.endswith(b"page")
    assert loop.of(reader.cut) == [LIMITS.answer_s]
    loop.pass_()  # the client reads nothing
    assert (reader.transport.cut, places.open_connections(), loop.deadlines) == (True, [], [])


def test_so_has_the_next_request_of_a_connection():
    loop = Loop()
    reader = connected(Places(LIMITS), "127.0.0.1", loop)
    reader.data_received(REQUEST)
    asyncio.run(loop.tasks.pop())
    reader.data_received(REQUEST[:-1])
    assert loop.of(reader.cut) == [LIMITS.head_s]


def test_a_connection_that_is_over_leaves_nothing():
    places, loop = Places(LIMITS), Loop()
    reader = connected(places, "127.0.0.1", loop)
    reader.data_received(REQUEST)
    reader.connection_lost(None)
    asyncio.run(loop.tasks.pop())  # its answer begins after that
    assert (places.open_connections(), loop.deadlines) == ([], [])
