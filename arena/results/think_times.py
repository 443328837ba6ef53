"""The times of a bot's decisions: by phase of the game, and by the part of the path that used them.

The arena sees when an ask is sent and when its answer arrives. Between them are the network, the bot's own queue
and its thinking, which only the bot's SDK can tell apart.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class TimedDecision:
    """A decision that the bot made in time."""

    phase: str
    """The phase of the game, as the view names it."""
    charged_us: int
    lag_us: int
    """A delay of the arena itself, which is not charged."""


@dataclass(frozen=True, slots=True)
class PhaseTimes:
    """The charged times of the decisions that the bot made in time in one phase of the game.

    They include the bot's thinking, its own queue and the network.
    """

    phase: str
    """As the view names it."""
    decisions: int
    p50_us: int
    p95_us: int
    p99_us: int
    lag_us: int
    """Delays of the arena itself in all these decisions, which are not in the times."""


@dataclass(frozen=True, slots=True)
class SdkTimes:
    """The measurements of the bot's SDK for asks that the bot's code answered."""

    asks: int
    queue_us: int
    """The total time in the bot's own queue."""
    trips: int
    """The number of asks whose time on the network is known."""
    network_us: int
    """The total time on the network, in both directions."""


@dataclass(frozen=True, slots=True)
class TimeSpent:
    """The parts of the time of decisions that the bot made in time."""

    decisions: int
    charged_us: int
    shortest_us: int
    """The shortest charge: the time on the network is not longer in an undisturbed decision."""
    lag_us: int
    """Delays of the arena itself, which are not charged."""
    by_sdk: SdkTimes | None
    """From the newest note of the SDK in each match; None if it has sent none; it sends none if the times are short."""


def time_spent(decisions: Sequence[TimedDecision], noted: Sequence[SdkTimes]) -> TimeSpent | None:
    """Sum the times of decisions, and the SDK's notes of their matches; None without a decision."""
    if not decisions:
        return None
    charged_us = [decision.charged_us for decision in decisions]
    by_sdk = SdkTimes(*map(sum, zip(*map(astuple, noted), strict=True))) if noted else None
    lag_us = sum(decision.lag_us for decision in decisions)
    return TimeSpent(len(decisions), sum(charged_us), min(charged_us), lag_us, by_sdk)


def phase_times(decisions: Sequence[TimedDecision]) -> tuple[PhaseTimes, ...]:
    """Return the times by phase of the game, the slowest first."""
    by_phase = defaultdict[str, list[TimedDecision]](list)
    for decision in decisions:
        by_phase[decision.phase].append(decision)
    rows = []
    for phase, of_phase in by_phase.items():
        times_us = sorted(decision.charged_us for decision in of_phase)
        p50_us, p95_us, p99_us = (
            times_us[math.ceil(share * len(times_us)) - 1] for share in (0.5, 0.95, 0.99)
        )
        lag_us = sum(decision.lag_us for decision in of_phase)
        rows.append(PhaseTimes(phase, len(of_phase), p50_us, p95_us, p99_us, lag_us))
    return tuple(sorted(rows, key=lambda row: -row.p95_us))
