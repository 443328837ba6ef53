"""The rules of Democracy where they surprise, and matches played at random."""

import random
from collections import Counter

import pytest

from arena.games.cards import JOKER, pack, parse_cards
from arena.games.contract import BadOptions, IllegalMove, Seat
from arena.games.democracy import messages, rules, scoring
from arena.games.democracy import rules as democracy
from arena.games.democracy.messages import (
    RANKING,
    SIZES,
    Options,
    Phase,
    PlayCard,
    Shown,
    SuitPoints,
)
from arena.games.democracy.rules import Day
from arena.games.options import build_options
from arena.testing.deals import SeededDeals, StackedDeals
from tests.games.random_play import random_turns

# The digest's figures for random play: decisions of an island, and most in a match.
PER_ISLAND = {2: 32, 3: 36, 4: 40, 5: 40, 6: 42}
MOST_SEEN = {2: 160, 3: 324, 4: 560, 5: 720, 6: 1050}


def full_deck(seats):
    return pack(RANKING, jokers=SIZES[seats].jokers)


# fmt: off
TRICKS = [
    # upcard  plays             winner  why
    ("6c",    "5c 7c",             0,   "upcard 6: the 5 is not beaten (R3)"),
    ("6c",    "4s 5s",             1,   "upcard 6, no trump played: the 6 does not compete (R3)"),
    ("5c",    "6c 5s",             0,   "upcard 5: the 6 is a lone trump (R3)"),
    ("9h",    "Qs Qd Kc",          2,   "a tie below the top is irrelevant (R4)"),
    ("9h",    "Ks Kd Qc Qh",       3,   "one trump settles what would be a tie"),
    ("9h",    "Jk 5s 5d",       None,   "joker and two plain fives tie (R5)"),
    ("9h",    "Jk 4s 3d",          0,   "a joker alone at the top wins as a plain 5 (R5)"),
    ("5h",    "6h Jk",             0,   "a joker is no 5 of trump, the 6 is just a trump (R5)"),
    ("Jk",    "Jk 5s Ac 6d",    None,   "joker to a joker: not trump, ties with the 5 (R6)"),
    ("Jk",    "Jk 4s Ac 6d",       0,   "joker to a joker: wins as a plain 5 (R6)"),
    ("Kd",    "Kc Ks 3h Ac",       2,   "without trump suits do not matter"),
]
# fmt: on


@pytest.mark.parametrize(
    ("upcard", "plays", "winner", "why"), TRICKS, ids=[row[-1] for row in TRICKS]
)
def test_a_trick_is_won_by(upcard, plays, winner, why):
    assert scoring.trick_winner(upcard, parse_cards(plays)) == winner


def test_a_tie_gives_every_seat_its_own_card_and_discards_the_upcard():
    plays = parse_cards("Ks Kd 7c")
    island = scoring.capture(scoring.unplayed(3), JOKER, plays, None)
    assert island.captured == (("Ks",), ("Kd",), ("7c",))
    assert island.points == (SuitPoints(spades=2), SuitPoints(diamonds=2), SuitPoints(clubs=1))
    assert (island.discarded, island.winners) == ((JOKER,), (messages.TIE,))


# fmt: off
ENDINGS = [
    # options           islands  totals     over   why
    (Options(),              9, (4, 4, 4), False, "nobody has five"),
    (Options(),             40, (4, 4, 4), True,  "the guard ends even a tie (R9)"),
    (Options(),             39, (5, 5, 0), False, "tied leaders play on (R8)"),
    (Options(target=2),      1, (2, 1, 0), True,  "a shorter race"),
    (Options(hands=6),       5, (9, 1, 0), False, "a fixed length is no race"),
    (Options(hands=6),       6, (0, 0, 0), True,  "a fixed length ends in a tie too"),
]
# fmt: on


@pytest.mark.parametrize(
    ("options", "islands", "totals", "over", "why"), ENDINGS, ids=[row[-1] for row in ENDINGS]
)
def test_the_match_is_over(options, islands, totals, over, why):
    assert rules.is_over(options, islands, totals) is over


@pytest.mark.parametrize("seats", SIZES)
def test_day_two_gets_all_that_day_one_left(seats):
    """R1: the seed's numbers on day 1, the rest divided evenly, nothing over."""
    left = len(full_deck(seats)) - SIZES[seats].first_day * (seats + 1)
    assert divmod(left, seats + 1) == (SIZES[seats].second_day, 0)
    tricks = SIZES[seats].first_day + SIZES[seats].second_day
    assert tricks * seats == PER_ISLAND[seats]


