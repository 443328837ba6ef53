"""Kuhn Poker: who acts when, and what a hand is worth."""

import pytest

from arena.games.contract import BadOptions, IllegalMove
from arena.games.kuhn_poker import rules
from arena.games.kuhn_poker.messages import Call, Fold, Options
from arena.testing.deals import SeededDeals

# fmt: off
LINES = [
    # bets of a hand         who acts after each of them, why
    ((False, False),         [1, 0, 0], "both check, and the other seat is first in the next hand"),
    ((True, False),          [1, 0, 0], "a fold ends the hand"),
    ((False, True, False),   [1, 0, 1, 0], "a check may be answered by a bet"),
]
# fmt: on


@pytest.mark.parametrize(("bets", "turns", "why"), LINES, ids=[row[2] for row in LINES])
def test_who_acts(bets, turns, why):
    deals = SeededDeals("turns")
    state, _ = rules.start(Options(hands=2), 2, deals)
    seen = list(rules.to_act(state))
    for bet in bets:
        (seat,) = rules.to_act(state)
        state, _ = rules.step(state, ((seat, rules.moves(state, seat).all[bet]),), deals)
        seen += rules.to_act(state)
    assert seen == turns


@pytest.mark.parametrize("move", [Fold(), Call()])
def test_nobody_answers_a_bet_that_was_not_made(move):
    state, _ = rules.start(Options(), 2, SeededDeals("moves"))
    with pytest.raises(IllegalMove):
        rules.step(state, ((*rules.to_act(state), move),), SeededDeals("moves"))


def test_each_seat_deals_equally_often():
    with pytest.raises(BadOptions):
        rules.start(Options(hands=3), 2, SeededDeals("odd"))
