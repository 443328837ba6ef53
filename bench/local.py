"""Play in one process, without a server: `cardarena.local.play` between bots that choose at random."""

import random
from collections.abc import Callable
from typing import Final

import cardarena
from arena.games.game import Game
from bench.rules import HANDS, Rate
from cardarena import local

TRICK_GAMES: Final = ("democracy", "jam", "klaberjass", "sixty_six", "loo")
TARGET_PER_S: Final = 20_000
"""Decisions a second at each of the trick games, by bots that read the moves alone."""

_drawn = random.Random(1)


class ReadsMoves(cardarena.Bot):
    """Is asked also where there is no choice, and takes any of the moves."""

    auto = False

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        moves = ask.moves
        return moves[int(_drawn.random() * len(moves))]


class ReadsAll(ReadsMoves):
    """Looks at its view and the events besides."""

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        assert ask.view is not None
        assert ask.events is not None
        return super().move(ask)


def rate_of(game: Game, bot: type[cardarena.Bot], now_s: Callable[[], float]) -> Rate:
    """Match after match at the smallest number of seats; every decision is asked of a bot."""
    seats = min(game.seats)
    options = {"hands": -(-HANDS // seats) * seats}

    def rate(seconds: float) -> float:
        decisions = match = 0
        begin_s = now_s()
        while now_s() - begin_s < seconds:
            played = local.play(game.id, [bot] * seats, seed=f"bench {match}", options=options)
            decisions += played.decisions
            match += 1
        return decisions / (now_s() - begin_s)

    return rate
