"""The core of an arena: the sessions of bots, the matches, and their restoration after a restart.

It is trio's side of the server. Its parts keep their own state: `SessionRegister` has the sessions of bots, `Matches`
the matches, and `FairDeals` the fair deals.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import trio

from arena.referee.clock import LagMeter
from arena.replay.journal.deal_log import DealLog
from arena.replay.journal.journal import Journal
from arena.replay.journal.recovery import Recovery
from arena.replay.signing import Signer
from arena.server.admission.limits import LOCAL, MAX_WAITING_BYTES, CallLimits, ServerLimits
from arena.server.admission.match_admission import Admission
from arena.server.admission.tokens import Tokens
from arena.server.bots import BotId
from arena.server.deals.deal_sets import DealSets
from arena.server.deals.fair import FairDeals
from arena.server.deals.handshakes import Handshakes
from arena.server.matches.matches import Matches
from arena.server.matches.recording import MatchRecorder, ResultRecorder
from arena.server.matches.restore import Restoration
from arena.server.matches.results import Results
from arena.server.matches.upkeep import JournalUpkeep
from arena.server.metrics import Metrics, WorkerStatus
from arena.server.refusals import DRAINING, Refused
from arena.server.session.register import SessionRegister
from arena.server.session.session import Session
from arena.server.session.stream import Postbox
from cardarena.v1 import journal_pb2, play_pb2


class Workers(Protocol):
    """The workers that play for an arena, as far as the arena uses them."""

    def drain(self) -> None:
        """Hand out nothing more; what is in play continues."""
        ...

    async def idle(self) -> None:
        """Wait until nothing that was handed out is in play."""
        ...

    def status(self) -> Sequence[WorkerStatus]:
        """The counts of each worker."""
        ...


class Arena:
    """All parts between the transport and the referee. Made in trio."""

    def __init__(
        self,
        journal: Journal,
        deal_log: DealLog,
        replays: Path,
        tokens: Tokens,
        *,
        results: Results,
        recovery: Recovery,
        server_id: str,
        signer: Signer | None = None,
        recorder: MatchRecorder | None = None,
        lag: LagMeter | None = None,
        admission: Admission | None = None,
        metrics: Metrics | None = None,
        limits: ServerLimits | None = None,
        now_s: Callable[[], float] | None = None,
        spectator_delay_s: float = 0.0,
        open_hands: bool = False,
        draw: Callable[[int], bytes] = os.urandom,
    ) -> None:
        """An arena that continues the work of earlier processes.

        Args:
          journal: Records matches and sessions.
          deal_log: Records the deals.
          replays: The folder of published replays.
          tokens: The tokens of bots, owners and organisers.
          results: The store of results.
          recovery: The contents of the journals of earlier processes.
          server_id: Names the arena in its commitments.
          signer: Signs transcripts and replays; None leaves them unsigned.
          recorder: Records how matches end; by default in `results`, and publishes deal-sets.
          lag: Measures how late the arena is.
          admission: Accepts or refuses new matches; without it, all are accepted.
          metrics: Counts what happens.
          limits: How many streams and calls may be open at a time.
          now_s: Reads the arena's clock, in seconds; without it, trio's.
          spectator_delay_s: Delay of spectators' events, in seconds.
          open_hands: Whether spectators of practice matches see the hands of all seats.
          draw: Returns so many unpredictable random bytes, for the deals.
        """
        # The clock itself: `trio.current_time` would look it up again at each of many calls.
        self.now_s = now_s or trio.lowlevel.current_clock().current_time
        """Reads the arena's clock."""
        self.metrics = metrics or Metrics()
        self.lag = lag
        self.admission = admission
        self.replays = replays
        self.tokens = tokens
        self.limits = CallLimits(limits, why_busy=self._why_busy, why_full=self._why_full)
        self.sessions = SessionRegister(
            self.limits,
            now_s=self.now_s,
            forget_guest=tokens.forget_guest,
            on_deal=self._on_deal,
            on_refusal=self.metrics.message_refused,
        )
        self._journal = journal
        self.handshakes = Handshakes(
            self.sessions.get, lag=lag, now_s=self.now_s, owner_of=tokens.owner_of
        )
        fair_deals = FairDeals(deal_log, server_id, self.handshakes, draw=draw, signer=signer)
        self.deal_sets = DealSets(fair_deals, deal_log, replays, signer)
        self.recorder = ResultRecorder(results, journal, self.deal_sets)
        self.matches = Matches(
            journal=journal,
            deal_log=deal_log,
            deal_sets=self.deal_sets,
            results=results,
            recorder=recorder or self.recorder,
            sessions=self.sessions,
            metrics=self.metrics,
            lag=lag,
            admission=admission,
            owner_of=tokens.owner_of,
            spectator_delay_s=spectator_delay_s,
            open_hands=open_hands,
        )
        self._restoration = Restoration(
            recovery,
            matches=self.matches,
            sessions=self.sessions,
            journal=journal,
            deal_sets=self.deal_sets,
            results=results,
            replays=replays,
            signer=signer,
        )
        self._upkeep = JournalUpkeep(journal, self.matches, recovery, replays)
        self._on_version: Callable[[BotId, str], None] = lambda *_: None
        self._workers: Workers | None = None
        self._address = ""
        self._play_socket: Path | None = None
        self._draining = False
        self._closed = False
        """Whether no bot may connect any more, not even to a match in play."""

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Restore the state of earlier processes, and run until cancelled."""
        async with trio.open_nursery() as nursery:
            await nursery.start(self._journal.run)
            await nursery.start(self.matches.run)
            await self._restoration.run(nursery)
            await self._upkeep.drop_spent()
            nursery.start_soon(self._upkeep.run)
            task_status.started()

    @property
    def workers(self) -> Workers | None:
        """The workers that play for this arena, if there are any."""
        return self._workers

    def add_workers(self, workers: Workers) -> None:
        """Drain these workers with the arena."""
        self._workers = workers

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

        Raises:
          Refused: if the token is unknown, the hello is too long, or the arena drains and the bot
            has no match in play.
        """
        if self._closed:
            raise Refused(DRAINING)
        bot = self.tokens.bot(hello.token, sandboxed=sandboxed)
        known = self.sessions.get(bot)
        self.tokens.bind_guest(hello.token, here=known is not None and known.connected)
        session = self.sessions.hello(
            bot,
            hello,
            outbox,
            address=address,
            launched=self.tokens.is_launched(hello.token),
            drains=self._draining,
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
        """A stream has ended."""
        session.detach(outbox)
        if not session.connected:
            self.sessions.hung_up(session)

    def _on_deal(self, bot: BotId, message: play_pb2.BotMessage) -> play_pb2.Refusal | None:
        if message.HasField("deal_commit"):
            commit = message.deal_commit
            return self.handshakes.deal_commit(bot, commit.context, commit.commitment)
        reveal = message.deal_reveal
        return self.handshakes.deal_reveal(bot, reveal.context, reveal.entropy)

    @property
    def why_late(self) -> str:
        """Why this process cannot serve bots in time, as part of a sentence; empty if it can."""
        return self.admission.why_closed() if self.admission else ""

    def _why_busy(self) -> str:
        """Why no new bot is accepted, as part of a sentence; empty if bots are."""
        if self.metrics.counts.waiting_bytes > MAX_WAITING_BYTES:
            return "bots do not read what waits for them"
        return self.why_late

    def _why_full(self) -> str:
        """Why nothing can be stored, as part of a sentence; empty while there is disk space."""
        return self.admission.why_full() if self.admission else ""

    # Start and stop.

    @property
    def address(self) -> str:
        """Host and port as bots dial them; empty before the server listens."""
        return self._address

    @property
    def draining(self) -> bool:
        """Whether new bots and matches are refused, as the arena will end."""
        return self._draining

    @property
    def is_shut(self) -> bool:
        """Whether the arena stops: matches in play are resumed at the next start."""
        return self._closed

    @property
    def play_socket(self) -> Path | None:
        """The absolute path of the socket file for sandboxed bots; None if there is none."""
        return self._play_socket

    def listens(self, address: str, play_socket: Path | None = None) -> None:
        """The server listens at this address, and for sandboxed bots at this socket file."""
        self._address = address
        self._play_socket = play_socket

    def drain(self, seconds: float) -> None:
        """Refuse new bots and matches; matches in play continue for so many seconds at most."""
        self.stop_taking()
        self.sessions.drain(seconds)
        if self._workers is not None:
            self._workers.drain()

    async def idle(self) -> None:
        """Wait until no match is in play, in this process and in its workers."""
        await self.matches.idle()
        if self._workers is not None:
            await self._workers.idle()

    def stop_taking(self) -> None:
        """Refuse new bots and matches, without a message to connected bots."""
        self._draining = True
        self.matches.stop_taking()

    def shut(self) -> None:
        """Refuse all bots, even those with matches in play."""
        self.stop_taking()
        self._closed = True

    def close_streams(self) -> None:
        """Close all streams; bots whose matches were suspended are sent an error."""
        self.shut()
        self.sessions.close_streams(Refused("SUSPENDED"))
