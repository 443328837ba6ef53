"""What tests know of each family of games: how to read its vectors, and what it hides.

A module has `GAMES`, the game names of the vectors that it serves, and

- `KINDS`, which maps a vector's kind to a function that asserts the vector;
- `SITTINGS`, which maps a kind with steps to a function that begins the match of
  a vector: its steps are played by `steps.play`.

`tests/leaks/knowledge.py` says what else it has: what is hidden from a seat.
"""

import importlib
import pkgutil

from tests.vector_adapters import steps

MODULES = [
    importlib.import_module(f"{__name__}.{each.name}")
    for each in pkgutil.iter_modules(__path__)
    if each.name not in ("deals", "poker_table", "steps")
]
SITTINGS = {game: getattr(module, "SITTINGS", {}) for module in MODULES for game in module.GAMES}


def _played(begin):
    return lambda vector: steps.play(begin(vector), vector)


ADAPTERS = {
    game: {**module.KINDS, **{kind: _played(begin) for kind, begin in SITTINGS[game].items()}}
    for module in MODULES
    for game in module.GAMES
}
