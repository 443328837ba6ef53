"""Betting by equity, for the policies of the poker games, and what a bet says about a hand."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Final

from arena.cards import Card
from arena.games.betting.moves import CALL, CHECK, FOLD, Wager
from arena.games.betting.rounds import Round
from arena.games.contract import Moves, Seat

EDGE: Final = 1.1
"""A seat bets when its equity is so many times its share."""
EQUITY_ERROR: Final = 0.1
"""The standard deviation of an equity that another seat goes by, around our estimate."""
OTHERWISE: Final = 0.1
"""The part of bets that are not read."""


def bet(betting: Round, offered: Sequence[Any], equity: float) -> Any:
    """The move of a hand that should win so much of the pot: the higher the equity, the larger a bet."""
    chips = betting.chips
    wagers = [move for move in offered if isinstance(move, Wager)]
    share = 1 / len(betting.live)
    if wagers and (equity > EDGE * share or len(wagers) == len(offered)):
        size = int((equity - share) / (1 - share) * len(wagers))
        return wagers[max(0, min(size, len(wagers) - 1))]
    if not betting.to_call:
        return CHECK
    pot = sum(chips.bets) + sum(chips.paid)
    return CALL if equity * (pot + betting.to_call) > betting.to_call else FOLD


def likelihood(
    so_far: Iterable[tuple[Any, Seat, Any]],
    seat: Seat,
    moves: Callable[[Any, Seat], Moves],
    equity: Callable[[Any, Seat], float],
) -> float:
    """How likely the other seats' bets of a hand are, if each has the cards of these states and bets by its equity.

    A bet narrows down the equities with which this policy makes it, give or take `EQUITY_ERROR`; in one of `OTHERWISE`
    cases a seat makes any move.

    Args:
      so_far: Each state of the hand before a betting move, with the seat that moved and its move.
      seat: The seat whose own bets are left out.
      moves: Returns the moves of a seat in a state.
      equity: Returns an estimate of the equity of a seat in a state.
    """
    found: dict[tuple[object, ...], float] = {}
    result = 1.0
    for state, each, move in so_far:
        if each == seat:
            continue
        betting: Round = state.betting
        key = (each, betting.live, len(state.line.starts))
        if key not in found:
            found[key] = equity(state, each)
        choices = moves(state, each).offered
        low, high = _equities_of(move, betting, choices)
        by_policy = _normal((high - found[key]) / EQUITY_ERROR) - _normal(
            (low - found[key]) / EQUITY_ERROR
        )
        result *= OTHERWISE / len(choices) + (1 - OTHERWISE) * by_policy
    return result


def _equities_of(move: Any, betting: Round, offered: Sequence[Any]) -> tuple[float, float]:
    """From which equity to which `bet` makes a move; a wager of another size counts as the next smaller one offered."""
    wagers = [each for each in offered if isinstance(each, Wager)]
    share = 1 / len(betting.live)
    edge = EDGE * share if wagers else math.inf
    if len(wagers) == len(offered):
        edge = -math.inf
    if isinstance(move, Wager):
        number, step = (
            max(0, sum(each.to <= move.to for each in wagers) - 1),
            (1 - share) / len(wagers),
        )
        low = max(edge, share + number * step) if number else edge
        high = max(edge, share + (number + 1) * step) if number < len(wagers) - 1 else math.inf
        return low, high
    if move == CHECK:
        return -math.inf, edge
    pot = sum(betting.chips.bets) + sum(betting.chips.paid)
    price = min(edge, betting.to_call / (pot + betting.to_call))
    return (price, edge) if move == CALL else (-math.inf, price)


@cache
def _normal_at(hundredths: int) -> float:
    return (1 + math.erf(hundredths / 100 / math.sqrt(2))) / 2


def _normal(z: float) -> float:
    """The chance that a standard normal variable is below z, to two digits of z."""
    return _normal_at(round(100 * max(-8.0, min(8.0, z))))


def drawn(unseen: list[Card], count: int, below: Callable[[int], int]) -> list[Card]:
    """So many of the cards at random; the list changes its order."""
    size = len(unseen)
    for at in range(count):
        other = at + below(size - at)
        unseen[at], unseen[other] = unseen[other], unseen[at]
    return unseen[:count]
