"""What a match is played by, whoever plays it: the game, its options, the clock and the limits.

The terms of a match are told to every seat. What is not theirs to know stands
beside them wherever they go: the seed of repeatable deals, from which all cards
follow, and the name of the deal-set, by which two tables could find each other.
"""

from dataclasses import dataclass, field
from typing import Final

from arena.games.catalogue import Game
from arena.games.contract import Options

MAX_TIME_MS: Final = 24 * 3600 * 1000
DEFAULT_FAULT_LIMIT: Final = 10
DEFAULT_AWAY_LIMIT_MS: Final = 60_000


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


@dataclass(frozen=True, slots=True)
class MatchTerms:
    """Everything that is agreed on before a match, but who plays and which cards are dealt."""

    game: Game
    options: Options
    """Validated for this many seats, see `Game.options`."""
    seats: int
    time_control: TimeControl = field(default_factory=TimeControl)
    fault_limit: int = DEFAULT_FAULT_LIMIT
    """Faults after which a seat is played by fallback to the end; 0 is never."""
    away_limit_ms: int = DEFAULT_AWAY_LIMIT_MS
    """Longest that a bot may be away in all, before its seat is played by fallback to
    the end; 0 is without limit."""
    seeded: bool = False
    """The deals follow from a seed: repeatable, and not a fair deal."""
