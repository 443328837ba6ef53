"""Who may open a call, who comes first under overload, and who is forgotten."""

import asyncio
import inspect
from datetime import UTC, datetime

import grpc
import pytest

from arena.api.admission.access import _SCOPES, CALLS, Access
from arena.api.admission.calls import CallInterceptor
from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens, key_id, new_token, token_sha256
from arena.errors.refused import Refused
from arena.live.limits import (
    LOCAL,
    MAX_QUEUED_CALLS,
    MAX_QUEUED_CALLS_OF_OWNER,
    OWN_HELLOS,
    TURN_S,
    Caller,
    CallLimits,
    Rank,
    ServerLimits,
    address_of,
)
from arena.live.session import register as reception_module
from arena.live.session.register import SessionRegister
from arena.records.journal.kept_sessions import KEPT_SILENT, KeptSession, session_records
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
    limits = CallLimits(ServerLimits(streams=10, streams_of_address=2))
    calls = [Call(peer=f"ipv4:192.0.2.1:{port}") for port in range(3)]
    limits.stream(calls[0])
    limits.stream(calls[1])
    assert refusal(limits.stream, calls[2]) == "TOO_MANY_OPEN"
    limits.stream(Call(peer="ipv4:192.0.2.2:1"))
    calls[0].end()
    limits.stream(calls[2])
    assert limits.open == (3, 0)


def test_this_machine_is_held_to_the_limit_of_all():
    limits = CallLimits(ServerLimits(streams=3, streams_of_address=1))
    for _ in range(3):
        limits.stream(Call(peer="unix:"))
    assert refusal(limits.stream, Call(peer="unix:")) == "TOO_MANY_OPEN"
    assert refusal(limits.stream, Call()) == "TOO_MANY_OPEN"


def test_other_calls_have_limits_of_their_own():
    limits = CallLimits(ServerLimits(streams=1, calls=2, calls_of_address=1))
    limits.stream(Call())
    limits.call(Call(), looks=True)
    assert refusal(limits.call, Call(), looks=False) == "TOO_MANY_OPEN"
    limits.call(Call(peer="unix:"), looks=False)
    assert refusal(limits.call, Call(peer="unix:"), looks=False) == "TOO_MANY_OPEN"


def test_what_was_refused_is_not_counted():
    limits = CallLimits(ServerLimits(streams=1))
    first = Call()
    limits.stream(first)
    refusal(limits.stream, Call())
    first.end()
    assert limits.open == (0, 0)
    limits.stream(Call())


WATCH, CHECK = "/grpc.health.v1.Health/Watch", "/grpc.health.v1.Health/Check"
LIST = "/cardarena.v1.LobbyService/ListMatches"
LIVE = "/cardarena.v1.WatchService/ListLive"
CREATE = "/cardarena.v1.LobbyService/CreateMatch"
PLAY = "/cardarena.v1.PlayService/Play"
MADE = datetime(2026, 11, 22, tzinfo=UTC)
BOTS, SISTERS, ORGANISERS, GUEST = new_token(), new_token(), new_token(), "guest:carl"
OWN_KEY, WORKERS = new_token(), new_token()


def key(token, bot="", scope=Scope.ORGANISER):
    scope = Scope.BOT if bot else scope
    return Key(key_id(token), token_sha256(token), scope, "owner", bot, MADE, changed=1)


async def _at_once(_):
    """Let no time pass."""


class Gate:
    """Calls as the interceptor lets them in; each stays open, as a stream does."""

    def __init__(self, *, why_busy=lambda: "", why_full=lambda: "", **limits):
        self.limits = CallLimits(
            ServerLimits(**limits), why_busy=why_busy, why_full=why_full, sleep=_at_once
        )
        keys = [key(BOTS, "ann"), key(SISTERS, "bob"), key(ORGANISERS)]
        keys += [key(OWN_KEY, scope=Scope.OWNER), key(WORKERS, scope=Scope.WORKER)]
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
        answers = handler.stream_stream(None, call)
        if inspect.isasyncgen(answers):
            _ = [answer async for answer in answers]
        else:
            await answers
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
def test_a_caller_that_uses_all_its_calls_does_not_block_others(held, token, wanted, wanting, why):
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
WORK = {call for call, access in CALLS.items() if access is Access.WORK}
SITE = {call for call, access in CALLS.items() if access is Access.SITE}
NEVER_REFUSED = [(call, ORGANISERS) for call in sorted({*CALLS} - {PLAY} - OWNERS - WORK - SITE)]
NEVER_REFUSED += [(call, WORKERS) for call in sorted(WORK)]


