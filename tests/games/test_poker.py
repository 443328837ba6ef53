"""The order of poker hands, by tables and beside two independent evaluators."""

import random
from itertools import combinations, pairwise

import phevaluator
import pokerkit
import pytest

from arena.games import poker
from arena.games.cards import PACK_52, parse_cards
from arena.games.poker import HandClass

# Each hand beats the next one.
STANDARD_ORDER = [
    ("royal flush", "As Ks Qs Js Ts"),
    ("straight flush, king high", "Kh Qh Jh Th 9h"),
    ("straight flush, the lowest", "5d 4d 3d 2d Ad"),
    ("quads, aces", "Ac Ad Ah As 2c"),
    ("quads, kicker three", "2c 2d 2h 2s 3c"),
    ("full house by its trips", "3c 3d 3h 2c 2d"),
    ("full house, lower trips with a higher pair", "2c 2d 2h Ac Ad"),
    ("flush, ace high", "Ac 6c 4c 3c 2c"),
    ("flush, seven high", "7d 5d 4d 3d 2d"),
    ("straight, ace high", "As Kd Qh Jc Ts"),
    ("straight, six high", "6s 5d 4h 3c 2s"),
    ("straight, ace low", "5s 4d 3h 2c As"),
    ("trips with an ace", "2s 2d 2h Ac 3s"),
    ("trips, second kicker", "2s 2d 2h Kc Qs"),
    ("trips, second kicker lower", "2s 2d 2h Kc Js"),
    ("two pair, by the higher", "As Ad 2h 2c 3s"),
    ("two pair, by the lower", "Ks Kd 4h 4c 2s"),
    ("two pair, by the kicker", "Ks Kd 3h 3c As"),
    ("two pair, kicker lower", "Ks Kd 3h 3c Qs"),
    ("pair, first kicker", "9s 9d Ah 3c 2s"),
    ("pair, third kicker", "9s 9d Kh 8c 7s"),
    ("pair, third kicker lower", "9s 9d Kh 8c 6s"),
    ("no wrap: king, ace, two are no run", "As Kd 4h 3c 2s"),
    ("ace high", "As Qd Jh Tc 8s"),
    ("the lowest of all", "7s 5d 4h 3c 2s"),
]

SOKO_ORDER = [
    ("two pair, the lowest", "3s 3h 2d 2c 4s"),
    ("Canadian flush, with a pair in it (S4)", "2h 5h 9h Kh Kd"),
    ("Canadian flush, a king and then lower", "Kd 5d 3d 2d As"),
    ("Canadian flush, four in a row are nothing more", "5h 6h 7h 8h Kc"),
    ("Canadian flush, by its fifth card (S5)", "5h 6h 7h 8h Qc"),
    ("Canadian flush, the lowest", "5d 4d 3d 2d 7s"),
    ("Canadian straight, ace high, with a pair of aces", "As Kd Qh Jc Ad"),
    ("Canadian straight, ace high", "As Kd Qh Jc 9d"),
    ("Canadian straight, by its top first", "6s 7h 8d 9c 2h"),
    ("Canadian straight, lower top", "5h 6d 7c 8s Ah"),
    ("Canadian straight, with a pair in it", "5h 6d 7c 8s 8h"),
    ("Canadian straight, five high", "2h 3d 4c 5s Kh"),
    ("Canadian straight, ace low and another ace", "Ad 2h 3c 4s Ah"),
    ("Canadian straight, ace low (S3)", "4h 3d 2c As Kd"),
    ("pair of aces", "As Ac Kd Qh 2c"),
    ("pair of twos", "2s 2c 4d 5h 7c"),
    ("no wrap: king, ace, two, three", "Kh As 2d 3c 7h"),
]

FRONT_ORDER = [
    ("trips", "2s 2d 2h"),
    ("pair of aces", "As Ad 2h"),
    ("pair of kings, by the kicker", "Ks Kd Ah"),
    ("pair of kings", "Ks Kd Qh"),
    ("pair of twos", "2s 2d 3h"),
    ("suited and in a row is only ace high", "Ah Kh Qh"),
    ("ace high, by the last card", "As Kd Jh"),
    ("king high", "Ks Qd Jh"),
    ("five high", "5s 3d 2h"),
]

LOW_ORDER = [
    ("the wheel", "5s 4d 3h 2c As"),
    ("a flush does not count against it", "6h 4h 3h 2h Ah"),
    ("from the highest card down", "7s 6d 5h 4c As"),
    ("eight with a low next card", "8s 5d 4h 2c As"),
    ("the worst, though a straight", "8s 7d 6h 5c 4s"),
]

UPCARD_ORDER = [
    ("four of a kind", "2s 2d 2h 2c"),
    ("trips", "As Ad Ah Kc"),
    ("two pair", "3s 3d 2h 2c"),
    ("four suited (S8)", "2h 3h 5h 7h"),
    ("four in a row (S8)", "Ah 2d 3c 4s"),
    ("pair", "As Ad Kh Qc"),
    ("high card", "Ah Kd Qc Ts"),
]

