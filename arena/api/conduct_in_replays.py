"""How bots decided in replays, for pages: their faults and the time that they took."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from arena.records.read import Replay
from arena.records.records import Damaged
from arena.referee.spec import FaultKind


@dataclass(frozen=True, slots=True)
class ConductInMatch:
    """The decisions of a seat in a match."""

    faults: tuple[tuple[int, str], ...] = ()
    """The number of the decision and the kind of each fault."""
    times_ms: tuple[float, ...] = ()
    """The time charged for each decision that was asked for."""


@lru_cache(4_096)
def conduct_in(file: Path, seat: int) -> ConductInMatch:
    """Return the decisions of a seat in a replay, whose file never changes; none if it cannot be read."""
    try:
        decided = [row for row in Replay.open(file).decided if row.seat == seat]
    except (Damaged, OSError):
        return ConductInMatch()
    return ConductInMatch(
        tuple((row.decision, FaultKind(row.fault).name.lower()) for row in decided if row.fault),
        tuple(row.charged_us / 1000 for row in decided if not row.unasked),
    )
