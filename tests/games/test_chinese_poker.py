"""Rulings of Chinese Poker that the vectors leave open, and what is special about its moves."""

import random
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games.cards import PACK_52, parse_cards
from arena.games.chinese.hands import (
    MOST_UNITS,
    SURRENDERED,
    high_first,
    is_foul,
    pair_units,
    settle_pairs,
    strengths,
)
from arena.games.chinese.naturals import NATURAL_UNITS, Natural, best_natural, natural_of
from arena.games.chinese.settings import OFFERED_SETTINGS
from arena.games.chinese.unit_values import unit_values
from arena.games.chinese_poker import rules as chinese_poker
from arena.games.chinese_poker.messages import (
    DECLARE_NATURAL,
    PLAY,
    SURRENDER,
    Dealt,
    NaturalDeclared,
    Options,
    Phase,
    Revealed,
    Scored,
    Set,
    Surrendered,
)
from arena.games.contract import BadOptions, IllegalMove, Seat
from arena.testing.deals import SeededDeals, StackedDeals, UnshuffledDeals

DRAGON = "AsKdQcJhTs9d8c7h6s5d4c3h2s"
SIX_PAIR = "AdAhKcKhJsJdQhQsThTc3s3c9h"
PLAIN = "AcKsQdTd9c8h7s6d5c4h3d2d2c"


def stacked(*hands):
    """Deals that give these hands to the seats in the first deal; the others follow the pack."""
    hands = [parse_cards(hand) for hand in hands]
    left = [*hands[1:], hands[0]]  # the dealer, seat 0, is dealt last
    dealt = [card for cards in zip(*left, strict=True) for card in cards]
    others = [card for card in PACK_52 if card not in dealt]
    return StackedDeals({(0, "deck"): (*dealt, *others)}, UnshuffledDeals())


def setting(front, middle, back):
    return Set(parse_cards(front), parse_cards(middle), parse_cards(back))


def rows(front, middle, back):
    return strengths(parse_cards(front), parse_cards(middle), parse_cards(back))


def play_out(state, *phases, deals):
    """Step through the choices of the phases; the events of all of them."""
    events = []
    for choices in phases:
        state, more = chinese_poker.step(
            state, tuple((Seat(seat), move) for seat, move in choices.items()), deals
        )
        events += more
    return state, events


# Settling.

FIRST = rows("9h5d2c", "KhKd8s6c3d", "7s7d7hQdQs")
QUEEN_HIGH = rows("Qh5c2d", "TsTh8c6d3s", "4s4d4hJdJs")
SAME_FRONT = rows("9s5c2d", "AhAd8c6d3s", "8d8h8cJdJs")
FOUL = rows("KcKs2s", "QhQd9s7c3h", "AsAc8h8d4d")
QUADS_BACK = rows("4s3c2d", "TsTh8c6d3s", "JsJdJhJc2h")

SETTLED = [
    pytest.param([FIRST, SAME_FRONT], [-2, 2], id="C11: a tied row is no part of a scoop"),
    pytest.param([FIRST, QUEEN_HIGH], [1, -1], id="two rows to one: one unit"),
    pytest.param([SURRENDERED, SURRENDERED], [0, 0], id="C10: two that surrender"),
    pytest.param([FOUL, QUADS_BACK], [-9, 9], id="C3: a foul pays 1 + 1 + 4 and 3"),
    pytest.param([FOUL, SURRENDERED], [2, -2], id="C4: a surrender is paid to a foul too"),
    pytest.param(
        [best_natural(parse_cards(DRAGON)), SURRENDERED, SURRENDERED],
        [26, -13, -13],
        id="C4: who surrenders still pays the natural, and nothing to the other",
    ),
    pytest.param(
        [best_natural(parse_cards(SIX_PAIR)), FOUL], [3, -3], id="a natural is paid at its own rate"
    ),
    pytest.param(
        [rows("2s2h2d", "AsKsQsJsTs", "AhKhQhJhTh"), rows("3c4c5d", "8c7d6h5s3d", "9c8d7h5h3h")],
        [MOST_UNITS, -MOST_UNITS],
        id="three of a kind and two royal flushes win the most there is",
    ),
]


