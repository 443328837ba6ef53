"""Translate conformance vectors into calls of the rules, one module per family.

An adapter module has `GAMES`, the game names of the vectors it serves, and
`KINDS`, which maps a vector's kind to a function that asserts the vector.
"""

import importlib
import pkgutil

MODULES = [
    importlib.import_module(f"{__name__}.{each.name}")
    for each in pkgutil.iter_modules(__path__)
    if each.name not in ("deals", "poker_table")
]
ADAPTERS = {game: module.KINDS for module in MODULES for game in module.GAMES}
