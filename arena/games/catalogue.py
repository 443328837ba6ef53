"""The games of the arena: the `GAMES` of every package in `arena.games`."""

import difflib
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from typing import Final

import arena.games
from arena.games.contract import BadOptions
from arena.games.game import Game


class UnknownGame(LookupError):
    """No game has this id. The text suggests a similar id, or lists all ids."""


def _found() -> Iterator[Game]:
    for package in pkgutil.iter_modules(arena.games.__path__):
        if package.ispkg:
            yield from getattr(import_module(f"arena.games.{package.name}"), "GAMES", ())


GAMES: Final = tuple(sorted(_found(), key=attrgetter("number")))
"""All games, in the order of their families' numbers."""

_BY_ID: Final = {game.id: game for game in GAMES}


def game_by_id(game_id: str) -> Game:
    """Return the game with this id.

    Raises `UnknownGame` if there is none.
    """
    game = _BY_ID.get(game_id)
    if game is None:
        near = difflib.get_close_matches(game_id, _BY_ID, 1)
        hint = f"did you mean {near[0]}?" if near else f"the games are: {', '.join(_BY_ID)}"
        raise UnknownGame(f"there is no game {game_id!r}; {hint}")
    return game


__all__ = ["GAMES", "BadOptions", "UnknownGame", "game_by_id"]