ORDERS = [
    (poker.standard, STANDARD_ORDER),
    (poker.soko, SOKO_ORDER),
    (poker.front, FRONT_ORDER),
    (poker.eight_or_better, LOW_ORDER),
    (poker.soko_upcards, UPCARD_ORDER),
]
STEPS = [
    pytest.param(value, better, worse, id=f"{value.__name__}: {why} over {below}")
    for value, order in ORDERS
    for (why, better), (below, worse) in pairwise(order)
]


@pytest.mark.parametrize(("value", "better", "worse"), STEPS)
def test_each_hand_beats_the_next(value, better, worse):
    for order in (list, reversed):  # the order of the cards means nothing
        hand, other = tuple(order(parse_cards(better))), tuple(order(parse_cards(worse)))
        assert value(hand) > value(other)


SAME = [
    pytest.param(poker.standard, "As Ks Qs Js 9s", "Ah Kh Qh Jh 9h", id="suits decide nothing"),
    pytest.param(poker.standard, "AsAdKhQcJs9h2d", "AsAdKhQcJs", id="the sixth card plays no part"),
    pytest.param(poker.standard, "AsAdKhKc2s2h9d", "AsAdKhKc9s", id="the third pair is no kicker"),
    pytest.param(poker.standard, "AsAdAhKsKdKh2c", "AsAdAhKsKd", id="the second trips are a pair"),
    pytest.param(poker.standard, "AsAdAhKsKdQcQs", "AsAdAhKsKd", id="the higher pair fills"),
    pytest.param(poker.standard, "2s2d2h2c3s3d3h", "2s2d2h2c3s", id="quads over a full house"),
    pytest.param(poker.standard, "As2s3s4s5s6d7d", "As2s3s4s5s", id="suited over a longer run"),
    pytest.param(
        poker.standard, "AhKhQhJh9h8h7h", "AhKhQhJh9h", id="a flush of seven: the top five"
    ),
    pytest.param(poker.soko, "Ah Jh 9h 2h 3c", "As Js 9s 2s 3d", id="Canadian flushes tie"),
    pytest.param(poker.soko, "As Ks Qs Js Ts", "Ah Kh Qh Jh Th", id="royal flushes tie"),
    pytest.param(
        poker.eight_or_better, "As2d3h4c5s6d7h", "As2d3h4c5s", id="the best of seven ranks"
    ),
    pytest.param(
        poker.eight_or_better, "As2d3h4c5s5d5h", "As2d3h4c5s", id="pairs do not hurt a low"
    ),
]


@pytest.mark.parametrize(("value", "hand", "equal"), SAME)
def test_hands_that_tie(value, hand, equal):
    assert value(parse_cards(hand)) == value(parse_cards(equal))


NO_LOW = [
    pytest.param("As 2d 3h 4c 9s Kd Qh", id="a nine is too high"),
    pytest.param("As Ad 2h 2c 3s 4d 4h", id="four ranks are too few"),
]


@pytest.mark.parametrize("cards", NO_LOW)
def test_no_low(cards):
    assert poker.eight_or_better(parse_cards(cards)) is None


FRONT_AGAINST_FIVE = [
    pytest.param("Kh Kd 5c", "Ks Kc 5h 3d 2s", id="all of the front matches: five cards are more"),
    pytest.param("As Kd Qc", "Ah Ks Qd 9c 2s", id="likewise of high cards"),
    pytest.param("3h 3d 3c", "4h 4d 4s Kc 8d", id="trips under higher trips"),
    pytest.param("Ah Kh Qh", "2s 2d 7c 8d 9s", id="a suited run in front is no flush"),
]


@pytest.mark.parametrize(("front", "five"), FRONT_AGAINST_FIVE)
def test_a_front_is_below_five_cards(front, five):
    assert poker.front(parse_cards(front)) < poker.standard(parse_cards(five))


CLASSES = [
    ("As Ks Qs Js Ts", HandClass.ROYAL_FLUSH),
    ("9h 8h 7h 6h 5h", HandClass.STRAIGHT_FLUSH),
    ("4s 4h 4d 4c 2d", HandClass.QUADS),
    ("2s 2h 2d 3c 3d", HandClass.FULL_HOUSE),
    ("7c 5c 4c 3c 2c", HandClass.FLUSH),
    ("5s 4h 3d 2c As", HandClass.STRAIGHT),
    ("2s 2h 2d 3c 4d", HandClass.TRIPS),
    ("3s 3h 2d 2c 4s", HandClass.TWO_PAIR),
    ("2h 5h 9h Kh Kd", HandClass.CANADIAN_FLUSH),
    ("5s 6h 7d 8c 8h", HandClass.CANADIAN_STRAIGHT),
    ("9s 9d Ah 3c 2s", HandClass.PAIR),
    ("Kh As 2d 3c 7h", HandClass.HIGH_CARD),
]


