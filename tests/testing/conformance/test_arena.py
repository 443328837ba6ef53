"""Rows of an arena against a scripted client, in memory: `tests/testing/conformance/__init__.py`."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from arena.bots.bot_ids import BotId
from arena.errors.refused import Refused
from arena.games.catalogue import GAMES
from arena.live.orders import BY_HAND
from arena.live.session.stream import MAX_FRAME_BYTES
from arena.referee.clock import GRACE_S
from arena.referee.spec import Ending, FaultKind
from arena.referee.terms import TimeControl
from arena.testing.orders import match_order
from cardarena.games.v1 import abstrac_pb2, democracy_pb2
from cardarena.v1 import game_pb2, play_pb2
from tests.fuzz.sitting import Sitting
from tests.live.cuts import quick_disk
from tests.live.dealing import in_world, order_of
from tests.live.lives import arena_in, run, says_hello
from tests.live.sittings import Bot, World

Answer, Support = play_pb2.Answer, play_pb2.GameSupport
CHOOSE, TAKE = abstrac_pb2.ABSTRAC_VERB_CHOOSE, abstrac_pb2.ABSTRAC_VERB_TAKE
UNKNOWN_FIELD = b"\x98\x06\x01"
"""Field 99 of any message."""
UNKNOWN_BODY = b"\xfa\x06\x02\x08\x01"
"""A message in field 111, as a later contract may have one."""


def typed(**fields):
    return game_pb2.GameMove(abstrac=abstrac_pb2.AbstracMove(**fields))


def asked(world, match=1):
    """The open ask of a match, as the bot was told it."""
    asks = [ask for ask in world.ann.outbox.take_asks() if ask.match == match]
    return asks[-1]


# S2: answers that are no move.

# fmt: off
WRONG = [
    # the answer                                            fault                why
    ({"index": 2},                                          FaultKind.ILLEGAL,   "S2 an index past the list"),
    ({"move": typed(verb=TAKE, count=1)},                   FaultKind.ILLEGAL,   "S2 a move that the rules forbid here"),
    ({},                                                    FaultKind.MALFORMED, "S2 no choice"),
    ({"move": game_pb2.GameMove(democracy=democracy_pb2.DemocracyMove(verb=1, card="As"))},
                                                            FaultKind.MALFORMED, "S2 a move of another game"),
    ({"move": typed(verb=99)},                              FaultKind.MALFORMED, "S2 a verb that nobody knows"),
    ({"move": typed()},                                     FaultKind.MALFORMED, "S2 a move without a verb"),
    ({"move": typed(verb=CHOOSE, order=1, count=3)},        FaultKind.MALFORMED, "S2 a field that the verb does not use"),
    ({"move": typed(verb=CHOOSE, order=77)},                FaultKind.MALFORMED, "S2 a value that nobody knows"),
]
# fmt: on


@pytest.mark.parametrize(("answer", "fault", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_an_answer_that_is_no_move_costs_it(answer, fault, why):
    world = World()
    world.begin()
    first = asked(world)
    world.ann.answer(Answer(ask_id=first.ask_id, **answer))
    closed = world.ann.outbox.only("ask_closed")
    assert (closed.ask_id, closed.fault) == (first.ask_id, fault)
    assert closed.reason
    assert world.ann.refusals() == []
    told = {}
    while len(told) < 2:
        for bot in world.bots:
            for ask in bot.outbox.take_asks():
                told.setdefault(bot.session.bot.name, list(ask.played_for))
                bot.answer(Answer(ask_id=ask.ask_id, index=0))
    own, others = play_pb2.PlayedFor(seat=1, kind=fault, reason=closed.reason), told["bob"][0]
    own.events_before = told["ann"][0].events_before
    assert told["ann"] == [own]
    assert (others.seat, others.kind, others.reason) == (1, fault, ""), "others are not told why"


# S3 to S6: answers that come again, or to nothing.

SAME, OTHER = {"index": 0}, {"index": 1}
TYPED, OTHER_TYPED = {"move": typed(verb=CHOOSE, order=1)}, {"move": typed(verb=CHOOSE, order=2)}
ALREADY, UNKNOWN = "ALREADY_ANSWERED", "UNKNOWN_ASK"

# fmt: off
AGAIN = [
    # first      then                         refused     why
    (SAME,       SAME,                        None,       "S3 the same index"),
    (SAME,       {**SAME, "note": "other"},   None,       "S3 the same with another note"),
    (SAME,       TYPED,                       None,       "S3 the same move, typed"),
    (TYPED,      SAME,                        None,       "S3 the same move, by its index"),
    (SAME,       OTHER,                       ALREADY,    "S3 another index"),
    (SAME,       OTHER_TYPED,                 ALREADY,    "S3 another move, typed"),
    (TYPED,      OTHER,                       ALREADY,    "S3 another index after a typed move"),
    (SAME,       {},                          ALREADY,    "S3 no choice after one"),
    ({"index": 9}, SAME,                      None,       "S6 an ask that a fault has closed"),
]
# fmt: on


@pytest.mark.parametrize("together", [False, True], ids=["", "S4 in one message"])
@pytest.mark.parametrize(("first", "then", "refused", "why"), AGAIN, ids=[r[-1] for r in AGAIN])
def test_the_first_answer_stands(first, then, refused, why, together):
    world = World()
    world.begin()
    number = asked(world).ask_id
    answers = [Answer(ask_id=number, **each) for each in (first, then)]
    if together:
        world.ann.answer(*answers)
    else:
        world.ann.answer(answers[0])
        world.ann.answer(answers[1])
    assert world.ann.refusals() == ([(refused, number)] if refused else [])
    assert len(world.ledgers[0].decisions) == 1


@pytest.mark.parametrize("number", [0, 1, 2**64 - 1], ids=["S5 ask 0", "S5 one", "S5 the last"])
def test_an_ask_that_never_was_is_refused(number):
    world = World()
    world.begin()
    world.ann.answer(Answer(ask_id=number, index=0))
    assert world.ann.refusals() == [(UNKNOWN, number)]


def test_s6_an_answer_after_its_time_is_ignored():
    world = World()
    world.begin()
    number = asked(world).ask_id
    world.pass_time(6.1)
    world.ann.answer(Answer(ask_id=number, index=1))
    assert world.ann.refusals() == []


def test_s6_an_answer_to_a_later_ask_is_ignored_until_it_is_asked():
    world = World(max_open_asks=1)
    world.begin(seed="1")
    world.begin(seed="2")
    first = asked(world)
    second = world.ann.connect(max_open_asks=1).later_asks[0]
    world.ann.answer(Answer(ask_id=second, index=1))
    assert (world.ann.refusals(), world.ledgers[1].decisions) == ([], [])
    world.ann.answer(Answer(ask_id=first.ask_id, index=0))
    assert asked(world, 2).ask_id == second
    world.ann.answer(Answer(ask_id=second, index=1))
    assert len(world.ledgers[1].decisions) == 1


# S7, S8, S10: messages.

# fmt: off
MESSAGES = [
    # the message      refused as      the stream ends after     why
    (b"",              "MALFORMED",    11,    "S7 an empty message"),
    (b"\xff\xff",      "MALFORMED",    11,    "S7 bytes that are no message"),
    (UNKNOWN_BODY,     "NOT_OFFERED",  None,  "S7 a body of a later contract costs nothing"),
]
# fmt: on


@pytest.mark.parametrize(
    ("data", "reason", "ends", "why"), MESSAGES, ids=[row[-1] for row in MESSAGES]
)
def test_an_empty_message(data, reason, ends, why):
    world = World(connected=False)
    limits = world.ann.connect().limits
    sent = limits.max_refusals + 1
    for _ in range(sent):
        assert not world.ann.outbox.closed
        world.ann.send(data)
    assert world.ann.refusals() == [(reason, 0)] * sent
    assert world.ann.outbox.closed is (ends == sent)
    if ends:
        assert world.ann.outbox.verdict.reason == "TOO_MANY_REFUSALS"


def test_s8_unknown_fields_are_ignored():
    world = World()
    world.begin()
    answer = Answer(ask_id=asked(world).ask_id, index=1).SerializeToString() + UNKNOWN_FIELD
    answers = b"\x0a" + bytes([len(answer)]) + answer + UNKNOWN_FIELD
    world.ann.send(b"\x1a" + bytes([len(answers)]) + answers + UNKNOWN_FIELD)
    assert world.ann.refusals() == []
    assert world.ledgers[0].decisions[0].fault is None


def test_s10_more_than_the_budget_ends_the_stream():
    world = World(connected=False)
    limits = world.ann.connect().limits
    for _ in range(limits.free_messages):
        world.ann.say(ready=play_pb2.Ready(max_matches=1))
    world.pass_time(1.0)
    for _ in range(limits.free_messages_per_s):
        world.ann.say(ready=play_pb2.Ready(max_matches=1))
    assert not world.ann.outbox.closed
    world.ann.say(ready=play_pb2.Ready(max_matches=1))
    assert world.ann.outbox.verdict.reason == "TOO_MANY_MESSAGES"


def test_s10_what_was_asked_for_is_not_in_the_budget():
    world = World(connected=False)
    limits = world.ann.connect().limits
    world.begin(hands=20)
    world.play_out()
    own = [each for each in world.ledgers[0].decisions if each.seat == 1]
    assert len(own) > limits.free_messages
    assert not world.ann.outbox.closed


def test_a_message_with_too_many_answers_is_read_as_far_as_it_may_go():
    world = World(connected=False)
    limits = world.ann.connect().limits
    world.begin()
    number = asked(world).ask_id
    repeated = [Answer(ask_id=number, index=0)] * (limits.max_answers + 1)
    world.ann.answer(*repeated)
    assert world.ann.refusals() == [("MALFORMED", 0)]
    assert len(world.ledgers[0].decisions) == 1


# fmt: off
NOTES = [
    ("\N{PLAYING CARD ACE OF SPADES}" * 200,  True,   "S11 two hundred cards, each of two UTF-16 units and four bytes"),
    ("x" * 201,                               False,  "S11 a letter too many"),
]
# fmt: on


@pytest.mark.parametrize(("note", "kept", "why"), NOTES, ids=[row[-1] for row in NOTES])
def test_a_note_is_counted_by_code_points(note, kept, why):
    world = World(connected=False)
    assert world.ann.connect().limits.max_note_chars == 200
    world.begin()
    number = asked(world).ask_id
    world.ann.answer(Answer(ask_id=number, index=0, note=note))
    (decision,) = world.ledgers[0].decisions
    assert (decision.fault, decision.note) == (None, note if kept else "")
    assert world.ann.refusals() == ([] if kept else [("NOTE_TOO_LONG", number)])


# S12 to S14: streams that come again.


def without_clock(ask):
    ask.ClearField("clock")
    return ask.SerializeToString()


@pytest.mark.parametrize("slots", [1, 2, 3], ids=lambda slots: f"S12 {slots} slots")
def test_every_ask_that_is_not_settled_is_listed(slots):
    world = World(max_open_asks=3)
    for seed in "12345":
        world.begin(seed=seed)
    sent = world.ann.outbox.take_asks()
    starts = world.ann.outbox.take("match_start")
    taken_over = world.ann.outbox
    welcome = world.ann.connect(max_open_asks=slots)
    assert taken_over.verdict.reason == "TAKEN_OVER"
    assert list(welcome.matches) == starts
    assert list(map(without_clock, welcome.open_asks)) == list(map(without_clock, sent))
    assert [number >> 20 for number in welcome.later_asks] == [4, 5]
    assert welcome.epoch == 2


def restarted(world, **hello):
    """The arena was killed: new sessions, and the matches from their beginnings."""
    again = World(connected=False)
    again.bots[0] = Bot(again, "ann", connected=False)
    again.ann.session.expect_back()
    for number in range(len(world.tables)):
        again.begin(seed=str(number + 1))
    return again, again.ann.connect(**hello)


@pytest.mark.parametrize("slots", [1, 2, 3], ids=lambda slots: f"S12 {slots} slots")
def test_after_a_kill_with_fewer_slots_than_asks_none_is_left_out(slots):
    world = World(max_open_asks=3)
    for seed in "123":
        world.begin(seed=seed)
    before = {ask.ask_id: without_clock(ask) for ask in world.ann.outbox.take_asks()}
    again, welcome = restarted(world, max_open_asks=slots)
    listed = [ask.ask_id for ask in welcome.open_asks]
    assert len(listed) == slots
    assert sorted([*listed, *welcome.later_asks]) == sorted(before)
    seen = list(welcome.open_asks)
    for ask in seen:
        again.ann.answer(Answer(ask_id=ask.ask_id, index=0))
        seen += [each for each in again.ann.outbox.take_asks() if each.decision == 1]
    assert {ask.ask_id: without_clock(ask) for ask in seen} == before
    assert all(ledger.decisions[0].fault is None for ledger in again.ledgers)


def test_s13_ends_are_repeated_until_an_answer_to_a_later_ask():
    world = World()
    world.begin(seed="1").abort()
    end = world.ann.outbox.only("match_end")
    for _ in range(2):
        welcome = world.ann.connect()
        assert [start.match for start in welcome.matches] == [1]
        assert world.ann.outbox.only("match_end") == end
    world.begin(seed="2")
    world.ann.answer(Answer(ask_id=asked(world, 2).ask_id, index=0))
    assert [start.match for start in world.ann.connect().matches] == [2]
    assert world.ann.outbox.take("match_end") == []


@pytest.mark.parametrize(
    "hello",
    [{"games": []}, {"max_matches": 1}, {"max_open_asks": 1}],
    ids=["S14 no games", "S14 fewer matches", "S14 fewer asks"],
)
def test_matches_in_play_go_on_whatever_the_next_hello_says(hello):
    both = {"games": [Support(game="abstrac")], "max_matches": 2, "max_open_asks": 2}
    world = World(**both)
    world.begin(seed="1")
    world.begin(seed="2")
    welcome = world.ann.connect(**{**both, **hello})
    assert len(welcome.open_asks) == 2, "those that are open stay open"
    for ask in welcome.open_asks:
        world.ann.answer(Answer(ask_id=ask.ask_id, index=0))
    world.play_out()
    assert [table.outcome.ending for table in world.tables] == [Ending.COMPLETED] * 2


# fmt: off
DECLARED = [
    # declared                                                  refused as                    why
    (Support(game="abstrac"),                                   None,                         "any version and seats"),
    (Support(game="abstrac", rules_version=1, seats=[2]),       None,                         "as it is played here"),
    (Support(game="abstrac", seats=[2, 9]),                     None,                         "one possible number of seats"),
    (Support(game="bridge"),                                    "UNKNOWN_GAME",               "no such game"),
    (Support(game="abstrac", rules_version=7),                  "OTHER_RULES",                "another version of the rules"),
    (Support(game="abstrac", seats=[9]),                        "BAD_SEATS",                  "no possible number of seats"),
]
# fmt: on


@pytest.mark.parametrize(("declared", "refused", "why"), DECLARED, ids=[r[-1] for r in DECLARED])
def test_welcome_says_which_games_were_taken(declared, refused, why):
    world = World(connected=False)
    other = Support(game="democracy")
    first, second = world.ann.connect(games=[declared, other]).games
    name = play_pb2.GameRefusal.Name(first.refusal).removeprefix("GAME_REFUSAL_")
    assert (first.game, name) == (declared.game, refused or "UNSPECIFIED")
    assert bool(first.text) is bool(refused)
    assert first.rules_version == (0 if refused == "UNKNOWN_GAME" else 1)
    assert (second.game, second.refusal) == ("democracy", 0)
    assert (declared.game in world.ann.session.declared.games) is (refused is None)
    plays = world.ann.session.plays
    assert plays("abstrac", 1, 2) is (refused is None)
    assert plays("democracy", 1, 2)


def test_hello_and_welcome_name_contract_and_capabilities():
    world = World(connected=False)
    redirect = play_pb2.Capability.CAPABILITY_REDIRECT
    welcome = world.ann.connect(contract=7, capabilities=[redirect, 99])
    assert (welcome.contract, list(welcome.capabilities)) == (1, [redirect])


# S15: clocks.

# fmt: off
CONTROLS = [
    # control                                                   told (ms)    why
    (TimeControl(move_ms=1000, bank_ms=0),                      (1000, 0),     "S15 zero is no bank"),
    (TimeControl(move_ms=1000, bank_ms=5000),                   (1000, 5000),  "S15 move and bank"),
    (TimeControl(move_ms=1000, bank_ms=5000, match_ms=2000),    (1000, 1000),  "S15 cut by the match's limit"),
    (TimeControl(move_ms=1000, bank_ms=5000, hand_ms=400),      (400, 0),      "S15 cut by the hand's limit"),
]
# fmt: on


@pytest.mark.parametrize("late", [False, True], ids=["in time", "too late"])
@pytest.mark.parametrize(("control", "told", "why"), CONTROLS, ids=[r[-1] for r in CONTROLS])
def test_the_time_in_an_ask_is_the_time_to_answer(control, told, why, late):
    world = World(connected=False)
    grace_ms = world.ann.connect().limits.grace_ms
    assert grace_ms == GRACE_S * 1000
    world.begin(control=control)
    ask = asked(world)
    assert (ask.clock.move_ms, ask.clock.bank_ms) == told
    world.now_s += (sum(told) + grace_ms + (1 if late else -1)) / 1000
    world.ann.answer(Answer(ask_id=ask.ask_id, index=0))
    assert world.ledgers[0].decisions[0].fault is (FaultKind.TIMEOUT if late else None)


def test_s15_the_increment_is_there_next_time():
    world = World()
    world.begin(control=TimeControl(move_ms=1000, bank_ms=100, increment_ms=30))
    world.ann.answer(Answer(ask_id=asked(world).ask_id, index=0))
    for ask in world.bob.outbox.take_asks():
        world.bob.answer(Answer(ask_id=ask.ask_id, index=0))
    assert asked(world).clock.bank_ms == 130


def test_match_start_names_the_match_and_an_ask_its_decision():
    world = World()
    table = world.begin()
    start = world.ann.outbox.only("match_start")
    assert start.match_id == table.spec.match_id
    assert (start.terms.fault_limit, start.terms.away_limit_ms) == (10, 60_000)
    decisions = []
    while table.outcome is None:
        for bot in world.bots:
            for ask in bot.outbox.take_asks():
                if bot is world.ann:
                    decisions.append(ask.decision)
                bot.answer(Answer(ask_id=ask.ask_id, index=0))
    assert decisions == list(range(1, len(decisions) + 1))
    assert world.ann.outbox.only("match_end").replay_id == start.match_id


# S16: deals.


async def _nothing(bot, message):
    pass


async def _zeros(bot, message):
    bot.commit(message.deal_open.context, bytes(32))


async def _five_bytes(bot, message):
    bot.commit(message.deal_open.context, b"short")


async def _other_entropy(bot, message):
    bot.reveal(message.deal_transcript.context, b"x" * 32)


async def _for_another(bot, message):
    """Says under the other bot's context what it should under its own."""
    cat = bot.world.bots[BotId("cat")]
    bot.commit(cat.told[0].deal_open.context, bytes(32))
    await bot.answer(message)


