"""The games as environments for learners: PettingZoo, Gymnasium and OpenSpiel.

    import gymnasium, arena.envs

    everybody = arena.envs.pettingzoo("klaberjass", options={"hands": 2})
    one_seat = gymnasium.make("CardArena/Klaberjass-v0", opponent="house:sample")

The import registers an id of Gymnasium for each game (`environment_id`). The import of `arena.envs.openspiel` registers
each game at OpenSpiel. `pip install 'cardarena[research]'` installs the packages. A bot needs fewer packages: `layout`
converts a view to the same numbers, and actions to moves, in pure Python.
"""

import os
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from arena.envs.codes import Part, Shortened
from arena.envs.encoders import Layout, layout_of
from arena.games.catalogue import GAMES, game_by_id

if TYPE_CHECKING:
    from arena.envs.agents import AgentsAtOnce, AgentsInTurn
    from arena.envs.batch_in_processes import BatchInProcesses
    from arena.envs.stepped_batch import Batch


def layout(
    game: str, *, options: Mapping[str, Any] | None = None, seats: int | None = None
) -> Layout:
    """Return the layout of a game's observations and actions. Arguments and errors are those of `pettingzoo`."""
    chosen = game_by_id(game)
    count = chosen.seats[0] if seats is None else seats
    return layout_of(chosen, chosen.options(options or {}, count), count)


def pettingzoo(
    game: str,
    *,
    options: Mapping[str, Any] | None = None,
    seats: int | None = None,
    render_mode: str | None = None,
    infos: bool = True,
) -> "AgentsInTurn":
    """Return a game as an environment of PettingZoo in which one agent acts after the other.

    Args:
      game: The id of the game, such as `klaberjass`.
      options: The options of the game.
      seats: The number of seats, by default the fewest of the game.
      render_mode: `ansi` has `render` return the view of the agent as text.
      infos: False leaves `infos` empty. TorchRL needs this, because it makes an array of everything in them.

    Raises:
      LookupError: if there is no such game.
      ValueError: if the game cannot be played with these seats or options.
      ImportError: if PettingZoo is not installed; the text says how to install it.
    """
    _require("pettingzoo")
    from arena.envs.agents import AgentsInTurn
    from arena.envs.stepped_match import SteppedMatch

    return AgentsInTurn(SteppedMatch(game, options, seats), render_mode, infos=infos)


def parallel(
    game: str,
    *,
    options: Mapping[str, Any] | None = None,
    seats: int | None = None,
    infos: bool = True,
) -> "AgentsAtOnce":
    """Return a game as an environment of PettingZoo in which all agents act at once; those not to act choose the last action.

    It suits the games in which seats choose at the same time, as in Democracy and Chinese Poker. Arguments and errors are
    those of `pettingzoo`.
    """
    _require("pettingzoo")
    from arena.envs.agents import AgentsAtOnce
    from arena.envs.stepped_match import SteppedMatch

    return AgentsAtOnce(SteppedMatch(game, options, seats), infos=infos)


def batch(
    game: str,
    size: int,
    *,
    options: Mapping[str, Any] | None = None,
    seats: int | None = None,
    seeds: Iterable[object] | None = None,
    processes: int = 1,
) -> "Batch | BatchInProcesses":
    """Return matches of a game that are stepped together, of all seats: arrays with a row for each. It needs only numpy.

    Args:
      game: The id of the game.
      size: The number of rows.
      options: The options of the game.
      seats: The number of seats, by default the fewest of the game.
      seeds: The seeds of the matches, one after the other; by default 0, 1, … without an end. With several processes they
        are listed at once, so they must have an end.
      processes: The number of processes that step the rows, this one included. Each has a part of the rows, and every
        `processes`-th seed. A program that asks for several calls this below `if __name__ == "__main__":`.

    Raises:
      LookupError: if there is no such game.
      ValueError: if the game cannot be played with these seats or options, or there are fewer rows than processes.
    """
    if processes != 1:
        from arena.envs.batch_in_processes import BatchInProcesses

        listed = None if seeds is None else list(seeds)
        return BatchInProcesses(game, size, processes, options=options, seats=seats, seeds=listed)
    from arena.envs.stepped_batch import Batch

    return Batch(game, size, options=options, seats=seats, seeds=seeds)


def environment_id(game: str) -> str:
    """Return the id of Gymnasium of a game, such as `CardArena/Klaberjass-v0`."""
    return f"CardArena/{''.join(word.capitalize() for word in game.split('_'))}-v0"


def _require(package: str) -> None:
    if find_spec(package) is None:
        raise ImportError(
            f"these environments need the package {package}: pip install 'cardarena[research]'",
            name=package,
        )


def _register() -> None:
    """Register the ids, but not in a bot that an arena launches, because Gymnasium takes longer to import than everything that the bot needs."""
    if os.environ.get("CARDARENA_ONCE") == "1" or find_spec("gymnasium") is None:
        return
    import gymnasium

    for game in GAMES:
        gymnasium.register(
            environment_id(game.id), "arena.envs.single_seat:SingleSeat", kwargs={"game": game.id}
        )


_register()

__all__ = [
    "Layout",
    "Part",
    "Shortened",
    "batch",
    "environment_id",
    "layout",
    "parallel",
    "pettingzoo",
]
