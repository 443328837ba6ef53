"""Plays the Pineapple games by its equity, counted over a few imagined deals of the cards that it cannot see."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Final

from arena.cards import PACK_52, Card
from arena.games.contract import Seat
from arena.games.pineapple.messages import DISCARDS, Move, Phase
from arena.games.pineapple.options import Variant
from arena.games.pineapple.possible_states import hand_so_far
from arena.games.pineapple.rules import moves
from arena.games.pineapple.state import BOARD, State
from arena.house import betting
from arena.house.betting import bet, drawn
from arena.poker import eight_or_better, standard

_KEPT: Final = 2
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
        kept = list(combinations(before.hand.deal.holes[each], _KEPT))
        return max(_equities(before, each, kept, below, _READ_DEALS))

    bets = (past for past in hand_so_far(state) if past[0].phase is Phase.BET)
    return betting.likelihood(bets, seat, moves, equity)


def _move(state: State, seat: Seat, below: Callable[[int], int], deals: int) -> Move:
    held = state.hand.deal.holes[seat]
    kept = list(combinations(held, _KEPT))
    equities = _equities(state, seat, kept, below, deals)
    best = max(equities)
    if state.phase is Phase.DISCARD:
        keep = kept[equities.index(best)]
        return DISCARDS[next(card for card in held if card not in keep)]
    move: Move = bet(state.betting, moves(state, seat).offered, best)
    return move


def _equities(
    state: State,
    seat: Seat,
    kept: Sequence[tuple[Card, ...]],
    below: Callable[[int], int],
    deals: int,
) -> list[float]:
    """For each two cards that may be kept, the part of the pot that they should win."""
    deal = state.hand.deal
    board = deal.runout[: BOARD[state.street]]
    seen = {*deal.holes[seat], deal.given_up[seat], *board}
    unseen = [card for card in PACK_52 if card not in seen]
    others = _KEPT * (len(state.betting.live) - 1)
    to_come = len(deal.runout) - len(board)
    with_low = state.hand.stakes.variant is Variant.CRAZY_HILO
    sums = [0.0] * len(kept)
    for _ in range(deals):
        cards = drawn(unseen, others + to_come, below)
        full = (*board, *cards[others:])
        hands = [(*cards[at : at + _KEPT], *full) for at in range(0, others, _KEPT)]
        highs = [standard(hand) for hand in hands]
        lows = [low for hand in hands if (low := eight_or_better(hand))] if with_low else []
        for place, pair in enumerate(kept):
            mine = (*pair, *full)
            of_high = _part(standard(mine), highs)
            if with_low:
                own = eight_or_better(mine)
                if own is not None:
                    of_high = (of_high + _part(own, lows)) / 2
                elif lows:
                    of_high /= 2
            sums[place] += of_high
    return [each / deals for each in sums]


def _part(mine: int, others: Sequence[int]) -> float:
    """The part that falls to me of what the best hand wins."""
    if others and max(others) > mine:
        return 0.0
    return 1 / (1 + others.count(mine))
