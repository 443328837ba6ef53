"""Betting by equity, for the policies of the poker games."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from arena.cards import Card
from arena.games.betting.moves import CALL, CHECK, FOLD, Wager
from arena.games.betting.rounds import Round

EDGE: Final = 1.1
"""A seat bets when its equity is so many times its share."""


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


def drawn(unseen: list[Card], count: int, below: Callable[[int], int]) -> list[Card]:
    """So many of the cards at random; the list changes its order."""
    size = len(unseen)
    for at in range(count):
        other = at + below(size - at)
        unseen[at], unseen[other] = unseen[other], unseen[at]
    return unseen[:count]
