"""The referee, which plays the matches of one process: timers, heavy steps, replays of past decisions, and the wait for their ends."""

import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final

import trio

from arena.durable_files import Unwritten
from arena.games.contract import Seat, Work
from arena.referee.events import SpectatorPort
from arena.referee.ledger import Ledger, Settled, UsedTime
from arena.referee.match_runner import MatchRunner
from arena.referee.seat import RECORD_STEP_S, SeatPort
from arena.referee.spec import AbortCause, MatchSpec, Outcome
from arena.referee.step_processes import Chosen, StepProcesses, Ticket
from arena.referee.timers import ArenaTime

AT_ONCE: Final = 64
"""The number of matches whose times are recorded before other tasks run."""

_log = logging.getLogger(__name__)


class Referee:
    """Plays matches. `run` has to run while matches are played."""

    def __init__(
        self,
        synced: Callable[[], Awaitable[None]],
        workers: StepProcesses | None = None,
        time: ArenaTime | None = None,
    ) -> None:
        """Begin without matches.

        Args:
          synced: Waits until all records of ledgers are on disk.
          time: The time of the arena; by default trio's, with which the arena is never late. Each
            owner of bots has the same share of the worker processes.
        """
        # The clock itself: `trio.current_time` would look it up again at each of many calls.
        self._time = time or ArenaTime(trio.lowlevel.current_clock().current_time)
        self._synced = synced
        self._workers = workers or StepProcesses()
        self._nursery: trio.Nursery | None = None
        self._token: trio.lowlevel.TrioToken | None = None
        self.runners: dict[str, MatchRunner] = {}
        """Matches in play, by id."""
        self._ended = trio.Event()
        """Set, and replaced, whenever a match has ended."""
        self._replaying: deque[MatchRunner] = deque()
        """Matches whose past decisions are being played again, in turn."""
        self._replay_wanted = trio.Event()
        self._match_begins = trio.Event()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run timers and heavy steps until cancelled; then matches in play are suspended."""
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                self._token = trio.lowlevel.current_trio_token()
                nursery.start_soon(self._time.timers.run)
                nursery.start_soon(self._replay)
                nursery.start_soon(self._keep_times)
                task_status.started()
        finally:
            for runner in list(self.runners.values()):
                runner.suspend()
            self._workers.close()

    @property
    def measuring(self) -> Callable[[], AbstractContextManager[None]]:
        """Measures how late the arena is, within a block."""
        return self._time.lag.measuring

    @property
    def replaying(self) -> bool:
        """Whether past decisions of any match are being replayed."""
        return bool(self._replaying)

    async def match_ended(self) -> None:
        await self._ended.wait()

    async def _replay(self) -> None:
        """Replay past decisions of matches, a few of one match at a time, so that others continue."""
        while True:
            while self._replaying:
                self._replaying.popleft().replay_on()
                await trio.lowlevel.checkpoint()
            self._replay_wanted = trio.Event()
            await self._replay_wanted.wait()

    async def _keep_times(self) -> None:
        """Record the time that bots use and are away, for `AT_ONCE` matches at a time."""
        while True:
            if not self.runners:
                self._match_begins = trio.Event()
                await self._match_begins.wait()
            await trio.sleep(RECORD_STEP_S)
            written = False
            for count, runner in enumerate(list(self.runners.values()), 1):
                written = runner.keep_times() or written
                if count % AT_ONCE == 0:
                    await trio.lowlevel.checkpoint()
            if written:
                # If writing has ended, every match suspends itself.
                with contextlib.suppress(Unwritten):
                    await self._synced()

    def _replay_later(self, runner: MatchRunner) -> None:
        self._replaying.append(runner)
        self._replay_wanted.set()

    async def play(
        self,
        spec: MatchSpec,
        ports: Sequence[SeatPort],
        ledger: Ledger,
        past: Sequence[Settled] = (),
        used: Sequence[UsedTime] = (),
        spectators: Callable[[], SpectatorPort | None] = lambda: None,
    ) -> Outcome:
        """Play one match to its end, and send the outcome once it is on disk.

        If this call is cancelled, the match is suspended: its journal has the decisions so far, and
        no outcome is sent.

        Args:
          ports: The bots, by seat.
          past: The decisions of a match that is resumed.
          used: The time that its seats had used before their next decisions.
          spectators: Returns the spectators of the match when it begins; None without spectators.

        Raises `Unwritten` if the match could not be recorded. Then it is suspended.
        """
        ended = trio.Event()
        if spec.fair_deal is not None and not past:
            # A fair deal cannot be repeated, so the opening is on disk before a bot sees a card.
            ledger.opened(spec)
            await self._synced()
        runner = MatchRunner(
            spec,
            ports,
            ledger,
            time=self._time,
            over=lambda _: ended.set(),
            heavy_step=self._play_heavy_step,
            spectators=spectators(),
            replay_later=self._replay_later,
        )
        self.runners[spec.match_id] = runner
        self._match_begins.set()
        try:
            runner.begin(past, used)
            await ended.wait()
        finally:
            del self.runners[spec.match_id]
            runner.suspend()
            try:
                with trio.CancelScope(shield=True):
                    await self._synced()
                runner.tell_end()
            finally:
                self._ended.set()
                self._ended = trio.Event()
        if runner.outcome is None:
            raise Unwritten(f"match {spec.match_id} could not be written down")
        return runner.outcome

    def _play_heavy_step(
        self, runner: MatchRunner, chosen: Chosen, seat: Seat, work: Work | None
    ) -> None:
        assert self._token is not None
        # The runner may be called from the host's loop, but tasks are started in trio.
        owner = self._time.owner_of(runner.spec.entrants[seat].name)
        ticket = Ticket(owner) if work is None else Ticket(owner, work.steps)
        self._token.run_sync_soon(self._start_heavy, runner, chosen, ticket)

    def _start_heavy(self, runner: MatchRunner, chosen: Chosen, ticket: Ticket) -> None:
        assert self._nursery is not None
        # The nursery may be closed by now; then the matches are suspended.
        with contextlib.suppress(RuntimeError):
            self._nursery.start_soon(self._play_heavy, runner, runner.state, chosen, ticket)

    async def _play_heavy(
        self, runner: MatchRunner, state: object, chosen: Chosen, ticket: Ticket
    ) -> None:
        spec = runner.spec
        try:
            game_id = spec.terms.game.id
            step = await self._workers.step(game_id, state, chosen, spec.deals, ticket)
        except Exception:
            _log.exception("a heavy step failed", extra={"match": spec.match_id})
            runner.abort(AbortCause.ERROR)
            return
        if runner.outcome is None:
            runner.stepped(step)
