"""One bot's conversation with the arena, message by message."""

import grpc
import pytest

from arena.errors import refusal
from arena.games.abstrac.messages import Order
from arena.live.session import asks as asks_module
from arena.live.session import limits
from arena.live.session import seats as seats_module
from arena.live.session.asks import ask_id
from arena.live.session.stream import MAX_FRAME_BYTES
from arena.referee.seat import MAX_MOVE_BYTES
from arena.referee.spec import Ending, FaultKind
from arena.testing.outbox import MemoryOutbox
from cardarena.games.v1 import abstrac_pb2
from cardarena.v1 import game_pb2, play_pb2
from tests.live.sittings import World

FIRST = ask_id(1, 1)
"""The first decision of the first match."""

Answer = play_pb2.Answer


def choose(order):
    numbers = {Order.FIRST: 1, Order.SECOND: 2}
    move = abstrac_pb2.AbstracMove(verb=abstrac_pb2.ABSTRAC_VERB_CHOOSE, order=numbers[order])
    return game_pb2.GameMove(abstrac=move)


# Hello.


def test_a_bot_is_welcomed_with_what_it_is_held_to():
    world = World(connected=False)
    welcome = world.ann.connect(max_matches=8, max_open_asks=4)
    assert welcome.epoch == 1
    assert (welcome.limits.max_matches, welcome.limits.max_open_asks) == (8, 4)
    assert welcome.limits.max_message_bytes == 65_536
    assert welcome.limits.max_note_chars == 200
    assert (list(welcome.matches), list(welcome.open_asks)) == ([], [])


@pytest.mark.parametrize(
    ("asked_for", "given"),
    [(None, 1), (1, 1), (512, 512), (513, 512), (2**32 - 1, 512)],
    ids=["nothing said is one", "one", "as many as there are", "one more", "far more"],
)
def test_what_a_bot_asks_for_is_bounded(asked_for, given):
    world = World(connected=False)
    told = world.ann.connect(max_matches=asked_for, max_open_asks=asked_for).limits
    assert (told.max_matches, told.max_open_asks) == (given, given)


def test_a_bot_that_takes_no_matches_says_0_in_hello_as_in_ready():
    world = World(connected=False)
    assert world.ann.connect(max_matches=0).limits.max_matches == 0


ABSTRAC_1 = play_pb2.GameSupport(game="abstrac", rules_version=1, seats=[2])
ANY = play_pb2.GameSupport(game="democracy")

# fmt: off
SUPPORT = [
    ([ABSTRAC_1],      ("abstrac", 1, 2),     True,   "as declared"),
    ([ABSTRAC_1],      ("abstrac", 2, 2),     False,  "another version of the rules"),
    ([ABSTRAC_1],      ("abstrac", 1, 3),     False,  "another number of seats"),
    ([ABSTRAC_1],      ("democracy", 1, 2),   False,  "another game"),
    ([ANY],            ("democracy", 7, 5),   True,   "any version and number of seats"),
    ([ABSTRAC_1, ANY], ("democracy", 1, 2),   True,   "the second of two games"),
    ([],               ("abstrac", 1, 2),     False,  "nothing declared is nothing played"),
]
# fmt: on


@pytest.mark.parametrize(("games", "match", "plays", "why"), SUPPORT, ids=[r[-1] for r in SUPPORT])
def test_a_bot_plays_what_it_declared(games, match, plays, why):
    assert World(games=games).ann.session.plays(*match) is plays


# A match.


def test_a_match_is_announced_before_its_first_ask():
    world = World()
    world.begin()
    kinds = [message.WhichOneof("body") for message in world.ann.outbox.messages]
    assert kinds == ["match_start", "asks"]
    start = world.ann.outbox.only("match_start")
    assert (start.match, start.terms.game, start.seat, start.terms.rules_version) == (
        1,
        "abstrac",
        1,
        1,
    )
    assert [(player.seat, player.name) for player in start.players] == [(0, "bob"), (1, "ann")]
    assert {option.name for option in start.terms.options} == {"hands"}
    assert start.terms.time_control.move_ms == 1000
    (ask,) = world.ann.outbox.take_asks()
    assert (ask.ask_id, ask.match, ask.seat) == (FIRST, 1, 1)
    assert (ask.clock.move_ms, ask.clock.bank_ms, ask.clock.increment_ms) == (1000, 5000, 100)


