"""The representation of a worker in the arena's process: its messages and its assignments."""

import asyncio
import logging
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import trio

from arena.bots.bot_ids import BotId
from arena.contests.workers.assigned import AssignedDealSet, Unfinished
from arena.contests.workers.holding import Account
from arena.contests.workers.messages import (
    BadMessage,
    Begin,
    WorkerError,
    add_part,
    bot_message,
    quoted,
)
from arena.live.deals.fair import FixedDeals
from arena.live.deals.handshakes import DrawClosing, HandshakeAnswers, Sign
from arena.live.metrics import WorkerStatus
from arena.records.deal_book import BookedDeal
from arena.referee.deal import ENTROPY_BYTES, NO_COMMITMENT
from arena.sandbox.command import BadCommand
from arena.sandbox.spawner.order import Level
from cardarena.v1 import journal_pb2, work_pb2

SILENT_S: Final = 60.0
"""The longest silence of a worker, which sends its counts every five seconds."""
MOST_TAKES: Final = 64
"""The maximal number of deal-sets that a worker may ask for at a time: the arena takes as many from the store."""
MOST_UNREAD: Final = 8
"""Limit on messages about an assignment that the arena has not read yet; each step has one or two."""
MOST_REPORT_BYTES: Final = 20_000_000
"""Limit on a report of a worker on another machine."""
MOST_LOCAL_REPORT_BYTES: Final = 2**28

_log = logging.getLogger(__name__)


class Connection:
    """The call of a worker, as the arena writes to it. Its messages are read on the host's loop."""

    def __init__(self) -> None:
        self.outgoing: Final[asyncio.Queue[work_pb2.WorkResponse | None]] = asyncio.Queue()
        """None is the end of the call."""
        self.has_ended = False

    def send(self, message: work_pb2.WorkResponse) -> None:
        """Send the worker a message without blocking."""
        self.outgoing.put_nowait(message)

    def end(self) -> None:
        self.has_ended = True
        self.outgoing.put_nowait(None)


@dataclass(frozen=True, slots=True)
class Needs:
    """The requirements of deal-sets on a worker."""

    speed_class: int | None = None
    """The speed class of a worker on another machine; None for local workers."""
    sandbox: Level = Level.S0
    """The weakest sandbox."""
    runtimes: frozenset[str] = frozenset()
    """Built runtimes of bots, by hash."""


LOCAL: Final = Needs()
"""The requirements of deal-sets for local workers."""


class Lost(WorkerError):
    """A worker cannot finish an assignment."""