@pytest.mark.parametrize(("cards", "kind"), CLASSES, ids=[kind.label for _, kind in CLASSES])
def test_class_of_a_hand(cards, kind):
    assert poker.hand_class(poker.soko(parse_cards(cards))) is kind


def test_there_is_a_row_for_every_class():
    assert {kind for _, kind in CLASSES} == set(HandClass)


def test_least_parts_a_class():
    assert poker.front(parse_cards("QsQd2h")) >= poker.least(HandClass.PAIR, "Q")
    assert poker.front(parse_cards("JsJdAh")) < poker.least(HandClass.PAIR, "Q")


def test_more_than_seven_cards_are_refused():
    with pytest.raises(ValueError, match="at most seven different cards"):
        poker.standard(parse_cards("As2d3h4c6s7d8hTc"))


def random_hands(count, size, seed):
    chance = random.Random(seed)
    return [tuple(chance.sample(PACK_52, size)) for _ in range(count)]


def agrees(hands, ours, theirs):
    """Whether both give the hands the same order, ties included.

    `theirs` may be of any kind that compares; the higher is the better.
    """
    rated = sorted(((ours(hand), theirs(hand)) for hand in hands), key=lambda pair: pair[0])
    return all((a < b) == (x < y) and not x > y for (a, x), (b, y) in pairwise(rated))


@pytest.mark.parametrize("size", [5, 6, 7])
def test_order_of_phevaluator(size):
    """Every one of its ranks is one of our values, in the same order."""
    hands = random_hands(8_000, size, seed=size)
    # Its best hand is rank 1.
    assert agrees(hands, poker.standard, lambda hand: -phevaluator.evaluate_cards(*hand))


def test_order_of_pokerkit():
    hands = random_hands(600, 7, seed=7)
    from_game = pokerkit.StandardHighHand.from_game
    assert agrees(hands, poker.standard, lambda hand: from_game("".join(hand)))


def test_low_of_pokerkit():
    chance = random.Random(8)
    low_cards = [card for card in PACK_52 if card[0] in "A23456789"]
    hands = [tuple(chance.sample(low_cards, 7)) for _ in range(600)]
    from_game = pokerkit.EightOrBetterLowHand.from_game
    lows, none = [], 0
    for hand in hands:
        text = "".join(hand)
        try:
            from_game(text)
        except ValueError:  # its way to say that there is none
            assert poker.eight_or_better(hand) is None
            none += 1
        else:
            lows.append(hand)
    assert none > 10
    assert len(lows) > 300
    assert agrees(lows, poker.eight_or_better, lambda hand: from_game("".join(hand)))


def test_soko_differs_from_standard_only_in_its_two_classes():
    differing = 0
    for hand in random_hands(5_000, 5, seed=9):
        ranks = {"A23456789TJQKA".find(card[0]) for card in hand}
        runs = [set(range(low, low + 4)) for low in range(11)]
        if 0 in ranks:
            ranks.add(13)
        four_in_a_row = any(run <= ranks for run in runs)
        four_suited = any([card[1] for card in hand].count(suit) == 4 for suit in "cdhs")
        usual = poker.hand_class(poker.standard(hand))
        if usual <= HandClass.PAIR and (four_in_a_row or four_suited):
            kind = HandClass.CANADIAN_FLUSH if four_suited else HandClass.CANADIAN_STRAIGHT
            assert poker.hand_class(poker.soko(hand)) is kind, hand
            differing += 1
        else:
            assert poker.soko(hand) == poker.standard(hand), hand
    assert differing > 200


def counts_of(cards):
    return sum(poker.RANK_COUNT[card] for card in cards)


def test_strongest_five_and_front_are_the_best_of_all_combinations():
    """Suits aside: of hands that have no three of one suit, with many pairs and with few."""
    chance = random.Random(11)
    for ranks in (4, 6, 8, 13):
        held = poker.RANKS[-ranks + 2 :] + poker.RANKS[:2] if ranks < 13 else poker.RANKS
        cards = [card for card in PACK_52 if card[0] in held]
        for _ in range(150):
            hand = chance.sample(cards, 8)
            counts = counts_of(hand)
            values = {
                poker.BY_RANK_COUNTS[sums]: sums for sums in map(counts_of, combinations(hand, 5))
            }
            assert poker.strongest_five(counts) == values[max(values)], hand
            fronts = {poker.front(three): counts_of(three) for three in combinations(hand, 3)}
            assert poker.strongest_front(counts) == fronts[max(fronts)], hand


def test_a_table_by_rank_counts_is_standard_without_flush():
    for hand in random_hands(300, 5, seed=10):
        if len({card[1] for card in hand}) > 1:
            assert poker.BY_RANK_COUNTS[counts_of(hand)] == poker.standard(hand)
        suited = [card[0] + "s" for card in hand]
        if len(set(suited)) == 5:
            bits = sum(poker.RANK_BIT[card] for card in suited)
            assert poker.BY_SUITED_RANKS[bits] == poker.standard(suited)