def test_a_match_is_played_from_announcement_to_end():
    world = World()
    table = world.begin()
    world.play_out()
    assert table.outcome.ending is Ending.COMPLETED
    for bot in world.bots:
        end = bot.outbox.only("match_end")
        assert end.match == 1
        assert list(end.scores) == list(table.outcome.scores)
        assert list(end.places) == list(table.outcome.places)
        assert end.ending == Ending.COMPLETED
        assert end.replay_id == table.spec.match_id
        assert end.trailing_events, "the last deal is told with the end"
        assert bot.session.matches == 0
        assert bot.refusals() == []


def test_an_answer_may_be_a_typed_move():
    world = World()
    world.begin()
    world.ann.answer(Answer(ask_id=FIRST, move=choose(Order.SECOND)))
    assert world.bob.outbox.take_asks()[0].abstrac.events[-1].order == 2


def test_the_last_round_trip_is_sent_with_the_next_ask():
    world = World()
    world.begin()
    assert world.ann.outbox.take_asks()[0].clock.last_round_trip_ms == 0
    world.now_s += 0.1234
    world.ann.answer(Answer(ask_id=FIRST, index=1))
    world.bob.answer(Answer(ask_id=FIRST, index=0))
    assert world.ann.outbox.take_asks()[0].clock.last_round_trip_ms == 124


def test_the_reason_of_a_fault_is_sent_to_its_seat_only():
    world = World()
    world.begin()
    world.ann.answer(Answer(ask_id=FIRST, index=77))
    closed = world.ann.outbox.only("ask_closed")
    assert (closed.ask_id, closed.fault) == (FIRST, FaultKind.ILLEGAL)
    assert closed.reason == "index 77 is past the 2 moves offered"
    world.play_out()
    reasons = [bot.outbox.only("match_end").faults[0].reason for bot in world.bots]
    assert reasons == [closed.reason, ""]
    assert not world.bob.outbox.take("ask_closed")


def test_a_note_is_kept():
    world = World()
    world.begin()
    world.ann.answer(Answer(ask_id=FIRST, index=0, note="♠ looks good"))
    assert world.ledgers[0].decisions[0].note == "♠ looks good"


# Slots.


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_no_more_asks_are_open_than_the_bot_takes(slots):
    world = World(max_open_asks=slots)
    for seed in range(5):
        world.begin(seed=str(seed))
    seen = []
    while asks := world.ann.outbox.take_asks():
        seen += asks
        assert len(world.ann.session.asks.table.open) <= slots
        world.ann.answer(Answer(ask_id=asks[0].ask_id, index=1))
        for ask in asks[1:]:
            world.ann.answer(Answer(ask_id=ask.ask_id, index=1))
    assert [ask.match for ask in seen] == [1, 2, 3, 4, 5]
    assert [ask.ask_id for ask in seen] == [FIRST, *(ask_id(match, 1) for match in range(2, 6))]


def test_waiting_for_a_slot_is_not_charged():
    world = World(max_open_asks=1)
    world.begin(seed="1")
    world.begin(seed="2")
    world.pass_time(5.0)
    world.ann.answer(Answer(ask_id=FIRST, index=0))
    assert [ask.ask_id for ask in world.ann.outbox.take_asks()] == [FIRST, ask_id(2, 1)]
    world.pass_time(5.0)  # more than the 6 s that the second would have had from its making
    world.ann.answer(Answer(ask_id=ask_id(2, 1), index=0))
    assert [decision.fault for ledger in world.ledgers for decision in ledger.decisions] == [
        None,
        None,
    ]
    assert world.ledgers[1].decisions[0].charged_s == pytest.approx(5.0)


def test_a_match_that_asks_again_at_once_waits_behind_the_others():
    """When the other seat has left, the bot's next turn comes with its answer."""
    world = World(max_open_asks=1)
    world.bob.session.leave()
    world.begin(seed="1")
    world.begin(seed="2")
    matches = []
    for _ in range(6):
        (ask,) = world.ann.outbox.take_asks()
        matches.append(ask.match)
        world.ann.answer(Answer(ask_id=ask.ask_id, index=0))
    assert matches == [1, 2, 1, 2, 1, 2]


