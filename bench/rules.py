"""The rules alone: random play through `moves`, `view` and `step`, in one process."""

import random
import time
from collections.abc import Callable
from typing import Final

from arena.games.game import Game
from arena.referee.deal import KeyedDeals
from arena.testing.deals import SeededDeals

HANDS: Final = 12
"""Hands of a match, rounded up to a multiple of the seats."""
DRAWN_SLOWLY: Final = ("eleusis",)
"""Games in which drawing a legal move takes longer than all other work, as strings of many cards are counted first.
They have a second row with offered moves."""
FLOAT_EXACT: Final = 1 << 52
"""Largest bound for which a random float gives all integers below it."""

Rate = Callable[[float], float]
"""Plays for a number of seconds; returns decisions a second."""


def rate_of(
    game: Game,
    now_s: Callable[[], float] = time.perf_counter,
    *,
    offered: bool = False,
    views: bool = True,
) -> Rate:
    """Random play at the smallest number of seats, match after match.

    Each decision lists the moves and, with `views`, builds the view, as for an ask. Moves are drawn uniformly from all legal ones,
    or from those that are `offered`.
    """
    seats = min(game.seats)
    options = game.options({"hands": -(-HANDS // seats) * seats}, seats)
    drawn = random.Random(1)

    def below(n: int) -> int:
        # A float is faster, and too coarse for Eleusis.
        return int(drawn.random() * n) if n < FLOAT_EXACT else drawn.randrange(n)

    def play(deals: KeyedDeals) -> int:
        rules = game.rules
        state, decisions = rules.start(options, seats, deals).state, 0
        while acting := rules.to_act(state):
            chosen = []
            for seat in acting:
                moves = rules.moves(state, seat)
                if views:
                    rules.view(state, seat)
                listed = moves.offered if offered else ()
                chosen.append((seat, listed[below(len(listed))] if listed else moves.sample(below)))
            decisions += len(acting)
            state = rules.step(state, tuple(chosen), deals).state
        return decisions

    def rate(seconds: float) -> float:
        decisions = match = 0
        begin_s = now_s()
        while now_s() - begin_s < seconds:
            decisions += play(SeededDeals(f"bench {match}"))
            match += 1
        return decisions / (now_s() - begin_s)

    return rate
