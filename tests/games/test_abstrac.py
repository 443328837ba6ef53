"""The rules of Abstrac where they surprise; the vectors hold the rest."""

import itertools
from collections import Counter

import pytest

from arena.games.abstrac import rules, scoring
from arena.games.abstrac import rules as abstrac
from arena.games.abstrac.messages import (
    HALF,
    Choose,
    Dealt,
    Options,
    Order,
    Phase,
    Scored,
    Take,
    Taken,
    Variant,
)
from arena.games.cards import JOKER, pack, parse_cards
from arena.games.contract import BadOptions, IllegalMove, Seat
from arena.testing.deals import SeededDeals, StackedDeals

SHORT_PACK = pack("9TJQKA")
FULL_PACK = pack()


def deals(variant, hands=2):
    """The same order of cards in every deal, so that each row is known."""
    cards = FULL_PACK if variant is Variant.FIFTYTWO else SHORT_PACK
    return StackedDeals({(hand, "deck"): cards for hand in range(hands)})


def started(variant=Variant.BASIC, **options):
    options = Options(variant=variant, **options)
    return abstrac.start(options, 2, deals(variant, hands=options.hands or options.max_hands))


def play(state, moves, variant=Variant.BASIC):
    """Play moves in turn; the state after them and all that was told."""
    events = []
    for move in moves:
        chosen = ((abstrac.to_act(state)[0], move),)
        state, told = abstrac.step(state, chosen, deals(variant, 50))
        events += [sent.event for sent in told]
    return state, events


def take_all(state, variant=Variant.BASIC, count=1):
    """Take `count` cards at a time, or what is left, to the end of the row."""
    events, hand, half = [], state.hand, state.half
    while abstrac.to_act(state) and (state.hand, state.half) == (hand, half):
        most = abstrac.moves(state, abstrac.to_act(state)[0]).count()
        state, told = play(state, [Take(min(count, most))], variant)
        events += told
    return state, events


# The choice and the turns.


# fmt: off
CHOICES = [
    # hand  dealer  chooser  choice        takes first   why
    (0,     0,      1,       Order.FIRST,  1,            "seat 0 deals first, so seat 1 chooses (B2)"),
    (0,     0,      1,       Order.SECOND, 0,            "second leaves the first cards to the dealer"),
    (1,     1,      0,       Order.FIRST,  0,            "the deal alternates"),
    (1,     1,      0,       Order.SECOND, 1,            "and so does the choice"),
]
# fmt: on


@pytest.mark.parametrize(
    ("hand", "dealer", "chooser", "order", "first", "why"), CHOICES, ids=[r[-1] for r in CHOICES]
)
def test_the_seat_that_does_not_deal_chooses(hand, dealer, chooser, order, first, why):
    state, _ = started()
    for _ in range(hand):
        state, _ = play(state, [Choose(Order.FIRST)])
        state, _ = take_all(state)
    view = abstrac.view(state, None)
    assert (view.hand, view.dealer, view.phase) == (hand, dealer, Phase.CHOOSE)
    assert abstrac.to_act(state) == (chooser,)
    assert abstrac.moves(state, Seat(chooser)).all == (Choose(Order.FIRST), Choose(Order.SECOND))
    state, _ = play(state, [Choose(order)])
    assert abstrac.to_act(state) == (first,)
    state, _ = play(state, [Take(1)])
    assert abstrac.to_act(state) == (1 - first,)


# fmt: off
ILLEGAL = [
    # before                      move                why
    ([],                          Take(1),            "cards before the choice"),
    ([Choose(Order.FIRST)],       Choose(Order.FIRST), "a second choice"),
    ([Choose(Order.FIRST)],       Take(0),            "no card: passing is not allowed"),
    ([Choose(Order.FIRST)],       Take(4),            "four cards in the basic game"),
    ([Choose(Order.FIRST)],       Take(-1),           "cards given back"),
]
# fmt: on