def test_a_timeout_frees_the_slot():
    world = World(max_open_asks=1)
    world.begin(seed="1")
    world.begin(seed="2")
    assert [ask.ask_id for ask in world.ann.outbox.take_asks()] == [FIRST]
    world.pass_time(6.1)
    assert [each.fault for each in world.ann.outbox.take("ask_closed")] == [FaultKind.TIMEOUT]
    assert [(ask.ask_id, ask.match) for ask in world.ann.outbox.take_asks()] == [(ask_id(2, 1), 2)]


def test_an_ask_whose_match_was_stopped_while_it_waited_is_never_sent():
    world = World(max_open_asks=1)
    world.begin(seed="1")
    world.begin(seed="2").abort()
    world.begin(seed="3")
    assert [ask.match for ask in world.ann.outbox.take_asks()] == [1]
    world.ann.answer(Answer(ask_id=FIRST, index=0))
    assert [ask.match for ask in world.ann.outbox.take_asks()] == [3]
    assert not world.ann.outbox.take("ask_closed")


def test_a_stopped_match_closes_its_ask_without_blame():
    world = World()
    world.begin().abort()
    closed = world.ann.outbox.only("ask_closed")
    assert (closed.ask_id, closed.fault, closed.reason) == (FIRST, 0, "the match was stopped")
    assert world.ann.outbox.only("match_end").ending == Ending.ABORTED


def test_answers_to_many_asks_travel_together():
    world = World(max_open_asks=8)
    for seed in range(8):
        world.begin(seed=str(seed))
    asks = world.ann.outbox.take_asks()
    assert len(asks) == 8
    world.ann.answer(*(Answer(ask_id=ask.ask_id, index=1) for ask in reversed(asks)))
    assert [len(ledger.decisions) for ledger in world.ledgers] == [1] * 8
    assert world.ann.refusals() == []


# Answers that come again, too late, or from nowhere.

SAME, OTHER = Answer(ask_id=FIRST, index=0), Answer(ask_id=FIRST, index=1)
TYPED = Answer(ask_id=FIRST, move=choose(Order.FIRST))
NOTHING = Answer(ask_id=FIRST)

# fmt: off
TWICE = [
    (SAME,     SAME,               [],                         "the same index"),
    (SAME,     OTHER,              [("ALREADY_ANSWERED", FIRST)],  "another index"),
    (SAME,     TYPED,              [],                         "the same move, typed"),
    (TYPED,    TYPED,              [],                         "the same typed move"),
    (TYPED,    SAME,               [],                         "the same typed move, by its index"),
    (TYPED,    OTHER,              [("ALREADY_ANSWERED", FIRST)],  "another index after a typed move"),
    (TYPED,    Answer(ask_id=FIRST, move=choose(Order.SECOND)),
                                   [("ALREADY_ANSWERED", FIRST)],  "another typed move"),
    (SAME,     Answer(ask_id=FIRST, index=0, note="again"),
                                   [],                         "the same with another note"),
    (SAME,     NOTHING,            [("ALREADY_ANSWERED", FIRST)],  "nothing after something"),
    (Answer(ask_id=FIRST, index=9), Answer(ask_id=FIRST, index=9),
                                   [],                         "the same illegal index"),
    (Answer(ask_id=FIRST, index=9), SAME,
                                   [],                         "anything after a fault: the ask is closed"),
]
# fmt: on


@pytest.mark.parametrize(("first", "second", "refusals", "why"), TWICE, ids=[r[-1] for r in TWICE])
def test_a_second_answer(first, second, refusals, why):
    world = World()
    world.begin()
    world.ann.answer(first)
    decisions = list(world.ledgers[0].decisions)
    for _ in range(2):
        world.ann.answer(second)
        assert world.ann.refusals() == refusals
    assert world.ledgers[0].decisions == decisions


def test_two_answers_in_one_message_are_two_answers():
    world = World()
    world.begin()
    world.ann.answer(SAME, OTHER, SAME)
    assert world.ann.refusals() == [("ALREADY_ANSWERED", FIRST)]
    assert len(world.ledgers[0].decisions) == 1