@pytest.mark.parametrize(("method", "token"), NEVER_REFUSED, ids=[row[0] for row in NEVER_REFUSED])
def test_calls_of_organisers_and_workers_are_never_refused_for_load(method, token):
    gate = Gate(calls=1, why_busy=lambda: "the arena is 90 ms late")
    gate.number(method, port=7)
    assert gate.number(method, token, port=7) == 200


@pytest.mark.parametrize("method", sorted({*CALLS} - {PLAY} - WORK))
def test_a_workers_token_is_for_nothing_else(method):
    needs_none = CALLS[method] in (Access.OPEN, Access.WATCH, Access.CODE)
    assert Gate().open(method, WORKERS, port=7) == needs_none


@pytest.mark.parametrize("method", sorted(WORK))
@pytest.mark.parametrize(
    "token",
    ["", GUEST, BOTS, OWN_KEY, ORGANISERS],
    ids=["none", "a guest's", "a bot's", "an owner's", "an organiser's"],
)
def test_a_workers_call_needs_a_workers_token(method, token):
    assert not Gate().open(method, token, port=7)


# fmt: off
UNDER_OVERLOAD = [
    (Rank.IN_MATCH, True,  "a bot with matches in play"),
    (Rank.LAUNCHED, True,  "a bot that the arena launched"),
    (Rank.RESUME,   True,  "a bot that comes back"),
    (Rank.NEW,      False, "a new bot"),
]
# fmt: on


@pytest.mark.parametrize(("rank", "in_", "who"), UNDER_OVERLOAD, ids=[r[2] for r in UNDER_OVERLOAD])
def test_under_overload(rank, in_, who):
    limits = CallLimits(why_busy=lambda: "the arena is 90 ms late")
    if in_:
        limits.accept(rank)
    else:
        assert refusal(limits.accept, rank) == "BUSY"


def test_under_overload_read_only_calls_are_refused_and_orders_are_not():
    limits = CallLimits(why_busy=lambda: "the arena is 90 ms late")
    assert refusal(limits.call, Call(), looks=True) == "BUSY"
    limits.call(Call(), looks=False)  # which has an admission of its own
    limits.call(Call(peer="unix:"), looks=True)  # the arena's own pages


def test_strangers_take_no_place_of_the_pages_of_the_arena():
    limits = CallLimits(ServerLimits(calls=4, calls_of_strangers=2))
    for number in range(2):
        limits.call(Call(peer=f"ipv4:192.0.2.{number}:1"), looks=True)
    assert refusal(limits.call, Call(peer="ipv4:192.0.2.9:1"), looks=True) == "TOO_MANY_OPEN"
    for _ in range(2):
        limits.call(Call(peer="unix:"), looks=True)


class Busy:
    """The limits of an arena that is late, with calls that wait until the test lets time pass."""

    def __init__(self, *, full=""):
        self.why, self.slept = "the arena is 90 ms late", []
        self.limits = CallLimits(
            why_busy=lambda: self.why, why_full=lambda: full, sleep=self._sleep
        )

    async def _sleep(self, seconds):
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def turn(self, owner, *, stores=False, **caller):
        return self.limits.turn(Call(), Caller(owner=owner, **caller), stores=stores)


def test_calls_of_owners_are_answered_late_and_in_order_while_the_arena_is_busy():
    busy, served = Busy(), []

    async def call(owner):
        await busy.turn(owner)
        served.append((owner, len(busy.slept)))

    async def main():
        await asyncio.gather(*map(call, ("ann", "bob", "carl")))
        busy.why = ""
        await call("dan")

    asyncio.run(main())
    assert served == [("ann", 1), ("bob", 2), ("carl", 3), ("dan", 3)]
    assert busy.slept == [TURN_S] * 3


def test_an_organisers_call_does_not_wait_for_a_busy_arena():
    busy = Busy()
    asyncio.run(busy.turn("", organises=True))
    assert busy.slept == []


def test_so_many_calls_of_owners_wait_and_no_more():
    busy = Busy()

    async def main():
        calls = [busy.turn(f"owner {n % 5}") for n in range(MAX_QUEUED_CALLS + 3)]
        return await asyncio.gather(*calls, return_exceptions=True)

    refused = [each for each in asyncio.run(main()) if each is not None]
    assert [each.reason for each in refused] == ["TOO_MANY_OPEN"] * 3
    one = Busy()

    async def of_one():
        calls = [one.turn("ann") for _ in range(MAX_QUEUED_CALLS)]
        return await asyncio.gather(*calls, return_exceptions=True)

    assert sum(each is None for each in asyncio.run(of_one())) == MAX_QUEUED_CALLS_OF_OWNER


