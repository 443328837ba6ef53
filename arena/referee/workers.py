"""Steps that take long are played in other processes, with all clocks stopped.

Otherwise one slow step would hold up every match of the referee, and cost time on
the clocks of bots at other tables.

Steps wait their turn in a fair queue: each owner of bots has the same share of the
processes, whatever number of steps it has waiting, by start-time fair queueing
(Goyal, Vin, Cheng, 1996). One process takes no dear steps, so that a cheap one never
waits for a dear one.

A process that is late with a step is told in the log, and one that does not come back is
ended, as are those that die: their steps are played once more, by other processes. A
step depends on nothing but what it is given, and nobody's clock runs meanwhile.
"""

import heapq
import logging
import os
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import TYPE_CHECKING, Final

import trio

from arena.games.catalogue import game_by_id
from arena.games.contract import Deals, Move, Seat, Step
from arena.referee.clock import WORK_STEP_S
from arena.worker_process import end_with_parent

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

Chosen = tuple[tuple[Seat, Move], ...]

PROCESSES: Final = 2
DEAR_STEPS: Final = 2_000_000
"""Work from which on a step is dear, in steps of the rules' own count. It takes about 0.5 s."""
UNKNOWN_STEPS: Final = DEAR_STEPS
"""What a long step counts for whose rules do not say how long it is."""
LATE_S: Final = 1.0
"""A process that takes longer than its work and this is late with a step."""
START_S: Final = 10.0
"""What a process has to start."""
STUCK_S: Final = 60.0
"""One that is late by as much as this does not come back."""
NICENESS: Final = 10
"""Workers give way to the arena itself, and to bots on the same machine."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ticket:
    """Whose step it is, and how much it may be at most."""

    owner: str = ""
    work: int = UNKNOWN_STEPS
    """In steps of the rules' own count, known before it is played."""

    @property
    def dear(self) -> bool:
        """Whether it may keep a process for long."""
        return self.work >= DEAR_STEPS


UNTOLD: Final = Ticket()
"""Of a step of which nothing is known."""


@dataclass(order=True, slots=True)
class _Waiting:
    start: int
    arrived: int
    ticket: Ticket = field(compare=False)
    let_in: trio.Event = field(compare=False, default_factory=trio.Event)
    given_up: bool = field(compare=False, default=False)


class FairQueue:
    """Who is next. An owner's step starts, in work done, where its one before has ended.

    So whoever has had little goes ahead of whoever has had much, and nobody saves up
    turns while there is nothing to wait for. Steps of one owner keep their order; as a
    match has one step at a time, its matches take turns.
    """

    def __init__(self, processes: int) -> None:
        self._free = processes
        self._free_for_dear = max(1, processes - 1)
        self._waiting: list[_Waiting] = []
        self._arrived = 0
        self._now = 0
        self._ends: dict[str, int] = {}
        """Where the last step of an owner ends, if that is still to come."""

    def join(self, ticket: Ticket) -> _Waiting:
        """Wait behind others."""
        self._arrived += 1
        start = max(self._now, self._ends.get(ticket.owner, 0))
        self._ends[ticket.owner] = start + ticket.work
        waiting = _Waiting(start, self._arrived, ticket)
        heapq.heappush(self._waiting, waiting)
        self._let_in()
        return waiting

    def leave(self, ticket: Ticket) -> None:
        """A step has ended, and its process is free."""
        self._free += 1
        self._free_for_dear += ticket.dear
        self._let_in()

    def give_up(self, waiting: _Waiting) -> None:
        """Wait no longer."""
        if waiting.let_in.is_set():
            self.leave(waiting.ticket)
        waiting.given_up = True

    def _let_in(self) -> None:
        passed_over = []
        while self._waiting and self._free:
            first = heapq.heappop(self._waiting)
            if first.given_up:
                continue
            if first.ticket.dear and not self._free_for_dear:
                passed_over.append(first)
                continue
            self._free -= 1
            self._free_for_dear -= first.ticket.dear
            self._now = max(self._now, first.start)
            first.let_in.set()
        for each in passed_over:
            heapq.heappush(self._waiting, each)
        self._ends = {owner: end for owner, end in self._ends.items() if end > self._now}


