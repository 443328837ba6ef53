"""The terms of a match: the game, its options, the time control and the limits.

Every seat receives the terms. They do not contain the seed of repeatable deals, from which all cards follow, nor the
name of the deal-set, by which bots of two tables could find each other.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Final

from arena.games.catalogue import GAMES
from arena.games.contract import Options
from arena.games.game import Game
from arena.validation import Constraint, suggestion

_MAY_BE_NONE: Final = ("bank_ms", "increment_ms")
"""The times of a `TimeControl` that may be None in a share."""
MAX_TIME_MS: Final = 24 * 3600 * 1000
DEFAULT_FAULT_LIMIT: Final = 10
DEFAULT_AWAY_LIMIT_MS: Final = 60_000


def _game_id(game_id: str, _: object) -> str:
    known = [game.id for game in GAMES]
    if game_id not in known:
        raise ValueError(f"there is no game {game_id!r}; {suggestion(game_id, known, 'games')}")
    return game_id


GameId = Annotated[str, Constraint(_game_id)]
"""The id of a game of this arena."""


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The time of each seat, in milliseconds; 0 is no time, or no limit."""

    move_ms: int = 10_000
    """The time for each move, before the bank is used."""
    bank_ms: int = 60_000
    """The time in the bank at the start of the match."""
    increment_ms: int = 0
    """The time that is added to the bank after each move in time."""
    hand_ms: int = 0
    """The limit of a seat in one hand."""
    match_ms: int = 0
    """The limit of a seat in the match."""

    def __post_init__(self) -> None:
        if self.move_ms < 1:
            raise ValueError("a move needs at least 1 ms")
        for name in ("bank_ms", "increment_ms", "hand_ms", "match_ms"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is not negative")
        times = (self.move_ms, self.bank_ms, self.increment_ms, self.hand_ms, self.match_ms)
        if max(times) > MAX_TIME_MS:
            raise ValueError("no time is longer than a day")

    def share(self, thousandths: int) -> "TimeControl":
        """Return the time control with `thousandths` of each time; a limit is never removed, and a move has at least 1 ms."""
        return TimeControl(
            **{
                name: max(ms * thousandths // WHOLE, 1 if ms and name not in _MAY_BE_NONE else 0)
                for name, ms in asdict(self).items()
            }
        )


WHOLE: Final = 1000
"""The thousandths of a bot without time odds."""


TIME_CLASSES: Final = {
    "standard": TimeControl(),
    "slow": TimeControl(move_ms=120_000, bank_ms=600_000),
    "human": TimeControl(move_ms=30_000, bank_ms=600_000),
}
"""Time controls by name. `slow` is for bots that think for minutes, such as language models; `human` for people."""


@dataclass(frozen=True, slots=True)
class MatchTerms:
    """The terms of a match, without its bots and cards."""

    game: Game
    options: Options
    """Validated for this many seats, see `Game.options`."""
    seats: int
    time_control: TimeControl = field(default_factory=TimeControl)
    fault_limit: int = DEFAULT_FAULT_LIMIT
    """The number of faults after which a seat is forfeited; 0 is no limit."""
    away_limit_ms: int = DEFAULT_AWAY_LIMIT_MS
    """Total absence of a bot after which its seat is forfeited; 0 is no limit."""
    seeded: bool = False
    """Whether the deals follow from a seed, so that they are repeatable and not fair."""
    time_odds: tuple[tuple[str, int], ...] = ()
    """The thousandths of bots that have less than the whole time control, by name without version."""

    def control_of(self, bot: str) -> TimeControl:
        """Return the time control of a bot, named with or without a version."""
        thousandths = dict(self.time_odds).get(bot.partition("@")[0], WHOLE)
        return self.time_control if thousandths == WHOLE else self.time_control.share(thousandths)


def time_odds(shares: Mapping[str, float]) -> tuple[tuple[str, int], ...]:
    """Return the `time_odds` of terms, from the share of the time control by bot.

    Raises:
      ValueError: if a share is not from 0.001 to 1.
    """
    odds = {bot: round(share * WHOLE) for bot, share in shares.items()}
    for bot, thousandths in odds.items():
        if not 1 <= thousandths <= WHOLE:
            raise ValueError(f"the share of {bot} is {shares[bot]:g}: give one from 0.001 to 1")
    return tuple(sorted((bot, share) for bot, share in odds.items() if share < WHOLE))
