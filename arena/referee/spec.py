"""The specification of a match, and its outcome."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from arena.errors import ErrorEntry, FaultEntry
from arena.errors.faults import ABORTS, FAULTS
from arena.games.contract import Deals, Result
from arena.referee.deal import Dice
from arena.referee.terms import MatchTerms
from cardarena.v1.journal_pb2 import FairDeal


class FaultKind(IntEnum):
    """The kinds of faults; the numbers are those of the wire."""

    TIMEOUT = 1
    ILLEGAL = 2
    MALFORMED = 3
    GONE = 4
    ERROR = 5

    @property
    def entry(self) -> FaultEntry:
        return FAULTS[self - 1]

    @property
    def in_time(self) -> bool:
        """Whether there was an answer in time: then the increment is added."""
        return self in (FaultKind.ILLEGAL, FaultKind.MALFORMED, FaultKind.ERROR)


class AbortCause(IntEnum):
    """The reason why the arena aborted a match; the numbers are those of the wire.

    `arena.errors.faults.ABORTS` explains each.
    """

    ERROR = 1
    STOPPED = 2
    DISK = 3
    UNPLAYABLE = 4
    JOURNAL = 5

    @property
    def entry(self) -> ErrorEntry:
        return ABORTS[self]


class Ending(IntEnum):
    """The ending of a match; the numbers are those of the wire."""

    COMPLETED = 1
    FORFEIT = 2
    ABORTED = 3


@dataclass(frozen=True, slots=True)
class SeatedBot:
    """The bot at a seat, as in replays."""

    name: str
    version: str = ""
    publishes_notes: bool = False
    """Whether its notes are published with the replay."""


@dataclass(frozen=True, slots=True)
class ForfeitedSeat:
    """A seat that the fallback plays from the first card on."""

    seat: int
    kind: FaultKind
    reason: str


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """Everything that determines a match, except the bots' moves."""

    match_id: str
    terms: MatchTerms
    entrants: tuple[SeatedBot, ...]
    """By seat."""
    deals: Deals
    deal_key_sha256: bytes
    """Commits to the key behind `deals`."""
    deal_set: str = ""
    """The deal-set's name; empty for a single match."""
    forfeited_seats: tuple[ForfeitedSeat, ...] = ()
    """Seats of bots with a fault before the first card."""
    fair_deal: FairDeal | None = None
    """The fair deal of the packs; None for seeded deals."""
    deal_contexts: tuple[bytes, ...] = ()
    """By seat, the context of the fair deal on the bot's stream; none for seeded deals."""
    dice: Dice | None = None
    """The dice of the bots; None in matches of versions without dice."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a bot, for which the fallback was played."""

    seat: int
    kind: FaultKind
    decision: int
    """The seat's decision in the match, counted from 1."""
    reason: str
    """Contains only what the seat may know."""


@dataclass(frozen=True, slots=True)
class SeatConduct:
    """The numbers of a seat's decisions by the bot and by the fallback."""

    decisions: int
    fallbacks: int
    """The number of decisions of the fallback: after faults, and without time."""
    forfeited: bool
    """Whether the seat was forfeited: by the limit of faults, by leaving, or before the first card."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a match."""

    match_id: str
    ending: Ending
    scores: tuple[int, ...]
    """By seat; empty if the match was aborted."""
    places: tuple[int, ...]
    """By seat, 1 is first; seats that forfeited come after all others."""
    hand_scores: tuple[tuple[int, ...], ...]
    faults: tuple[Fault, ...]
    decisions: int
    """The number of settled decisions of all seats."""
    cause: AbortCause | None = None
    """Why the arena aborted the match; None if it did not."""
    incident: str = ""
    """The number of the incident in the arena's log; empty without one."""
    conduct: tuple[SeatConduct, ...] = ()
    """By seat; empty if the match was aborted."""
    ended_by_limit: bool = False
    """Whether a limit of hands ended it before its goal was reached."""

    def voided(self) -> "Outcome":
        """Return the outcome of the same match, aborted because its result could not be recorded."""
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
    """Return the places of a match by seat: seats that forfeited come after all others."""
    if not any(forfeited):
        return result.places
    ranks = [(not out, score) for out, score in zip(forfeited, result.scores, strict=True)]
    return tuple(1 + sum(other > rank for other in ranks) for rank in ranks)
