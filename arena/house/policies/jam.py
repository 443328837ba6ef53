"""Plays Jam: wins cheaply what it can, and gives its lowest card to what it cannot."""

from collections.abc import Callable
from typing import Final

from arena.games.cards import RANKS, Card
from arena.games.contract import Seat
from arena.games.jam.messages import Discard, Draw, Move, Phase, Play, Source
from arena.games.jam.rules import State

_JACK = RANKS.index("J")

STEP_TIME: Final = 0.25


def policy(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    deal = state.deal
    side = deal.sides[seat]
    match deal.phase:
        case Phase.DRAW:
            keeps_top = bool(side.discards) and _rank(side.discards[-1]) >= _JACK
            return Draw(Source.DISCARDS if keeps_top or not side.stock else Source.STOCK)
        case Phase.DISCARD:
            return Discard(min(side.hand, key=_rank))
        case Phase.FOLLOW:
            assert deal.led is not None
            winning = [card for card in side.hand if _rank(card) > _rank(deal.led)]
            return Play(min(winning or side.hand, key=_rank))
        case _:
            return Play(max(side.hand, key=_rank))


def _rank(card: Card) -> int:
    return RANKS.index(card[0])
