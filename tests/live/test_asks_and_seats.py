"""The tables of a bot's asks and of its seats: what each call does in each state."""

from types import SimpleNamespace

import pytest

from arena.games.abstrac.messages import Take
from arena.games.catalogue import game_by_id
from arena.live.session.asks import REMEMBERED_ASKS, AskSender, AskState, AskTable, Seating
from arena.live.session.seats import REMEMBERED_ENDS, SeatTable
from arena.live.session.stream import CurrentStream
from arena.referee.seat import Said
from arena.referee.wire.games import codec_of
from cardarena.games.v1 import abstrac_pb2, democracy_pb2
from cardarena.v1 import game_pb2, play_pb2
from tests.doubles.asks import unsent_ask
from tests.referee.matches import spec_of

SPEC = spec_of("abstrac")


def seating_at(number):
    return Seating(
        SimpleNamespace(asks=AskSender(CurrentStream(), lambda: 0.0)),
        number,
        SPEC,
        0,
        ("ann", "bob"),
    )


SEATING = seating_at(1)
CODEC = codec_of(game_by_id("abstrac"))
SAID = Said(Take(3), 3)
OTHER = 4


def says(number=1, *, index=None, **move):
    """An answer by its index or by a typed move, or neither."""
    answer = play_pb2.Answer(ask_id=number, note="whatever")
    if index is not None:
        answer.index = index
    elif move:
        answer.move.CopyFrom(game_pb2.GameMove(**move))
    return answer


def takes(count):
    return abstrac_pb2.AbstracMove(verb=abstrac_pb2.ABSTRAC_VERB_TAKE, count=count)


def waiting(table, number=1):
    entry = table.add(SEATING, unsent_ask(number), number)
    table.wait(entry)
    return entry


def sent(table, number=1):
    entry = waiting(table, number)
    assert table.next_waiting() is entry
    table.sent(entry)
    return entry


def answered(table, number=1, said=SAID):
    entry = sent(table, number)
    table.settle(table.take_open(number))
    entry.answered(said, CODEC)
    return entry


def withdrawn(table, number=1):
    entry = sent(table, number)
    table.withdraw(entry.number)
    return entry


def remembered(table, number=1):
    table.remember(number, SAID, CODEC)


def unknown(table, number=1):
    return None


# fmt: off
ASKS = [
    # ask        listed  waits   taken   another answer is
    (unknown,    False,  False,  False,  False, "of an ask that never was nothing is known"),
    (waiting,    False,  True,   False,  False, "an ask that waits was never sent, and is passed over"),
    (sent,       True,   False,  True,   False, "an open ask is listed, and its answer goes to the match"),
    (answered,   False,  False,  False,  True,  "of an answered ask another answer is refused"),
    (withdrawn,  False,  False,  False,  False, "of a withdrawn ask any answer is passed over"),
    (remembered, False,  False,  False,  True,  "an ask that was answered before a restart is answered"),
]
# fmt: on


@pytest.mark.parametrize(
    ("state", "listed", "waits", "taken", "refused", "why"), ASKS, ids=[row[-1] for row in ASKS]
)
def test_an_ask_in_its_state(state, listed, waits, taken, refused, why):
    def table():
        made = AskTable()
        state(made)
        return made

    assert list(table().open_ids) == ([1] if listed else [])
    assert [entry.number for entry in table().open] == ([1] if listed else [])
    assert (table().only_open() is not None) is listed
    assert (table().next_waiting() is not None) is waits
    assert (table().take_open(1) is not None) is taken
    assert not table().contradicts(says(index=SAID.place))
    assert table().contradicts(says(index=OTHER)) is refused


# fmt: off
WITHDRAWN = [
    (unknown,   False, "nothing is known of it"),
    (waiting,   True,  "it is not sent any more"),
    (sent,      True,  "it is not listed any more"),
    (answered,  True,  "it stays answered"),
]
# fmt: on


@pytest.mark.parametrize(("state", "known", "why"), WITHDRAWN, ids=[row[-1] for row in WITHDRAWN])
def test_an_ask_that_is_withdrawn(state, known, why):
    table = AskTable()
    entry = state(table)
    table.withdraw(1)
    assert list(table.open_ids) == []
    assert table.next_waiting() is None
    assert table.contradicts(says(index=OTHER)) is (state is answered)
    if known:
        assert (entry.state, entry.ask, entry.seating) == (AskState.SETTLED, None, None)


def test_asks_wait_in_the_order_in_which_they_came():
    table = AskTable()
    entries = [waiting(table, number) for number in (7, 3, 5)]
    assert [table.next_waiting() for _ in entries] == entries
    assert table.next_waiting() is None
    assert not table.any_waiting


def test_an_ask_that_a_suspended_match_has_settled_is_not_sent():
    table = AskTable()
    first, second = waiting(table, 1), waiting(table, 2)
    first.ask.settled = True
    assert table.next_waiting() is second


