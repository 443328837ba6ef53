"""Open-Face Chinese Poker: Fantasyland, what is hidden in it, and random play."""

import random

import pytest

from arena.cards import PACK_52, parse_cards
from arena.games import open_face_chinese_poker as open_face
from arena.games.contract import Seat
from arena.games.open_face_chinese_poker import Options, rules
from arena.games.open_face_chinese_poker.scoring import reaches_fantasyland, score_rows
from arena.games.open_face_chinese_poker.state import Match
from arena.games.open_face_chinese_poker.words import Phase, Place
from arena.testing.deals import Seeded

DEALS = Seeded("open face")

# fmt: off
ROWS = [
    # front     middle        back          there  next   why
    ("QsQd2c", "KsKh9d4c3h", "9s8h7d6c5h", False, True,  "queens in front reach Fantasyland"),
    ("QsQd2c", "KsKh9d4c3h", "9s8h7d6c5h", True,  False, "queens in front do not stay there (O8)"),
    ("2s2d2c", "KsKhKd4c3h", "9s8h7d6c5h", True,  True,  "three of a kind in front stay"),
    ("6s5d2c", "KsKhKd4c4h", "9s9h9d9c5h", True,  True,  "four of a kind in the back stay"),
    ("6s5d2c", "KsKhKd4c4h", "AsAhAd5c5s", True,  True,  "a full house in the middle stays"),
    ("6s5d2c", "KsKh9d4c4h", "AsAhAd5c5s", True,  False, "a full house in the back alone does not"),
    ("AsAdAc", "KsKh9d4c3h", "9s8h7d6c5h", False, False, "a foul reaches nothing (O7)"),
]
# fmt: on


@pytest.mark.parametrize(
    ("front", "middle", "back", "there", "expected", "why"), ROWS, ids=[row[-1] for row in ROWS]
)
def test_fantasyland(front, middle, back, there, expected, why):
    scoring = score_rows(*map(parse_cards, (front, middle, back)))
    assert reaches_fantasyland(scoring, in_fantasyland=there) is expected


def hand_with(*fantasyland):
    seats = tuple(Seat(seat) for seat in range(len(fantasyland)))
    match = Match(seats, 8, 0, Seat(0), fantasyland, (), (0,) * len(seats))
    return rules.deal_hand(match, DEALS)


def test_fantasyland_sets_first_and_nobody_is_told():
    state, _ = hand_with(False, True)
    assert (state.phase, open_face.to_act(state)) == (Phase.FANTASYLAND, (1,))
    setting = open_face.moves(state, Seat(1)).offered[0]
    before = open_face.view(state, Seat(0)).layouts
    state, told = open_face.step(state, ((Seat(1), setting),), DEALS)
    assert told == ()
    assert open_face.view(state, Seat(0)).layouts == before
    assert open_face.view(state, Seat(1)).own_setting is not None
    assert open_face.to_act(state) == (0,)


def test_the_cards_of_fantasyland_come_after_the_first_five_of_all():
    state, _ = hand_with(True, False, True)
    deck = DEALS.shuffle(0, "deck", PACK_52)
    # Seat 1 is left of the dealer; seats 2 and 0 get eight more in turn.
    assert state.hand.dealt[1] == deck[0:15:3]
    assert state.hand.dealt[2] == deck[1:15:3] + deck[15:31:2]
    assert state.hand.dealt[0] == deck[2:15:3] + deck[16:31:2]


def test_in_fantasyland_all_thirteen_cards_are_set_in_full_rows():
    state, _ = hand_with(True, False)
    moves = open_face.moves(state, Seat(0))
    whole = moves.offered[0]
    (strange, *_) = set(PACK_52) - {*whole.front, *whole.middle, *whole.back}
    assert whole in moves
    assert Place((*whole.front[:2], strange), whole.middle, whole.back) not in moves
    assert Place(whole.front[:2], (*whole.middle, whole.front[2]), whole.back) not in moves
    assert whole.front not in moves


def test_a_hand_of_fantasyland_alone_is_scored_at_once():
    state, _ = hand_with(True, True)
    chosen = tuple((seat, open_face.fallback(state, seat)) for seat in (Seat(0), Seat(1)))
    after, told = open_face.step(state, chosen, DEALS)
    kinds = [type(event).__name__ for event, _ in told]
    assert kinds[:3] == ["Revealed", "Revealed", "Scored"]
    assert len(after.match.hand_scores) == 1


def test_the_first_five_cards_have_232_placements():
    state, _ = hand_with(False, False)
    assert open_face.moves(state, Seat(1)).count() == 232


def test_the_order_of_cards_in_a_row_means_nothing():
    assert Place(("2c", "Ks"), (), ()) == Place(("Ks", "2c"), (), ())


@pytest.mark.parametrize("seats", rules.SEATS)
def test_random_play_ends_and_adds_up_to_nothing(seats):
    draw = random.Random(seats)
    state, _ = open_face.start(Options(hands=seats), seats, DEALS)
    decisions = 0
    while acting := open_face.to_act(state):
        for seat in acting:
            assert open_face.fallback(state, seat) in open_face.moves(state, seat)
        chosen = tuple(
            (seat, open_face.moves(state, seat).sample(draw.randrange)) for seat in acting
        )
        state, _ = open_face.step(state, chosen, DEALS)
        decisions += len(acting)
        hand = state.hand
        held = [card for cards in (*hand.dealt, hand.stock) for card in cards]
        for layout in (*hand.layouts, *(each for each in hand.settings if each)):
            held += [*layout.front, *layout.middle, *layout.back]
        assert sorted(held) == sorted(PACK_52)
    result = open_face.result(state)
    assert sum(result.scores) == 0
    # Nine decisions a seat and hand, but one in Fantasyland.
    assert decisions <= 9 * seats * len(result.hand_scores)
    assert len(result.hand_scores) <= rules.MOST_HANDS * seats
