"""Nothing that two tables of one deal-set are told tells that they are sisters.

They play the same boards from other seats, so two processes of one bot that knew it could
tell each other the rivals' cards. Everything is looked at that comes over the streams of both
from hello until the deal-set is over, and compared with what tables of two deal-sets are told.
What is equal at sisters alone is a leak. Each known one is planted, and found.

What a seat sees of the cards themselves is left out: `docs/decisions/0013` says what follows of it.
"""

import itertools

import pytest
import trio

from arena.bots.bot_ids import BotId
from arena.bots.tokens import new_token
from arena.live.deals import handshake as handshake_module
from arena.live.orders import DealSetOrder, TableOrder
from arena.live.session import asks as asks_module
from arena.records import deal_book
from arena.records.signing import ArenaKey
from arena.results import deal_sets
from arena.results.deal_sets import round_robin
from arena.testing.orders import match_order
from arena.testing.outbox import MemoryOutbox
from cardarena.v1 import play_pb2
from tests.live.cuts import SdkPlayer, quick_disk
from tests.live.lives import arena_in, run

BITS = 32
"""What has fewer bits is equal by chance, as seats and cards are."""
WINDOW_BYTES = 8
"""Of bytes, so much in a row is compared: a part of a longer value tells as much as all of it."""
KEY = ArenaKey.new()
ME, SISTERS_RIVAL, OTHER_RIVAL = "mine", "rival", "stranger"
AWAY_S = 0.5


class Process(SdkPlayer):
    """One process of a bot, as the arena launches it."""

    def __init__(self, bot, acts):
        super().__init__(bot.name, adds_entropy=True)
        self.bot, self.acts = bot, acts
        self.token = new_token()

    def opened(self):
        hello = super().opened()
        hello.token = self.token
        return hello

    def receive(self, data):
        before = len(self.said)
        super().receive(data)
        kind = play_pb2.ArenaMessage.FromString(data).WhichOneof("body")
        if kind == "deal_transcript" and "keeps silent" in self.acts:
            while len(self.said) > before:
                self.said.pop()
        if kind == "deal_open" and "talks out of turn" in self.acts:
            self.say(deal_commit=play_pb2.DealCommit(context=b"c" * 32, commitment=b"short"))
            self.say(ready=play_pb2.Ready(max_matches=8))

    @property
    def before_the_close(self):
        """All that came until the deal-set was over."""
        messages = map(play_pb2.ArenaMessage.FromString, self.frames)
        return list(
            itertools.takewhile(lambda each: each.WhichOneof("body") != "deal_close", messages)
        )


def order_of(terms, names, instances, seed, deals_seed):
    """A deal-set as a tournament makes one: turned seats, a process of each bot for each table."""
    (plan,) = round_robin(names, seats=len(names), deal_sets=1, seed=seed, tournament="t")
    tables = [
        TableOrder(
            match.id, tuple(BotId(name, instances + match.rotation) for name in match.bots), at
        )
        for at, match in enumerate(plan.matches)
    ]
    return DealSetOrder(plan.id, terms.terms, tuple(tables), deals_seed)


async def streams(arena, process, comes_back):
    """Answer what comes to a process, whose stream is cut once in the middle if it comes back."""

    def dial():
        process.line = MemoryOutbox()
        arena.hello(process.opened(), process.line)

    dial()
    session = arena.sessions.get(process.bot)
    cut_s = trio.current_time() + AWAY_S if comes_back else float("inf")
    while True:
        if trio.current_time() >= cut_s:
            cut_s = float("inf")
            line = process.line
            process.lost()
            arena.hung_up(session, line)
            await trio.sleep(AWAY_S)
            dial()
        for data in process.line.take_frames():
            process.receive(data)
        while process.said:
            session.incoming.deliver(process.line, process.said.popleft(), trio.current_time())
        await trio.sleep(0.01)


def played(folder, monkeypatch, *, game="abstrac", seed="", acts=frozenset()):
    """Two deal-sets, played at the same time: the processes at the tables of each."""
    rivals = SISTERS_RIVAL, OTHER_RIVAL
    terms = match_order(game, (BotId(ME), BotId(ME)), {"hands": 2}, seed=seed)
    orders = [
        order_of(terms, (ME, rival), 2 * at, f"9d1c{at}", f"{seed} {at}" if seed else "")
        for at, rival in enumerate(rivals)
    ]
    processes = {bot: Process(bot, acts) for order in orders for bot in order.bots}
    for bot in processes.keys() - {BotId(SISTERS_RIVAL, 0)}:
        processes[bot].acts -= {"keeps silent"}

    async def main():
        async with arena_in(folder, signer=KEY) as (arena, nursery):
            for bot, process in processes.items():
                arena.tokens.add(process.token, bot)
                nursery.start_soon(streams, arena, process, "comes back" in acts)
            await trio.sleep(0.1)
            async with trio.open_nursery() as matches:
                for order in orders:
                    for match_id in order.match_ids:
                        matches.start_soon(arena.matches.play, order, match_id)
            await trio.sleep(3)

    with quick_disk(monkeypatch):
        run(main)
    for process in processes.values():
        assert process.told.ends
        if not seed:
            assert len(process.before_the_close) < len(process.frames), "the deal-set was closed"
    return [[[processes[bot] for bot in table.bots] for table in order.tables] for order in orders]


# What a stream tells.


