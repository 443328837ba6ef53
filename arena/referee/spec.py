"""What fixes a match before it is played, and its outcome."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from arena.games.contract import Deals, Result
from arena.terms import MatchTerms
from cardarena.v1.journal_pb2 import FairDeal


class FaultKind(IntEnum):
    """What a bot can do wrong; the numbers are those of the wire."""

    TIMEOUT = 1
    ILLEGAL = 2
    MALFORMED = 3
    GONE = 4

    @property
    def in_time(self) -> bool:
        """Whether there was an answer, and it came in time: then the increment is due."""
        return self in (FaultKind.ILLEGAL, FaultKind.MALFORMED)


class AbortCause(IntEnum):
    """Why the arena aborted a match; the numbers are those of the wire."""

    ERROR = 1
    """An error of the arena's own; its log has the incident."""
    STOPPED = 2
    """The arena was stopped."""
    DISK = 3
    """The result could not be written down, or there was no more room on the disk for the match."""
    UNPLAYABLE = 4
    """It was begun by rules or options that this arena does not have."""
    JOURNAL = 5
    """What was written of it is damaged: moves that had been told may be missing."""


class Ending(IntEnum):
    """How a match can end; the numbers are those of the wire."""

    COMPLETED = 1
    FORFEIT = 2
    ABORTED = 3


@dataclass(frozen=True, slots=True)
class Entrant:
    """Who sits at a seat, as replays name it."""

    name: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class ForfeitedSeat:
    """A seat that is played by fallback from the first card on."""

    seat: int
    kind: FaultKind
    reason: str


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """Everything that fixes a match, except the bots' moves."""

    match_id: str
    terms: MatchTerms
    entrants: tuple[Entrant, ...]
    """By seat."""
    deals: Deals
    deal_key_sha256: bytes
    """Commits to the key behind `deals`."""
    deal_set: str = ""
    """The deal-set's name; empty for a match alone."""
    forfeited_seats: tuple[ForfeitedSeat, ...] = ()
    """Seats of bots that did wrong before the first card."""
    fair_deal: FairDeal | None = None
    """What the packs come from; None for seeded deals."""
    deal_contexts: tuple[bytes, ...] = ()
    """By seat, what names the fair deal on that bot's stream; none for seeded deals."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing a bot did wrong; it cost the move."""

    seat: int
    kind: FaultKind
    decision: int
    """The seat's decision in the match, counted from 1."""
    reason: str
    """Holds only what the seat may know."""


@dataclass(frozen=True, slots=True)
class SeatConduct:
    """How far a bot played its own seat."""

    decisions: int
    fallbacks: int
    """Decisions that the fallback played: faults, and those for which no time was left."""
    forfeited: bool
    """The seat was out for good: by the limit of faults, by leaving, or before the first card."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a match ended."""

    match_id: str
    ending: Ending
    scores: tuple[int, ...]
    """By seat; empty if the match was aborted."""
    places: tuple[int, ...]
    """By seat, 1 is first; seats that forfeited come after all others."""
    hand_scores: tuple[tuple[int, ...], ...]
    faults: tuple[Fault, ...]
    decisions: int
    """Decisions settled by all seats together."""
    cause: AbortCause | None = None
    """Why the arena aborted the match; None if it did not."""
    incident: str = ""
    """Where the arena's log tells of the cause; empty if it does not."""
    conduct: tuple["SeatConduct", ...] = ()
    """By seat; empty if the match was aborted."""

    def voided(self) -> "Outcome":
        """The same match, aborted as its result could not be written down."""
        return replace(
            self,
            ending=Ending.ABORTED,
            scores=(),
            places=(),
            hand_scores=(),
            conduct=(),
            cause=AbortCause.DISK,
        )


def final_places(result: Result, forfeited: Sequence[bool]) -> tuple[int, ...]:
    """The places of a match by seat: seats that forfeited come after all others."""
    if not any(forfeited):
        return result.places
    ranks = [(not out, score) for out, score in zip(forfeited, result.scores, strict=True)]
    return tuple(1 + sum(other > rank for other in ranks) for rank in ranks)