@pytest.mark.parametrize(
    "late", [SAME, OTHER, TYPED, NOTHING], ids=["first", "second", "typed", "nothing"]
)
def test_an_answer_to_an_ask_that_timed_out_is_ignored(late):
    world = World()
    world.begin()
    world.pass_time(6.1)
    decisions = list(world.ledgers[0].decisions)
    world.ann.answer(late)
    assert world.ann.refusals() == []
    assert world.ledgers[0].decisions == decisions


def test_an_answer_that_came_late_but_before_the_timer_is_a_timeout():
    world = World()
    world.begin()
    world.now_s += 6.1
    world.ann.answer(SAME)
    assert world.ledgers[0].decisions[0].fault is FaultKind.TIMEOUT
    assert world.ann.outbox.only("ask_closed").fault == FaultKind.TIMEOUT


# fmt: off
NEVER_ASKED = [
    (0,             "no number"),
    (1,             "a decision of no match"),
    (ask_id(1, 0),  "no decision of a match"),
    (FIRST + 1,     "the next decision"),
    (ask_id(2, 1),  "the next match"),
    (2**64 - 1,     "the last number there is"),
]
# fmt: on


@pytest.mark.parametrize(("number", "why"), NEVER_ASKED, ids=[row[1] for row in NEVER_ASKED])
def test_an_answer_to_what_was_never_asked_is_refused(number, why):
    world = World()
    world.begin()
    world.ann.answer(Answer(ask_id=number, index=0))
    assert world.ann.refusals() == [("UNKNOWN_ASK", number)]
    assert world.ledgers[0].decisions == []


def test_what_was_settled_long_ago_is_forgotten(monkeypatch):
    monkeypatch.setattr(asks_module, "REMEMBERED_ASKS", 3)
    world = World()
    world.begin(hands=10)
    world.play_out()
    assert len(world.ann.session.asks.table._settled) <= 3
    world.ann.answer(Answer(ask_id=FIRST, index=9))
    assert world.ann.refusals() == []


def test_answers_to_invented_decisions_of_a_match_that_is_over_are_counted_each():
    world = World()
    world.begin()
    world.play_out()
    invented = [Answer(ask_id=ask_id(1, 10_000 + at)) for at in range(limits.FREE_MESSAGES)]
    world.ann.answer(*invented)
    assert not world.ann.outbox.closed
    world.ann.answer(invented[0])
    assert world.ann.outbox.verdict.reason == "TOO_MANY_MESSAGES"


def test_answers_to_invented_decisions_are_counted_beside_one_that_is_owed():
    world = World()
    world.begin()
    world.play_out()
    world.begin()
    invented = [Answer(ask_id=ask_id(1, 10_000 + at)) for at in range(500)]
    world.ann.answer(Answer(ask_id=ask_id(2, 1), index=0), *invented)
    assert world.ann.outbox.closed
    assert world.ann.outbox.verdict.reason == "TOO_MANY_MESSAGES"


def test_repeated_answers_are_free_beside_one_that_is_owed():
    world = World()
    world.begin()
    world.play_out()
    world.begin()
    repeated = [Answer(ask_id=FIRST, index=0)] * 500
    world.ann.answer(Answer(ask_id=ask_id(2, 1), index=0), *repeated)
    assert not world.ann.outbox.closed


# What cannot be taken.


# fmt: off
UNREADABLE = [
    (b"\xff\xff\xff",                       refusal("MALFORMED").message(),  "no protobuf"),
    (b"\x1a\x05\x0a",                       refusal("MALFORMED").message(),  "cut off"),
    (b"",                                   refusal("MALFORMED").message("it is empty"), "empty"),
    (b"\x1a\x06\x0a\x04\x22\x02\xff\xfe",   refusal("MALFORMED").message(),  "text that is no UTF-8"),
]
# fmt: on


