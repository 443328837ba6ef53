"""The core of an arena: the sessions of bots, the matches, and their restoration after a restart.

It is trio's side of the server. Its parts keep their own state: `SessionRegister` has the sessions of bots, `Matches`
the matches, and `FairDeals` the fair deals.
"""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import trio

from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens
from arena.errors.refused import DRAINING, Refused
from arena.live.deals.deal_sets import DealSets
from arena.live.deals.fair import FairDeals
from arena.live.deals.handshakes import Handshakes
from arena.live.event_buffers import EventBuffers
from arena.live.limits import LOCAL, MAX_WAITING_BYTES, CallLimits
from arena.live.match_admission import Admission
from arena.live.matches.matches import Matches
from arena.live.matches.recording import MatchRecorder, ResultRecorder
from arena.live.matches.restore import Restoration
from arena.live.matches.results import ArenaRecords
from arena.live.matches.upkeep import JournalUpkeep
from arena.live.metrics import Metrics, PlacementStatus, WorkerStatus
from arena.live.play_socket import PlaySockets
from arena.live.session.register import SessionRegister
from arena.live.session.session import Session
from arena.live.session.stream import Postbox
from arena.referee.clock import LagMeter
from arena.referee.referee import Referee
from arena.referee.timers import ArenaTime
from cardarena.v1 import journal_pb2, play_pb2


class PlacementReports(Protocol):
    """The reports of engines about the workers that they run for an arena."""

    def status(self) -> Sequence[PlacementStatus]:
        """Return the latest reports."""
        ...


class Workers(Protocol):
    """The interface of a pool of workers that the arena uses."""

    def drain(self) -> None:
        """Assign no further deal-sets; those in play continue."""
        ...

    async def idle(self) -> None:
        """Wait until no assigned deal-set is in play."""
        ...

    def status(self) -> Sequence[WorkerStatus]: ...

    @property
    def placements(self) -> PlacementReports:
        """Return the reports of engines about them."""
        ...

    @property
    def failed_begins(self) -> Counter[str]:
        """Return the number of failed begins by the name of the worker, including workers that have left."""
        ...

    @property
    def waiting_again(self) -> Mapping[int | None, int]:
        """Return by speed class the number of deal-sets that were begun and that no worker has; None is the class of the arena's own machine."""
        ...


