"""The report of a qualification in a terminal."""

from typing import Final

from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import say
from arena.records.phrases import seconds
from arena.results.qualification_report import QualificationReport
from arena.results.think_times import TimeSpent

_SHORT_US: Final = 1000
"""The time in microseconds below which phases are not shown."""
_PHASES: Final = 12
"""The number of phases that are shown, the slowest of all games."""


def print_report(report: QualificationReport, name: str) -> None:
    """Print a report for the author of a bot: the checks in sentences, and the times of its decisions in tables."""
    for line in report.words(name):
        say(line)
    rows = [(check, row) for check in report.checks for row in check.phases]
    slow = sorted(
        (row for row in rows if row[1].p99_us >= _SHORT_US), key=lambda row: -row[1].p95_us
    )
    if not slow:
        return
    say("")
    print_table(
        ("phase", "game", "decisions", "p50", "p95", "p99"),
        [
            (
                row.phase,
                check.title,
                row.decisions,
                *map(seconds, (row.p50_us, row.p95_us, row.p99_us)),
            )
            for check, row in slow[:_PHASES]
        ],
        numbers=("decisions", "p50", "p95", "p99"),
    )
    if len(slow) > _PHASES:
        say(f"{len(slow) - _PHASES} faster phases are in --json.")
    say("")
    print_table(
        ("where the time went", "decisions", "charged", "own queue", "network", "arena's lag"),
        [
            (
                check.title,
                time.decisions,
                seconds(time.charged_us),
                *_queue_and_network(time),
                seconds(time.lag_us),
            )
            for check in report.checks
            if (time := check.time) and time.charged_us + time.lag_us >= _SHORT_US
        ],
        numbers=("decisions", "charged", "own queue", "network", "arena's lag"),
    )


def _queue_and_network(time: TimeSpent) -> tuple[str, str]:
    """Return the measurements of the bot's SDK; without them, the bound of the network time from the fastest decision."""
    noted = time.by_sdk
    queue = seconds(noted.queue_us) if noted else "not noted"
    if noted and noted.trips:
        return queue, seconds(noted.network_us)
    return queue, f"≤ {seconds(time.shortest_us)} each"