@pytest.mark.parametrize(("data", "text", "why"), UNREADABLE, ids=[row[-1] for row in UNREADABLE])
def test_a_malformed_message_answers_the_only_open_ask(data, text, why):
    world = World()
    world.begin()
    world.ann.send(data)
    assert world.ledgers[0].decisions[0].fault is FaultKind.MALFORMED
    refusal = world.ann.outbox.only("refusal")
    assert (refusal.reason, refusal.ask_id, refusal.text) == (1, 0, text)
    assert world.ann.outbox.only("ask_closed").fault == FaultKind.MALFORMED
    world.play_out()


@pytest.mark.parametrize("matches", [0, 2, 3])
def test_a_malformed_message_answers_none_of_several_asks(matches):
    world = World(max_open_asks=8)
    for seed in range(matches):
        world.begin(seed=str(seed))
    world.ann.send(b"\xff\xff\xff")
    assert world.ann.refusals() == [("MALFORMED", 0)]
    assert all(not ledger.decisions for ledger in world.ledgers)


def test_a_malformed_answer_frees_the_slot():
    world = World(max_open_asks=1)
    world.begin(seed="1")
    world.begin(seed="2")
    world.ann.send(b"\xff")
    assert [(ask.ask_id, ask.match) for ask in world.ann.outbox.take_asks()] == [
        (FIRST, 1),
        (ask_id(2, 1), 2),
    ]


UNKNOWN_BODIES = [
    (b"\xfa\x06\x02\x08\x01", "a body of a later contract"),
    (b"\x98\x06\x01", "a field nobody knows"),
]


@pytest.mark.parametrize(("data", "why"), UNKNOWN_BODIES, ids=[r[-1] for r in UNKNOWN_BODIES])
def test_a_message_of_a_newer_client_costs_nothing(data, why):
    world = World()
    world.begin()
    for _ in range(limits.MAX_STRIKES + 1):
        world.ann.send(data)
    assert world.ann.refusals() == [("NOT_OFFERED", 0)] * (limits.MAX_STRIKES + 1)
    assert not world.ann.outbox.closed
    assert world.ledgers[0].decisions == [], "the only open ask is open still"


COMMIT = play_pb2.DealCommit(context=b"x", commitment=bytes(32))
# fmt: off
OUT_OF_PLACE = [
    ({"hello": play_pb2.Hello(token="t")},                    "OUT_OF_ORDER",  "a second hello"),
    ({"deal_commit": COMMIT},                                 "NOT_OFFERED",   "a commitment"),
    ({"deal_reveal": play_pb2.DealReveal(entropy=bytes(32))}, "NOT_OFFERED",   "entropy"),
]
# fmt: on


@pytest.mark.parametrize(("body", "reason", "why"), OUT_OF_PLACE, ids=[r[-1] for r in OUT_OF_PLACE])
def test_a_message_that_is_not_valid_now_is_refused(body, reason, why):
    world = World()
    world.begin()
    world.ann.say(**body)
    assert world.ann.refusals() == [(reason, 0)]
    assert world.ledgers[0].decisions == []
    assert world.ann.session.epoch == 1


def test_ready_changes_how_many_matches_a_bot_takes():
    world = World(max_matches=3)
    for wanted, taken in ((7, 7), (0, 0), (9999, 512)):
        world.ann.say(ready=play_pb2.Ready(max_matches=wanted))
        assert world.ann.session.declared.max_matches == taken
    assert world.ann.refusals() == []


@pytest.mark.parametrize(("length", "kept"), [(200, True), (201, False), (60_000, False)])
def test_a_note_has_a_length(length, kept):
    world = World()
    world.begin()
    note = "♠" * length if length < 1000 else "x" * length
    world.ann.answer(Answer(ask_id=FIRST, index=0, note=note))
    (decision,) = world.ledgers[0].decisions
    assert decision.fault is None
    assert decision.note == (note if kept else "")
    assert world.ann.refusals() == ([] if kept else [("NOTE_TOO_LONG", FIRST)])


def test_too_many_refused_messages_close_the_stream():
    world = World()
    world.begin()
    for strike in range(limits.MAX_STRIKES):
        world.ann.answer(Answer(ask_id=99, index=0))
        assert not world.ann.outbox.closed, strike
    world.ann.answer(Answer(ask_id=99, index=0))
    assert world.ann.outbox.closed
    verdict = world.ann.outbox.verdict
    assert (verdict.code, verdict.reason) == (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "TOO_MANY_REFUSALS",
    )
    assert not world.bob.outbox.closed
    world.ann.connect()
    for _ in range(limits.MAX_STRIKES):
        world.ann.answer(Answer(ask_id=99, index=0))
    assert not world.ann.outbox.closed, "a new stream begins anew"


