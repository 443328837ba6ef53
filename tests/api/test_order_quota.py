"""Who may order a match of whom, and how many: `CreateMatch` as its callers find it."""

import contextlib
from datetime import UTC, datetime

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from arena.api.admission.order_quota import KEPT_ORDERERS, OF_ADDRESS, OF_OWNER, Orderer, OrderQuota
from arena.api.lobby import LobbyCalls
from arena.api.play import play_handler
from arena.bots.bot_ids import BotId
from arena.bots.tokens import key_id, new_token, token_sha256
from arena.errors.refused import Refused
from arena.live.session.messages import Outbox
from arena.results.deal_sets import MatchOutcome
from arena.store import StoredMatch
from arena.store.keys import Key, Scope
from arena.testing.orders import match_order, match_request
from arena.token_bucket import TokenBucket
from cardarena.v1 import play_pb2
from tests.doubles.calls import Call, Details
from tests.fuzz.calls import House

MADE = datetime(2026, 11, 22, tzinfo=UTC)
ORGANISERS, SECOND, OTHERS, KEYED = new_token(), new_token(), new_token(), new_token()
HERE, NEXT, THERE = "ipv4:192.0.2.1:1", "ipv4:192.0.2.1:99", "ipv4:198.51.100.7:1"
SIX, SAME_SIX = "ipv6:%5B2001:db8::1%5D:1", "ipv6:%5B2001:db8::2%5D:1"


def key(token, owner, bot=""):
    scope = Scope.BOT if bot else Scope.ORGANISER
    return Key(key_id(token), token_sha256(token), scope, owner, bot, MADE, changed=1)


class Room:
    """A lobby with guests of two addresses and of this machine, and a bot with a key."""

    def __init__(self, folder, files):
        self.house = House(folder, files)
        self.arena = self.house.arena
        self.arena.tokens.learn(
            [
                key(ORGANISERS, "ada"),
                key(SECOND, "ada"),
                key(OTHERS, "bea"),
                key(KEYED, "cid", "keyed"),
            ]
        )
        self.lobby = LobbyCalls(self.arena.matches, self.arena.sessions, self.arena.tokens)
        for name, address in (("one", "192.0.2.1"), ("two", "192.0.2.1"), ("far", "198.51.100.7")):
            self.come(f"guest:{name}", address)
        self.come("guest:six", "2001:db8::/64")
        self.come(KEYED, "192.0.2.1")

    def come(self, token, address):
        games = [play_pb2.GameSupport(game="abstrac")]
        hello = play_pb2.Hello(token=token, games=games, max_matches=512)
        self.arena.hello(hello, Outbox(self.house.loop, self.arena.now_s), address)

    def order(self, peer, bots, token="", request_id="", **options):
        """The match's id, or why there is none."""
        request = match_request("abstrac", bots, options)
        request.request_id = request_id
        call = Call(peer=peer, authorization=f"Bearer {token}" if token else "")
        try:
            made = self.lobby.CreateMatch(request, call)
            return self.house.loop.run_until_complete(made).match.match_id
        except Refused as refused:
            return refused

    def end(self, *match_ids):
        for match_id in match_ids:
            self.arena.matches.in_play.discard(match_id)
        for session in self.arena.sessions:
            session._reserved = 0


@pytest.fixture
def room(tmp_path):
    with contextlib.ExitStack() as files:
        room = Room(tmp_path, files)
        yield room
        room.house.loop.close()


# fmt: off
ORDERS = [
    # who asks, by where and with which token; of whom; what comes of it
    (HERE,               "",          ("one", "two"), "",             "guests of one address"),
    (NEXT,               "",          ("one", "two"), "",             "the same address, another connection"),
    (NEXT,               "guest:one", ("one", "two"), "",             "a guest who says its name"),
    (HERE,               "",          ("one", "far"), "NOT_YOURS",    "a guest of elsewhere"),
    (THERE,              "",          ("one", "two"), "NOT_YOURS",    "guests of elsewhere"),
    (THERE,              "guest:one", ("one", "two"), "NOT_YOURS",    "who says another's name from elsewhere"),
    ("ipv4:127.0.0.1:1", "",          ("one", "two"), "NOT_YOURS",    "this machine, of guests elsewhere"),
    (HERE,               "",          ("ann", "bob"), "NOT_YOURS",    "another machine, of guests here"),
    ("ipv4:127.0.0.1:1", "",          ("ann", "bob"), "",             "all on this machine"),
    ("unix:",            "",          ("ann", "bob"), "",             "this machine over a socket file"),
    ("ipv6:%5B::1%5D:1", "",          ("ann", "bob"), "",             "this machine by IPv6"),
    (SAME_SIX,           "",          ("six", "six"), "",             "one client of IPv6"),
    (HERE,               "",          ("one", "keyed"), "NOT_YOURS",  "a bot with a key, though of this address"),
    (HERE,               "",          ("one", "nobody"), "UNKNOWN_BOT", "a bot that is not here"),
    (THERE,              ORGANISERS,  ("one", "far"), "",             "an organiser, of any guests"),
    (THERE,              ORGANISERS,  ("ann", "keyed"), "",           "an organiser, of any bots"),
]
# fmt: on