async def _opens_for_another(bot, message):
    cat = bot.world.bots[BotId("cat")]
    bot.reveal(cat.told[0].deal_open.context, bytes(32))
    await bot.answer(message)


async def _twice(bot, message):
    await bot.answer(message)
    await bot.answer(message)


async def _unknown(bot, message):
    bot.commit(b"?" * 32, bytes(32))
    await bot.answer(message)


def _cut(bot_acts):
    async def act(bot, message):
        if bot_acts == "after":
            await bot.answer(message)
        bot.go()
        await trio.sleep(1)
        bot.come()

    return act


OPEN, SHOWN, CLOSE = "deal_open", "deal_transcript", "deal_close"
# fmt: off
DEALS = [
    # what it does                  adds   refused                told                                why
    ({},                            True,  [],                    [OPEN, SHOWN, CLOSE],               "S16 an honest bot"),
    ({OPEN: _nothing},              False, [],                    [OPEN, SHOWN, CLOSE],               "S16 no commitment: shown all the same"),
    ({OPEN: _zeros},                False, [],                    [OPEN, SHOWN, CLOSE],               "S16 zeros: shown all the same"),
    ({OPEN: _five_bytes},           False, ["MALFORMED"],         [OPEN, SHOWN, CLOSE],               "S16 five bytes"),
    ({OPEN: _unknown},              True,  ["UNKNOWN_DEAL"],      [OPEN, SHOWN, CLOSE],               "S16 an unknown context"),
    ({OPEN: _for_another},          True,  ["UNKNOWN_DEAL"],      [OPEN, SHOWN, CLOSE],               "S16 another bot's context"),
    ({SHOWN: _opens_for_another},   True,  ["UNKNOWN_DEAL"],      [OPEN, SHOWN, CLOSE],               "S16 an opening under another bot's context"),
    ({OPEN: _twice},                True,  [],                    [OPEN, SHOWN, CLOSE],               "S16 the same twice"),
    ({SHOWN: _other_entropy},       False, ["MALFORMED"],         [OPEN, SHOWN, CLOSE, CLOSE],        "S16 other entropy makes it void"),
    ({OPEN: _cut("before")},        True,  [],                    [OPEN, OPEN, SHOWN, CLOSE],         "S16 cut before the commitment"),
    ({OPEN: _cut("after")},         True,  [],                    [OPEN, OPEN, SHOWN, CLOSE],         "S16 cut after the commitment"),
    ({SHOWN: _cut("before")},       True,  [],                    [OPEN, SHOWN, OPEN, SHOWN, CLOSE],  "S16 cut before the opening"),
]
# fmt: on


