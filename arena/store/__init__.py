"""Matches, tournaments, keys, owners and their bots, kept in one SQLite file or in PostgreSQL.

`open_store` opens the file, or the database whose address stands beside it (`keep_in`), `open_public` for readers of what everybody may know. `Store.matches` has how
every match ended, `Store.keys` the keys, `Store.registry` owners and versions, `Store.competitions` ladders and
tournaments of every format; `Store.open_tournament` starts a tournament
or goes on with it, `Store.violations` says what does not hold and should.
Whatever can go wrong with the file is a `StoreError` of one clear sentence.
"""

from arena.store.blobs import Blobs
from arena.store.competitions import (
    Competition,
    Competitions,
    Entry,
    Held,
    MayNotEnter,
    NewGame,
    NoCompetition,
    NotExpected,
    OfficialTable,
)
from arena.store.database import is_there, keep_in, kept_at
from arena.store.errors import EntrantsChanged, SettingsDiffer, StoreBusy, StoreError
from arena.store.keys import NAME, Key, Keys, NameTaken, Scope
from arena.store.leases import Leases
from arena.store.matches import EndedMatch, Matches, MatchFilter, StoredMatch
from arena.store.news import News
from arena.store.questions import NoQuestion, Question, Questions, QuestionState, QuotaSpent
from arena.store.registry import Bot, BotKind, Owner, Registry, Version
from arena.store.rounds import DrawDiffers, Rounds
from arena.store.settings import Entrant, Settings
from arena.store.store import Store, open_public, open_store
from arena.store.tournament import Tournament

__all__ = [
    "NAME",
    "Blobs",
    "Bot",
    "BotKind",
    "Competition",
    "Competitions",
    "DrawDiffers",
    "EndedMatch",
    "Entrant",
    "EntrantsChanged",
    "Entry",
    "Held",
    "Key",
    "Keys",
    "Leases",
    "MatchFilter",
    "Matches",
    "MayNotEnter",
    "NameTaken",
    "NewGame",
    "News",
    "NoCompetition",
    "NoQuestion",
    "NotExpected",
    "OfficialTable",
    "Owner",
    "Question",
    "QuestionState",
    "Questions",
    "QuotaSpent",
    "Registry",
    "Rounds",
    "Scope",
    "Settings",
    "SettingsDiffer",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoredMatch",
    "Tournament",
    "Version",
    "is_there",
    "keep_in",
    "kept_at",
    "open_public",
    "open_store",
]
