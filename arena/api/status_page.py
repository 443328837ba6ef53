"""The status page of an arena, as the arena writes it and as `arena status` reads it.

Numbers count from the start of the arena. The page has numbers and words from fixed lists only: it names no bot, match,
card or token. A count by label has only labels above 0, the greatest first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Final

from arena.live.metrics import PlacementStatus, WorkerStatus
from arena.validation import OPEN, Constraint, Limits

MAX_NUMBER: Final = 2**53
"""All counts of an arena stay below this."""
_YEAR_9999_UNIX_S: Final = datetime(9999, 1, 1, tzinfo=UTC).timestamp()
"""The latest time that has a date, in Unix seconds."""

Count = Annotated[int, Limits(ge=0, le=MAX_NUMBER)]
Number = Annotated[float, Limits(ge=0, le=MAX_NUMBER)]
Counts = Mapping[str, Count]
Numbers = Mapping[str, Count | Number]
Quantiles = Mapping[str, Number | None]
"""Quantiles of times in milliseconds, each the upper bound of its bucket; None without any time."""


def _with(*keys: str) -> Constraint:
    """Return a check that a part of the page has these keys."""

    def check(part: Mapping[str, Any], _: object) -> Mapping[str, Any]:
        if missing := set(keys) - part.keys():
            raise ValueError(f"lacks {', '.join(sorted(missing))}")
        return part

    return Constraint(check)


def _dated(process: Mapping[str, float], _: object) -> Mapping[str, float]:
    if process["started_unix_s"] >= _YEAR_9999_UNIX_S:
        raise ValueError("started at a time without a date")
    return process


_TIMES: Final = _with("count", "p50", "p99")


@dataclass(frozen=True, slots=True)
class ArenaSigns:
    """The fields that identify the status page of an arena, of any version."""

    __pydantic_config__: ClassVar = OPEN

    version: str
    draining: bool


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """Matches by their state."""

    in_play: Count
    begun: Count
    ended: Counts
    aborted: Counts
    taken: bool
    """Whether new matches are taken now."""
    refused: Count


@dataclass(frozen=True, slots=True)
class StatusPage(ArenaSigns):
    """The whole page."""

    matches: MatchCounts
    bots: Annotated[Counts, _with("connected", "known")]
    """The numbers of connected bots and of bots with a session."""
    connections: Annotated[Counts, _with("open", "cut")]
    """The numbers of open connections and of those that were closed for flooding."""
    waiting_bytes: Count
    decisions: Counts
    """The numbers of decisions by game."""
    faults: Counts
    """The numbers of faults by kind."""
    refused: Annotated[Mapping[str, Counts], _with("calls", "messages")]
    """The numbers of refusals by reason."""
    times_ms: Annotated[
        Mapping[str, Annotated[Quantiles, _TIMES]], _with("charged", "turnaround", "journal_sync")
    ]
    lag: Annotated[
        Numbers, _with("late_p99_ms", "pauses", "paused_s", "longest_pause_ms", "refunded_s")
    ]
    journal: Annotated[Counts, _with("written_bytes", "unsynced_bytes")]
    deal_sets: Counts
    """The numbers of deal-sets by step."""
    process: Annotated[
        Numbers,
        _with("resident_bytes", "open_files", "threads", "cpu_s", "started_unix_s"),
        Constraint(_dated),
    ]
    workers: tuple[WorkerStatus, ...]
    placements: tuple[PlacementStatus, ...] = ()