@pytest.mark.parametrize(
    ("peer", "token", "bots", "reason", "why"), ORDERS, ids=[row[-1] for row in ORDERS]
)
def test_a_guest_orders_matches_among_guests_of_its_own_address(
    room, peer, token, bots, reason, why
):
    found = room.order(peer, bots, token)
    assert (found.reason if isinstance(found, Refused) else "") == reason


def test_the_address_of_a_bots_newest_stream_decides(room):
    assert room.order(THERE, ("one", "far")).reason == "NOT_YOURS"
    room.come("guest:one", "198.51.100.7")
    assert not isinstance(room.order(THERE, ("one", "far")), Refused)
    assert room.order(HERE, ("one", "two")).reason == "NOT_YOURS"


# Repeated requests.


GUESTS = ("one", "two")


def test_a_repeated_request_returns_the_same_match(room):
    first = room.order(HERE, GUESTS, request_id="r")
    assert room.order(NEXT, GUESTS, request_id="r") == first
    assert len(room.arena.matches.in_play) == 1
    others = [
        room.order(HERE, GUESTS, request_id="s"),
        room.order(THERE, GUESTS, ORGANISERS, request_id="r"),
        room.order(HERE, GUESTS),
        room.order(HERE, GUESTS),
    ]
    assert len({first, *others}) == 5, "another text, another caller's, and none"


def test_a_repeated_request_is_counted_once(room, monkeypatch):
    monkeypatch.setattr(OrderQuota, "_bucket", lambda self, _: TokenBucket(1, 0.0, lambda: 0.0))
    first = room.order(HERE, GUESTS, request_id="r")
    assert room.order(HERE, GUESTS, request_id="r") == first
    assert room.order(HERE, GUESTS, request_id="s").reason == "BUSY"


def test_a_request_is_repeated_with_the_same_bots_and_terms(room):
    room.order(HERE, GUESTS, request_id="r")
    assert room.order(HERE, ("two", "one"), request_id="r").reason == "MATCH_ID_TAKEN"
    assert room.order(HERE, GUESTS, request_id="r", hands=6).reason == "MATCH_ID_TAKEN"


def test_a_request_that_is_repeated_after_the_match_returns_its_result(room, monkeypatch):
    first = room.order(HERE, GUESTS, request_id="r")
    room.end(first)
    outcome = MatchOutcome(first, (3, -3), (1, 2), "completed", ({}, {}))
    ended = StoredMatch(outcome, "abstrac", GUESTS, "", 1, published=True)
    monkeypatch.setattr(room.arena.matches.results, "get", {first: ended}.get)
    assert room.order(HERE, GUESTS, request_id="r") == first
    assert len(room.arena.matches.in_play) == 0
    assert room.order(HERE, ("two", "one"), request_id="r").reason == "MATCH_ID_TAKEN"


class Stream(Call):
    """The context of a play stream that says hello and ends."""

    def __init__(self, peer, hello):
        super().__init__(peer=peer)
        self._said = [play_pb2.BotMessage(hello=hello).SerializeToString()]

    async def read(self):
        return self._said.pop() if self._said else grpc.aio.EOF

    async def write(self, _):
        """Nobody reads."""


def test_a_stream_comes_from_the_address_of_its_peer(room):
    arena = room.arena
    handler = play_handler(arena, lambda: None, arena.now_s, arena.metrics)
    details = Details("/cardarena.v1.PlayService/Play")
    stream = Stream(THERE, play_pb2.Hello(token="guest:new"))
    room.house.loop.run_until_complete(handler.service(details).stream_stream(None, stream))
    assert stream.code is grpc.StatusCode.OK, stream.text
    assert arena.sessions.get(BotId("new")).address == "198.51.100.7"


def test_a_guest_asks_for_so_many_hands(room, monkeypatch):
    limits = type(OF_ADDRESS)(512, 600, hands=4)
    monkeypatch.setattr("arena.api.admission.order_quota.OF_ADDRESS", limits)
    assert not isinstance(room.order(HERE, ("one", "two"), hands=4), Refused)
    refused = room.order(HERE, ("one", "two"), hands=6)
    assert (refused.reason, refused.code.name) == ("TOO_MANY_HANDS", "INVALID_ARGUMENT")
    assert "it has 6 hands, and guests of your address order at most 4" in refused.text
    assert not isinstance(room.order(HERE, ("one", "two"), ORGANISERS, hands=6), Refused)


