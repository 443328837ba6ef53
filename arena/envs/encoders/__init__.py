"""The observations and actions of each family: a module for each, with `view_code` and `action_space`."""

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.envs.actions import ActionSpace
from arena.envs.codes import Part, ValueCode
from arena.envs.writers import rows_of, zeros
from arena.games.contract import Move, Options, Seat, State, View
from arena.games.game import Game

if TYPE_CHECKING:
    from array import array


class Layout(NamedTuple):
    """The observations and actions of a game with these options and seats."""

    view: ValueCode
    actions: ActionSpace

    def numbers(self, view: View, seat: int) -> "array[float]":
        """Return the view of a seat as 32-bit floats, which numpy reads without a copy (`numpy.frombuffer`)."""
        numbers = zeros(self.view.size)
        (row,) = rows_of(numbers, self.view.size)
        self.view.write(view, seat, row)
        return numbers

    def read(self, numbers: Sequence[float], seat: int) -> View:
        """Return the view that was written.

        Raises `Shortened` if only a digest of a part of the view was written.
        """
        return self.view.read(seat, numbers, 0)

    def parts(self) -> list[Part]:
        """Return the named slices of an observation, in order."""
        return list(self.view.parts("", 0))


def layout_of(game: Game, options: Options, seats: int) -> Layout:
    """Return the layout of a game."""
    return _layout(game.family, options, seats)


def numbers_of(
    game: Game, options: Options, seats: int, state: State, seat: Seat, move: Move
) -> dict[str, Any]:
    """Return a decision as a learner sees it: the observation, the legal actions, and that of the move or None."""
    layout = layout_of(game, options, seats)
    view = game.rules.view(state, seat)
    legal = layout.actions.legal(view, game.rules.moves(state, seat))
    return {
        "observation": layout.numbers(view, seat).tolist(),
        "legal_actions": list(legal),
        "action": next((action for action, stands in legal.items() if stands == move), None),
    }


@lru_cache(maxsize=64)
def _layout(name: str, options: Options, seats: int) -> Layout:
    family = import_module(f"arena.envs.encoders.{name}")
    return Layout(family.view_code(options, seats), family.action_space(options, seats))
