"""The store: matches, competitions, keys, owners and bots, in one SQLite file or in PostgreSQL.

`open_store` opens the file, or the database whose address is in a file beside it (`keep_in`). `open_public`
opens it for public readers. `Store.matches` has the results of all matches, `Store.competitions` the
competitions of every format, `Store.keys` the keys, `Store.registry` owners and versions. `Store.violations`
checks the rules of all rows. Failures are a `StoreError` of one sentence.
"""

from arena.store.change_detector import ChangeDetector
from arena.store.comparison_requests import (
    Challenge,
    ComparisonRequest,
    ComparisonRequests,
    ComparisonState,
    NoComparison,
    Quota,
    QuotaSpent,
    TooManyChallenges,
    TooManyOpen,
)
from arena.store.competition_reader import NoOfficialStandings
from arena.store.competition_rows import Competition, NoCompetition
from arena.store.competitions import Competitions, CompetitionTexts, NoEntrant, NotExpected
from arena.store.database import is_there, keep_in, kept_at, url_beside
from arena.store.deal_sets import Contradicted, OutOfDate, StoredDealSets
from arena.store.entrants import CompetitionEntry, EnteredBot, MayNotEnter, NoActiveVersion
from arena.store.errors import StoreBusy, StoreError
from arena.store.keys import Key, Keys, Scope
from arena.store.matches import MatchFilter, StoredMatch, StoredMatches
from arena.store.names import NAME, NameTaken
from arena.store.official_standings import OfficialStandings
from arena.store.postgresql import answering_version
from arena.store.registry import Bot, Invitation, Owner, Registry
from arena.store.rounds import DrawDiffers
from arena.store.store import Store, open_public, open_store
from arena.store.versions import BotKind, Version

__all__ = [
    "NAME",
    "Bot",
    "BotKind",
    "Challenge",
    "ChangeDetector",
    "ComparisonRequest",
    "ComparisonRequests",
    "ComparisonState",
    "Competition",
    "CompetitionEntry",
    "CompetitionTexts",
    "Competitions",
    "Contradicted",
    "DrawDiffers",
    "EnteredBot",
    "Invitation",
    "Key",
    "Keys",
    "MatchFilter",
    "MayNotEnter",
    "NameTaken",
    "NoActiveVersion",
    "NoComparison",
    "NoCompetition",
    "NoEntrant",
    "NoOfficialStandings",
    "NotExpected",
    "OfficialStandings",
    "OutOfDate",
    "Owner",
    "Quota",
    "QuotaSpent",
    "Registry",
    "Scope",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoredDealSets",
    "StoredMatch",
    "StoredMatches",
    "TooManyChallenges",
    "TooManyOpen",
    "Version",
    "answering_version",
    "is_there",
    "keep_in",
    "kept_at",
    "open_public",
    "open_store",
    "url_beside",
]
