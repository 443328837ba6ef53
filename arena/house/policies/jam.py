"""Plays Jam: keeps high cards together for its own streaks, breaks those of the other seat, and wins cheaply or not at all."""

from collections.abc import Callable
from typing import Final

from arena.games.cards import RANKS, Card
from arena.games.contract import Seat
from arena.games.jam.messages import Discard, Draw, Move, Phase, Play, Source
from arena.games.jam.rules import State

_TEN, _JACK = RANKS.index("T"), RANKS.index("J")
_STREAK: Final = 2
"""The number of tricks in a row that are worth a high card, to continue or to break them."""
_LATE: Final = 18
"""The number of tricks after which the majority is near."""

STEP_TIME: Final = 0.25


def policy(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    deal = state.deal
    side = deal.sides[seat]
    match deal.phase:
        case Phase.DRAW:
            keeps_top = bool(side.discards) and _rank(side.discards[-1]) >= _TEN
            return Draw(Source.DISCARDS if keeps_top or not side.stock else Source.STOCK)
        case Phase.DISCARD:
            return Discard(min(side.hand, key=_rank))
        case Phase.FOLLOW:
            assert deal.led is not None
            led = _rank(deal.led)
            winning = [card for card in side.hand if _rank(card) > led]
            cheapest = min(winning or side.hand, key=_rank)
            is_worth_it = _is_streak(deal.winners) or len(deal.winners) >= _LATE
            if is_worth_it or _rank(cheapest) <= _JACK:
                return Play(cheapest)
            return Play(min(side.hand, key=_rank))
        case _:
            if _is_streak(deal.winners) and deal.winners[-1] == seat:
                return Play(max(side.hand, key=_rank))
            return Play(sorted(side.hand, key=_rank)[len(side.hand) // 2])


def _is_streak(winners: tuple[Seat, ...]) -> bool:
    return len(winners) >= _STREAK and len(set(winners[-_STREAK:])) == 1


def _rank(card: Card) -> int:
    return RANKS.index(card[0])
