"""Betting by equity, for the policies of the poker games, and the inference from bets to hands."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Final

from arena.games.betting.moves import CALL, CHECK, FOLD, Wager
from arena.games.betting.rounds import Round
from arena.games.cards import Card
from arena.games.contract import Moves, Seat

EDGE: Final = 1.1
"""The factor of its share that the equity of a seat must reach for a bet."""
EQUITY_ERROR: Final = 0.1
"""The standard deviation of another seat's equity around our estimate."""
OTHERWISE: Final = 0.1
"""The share of bets from which nothing is inferred."""
DEALS: Final = 80
"""The number of imagined deals for the equity of a seat that is to act."""
ROLLOUT_DEALS: Final = 5
"""The number of imagined deals for a move in a search."""
READ_DEALS: Final = 16
"""The number of imagined deals for the equity of another seat whose bets are interpreted."""
STEP_TIME: Final = 2.0
"""See `arena.house.search.Searcher.step_time`. Interpreting bets takes half of the time."""


def bet(betting: Round, offered: Sequence[Any], equity: float) -> Any:
    """Return the move of a hand with this equity: the higher the equity, the larger a bet."""
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
    """Return the likelihood of the other seats' bets in a hand, if each has the cards of these states and bets by equity.

    A bet limits the equities to those with which this policy makes it, with an error of `EQUITY_ERROR`; in a share
    `OTHERWISE` of cases a seat makes any move.

    Args:
      so_far: Each state of the hand before a betting move, with the seat that moved and its move.
      seat: The seat whose own bets are left out.
      moves: Returns the moves of a seat in a state.
      equity: Returns an estimate of the equity of a seat in a state.
    """
    equities: dict[tuple[object, ...], float] = {}
    result = 1.0
    for state, player, move in so_far:
        if player == seat:
            continue
        betting: Round = state.betting
        key = (player, betting.live, len(state.line.starts))
        if key not in equities:
            equities[key] = equity(state, player)
        choices = moves(state, player).offered
        low, high = _equities_of(move, betting, choices)
        by_policy = _normal((high - equities[key]) / EQUITY_ERROR) - _normal(
            (low - equities[key]) / EQUITY_ERROR
        )
        result *= OTHERWISE / len(choices) + (1 - OTHERWISE) * by_policy
    return result


def _equities_of(move: Any, betting: Round, offered: Sequence[Any]) -> tuple[float, float]:
    """Return the range of equities in which `bet` makes a move.

    A wager of another size counts as the next smaller one offered.
    """
    wagers = [move for move in offered if isinstance(move, Wager)]
    share = 1 / len(betting.live)
    edge = EDGE * share if wagers else math.inf
    if len(wagers) == len(offered):
        edge = -math.inf
    if isinstance(move, Wager):
        number, step = (
            max(0, sum(wager.to <= move.to for wager in wagers) - 1),
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
    """Return the probability that a standard normal variable is below z, to two digits of z."""
    return _normal_at(round(100 * max(-8.0, min(8.0, z))))


def drawn(unseen: list[Card], count: int, below: Callable[[int], int]) -> list[Card]:
    """Draw `count` of the cards at random; the list changes its order."""
    size = len(unseen)
    for at in range(count):
        other = at + below(size - at)
        unseen[at], unseen[other] = unseen[other], unseen[at]
    return unseen[:count]
