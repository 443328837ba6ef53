"""Who may open a call, who comes first under overload, and who is forgotten."""

import asyncio
from datetime import UTC, datetime

import grpc
import pytest

from arena.replay.journal.kept_sessions import KEPT_SILENT, KeptSession, session_records
from arena.server.bots import BotId
from arena.server.gate.access import CALLS, Access
from arena.server.gate.calls import CallInterceptor
from arena.server.gate.limits import LOCAL, OWN_HELLOS, CallLimits, Limits, Rank, address_of
from arena.server.gate.tokens import Tokens, key_id, new_token, token_sha256
from arena.server.refusals import Refused
from arena.server.session import register as reception_module
from arena.server.session.register import SessionRegister
from arena.store.keys import Key, Scope
from arena.testing.outbox import MemoryOutbox
from cardarena.v1 import play_pb2
from tests.doubles.calls import Call, Details
from tests.doubles.clocks import Clock

# fmt: off
PEERS = [
    ("ipv4:192.0.2.1:5000",                "192.0.2.1",          "an IPv4 address without its port"),
    ("ipv4:127.0.0.1:5000",                LOCAL,                "this machine"),
    ("ipv6:%5B::1%5D:5000",                LOCAL,                "this machine by IPv6"),
    ("unix:",                              LOCAL,                "a socket file"),
    ("unix:/tmp/arena.sock",               LOCAL,                "a socket file with its name"),
    ("ipv6:%5B2001:db8:1:2:3::4%5D:5000",  "2001:db8:1:2::/64",  "the network of an IPv6 address"),
    ("ipv6:[2001:db8:1:2:5::6]:5000",      "2001:db8:1:2::/64",  "another address of that network"),
    ("ipv6:[fe80::1%25eth0]:5000",         "fe80::/64",          "an address with its interface"),
    ("ipv6:[::ffff:192.0.2.1]:5000",       "192.0.2.1",          "an IPv4 address as IPv6 writes it"),
    ("ipv4:strange",                       "ipv4:strange",       "what cannot be read, as it is"),
]
# fmt: on


@pytest.mark.parametrize(("peer", "address", "why"), PEERS, ids=[row[2] for row in PEERS])
def test_a_peer_is_counted_as(peer, address, why):
    assert address_of(peer) == address


def refusal(call, *args, **kwargs):
    with pytest.raises(Refused) as refused:
        call(*args, **kwargs)
    assert refused.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert refused.value.retry_s > 0, "a client is told when to try again"
    return refused.value.reason


def test_an_address_has_so_many_streams_and_another_has_its_own():
    limits = CallLimits(Limits(streams=10, streams_of_address=2))
    calls = [Call(peer=f"ipv4:192.0.2.1:{port}") for port in range(3)]
    limits.stream(calls[0])
    limits.stream(calls[1])
    assert refusal(limits.stream, calls[2]) == "TOO_MANY_OPEN"
    limits.stream(Call(peer="ipv4:192.0.2.2:1"))
    calls[0].end()
    limits.stream(calls[2])
    assert limits.open == (3, 0)


def test_this_machine_is_held_to_the_limit_of_all():
    limits = CallLimits(Limits(streams=3, streams_of_address=1))
    for _ in range(3):
        limits.stream(Call(peer="unix:"))
    assert refusal(limits.stream, Call(peer="unix:")) == "TOO_MANY_OPEN"
    assert refusal(limits.stream, Call()) == "TOO_MANY_OPEN"


def test_other_calls_have_limits_of_their_own():
    limits = CallLimits(Limits(streams=1, calls=2, calls_of_address=1))
    limits.stream(Call())
    limits.call(Call(), looks=True)
    assert refusal(limits.call, Call(), looks=False) == "TOO_MANY_OPEN"
    limits.call(Call(peer="unix:"), looks=False)
    assert refusal(limits.call, Call(peer="unix:"), looks=False) == "TOO_MANY_OPEN"


def test_what_was_refused_is_not_counted():
    limits = CallLimits(Limits(streams=1))
    first = Call()
    limits.stream(first)
    refusal(limits.stream, Call())
    first.end()
    assert limits.open == (0, 0)
    limits.stream(Call())


WATCH, CHECK = "/grpc.health.v1.Health/Watch", "/grpc.health.v1.Health/Check"
LIST = "/cardarena.v1.LobbyService/ListMatches"
CREATE = "/cardarena.v1.LobbyService/CreateMatch"
PLAY = "/cardarena.v1.PlayService/Play"
MADE = datetime(2026, 11, 22, tzinfo=UTC)
BOTS, SISTERS, ORGANISERS, GUEST = new_token(), new_token(), new_token(), "guest:carl"