class Workers:
    """A few processes that play heavy steps; they start with the first one."""

    def __init__(self, processes: int = PROCESSES) -> None:
        self._processes = processes
        self._queue = FairQueue(processes)
        self._pool: ProcessPoolExecutor | None = None

    async def step(
        self,
        game_id: str,
        state: object,
        chosen: Chosen,
        deals: Deals,
        ticket: Ticket = UNTOLD,
    ) -> Step:
        """Play a step of a game elsewhere, when it is its turn.

        Raises:
          Exception: whatever the rules raise; `BrokenProcessPool` if a worker died twice over it.
        """
        try:
            return await self._try(game_id, state, chosen, deals, ticket)
        except BrokenProcessPool:
            _log.warning("a step is played again, as its worker died", extra={"game": game_id})
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
        running = self._running
        try:
            future = self._submit(game_id, state, chosen, deals)
        except BaseException:
            self._queue.leave(ticket)
            raise
        done, token = trio.Event(), trio.lowlevel.current_trio_token()

        def over() -> None:
            self._queue.leave(ticket)
            done.set()

        # No thread waits for it: many that wait would leave none for the disk.
        future.add_done_callback(_soon(token, over))
        patience_s = LATE_S + ticket.work * WORK_STEP_S
        if self._running > running:
            patience_s += START_S
        await self._over(done, patience_s, game_id)
        try:
            return future.result()
        except Exception:
            self._drop_if_broken()
            raise

    async def _over(self, done: trio.Event, patience_s: float, game_id: str) -> None:
        """Wait for the end of a step; say if it is late, and end the processes if it never comes."""
        for waits_s, says in (
            (patience_s, "a worker is late with a step"),
            (STUCK_S, "a worker does not come back, and is ended"),
        ):
            with trio.move_on_after(waits_s):
                await done.wait()
            if done.is_set():
                return
            _log.warning(says, extra={"game": game_id, "waited_s": round(waits_s, 3)})
        for process in self._started():
            process.kill()
        await done.wait()

    @property
    def _running(self) -> int:
        return len(self._started())

    def _started(self) -> list["BaseProcess"]:
        return list((getattr(self._pool, "_processes", None) or {}).values())

    def _submit(self, game_id: str, state: object, chosen: Chosen, deals: Deals) -> "Future[Step]":
        if self._pool is None:
            # Never fork: a forked gRPC process may deadlock.
            context = get_context("spawn")
            self._pool = ProcessPoolExecutor(
                self._processes, mp_context=context, initializer=begin_worker
            )
        try:
            return self._pool.submit(_play, game_id, state, chosen, deals)
        except Exception:
            self._drop_if_broken()
            raise

    def _drop_if_broken(self) -> None:
        if getattr(self._pool, "_broken", False):
            self._pool = None  # the next heavy step starts new workers

    def close(self) -> None:
        """End the processes; what they are at is lost, and is played again from the journal."""
        if self._pool is not None:
            processes = self._started()
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
            for process in processes:
                process.kill()


def _soon(token: trio.lowlevel.TrioToken, call: Callable[[], None]) -> Callable[[object], None]:
    def told(_: object) -> None:
        with suppress(trio.RunFinishedError):
            token.run_sync_soon(call)

    return told


def _play(game_id: str, state: object, chosen: Chosen, deals: Deals) -> Step:
    return game_by_id(game_id).rules.step(state, chosen, deals)


def begin_worker() -> None:
    """Make a new process one that gives way, is ended by the arena alone, and ends with it."""
    os.nice(NICENESS)
    end_with_parent()