@pytest.mark.parametrize(
    ("acts", "adds", "refused", "told", "why"), DEALS, ids=[r[-1] for r in DEALS]
)
def test_a_bot_in_a_deal(tmp_path, monkeypatch, acts, adds, refused, told, why):
    async def main(world):
        world.add("cat", acts={OPEN: _slowly})
        bot = world.add("ann", acts=dict(acts))
        fixed = await world.deals.fix(order_of("ann", "cat"))
        await world.deals.close(fixed.context)
        await trio.sleep(5)
        assert (bot.kinds(), bot.refused) == (told, refused)
        assert bot.brain.lies == []
        (own,) = (
            entropy
            for each, entropy in zip(
                fixed.fair_deal.participants, fixed.opening.entropies, strict=True
            )
            if each.bot == "ann"
        )
        assert bool(own) is adds
        opened = [each.deal_open for each in bot.told if each.HasField(OPEN)]
        others = {each.SerializeToString() for each in world.bots[BotId("cat")].told}
        assert not others.intersection(each.SerializeToString() for each in bot.told)
        for again in opened[1:]:
            assert again.participant == opened[0].participant
            assert again.server_commitment == opened[0].server_commitment

    in_world(tmp_path, monkeypatch, main)


async def _slowly(bot, message):
    await trio.sleep(3)
    await bot.answer(message)