@pytest.mark.parametrize(("standings", "net"), SETTLED)
def test_settlement(standings, net):
    values = unit_values("", len(standings))
    assert list(settle_pairs(standings, pair_units, values)) == net
    assert list(settle_pairs(standings[::-1], pair_units, values)) == net[::-1]


# fmt: off
VALUES = [
    # unit_values  seats  by both seats                                            why
    ("",           3,     ((0, 1, 1), (1, 0, 1), (1, 1, 0)),                       "1 unless agreed"),
    ("7",          2,     ((0, 7), (7, 0)),                                        "two seats are one pair"),
    ("2,3,5",      3,     ((0, 2, 3), (2, 0, 5), (3, 5, 0)),                       "0-1, 0-2, 1-2"),
    ("1,2,3,4,5,6", 4,    ((0, 1, 2, 3), (1, 0, 4, 5), (2, 4, 0, 6), (3, 5, 6, 0)), "0-1, 0-2, 0-3, 1-2, 1-3, 2-3"),
]
# fmt: on


@pytest.mark.parametrize(
    ("text", "seats", "values", "why"), VALUES, ids=[row[-1] for row in VALUES]
)
def test_unit_values_are_of_pairs_of_seats(text, seats, values, why):
    assert unit_values(text, seats) == values


@pytest.mark.parametrize(("text", "seats"), [("2", 3), ("2,3", 2), ("1,2,3", 4)])
def test_each_pair_of_seats_needs_a_unit_value(text, seats):
    with pytest.raises(BadOptions, match=f"unit_values={text} is not one number for each of"):
        chinese_poker.start(Options(unit_values=text), seats, SeededDeals(0))


def test_a_pair_settles_in_units_of_its_own_value():
    deals = stacked(PLAIN, SIX_PAIR, "5s5h5d6c6h7c7d8s8d9sTsJcKd")
    state, _ = chinese_poker.start(Options(unit_values="2,3,5"), 3, deals)
    by_rank = {seat: chinese_poker.fallback(state, Seat(seat)) for seat in range(3)}
    state, _ = play_out(state, by_rank | {1: DECLARE_NATURAL}, deals=deals)
    _, events = play_out(state, {0: PLAY, 2: SURRENDER}, deals=deals)
    scored = next(event for event, _ in events if isinstance(event, Scored))
    # Seat 1 gets 3 units from both, of 2 and 5 each; seat 0 gets 2 units from seat 2, of 3 each.
    assert scored.units == (-3 * 2 + 2 * 3, 3 * 2 + 3 * 5, -3 * 5 - 2 * 3)


@pytest.mark.parametrize(
    ("text", "seats", "most"), [("", 2, 2), ("7", 2, 14), ("2,3,5", 3, 16)], ids=str
)
def test_the_margin_is_twice_what_a_seat_has_at_stake(text, seats, most):
    options = Options(hands=seats, unit_values=text)
    assert chinese_poker.margin_bound(options, seats) == seats * most * MOST_UNITS


# Naturals.

NATURALS = [
    pytest.param(
        "AsKsQsJsTs9s8s7s6s5s4s3s2s", Natural.DRAGON, id="C7: thirteen suited are a dragon"
    ),
    pytest.param("AsKsQs9s8s7s5s4sKh9h7h5h3h", Natural.THREE_FLUSHES, id="8 and 5 of two suits"),
    pytest.param(
        "2s3s4s5s6s2h3h4h5h6hQdKdAd", Natural.THREE_FLUSHES, id="flushes before straights"
    ),
    pytest.param("2s3d4s5s6s2h3h4h5h6hKdAd2d", None, id="king, ace, two are no run"),
    pytest.param("AsAhAdAcKsKhKdKcQsQhQdQc9d", Natural.SIX_PAIR, id="C6: three quads"),
    pytest.param("AsAhAdAcKsKhKdKcQsQhQd9d9c", Natural.SIX_PAIR, id="C6: trips"),
    pytest.param("AsAhAdKsKhKdQsQhQdJsJhJd9c", None, id="four trips are four pairs"),
    pytest.param(PLAIN, None, id="nothing"),
]


