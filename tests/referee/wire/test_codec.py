"""The codec of every game: what it writes, what it reads, and what it refuses to read."""

import importlib
import random
from dataclasses import replace

import pytest
from google.protobuf.message import Message

from arena.games.abstrac import messages
from arena.games.abstrac import rules as abstrac
from arena.games.abstrac.messages import Choose, Order, Take
from arena.games.catalogue import GAMES, game_by_id
from arena.games.contract import MAX_OFFERED, Listed
from arena.referee.wire import codec, fields
from arena.referee.wire.codec import Malformed
from arena.referee.wire.games import codec_of
from arena.referee.wire.shape import Mismatch
from cardarena.games.v1 import abstrac_pb2, chinese_poker_pb2, democracy_pb2
from cardarena.v1 import game_pb2, play_pb2
from tests.referee.wire.slowly import fill, flat
from tests.walks import EVERY_SITTING, Walk

ABSTRAC = codec_of(game_by_id("abstrac"))


def messages_of(game) -> Message:
    return importlib.import_module(f"cardarena.games.v1.{game.family}_pb2")


@EVERY_SITTING
def test_moves_and_events_survive_the_wire(game, seats):
    wire, messages = codec_of(game), messages_of(game)
    walk = Walk(game, seats, seed=1)
    for move in walk.moves():
        message = game_pb2.GameMove.FromString(wire.game_move(move))
        assert wire.read_move(message) == move
        assert getattr(message, game.family) == flat(messages, game.family, "Move", move)
    for event in walk.events():
        message = game_pb2.GameEvent.FromString(wire.game_event(event))
        assert wire.read_event(getattr(message, game.family)) == event
        assert getattr(message, game.family) == flat(messages, game.family, "Event", event)


@EVERY_SITTING
def test_an_ask_is_the_message_that_protobuf_would_build(game, seats):
    wire, messages, rules = codec_of(game), messages_of(game), game.rules
    told = []
    for turn in Walk(game, seats, seed=2):
        told += [event for event, _ in turn.events]
        state = turn.after
        for seat in rules.to_act(state):
            moves, view = rules.moves(state, seat), rules.view(state, seat)
            body = wire.ask(view, [wire.event(event) for event in told], moves)
            expected = play_pb2.Ask()
            ask = getattr(expected, game.family)
            ask.SetInParent()
            fill(ask.view, view)
            ask.events.extend(flat(messages, game.family, "Event", event) for event in told)
            ask.moves.extend(flat(messages, game.family, "Move", move) for move in moves.offered)
            ask.moves_complete = moves.complete
            assert play_pb2.Ask.FromString(body) == expected
            assert wire.view(view) == ask.view.SerializeToString()
        told = told[-3:]  # as if told with different asks, but never none


@pytest.mark.parametrize("game", GAMES, ids=[game.id for game in GAMES])
def test_a_family_has_one_number_everywhere(game):
    for message in (game_pb2.GameMove, game_pb2.GameEvent, game_pb2.GameView, play_pb2.Ask):
        assert message.DESCRIPTOR.fields_by_name[game.family].number == game.number


def test_numbers_that_differ_are_found_at_the_start(monkeypatch):
    from arena.referee.wire import games

    changed = [replace(game, number=99) if game.family == "jam" else game for game in GAMES]
    monkeypatch.setattr(games, "GAMES", changed)
    with pytest.raises(Mismatch, match="GameMove has other games, or numbers, for: jam"):
        games._codecs()


# Reading.

Move, Verb = abstrac_pb2.AbstracMove, abstrac_pb2.AbstracVerb


def abstrac_move(**fields):
    return game_pb2.GameMove(abstrac=Move(**fields))


TAKE, CHOOSE = Verb.ABSTRAC_VERB_TAKE, Verb.ABSTRAC_VERB_CHOOSE
FIRST = abstrac_pb2.AbstracOrder.ABSTRAC_ORDER_FIRST
IN_DEMOCRACY = game_pb2.GameMove(democracy=democracy_pb2.DemocracyMove(verb=1, card="As"))

# fmt: off
MALFORMED = [
    (game_pb2.GameMove(),                     "no move of a known game",   "nothing is set"),
    (IN_DEMOCRACY,                            "is of democracy",           "another game's move"),
    (abstrac_move(),                          "no verb",                   "the verb is not set"),
    (abstrac_move(verb=77),                   "no verb",                   "a verb nobody knows"),
    (abstrac_move(verb=TAKE, count=1, order=FIRST), "field order",         "a field of another verb"),
    (abstrac_move(verb=CHOOSE, order=FIRST, count=2), "field count",       "the other way round"),
    (abstrac_move(verb=CHOOSE),               "order is not set",          "an enum is not set"),
    (abstrac_move(verb=CHOOSE, order=9),      "order is not set",          "an enum nobody knows"),
]
# fmt: on


@pytest.mark.parametrize(("message", "text", "why"), MALFORMED, ids=[row[-1] for row in MALFORMED])
def test_a_message_that_says_no_move_is_malformed(message, text, why):
    with pytest.raises(Malformed, match=text):
        ABSTRAC.read_move(message)


def test_the_text_of_a_malformed_move_names_the_verb_as_the_proto_does():
    poker = codec_of(game_by_id("chinese_poker"))
    verb = chinese_poker_pb2.ChinesePokerVerb.CHINESE_POKER_VERB_DECLARE_NATURAL
    move = chinese_poker_pb2.ChinesePokerMove(verb=verb, front=["As"])
    with pytest.raises(Malformed, match=r"^declare natural does not use the field front$"):
        poker.read_move(game_pb2.GameMove(chinese_poker=move))