def key(token, bot=""):
    scope = Scope.BOT if bot else Scope.ORGANISER
    return Key(key_id(token), token_sha256(token), scope, "owner", bot, MADE, changed=1)


class Gate:
    """Calls as the interceptor lets them in; each stays open, as a stream does."""

    def __init__(self, *, why_busy=lambda: "", **limits):
        self.limits = CallLimits(Limits(**limits), why_busy=why_busy)
        keys = [key(BOTS, "ann"), key(SISTERS, "bob"), key(ORGANISERS)]
        self.gate = CallInterceptor(Tokens(guests=True, keys=keys), self.limits)

    def open(self, method, token="", *, port):
        """Whether a call is let in."""
        return asyncio.run(self._opens(method, token, port))

    def number(self, method, token="", *, port=None):
        """How many of 200 calls are let in, each on a connection of its own unless `port` is one."""

        async def opened():
            ports = range(200) if port is None else (port,) * 200
            return sum([await self._opens(method, token, each) for each in ports])

        return asyncio.run(opened())

    async def _opens(self, method, token, port):

        async def found(_):
            return grpc.unary_unary_rpc_method_handler(lambda _request, _context: b"")

        details = Details(method, f"Bearer {token}" if token else "")
        handler = await self.gate.intercept_service(found, details)
        call = Call(peer=f"ipv4:127.0.0.1:{port}")
        await handler.stream_unary(None, call)
        return call.code is grpc.StatusCode.OK


# fmt: off
FULL = [
    # held  by          wanted  by           why
    (WATCH, "",         CHECK,  "",          "another call without a token"),
    (WATCH, "",         LIST,   "",          "a call of the lobby without a token"),
    (WATCH, "",         WATCH,  BOTS,        "the same call, by a bot that says who it is"),
    (WATCH, "",         WATCH,  ORGANISERS,  "the same call, by the organiser"),
    (WATCH, "",         CREATE, ORGANISERS,  "a match that the organiser makes"),
    (LIST,  "",         LIST,   BOTS,        "a list for a bot, after guests filled theirs"),
    (LIST,  GUEST,      LIST,   BOTS,        "the same after guests who say a name"),
    (LIST,  BOTS,       LIST,   SISTERS,     "a list for a bot, after another filled its share"),
    (LIST,  BOTS,       LIST,   "",          "a list for a guest, after a bot filled its share"),
]
# fmt: on


@pytest.mark.parametrize(
    ("held", "token", "wanted", "wanting", "why"), FULL, ids=[row[-1] for row in FULL]
)
def test_who_holds_all_calls_it_may_keeps_out_nobody_else(held, token, wanted, wanting, why):
    gate = Gate()
    assert gate.number(held, token) < 200, "there is a bound"
    assert not gate.open(held, token, port=301)
    assert gate.open(wanted, wanting, port=302), why


def test_a_connection_of_this_machine_has_its_share_of_each_call():
    gate = Gate(calls_of_connection=3)
    assert gate.number(WATCH, port=7) == 3
    assert gate.number(CHECK, port=7) == 3
    assert gate.open(WATCH, port=8)


OWNERS = {call for call, access in CALLS.items() if access is Access.OWN}
"""Calls that no organiser makes."""


@pytest.mark.parametrize("method", sorted({*CALLS} - {PLAY} - OWNERS))
def test_an_organiser_is_let_in_whatever_is_open_and_however_busy_the_arena_is(method):
    gate = Gate(calls=1, why_busy=lambda: "the arena is 90 ms late")
    gate.number(method, port=7)
    assert gate.number(method, ORGANISERS, port=7) == 200


# fmt: off
UNDER_OVERLOAD = [
    (Rank.IN_MATCH, True,  "a bot with matches in play"),
    (Rank.RESUME,   True,  "a bot that comes back"),
    (Rank.NEW,      False, "a new bot"),
]
# fmt: on


@pytest.mark.parametrize(("rank", "in_", "who"), UNDER_OVERLOAD, ids=[r[2] for r in UNDER_OVERLOAD])
def test_under_overload(rank, in_, who):
    limits = CallLimits(why_busy=lambda: "the arena is 90 ms late")
    if in_:
        limits.let_in(rank)
    else:
        assert refusal(limits.let_in, rank) == "BUSY"