@pytest.mark.parametrize(("cards", "natural"), NATURALS)
def test_natural_of_a_hand(cards, natural):
    assert natural_of(parse_cards(cards)) == natural


ARRANGED = [
    pytest.param(
        "AsKsQs9s8s7s5s4sKh9h7h5h3h",
        "AsKsQs9s8sKh9h7h5h3h7s5s4s",
        id="C5: flushes with the most in the back, then in the middle",
    ),
    pytest.param(
        "5s6d7s8h9s2c3d4h5c6s7d8c9h",
        "9s8h7s6s5s9h8c7d6d5c4h3d2c",
        id="C5: straights with the highest middle",
    ),
    pytest.param(
        "Ks9s7s5s3s6h5h4h3h2hKdQdJd",
        "6h5h4h3h2hKs9s7s5s3sKdQdJd",
        id="a straight flush counts as one among flushes; C8: no foul in front",
    ),
]


@pytest.mark.parametrize(("cards", "arranged"), ARRANGED)
def test_the_arena_arranges_naturals(cards, arranged):
    assert "".join(best_natural(parse_cards(cards)).cards) == arranged


def is_run(cards):
    high = sorted("23456789TJQKA".index(card[0]) for card in cards)
    low = sorted("A23456789TJQK".index(card[0]) for card in cards)
    return any(ranks == list(range(ranks[0], ranks[0] + len(cards))) for ranks in (high, low))


def splits_into_runs(cards):
    for back in filter(is_run, combinations(cards, 5)):
        left = [card for card in cards if card not in back]
        for middle in filter(is_run, combinations(left, 5)):
            if is_run([card for card in left if card not in middle]):
                return True
    return False


def test_three_straights_are_found_as_by_trying_all_splits():
    """Hands made of three runs, and the same with one card changed for another."""
    chance = random.Random(11)
    answers = set()
    for _ in range(60):
        starts = chance.randrange(9), chance.randrange(9), chance.randrange(11)
        left, hand = list(PACK_52), []
        for start, length in zip(starts, (5, 5, 3), strict=True):
            for rank in "23456789TJQKA"[start : start + length]:
                card = chance.choice([card for card in left if card[0] == rank])
                left.remove(card)
                hand.append(card)
        if chance.random() < 0.5:
            hand[chance.randrange(13)] = chance.choice(left)
        result = natural_of(hand)
        if result not in {Natural.DRAGON, Natural.THREE_FLUSHES}:
            assert (result is Natural.THREE_STRAIGHTS) == splits_into_runs(hand), hand
            answers.add(result)
    assert {None, Natural.THREE_STRAIGHTS} <= answers


# The course of a hand.


BY_CLASS = [
    DRAGON,
    "6h5h4h3h2hKs9s7s5s3sKdQdJd",  # three flushes
    "5s6d7s8h9s2c3d4h5c6s7d8c9h",  # three straights
    SIX_PAIR,
]


@pytest.mark.parametrize(
    ("high", "low"), list(pairwise(BY_CLASS)), ids=["dragon", "flushes", "straights"]
)
def test_a_natural_of_a_higher_class_wins_whatever_its_cards(high, low):
    one, other = (best_natural(parse_cards(hand)) for hand in (high, low))
    assert pair_units(one, other) == -pair_units(other, one) == NATURAL_UNITS[one.natural]


# fmt: off
FLUSHES = [
    # one: back, middle, front          the other                           units  why
    ("AsKsQs9s8s Kh9h7h5h3h Tc6c4c", "AdKdQd9d7d Kc9c7c5c3c Jh8h6h", 3,  "the back decides first"),
    ("AsKsQs9s8s Kh9h7h5h3h Tc6c4c", "AdKdQd9d8d Kc9c7c5c2c JhTh6h", 3,  "then the middle"),
    ("AsKsQs9s8s Kh9h7h5h3h Tc6c4c", "AdKdQd9d8d Kc9c7c5c3c JhTh6h", -3, "then the front"),
    ("AsKsQs9s8s Kh9h7h5h3h Tc6c4c", "AdKdQd9d8d Kc9c7c5c3c Th6h4h", 0,  "then nothing"),
]
# fmt: on


