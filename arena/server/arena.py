"""The arena's core: who is here, what is played, and what is left of earlier processes.

Trio's side of the server, made of rooms that keep their own state: the sessions
of bots (`SessionRegister`), matches (`Matches`) and fair deals (`FairDeals`).
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import trio

from arena.ladder.results import MatchOutcome
from arena.referee.lag import LagMeter
from arena.replay.journal.deal_log import DealLog
from arena.replay.journal.journal import Journal
from arena.replay.journal.recovery import Recovery
from arena.replay.signing import Signer
from arena.server.bots import BotId
from arena.server.deals.deal_sets import DealSets
from arena.server.deals.fair import FairDeals
from arena.server.gate.admission import Admission
from arena.server.gate.limits import LOCAL, MAX_WAITING_BYTES, CallLimits, Limits
from arena.server.gate.tokens import Tokens
from arena.server.matches.matches import Matches
from arena.server.matches.restore import Restoration
from arena.server.matches.results import Results
from arena.server.matches.upkeep import JournalUpkeep
from arena.server.orders import DealSetOrder
from arena.server.refusals import draining, suspended
from arena.server.session.outbox import Outbox
from arena.server.session.register import SessionRegister
from arena.server.session.session import Session
from arena.server.watch import Watch
from cardarena.v1 import journal_pb2, play_pb2


class Elsewhere(Protocol):
    """Processes that play for an arena, as it knows them."""

    def drain(self) -> None:
        """Have them take nothing new, and end with what they have in play."""
        ...

    async def idle(self) -> None:
        """Wait until all of them have ended."""
        ...

    def told(self) -> Sequence[Mapping[str, int]]:
        """How each of them fares, for `arena status`."""
        ...


class Arena:
    """Everything between the transport and the referee. Made in trio."""

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
        lag: LagMeter | None = None,
        admission: Admission | None = None,
        watch: Watch | None = None,
        limits: Limits | None = None,
        now_s: Callable[[], float] | None = None,
        spectator_delay_s: float = 0.0,
        open_hands: bool = False,
        draw: Callable[[int], bytes] = os.urandom,
    ) -> None:
        """An arena that goes on with what an earlier process left.

        Args:
          journal: Keeps matches and sessions.
          deal_log: Keeps the deals.
          replays: The folder of published replays.
          tokens: Who is let in.
          results: Where outcomes are recorded for good.
          recovery: What the journals of earlier processes hold.
          server_id: Names the arena in its commitments.
          signer: Signs transcripts and replays, if anybody does.
          lag: How late the arena itself is.
          admission: Whether another match can be taken; without it, always.
          watch: Counts what happens.
          limits: How much may be open at a time.
          now_s: Reads the arena's clock; without it, trio's.
          spectator_delay_s: How long after it happened spectators are told of a match.
          open_hands: Whether spectators of practice are told what its seats know.
          draw: Gives as many bytes that nobody can foresee, for the deals.
        """
        # The clock itself: `trio.current_time` looks it up anew at each of many calls.
        self.now_s = now_s or trio.lowlevel.current_clock().current_time
        """Reads the arena's clock."""
        self.watch = watch or Watch()
        self.lag = lag
        self.admission = admission
        self.replays = replays
        self.tokens = tokens
        self.limits = CallLimits(limits, why_busy=self._why_busy)
        self.sessions = SessionRegister(
            self.limits,
            now_s=self.now_s,
            forget_guest=tokens.forget_guest,
            on_deal=self._on_deal,
            on_refusal=self.watch.message_refused,
        )
        self._journal = journal
        self._fair_deals = FairDeals(
            deal_log,
            server_id,
            self.sessions.get,
            lag=lag,
            draw=draw,
            signer=signer,
            now_s=self.now_s,
            owner_of=tokens.owner_of,
        )
        deal_sets = DealSets(self._fair_deals, deal_log, replays, signer)
        self.matches = Matches(
            journal=journal,
            deal_log=deal_log,
            deal_sets=deal_sets,
            results=results,
            sessions=self.sessions,
            watch=self.watch,
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
            deal_sets=deal_sets,
            results=results,
            replays=replays,
            signer=signer,
        )
        self._upkeep = JournalUpkeep(journal, self.matches, recovery, replays)
        self.on_version: Callable[[BotId, str], None] = lambda *_: None
        """Is told which version each bot says that it is; may not block."""
        self.elsewhere: Elsewhere | None = None
        """Processes that play for this one, if any do."""
        self._address = ""
        self._play_socket: Path | None = None
        self._draining = False
        self._closed = False
        """Whether nobody is let in any more, not even to a match in play."""

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Take up what earlier processes left, and keep everything running until cancelled."""
        async with trio.open_nursery() as nursery:
            await nursery.start(self._journal.run)
            await nursery.start(self.matches.run)
            await self._restoration.run(nursery)
            await self._upkeep.drop_spent()
            nursery.start_soon(self._upkeep.run)
            task_status.started()

    # Bots.

    def hello(
        self,
        hello: play_pb2.Hello,
        outbox: Outbox,
        address: str = LOCAL,
        *,
        walled: bool = False,
    ) -> Session:
        """Attach a stream from an address, or from behind the wall, to its bot's session.

        Raises:
          Refused: if the token is unknown, too much is said, or the arena drains and the bot has
            no match in play.
        """
        if self._closed:
            raise draining()
        bot = self.tokens.bot(hello.token, walled=walled)
        known = self.sessions.get(bot)
        self.tokens.bind_guest(hello.token, here=known is not None and known.connected)
        session = self.sessions.hello(bot, hello, outbox, address=address, drains=self._draining)
        kept = journal_pb2.SessionKept(
            bot=bot.name, instance=bot.instance, epoch=session.epoch, matches=session.numbered
        )
        self._journal.append(journal_pb2.Record(session=kept).SerializeToString())
        self._fair_deals.attached(bot)
        self.on_version(bot, hello.version)
        self.sessions.announce_arrival()
        return session

    def hung_up(self, session: Session, outbox: Outbox) -> None:
        """A stream has ended."""
        session.detach(outbox)
        if not session.connected:
            self._fair_deals.detached(session.bot)
            self.sessions.hung_up(session)

    async def arrived(self, bots: Sequence[BotId]) -> None:
        """Wait until all these bots are connected; by the stream of a dead process none is."""
        await self.sessions.arrived(bots)

    def _on_deal(self, bot: BotId, message: play_pb2.BotMessage) -> play_pb2.Refusal | None:
        if message.HasField("deal_commit"):
            commit = message.deal_commit
            return self._fair_deals.deal_commit(bot, commit.context, commit.commitment)
        reveal = message.deal_reveal
        return self._fair_deals.deal_reveal(bot, reveal.context, reveal.entropy)

    def _why_busy(self) -> str:
        """Why nobody new is taken, as part of a sentence."""
        if self.watch.counts.waiting_bytes > MAX_WAITING_BYTES:
            return "bots do not read what waits for them"
        return self.admission.why_closed() if self.admission else ""

    # Matches.

    async def lease(self, order: DealSetOrder, match_id: str) -> MatchOutcome:
        """How ladders and tournaments reach a referee, see `Matches.lease`.

        Here that is this process; later it may be another one.
        """
        return await self.matches.lease(order, match_id)

    # From the first moment to the last.

    @property
    def address(self) -> str:
        """Host and port as bots dial them; empty before the server listens."""
        return self._address

    @property
    def draining(self) -> bool:
        """Whether nothing new is taken any more."""
        return self._draining

    @property
    def is_shut(self) -> bool:
        """Whether it stops: what is in play goes on at the next start."""
        return self._closed

    @property
    def play_socket(self) -> Path | None:
        """The file of the socket for jailed bots, by its absolute path; None if there is none."""
        return self._play_socket

    def listens(self, address: str, play_socket: Path | None = None) -> None:
        """The server listens there, and for jailed bots at a file."""
        self._address = address
        self._play_socket = play_socket

    def drain(self, seconds: float) -> None:
        """Take no new bots and matches; those in play go on, for so long at most."""
        self.stop_taking()
        self.sessions.drain(seconds)
        if self.elsewhere is not None:
            self.elsewhere.drain()

    async def idle(self) -> None:
        """Wait until no match is in play, here and in processes that play for this one."""
        await self.matches.idle()
        if self.elsewhere is not None:
            await self.elsewhere.idle()

    def stop_taking(self) -> None:
        """Take no new bots and matches, without a word to those that are here."""
        self._draining = True
        self.matches.stop_taking()

    def shut(self) -> None:
        """Let nobody in any more, not even to matches in play."""
        self.stop_taking()
        self._closed = True

    def close_streams(self) -> None:
        """Close all streams: in order, but for bots whose matches were suspended."""
        self.shut()
        self.sessions.close_streams(suspended())