def test_a_message_holds_so_many_answers_and_the_rest_is_refused_unread():
    world = World()
    world.begin()
    world.play_out()
    world.begin()
    old = Answer(ask_id=FIRST, index=0)
    repeated = [old] * limits.MAX_OPEN_ASKS
    world.ann.answer(*repeated[1:], Answer(ask_id=ask_id(2, 1), index=0))
    assert len(world.ledgers[1].decisions) == 1, "the last of as many as there may be"
    assert world.ann.refusals() == []
    world.begin(ann_seat=1)
    world.ann.answer(*repeated, Answer(ask_id=ask_id(3, 1), index=0))
    assert world.ledgers[2].decisions == []
    assert world.ann.refusals() == [("MALFORMED", 0)]


def test_nothing_is_done_for_a_stream_once_it_is_closed():
    """Of a message full of answers that cannot be taken, those behind the last that counts."""
    world = World()
    world.begin()
    refused = []
    world.ann.session.incoming._on_refusal = refused.append
    world.ann.answer(*[Answer(ask_id=99, index=0)] * limits.MAX_OPEN_ASKS)
    assert world.ann.outbox.closed
    assert len(refused) == limits.MAX_STRIKES + 1


# Streams that end, and come again.


def test_a_bot_that_reconnects_gets_its_matches_and_open_asks():
    world = World(max_open_asks=8)
    for seed in ("1", "2", "3"):
        world.begin(seed=seed)
    starts = world.ann.outbox.take("match_start")
    asks = world.ann.outbox.take_asks()
    world.ann.answer(Answer(ask_id=ask_id(2, 1), index=1))  # bob is asked there now
    world.ann.session.detach(world.ann.outbox)
    assert not world.ann.session.connected
    welcome = world.ann.connect(max_open_asks=8)
    assert welcome.epoch == 2
    assert list(welcome.matches) == starts
    assert [ask.ask_id for ask in welcome.open_asks] == [FIRST, ask_id(3, 1)]
    for again, before in zip(welcome.open_asks, (asks[0], asks[2]), strict=True):
        again.ClearField("clock")
        before.ClearField("clock")
        assert again == before
        assert again.SerializeToString() == before.SerializeToString()
    world.ann.answer(Answer(ask_id=FIRST, index=1), Answer(ask_id=ask_id(3, 1), index=1))
    assert world.ann.refusals() == []
    assert all(ledger.decisions for ledger in world.ledgers)


def test_an_ask_that_is_sent_again_has_the_remaining_time():
    world = World()
    world.begin()
    world.ann.session.detach(world.ann.outbox)
    for passed_s, move_ms, bank_ms in ((0.25, 750, 5000), (0.75, 0, 5000), (2.5, 0, 2500)):
        world.pass_time(passed_s)
        clock = world.ann.connect().open_asks[0].clock
        assert (clock.move_ms, clock.bank_ms, clock.increment_ms) == (move_ms, bank_ms, 100)
    world.ann.answer(SAME)
    assert world.ledgers[0].decisions[0].charged_s == pytest.approx(3.5)


def test_a_new_stream_takes_the_place_of_the_older_one():
    world = World()
    world.begin()
    old = world.ann.outbox
    world.ann.connect()
    assert old.closed
    assert (old.verdict.code, old.verdict.reason) == (grpc.StatusCode.ABORTED, "TAKEN_OVER")
    world.ann.answer(SAME, outbox=old)
    assert world.ledgers[0].decisions == [], "the older stream is not listened to"
    world.ann.session.detach(old)
    assert world.ann.session.connected, "and its end is not the bot's"
    world.ann.answer(SAME)
    assert len(world.ledgers[0].decisions) == 1