def without_cards(message):
    """A message without what the seat sees of the game itself."""
    copy = play_pb2.ArenaMessage.FromString(message.SerializeToString())
    for ask in [*copy.asks.asks, *copy.welcome.open_asks]:
        ask.ClearField(ask.WhichOneof("game"))
        ask.ClearField("move_texts")
        ask.ClearField("event_texts")
    if copy.HasField("match_end"):
        copy.match_end.ClearField("trailing_events")
    return copy


def leaves(message):
    """Every value that is set in a message and in those within it."""
    for field, value in message.ListFields():
        for each in value if field.is_repeated else [value]:
            if field.message_type:
                yield from leaves(each)
            else:
                yield each


def tellings(value):
    """What of a value may tell something: nothing of a small one, each window of a long one."""
    if isinstance(value, int):
        if value >> BITS:
            yield value
        return
    data = value.encode() if isinstance(value, str) else value
    if 8 * len(data) >= BITS:
        yield data
    for at in range(len(data) - WINDOW_BYTES + 1):
        yield data[at : at + WINDOW_BYTES]


def told_at(process):
    """All that a process was told before the deal-set was over, besides its own name."""
    own = set(tellings(process.bot.name))
    return {
        telling
        for message in process.before_the_close
        for value in leaves(without_cards(message))
        for telling in tellings(value)
    } - own


def common(one, other):
    """What any two of the processes at two tables were both told."""
    return set().union(*(told_at(a) & told_at(b) for a, b in itertools.product(one, other)))


def told_to_sisters_alone(deal_sets):
    """What two sisters were both told, and no two tables of different deal-sets."""
    sisters, others = deal_sets
    unrelated = set().union(*(common(*pair) for pair in itertools.product(sisters, others)))
    return common(*sisters) - unrelated


# fmt: off
LIVES = [
    ("abstrac",   "",      set(),                            "a fair deal"),
    ("democracy", "",      set(),                            "another game"),
    ("abstrac",   "",      {"comes back"},                   "streams that are cut"),
    ("abstrac",   "",      {"keeps silent"},                 "a draw that one makes void"),
    ("abstrac",   "",      {"talks out of turn"},            "refusals"),
    ("abstrac",   "",      {"keeps silent", "comes back"},   "a void draw, and streams that are cut"),
    ("abstrac",   "a seed", set(),                           "seeded deals"),
]
# fmt: on


@pytest.mark.parametrize(("game", "seed", "acts", "why"), LIVES, ids=[row[-1] for row in LIVES])
def test_no_stream_tells_which_tables_are_sisters(game, seed, acts, why, tmp_path, monkeypatch):
    deal_sets = played(tmp_path, monkeypatch, game=game, seed=seed, acts=frozenset(acts))
    kinds = {
        each.WhichOneof("body")
        for table in deal_sets[0]
        for process in table
        for each in process.before_the_close
    }
    assert {"welcome", "match_start", "asks", "match_end"} <= kinds
    assert ({"deal_open", "deal_transcript"} <= kinds) == (not seed)
    assert ("refusal" in kinds) == ("talks out of turn" in acts)
    assert told_to_sisters_alone(deal_sets) == set()
    for process in itertools.chain(*deal_sets[0], *deal_sets[1]):
        assert not process.sdk.lies


def ids_in_a_row(deal_set, *about, made=deal_sets.digest):
    """The ids of a deal-set's matches begin alike."""
    what, *rotation = about
    return f"{deal_set[:19]}{rotation[0]}" if what == "match" else made(deal_set, *about)


# fmt: off
PLANTED = [
    # the place                            what is there instead                             how they live      why
    ((deal_book, "view_context"),          lambda context, name, salt: context,              set(),             "one context for all, as in fd1"),
    ((handshake_module, "server_commitment"), lambda view, secret: secret[::-1],             set(),             "one commitment of the arena's"),
    ((handshake_module, "seal"),           lambda view, transcript, salt: transcript,        set(),             "one transcript"),
    ((handshake_module, "seal"),           lambda view, transcript, salt: salt[:24] + transcript[:8], set(),    "eight bytes of one transcript"),
    ((asks_module, "shown_name"),          lambda spec, seat, name: name,                    set(),             "names"),
    ((asks_module, "shown_name"),          lambda spec, seat, name: f"bot of {spec.deal_set}", set(),           "a pseudonym of the deal-set"),
    ((deal_sets, "digest"),                 ids_in_a_row,                                     set(),             "ids of matches in a row"),
    ((deal_book.BookedDeal, "shared"),     False,                                            {"keeps silent"},  "the opening of a void draw"),
]
# fmt: on


@pytest.mark.parametrize(("place", "instead", "acts", "why"), PLANTED, ids=[r[-1] for r in PLANTED])
def test_a_leak_that_is_planted_is_found(place, instead, acts, why, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(*place, instead)
        deal_sets = played(tmp_path, monkeypatch, acts=frozenset(acts))
    if "keeps silent" in acts:  # then the first close came early: what is in it counts
        monkeypatch.setattr(Process, "before_the_close", property(up_to_the_last_close))
    assert told_to_sisters_alone(deal_sets)


def up_to_the_last_close(process):
    messages = list(map(play_pb2.ArenaMessage.FromString, process.frames))
    closes = [at for at, each in enumerate(messages) if each.HasField("deal_close")]
    return messages[: closes[-1]]