@pytest.mark.parametrize(("before", "move", "why"), ILLEGAL, ids=[row[-1] for row in ILLEGAL])
def test_it_is_illegal_to_play(before, move, why):
    state, _ = play(started()[0], before)
    with pytest.raises(IllegalMove, match=r"choose first or second|take from 1 to 3 cards"):
        play(state, [move])


def limits(variant, takes):
    """The most that may be taken before each of these takes and after them."""
    state, _ = play(started(variant)[0], [Choose(Order.FIRST)], variant)
    result = []
    for count in takes:
        result.append(abstrac.view(state, None).limit)
        state, _ = play(state, [Take(count)], variant)
    return [*result, abstrac.view(state, None).limit]


# The row runs 9c 9d 9h 9s Tc Td ..., four suits in turn.
# fmt: off
LIMITS = [
    (Variant.BASIC,      [3] * 7,      [3] * 8,                 "always three"),
    (Variant.BASIC,      [3] * 7 + [1], [3] * 8 + [2],          "two cards are left (ruling 2)"),
    (Variant.SUIT,       [1, 1, 1, 1], [3, 4, 2, 1, 3],         "clubs 3, diamonds 4, hearts 2, spades 1"),
    (Variant.SUIT,       [3, 1],       [3, 1, 3],               "the card now on top says it (ruling 7)"),
    (Variant.UNFETTERED, [12, 13],     [12, 13, 12],            "twelve and thirteen end the deal (ruling 8)"),
    (Variant.UNFETTERED, [5, 1, 2, 3], [12, 6, 2, 3, 4],        "one more than the turn before, up and down"),
    (Variant.FIFTYTWO,   [1, 4, 1],    [3, 4, 4, 2],            "by suit there too"),
]
# fmt: on


@pytest.mark.parametrize(
    ("variant", "takes", "expected", "why"), LIMITS, ids=[r[-1] for r in LIMITS]
)
def test_most_that_may_be_taken(variant, takes, expected, why):
    # The last limit is of the next deal's choice, 0, where the row has ended.
    result = limits(variant, takes)
    if sum(takes) == 25:
        expected = [*expected[:-1], 0]
    assert result == expected


def test_the_joker_is_always_the_first_card_of_the_unfettered_row():
    state, _ = started(Variant.UNFETTERED)
    assert abstrac.view(state, None).row == (JOKER, *SHORT_PACK)


# Scores.


# fmt: off
HEAPS = [
    # one                       other                       points      why
    ("9c9d9h",                  "AsKsQs",                   (6, 9),     "own points times the other's cards (B7)"),
    ("9c9d9h9s",                "AsKsQsJs",                 (32, 16),   "four of a kind is 8, a run of four 4 (B6)"),
    ("9c9d9h",                  "AsKs",                     (0, 4),     "only one has none: it scores the other's product"),
    ("AsKs",                    "9c9d9h",                   (4, 0),     "the misère the other way round (ruling 6)"),
    ("9cTd",                    "AsKs",                     (0, 0),     "neither has any"),
    ("9s Ts Js Qs Ks As",       "9c9d9h",                   (36, 12),   "a run of six is 12, not two of three (ruling 3)"),
    ("9c 9d 9h Tc Jc",          "AsKsQs",                   (15, 15),   "a card counts once in a set and once in a run"),
    ("Jk 9c9d9h",               "AsKsQs",                   (6, 12),    "the joker is a card, but in no combination"),
]
# fmt: on


@pytest.mark.parametrize(("one", "other", "points", "why"), HEAPS, ids=[row[-1] for row in HEAPS])
def test_two_heaps_score(one, other, points, why):
    assert scoring.deal_points(parse_cards(one), parse_cards(other)) == points
    assert scoring.deal_points(parse_cards(other), parse_cards(one)) == points[::-1]


def test_the_whole_pack_is_worth_96():
    assert scoring.combination_points(SHORT_PACK) == 96
    assert scoring.combination_points(SHORT_PACK[::-1]) == 96