def test_a_suit_is_worth_25():
    assert sum(scoring.POINTS.values()) == 25


def test_cards_are_dealt_singly_from_the_dealers_left_and_to_the_pool_last():
    deck = full_deck(3)
    state, _ = democracy.start(Options(), 3, StackedDeals({(0, "deck"): deck}))
    assert set(state.day.hands[1]) == set(deck[0:32:4])  # left of the dealer, seat 0
    assert set(state.day.hands[2]) == set(deck[1:32:4])
    assert set(state.day.hands[0]) == set(deck[2:32:4])
    assert state.day.pool == deck[3:32:4]
    assert state.day.undealt == deck[32:]


def with_hand(hand, others, upcard):
    """Four seats in the middle of day 1, seat 0 with `hand`."""
    state, _ = democracy.start(Options(), 4, SeededDeals(0))
    hands = (parse_cards(hand), *map(parse_cards, others))
    day = Day(1, hands, (upcard, *state.day.pool[1:]), state.day.undealt)
    return democracy.State(state.match, state.island, day)


def test_equal_jokers_are_one_move_and_leave_the_hand_one_at_a_time():
    state = with_hand("6c Jk Jk", ("7c 8c 9c", "7d 8d 9d", "7h 8h 9h"), "6s")
    assert democracy.moves(state, Seat(0)).all == (PlayCard("6c"), PlayCard(JOKER))
    chosen = tuple(enumerate(map(PlayCard, (JOKER, "7c", "7d", "7h"))))
    after, _ = democracy.step(state, chosen, SeededDeals(0))
    assert after.day.hands[0] == ("6c", JOKER)


def test_the_fallback_is_the_lowest_card_not_the_cheapest():
    """The hand runs 6 to K, A, 3, 4, 5 and joker, though a joker is worth nothing."""
    cards = [*parse_cards("5c Jk Ad 3h 6s 6d"), *parse_cards("Kc")]
    assert sorted(cards, key=messages.HAND_ORDER.__getitem__) == [
        "6d", "6s", "Kc", "Ad", "3h", "5c", "Jk",
    ]  # fmt: skip
    state, _ = democracy.start(Options(), 3, SeededDeals(4))
    for seat in range(3):
        held = democracy.view(state, seat).held
        assert held == tuple(sorted(held, key=messages.HAND_ORDER.__getitem__))
        assert democracy.fallback(state, seat) == PlayCard(held[0])


def test_a_bad_choice_leaves_the_state_as_it_was():
    state, _ = democracy.start(Options(), 2, SeededDeals(1))
    mine, theirs = state.day.hands[0][0], state.day.hands[1][0]
    kept = state.day.hands
    for chosen in (
        ((0, PlayCard(mine)),),
        ((0, PlayCard(mine)), (1, PlayCard(mine))),
        ((1, PlayCard(theirs)), (0, PlayCard(mine))),
    ):
        with pytest.raises(IllegalMove):
            democracy.step(state, chosen, SeededDeals(1))
    assert state.day.hands is kept


@pytest.mark.parametrize("seats", [1, 7])
def test_there_are_two_to_six_seats(seats):
    with pytest.raises(BadOptions, match="2 to 6"):
        democracy.start(Options(), seats, SeededDeals(0))


@pytest.mark.parametrize(
    ("given", "seats"),
    [({"hands": 4}, 3), ({"hands": 41}, 2), ({"target": 0}, 2), ({"tribes": 5}, 2)],
    ids=["not a multiple of the seats", "past the guard", "no target", "no such option"],
)
def test_options_are_checked(given, seats):
    with pytest.raises(BadOptions):
        democracy.start(build_options(Options, given), seats, SeededDeals(0))


def play(seats, seed, options=Options()):  # noqa: B008 - frozen
    """A random match: every state and what was told on entering it."""
    deals, chooser = SeededDeals(seed), random.Random(seed)
    for turn in random_turns(democracy, options, seats, chooser, deals):
        yield turn.after, turn.events


def all_cards(state):
    day, island = state.day, state.island
    piles = (*day.hands, day.pool, day.undealt, *island.captured, island.discarded)
    return Counter(card for pile in piles for card in pile)


