"""The times of a bot's decisions, as rows of a label and a sentence."""

from collections.abc import Iterator, Sequence
from typing import Final

from arena.cli.terminal.plain import plain
from arena.records.diagnosis import MatchDiagnosis, SlowDecision
from arena.records.phrases import count, seconds
from arena.results.think_times import PhaseTimes, TimeSpent

_SHORT_US: Final = 1000
"""The time in microseconds below which times are not shown."""


def slowest_rows(diagnosis: MatchDiagnosis) -> Sequence[tuple[str, str]]:
    """Return the slowest decisions that the bot made in time."""
    return [
        (
            seconds(slow.charged_us),
            f"decision {slow.decision}, in hand {slow.hand}{_queued(slow)}",
        )
        for slow in diagnosis.slowest
        if slow.charged_us >= _SHORT_US
    ]


def phase_rows(phases: Sequence[PhaseTimes]) -> Sequence[tuple[str, str]]:
    """Return the times by phase of the game."""
    return [
        (
            phase.phase,
            f"p50 {seconds(phase.p50_us)}, p95 {seconds(phase.p95_us)}, p99 {seconds(phase.p99_us)}; "
            f"{count(phase.decisions, 'decision')}"
            + (f"; the arena's lag, apart: {seconds(phase.lag_us)}" if phase.lag_us else ""),
        )
        for phase in phases
        if phase.p99_us >= _SHORT_US or phase.lag_us
    ]


def spent_rows(time: TimeSpent | None) -> Iterator[tuple[str, str]]:
    """Yield the known parts of the bot's time: its own queue, the network and the arena's lag."""
    if time is None or time.charged_us + time.lag_us < _SHORT_US:
        return
    decisions = count(time.decisions, "decision")
    whole = f"{seconds(time.charged_us)} in {decisions} in time: thinking, own queue and network"
    yield "charged", whole
    by_sdk = time.by_sdk
    if by_sdk is not None:
        asks = count(by_sdk.asks, "ask")
        yield "own queue", f"{seconds(by_sdk.queue_us)} in {asks}, as its SDK measured"
    if by_sdk is not None and by_sdk.trips:
        asks = count(by_sdk.trips, "ask")
        yield "network", f"{seconds(by_sdk.network_us)} in {asks}, as its SDK measured"
    else:
        most = f"at most {seconds(time.shortest_us)} a decision, as its fastest one took no longer"
        yield "network", most
    if time.lag_us:
        yield "arena", f"{seconds(time.lag_us)} of its own lag, which is not charged"


def _queued(slow: SlowDecision) -> str:
    """Return the wait in the bot's own queue, as the continuation of a decision."""
    return f"; {plain(slow.queued)}" if slow.queued else ""
