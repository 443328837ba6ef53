"""The games of the arena: the `GAMES` of every package in `arena.games`."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from typing import Final

import arena.games
from arena.games.contract import BadOptions
from arena.games.game import Game


class UnknownGame(LookupError):
    """No game has this id. The text lists the ids of all games."""


def _found() -> Iterator[Game]:
    for package in pkgutil.iter_modules(arena.games.__path__):
        if package.ispkg:
            yield from getattr(import_module(f"arena.games.{package.name}"), "GAMES", ())


GAMES: Final = tuple(sorted(_found(), key=attrgetter("number")))
"""All games, in the order of their families' numbers."""

_BY_ID: Final = {game.id: game for game in GAMES}


def game_by_id(game_id: str) -> Game:
    """Return the game with this id.

    Raises:
      UnknownGame: if there is none; the text lists all ids.
    """
    game = _BY_ID.get(game_id)
    if game is None:
        raise UnknownGame(f"there is no game {game_id!r}; the games are: {', '.join(_BY_ID)}")
    return game


__all__ = ["GAMES", "BadOptions", "UnknownGame", "game_by_id"]