@pytest.mark.parametrize(
    ("one", "other", "units", "why"), FLUSHES, ids=[row[-1] for row in FLUSHES]
)
def test_of_two_hands_of_three_flushes_the_higher_is_paid(one, other, units, why):
    naturals = [best_natural(parse_cards(hand)) for hand in (one, other)]
    assert pair_units(*naturals) == units
    assert pair_units(*naturals[::-1]) == -units


FOURS_AND_DEUCE = "AsAhKsKhQsQhJsJhTsTh4s4h2c"
SIX_PAIRS = [
    # won by one                 from another                  units  why
    (
        FOURS_AND_DEUCE,
        "AdAcKdKcQdQcJdJcTdTc3s3h9c",
        3,
        "the pairs are compared before the odd card",
    ),
    (FOURS_AND_DEUCE, "AdAcKdKcQdQcJdJcTdTc5s5h3c", -3, "... from the top"),
    (FOURS_AND_DEUCE, "AdAcKdKcQdQcJdJcTdTc4d4c3c", -3, "the odd card decides between equal pairs"),
    (FOURS_AND_DEUCE, "AdAcKdKcQdQcJdJcTdTc4d4c2d", 0, "nothing decides between equal hands"),
]


@pytest.mark.parametrize(
    ("one", "other", "units", "why"), SIX_PAIRS, ids=[row[-1] for row in SIX_PAIRS]
)
def test_of_two_hands_of_six_pairs_the_higher_is_paid(one, other, units, why):
    naturals = [best_natural(parse_cards(hand)) for hand in (one, other)]
    assert pair_units(*naturals) == units
    assert pair_units(*naturals[::-1]) == -units


def test_naturals_are_shown_before_the_surrender():
    deals = stacked(PLAIN, SIX_PAIR, "5s5h5d6c6h7c7d8s8d9sTsJcKd")
    state, _ = chinese_poker.start(Options(), 3, deals)
    by_rank = {seat: chinese_poker.fallback(state, Seat(seat)) for seat in range(3)}
    state, told = play_out(state, by_rank | {1: DECLARE_NATURAL}, deals=deals)
    assert [type(event) for event, _ in told] == [NaturalDeclared]
    assert chinese_poker.to_act(state) == (0, 2)
    assert chinese_poker.view(state, None).naturals[0].natural is Natural.SIX_PAIR
    state, told = play_out(state, {0: PLAY, 2: SURRENDER}, deals=deals)
    events = [event for event, seats in told if seats is None]
    kinds = [type(event) for event in events[:3]]
    assert kinds == [Revealed, Surrendered, Scored]
    assert events[2].units == (-1, 6, -5)


def test_one_seat_beside_naturals_is_not_asked_to_surrender():  # C12
    deals = stacked(PLAIN, SIX_PAIR)
    state, _ = chinese_poker.start(Options(), 2, deals)
    setting = chinese_poker.fallback(state, Seat(0))
    state, events = play_out(state, {0: setting, 1: DECLARE_NATURAL}, deals=deals)
    assert chinese_poker.view(state, None).hand == 1
    scored = next(event for event, _ in events if isinstance(event, Scored))
    assert scored.units == (-3, 3)


def test_fallback_is_by_rank_though_it_fouls():  # C13
    deals = stacked("2c7sAc4hKs8d9c3dQd8h7dTd5c", SIX_PAIR)
    state, _ = chinese_poker.start(Options(), 2, deals)
    move = chinese_poker.fallback(state, Seat(0))
    assert move == setting("4h3d2c", "8h8d7s7d5c", "AcKsQdTd9c")
    other = chinese_poker.fallback(state, Seat(1))
    state, _ = play_out(state, {0: move, 1: other}, deals=deals)
    assert chinese_poker.fallback(state, Seat(0)) == PLAY
    _, events = play_out(state, {0: PLAY, 1: PLAY}, deals=deals)
    fouled = {event.seat: event.fouled for event, _ in events if isinstance(event, Revealed)}
    assert fouled == {0: True, 1: False}


