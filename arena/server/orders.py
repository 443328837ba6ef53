"""A match as it is ordered, and what is told of it afterwards."""

from dataclasses import dataclass, field
from typing import Final

from arena.referee import Outcome, TimeControl
from arena.server.deals import PlannedMatch
from arena.server.session import BotId

DEFAULT_TIME_CONTROL: Final = TimeControl()


@dataclass(frozen=True, slots=True)
class MatchOrder:
    """A match that is to be played."""

    game: str
    bots: tuple[BotId, ...]
    """By seat."""
    options: dict[str, object] = field(default_factory=dict)
    time_control: TimeControl = DEFAULT_TIME_CONTROL
    seed: str = ""
    """Makes the deals repeatable; empty deals fairly."""
    match_id: str = ""
    """Empty makes one at random."""
    deal_set: str = ""
    """Matches of one deal-set share its boards."""
    tables: int = 1
    """Matches of the deal-set that are still to be played: its replays stay closed until all
    have ended."""
    plan: tuple[PlannedMatch, ...] = ()
    """All matches of the deal-set; empty is this one alone."""
    fault_limit: int = 10


@dataclass(slots=True)
class MatchRecord:
    """What the lobby tells of a match."""

    match_id: str
    game: str
    bots: tuple[str, ...]
    outcome: Outcome | None = None