@pytest.mark.parametrize("seats", SIZES)
@pytest.mark.parametrize("seed", range(4))
def test_random_matches_keep_the_cards_and_end_in_the_digests_bounds(seats, seed):
    whole, decisions = Counter(full_deck(seats)), 0
    for state, _ in play(seats, seed):
        assert all_cards(state) == whole
        for seat in democracy.to_act(state):
            decisions += 1
            offered = democracy.moves(state, seat)
            assert democracy.fallback(state, seat) in offered
            assert 1 <= offered.count() <= SIZES[seats].first_day
    ended = democracy.result(state)
    assert decisions == PER_ISLAND[seats] * len(ended.hand_scores) <= MOST_SEEN[seats]
    assert ended.scores == tuple(map(sum, zip(*ended.hand_scores, strict=True)))
    assert max(ended.scores) >= 5
    assert ended.places.count(1) == 1
    seen = democracy.view(state, None)
    assert (seen.phase, seen.upcard, seen.pool) == (Phase.OVER, None, 0)
    assert len(seen.island.upcards) * seats == PER_ISLAND[seats]


def test_a_fixed_length_lets_every_seat_deal_equally_often():
    states = [state for state, _ in play(3, 5, Options(hands=6, target=1))]
    dealers = {democracy.hand_number(state): democracy.view(state, None).dealer for state in states}
    assert dealers == {0: 0, 1: 1, 2: 2, 3: 0, 4: 1, 5: 2}
    assert len(democracy.result(states[-1]).hand_scores) == 6


def test_no_match_goes_on_once_it_is_over():
    *_, (over, _) = play(2, 0)
    with pytest.raises(IllegalMove, match="over"):
        democracy.step(over, (), SeededDeals(0))


def told_to(seat, told):
    return [event for event, seats in told if seats is None or seat in seats]


def test_a_seat_learns_its_hand_and_the_public_line_and_nothing_else():
    """The same own cards and the same public line give the same view and events."""
    seats, size = 4, SIZES[4]
    deck = list(SeededDeals(6).shuffle(0, "deck", full_deck(seats)))
    day_one = size.first_day * (seats + 1)
    # Seat 3 is dealt at places 2, 7, 12 …; the upcard lies at place 4.
    known = {*range(2, day_one, seats + 1), 4}
    hidden = [at for at in range(len(deck)) if at not in known]
    seen = set()
    for seed in range(20):
        order = SeededDeals(seed).shuffle(0, "hidden", [deck[at] for at in hidden])
        for at, card in zip(hidden, order, strict=True):
            deck[at] = card
        state, events = democracy.start(Options(), seats, StackedDeals({(0, "deck"): deck}))
        assert democracy.view(state, 0).held == state.day.hands[0]
        seat_sees = (democracy.view(state, 3), *told_to(3, events))
        all_see = (democracy.view(state, None), *(event for event, who in events if who is None))
        seen.add((seat_sees, all_see, democracy.moves(state, 3).all))
    assert len(seen) == 1


def test_nobody_but_its_seat_is_told_a_hand_and_tricks_are_told_to_all():
    for _, events in play(3, 2):
        for event, who in events:
            if isinstance(event, messages.Dealt):
                assert who == (event.seat,)
            else:
                assert who is None


def test_the_view_lists_the_tricks_that_were_shown():
    states = list(play(4, 3))[:7]
    shown = [event for _, events in states for event, _ in events if isinstance(event, Shown)]
    first, last = (democracy.view(states[at][0], None) for at in (0, -1))
    assert (first.pool, first.hand_size, first.undealt) == (5, 6, 20)  # one of six is turned up
    assert (last.day, last.pool, last.hand_size, last.undealt) == (2, 3, 4, 0)
    island = last.island
    assert island.upcards == tuple(event.upcard for event in shown)
    assert island.plays == tuple(card for event in shown for card in event.cards)
    assert island.winners == tuple(event.winner for event in shown)


def test_a_tie_is_the_same_value_in_the_event_as_in_the_view():
    told_last = [
        (event.winner, democracy.view(state, None).island.winners[-1:])
        for state, events in play(2, 2)
        for event, _ in events
        if isinstance(event, Shown)
    ]
    assert (messages.TIE, (messages.TIE,)) in told_last