def test_s16_a_bot_that_reconnects_receives_its_commitment(tmp_path, monkeypatch):
    async def main(world):
        world.add("cat", acts={OPEN: _slowly})
        bot = world.add("ann", acts={OPEN: _cut("after")})
        await world.deals.fix(order_of("ann", "cat"))
        first, second = (each.deal_open for each in bot.told if each.HasField(OPEN))
        (deal,) = bot.brain._deals.values()
        assert (first.commitment, first.deadline_ms) == (b"", 5000)
        assert (second.commitment, second.deadline_ms) == (deal.commitment, 0)

    in_world(tmp_path, monkeypatch, main)


def close_of(context):
    return play_pb2.ArenaMessage(deal_close=play_pb2.DealClose(context=context))


def test_s16_deal_close_is_repeated_until_it_was_received():
    world = World(adds_entropy=True)
    heard, missed = close_of(b"1" * 32), close_of(b"2" * 32)
    world.ann.session.send_until_received(b"1" * 32, heard)
    assert world.ann.outbox.only("deal_close") == heard.deal_close
    world.ann.session.detach(world.ann.outbox)
    world.ann.session.send_until_received(b"2" * 32, missed)
    world.ann.connect(adds_entropy=True)
    assert world.ann.outbox.take("deal_close") == [heard.deal_close, missed.deal_close]
    world.begin()
    world.ann.answer(Answer(ask_id=asked(world).ask_id, index=0))
    world.ann.connect(adds_entropy=True)
    assert world.ann.outbox.take("deal_close") == []