# fmt: off
ODD = [
    (abstrac_move(verb=TAKE),                    Take(0),          "zero is a number like others"),
    (abstrac_move(verb=TAKE, count=2**32 - 1),   Take(2**32 - 1),  "the largest number"),
    (game_pb2.GameMove.FromString(b"\x82\x01\x07\x08\x02\x18\x03\x98\x06\x01"),
                                                 Take(3),          "a field of a later version"),
]
# fmt: on


@pytest.mark.parametrize(("message", "move", "why"), ODD, ids=[row[-1] for row in ODD])
def test_an_odd_message_is_still_a_move(message, move, why):
    """Whether it is legal is for the rules to say."""
    assert ABSTRAC.read_move(message) == move


def test_any_text_can_stand_for_a_card():
    democratic = codec_of(game_by_id("democracy"))
    for text in ("", "zz", "A" * 5000, "\x00", "♠"):
        message = democracy_pb2.DemocracyMove(verb=1, card=text)
        assert democratic.read_move(game_pb2.GameMove(democracy=message)).card == text


# The cache of moves.


def view_and_state():
    state = abstrac.start(abstrac.Options(), 2, Walk(game_by_id("abstrac"), 2, 1).deals).state
    return abstrac.view(state, None)


def asked(wire, moves):
    body = wire.ask(view_and_state(), [], moves)
    return play_pb2.Ask.FromString(body).abstrac.moves


def test_the_cache_never_mixes_moves(monkeypatch):
    """Moves made anew and dropped get each other's addresses; the cache is full now and then."""
    monkeypatch.setattr(codec, "_CACHED_MOVES", 20)
    wire = codec.Codec("abstrac", 16, messages)
    chance = random.Random(1)
    for _ in range(2_000):
        counts = [chance.randrange(60) for _ in range(chance.randrange(1, 9))]
        offered = Listed(tuple(Take(count) for count in counts))
        assert [message.count for message in asked(wire, offered)] == counts
        if chance.random() < 0.1:
            order = chance.choice(list(Order))
            message = game_pb2.GameMove.FromString(wire.game_move(Choose(order)))
            assert wire.read_move(message) == Choose(order)
        assert len(wire._kept) <= 20


def test_equal_moves_of_different_objects_are_written_alike():
    one, other = Take(5), Take(5)
    assert one is not other
    assert ABSTRAC.game_move(one) == ABSTRAC.game_move(other)


# fmt: off
LENGTHS = [
    (1,               1,            True,   "a single move"),
    (MAX_OFFERED,     MAX_OFFERED,  True,   "as many as are ever listed"),
    (MAX_OFFERED + 1, MAX_OFFERED,  False,  "one more than is listed"),
    (5_000,           MAX_OFFERED,  False,  "far more"),
]
# fmt: on


@pytest.mark.parametrize(
    ("count", "offered", "complete", "why"), LENGTHS, ids=[row[-1] for row in LENGTHS]
)
def test_a_long_list_is_cut_and_says_so(count, offered, complete, why):
    moves = Listed(tuple(Take(number) for number in range(count)))
    assert moves.count() == count
    ask = play_pb2.Ask.FromString(ABSTRAC.ask(view_and_state(), [], moves)).abstrac
    assert [move.count for move in ask.moves] == list(range(offered))
    assert ask.moves_complete is complete
    assert Take(count - 1) in moves


# Frames.


def element(ask_id, *, move_ms=1, bank_ms=0, increment_ms=0, round_trip_ms=0, body=b""):
    match = fields.match_field(7)
    return fields.ask_element(ask_id, 5, match, move_ms, bank_ms, increment_ms, round_trip_ms, body)


CLOCKS = [(1, 0, 0, 0), (10_000, 60_000, 500, 123), (0, 0, 0, 1), (86_400_000,) * 4]


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_frame_of_asks_is_an_arena_message(clock):
    move_ms, bank_ms, increment_ms, round_trip_ms = clock
    body = fields.seat_field(3) + ABSTRAC.ask(view_and_state(), [], messages.CHOICES)
    given = [fields.ask_element(n, n + 1, fields.match_field(7), *clock, body) for n in (1, 300)]
    message = play_pb2.ArenaMessage.FromString(fields.asks_frame(given))
    expected = play_pb2.Ask.FromString(body)
    expected.match = 7
    expected.clock.CopyFrom(
        play_pb2.Clock(
            move_ms=move_ms,
            bank_ms=bank_ms,
            increment_ms=increment_ms,
            last_round_trip_ms=round_trip_ms,
        )
    )
    for ask, ask_id in zip(message.asks.asks, (1, 300), strict=True):
        expected.ask_id, expected.decision = ask_id, ask_id + 1
        assert ask == expected
        assert ask.seat == 3


def test_a_welcome_lists_the_same_asks():
    given = [element(1), element(2, bank_ms=70_000)]
    listed = b"".join(fields.as_open_ask(each) for each in given)
    welcome = play_pb2.Welcome(epoch=4).SerializeToString() + listed
    message = play_pb2.ArenaMessage.FromString(fields.welcome_frame(welcome))
    frame = play_pb2.ArenaMessage.FromString(fields.asks_frame(given))
    assert message.welcome.epoch == 4
    assert list(message.welcome.open_asks) == list(frame.asks.asks)


def test_notation_travels_in_order():
    encoded = fields.ask_texts(["take 1", "take 2"], ["dealt ♠"])
    ask = play_pb2.Ask.FromString(encoded)
    assert (list(ask.move_texts), list(ask.event_texts)) == (["take 1", "take 2"], ["dealt ♠"])
