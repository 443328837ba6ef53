"""Plays Loo: stays out with poor hands, and makes sure of its first trick."""

from collections.abc import Callable
from typing import Final

from arena.games.cards import RANKS, Card, in_order
from arena.games.contract import Seat
from arena.games.loo.messages import DECLARATIONS, Exchange, Move, Phase, Play
from arena.games.loo.state import State, most_exchanged
from arena.games.loo.tricks import PAM, trick_winner

_TRUMP_TRICKS: Final = dict(
    zip(RANKS, (0.2, 0.2, 0.2, 0.25, 0.3, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.75, 0.95), strict=True)
)
"""The number of tricks that each trump should take against a few players."""
_PLAIN_TRICKS: Final = {"A": 0.4, "K": 0.2, "Q": 0.1}
_DRAWN: Final = 0.24
"""The number of tricks that a drawn card should take."""

STEP_TIME: Final = 0.25


def policy(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    match state.deal.phase:
        case Phase.DECLARE:
            return DECLARATIONS[0 if _dares(state, seat) else 1]
        case Phase.EXCHANGE:
            return _exchange(state, seat)
        case Phase.LEAD | Phase.FOLLOW:
            plays = [move for move in state.legal if isinstance(move, Play)]
            return plays[0] if len(plays) == 1 else _play(state, seat, plays)
        case _:
            return state.legal[0]  # reveals a flush if there is one


def _tricks(state: State, card: Card) -> float:
    if card == PAM and state.match.options.has_pam:
        return 1.0
    table = _TRUMP_TRICKS if card[1] == state.deal.upcard[1] else _PLAIN_TRICKS
    return table.get(card[0], 0.0)


def _dares(state: State, seat: Seat) -> bool:
    """Return whether the share of the pot is worth more than the fine for no trick."""
    line, options = state.deal.line, state.match.options
    waiting = len(state.match.chips) - len(line.players) - len(line.passed) - 1
    if not line.players and not waiting:
        return True  # no other seat plays: the pot can be taken
    # Drawing improves a hand a little; more players reduce its share of the pot.
    tricks = sum([_tricks(state, card) for card in state.deal.cards.hands[seat]]) + 0.3
    tricks -= 0.12 * (len(line.players) + waiting / 3)
    looed = max(0.05, 1 - 0.62 * tricks)
    return tricks * state.match.pot / options.hand_size > looed * options.hand_size


def _exchange(state: State, seat: Seat) -> Move:
    """Return the exchange of the cards that should take fewer tricks than drawn ones."""
    worth = {card: _tricks(state, card) for card in state.deal.cards.hands[seat]}
    poor = sorted([card for card in worth if worth[card] < _DRAWN], key=worth.__getitem__)
    most = most_exchanged(state.match.options, state.deal)
    return Exchange.in_order(in_order(poor[:most]))


def _height(state: State, card: Card) -> int:
    """Return the order of a card among all that can take a trick; a trump is above all plain cards."""
    if card == PAM and state.match.options.has_pam:
        return 99
    return RANKS.index(card[0]) + (20 if card[1] == state.deal.upcard[1] else 0)


def _play(state: State, seat: Seat, plays: list[Play]) -> Move:
    deal = state.deal
    needs_one = seat not in deal.tricks.winners
    if deal.phase is Phase.LEAD:
        return max(plays, key=lambda move: _worth_of_lead(state, seat, move, needs_one))
    return max(plays, key=lambda move: _worth_of_reply(state, move.card, needs_one))


def _worth_of_lead(state: State, seat: Seat, move: Play, needs_one: bool) -> int:
    height, card = _height(state, move.card), move.card
    if move.civil and PAM in state.deal.cards.hands[seat]:
        return -1  # would prevent the play of the seat's own Pam
    if card[0] == "A" or height == 99:
        return 200 + height + move.civil
    return height if needs_one or height >= 20 else 20 - height


def _worth_of_reply(state: State, card: Card, needs_one: bool) -> int:
    """Return a number that is high for the best winning card, or otherwise for the least useful card."""
    deal, height = state.deal, _height(state, card)
    trick = (*deal.tricks.cards, card)
    pam = state.match.options.has_pam
    if trick_winner(trick, deal.upcard[1], pam=pam) != len(trick) - 1:
        return -height
    if len(trick) == len(deal.line.players):
        return 200 - height
    return 100 + height if needs_one else 100 - height
