"""Good settings: they never foul, and what they are judged by is as it was measured."""

import random
from bisect import bisect_right
from functools import cache
from itertools import combinations

import pytest

from arena.games import poker
from arena.games.cards import PACK_52, parse_cards
from arena.games.chinese.hands import Strengths, high_first, is_foul, pair_units, strengths
from arena.games.chinese.odds import BACK_STEPS, FRONT_STEPS, MIDDLE_STEPS, expected_units
from arena.games.chinese.settings import SETTINGS, by_rank, candidates, numbered
from tests.rows import RULES


def random_hands(count, seed):
    chance = random.Random(seed)
    return [tuple(chance.sample(PACK_52, 13)) for _ in range(count)]


def strengths_of(rows):
    return strengths(rows.front, rows.middle, rows.back)


def test_candidates_are_settings_of_the_hand_that_do_not_foul():
    for hand in random_hands(25, seed=1):
        result = candidates(hand, 8)
        assert len(result) == 8
        for rows in result:
            assert (len(rows.front), len(rows.middle), len(rows.back)) == (3, 5, 5)
            assert {*rows.front, *rows.middle, *rows.back} == set(hand)
            assert not is_foul(strengths_of(rows))
        assert len(set(map(strengths_of, result))) == 8, "they differ in more than suits"


def test_fewer_candidates_are_the_first_of_more():
    for hand in random_hands(10, seed=2):
        assert candidates(hand, 3) == candidates(hand, 8)[:3]
        assert candidates(hand[::-1], 3) == candidates(hand, 3), "order of the hand"


def best_of_all(hand):
    """What the rows of settings are worth, best first: of every one of the 72,072 that does not foul."""
    held = high_first(hand)
    every = {strengths_of(numbered(held, at)) for at in range(SETTINGS)}
    return sorted([(expected_units(*rows), rows) for rows in every if not is_foul(rows)])[::-1]


def suited_hands(count, seed):
    """Hands with eight cards of one suit: many flushes."""
    chance = random.Random(seed)
    hands = []
    for _ in range(count):
        suit = chance.choice("cdhs")
        long = chance.sample([card for card in PACK_52 if card[1] == suit], 8)
        hands.append((*long, *chance.sample([card for card in PACK_52 if card[1] != suit], 5)))
    return hands


def paired_hands(count, seed):
    """Hands of five ranks."""
    chance = random.Random(seed)
    hands = []
    for _ in range(count):
        ranks = chance.sample("23456789TJQKA", 5)
        hands.append(tuple(chance.sample([card for card in PACK_52 if card[0] in ranks], 13)))
    return hands


def two_suits(count, seed):
    """Hands of two suits: flushes stand above flushes."""
    chance = random.Random(seed)
    hands = []
    for _ in range(count):
        suits = chance.sample("cdhs", 2)
        hands.append(tuple(chance.sample([card for card in PACK_52 if card[1] in suits], 13)))
    return hands


HANDS = [
    pytest.param(random_hands(3, seed=11), id="dealt"),
    pytest.param(suited_hands(2, seed=12), id="eight of a suit"),
    pytest.param(two_suits(2, seed=14), id="two suits"),
    pytest.param(paired_hands(2, seed=13), id="five ranks"),
    pytest.param([tuple(rank + "s" for rank in "23456789TJQKA")], id="a whole suit"),
    pytest.param([parse_cards("KsQhJd9c9h8c8d7c6c5c4d3s2h")], id="straights that may be flushes"),
    pytest.param([parse_cards("QhQcJhJc8h7h6h5s5h4h2s2h2d")], id="straights that are flushes"),
    pytest.param([parse_cards("AdAcKdKcJhThTdTc9c5d5c3d3c")], id="flushes that are equal"),
    pytest.param([parse_cards("QhTh9s9h9d7s7h7d7c2s2h2d2c")], id="backs that promise as much"),
    pytest.param([parse_cards("AdKsKhTsTd9s7c4s4h4d4c3h2h")], id="sets above flushes"),
    pytest.param([parse_cards("AdKsKhKdJc8s8h8d7c6s6h6c4c")], id="three of a kind in each row"),
]


@RULES
@pytest.mark.parametrize("hands", HANDS)
def test_candidates_are_the_best_of_all_settings(hands):
    for hand in hands:
        best = best_of_all(hand)
        for k in (1, 8, 600):
            result = [strengths_of(rows) for rows in candidates(hand, k)]
            assert result == [rows for _, rows in best[:k]], hand


@cache
def first_candidates():
    """Hands, and how strong the rows of their first candidates are."""
    return [(hand, strengths_of(candidates(hand, 1)[0])) for hand in random_hands(240, seed=4)]


def test_the_first_candidate_beats_the_strongest_back():
    """Each against a player who puts the most in the back, then in the middle."""
    played = first_candidates()
    won = [
        pair_units(good, strongest_back(hand))
        for (_, good), (hand, _) in zip(played[::2], played[1::2], strict=True)
    ]
    assert sum(won) / len(won) > 0.25, "units a hand"


def strongest_back(hand):
    back = max(combinations(hand, 5), key=poker.standard)
    left = [card for card in hand if card not in back]
    middle = max(combinations(left, 5), key=poker.standard)
    return strengths([card for card in left if card not in middle], middle, back)


STEPS = list(enumerate((FRONT_STEPS, MIDDLE_STEPS, BACK_STEPS)))


@pytest.mark.parametrize(("row", "steps"), STEPS, ids=Strengths._fields)
def test_steps_part_the_rows_of_first_candidates_evenly(row, steps):
    """Below step i of 12 lies i/12 of the rows, give or take what 240 hands allow."""
    assert list(steps) == sorted(steps)
    places = [bisect_right(steps, rows[row]) for _, rows in first_candidates()]
    parts = len(steps) + 1
    for at in range(1, parts):
        below = sum(place < at for place in places) / len(places)
        assert below == pytest.approx(at / parts, abs=0.08), f"step {at}"


def test_by_rank():
    hand = parse_cards("2c3c4c5c6c7c8c9cTcJcQcKcAc")
    rows = by_rank(hand)
    assert "".join(rows.back) == "AcKcQcJcTc"
    assert "".join(rows.middle) == "9c8c7c6c5c"
    assert "".join(rows.front) == "4c3c2c"


BAD = [
    pytest.param(PACK_52[:12], 1, "13 different cards, not of 12", id="a card short"),
    pytest.param((*PACK_52[:12], PACK_52[0]), 1, "not of 12", id="a card twice"),
    pytest.param(
        (*PACK_52[:13], PACK_52[0]), 1, "13 different cards", id="a card too many, and twice"
    ),
    pytest.param(PACK_52[:13], 0, "one setting or more, not 0", id="none asked for"),
]


@pytest.mark.parametrize(("cards", "k", "why"), BAD)
def test_bad_arguments(cards, k, why):
    with pytest.raises(ValueError, match=why):
        candidates(cards, k)