def test_the_order_in_which_cards_were_taken_does_not_matter():
    for cards in itertools.permutations(parse_cards("9c9d9hTcJc")):
        assert scoring.combination_points(cards) == 5


# fmt: off
HALVES = [
    # cards                                             points  why
    ("",                                                0,      "no cards at all"),
    ("As",                                              24,     "one card: 1 x 1 x 1, and 12 short: x 24"),
    ("2c 3d 4h 5s 6c 7d 8h 9s Tc Jd Qh Ks As",          4 * 13 * 1, "a run through all ranks, whatever the suits"),
    ("3c 4d 5h 6s 7c 8d 9h Ts Jc Qd Kh As",             3 * 12 * 1 * 2, "twelve cards: 1 short, so x 2"),
    ("2c 2d 3d 4h 5s 6c 7d 8h 9s Tc Jd Qh Ks As",       4 * 13 * 2, "fourteen cards are not short"),
    ("Ac 2c",                                           2 * 1 * 1 * 22, "the ace is high only"),
    ("2c 2d 2h 2s",                                     1 * 1 * 4 * 18, "four of a rank"),
]
# fmt: on


@pytest.mark.parametrize(("cards", "points", "why"), HALVES, ids=[row[-1] for row in HALVES])
def test_a_half_scores(cards, points, why):
    assert scoring.half_points(parse_cards(cards)) == points


# The 52-card game.


def test_a_round_of_52_has_two_halves_and_the_second_mover_begins_the_second():
    state, told = started(Variant.FIFTYTWO)
    assert [sent.event for sent in told] == [Dealt(0, 1, Seat(0), FULL_PACK[:HALF])]
    state, _ = play(state, [Choose(Order.FIRST)], Variant.FIFTYTWO)
    assert abstrac.to_act(state) == (1,)
    state, events = take_all(state, Variant.FIFTYTWO)
    scored, dealt = events[-2:]
    assert isinstance(scored, Scored)
    assert scored.totals == (0, 0), "nothing counts before the round is complete"
    assert dealt == Dealt(0, 2, Seat(0), FULL_PACK[HALF:])
    assert abstrac.to_act(state) == (0,), "no choice: who moved second begins (B8)"
    seen = abstrac.view(state, None)
    assert (seen.half, seen.undealt, seen.taken) == (2, 0, ((), ()))
    state, events = take_all(state, Variant.FIFTYTWO)
    first = scored.points
    (second,) = [event for event in events if isinstance(event, Scored)]
    assert all(a <= b for a, b in zip(first, second.points, strict=True)), "halves add (B10)"
    assert second.totals == second.points == state.totals
    assert state.hand == 1
    assert abstrac.view(state, None).phase is Phase.CHOOSE


def test_the_undealt_half_shows_its_number_and_nothing_else():
    """Two packs that differ in the second half look alike in the first."""
    views = set()
    for rest in (FULL_PACK[HALF:], FULL_PACK[:HALF:-1] + FULL_PACK[HALF : HALF + 1]):
        order = StackedDeals({(0, "deck"): FULL_PACK[:HALF] + rest})
        state, _ = abstrac.start(Options(variant=Variant.FIFTYTWO), 2, order)
        views.add(tuple(abstrac.view(state, seat) for seat in (None, 0, 1)))
    assert len(views) == 1
    ((view, _, _),) = views
    assert view.undealt == HALF


# The end of the match.


