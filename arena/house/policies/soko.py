"""Plays Soko by its equity, counted over a few imagined deals of the cards that it cannot see."""

from collections.abc import Callable, Sequence
from typing import Final

from arena.games.cards import PACK_52, Card
from arena.games.contract import Seat
from arena.games.poker import soko
from arena.games.soko.messages import Move
from arena.games.soko.possible_states import hand_so_far
from arena.games.soko.rules import moves
from arena.games.soko.state import State
from arena.house import betting
from arena.house.betting import DEALS, READ_DEALS, ROLLOUT_DEALS, bet, drawn

_HAND: Final = 5
STEP_TIME: Final = betting.STEP_TIME


def policy(state: State, seat: Seat, below: Callable[[int], int], deals: int = DEALS) -> Move:
    """Return the move of `seat`, which is to act; it takes about 1 ms."""
    equity = _equity_of(state, seat, below, deals)
    move: Move = bet(state.betting, moves(state, seat).offered, equity)
    return move


def rollout(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    """Return a move by a rougher count, for searches."""
    return policy(state, seat, below, ROLLOUT_DEALS)


def likelihood(state: State, seat: Seat, below: Callable[[int], int]) -> float:
    """Return how likely the others' bets of the hand are with the cards of the state."""

    def equity(before: State, player: Seat) -> float:
        return _equity_of(before, player, below, READ_DEALS)

    return betting.likelihood(hand_so_far(state), seat, moves, equity)


def _equity_of(state: State, seat: Seat, below: Callable[[int], int], deals: int) -> float:
    deal = state.hand.deal
    hole = deal.holes[seat]
    assert hole is not None
    shown = [deal.upcards[player] for player in state.betting.live if player != seat]
    seen = {hole}.union(*deal.upcards)
    unseen = [card for card in PACK_52 if card not in seen]
    return _equity((hole, *deal.upcards[seat]), shown, unseen, below, deals)


def _equity(
    own: Sequence[Card],
    shown: Sequence[Sequence[Card]],
    unseen: list[Card],
    below: Callable[[int], int],
    deals: int,
) -> float:
    needed = _HAND - len(own)
    count = needed + sum([_HAND - len(cards) for cards in shown])
    total = 0.0
    for _ in range(deals):
        cards = drawn(unseen, count, below)
        mine, at, part = soko((*own, *cards[:needed])), needed, 1
        for upcards in shown:
            more = _HAND - len(upcards)
            other = soko((*upcards, *cards[at : at + more]))
            at += more
            if other > mine:
                part = 0
                break
            part += other == mine
        total += 1 / part if part else 0.0
    return total / deals