def test_a_surrendered_hand_is_never_shown():
    deals = SeededDeals(1)
    state, _ = chinese_poker.start(Options(), 2, deals)
    hidden = chinese_poker.view(state, Seat(1)).held
    choices = {seat: chinese_poker.fallback(state, Seat(seat)) for seat in range(2)}
    _, events = play_out(state, choices, {0: PLAY, 1: SURRENDER}, deals=deals)
    shown = [event for event, seats in events if seats is None or 0 in seats]
    shown = shown[: [type(event) for event in shown].index(Scored)]
    assert not any(card in str(event) for event in shown for card in hidden)


def test_settings_of_others_show_in_no_view():
    deals = SeededDeals(2)
    state, _ = chinese_poker.start(Options(), 2, deals)
    offered = chinese_poker.moves(state, Seat(1)).offered
    mine = chinese_poker.fallback(state, Seat(0))
    worlds = []
    for theirs in offered:
        world, events = play_out(state, {0: mine, 1: theirs}, deals=deals)
        worlds.append((chinese_poker.view(world, Seat(0)), chinese_poker.view(world, None), events))
        assert chinese_poker.view(world, Seat(1)).setting.front == theirs.front
    assert all(world == worlds[0] for world in worlds)


def test_each_seat_is_dealt_to_from_the_dealers_left():
    _, events = chinese_poker.start(Options(), 4, UnshuffledDeals())
    dealt = {event.seat: event.cards for event, _ in events if isinstance(event, Dealt)}
    # Seat 0 deals the first hand, so seat 1 gets the first card of the pack.
    assert all(card[1] == suit for seat, suit in enumerate("scdh") for card in dealt[seat])
    assert [seats for _, seats in events] == [None, (0,), (1,), (2,), (3,)]


# Moves.


def hand_moves(cards):
    state, _ = chinese_poker.start(
        Options(), 2, stacked(cards, PLAIN if cards == SIX_PAIR else SIX_PAIR)
    )
    return chinese_poker.moves(state, Seat(0))


def test_the_order_within_a_row_means_nothing():
    one = setting("9h5d2c", "KhKd8s6c3d", "7s7d7hQdQs")
    same = setting("2c9h5d", "3d6c8sKdKh", "QsQd7h7d7s")
    assert one == same
    assert hash(one) == hash(same)
    assert same.front == ("9h", "5d", "2c")


SET_OF_PLAIN = ("AcKsQd", "Td9c8h7s6d", "5c4h3d2d2c")
REFUSED = [
    pytest.param(("AcKsQd", "Td9c8h7s6d", "5c4h3d2d2s"), id="a card of somebody else"),
    pytest.param(("AcKsQd", "Td9c8h7s6d", "5c4h3d2d2d"), id="a card twice"),
    pytest.param(("AcKs", "QdTd9c8h7s6d", "5c4h3d2d2c"), id="rows of the wrong size"),
    pytest.param(("AcKsQd", "Td9c8h7s6d", "5c4h3d2d"), id="a card left over"),
]


@pytest.mark.parametrize("given_rows", REFUSED)
def test_wrong_settings_are_refused(given_rows):
    assert setting(*SET_OF_PLAIN) in hand_moves(PLAIN)
    deals = stacked(PLAIN, SIX_PAIR)
    state, _ = chinese_poker.start(Options(), 2, deals)
    wrong = setting(*given_rows)
    assert wrong not in chinese_poker.moves(state, Seat(0))
    other = chinese_poker.fallback(state, Seat(1))
    with pytest.raises(IllegalMove, match="set your thirteen cards"):
        chinese_poker.step(state, ((Seat(0), wrong), (Seat(1), other)), deals)


def test_a_natural_that_there_is_not_is_refused():
    deals = stacked(PLAIN, SIX_PAIR)
    state, _ = chinese_poker.start(Options(), 2, deals)
    assert DECLARE_NATURAL not in chinese_poker.moves(state, Seat(0))
    other = chinese_poker.fallback(state, Seat(1))
    chosen = ((Seat(0), DECLARE_NATURAL), (Seat(1), other))
    with pytest.raises(IllegalMove, match="there is no natural in your hand"):
        chinese_poker.step(state, chosen, deals)