def test_of_two_open_asks_none_is_the_only_one():
    table = AskTable()
    sent(table, 1)
    assert table.only_open().number == 1
    sent(table, 2)
    assert table.only_open() is None


LISTED, TYPED = Said(Take(3), 2), Said(Take(30), None)

# fmt: off
MEANINGS = [
    # said     another answer                         differs  why
    (LISTED,   says(index=2),                         False,   "the same index"),
    (LISTED,   says(abstrac=takes(3)),                False,   "the same move, typed"),
    (LISTED,   says(index=3),                         True,    "another index"),
    (LISTED,   says(abstrac=takes(4)),                True,    "another move, typed"),
    (LISTED,   says(),                                True,    "no choice at all"),
    (LISTED,   says(abstrac=abstrac_pb2.AbstracMove()), True,  "a move without a verb"),
    (LISTED,   says(democracy=democracy_pb2.DemocracyMove()), True, "a move of another game"),
    (TYPED,    says(abstrac=takes(30)),               False,   "a move that is not listed"),
    (TYPED,    says(index=0),                         True,    "a listed one after it"),
]
# fmt: on


@pytest.mark.parametrize(
    ("said", "answer", "differs", "why"), MEANINGS, ids=[row[-1] for row in MEANINGS]
)
def test_a_further_answer_is_compared_by_the_move_it_means(said, answer, differs, why):
    table = AskTable()
    answered(table, said=said)
    assert table.contradicts(answer) is differs


def test_waiting_asks_are_listed_in_order():
    table = AskTable()
    sent(table, 1)
    first, second, third = (waiting(table, number) for number in (4, 2, 3))
    second.ask.settled = True  # its match was suspended
    assert list(table.waiting) == [first, third]


def test_the_oldest_settled_ask_is_forgotten_and_no_open_one():
    table = AskTable()
    sent(table, 0)
    for number in range(1, REMEMBERED_ASKS + 1):
        answered(table, number)
    assert table.contradicts(says(1, index=OTHER))
    answered(table, REMEMBERED_ASKS + 1)
    assert not table.contradicts(says(1, index=OTHER))
    assert table.contradicts(says(2, index=OTHER))
    assert list(table.open_ids) == [0]


# Seats.


def playing(table, number=1):
    seating = seating_at(number)
    table.add(seating)
    return seating


def ended(table, number=1, open_asks=()):
    playing(table, number)
    table.ended(number, b"end %d" % number, frozenset(open_asks))


def heard(table, number=1):
    ended(table, number)
    table.ends.answered(99)


# fmt: off
SEATS = [
    # seat       plays   told again
    (unknown,    False,  False,  "a seat that never was"),
    (playing,    True,   False,  "a match that goes on"),
    (ended,      False,  True,   "an end that the bot may not have heard of"),
    (heard,      False,  False,  "an end that the bot has heard of is forgotten"),
]
# fmt: on


@pytest.mark.parametrize(("state", "plays", "told", "why"), SEATS, ids=[row[-1] for row in SEATS])
def test_a_seat_in_its_state(state, plays, told, why):
    table = SeatTable()
    state(table)
    assert [seating.number for seating in table] == ([1] if plays else [])
    assert table.playing == (1 if plays else 0)
    assert (table.get(1) is not None) is plays
    assert bool(table.ends.messages) is told
    ends = [end for _, end in table.ends.sent_again(frozenset())]
    assert ends == ([b"end 1"] if told else [])


# fmt: off
ANSWERS = [
    ((5,),   5, False, "to an ask that was open before: the bot may have answered it before it heard"),
    ((5,),   6, True,  "to a later ask: what was told before it was heard"),
    ((),     6, True,  "to an ask when none was open"),
    ((5, 6), 6, False, "to one of several that were open"),
]
# fmt: on


@pytest.mark.parametrize(
    ("open_asks", "answer", "is_heard", "why"), ANSWERS, ids=[row[-1] for row in ANSWERS]
)
def test_an_answer_acknowledges_an_end(open_asks, answer, is_heard, why):
    table = SeatTable()
    ended(table, open_asks=open_asks)
    table.ends.answered(answer)
    assert bool(table.ends.messages) is not is_heard


def test_an_end_that_is_sent_again_is_acknowledged_by_later_asks():
    table = SeatTable()
    ended(table, open_asks=())
    table.ends.sent_again(frozenset({7}))
    table.ends.answered(7)
    assert table.ends.messages
    table.ends.answered(8)
    assert not table.ends.messages


def test_an_answer_does_not_affect_matches_in_play():
    table = SeatTable()
    playing(table, 1)
    ended(table, 2)
    table.ends.answered(9)
    assert [seating.number for seating in table] == [1]
    assert table.playing == 1


def test_the_oldest_end_is_forgotten_when_many_more_have_come():
    table = SeatTable()
    playing(table, 0)
    for number in range(1, REMEMBERED_ENDS + 2):
        ended(table, number)
    told = [seating.number for seating, _ in table.ends.sent_again(frozenset())]
    assert told == list(range(2, REMEMBERED_ENDS + 2))
    assert table.playing == 1
