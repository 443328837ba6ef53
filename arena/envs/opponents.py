"""Players of the other seats of an environment for one seat."""

import random
from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any, TypeAlias

import cardarena
from arena.envs.stepped_match import SteppedMatch
from arena.games.contract import Move, Seat
from arena.house.bot import player
from arena.local import play
from arena.local.place import AnyBot, object_of, require_fit
from arena.sandbox.house_levels import STEPS

Policy: TypeAlias = Callable[[dict[str, Any]], int]
"""Returns the action for an observation: `{"observation": …, "action_mask": …}`."""
Opponent: TypeAlias = str | Policy | AnyBot
"""A level of the house bot, such as `house:sample`; a policy; or a bot of the SDK."""
Chooser: TypeAlias = Callable[[SteppedMatch, Seat, random.Random], Move]

_HOUSE = "house:"


def chooser_of(opponent: Opponent, game: str, options: Mapping[str, Any]) -> Chooser:
    """Return the function that chooses the moves of an opponent.

    A bot gets asks without events (`cardarena.local.ask`): it has to play from the view. Raises `ValueError` if there
    is no such level of the house bot, or if the bot does not play the game or is asynchronous.
    """
    if isinstance(opponent, str):
        return _house(opponent, game)
    if isinstance(opponent, (cardarena.Bot, cardarena.BatchBot, type)):
        return _bot(opponent, game, options)
    policy = opponent

    def chosen(match: SteppedMatch, seat: Seat, chance: random.Random) -> Move:  # noqa: ARG001
        action = int(policy(match.observed(seat).as_dict()))
        legal = match.legal(seat)
        if action not in legal:
            raise ValueError(f"the policy of seat {seat} chose {action}, which is not legal")
        return legal[action]

    return chosen


def _bot(opponent: AnyBot, game: str, options: Mapping[str, Any]) -> Chooser:
    require_fit(opponent, game)
    bot = object_of(opponent)
    if isinstance(bot, cardarena.Bot) and iscoroutinefunction(bot.move):
        raise ValueError(
            f"{type(bot).__name__} awaits in `move`, and opponents are called without an event loop"
        )

    def asked(match: SteppedMatch, seat: Seat, chance: random.Random) -> Move:
        ask = play.ask(
            game, match.state, seat, seats=match.seats, options=options, dice=chance.randbytes(16)
        )
        if isinstance(bot, cardarena.BatchBot):
            (choice,) = bot.moves([ask])
        else:
            choice = bot.move(ask)
        return play.move(ask, choice)

    return asked


def _house(opponent: str, game: str) -> Chooser:
    level = opponent.removeprefix(_HOUSE)
    if level == opponent or level not in STEPS:
        levels = ", ".join(_HOUSE + name for name in STEPS)
        raise ValueError(f"there is no opponent {opponent!r}; the house bots are: {levels}")
    moves_of = player(game, STEPS[level])

    def chosen(match: SteppedMatch, seat: Seat, chance: random.Random) -> Move:
        if level == "random" or moves_of is None:
            return chance.choice(list(match.legal(seat).values()))
        return moves_of(match.view(seat), match.options, seat, chance)

    return chosen
