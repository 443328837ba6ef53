"""The arena's own bot, at one of four levels: `arena play GAME ./my_bot house:search-20ms`.

It fills empty seats, and is an opponent to practise against. Its moves are determined by its view and its dice, so a
match with the same seed and the same bots is repeatable.
"""

import random
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TypeAlias

import cardarena
from arena.games.catalogue import game_by_id
from arena.games.contract import Move, Options, Seat, View
from arena.house.search import Searcher
from arena.referee.terms import MatchTerms
from arena.referee.wire.games import codec_of
from arena.referee.wire.terms import terms_of_message
from arena.sandbox.house_levels import STEPS

Play: TypeAlias = Callable[[View, Options, Seat, random.Random], Move]


class HouseBot(cardarena.Bot):
    """The bot, which plays a random move, the policy's move, or the best move by a search on top of the policy."""

    max_matches = 64
    level = "random"

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        """Return the move of this level, or a random move in games without a policy."""
        terms = terms_of_message(ask.start.terms)
        play = self.player(terms)
        if play is None:
            return ask.random.choice(ask.moves)
        codec = codec_of(terms.game)
        view = codec.read_view(ask.view)
        move = play(view, terms.options, Seat(ask.seat), ask.random)
        return type(ask.moves[0]).FromString(codec.move(move))

    def player(self, terms: MatchTerms) -> Play | None:
        """Return the function that chooses the moves of a match; None for random moves."""
        return None if self.level == "random" else player(terms.game.id, STEPS[self.level])


def player(game_id: str, steps: int) -> Play | None:
    """Return a function that plays a game by a search of `steps`, or by the policy if `steps` is 0; None without a policy."""
    searcher = searcher_of(game_id)
    if searcher is None:
        return None

    def play(view: View, options: Options, seat: Seat, chance: random.Random) -> Move:
        return searcher.choose(view, options, seat, view.hand, steps, chance).move

    return play


@cache
def searcher_of(game_id: str) -> Searcher | None:
    """Return the search of a game on top of its policy, or None without a policy."""
    game = game_by_id(game_id)
    if find_spec(f"arena.house.policies.{game.family}") is None:
        return None
    policies = import_module(f"arena.house.policies.{game.family}")
    optional = ("candidates", "last_hand", "rollout", "likelihood", "look_ahead")
    functions = {name: getattr(policies, name) for name in optional if hasattr(policies, name)}
    functions["step_time"] = getattr(policies, "STEP_TIME", 1.0)
    return Searcher(game, policies.policy, **functions)


def main() -> None:
    """Play at the level that the command line names."""
    named = sys.argv.pop(1) if len(sys.argv) > 1 else HouseBot.level  # the rest is for `run`
    cardarena.run(type("HouseBot", (HouseBot,), {"level": named}))