def test_nothing_waits_for_room_on_a_full_disk():
    with pytest.raises(Refused) as refused:
        asyncio.run(Busy(full="1 MB of its disk are free").turn("ann", stores=True))
    assert refused.value.reason == "BUSY"


SUBMIT = "/cardarena.v1.BotService/SubmitVersion"
TOKEN = "/cardarena.v1.BotService/CreateToken"
REPORT = "/cardarena.v1.BotService/GetReport"


KEYS = {Scope.OWNER: OWN_KEY, Scope.BOT: BOTS, Scope.ORGANISER: ORGANISERS}
KEYS[Scope.WORKER] = WORKERS
PERMITTED = [
    (method, scope)
    for method, access in CALLS.items()
    if access not in (Access.OPEN, Access.WATCH, Access.CODE, Access.SITE, Access.HELLO)
    for scope in Scope
    if scope in _SCOPES[access]
]


@pytest.mark.parametrize(("method", "scope"), PERMITTED)
def test_no_call_with_a_key_is_refused_because_the_arena_is_late(method, scope):
    assert Gate(why_busy=lambda: "the arena is 90 ms late").open(method, KEYS[scope], port=1)


def test_what_is_stored_is_refused_on_a_full_disk_and_what_is_read_is_not():
    gate = Gate(why_full=lambda: "1 MB of its disk are free")
    answered = {each: gate.open(each, OWN_KEY, port=1) for each in (SUBMIT, TOKEN, REPORT, LIST)}
    assert answered == {SUBMIT: False, TOKEN: False, REPORT: True, LIST: True}


@pytest.mark.parametrize("method", [LIST, LIVE])
def test_what_only_looks_is_refused_to_strangers_by_a_busy_arena(method):
    assert not Gate(why_busy=lambda: "the arena is 90 ms late").open(method, port=1)


def accepts(limits, rank):
    try:
        limits.accept(rank)
    except Refused:
        return False
    return True


def test_new_bots_are_refused_before_returning_ones():
    clock = Clock()
    limits = CallLimits(ServerLimits(hellos=100, hellos_per_s=10.0), now_s=clock)
    assert sum(accepts(limits, Rank.NEW) for _ in range(200)) == 50
    assert sum(accepts(limits, Rank.RESUME) for _ in range(200)) == 40
    assert all(accepts(limits, Rank.IN_MATCH) for _ in range(200))
    assert all(accepts(limits, Rank.LAUNCHED) for _ in range(200))
    assert not accepts(limits, Rank.RESUME)
    clock.now = 2.0
    assert sum(accepts(limits, Rank.RESUME) for _ in range(200)) == 10
    clock.now = 60.0
    assert accepts(limits, Rank.NEW)


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

    def come(self, name, *, launched=False):
        """Say hello, over a stream that is gone at once."""
        outbox, bot = MemoryOutbox(), self.tokens.bot(f"guest:{name}")
        session = self.register.hello(bot, play_pb2.Hello(), outbox, launched=launched)
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


def test_a_bot_that_has_played_keeps_its_numbers(few_away):
    world = World()
    world.come("player").seats.numbered = 7
    world.visit("player")
    for number in range(10):
        world.visit(f"guest {number}")
    assert BotId("player") not in world.bots
    assert world.register._kept == {BotId("player"): KeptSession(2, 7)}
    assert world.come("player").seats.numbered == 7


def test_a_bot_that_came_back_is_not_forgotten_for_having_left(few_away):
    world = World()
    world.visit("here").attach(play_pb2.Hello(), MemoryOutbox())
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


def test_under_overload_bots_with_matches_are_accepted_and_new_ones_refused():
    why = ""
    world = World(why_busy=lambda: why)
    world.come("player").reserve()
    world.come("known")
    why = "the arena is 90 ms late"
    world.come("player")
    world.come("known")
    assert refusal(world.come, "new") == "BUSY"
    world.come("new", launched=True)


def test_after_a_restart_those_who_never_played_are_counted_up_to_a_number():
    sessions = {(f"guest {n}", 0): KeptSession(1, 0) for n in range(KEPT_SILENT + 5)}
    sessions |= {("player", 0): KeptSession(1, 3)}
    written = [record.session.bot for record in session_records(sessions)]
    assert len(written) == KEPT_SILENT + 1
    assert "player" in written
    assert "guest 0" not in written
    assert "guest 5" in written