def test_under_overload_nobody_is_shown_anything_but_matches_may_be_asked_for():
    limits = CallLimits(why_busy=lambda: "the arena is 90 ms late")
    assert refusal(limits.call, Call(), looks=True) == "BUSY"
    limits.call(Call(), looks=False)  # which has an admission of its own


def let_in(limits, rank):
    try:
        limits.let_in(rank)
    except Refused:
        return False
    return True


def test_when_many_say_hello_new_ones_are_refused_first_then_those_that_come_back():
    clock = Clock()
    limits = CallLimits(Limits(hellos=100, hellos_per_s=10.0), now_s=clock)
    assert sum(let_in(limits, Rank.NEW) for _ in range(200)) == 50
    assert sum(let_in(limits, Rank.RESUME) for _ in range(200)) == 40
    assert all(let_in(limits, Rank.IN_MATCH) for _ in range(200))
    assert not let_in(limits, Rank.RESUME)
    clock.now = 2.0
    assert sum(let_in(limits, Rank.RESUME) for _ in range(200)) == 10
    clock.now = 60.0
    assert let_in(limits, Rank.NEW)


# Sessions.


class World:
    def __init__(self, *, why_busy=lambda: ""):
        self.tokens = Tokens(guests=True)
        self.register = SessionRegister(
            CallLimits(why_busy=why_busy),
            now_s=lambda: 0.0,
            forget_guest=self.tokens.forget_guest,
        )

    @property
    def bots(self):
        return [session.bot for session in self.register]

    def come(self, name):
        """Say hello, over a stream that is gone at once."""
        outbox = MemoryOutbox()
        session = self.register.hello(self.tokens.bot(f"guest:{name}"), play_pb2.Hello(), outbox)
        session.detach(outbox)
        return session

    def visit(self, name):
        session = self.come(name)
        self.register.hung_up(session)
        return session


@pytest.fixture
def few_away(monkeypatch):
    monkeypatch.setattr(reception_module, "MAX_AWAY", 3)


def test_a_flood_of_guests_leaves_a_bounded_memory(few_away):
    world = World()
    for number in range(100):
        world.visit(f"guest {number}")
    assert [bot.name for bot in world.bots] == ["guest 97", "guest 98", "guest 99"]
    assert not world.register._kept
    assert len(world.tokens._guests) == 3


def test_a_bot_with_matches_is_not_forgotten(few_away):
    world = World()
    player = world.come("player")
    player.reserve()
    world.register.hung_up(player)
    for number in range(10):
        world.visit(f"guest {number}")
    assert BotId("player") in world.bots
    player.unreserve()
    for number in range(10):
        world.visit(f"another {number}")
    assert BotId("player") not in world.bots


def test_a_bot_that_has_played_goes_on_with_its_numbers(few_away):
    world = World()
    world.come("player")._matches = 7
    world.visit("player")
    for number in range(10):
        world.visit(f"guest {number}")
    assert BotId("player") not in world.bots
    assert world.register._kept == {BotId("player"): KeptSession(2, 7)}
    assert world.come("player").numbered == 7


def test_a_bot_that_came_back_is_not_forgotten_for_having_left(few_away):
    world = World()
    world.visit("here")._outbox = object()
    for number in range(10):
        world.visit(f"guest {number}")
    assert BotId("here") in world.bots


def test_one_bot_cannot_say_hello_without_end():
    world = World()
    world.come("busy").reserve()
    for _ in range(OWN_HELLOS):
        world.come("busy")
    assert refusal(world.come, "busy") == "BUSY"
    world.come("another")


def test_a_bot_with_matches_comes_in_under_overload_and_a_new_one_does_not():
    why = ""
    world = World(why_busy=lambda: why)
    world.come("player").reserve()
    world.come("known")
    why = "the arena is 90 ms late"
    world.come("player")
    world.come("known")
    assert refusal(world.come, "new") == "BUSY"


def test_after_a_restart_those_who_never_played_are_counted_up_to_a_number():
    sessions = {(f"guest {n}", 0): KeptSession(1, 0) for n in range(KEPT_SILENT + 5)}
    sessions |= {("player", 0): KeptSession(1, 3)}
    written = [record.session.bot for record in session_records(sessions)]
    assert len(written) == KEPT_SILENT + 1
    assert "player" in written
    assert "guest 0" not in written
    assert "guest 5" in written
