"""Tournaments and their results, kept in one SQLite file.

`open_store` opens the file, `Store.open_tournament` starts a tournament or goes
on with it, and the `Tournament` keeps results. Whatever can go wrong with the
file is a `StoreError` of one clear sentence.
"""

from arena.store.errors import SettingsDiffer, StoreError
from arena.store.results import Tournament
from arena.store.settings import Entrant, Settings
from arena.store.tournaments import Store, open_store

__all__ = [
    "Entrant",
    "Settings",
    "SettingsDiffer",
    "Store",
    "StoreError",
    "Tournament",
    "open_store",
]
