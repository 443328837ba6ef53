"""Jam: what would surprise, and that every deal runs its 26 tricks."""

import itertools
import random
from dataclasses import replace

import pytest

from arena.games.cards import PACK_52
from arena.games.contract import BadOptions
from arena.games.jam import rules as jam
from arena.games.jam import scoring
from arena.games.jam.messages import Options
from arena.games.jam.rules import Match
from arena.games.jam.scoring import Claim
from arena.testing.deals import SeededDeals
from tests.games.random_play import random_turns

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
    decisions = 0
    for turn in random_turns(jam, Options(hands=2), 2, draw, deals):
        decisions += len(turn.chosen)
        for seat in turn.acting:
            assert jam.fallback(turn.after, seat) in jam.moves(turn.after, seat)
            assert sorted(held_by(turn.after)) == sorted(PACK_52)
    assert decisions == 2 * 174
    assert [len(side.played) for side in turn.after.deal.sides] == [26, 26]


def test_the_dealer_has_the_black_cards_and_does_not_lead():
    state, _ = jam.start(Options(), 2, SeededDeals("colours"))
    dealer, other = state.deal.sides
    assert {card[1] for card in (*dealer.hand, *dealer.stock)} == {"c", "s"}
    assert {card[1] for card in (*other.hand, *other.stock)} == {"d", "h"}
    assert jam.to_act(state) == (1,)


QUIET = [0, 1] * 13
"""Winners of a hand that scores nothing."""
BABY = [0] * 4 + [1, 1, 0] * 4 + [1, 0] * 5
"""Thirteen tricks each, and a baby slam of seat 0: one point."""

# fmt: off
ENDS = [
    # points  hand   of seat  rubbers of  won     hands   over   points  won     scores  limited  why
    ((4, 0),  BABY,  0,       1,          (0, 0), 0,      True,  (5, 0), (1, 0), (5, 0), False, "five points and more than the other win a rubber"),
    ((0, 4),  BABY,  1,       1,          (0, 0), 0,      True,  (0, 5), (0, 1), (0, 5), False, "... also for seat 1, if it has them"),
    ((3, 0),  BABY,  0,       1,          (0, 0), 0,      False, (4, 0), (0, 0), None,   None,  "four do not"),
    ((4, 5),  BABY,  0,       1,          (0, 0), 0,      False, (5, 5), (0, 0), None,   None,  "nor do equal points"),
    ((5, 5),  BABY,  1,       1,          (0, 0), 0,      True,  (5, 6), (0, 1), (5, 6), False, "the next difference decides"),
    ((3, 2),  QUIET, 0,       1,          (0, 0), 49,     True,  (3, 2), (1, 0), (3, 2), True,  "after fifty hands more points win"),
    ((2, 3),  QUIET, 0,       1,          (0, 0), 49,     True,  (2, 3), (0, 1), (2, 3), True,  "... also those of seat 1"),
    ((2, 2),  QUIET, 0,       1,          (0, 0), 49,     True,  (2, 2), (0, 0), (2, 2), True,  "... and equal points are drawn"),
    ((3, 2),  QUIET, 0,       1,          (0, 0), 48,     False, (3, 2), (0, 0), None,   None,  "... not after forty-nine"),
    ((4, 0),  BABY,  0,       2,          (0, 0), 0,      False, (0, 0), (1, 0), None,   None,  "each rubber of a match starts with no points"),
    ((4, 3),  BABY,  0,       2,          (0, 1), 0,      False, (0, 0), (1, 1), None,   None,  "one rubber each"),
    ((4, 3),  BABY,  0,       2,          (1, 0), 0,      True,  (5, 3), (2, 0), (2, 0), False, "two rubbers win the match"),
    ((3, 4),  BABY,  1,       2,          (0, 1), 0,      True,  (3, 5), (0, 2), (0, 2), False, "... also for seat 1"),
]
# fmt: on


@pytest.mark.parametrize(
    ("points", "hand", "seat", "rubbers", "won", "hands", "over", "after", "rubbers_won", "scores", "limited", "why"),
    ENDS,
    ids=[row[-1] for row in ENDS],
)  # fmt: skip
def test_after_a_hand(
    points, hand, seat, rubbers, won, hands, over, after, rubbers_won, scores, limited, why
):
    winners = [winner ^ seat for winner in hand]
    deals, leader = SeededDeals("the last trick"), winners[-1]
    match = Match(Options(rubbers=rubbers), 6, hands, points, won, sum(won), ())
    state = jam.deal_hand(match, deals).state
    cards = [("As",), ("2s",)] if leader == 0 else [("2s",), ("As",)]
    sides = [
        replace(side, hand=held, stock=())
        for side, held in zip(state.deal.sides, cards, strict=True)
    ]
    deal = replace(state.deal, sides=tuple(sides), turn=leader, winners=tuple(winners[:-1]))
    state = replace(state, deal=deal)
    for player in (leader, 1 - leader):
        assert jam.to_act(state) == (player,)
        state, _ = jam.step(state, ((player, jam.moves(state, player).all[0]),), deals)
    view, result = jam.view(state, None), jam.result(state)
    assert (view.totals, view.rubbers) == (after, rubbers_won)
    assert (result is not None) is over
    assert not over or (result.scores, result.ended_by_limit) == (scores, limited)
    assert (view.hand, view.dealer, view.to_act) == ((6, 0, None) if over else (7, 1, 0))


def test_a_match_to_two_rubbers_scores_rubbers():
    draw, deals = random.Random(3), SeededDeals("rubbers")
    *_, last = random_turns(jam, Options(rubbers=2), 2, draw, deals)
    result = jam.result(last.after)
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
