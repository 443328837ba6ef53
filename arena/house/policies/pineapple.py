"""Plays the Pineapple games by its equity, counted over a few imagined deals of the cards that it cannot see."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Final

from arena.games.cards import PACK_52, Card
from arena.games.contract import Seat
from arena.games.pineapple.messages import DISCARDS, Move, Phase, Variant
from arena.games.pineapple.possible_states import hand_so_far
from arena.games.pineapple.rules import moves
from arena.games.pineapple.state import BOARD, State
from arena.games.poker import eight_or_better, standard
from arena.house import betting
from arena.house.betting import DEALS, READ_DEALS, ROLLOUT_DEALS, bet, drawn

_KEPT: Final = 2
_BOARD: Final = 5
STEP_TIME: Final = betting.STEP_TIME


def policy(state: State, seat: Seat, below: Callable[[int], int], deals: int = DEALS) -> Move:
    """Return the move of `seat`, which is to act; it takes about 1 ms."""
    held = state.hand.deal.holes[seat]
    kept = list(combinations(held, _KEPT))
    equities = _equities(state, seat, kept, below, deals)
    best = max(equities)
    if state.phase is Phase.DISCARD:
        keep = kept[equities.index(best)]
        return DISCARDS[next(card for card in held if card not in keep)]
    move: Move = bet(state.betting, moves(state, seat).offered, best)
    return move


def rollout(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    """Return a move by a rougher count, for searches."""
    return policy(state, seat, below, ROLLOUT_DEALS)


def likelihood(state: State, seat: Seat, below: Callable[[int], int]) -> float:
    """Return how likely the others' bets of the hand are with the cards of the state."""

    def equity(before: State, player: Seat) -> float:
        kept = list(combinations(before.hand.deal.holes[player], _KEPT))
        return max(_equities(before, player, kept, below, READ_DEALS))

    bets = (past for past in hand_so_far(state) if past[0].phase is Phase.BET)
    return betting.likelihood(bets, seat, moves, equity)


def _equities(
    state: State,
    seat: Seat,
    kept: Sequence[tuple[Card, ...]],
    below: Callable[[int], int],
    deals: int,
) -> list[float]:
    """Return the expected share of the pot for each two cards that may be kept."""
    deal = state.hand.deal
    board = deal.runout[: BOARD[state.street]]
    seen = {*deal.holes[seat], deal.given_up[seat], *board}
    unseen = [card for card in PACK_52 if card not in seen]
    others = len(state.betting.live) - 1
    with_low = state.hand.stakes.variant is Variant.CRAZY_HILO
    return equities_of(kept, board, unseen, others, below, deals, with_low=with_low)


def equities_of(
    kept: Sequence[tuple[Card, ...]],
    board: tuple[Card, ...],
    unseen: list[Card],
    others: int,
    below: Callable[[int], int],
    deals: int,
    *,
    with_low: bool,
) -> list[float]:
    """Return the expected share of the pot, against others with any cards, for each two cards that may be kept."""
    others *= _KEPT
    to_come = _BOARD - len(board)
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
                my_low = eight_or_better(mine)
                if my_low is not None:
                    of_high = (of_high + _part(my_low, lows)) / 2
                elif lows:
                    of_high /= 2
            sums[place] += of_high
    return [total / deals for total in sums]


def _part(mine: int, others: Sequence[int]) -> float:
    """Return the seat's part of what the best hand wins."""
    if others and max(others) > mine:
        return 0.0
    return 1 / (1 + others.count(mine))