class Arena:
    """All parts between the transport and the referee. Made in trio."""

    def __init__(
        self,
        records: ArenaRecords,
        tokens: Tokens,
        *,
        time: ArenaTime | None = None,
        recorder: MatchRecorder | None = None,
        spectators: EventBuffers | None = None,
        admission: Admission | None = None,
        metrics: Metrics | None = None,
        draw: Callable[[int], bytes] = os.urandom,
    ) -> None:
        """Make an arena that continues the work of earlier processes.

        Args:
          time: The clock; by default trio's, with which the arena is never late.
          recorder: Records how matches end; by default in the results, and publishes deal-sets.
          spectators: The spectators of matches; by default they see public events at once.
          admission: Accepts or refuses new matches; without it, all are accepted.
          draw: Returns a number of unpredictable random bytes, for the deals.
        """
        # The clock itself: `trio.current_time` would look it up again at each of many calls.
        time = time or ArenaTime(
            trio.lowlevel.current_clock().current_time, owner_of=tokens.owner_of
        )
        self.now_s = time.now_s
        self.metrics = metrics or Metrics()
        self.lag = time.lag if isinstance(time.lag, LagMeter) else None
        """Measures how late the arena is; None if it is never late."""
        self.admission = admission
        self.replays = records.replays
        self.tokens = tokens
        self.limits = CallLimits(why_busy=self._why_busy, why_full=self._why_full)
        self.sessions = SessionRegister(
            self.limits,
            now_s=self.now_s,
            forget_guest=tokens.forget_guest,
            on_deal=self._on_deal,
            on_refusal=self.metrics.message_refused,
        )
        self._journal = records.journal
        self.handshakes = Handshakes(self.sessions.get, time)
        fair_deals = FairDeals(
            records.deal_log, records.server_id, self.handshakes, draw=draw, signer=records.signer
        )
        self.deal_sets = DealSets(fair_deals, records.deal_log, records.replays, records.signer)
        self.recorder = ResultRecorder(records.results, records.journal, self.deal_sets)
        self.matches = Matches(
            records=records,
            referee=Referee(records.synced, time=time),
            deal_sets=self.deal_sets,
            recorder=recorder or self.recorder,
            sessions=self.sessions,
            metrics=self.metrics,
            spectators=spectators or EventBuffers(),
            admission=admission,
        )
        self._restoration = Restoration(records, self.matches, self.sessions, self.deal_sets)
        self._upkeep = JournalUpkeep(records, self.matches)
        self._on_version: Callable[[BotId, str], None] = lambda *_: None
        self.workers: Workers | None = None
        """The workers that play for this arena, if there are any."""
        self.address = ""
        """Host and port as bots dial them; empty before the server listens."""
        self.play_sockets: PlaySockets | None = None
        """Makes the socket files of sandboxed bots; None if no bot can be sandboxed."""
        self.draining = False
        """Whether new bots and matches are refused, as the arena will end."""
        self.is_shut = False
        """Whether the arena stops: no bot may connect, and matches in play are resumed at the next start."""

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Restore the state of earlier processes, and run until cancelled."""
        async with trio.open_nursery() as nursery:
            await nursery.start(self._journal.run)
            await nursery.start(self.matches.run)
            await self._restoration.run(nursery)
            await self._upkeep.drop_spent()
            nursery.start_soon(self._upkeep.run)
            task_status.started()

    def add_workers(self, workers: Workers) -> None:
        self.workers = workers

    def tell_versions(self, call: Callable[[BotId, str], None]) -> None:
        """Call `call` with each bot that connects, and its version; it must not block."""
        self._on_version = call

    # Bots.

    def hello(
        self,
        hello: play_pb2.Hello,
        outbox: Postbox,
        address: str = LOCAL,
        *,
        sandboxed: bool = False,
    ) -> Session:
        """Attach a stream to the session of its bot. `sandboxed` says whether it uses the socket of sandboxed bots.

        Raises `Refused` if the token is unknown, the hello is too long, or the arena drains and the bot has no
        match in play.
        """
        if self.is_shut:
            raise Refused(DRAINING)
        bot = self.tokens.bot(hello.token, sandboxed=sandboxed)
        known = self.sessions.get(bot)
        if self.tokens.publishes_notes(hello.token):
            hello.publish_notes = True
        self.tokens.bind_guest(hello.token, here=known is not None and known.connected)
        session = self.sessions.hello(
            bot,
            hello,
            outbox,
            address=address,
            launched=self.tokens.is_launched(hello.token),
            drains=self.draining,
        )
        kept = journal_pb2.SessionKept(
            bot=bot.name, instance=bot.instance, epoch=session.epoch, matches=session.seats.numbered
        )
        self._journal.append(journal_pb2.Record(session=kept).SerializeToString())
        self.handshakes.attached(bot)
        self._on_version(bot, hello.version)
        self.sessions.announce_arrival()
        return session

    def hung_up(self, session: Session, outbox: Postbox) -> None:
        session.detach(outbox)
        if not session.connected:
            self.sessions.hung_up(session)

    def _on_deal(self, bot: BotId, message: play_pb2.BotMessage) -> play_pb2.Refusal | None:
        return self.handshakes.take(bot, message)

    @property
    def why_late(self) -> str:
        """Return why this process cannot serve bots in time, as part of a sentence; empty if it can."""
        return self.admission.why_closed() if self.admission else ""

    def _why_busy(self) -> str:
        """Return why no new bot is accepted, as part of a sentence; empty if bots are accepted."""
        if self.metrics.counts.waiting_bytes > MAX_WAITING_BYTES:
            return "bots do not read what waits for them"
        return self.why_late

    def _why_full(self) -> str:
        """Return why nothing can be stored, as part of a sentence; empty while there is disk space."""
        return self.admission.why_full() if self.admission else ""

    # Start and stop.

    def listens(self, address: str, play_sockets: PlaySockets | None = None) -> None:
        """Note that the server listens at this address, and for sandboxed bots at their socket files."""
        self.address = address
        self.play_sockets = play_sockets

    def drain(self, seconds: float) -> None:
        """Refuse new bots and matches; matches in play continue for at most this many seconds."""
        self.stop_taking()
        self.sessions.drain(seconds)
        if self.workers is not None:
            self.workers.drain()

    async def idle(self) -> None:
        """Wait until no match is in play, in this process and in its workers."""
        await self.matches.idle()
        if self.workers is not None:
            await self.workers.idle()

    def stop_taking(self) -> None:
        """Refuse new bots and matches, without a message to connected bots."""
        self.draining = True
        self.matches.stop_taking()

    def shut(self) -> None:
        """Refuse all bots, even those with matches in play."""
        self.stop_taking()
        self.is_shut = True

    def close_streams(self) -> None:
        """Close all streams; bots whose matches were suspended are sent an error."""
        self.shut()
        self.sessions.close_streams(Refused("SUSPENDED"))