class _OpenAssignment:
    """An assignment in play at a worker, and the `DealBots` of its bots."""

    def __init__(
        self,
        assignment: work_pb2.WorkResponse,
        send: Callable[[work_pb2.WorkResponse], None],
        most_bytes: int,
    ) -> None:
        """`send` sends a message to the worker; a report has at most `most_bytes`."""
        self.matches: Final = len(assignment.assignment.matches)
        self.held_s = 0.0
        """For how long the worker has it; counted until it is over."""
        self.is_over = False
        """Whether the worker has sent its last message about it."""
        self._why_lost = ""
        self._incoming, self._received = trio.open_memory_channel[work_pb2.WorkRequest](MOST_UNREAD)
        self._assignment, self._send, self._bytes_left = assignment, send, most_bytes
        self._report = work_pb2.WorkReport()

    async def play(self, deal_set: AssignedDealSet, worker: "Worker") -> None:
        """Have it played and recorded; raises the errors of `Worker.play`."""
        self._send(self._assignment)
        fixed = await deal_set.fix(self)
        if not deal_set.order.seed:  # with a seed, the worker can compute the packs itself
            self._post(deals=_deals(fixed))
        await deal_set.record(await self._next(), worker.number, worker.played_at)

    def take(self, message: work_pb2.WorkRequest) -> None:
        """Take a message about it; a report counts once it is whole.

        Raises `BadMessage` if the worker sends too much.
        """
        if message.HasField("report"):
            self._bytes_left -= message.ByteSize()
            if self._bytes_left < 0:
                raise BadMessage("a report that is too long")
            if message.report.more or self._report.matches:  # a single part is not copied
                add_part(self._report, message.report)
                if message.report.more:
                    return
                message = work_pb2.WorkRequest(begin=message.begin, report=self._report)
        self.is_over = self.is_over or message.WhichOneof("body") in ("report", "failed")
        if self._why_lost:
            return
        try:
            self._incoming.send_nowait(message)
        except trio.WouldBlock:
            raise BadMessage(f"more than {MOST_UNREAD} messages ahead of an answer") from None

    def lose(self, why: str) -> None:
        """Fail it for a reason, unless it has failed."""
        self._why_lost = self._why_lost or why
        self._incoming.close()

    def pass_time(self, seconds: float, limit_s: float) -> None:
        """Count a time for which the worker has it; beyond the limit it fails."""
        self.held_s += 0.0 if self.is_over else seconds
        if self.held_s > limit_s and not self.is_over:
            self.lose(f"it has not reported the deal-set within {limit_s:.0f} s")

    def done(self) -> None:
        self._post(done=work_pb2.WorkDone())

    async def run(
        self, deal: BookedDeal, excluded: Collection[BotId], public_key: bytes, sign: Sign
    ) -> HandshakeAnswers:
        number = len(deal.fair_deal.participants)
        draw = work_pb2.WorkDraw(
            context=deal.context,
            fair_deal=deal.fair_deal,
            secret=deal.secret,
            public_key=public_key,
            excluded=map(bot_message, excluded),
        )
        self._post(draw=draw)
        commitments = (await self._next()).commitments.commitments
        _require_sizes(commitments, number, {len(NO_COMMITMENT)})
        self._post(signatures=work_pb2.WorkSignatures(signatures=await sign(commitments)))
        entropies = (await self._next()).entropies.entropies
        _require_sizes(entropies, number, {0, ENTROPY_BYTES})
        return HandshakeAnswers(tuple(commitments), tuple(entropies))

    def tell(self, closes: Iterable[DrawClosing]) -> None:
        messages = [
            work_pb2.WorkClose(bot=bot_message(closing.bot), close=closing.close)
            for closing in closes
        ]
        self._post(closes=work_pb2.WorkCloses(closes=messages))

    def _post(self, **body: Any) -> None:
        self._send(work_pb2.WorkResponse(begin=self._assignment.begin, **body))

    async def _next(self) -> work_pb2.WorkRequest:
        try:
            message = await self._received.receive()
        except trio.EndOfChannel:
            raise Lost(self._why_lost) from None
        if not message.HasField("failed"):
            return message
        failed = message.failed
        raise BadCommand(quoted(failed.why)) if failed.bot else Lost(failed.why)


def _deals(fixed: FixedDeals) -> work_pb2.WorkDeals:
    culprits = [
        work_pb2.WorkCulprit(
            bot=bot_message(bot),
            fault=culprit.kind.value,  # type: ignore[arg-type]
            reason=culprit.reason,
        )
        for bot, culprit in fixed.culprits.items()
    ]
    return work_pb2.WorkDeals(
        context=fixed.context,
        fair_deal=fixed.fair_deal,
        key=fixed.key,
        plan=fixed.opening.plan,
        culprits=culprits,
    )


def _require_sizes(values: Sequence[bytes], number: int, sizes: Container[int]) -> None:
    if len(values) != number or any(len(value) not in sizes for value in values):
        raise BadMessage("not one value for each participant, or of a wrong size")