def test_clocks_run_on_while_a_bot_is_away():
    world = World()
    world.begin()
    world.ann.session.detach(world.ann.outbox)
    world.pass_time(6.1)
    settled = [(decision.fault, decision.forfeited) for decision in world.ledgers[0].decisions[:1]]
    assert settled == [(FaultKind.GONE, False)]
    welcome = world.ann.connect()
    assert len(welcome.matches) == 1
    (ask,) = welcome.open_asks
    assert ask.ask_id == FIRST + 1, "the first is not listed, so it is settled; the match went on"
    assert ask.played_for[0].kind == FaultKind.GONE


@pytest.mark.parametrize("comes_back", [False, True], ids=["for good", "for a while"])
def test_a_bot_that_is_away_for_too_long_forfeits(comes_back):
    world = World()
    world.begin(away_limit_ms=3_000)
    world.ann.session.detach(world.ann.outbox)
    world.pass_time(2.9)
    if comes_back:
        world.ann.connect()
    world.pass_time(0.2)
    forfeits = [
        (decision.fault, decision.reason)
        for decision in world.ledgers[0].decisions
        if decision.forfeited
    ]
    gone = (FaultKind.GONE, "the bot was away for 3 s in all")
    assert forfeits[:1] == ([] if comes_back else [gone])


def test_a_bot_that_is_away_is_asked_all_the_same():
    world = World(max_open_asks=1)
    world.ann.session.detach(world.ann.outbox)
    world.begin(seed="1")
    world.begin(seed="2")
    welcome = world.ann.connect(max_open_asks=2)
    assert [ask.match for ask in welcome.open_asks] == [1]
    assert [ask.match for ask in world.ann.outbox.take_asks()] == [2], "the slots may be more now"


def test_the_end_of_a_match_is_sent_to_a_bot_that_was_away():
    """The match is listed once more, and its end follows as it would have come."""
    world = World()
    table = world.begin()
    start = world.ann.outbox.only("match_start")
    world.ann.session.detach(world.ann.outbox)
    table.abort()
    welcome = world.ann.connect()
    assert (list(welcome.matches), list(welcome.open_asks)) == ([start], [])
    end = world.ann.outbox.only("match_end")
    assert (end.match, end.ending, end.replay_id) == (1, Ending.ABORTED, table.spec.match_id)
    assert world.ann.session.matches == 0, "it takes no place any more"


def test_the_end_of_a_match_is_sent_again_until_it_is_acknowledged():
    world = World(max_open_asks=8)
    ended, going_on = world.begin(seed="1"), world.begin(seed="2")
    ended.abort()
    ends = world.ann.outbox.take("match_end")
    # This ask was open before the end was told, so its answer shows nothing.
    world.ann.answer(Answer(ask_id=ask_id(2, 1), index=1))
    for _ in range(2):
        assert [match.match for match in world.ann.connect(max_open_asks=8).matches] == [2, 1]
        assert world.ann.outbox.take("match_end") == ends
    world.bob.answer(*(Answer(ask_id=ask.ask_id, index=0) for ask in world.bob.outbox.take_asks()))
    (ask,) = world.ann.outbox.take_asks()
    world.ann.answer(Answer(ask_id=ask.ask_id, index=0))
    assert [match.match for match in world.ann.connect(max_open_asks=8).matches] == [2]
    assert not world.ann.outbox.take("match_end")
    assert going_on.outcome is None


def test_an_ask_that_welcome_lists_comes_before_the_ends_that_it_tells():
    world = World(max_open_asks=8)
    world.begin(seed="1").abort()
    world.begin(seed="2")
    world.ann.connect(max_open_asks=8)
    world.ann.answer(Answer(ask_id=ask_id(2, 1), index=0))
    assert [match.match for match in world.ann.connect(max_open_asks=8).matches] == [2, 1]


def test_only_so_many_ends_are_told_again(monkeypatch):
    monkeypatch.setattr(seats_module, "REMEMBERED_ENDS", 3)
    world = World()
    for seed in range(5):
        world.begin(seed=str(seed)).abort()
    assert [match.match for match in world.ann.connect().matches] == [3, 4, 5]
    assert [each.match for each in world.ann.outbox.take("match_end")] == [3, 4, 5]


