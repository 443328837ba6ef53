"""What a match is played by, and what comes out of it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import IntEnum

from arena.games.catalogue import Game
from arena.games.contract import Deals, Options, Result
from cardarena.v1 import game_pb2
from cardarena.v1.journal_pb2 import FairDeal


class FaultKind(IntEnum):
    """What a bot can do wrong; the numbers are those of the wire."""

    TIMEOUT = 1
    ILLEGAL = 2
    MALFORMED = 3
    GONE = 4


class AbortCause(IntEnum):
    """Why the arena aborted a match; the numbers are those of the wire."""

    ERROR = 1
    """An error of the arena's own; its log has the incident."""
    STOPPED = 2
    """The arena was stopped."""
    DISK = 3
    """The result could not be written down."""
    UNPLAYABLE = 4
    """It was begun by rules or options that this arena does not have."""


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
class TimeControl:
    """The time every seat has. All in milliseconds; 0 is none, or no limit."""

    move_ms: int = 10_000
    """For each move, before the bank is touched."""
    bank_ms: int = 60_000
    """In the bank at the start of the match."""
    increment_ms: int = 0
    """Added to the bank after each move in time."""
    hand_ms: int = 0
    """Most that a seat may use in one hand."""
    match_ms: int = 0
    """Most that a seat may use in the match."""

    def __post_init__(self) -> None:
        if self.move_ms < 1:
            raise ValueError("a move needs at least 1 ms")
        for name in ("bank_ms", "increment_ms", "hand_ms", "match_ms"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is not negative")
        times = (self.move_ms, self.bank_ms, self.increment_ms, self.hand_ms, self.match_ms)
        if max(times) > MAX_TIME_MS:
            raise ValueError("no time is longer than a day")

    @classmethod
    def from_message(cls, message: game_pb2.TimeControl) -> "TimeControl":
        """The time control that a message gives.

        Raises:
          ValueError: if no match can be played by it.
        """
        return cls(
            move_ms=message.move_ms,
            bank_ms=message.bank_ms,
            increment_ms=message.increment_ms,
            hand_ms=message.hand_ms,
            match_ms=message.match_ms,
        )

    @property
    def message(self) -> game_pb2.TimeControl:
        """The same as a message."""
        return game_pb2.TimeControl(**asdict(self))


MAX_TIME_MS = 24 * 3600 * 1000


DEFAULT_AWAY_LIMIT_MS = 60_000


@dataclass(frozen=True, slots=True)
class ForfeitedSeat:
    """A seat that is played by fallback from the first card on."""

    seat: int
    kind: FaultKind
    reason: str


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """Everything that fixes a match but what the bots will do."""

    match_id: str
    game: Game
    options: Options
    entrants: tuple[Entrant, ...]
    """By seat."""
    deals: Deals
    deal_key_sha256: bytes
    """Commits to the key behind `deals`."""
    time_control: TimeControl = field(default_factory=TimeControl)
    seeded: bool = False
    """The deals follow from a seed: repeatable, and not a fair deal."""
    deal_set: str = ""
    fault_limit: int = 10
    """Faults after which a seat is played by fallback to the end; 0 is never."""
    away_limit_ms: int = DEFAULT_AWAY_LIMIT_MS
    """Longest that a bot may be away in all, before its seat is played by fallback to
    the end; 0 is without limit."""
    forfeited_seats: tuple[ForfeitedSeat, ...] = ()
    """Seats of bots that did wrong before the first card."""
    fair_deal: FairDeal | None = None
    """What the packs come from; None for seeded deals."""
    deal_context: bytes = b""
    """Names the fair deal on the bots' streams."""

    @property
    def seats(self) -> int:
        return len(self.entrants)


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

    def voided(self) -> "Outcome":
        """The same match, aborted as its result could not be written down."""
        return replace(
            self,
            ending=Ending.ABORTED,
            scores=(),
            places=(),
            hand_scores=(),
            cause=AbortCause.DISK,
        )


def final_places(result: Result, forfeited: Sequence[bool]) -> tuple[int, ...]:
    """The places of a match by seat: seats that forfeited come after all others."""
    if not any(forfeited):
        return result.places
    ranks = [(not out, score) for out, score in zip(forfeited, result.scores, strict=True)]
    return tuple(1 + sum(other > rank for other in ranks) for rank in ranks)