def test_s16_a_bot_without_adds_entropy_receives_no_deal_messages():
    world = World()
    world.ann.session.send_until_received(b"1" * 32, close_of(b"1" * 32))
    world.ann.connect(adds_entropy=False)
    assert world.ann.outbox.take("deal_close") == []


@pytest.mark.parametrize("body", ["deal_commit", "deal_reveal"], ids=lambda body: f"S16 {body}")
def test_a_refusal_names_the_deal_that_it_concerns(body):
    world = World()
    kind = {"deal_commit": play_pb2.DealCommit, "deal_reveal": play_pb2.DealReveal}[body]
    world.ann.say(**{body: kind(context=b"c" * 60_000)})
    refusal = world.ann.outbox.only("refusal")
    assert (refusal.ask_id, refusal.deal_context) == (0, b"c" * 32)


# S17: a drain.


def test_s17_while_an_arena_drains(tmp_path, monkeypatch):
    ann, bob, eve = BotId("ann"), BotId("bob"), BotId("eve")
    order = match_order("abstrac", (ann, bob), {"hands": 2}, seed="1", match_id="m")

    def kinds(line):
        return [
            play_pb2.ArenaMessage.FromString(each).WhichOneof("body") for each in line.take_frames()
        ]

    async def main():
        async with arena_in(tmp_path) as (arena, _):
            lines = {bot: says_hello(arena, bot) for bot in (ann, bob, eve)}
            arena.matches.order(order, "m", BY_HAND)
            await wait_all_tasks_blocked()
            arena.drain(60.0)
            assert all(kinds(line)[-1] == "drain" for line in lines.values())
            assert kinds(says_hello(arena, ann)) == ["welcome", "drain"], "its match is in play"
            for bot in (eve, BotId("new")):
                with pytest.raises(Refused) as refused:
                    says_hello(arena, bot)
                assert refused.value.reason == "DRAINING"
            arena.close_streams()
            assert lines[eve].closed
            assert lines[eve].verdict is None, "who sits at no match ends with OK"
            assert lines[bob].verdict.reason == "SUSPENDED"

    with quick_disk(monkeypatch):
        run(main)


# S18: lists and texts.


@pytest.mark.parametrize("game", GAMES, ids=lambda game: f"S18 {game.id}")
def test_an_ask_offers_moves_with_as_many_texts(game):
    sitting = Sitting()
    sitting.wild.connect(want_text=True, max_open_asks=2)
    sitting.begin(game.id)
    sitting.others_play()
    asks = 0
    while frames := sitting.wild.outbox.take_frames():
        for frame in frames:
            assert len(frame) <= MAX_FRAME_BYTES
            for ask in play_pb2.ArenaMessage.FromString(frame).asks.asks:
                asks += 1
                own = getattr(ask, ask.WhichOneof("game"))
                assert own.moves
                assert len(ask.move_texts) == len(own.moves)
                assert len(ask.event_texts) == len(own.events)
                assert ask.decision >= asks
                index = asks % len(own.moves)
                sitting.wild.answer(Answer(ask_id=ask.ask_id, index=index))
        sitting.others_play()
    assert asks
    assert all(table.outcome is not None for table in sitting.tables)