def test_a_bot_that_has_left_for_good_is_played_for_to_the_end():
    world = World(max_open_asks=1)
    tables = [world.begin(seed=seed) for seed in ("1", "2")]
    world.ann.session.detach(world.ann.outbox)
    world.ann.session.leave()
    while any(table.outcome is None for table in tables):
        for ask in world.bob.outbox.take_asks():
            world.bob.answer(Answer(ask_id=ask.ask_id, index=0))
    for table in tables:
        assert table.outcome.ending is Ending.FORFEIT
        assert table.outcome.places == (1, 2)
        assert [fault.kind for fault in table.outcome.faults] == [FaultKind.GONE]


def test_notation_travels_if_hello_asked_for_it():
    for wanted in (False, True):
        world = World(want_text=wanted)
        world.begin()
        (ask,) = world.ann.outbox.take_asks()
        assert list(ask.move_texts) == (["choose first", "choose second"] if wanted else [])
        assert bool(ask.event_texts) is wanted


def test_what_does_not_fit_into_a_welcome_follows_it():
    """A bot takes 256 kB at most, and 512 asks may be far more."""
    world = World(max_matches=512, max_open_asks=512)
    for seed in range(400):
        world.begin("democracy", seed=str(seed), ann_seat=0)
    first = {ask.match: ask for ask in world.ann.outbox.take_asks()}
    assert len(first) == 400
    world.pass_time(0.25)
    world.ann.session.detach(world.ann.outbox)

    outbox = MemoryOutbox()
    world.ann.session.attach(play_pb2.Hello(max_open_asks=512, max_matches=512), outbox)
    sizes = [message.ByteSize() for message in outbox.messages]
    assert max(sizes) < 128_000
    assert sizes[0] > MAX_FRAME_BYTES / 2, "as many as fit are listed"
    world.ann.outbox = outbox
    welcome = outbox.only("welcome")
    listed, later = list(welcome.open_asks), outbox.take_asks()
    assert [ask.ask_id for ask in later] == list(welcome.later_asks), "they are named already"
    assert len(later) > 10
    for ask in (*listed, *later):
        assert ask.ask_id == first[ask.match].ask_id, "a decision keeps its id"
        assert ask.clock.move_ms == 750
    world.ann.answer(*(Answer(ask_id=ask.ask_id, index=0) for ask in [*listed, *later]))
    assert all(len(ledger.decisions) == 1 for ledger in world.ledgers)
    assert world.ann.refusals() == []


def test_the_notes_of_a_match_have_room_together_and_no_answer_is_lost_for_them(monkeypatch):
    """The bot is told once, and it costs it no move and not its stream."""
    room = 3 * (100 + 2)
    monkeypatch.setattr(asks_module, "MAX_MATCH_NOTE_BYTES", room + 100)
    world = World()
    world.begin(hands=12)
    while world.tables[0].outcome is None:
        for bot in world.bots:
            for ask in bot.outbox.take_asks():
                bot.answer(Answer(ask_id=ask.ask_id, index=0, note="é"))
    for name, bot in (("ann", world.ann), ("bob", world.bob)):
        assert bot.refusals() == [("NOTE_TOO_LONG", 0)], name
    decisions = world.ledgers[0].decisions
    assert [decision for decision in decisions if decision.fault is not None] == []
    kept = [
        [decision.note for decision in decisions if decision.seat == seat and decision.note]
        for seat in (0, 1)
    ]
    assert kept == [["é"] * 3] * 2
    assert sum(1 for decision in decisions if decision.seat == 0) > limits.MAX_STRIKES


def test_another_match_has_room_for_notes_of_its_own(monkeypatch):
    monkeypatch.setattr(asks_module, "MAX_MATCH_NOTE_BYTES", 101)
    world = World(max_open_asks=2)
    for seed in ("1", "2"):
        world.begin(seed=seed)
    for ask in world.ann.outbox.take_asks():
        world.ann.answer(Answer(ask_id=ask.ask_id, index=0, note="x"))
    assert [ledger.decisions[0].note for ledger in world.ledgers] == ["x", "x"]


def test_the_limits_of_what_a_bot_may_write_are_told():
    told = World(connected=False).ann.connect().limits
    assert told.max_match_note_bytes == limits.MAX_MATCH_NOTE_BYTES
    assert told.max_match_move_bytes == MAX_MOVE_BYTES
