"""Reports of engines about the workers that they run, and the mean time of a deal-set at a worker."""

import time
from collections.abc import Callable
from typing import Final

from arena.live.metrics import PlacementStatus
from cardarena.v1 import work_pb2

SHOWN_S: Final = 60.0
"""Seconds for which a report is shown; a program that places workers reports every ten seconds."""
REMEMBERED: Final = 128
"""The number of latest deal-sets, about, of which the pace is computed."""
MOST_CHARS: Final = 300
"""The maximal number of characters of an engine's refusal."""


class Placements:
    """The latest reports of the programs that place workers, by key and engine."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._reports: dict[tuple[str, str, int], tuple[float, PlacementStatus]] = {}

    def report(self, key: str, request: work_pb2.ReportPlacementRequest) -> None:
        """Keep the report of a program with this key, and forget old ones."""
        status = PlacementStatus(
            key=key,
            engine=request.engine[:MOST_CHARS],
            speed_class=request.speed_class,
            wanted=request.wanted,
            running=request.running,
            pending=request.pending,
            problem=request.problem[:MOST_CHARS],
        )
        fresh = self._now_s() - SHOWN_S
        self._reports = {name: row for name, row in self._reports.items() if row[0] > fresh}
        self._reports[key, status.engine, status.speed_class] = (self._now_s(), status)

    def status(self) -> list[PlacementStatus]:
        fresh = self._now_s() - SHOWN_S
        return [status for at_s, status in self._reports.values() if at_s > fresh]


class Pace:
    """The mean time of a deal-set: the time that a worker had deal-sets, divided by the number of reported ones."""

    def __init__(self) -> None:
        self._busy_s = self._reported = 0.0

    def busy(self, seconds: float) -> None:
        """Count a time in which a worker had deal-sets."""
        self._busy_s += seconds

    def reported(self) -> None:
        self._reported += 1
        if self._reported > REMEMBERED:
            self._busy_s, self._reported = self._busy_s / 2, self._reported / 2

    @property
    def worker_s(self) -> float:
        """The mean time of a deal-set in seconds; 0 before the first one."""
        return self._busy_s / self._reported if self._reported else 0.0
