"""The store: matches, competitions, keys, owners and bots, in one SQLite file or in PostgreSQL.

`open_store` opens the file, or the database whose address is in a file beside it (`keep_in`). `open_public`
opens it for public readers. `Store.matches` has the results of all matches, `Store.competitions` the
competitions of every format, `Store.keys` the keys, `Store.registry` owners and versions. `Store.violations`
checks the rules of all rows. Failures are a `StoreError` of one sentence.
"""

from arena.store.blobs import Blobs
from arena.store.change_detector import ChangeDetector
from arena.store.comparison_requests import (
    ComparisonRequest,
    ComparisonRequests,
    ComparisonState,
    NoComparison,
    QuotaSpent,
)
from arena.store.competitions import (
    Competition,
    Competitions,
    CompetitionTexts,
    NoCompetition,
    NoEntrant,
    NoOfficialStandings,
    NotExpected,
)
from arena.store.database import is_there, keep_in, kept_at, url_beside
from arena.store.entrants import CompetitionEntry, EnteredBot, MayNotEnter
from arena.store.errors import StoreBusy, StoreError
from arena.store.keys import Key, Keys, Scope
from arena.store.leases import Leases
from arena.store.matches import EndedMatch, MatchFilter, StoredMatch, StoredMatches
from arena.store.names import NAME, NameTaken
from arena.store.official_standings import OfficialStandings
from arena.store.postgresql import answering_version
from arena.store.registry import Bot, BotKind, Owner, Registry, Version
from arena.store.rounds import DrawDiffers
from arena.store.store import Store, open_public, open_store

__all__ = [
    "NAME",
    "Blobs",
    "Bot",
    "BotKind",
    "ChangeDetector",
    "ComparisonRequest",
    "ComparisonRequests",
    "ComparisonState",
    "Competition",
    "CompetitionEntry",
    "CompetitionTexts",
    "Competitions",
    "DrawDiffers",
    "EndedMatch",
    "EnteredBot",
    "Key",
    "Keys",
    "Leases",
    "MatchFilter",
    "MayNotEnter",
    "NameTaken",
    "NoComparison",
    "NoCompetition",
    "NoEntrant",
    "NoOfficialStandings",
    "NotExpected",
    "OfficialStandings",
    "Owner",
    "QuotaSpent",
    "Registry",
    "Scope",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoredMatch",
    "StoredMatches",
    "Version",
    "answering_version",
    "is_there",
    "keep_in",
    "kept_at",
    "open_public",
    "open_store",
    "url_beside",
]
