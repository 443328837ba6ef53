"""Plays matches: gives tables their time, their workers and an end to wait for."""

import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import trio

from arena.games.contract import Seat, Work
from arena.referee.ask import SeatPort
from arena.referee.gallery import Gallery
from arena.referee.lag import Lag, NeverLate
from arena.referee.ledger import Ledger, Settled, Unwritten, UsedTime
from arena.referee.place import KEPT_S
from arena.referee.spec import AbortCause, MatchSpec, Outcome
from arena.referee.table import Table
from arena.referee.timers import Timers
from arena.referee.workers import Chosen, Ticket, Workers
from arena.wire.games import codec_of

AT_ONCE: Final = 64
"""Matches whose times are written down before others have their turn."""

_log = logging.getLogger(__name__)


class Referee:
    """Every match of one process. `run` must be running while matches are played."""

    def __init__(
        self,
        ledger: Callable[[MatchSpec], Ledger],
        synced: Callable[[], Awaitable[None]],
        workers: Workers | None = None,
        lag: Lag | None = None,
        gallery: Callable[[MatchSpec], Gallery | None] = lambda _: None,
        owner_of: Callable[[str], str] = lambda bot: bot,
    ) -> None:
        """`ledger` opens the book of one match; `synced` waits until all is on disk.

        `lag` knows how late the arena is; without it, it never is. `gallery` is who
        watches a match, if anybody does. `owner_of` names whose a bot is, by the bot's
        name: each owner has the same share of the workers.
        """
        self.lag = lag or NeverLate()
        self._ledger = ledger
        self._gallery = gallery
        self._synced = synced
        self._workers = workers or Workers()
        self._owner_of = owner_of
        self._timers = Timers()
        self._nursery: trio.Nursery | None = None
        self._token: trio.lowlevel.TrioToken | None = None
        self.tables: dict[str, Table] = {}
        """Matches in play, by id."""
        self.ended = trio.Event()
        """Set, and replaced, whenever a match has ended."""
        self._replaying: deque[Table] = deque()
        """Matches whose past is being played again, in turn."""
        self._replay_wanted = trio.Event()
        self._match_begins = trio.Event()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep time until cancelled; matches in play are suspended then."""
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                self._token = trio.lowlevel.current_trio_token()
                nursery.start_soon(self._timers.run)
                nursery.start_soon(self._replay)
                nursery.start_soon(self._keep_times)
                task_status.started()
        finally:
            for table in list(self.tables.values()):
                table.suspend()
            self._workers.close()

    @property
    def replaying(self) -> bool:
        """Whether the past of any match is still being played again."""
        return bool(self._replaying)

    async def _replay(self) -> None:
        """Play the past of matches again, a little of one at a time, so that others go on."""
        while True:
            while self._replaying:
                self._replaying.popleft().replay_on()
                await trio.lowlevel.checkpoint()
            self._replay_wanted = trio.Event()
            await self._replay_wanted.wait()

    async def _keep_times(self) -> None:
        """Have the time written down that bots think and are away, a few matches in one go."""
        while True:
            if not self.tables:
                self._match_begins = trio.Event()
                await self._match_begins.wait()
            await trio.sleep(KEPT_S)
            written = False
            for count, table in enumerate(list(self.tables.values()), 1):
                written = table.keep_times() or written
                if count % AT_ONCE == 0:
                    await trio.lowlevel.checkpoint()
            if written:
                # Once nothing can be written any more, every match is suspended by itself.
                with contextlib.suppress(Unwritten):
                    await self._synced()

    def _replay_later(self, table: Table) -> None:
        self._replaying.append(table)
        self._replay_wanted.set()

    async def play(
        self,
        spec: MatchSpec,
        ports: Sequence[SeatPort],
        past: Sequence[Settled] = (),
        used: Sequence[UsedTime] = (),
    ) -> Outcome:
        """Play one match to its end and tell everybody, once the result is on disk.

        `past` are the decisions of a match that goes on, and `used` is the time that
        none of them tells. Cancelled, it suspends the match: its journal says where it
        stood, and nobody is told an end.

        Raises:
          Unwritten: if something of it did not reach the disk. It is suspended then: nobody
            is told an end, as the disk may say otherwise.
        """
        ended, ledger = trio.Event(), self._ledger(spec)
        if spec.fair_deal is not None and not past:
            # What bots have seen of packs that cannot be drawn again, the disk knows of.
            ledger.opened(spec)
            await self._synced()
        table = Table(
            spec,
            codec_of(spec.terms.game),
            ports,
            ledger,
            timers=self._timers,
            now_s=trio.lowlevel.current_clock().current_time,
            over=lambda _: ended.set(),
            heavy_step=self._play_heavy_step,
            lag=self.lag,
            gallery=self._gallery(spec),
            replay_later=self._replay_later,
            owner_of=self._owner_of,
        )
        self.tables[spec.match_id] = table
        self._match_begins.set()
        try:
            table.begin(past, used)
            await ended.wait()
        finally:
            del self.tables[spec.match_id]
            table.suspend()
            try:
                with trio.CancelScope(shield=True):
                    await self._synced()
                table.tell_end()
            finally:
                self.ended.set()
                self.ended = trio.Event()
        if table.outcome is None:
            raise Unwritten(f"match {spec.match_id} could not be written down")
        return table.outcome

    def _play_heavy_step(self, table: Table, chosen: Chosen, seat: Seat, work: Work | None) -> None:
        assert self._token is not None
        # A table may be running in the host's loop just now; tasks are started in trio.
        owner = self._owner_of(table.spec.entrants[seat].name)
        ticket = Ticket(owner) if work is None else Ticket(owner, work.steps)
        self._token.run_sync_soon(self._start_heavy, table, chosen, ticket)

    def _start_heavy(self, table: Table, chosen: Chosen, ticket: Ticket) -> None:
        assert self._nursery is not None
        # Closed meanwhile, the nursery takes no task, and its matches are aborted.
        with contextlib.suppress(RuntimeError):
            self._nursery.start_soon(self._play_heavy, table, table.state, chosen, ticket)

    async def _play_heavy(
        self, table: Table, state: object, chosen: Chosen, ticket: Ticket
    ) -> None:
        spec = table.spec
        try:
            game_id = spec.terms.game.id
            step = await self._workers.step(game_id, state, chosen, spec.deals, ticket)
        except Exception:
            _log.exception("a heavy step failed", extra={"match": spec.match_id})
            table.abort(AbortCause.ERROR)
            return
        if table.outcome is None:
            table.stepped(step)
