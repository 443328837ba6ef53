"""Matches, tournaments and the keys of bots, kept in one SQLite file.

`open_store` opens the file. `Store.matches` has how every match ended, `Store.keys`
the keys; `Store.open_tournament` starts a tournament or goes on with it.
Whatever can go wrong with the file is a `StoreError` of one clear sentence.
"""

from arena.store.errors import EntrantsChanged, SettingsDiffer, StoreBusy, StoreError
from arena.store.keys import NAME, Key, Keys, NameTaken, Scope
from arena.store.matches import EndedMatch, Matches, MatchFilter, StoredMatch
from arena.store.settings import Entrant, Settings
from arena.store.store import Store, open_store
from arena.store.tournament import Tournament

__all__ = [
    "NAME",
    "EndedMatch",
    "Entrant",
    "EntrantsChanged",
    "Key",
    "Keys",
    "MatchFilter",
    "Matches",
    "NameTaken",
    "Scope",
    "Settings",
    "SettingsDiffer",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoredMatch",
    "Tournament",
    "open_store",
]