# fmt: off
ENDINGS = [
    # options                 deals  totals      over    why
    (Options(),               1,     (9, 0),     False,  "two deals are played, each seat dealing once"),
    (Options(),               2,     (9, 9),     True,   "a draw after two deals is a draw"),
    (Options(hands=4),        3,     (900, 0),   False,  "a fixed length is no race"),
    (Options(hands=0),        1,     (499, 0),   False,  "nobody has 500"),
    (Options(hands=0),        1,     (500, 0),   True,   "500, after an odd number of deals too"),
    (Options(hands=0),        5,     (500, 500), False,  "equal above the target: another deal (B11)"),
    (Options(hands=0),        5,     (510, 500), True,   "both above: the higher wins"),
    (Options(hands=0, target=1), 1,  (0, 0),     False,  "nobody has any"),
    (Options(hands=0),        49,    (1, 0),     False,  "the last but one deal of the longest race"),
    (Options(hands=0),        50,    (0, 0),     True,   "the longest race ends even level"),
]
# fmt: on


@pytest.mark.parametrize(
    ("options", "count", "totals", "over", "why"), ENDINGS, ids=[r[-1] for r in ENDINGS]
)
def test_the_match_is_over(options, count, totals, over, why):
    assert rules.is_over(options, count, totals) is over


@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize("count", [1, 2, 13])
def test_a_whole_match_takes_every_card_once(variant, count):
    state, told = started(variant)
    events = [sent.event for sent in told]
    while abstrac.to_act(state):
        if abstrac.view(state, None).phase is Phase.CHOOSE:
            state, more = play(state, [Choose(Order.SECOND)], variant)
        else:
            state, more = take_all(state, variant, count)
        events += more
    taken = Counter(card for event in events if isinstance(event, Taken) for card in event.cards)
    dealt = Counter(card for event in events if isinstance(event, Dealt) for card in event.row)
    assert taken == dealt
    result = abstrac.result(state)
    assert len(result.hand_scores) == 2
    assert result.scores == state.totals
    view = abstrac.view(state, None)
    assert (view.phase, view.to_act, view.row, view.limit) == (Phase.OVER, None, (), 0)


def test_the_fallback_is_to_take_first_and_then_a_single_card():
    state, _ = started()
    assert abstrac.fallback(state, Seat(1)) == Choose(Order.FIRST)
    state, _ = play(state, [Choose(Order.FIRST)])
    assert abstrac.fallback(state, Seat(1)) == Take(1)


@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize(
    ("options", "hands", "limited"),
    [
        ({"hands": 3}, 3, False),
        ({"hands": 0, "target": 100_000, "max_hands": 5}, 5, True),
    ],
    ids=["any number of deals", "a race that its limit ends"],
)
def test_a_match_is_as_long_as_its_options_say(variant, options, hands, limited):
    options = Options(variant=variant, **options)
    state, _ = abstrac.start(options, 2, SeededDeals("length"))
    while abstrac.to_act(state):
        seat = abstrac.to_act(state)[0]
        state, _ = abstrac.step(
            state, ((seat, abstrac.fallback(state, seat)),), SeededDeals("length")
        )
    result = abstrac.result(state)
    assert (len(result.hand_scores), result.ended_by_limit) == (hands, limited)


@pytest.mark.parametrize(("hands", "seats"), [(2, 3), (2, 1)])
def test_a_match_that_cannot_be_is_refused(hands, seats):
    with pytest.raises(BadOptions):
        abstrac.start(Options(hands=hands), seats, deals(Variant.BASIC))


@pytest.mark.parametrize(
    ("held", "parts", "why"),
    [
        ("9c 9d 9h", [(False, "9c 9d 9h", 2)], "three of a rank are a set"),
        ("Tc 9c Jc Kc", [(True, "9c Tc Jc", 3)], "of a suit the longest run, low ones first"),
        ("Jk 9c 9d", [], "the joker is in no combination"),
        (
            "9c Tc Jc 9d 9h",
            [(False, "9c 9d 9h", 2), (True, "9c Tc Jc", 3)],
            "a card counts in a set and in a run",
        ),
    ],
)
def test_combinations_say_which_cards_they_are_made_of(held, parts, why):
    result = scoring.combinations(held.split())
    assert [(item.is_run, " ".join(item.cards), item.points) for item in result] == parts, why
