"""The scenes of every game: the module in `arena.scenes` that has the name of its family."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from arena.games.contract import Event, Seat, View
from arena.games.game import Game
from arena.scenes.sentences import Sentences
from arena.scenes.viewer import Perspective
from arena.scenes.vocabulary import Scene


class Scenes(Protocol):
    """The functions and tables of a module of scenes, see `arena.scenes`."""

    HAND_ENDS: tuple[type, ...]
    SENTENCES: Sentences
    scene: Callable[[Perspective], Scene]
    close: Callable[[View, Sequence[Event], Seat | None], View]


def scenes_of(game: Game) -> Scenes:
    """Return the scenes of a game's family."""
    return _scenes(game.family)


@cache
def _scenes(family: str) -> Scenes:
    return cast("Scenes", import_module(f"arena.scenes.{family}"))
