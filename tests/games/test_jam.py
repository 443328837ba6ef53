"""Jam: what would surprise, and that every deal runs its 26 tricks."""

import itertools
import random
from dataclasses import replace

import pytest

from arena.cards import PACK_52
from arena.games.contract import BadOptions
from arena.games.jam import rules as jam
from arena.games.jam import scoring
from arena.games.jam.options import Options
from arena.games.jam.scoring import Claim
from arena.games.jam.state import Match
from arena.testing.deals import SeededDeals

# fmt: off
CLAIMS = [
    # streaks of seat 0            babies grand  majority  why
    ((4,),                    Claim(1, False,  0), "four in a row are a baby slam"),
    ((5,),                    Claim(0, True,   0), "five are a grand slam instead of the baby"),
    ((8,),                    Claim(0, True,   0), "a grand out of exactly eight leaves three spare tricks, no baby"),
    ((9,),                    Claim(1, True,   0), "nine are a grand and a baby"),
    ((8, 5),                  Claim(2, True,   0), "the grand goes where it costs least"),
    ((5, 5, 5),               Claim(2, True,  14), "fifteen tricks beside a grand count as fourteen"),
    ((3, 3, 3, 3, 3),         Claim(0, False, 15), "fifteen tricks without any slam"),
    ((8, 7),                  Claim(2, True,  14), "with eight and seven the grand costs a baby of seven"),
    ((26,),                   Claim(5, True,  14), "all tricks: the most there is"),
]
# fmt: on


def winners_of(streaks):
    """Tricks of a deal in which seat 0 has these streaks, as far apart as can be."""
    row = list(itertools.chain.from_iterable([0] * length + [1] for length in streaks))
    return (row + [1] * scoring.TRICKS)[: scoring.TRICKS]


@pytest.mark.parametrize(("streaks", "claim", "why"), CLAIMS, ids=[row[2] for row in CLAIMS])
def test_the_best_claim_is_made(streaks, claim, why):
    assert scoring.best_claim(winners_of(streaks), 0) == claim


def brute_force_points(winners, seat):
    """The most points over all ways to cut the seat's streaks into slams."""
    best = {(0, False)}  # babies claimed, grand claimed
    for who, run in itertools.groupby(winners):
        length = len(list(run))
        if who != seat:
            continue
        ways = [(length // 4, False)]
        if length >= 5:
            ways.append(((length - 5) // 4, True))
        best = {
            (babies + more, grand or now)
            for babies, grand in best
            for more, now in ways
            if not (grand and now)
        }
    won = sum(winner == seat for winner in winners)
    majority = {False: 3 if won >= 15 else 2 if won == 14 else 0, True: 2 if won >= 14 else 0}
    return max(babies + (3 if grand else 0) + majority[grand] for babies, grand in best)


def test_claims_are_worth_as_much_as_the_best_of_all_ways_to_claim():
    draw = random.Random(20)
    for _ in range(2_000):
        keep = draw.random()
        winners = [draw.randrange(2)]
        for _ in range(scoring.TRICKS - 1):
            winners.append(winners[-1] if draw.random() < keep else draw.randrange(2))
        for seat in (0, 1):
            claimed = scoring.claim_points(scoring.best_claim(winners, seat))
            assert claimed == brute_force_points(winners, seat), winners


def held_by(state):
    """All cards of a deal, wherever they are."""
    for side in state.deal.sides:
        yield from (*side.hand, *side.stock, *side.discards, *side.played)


@pytest.mark.parametrize("seed", range(5))
def test_a_deal_takes_174_decisions_and_keeps_all_cards(seed):
    draw, deals = random.Random(seed), SeededDeals(f"jam {seed}")
    state, _ = jam.start(Options(hands=2), 2, deals)
    decisions = 0
    while acting := jam.to_act(state):
        moves = jam.moves(state, acting[0])
        assert jam.fallback(state, acting[0]) in moves
        assert sorted(held_by(state)) == sorted(PACK_52)
        state, _ = jam.step(state, ((acting[0], moves.sample(draw.randrange)),), deals)
        decisions += 1
    assert decisions == 2 * 174
    assert [len(side.played) for side in state.deal.sides] == [26, 26]


def test_the_dealer_has_the_black_cards_and_does_not_lead():
    state, _ = jam.start(Options(), 2, SeededDeals("colours"))
    dealer, other = state.deal.sides
    assert {card[1] for card in (*dealer.hand, *dealer.stock)} == {"c", "s"}
    assert {card[1] for card in (*other.hand, *other.stock)} == {"d", "h"}
    assert jam.to_act(state) == (1,)


def test_a_match_to_two_rubbers_scores_rubbers():
    draw, deals = random.Random(3), SeededDeals("rubbers")
    state, _ = jam.start(Options(rubbers=2), 2, deals)
    while acting := jam.to_act(state):
        state, _ = jam.step(
            state, ((acting[0], jam.moves(state, acting[0]).sample(draw.randrange)),), deals
        )
    result = jam.result(state)
    assert max(result.scores) == 2
    assert sum(result.scores) <= scoring.MAX_RUBBERS


@pytest.mark.parametrize(
    ("before", "over"), [(3, False), (4, True)], ids=["the fourth", "the fifth is the last"]
)
def test_rubbers_of_a_match_are_counted(before, over):
    """Ruling 13: a rubber ends with its fiftieth deal at the latest, a match with five rubbers."""
    deals, options = SeededDeals("many rubbers"), Options(rubbers=3)
    state, _ = jam.start(options, 2, deals)
    assert state.match == Match(options, 0, 0, (0, 0), (0, 0), 0, ())
    late = replace(state.match, rubber_deals=options.max_hands - 1, rubbers_played=before)
    state = replace(state, match=late)
    while (acting := jam.to_act(state)) and not state.match.hand_scores:
        move = jam.moves(state, acting[0]).offered[0]
        state, _ = jam.step(state, ((acting[0], move),), deals)
    assert (jam.result(state) is not None) is over
    assert state.match.rubbers_played == before + 1
    assert (state.match.rubber_deals == 0) is not over
    assert not over or jam.result(state).ended_by_limit


def test_three_hands_do_not_let_both_deal_equally_often():
    with pytest.raises(BadOptions, match="not a multiple"):
        jam.start(Options(hands=3), 2, SeededDeals("x"))