TERMS = match_order("abstrac", (BotId("ann"), BotId("bob")), {"hands": 2}, seed="1").terms


class Clock:
    now_s = 0.0

    def __call__(self):
        return self.now_s


class Orders:
    """A quota and the matches that were made by it."""

    def __init__(self):
        self.clock, self.in_play = Clock(), set()
        self.quota = OrderQuota(self.in_play.__contains__, now_s=self.clock)

    def order(self, orderer):
        """A new match of it; or the refusal."""
        try:
            self.quota.require(orderer, TERMS, {})
        except Refused as refused:
            return refused
        match_id = f"m{len(self.in_play)}-{self.clock.now_s}"
        self.in_play.add(match_id)
        self.quota.made(orderer, match_id)
        return match_id

    def until_refused(self, orderer, *, end=False):
        """How many matches it gets, and why no more; each may `end` before the next is ordered."""
        for number in range(10_000):
            if end:
                self.in_play.clear()
            if isinstance(found := self.order(orderer), Refused):
                return number, found
        raise AssertionError("never refused")


GUEST, OTHER = Orderer("192.0.2.1"), Orderer("198.51.100.7")
OWNER = Orderer(owner="ann")


@pytest.mark.parametrize(
    ("orderer", "limits", "text"),
    [
        (GUEST, OF_ADDRESS, "guests of your address have 512 matches in play"),
        (Orderer(), OF_ADDRESS, "guests of this machine have 512 matches in play"),
        (OWNER, OF_OWNER, "the keys of ann have 2048 matches in play"),
    ],
    ids=["a guest", "a guest of this machine", "an organiser"],
)
def test_so_many_matches_are_in_play_at_a_time(orderer, limits, text):
    orders = Orders()
    number, refused = orders.until_refused(orderer)
    assert number == limits.in_play
    assert (refused.reason, refused.code.name) == ("BUSY", "RESOURCE_EXHAUSTED")
    assert text in refused.text
    assert retry_s(refused) > 0
    assert not isinstance(orders.order(OTHER), Refused)  # another's quota is its own
    orders.in_play -= {found for found in orders.in_play if found.startswith("m0-")}
    orders.clock.now_s += 60
    assert not isinstance(orders.order(orderer), Refused)  # one has ended
    assert isinstance(orders.order(orderer), Refused)


def retry_s(refused):
    """When a program is told to try again."""
    ((_, packed),) = refused.trailing_metadata()
    found = RetryInfo()
    assert Status.FromString(packed).details[1].Unpack(found)
    return found.retry_delay.ToMilliseconds() / 1000


@pytest.mark.parametrize(
    ("orderer", "limits", "who"),
    [(GUEST, OF_ADDRESS, "guests of your address"), (OWNER, OF_OWNER, "the keys of ann")],
    ids=["a guest", "an organiser"],
)
def test_so_many_matches_are_ordered_a_minute(orderer, limits, who):
    orders = Orders()
    made, found = orders.until_refused(orderer, end=True)
    assert made == limits.per_minute
    assert f"{who} order at most {limits.per_minute} matches a minute" in found.text
    assert found.reason == "BUSY"
    orders.clock.now_s += retry_s(found)  # what is told is true
    assert not isinstance(orders.order(orderer), Refused)
    orders.clock.now_s += 60
    assert orders.until_refused(orderer, end=True)[0] == limits.per_minute


def test_all_keys_of_an_owner_share_a_quota_and_another_owner_has_its_own(room, monkeypatch):
    limits = type(OF_OWNER)(in_play=2, per_minute=9, hands=9)
    monkeypatch.setattr("arena.api.admission.order_quota.OF_OWNER", limits)
    first = room.order(THERE, ("one", "far"), ORGANISERS)
    assert not isinstance(room.order(HERE, ("one", "far"), SECOND), Refused)
    assert room.order(HERE, ("one", "far"), SECOND).reason == "BUSY"
    assert room.order(THERE, ("one", "far"), ORGANISERS).reason == "BUSY"
    assert not isinstance(room.order(THERE, ("one", "far"), OTHERS), Refused)
    room.end(first)
    assert not isinstance(room.order(THERE, ("one", "far"), SECOND), Refused)


def test_addresses_without_end_take_no_memory_and_free_nobody_who_has_matches_in_play():
    orders = Orders()
    number, _ = orders.until_refused(GUEST)
    assert number == OF_ADDRESS.in_play
    kept = set(orders.in_play)
    for each in range(3 * KEPT_ORDERERS):
        orders.order(Orderer(f"203.0.{each // 256}.{each % 256}"))
        orders.in_play &= kept
    assert len(orders.quota._of) == KEPT_ORDERERS
    assert isinstance(orders.order(GUEST), Refused)
