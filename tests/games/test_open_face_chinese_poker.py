"""Open-Face Chinese Poker: Fantasyland, what is hidden in it, and random play."""

import random

import pytest

from arena.games.cards import PACK_52, parse_cards
from arena.games.chinese.unit_values import unit_values as values_of
from arena.games.contract import Seat
from arena.games.open_face_chinese_poker import rules
from arena.games.open_face_chinese_poker import rules as open_face
from arena.games.open_face_chinese_poker.messages import Options, Phase, Place, Scored
from arena.games.open_face_chinese_poker.rules import Match, State
from arena.games.open_face_chinese_poker.scoring import (
    MOST_UNITS,
    pair_units,
    reaches_fantasyland,
    score_rows,
)
from arena.testing.deals import SeededDeals, StackedDeals

DEALS = SeededDeals("open face")

# fmt: off
ROWS = [
    # front     middle        back          there  next   why
    ("QsQd2c", "KsKh9d4c3h", "9s8h7d6c5h", False, True,  "queens in front reach Fantasyland"),
    ("QsQd2c", "KsKh9d4c3h", "9s8h7d6c5h", True,  False, "queens in front do not stay there (O8)"),
    ("JsJdAc", "KsKh9d4c3h", "9s8h7d6c5h", False, False, "jacks do not reach it"),
    ("QsQd2c", "KsKh2d3c4h", "9s8h7d6c5h", False, True,  "the lowest queens do"),
    ("2s2d2c", "3s3h3d4c5h", "9s8h7d6c5h", True,  True,  "the lowest three of a kind in front stay"),
    ("6s5d4c", "9s8h7d6c5h", "2s2h2d2c3h", True,  True,  "the lowest four of a kind in the back stay"),
    ("6s5d4c", "2s2h2d3c3h", "4s4h4d5c5h", True,  True,  "the lowest full house in the middle stays"),
    ("6s5d4c", "AsKsQs9s8s", "AhAdAcKdKh", True,  False, "a flush in the middle does not"),
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


def hand_with(*fantasyland, unit_values=""):
    seats = tuple(Seat(seat) for seat in range(len(fantasyland)))
    values = values_of(unit_values, len(seats))
    match = Match(seats, 8, values, 0, Seat(0), fantasyland, (), (0,) * len(seats))
    return rules.deal_hand(match, DEALS)


def test_fantasyland_sets_first_and_nobody_is_told():
    state, _ = hand_with(False, True)
    assert (state.phase, open_face.to_act(state)) == (Phase.FANTASYLAND, (1,))
    setting = open_face.moves(state, Seat(1)).offered[0]
    before = open_face.view(state, Seat(0)).layouts
    state, events = open_face.step(state, ((Seat(1), setting),), DEALS)
    assert events == ()
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


def test_no_pair_of_hands_is_worth_more_than_three_of_a_kind_and_two_royal_flushes():
    best = score_rows(*map(parse_cards, ("2s2h2d", "AsKsQsJsTs", "AhKhQhJhTh")))
    worst = score_rows(*map(parse_cards, ("3c4c5d", "8c7d6h5s3d", "9c8d7h5h3h")))
    assert pair_units(best, worst) == MOST_UNITS


# fmt: off
PLAYED = [
    # fantasyland    hands left after a hand   why
    ((False, False), 7, "an ordinary hand is one of those scheduled"),
    ((True, True),   8, "a hand in Fantasyland comes on top"),
    ((False, True),  8, "... also for a seat that is not there"),
]
# fmt: on


@pytest.mark.parametrize(("there", "left", "why"), PLAYED, ids=[row[-1] for row in PLAYED])
def test_hands_left_after_a_hand(there, left, why):
    state, _ = hand_with(*there)
    while not state.match.hand_scores:
        chosen = tuple((seat, rules.fallback(state, seat)) for seat in rules.to_act(state))
        state, _ = rules.step(state, chosen, DEALS)
    assert rules.view(state, None).hands_left == left


# fmt: off
ENDINGS = [
    # played  fantasyland    hands  over   limited  why
    (7,       (False, False), 8,    False, None,    "a scheduled hand is left"),
    (8,       (False, False), 9,    True,  False,   "all are played"),
    (8,       (True, False),  9,    False, None,    "a Fantasyland that was earned is played too (O12)"),
    (8,       (True, False),  24,   True,  True,    "but no more hands than three times as many"),
    (7,       (False, False), 24,   True,  True,    "... even if a scheduled one is left"),
]
# fmt: on


@pytest.mark.parametrize(
    ("played", "there", "hands", "over", "limited", "why"),
    ENDINGS,
    ids=[row[-1] for row in ENDINGS],
)
def test_the_match_is_over(played, there, hands, over, limited, why):
    seats = (Seat(0), Seat(1))
    scores = ((0, 0),) * hands
    match = Match(seats, 8, values_of("", 2), played, Seat(0), there, scores, (0, 0))
    assert rules.is_over(match) is over
    if over:
        hand = hand_with(False, False).state.hand
        assert rules.result(State(match, Phase.OVER, hand)).ended_by_limit is limited


# fmt: off
STAYS = (
    # front      middle            back
    ("3s 4d 7h", "7c 7d 9s Jh Kc", "As Ah Ad Ac 2c"),
    ("3d 4c 6s", "8s 8h 9c Jd Ks", "5s 5h 5d 5c 2d"),
)
LEAVES = (
    ("3s 4d 7h", "7c 7d 9s Jh Kc", "As Ah Qd 8c 2c"),
    ("3d 4c 6s", "8s 8h 9c Jd Ks", "Th Td Qs 9h 2d"),
)
AFTER_FANTASYLAND = [
    # stay            dealer  to act  why
    ((False, False),  0,      (1,),   "an ordinary hand follows: the next seat deals, and the one to its left begins"),
    ((True, False),   1,      (0,),   "the dealer deals again, and the seat there sets first"),
    ((False, True),   1,      (1,),   "... whichever seat it is"),
    ((True, True),    1,      (0, 1), "... and both together, where two stay (O11)"),
]
# fmt: on


@pytest.mark.parametrize(
    ("stay", "dealer", "acting", "why"),
    AFTER_FANTASYLAND,
    ids=[row[-1] for row in AFTER_FANTASYLAND],
)
def test_after_a_hand_of_fantasyland(stay, dealer, acting, why):
    """Seat 1 deals a hand in which both are in Fantasyland."""
    rows = [(STAYS if stays else LEAVES)[seat] for seat, stays in enumerate(stay)]
    places = [Place(*map(tuple, map(str.split, of_seat))) for of_seat in rows]
    cards = [" ".join(of_seat).split() for of_seat in rows]
    dealt = [card for pair in zip(*cards, strict=True) for card in pair]  # to seat 0 first
    deck = tuple(dealt) + tuple(card for card in PACK_52 if card not in dealt)
    deals = StackedDeals({(1, "deck"): deck}, DEALS)
    seats = (Seat(0), Seat(1))
    match = Match(seats, 8, values_of("", 2), 1, Seat(1), (True, True), ((7, -7),), (7, -7))
    state, _ = rules.deal_hand(match, deals)
    state, _ = rules.step(state, tuple(zip(seats, places, strict=True)), deals)
    seen = rules.view(state, None)
    assert (seen.hand, seen.dealer, seen.to_act, seen.fantasyland) == (2, dealer, acting, stay)
    units = pair_units(*(score_rows(move.front, move.middle, move.back) for move in places))
    assert units != 0
    assert seen.totals == (7 + units, -7 - units)
    assert rules.hand_scores(state) == ((7, -7), (units, -units))
    assert seen.hands_left == 7


@pytest.mark.parametrize(
    ("seats", "dealer", "earned", "following", "why"),
    [
        (2, 0, (False, False), 1, "the next seat"),
        (4, 3, (False,) * 4, 0, "the first after the last"),
        (3, 1, (False, True, False), 1, "the same while a seat is in Fantasyland"),
        (3, 1, (True, True, False), 1, "... or two"),
        (3, 1, (True, True, True), 1, "... or all"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_next_dealer_is(seats, dealer, earned, following, why):
    assert rules.next_dealer(Seat(dealer), seats, earned) == following


def test_a_match_has_four_hands_for_each_dealer_unless_the_options_say_more():
    for hands, scheduled in ((0, 12), (3, 3), (6, 6)):
        seen = rules.view(rules.start(Options(hands=hands), 3, DEALS).state, None)
        assert (seen.hands_left, seen.dealer, seen.to_act) == (scheduled, 0, (1,))
        assert not any(seen.fantasyland)
        assert seen.totals == (0, 0, 0)


# fmt: off
PAIRS = [
    # own rows                                              the other's rows                                  units  why
    ("AsKd2c / QsQd9c8h3d / JsJdTcTh4d",                    "AhKc2d / QhQc9d8s3h / JhJcTdTs4h",               0,     "equal rows are nobody's"),
    ("AsKd2c / QsQd9c8h3d / JsJdTcTh4d",                    "AhKc2d / QhQc9d8s3h / 9s9hTdTs4h",               1,     "one row won and two equal"),
    ("AsKd2c / QsQd9c8h3d / JsJdTcTh4d",                    "AhKc2d / 7h7c9d8s3h / 9s9hTdTs4h",               2,     "two rows won and one equal are no sweep"),
    ("AsKd2c / QsQd9c8h3d / JsJdTcTh4d",                    "AhJc2d / 7h7c9d8s3h / 9s9hTdTs4h",               6,     "three rows won are one"),
    ("AhJc2d / 7h7c9d8s3h / 9s9hTdTs4h",                    "AsKd2c / QsQd9c8h3d / JsJdTcTh4d",              -6,     "... and three lost"),
]
# fmt: on


@pytest.mark.parametrize(("mine", "theirs", "units", "why"), PAIRS, ids=[row[-1] for row in PAIRS])
def test_a_pair_wins_rows(mine, theirs, units, why):
    scorings = [score_rows(*map(parse_cards, rows.split(" / "))) for rows in (mine, theirs)]
    assert pair_units(*scorings) == units


def test_a_pair_settles_in_units_of_its_own_value():
    plain, worth = hand_with(True, True, True), hand_with(True, True, True, unit_values="2,3,5")
    units = []
    for state, _ in (plain, worth):
        chosen = tuple((seat, rules.fallback(state, seat)) for seat in rules.to_act(state))
        _, events = rules.step(state, chosen, DEALS)
        units.append(next(event.units for event, _ in events if isinstance(event, Scored)))
    scorings = [
        score_rows(move.front, move.middle, move.back)
        for move in (rules.fallback(plain.state, Seat(seat)) for seat in range(3))
    ]
    first, second, third = (
        pair_units(scorings[one], scorings[two]) for one, two in ((0, 1), (0, 2), (1, 2))
    )
    assert units[0] == (first + second, third - first, -second - third)
    assert units[1] == (
        2 * first + 3 * second,
        5 * third - 2 * first,
        -3 * second - 5 * third,
    )
    assert units[0] != units[1]


def test_a_hand_of_fantasyland_alone_is_scored_at_once():
    state, _ = hand_with(True, True)
    chosen = tuple((seat, open_face.fallback(state, seat)) for seat in (Seat(0), Seat(1)))
    after, events = open_face.step(state, chosen, DEALS)
    kinds = [type(event).__name__ for event, _ in events]
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
        for layout in (*hand.layouts, *(option for option in hand.settings if option)):
            held += [*layout.front, *layout.middle, *layout.back]
        assert sorted(held) == sorted(PACK_52)
    result = open_face.result(state)
    assert sum(result.scores) == 0
    # Nine decisions a seat and hand, but one in Fantasyland.
    assert decisions <= 9 * seats * len(result.hand_scores)
    assert len(result.hand_scores) <= rules.MOST_HANDS * seats
