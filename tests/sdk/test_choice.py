"""What an author may return from `move`, and what becomes of it."""

import pytest

import cardarena
from cardarena import _choice, _games, democracy
from cardarena._ask import Ask
from cardarena._raised import Raised
from cardarena.v1.game_pb2 import GameMove
from cardarena.v1.play_pb2 import Answer, GameSupport
from tests.sdk.messages import ask, start, take


class Indexlike:
    """As numpy's integers are."""

    def __index__(self):
        return 2


@pytest.fixture
def asked():
    return Ask(ask(5, moves=3, complete=False), start(1), "abstrac", before=None, now_s=lambda: 0.0)


# fmt: off
CHOICES = [
    # what the author returns                      the answer                                                     why
    (lambda a: a.moves[1],                         Answer(ask_id=5, index=1),                                     "one of the offered moves"),
    (lambda a: take(2),                            Answer(ask_id=5, index=1),                                     "a move that equals an offered one"),
    (lambda a: 2,                                  Answer(ask_id=5, index=2),                                     "an index"),
    (lambda a: Indexlike(),                        Answer(ask_id=5, index=2),                                     "a number of another library"),
    (lambda a: take(9),                            Answer(ask_id=5, move=GameMove(abstrac=take(9))),              "a move that was not offered"),
    (lambda a: cardarena.Noted(a.moves[0], "hm"),  Answer(ask_id=5, index=0, note="hm"),                          "a move with a note"),
    (lambda a: cardarena.Noted(0, "x\ud83d"),      Answer(ask_id=5, index=0, note="x?"),                          "half an emoji in the note, which UTF-8 cannot have"),
    (lambda a: cardarena.Noted(take(9), "hm"),     Answer(ask_id=5, move=GameMove(abstrac=take(9)), note="hm"),   "a typed move with a note"),
]

MISTAKES = [
    (lambda a: None,                                     TypeError,  "None is not a choice: return one of ask.moves",                            "nothing"),
    (lambda a: "take 3",                                 TypeError,  "'take 3' is not a choice",                                                 "a text"),
    (lambda a: True,                                     TypeError,  "True is not a choice",                                                     "a truth value"),
    (lambda a: 3,                                        IndexError, "there is no move 3: 3 are offered, from 0",                                "an index past the list"),
    (lambda a: -1,                                       IndexError, "there is no move -1",                                                      "an index from the end"),
    (lambda a: democracy.Move(card="Ks"),                TypeError,  "DemocracyMove is not a move of abstrac, whose moves are AbstracMove",      "another game's move"),
    (lambda a: cardarena.Noted(democracy.Move(), "hm"),  TypeError,  "DemocracyMove is not a move of abstrac",                                   "another game's move with a note"),
    (lambda a: a.view,                                   TypeError,  "AbstracView is not a move of abstrac",                                     "a message that is no move"),
]
# fmt: on


@pytest.mark.parametrize(("choose", "answer", "why"), CHOICES, ids=[row[2] for row in CHOICES])
def test_a_choice_becomes_an_answer(asked, choose, answer, why):
    assert _choice.answer(asked, choose(asked)) == answer


def test_an_exception_with_half_an_emoji_is_a_note_all_the_same(asked):
    raised = Raised.of(ValueError("x\ud83d"), test_a_choice_becomes_an_answer)
    assert _choice.failure(asked, raised).note.endswith("ValueError: x?")


@pytest.mark.parametrize(
    ("choose", "error", "sentence", "why"), MISTAKES, ids=[row[3] for row in MISTAKES]
)
def test_a_mistake_is_named(asked, choose, error, sentence, why):
    with pytest.raises(error) as raised:
        _choice.answer(asked, choose(asked))
    assert str(raised.value).startswith(sentence)


def test_an_ask_gives_typed_values(asked):
    assert (asked.game, asked.seat, asked.options) == ("abstrac", 0, {"hands": 4})
    assert list(asked.view.row) == ["As", "Kd", "2c"]
    assert [move.count for move in asked.moves] == [1, 2, 3]
    assert asked.moves[0] is asked.moves[0]


def test_a_bot_without_games_plays_all_that_the_sdk_knows():
    assert [entry.game for entry in _games.supported(())] == list(cardarena.GAMES)


def test_a_bot_may_say_more_of_a_game():
    entry = GameSupport(game="democracy", seats=[3, 4])
    assert _games.supported(["abstrac", entry]) == [GameSupport(game="abstrac"), entry]


def test_a_game_that_the_sdk_does_not_know_is_refused_with_a_hint():
    with pytest.raises(cardarena.Refused, match=r"no game 'abstract': did you mean 'abstrac'\?"):
        _games.supported(["abstract"])


def test_every_game_of_the_wire_is_in_the_table():
    wire = {field.name for field in GameMove.DESCRIPTOR.oneofs_by_name["game"].fields}
    assert set(_games.FAMILIES) == wire
    assert [family for family in wire if not hasattr(cardarena, family)] == [], "see __init__"
