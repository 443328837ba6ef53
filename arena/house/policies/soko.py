"""Plays Soko by its equity, counted over a few imagined deals of the cards that it cannot see."""

from collections.abc import Callable, Sequence
from typing import Final

from arena.cards import PACK_52, Card
from arena.games.contract import Seat
from arena.games.soko.messages import Move
from arena.games.soko.possible_states import hand_so_far
from arena.games.soko.rules import moves
from arena.games.soko.state import State
from arena.house import betting
from arena.house.betting import bet, drawn
from arena.poker import soko

_HAND: Final = 5
_DEALS: Final = 80
_ROLLOUT_DEALS: Final = 5
_READ_DEALS: Final = 16
"""Deals for the equity of another seat, whose bets are read."""

STEP_TIME: Final = 2.0
"""See `arena.house.search.Searcher.step_time`. Half of the time is that of reading bets."""


def policy(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    """The move of `seat`, which is to act; it takes about 1 ms."""
    return _move(state, seat, below, _DEALS)


def rollout(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    """A move by a rougher count, for searches."""
    return _move(state, seat, below, _ROLLOUT_DEALS)


def likelihood(state: State, seat: Seat, below: Callable[[int], int]) -> float:
    """How likely the others' bets of the hand are with the cards of the state."""

    def equity(before: State, each: Seat) -> float:
        return _equity_of(before, each, below, _READ_DEALS)

    return betting.likelihood(hand_so_far(state), seat, moves, equity)


def _move(state: State, seat: Seat, below: Callable[[int], int], deals: int) -> Move:
    equity = _equity_of(state, seat, below, deals)
    move: Move = bet(state.betting, moves(state, seat).offered, equity)
    return move


def _equity_of(state: State, seat: Seat, below: Callable[[int], int], deals: int) -> float:
    deal = state.hand.deal
    hole = deal.holes[seat]
    assert hole is not None
    shown = [deal.upcards[each] for each in state.betting.live if each != seat]
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
        for each in shown:
            more = _HAND - len(each)
            other = soko((*each, *cards[at : at + more]))
            at += more
            if other > mine:
                part = 0
                break
            part += other == mine
        total += 1 / part if part else 0.0
    return total / deals
