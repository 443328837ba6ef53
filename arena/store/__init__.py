"""Tournaments with their results, and the keys of bots, kept in one SQLite file.

`open_store` opens the file, `Store.open_tournament` starts a tournament or goes
on with it, and the `Tournament` keeps results. `Store.keys` has the keys.
Whatever can go wrong with the file is a `StoreError` of one clear sentence.
"""

from arena.store.errors import SettingsDiffer, StoreBusy, StoreError
from arena.store.keys import NAME, Key, Keys, NameTaken, Scope
from arena.store.results import Tournament
from arena.store.settings import Entrant, Settings
from arena.store.tournaments import Store, open_store

__all__ = [
    "NAME",
    "Entrant",
    "Key",
    "Keys",
    "NameTaken",
    "Scope",
    "Settings",
    "SettingsDiffer",
    "Store",
    "StoreBusy",
    "StoreError",
    "Tournament",
    "open_store",
]
