"""Plays Sixty-Six: wins tricks with many points, plays cheap cards otherwise, and claims at 66."""

from collections.abc import Callable
from typing import Final

from arena.games.cards import Card
from arena.games.contract import Seat
from arena.games.sixty_six.messages import CLAIM, EXCHANGE, Marriage, Move, Play
from arena.games.sixty_six.scoring import GOAL, POINTS, follower_wins
from arena.games.sixty_six.state import Deal, State

_TRUMP: Final = 5
"""The worth of a trump in addition to its points, while tricks are to come."""
_MARRIAGE: Final = 8
"""The same for a king or queen whose partner is in the hand."""
_PARTNER: Final = {"K": "Q", "Q": "K"}

STEP_TIME: Final = 0.25


def policy(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    deal, legal = state.deal, state.legal
    side = deal.sides[seat]
    if side.points >= GOAL:
        return CLAIM
    if EXCHANGE in legal:
        return EXCHANGE
    marriages = [move for move in legal if isinstance(move, Marriage)]
    if marriages:
        return max(marriages, key=lambda move: move.suit == deal.trump)
    plays = [move for move in legal if isinstance(move, Play)]
    if deal.led is None:
        return min(plays, key=lambda move: _cost_of_lead(deal, side.hand, move.card))
    return min(plays, key=lambda move: _cost_of_reply(deal, side.hand, move.card))


def _cost_of_lead(deal: Deal, hand: tuple[Card, ...], card: Card) -> int:
    """Return the points that a card led risks, and its use later; a strict hand leads its highest cards."""
    if not deal.stock.is_open:
        return -POINTS[card[0]] - _TRUMP * (card[1] == deal.trump)
    return POINTS[card[0]] + _use(deal, hand, card)


def _cost_of_reply(deal: Deal, hand: tuple[Card, ...], card: Card) -> int:
    assert deal.led is not None
    at_stake = POINTS[deal.led[0]] + POINTS[card[0]]
    wins = follower_wins(deal.led, card, deal.trump)
    return _use(deal, hand, card) + (-at_stake if wins else at_stake)


def _use(deal: Deal, hand: tuple[Card, ...], card: Card) -> int:
    partner = _PARTNER.get(card[0])
    married = partner is not None and partner + card[1] in hand and deal.declared is None
    return _TRUMP * (card[1] == deal.trump) + _MARRIAGE * married
