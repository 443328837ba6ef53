"""Whole matches of the real games, journal on, eight matches a stream.

The bots are as lean as bots can be: they read each ask in full and take one
of the moves offered at random. Matches have the length that the rated format
gives them in a short session, and their replays are written when they end.
"""

import statistics
from collections.abc import Callable
from typing import Final

from arena.games.game import Game
from bench import arena_server
from bench.processes import arena_side

STREAMS: Final = 8
MATCHES: Final = 8
"""On each stream, and as many asks may be open on it."""
HANDS: Final = 12
"""Of a match, rounded up to a multiple of the seats."""
LONG: Final = ("pineapple", 240)
"""A game, and hands of a match of which beginning and end hardly count."""
GOAL_PER_S: Final = 17_400


def decisions_per_s(
    game: Game,
    rounds: int,
    seconds: float,
    progress: Callable[[str], None],
    *,
    hands: int = HANDS,
) -> float:
    """The median of the rounds, all seats together, in matches of so many hands."""
    seats = min(game.seats)
    job = arena_server.Job(
        game=game.id,
        streams=STREAMS,
        seats=seats,
        matches=MATCHES,
        options={"hands": -(-hands // seats) * seats},
    )
    found = []
    with arena_side(job) as arena:
        arena.measure(seconds / 2)
        for at in range(rounds):
            found.append(arena.measure(seconds).per_s)
            progress(f"{game.id} {at + 1}/{rounds}: {found[-1]:.0f}/s")
    return statistics.median(found)
