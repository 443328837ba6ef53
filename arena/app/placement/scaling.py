"""How many workers there are, by the deal-sets that wait for them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from arena.app.placement.placement import WorkerPlacement
from arena.local.engines import EngineError
from cardarena.v1 import work_pb2

EVERY_S: Final = 10.0
"""Time from one look at the queue to the next."""


class Report(Protocol):
    """Tells the arena what an engine runs; returns the queue. Raises `ArenaAway` if the arena does not answer."""

    def __call__(
        self, request: work_pb2.ReportPlacementRequest, /
    ) -> work_pb2.ReportPlacementResponse: ...


class ArenaAway(Exception):
    """The arena does not answer now. The text says why."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the organiser wants."""

    least: int
    most: int
    target_s: float
    """Time in which all deal-sets that wait should be played."""
    idle_s: float
    """Time for which fewer are needed before surplus workers are drained."""


def needed(queue: work_pb2.ReportPlacementResponse, bounds: Bounds) -> int:
    """The number of workers that play all that waits and is in play within the target time.

    Before the arena knows how long a worker has a deal-set, one is enough.
    """
    open_deal_sets = queue.deal_sets_waiting + queue.deal_sets_in_play
    needs = math.ceil(open_deal_sets * queue.worker_seconds / bounds.target_s)
    return min(max(needs, bounds.least, int(open_deal_sets > 0)), bounds.most)


class Scaling:
    """Keeps the workers of an engine to what the arena needs."""

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
        """Look at the queue, and place and drain workers once; returns what was found and done in a sentence."""
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
        """Want more at once, and fewer only after fewer have been enough for the idle time."""
        if number >= self._wanted:
            self._wanted, self._enough_since_s = number, None
        elif self._enough_since_s is None:
            self._enough_since_s = self._now_s()
        elif self._now_s() - self._enough_since_s >= self._bounds.idle_s:
            self._wanted, self._enough_since_s = number, None