class Worker:
    """A worker, through all its processes if it is local."""

    def __init__(
        self, number: int, changed: Callable[[], None], key: str, account: Account
    ) -> None:
        """Begin without a connection.

        Args:
          number: Unique among the workers of the arena.
          changed: Called when it becomes ready or broken, or asks for a deal-set.
          key: The name of a key, for a worker on another machine; empty for a local one.
          account: That of all workers of the key.
        """
        self.number: Final = number
        self.key: Final = key
        self._changed, self._joined = changed, bool(key)
        self._host = ""
        self._account = account
        self._ready: work_pb2.WorkerReady | None = None
        self.why_broken = ""
        """Why it cannot start; empty if it can."""
        self.takes = 0
        """Deal-sets that it has asked for and not received."""
        self.matches = 0
        """Matches of its assignments."""
        self._counts = work_pb2.WorkerCounts()
        self.starts = 0
        self._pid = 0
        self._silent_s = 0.0
        self._leaves = False
        """Whether it has announced that it leaves."""
        self._assigned: dict[Begin, tuple[_OpenAssignment, AssignedDealSet]] = {}
        self._dropped: set[Begin] = set()
        """Assignments that it still plays although the arena does not wait for them."""
        self._connection: Connection | None = None

    @property
    def name(self) -> str:
        """`key@host` of a worker on another machine, which others of the key may share."""
        if not self._joined:
            return f"worker {self.number}"
        return f"{self.key}@{self._host}" if self._host else self.key

    @property
    def asks(self) -> int:
        """How many deal-sets may be assigned to it now."""
        return min(self.takes, self._account.room) if self.is_ready else 0

    @property
    def is_ready(self) -> bool:
        return self._ready is not None and not self._leaves

    @property
    def deal_sets(self) -> int:
        return len(self._assigned)

    @property
    def speed_class(self) -> int | None:
        """The speed class of its machine; None for a local worker and before it is ready."""
        return self._ready.speed_class if self._joined and self._ready is not None else None

    @property
    def archives(self) -> frozenset[str]:
        """The archives that its assignments need, by the hash of their contents."""
        every = (deal_set.archives for _, deal_set in self._assigned.values())
        return frozenset[str]().union(*every)

    @property
    def played_at(self) -> journal_pb2.PlayedAt | None:
        """Names another machine in replays; None for a local worker."""
        if not self._joined:
            return None
        ready = self._ready or work_pb2.WorkerReady()
        return journal_pb2.PlayedAt(
            worker=self.name, sandbox=ready.sandbox, speed_class=ready.speed_class
        )

    def fits(self, needs: Needs) -> bool:
        """Return whether it has declared what deal-sets with these needs require."""
        if not self._joined or needs.speed_class is None:
            return not self._joined and needs.speed_class is None
        ready = self._ready
        if ready is None:
            return bool(
                self.why_broken
            )  # a broken worker of an engine, which will not declare anything
        return (
            ready.speed_class == needs.speed_class
            and ready.sandbox
            >= needs.sandbox.value  # levels compare as texts, the stronger one is greater
            and needs.runtimes.issubset(ready.runtimes)
        )

    def status(self) -> WorkerStatus:
        """Return its counts, for `arena status`."""
        at = self.played_at or journal_pb2.PlayedAt()
        return WorkerStatus(
            number=self.number,
            name=self.name if self._joined else "",
            pid=self._pid,
            starts=self.starts,
            matches=self._counts.matches,
            decisions=self._counts.decisions,
            failed_begins=self._account.failed_begins[self.name],
            sandbox=at.sandbox,
            speed_class=at.speed_class,
        )

    # Its connection. These calls do not block, and are made on either loop.

    def connect(self, connection: Connection) -> None:
        """Begin to exchange messages; an earlier connection is ended."""
        if self._connection is not None:
            self.end("it has connected again")
            self.disconnect(self._connection)
        self.starts += 1
        self._connection, self._silent_s = connection, 0.0

    def disconnect(self, connection: Connection) -> None:
        """Fail its assignments, as the connection has ended."""
        if connection is not self._connection:
            return  # an earlier connection
        self._connection = self._ready = None
        self.takes, self._leaves = 0, False
        self._counts = work_pb2.WorkerCounts()
        self._account.release(len(self._dropped))
        self._dropped.clear()
        for assigned, _ in self._assigned.values():
            assigned.lose("it has ended")

    def take(self, message: work_pb2.WorkRequest) -> None:
        """Take its next message; an invalid one ends its connection."""
        self._silent_s = 0.0
        try:
            self._take(message)
        except BadMessage as error:
            self.end(str(error))

    def _take(self, message: work_pb2.WorkRequest) -> None:
        kind, begin = message.WhichOneof("body"), Begin.of(message.begin)
        if kind == "ready":
            if self._ready is not None:
                raise BadMessage("it says twice that it is ready")
            self._pid, self._host, self.why_broken = message.ready.pid, message.ready.host, ""
            self._ready = message.ready
            self._send(work_pb2.WorkResponse(joined=work_pb2.WorkJoined()))
            self._changed()
        elif kind == "counts":
            self._counts = message.counts
        elif kind == "takes":
            if self.takes == MOST_TAKES:
                raise BadMessage(f"it asks for more than {MOST_TAKES} deal-sets")
            self.takes += 1
            self._changed()
        elif kind == "leaves":
            self._leaves = True
            self._changed()
            self._end_if_done()
        elif begin in self._assigned:
            self._assigned[begin][0].take(message)
        elif begin not in self._dropped:
            raise BadMessage(f"{kind} of {begin}, which it was not assigned")
        elif kind == "failed" or (kind == "report" and not message.report.more):
            self._dropped.remove(begin)
            self._account.release()
            self._changed()
            _log.info("the report does not count any more", extra={"deal_set": begin.deal_set})

    def pass_time(self, seconds: float) -> None:
        """Count a time without a message: too long a silence ends its connection. A deal-set that it holds for too long fails."""
        for assigned, deal_set in self._assigned.values():
            if self._joined:
                limit_s = deal_set.held_time.limit_s(len(deal_set.failed_at))
                assigned.pass_time(seconds, limit_s)
        self._silent_s += seconds
        if self._connection is not None and self._silent_s > SILENT_S:
            self.end(f"it has sent nothing for {SILENT_S:.0f} s")
            self.disconnect(self._connection)

    def end(self, why: str) -> None:
        """End its connection, because it misbehaves."""
        _log.error("a worker is ended", extra={"worker": self.name, "why": quoted(why)})
        self._ready = None
        self.hang_up()

    def hang_up(self) -> None:
        if self._connection is not None:
            self._connection.end()

    def broken(self, why: str) -> None:
        self.why_broken = why
        self._changed()

    # Deal-sets.

    async def play(self, deal_set: AssignedDealSet) -> None:
        """Assign a deal-set that the worker has asked for, and have it played and recorded.

        Raises:
          Lost: if the worker does not finish it.
          BadCommand: if a bot cannot be launched.
          OutOfDate: if another arena has taken it since.
          StoreError: if the results cannot be recorded.
        """
        self.takes -= 1
        self._account.hold()
        start, begin = self.starts, None
        try:
            try:
                assignment = await deal_set.hand_out(self.name)
            except BaseException:
                self.takes += start == self.starts
                raise
            begin = Begin.of(assignment.begin)
            if not self.is_ready or start != self.starts:
                raise Lost("it has just ended")
            await self._play(begin, assignment, deal_set)
        except (Lost, BadCommand):
            self._account.failed(self.name)
            deal_set.failed_at.append(self.name)
            raise
        finally:
            self._account.release(begin not in self._dropped)
            self._changed()

    async def _play(
        self, begin: Begin, assignment: work_pb2.WorkResponse, deal_set: AssignedDealSet
    ) -> None:
        most_bytes = MOST_REPORT_BYTES if self._joined else MOST_LOCAL_REPORT_BYTES
        assigned = _OpenAssignment(assignment, self._send, most_bytes)
        self._assigned[begin] = assigned, deal_set
        self.matches += assigned.matches
        try:
            await assigned.play(deal_set, self)
            self._account.reported()
            deal_set.held_time.reported(assigned.held_s)
        except BadMessage as error:
            self.end(str(error))
            raise Lost(str(error)) from error
        except Unfinished as error:
            raise Lost(str(error)) from error
        finally:
            del self._assigned[begin]
            self.matches -= assigned.matches
            if not assigned.is_over and self.is_ready:
                self._dropped.add(begin)
            assigned.done()
            self._end_if_done()

    def _end_if_done(self) -> None:
        if self._leaves and not self._assigned:
            self.hang_up()

    def _send(self, message: work_pb2.WorkResponse) -> None:
        if self._connection is not None:
            self._connection.send(message)