def test_a_hand_with_a_natural_may_be_set_or_declared_and_no_more():
    moves = hand_moves(SIX_PAIR)
    assert DECLARE_NATURAL in moves
    assert PLAY not in moves
    assert SURRENDER not in moves


def test_text_that_is_no_card_is_last_in_the_order_of_its_letters():
    assert high_first(("?", "2c", "!", "As")) == ("As", "2c", "!", "?")


def test_text_that_is_no_card_is_refused_and_harms_nothing():
    wrong = Set(("Ac", "", "nonsense"), ("Td", "9c", "8h", "7s", "6d"), ("5c",) * 5)
    assert wrong not in hand_moves(PLAIN)


def test_offered_are_the_natural_good_settings_and_the_fallback():
    moves = hand_moves(SIX_PAIR)
    first, *good, last = moves.offered
    assert first == DECLARE_NATURAL
    assert len(good) == OFFERED_SETTINGS
    assert not any(is_foul(strengths(rows.front, rows.middle, rows.back)) for rows in good)
    assert last.back == parse_cards("AhAdKhKcQs")
    assert moves.count() == 72_073
    assert not moves.complete
    assert DECLARE_NATURAL not in hand_moves(PLAIN).offered
    assert all(move in moves for move in moves.offered)


def test_sample_draws_every_setting_once():
    """One number below the count stands for one move, so an even draw is an even choice."""
    moves = hand_moves(PLAIN)
    assert moves.count() == 72_072
    drawn = {moves.sample(lambda below, at=at: at) for at in range(0, 72_072, 7)}
    assert len(drawn) == 72_072 // 7
    assert all(move in moves for move in drawn)
    assert hand_moves(SIX_PAIR).sample(lambda below: below - 1) == DECLARE_NATURAL


# Whole matches.


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_own_length_is_four_deals_by_each_seat(seats):
    state, _ = chinese_poker.start(Options(), seats, SeededDeals(0))
    assert state.match.hands == 4 * seats


BAD = [
    pytest.param(Options(), 1, "2 to 4 seats, not 1", id="one seat"),
    pytest.param(Options(), 5, "2 to 4 seats, not 5", id="five hands are more than a pack"),
    pytest.param(Options(hands=4), 3, "not a multiple", id="unequal deals"),
]


@pytest.mark.parametrize(("options", "seats", "why"), BAD)
def test_bad_options(options, seats, why):
    with pytest.raises(BadOptions, match=why):
        chinese_poker.start(options, seats, SeededDeals(0))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(2, 4), st.integers(0, 2), st.integers(0, 10**6))
def test_random_matches(seats, rounds, seed):
    """They end in time, units cancel, and what `moves` says is what `step` takes."""
    chance, deals = random.Random(seed), SeededDeals(seed)
    state, _ = chinese_poker.start(Options(hands=rounds * seats), seats, deals)
    steps = 0
    while asked := chinese_poker.to_act(state):
        steps += 1
        chosen = []
        for seat in asked:
            moves = chinese_poker.moves(state, seat)
            view = chinese_poker.view(state, seat)
            fallback = chinese_poker.fallback(state, seat)
            move = chance.choice([moves.sample(chance.randrange), fallback])
            if view.natural and view.phase is Phase.SET and chance.random() < 0.5:
                move = DECLARE_NATURAL
            assert fallback in moves
            assert move in moves
            assert view.to_act == asked == chinese_poker.view(state, None).to_act
            chosen.append((seat, move))
        state, events = chinese_poker.step(state, tuple(chosen), deals)
        assert all(sum(event.units) == 0 for event, _ in events if isinstance(event, Scored))
    hands = rounds * seats or 4 * seats
    result = chinese_poker.result(state)
    assert steps <= 2 * hands
    assert len(result.hand_scores) == hands
    assert sum(result.scores) == 0
    assert result.scores == tuple(map(sum, zip(*result.hand_scores, strict=True)))
    assert chinese_poker.view(state, None).phase is Phase.OVER
    with pytest.raises(IllegalMove, match="over"):
        chinese_poker.step(state, (), deals)
