"""The number of workers, from the deal-sets that wait for them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from arena.app.placement.placement import WorkerPlacement
from arena.local.engines import EngineError
from cardarena.v1 import work_pb2

EVERY_S: Final = 10.0
"""Seconds between two checks of the queue."""


class Report(Protocol):
    """Reports to the arena what an engine runs; returns the queue. Raises `ArenaAway` if the arena does not answer."""

    def __call__(
        self, request: work_pb2.ReportPlacementRequest, /
    ) -> work_pb2.ReportPlacementResponse: ...


class ArenaAway(Exception):
    """The arena does not answer now. The text says why."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The organiser's bounds of the number of workers."""

    least: int
    most: int
    target_s: float
    """The time in seconds in which all waiting deal-sets should be played."""
    idle_s: float
    """Seconds for which fewer workers must be enough before surplus ones are drained."""


def needed(queue: work_pb2.ReportPlacementResponse, bounds: Bounds) -> int:
    """Return the number of workers that play all deal-sets that wait or are in play within the target time.

    Before the arena knows the time of a deal-set at a worker, one worker is enough.
    """
    open_deal_sets = queue.deal_sets_waiting + queue.deal_sets_in_play
    needs = math.ceil(open_deal_sets * queue.worker_seconds / bounds.target_s)
    return min(max(needs, bounds.least, int(open_deal_sets > 0)), bounds.most)


class Scaling:
    """Adjusts the number of an engine's workers to the need of the arena."""

    def __init__(
        self,
        placement: WorkerPlacement,
        report: Report,
        bounds: Bounds,
        engine: str,
        speed_class: int,
        now_s: Callable[[], float],
    ) -> None:
        self._placement, self._report, self._bounds = placement, report, bounds
        self._engine, self._speed_class = engine, speed_class
        self._now_s = now_s
        self._wanted = bounds.least
        self._enough_since_s: float | None = None
        """Since when fewer have been needed than are wanted."""

    def step(self) -> str:
        """Check the queue, and place and drain workers once; return a sentence about the queue and the change."""
        problem = ""
        running, pending = 0, 0
        try:
            placed = self._placement.running()
            running = sum(bool(worker.where) for worker in placed)
            pending = len(placed) - running
        except EngineError as error:
            problem = str(error)
        queue, away = None, ""
        try:
            queue = self._report(
                work_pb2.ReportPlacementRequest(
                    engine=self._engine, speed_class=self._speed_class,
                    wanted=self._wanted, running=running, pending=pending, problem=problem,
                )
            )  # fmt: skip
        except ArenaAway as error:
            away = str(error)
        if queue is not None:
            self._want(needed(queue, self._bounds))
        if not problem:
            try:
                self._placement.scale(self._wanted)
            except EngineError as error:
                problem = str(error)
        sentence = f"{running} run, {pending} wait for a machine, {self._wanted} wanted"
        if queue is not None:
            sentence += (
                f"; {queue.deal_sets_waiting} deal-sets wait, {queue.deal_sets_in_play} in play"
            )
        return "; ".join(filter(None, (sentence, away, problem)))

    def _want(self, number: int) -> None:
        """Return the wanted number: more at once, and fewer only after fewer have been enough for the idle time."""
        if number >= self._wanted:
            self._wanted, self._enough_since_s = number, None
        elif self._enough_since_s is None:
            self._enough_since_s = self._now_s()
        elif self._now_s() - self._enough_since_s >= self._bounds.idle_s:
            self._wanted, self._enough_since_s = number, None
