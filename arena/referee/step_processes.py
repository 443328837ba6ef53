"""Plays heavy steps in other processes, while all clocks of their matches are stopped.

Otherwise one slow step would delay every match of the referee, and use time of bots at other tables.

Steps wait in a fair queue: each owner of bots has the same share of the processes, independent of its number of
waiting steps, by start-time fair queueing (Goyal, Vin, Cheng, 1996). One process plays no expensive steps, so that
a cheap step never waits for an expensive one.

If a process is late with a step, a warning is logged; if it does not return, it is killed. The steps of processes
that died are played once more by others. A step depends only on its arguments.
"""

import heapq
import logging
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import trio

from arena.games.catalogue import game_by_id
from arena.games.contract import Deals, Move, Seat, Step
from arena.process_pool import ProcessPool
from arena.referee.clock import WORK_STEP_S

Chosen = tuple[tuple[Seat, Move], ...]

PROCESSES: Final = 2
EXPENSIVE_STEPS: Final = 2_000_000
"""The work from which a step is expensive, in the unit of the rules. It takes about 0.5 s."""
UNKNOWN_STEPS: Final = EXPENSIVE_STEPS
"""The work of a heavy step if the rules do not know it."""
LATE_S: Final = 1.0
"""The seconds, in addition to the time of its work, after which a process is late."""
START_S: Final = 10.0
"""The seconds that a process has to start."""
STUCK_S: Final = 60.0
"""The seconds of lateness after which a process is killed."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ticket:
    """The owner of a step, and its largest work."""

    owner: str = ""
    work: int = UNKNOWN_STEPS
    """In the rules' own unit, known before the step is played."""

    @property
    def is_expensive(self) -> bool:
        """Whether it may use a process for long."""
        return self.work >= EXPENSIVE_STEPS


UNKNOWN: Final = Ticket()
"""The ticket of a step of unknown owner and work."""


@dataclass(order=True, slots=True)
class _Waiting:
    start: int
    arrived: int
    ticket: Ticket = field(compare=False)
    let_in: trio.Event = field(compare=False, default_factory=trio.Event)
    given_up: bool = field(compare=False, default=False)


class FairQueue:
    """Orders steps by start tags: an owner's step starts, in units of work, where the owner's previous one ends.

    So an owner who used little is before one who used much, and an idle owner saves no turns. Steps of one owner stay
    in order; as a match has one step at a time, its matches take turns.
    """

    def __init__(self, processes: int) -> None:
        self._free = processes
        self._free_for_expensive = max(1, processes - 1)
        self._waiting: list[_Waiting] = []
        self._arrived = 0
        self._now = 0
        self._ends: dict[str, int] = {}
        """Where the last step of each owner ends, if that is later than now."""

    def join(self, ticket: Ticket) -> _Waiting:
        self._arrived += 1
        start = max(self._now, self._ends.get(ticket.owner, 0))
        self._ends[ticket.owner] = start + ticket.work
        waiting = _Waiting(start, self._arrived, ticket)
        heapq.heappush(self._waiting, waiting)
        self._let_in()
        return waiting

    def leave(self, ticket: Ticket) -> None:
        self._free += 1
        self._free_for_expensive += ticket.is_expensive
        self._let_in()

    def give_up(self, waiting: _Waiting) -> None:
        """Remove a step that is not needed any more."""
        if waiting.let_in.is_set():
            self.leave(waiting.ticket)
        waiting.given_up = True

    def _let_in(self) -> None:
        passed_over = []
        while self._waiting and self._free:
            first = heapq.heappop(self._waiting)
            if first.given_up:
                continue
            if first.ticket.is_expensive and not self._free_for_expensive:
                passed_over.append(first)
                continue
            self._free -= 1
            self._free_for_expensive -= first.ticket.is_expensive
            self._now = max(self._now, first.start)
            first.let_in.set()
        for ticket in passed_over:
            heapq.heappush(self._waiting, ticket)
        self._ends = {owner: end for owner, end in self._ends.items() if end > self._now}


class StepProcesses:
    """A few processes that play heavy steps; they start with the first one."""

    def __init__(self, processes: int = PROCESSES) -> None:
        self._queue = FairQueue(processes)
        self._pool = ProcessPool(processes)

    async def step(
        self, game_id: str, state: object, chosen: Chosen, deals: Deals, ticket: Ticket = UNKNOWN
    ) -> Step:
        """Play a step of a game in a worker process, in its turn.

        Raises:
          Exception: any error of the rules; `BrokenProcessPool` if its worker died twice.
        """
        try:
            return await self._try(game_id, state, chosen, deals, ticket)
        except BrokenProcessPool:
            return await self._try(game_id, state, chosen, deals, ticket)

    async def _try(
        self, game_id: str, state: object, chosen: Chosen, deals: Deals, ticket: Ticket
    ) -> Step:
        waiting = self._queue.join(ticket)
        try:
            await waiting.let_in.wait()
        except trio.Cancelled:
            self._queue.give_up(waiting)
            raise
        running = {*self._pool.started}
        try:
            future = self._pool.submit(_play, game_id, state, chosen, deals)
        except BaseException:
            self._queue.leave(ticket)
            raise
        done, token = trio.Event(), trio.lowlevel.current_trio_token()

        def over() -> None:
            self._queue.leave(ticket)
            done.set()

        # A callback instead of a thread: waiting threads would leave none for the disk.
        future.add_done_callback(_soon(token, over))
        patience_s = LATE_S + ticket.work * WORK_STEP_S
        if {*self._pool.started} - running:
            patience_s += START_S
        await self._over(done, patience_s, game_id)
        return future.result()

    async def _over(self, done: trio.Event, patience_s: float, game_id: str) -> None:
        """Wait for the end of a step; log if it is late, and kill the processes if it does not end."""
        for timeout_s, message in (
            (patience_s, "a worker is late with a step"),
            (STUCK_S, "a worker does not return and is killed"),
        ):
            with trio.move_on_after(timeout_s):
                await done.wait()
            if done.is_set():
                return
            _log.warning(message, extra={"game": game_id, "waited_s": round(timeout_s, 3)})
        for process in self._pool.started:
            process.kill()
        await done.wait()

    def close(self) -> None:
        """Kill the processes; their steps are lost, and are played again from the journal."""
        self._pool.close()


def _soon(token: trio.lowlevel.TrioToken, call: Callable[[], None]) -> Callable[[object], None]:
    def call_soon(_: object) -> None:
        with suppress(trio.RunFinishedError):
            token.run_sync_soon(call)

    return call_soon


def _play(game_id: str, state: object, chosen: Chosen, deals: Deals) -> Step:
    return game_by_id(game_id).rules.step(state, chosen, deals)
