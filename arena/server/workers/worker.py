"""One worker in the arena's process: its messages and its assignments."""

import logging
import math
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import trio

from arena.deal import ENTROPY_BYTES, NO_COMMITMENT
from arena.replay.deal_book import BookedDeal
from arena.sandbox import BadCommand, Level
from arena.server.bots import BotId
from arena.server.deals.fair import FixedDeals
from arena.server.deals.handshakes import DrawClosing, HandshakeAnswers, Sign
from arena.server.metrics import WorkerStatus
from arena.server.workers.leased import LeasedDealSet, Unfinished
from arena.server.workers.messages import (
    MOST_MESSAGE_BYTES,
    BadMessage,
    Begin,
    Messages,
    bot_message,
    frame,
)
from cardarena.v1 import journal_pb2, work_pb2

SILENT_S: Final = 60.0
"""Time for a worker to become ready, and longest silence; it sends its counts every second."""
MOST_TAKES: Final = 64
"""Limit on deal-sets that a worker may ask for at a time: the arena leases as many."""

_log = logging.getLogger(__name__)


class RunningWorker(Protocol):
    """A process or a connection: the part of `trio.Process` that is used."""

    stdin: trio.abc.SendStream | None
    stdout: trio.abc.ReceiveStream | None

    def kill(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Needs:
    """The requirements of deal-sets on a worker."""

    speed_class: int | None = None
    """The speed class of a worker on another machine; None for local workers."""
    sandbox: Level = Level.S0
    """The weakest sandbox."""
    runtimes: frozenset[str] = frozenset()
    """Built runtimes of bots, by hash."""


class Lost(Exception):
    """A worker cannot finish an assignment. The text says why."""


class _Assigned:
    """An assignment in play at a worker, and the `DealBots` of its bots."""

    def __init__(
        self,
        assignment: work_pb2.ToWorker,
        archives: Collection[str],
        send: Callable[[work_pb2.ToWorker], None],
    ) -> None:
        """`send` sends a message to the worker, which may have these `archives`."""
        self.archives: Final = archives
        self.matches: Final = len(assignment.assignment.matches)
        self.is_over = False
        """Whether the worker has sent its last message about it."""
        self.incoming, self._received = trio.open_memory_channel[work_pb2.FromWorker](math.inf)
        self._assignment, self._send = assignment, send

    async def play(self, leased: LeasedDealSet, worker: "Worker") -> None:
        """Have it played and recorded; raises the errors of `Worker.play`."""
        self._send(self._assignment)
        fixed = await leased.fix(self)
        if not leased.order.seed:  # else the worker has what its packs follow from
            self._post(deals=_deals(fixed))
        await leased.record(await self._next(), worker.number, worker.played_at)

    def done(self) -> None:
        """Tell the worker that the arena has finished with it."""
        self._post(done=work_pb2.WorkDone())

    async def run(
        self, deal: BookedDeal, excluded: Collection[BotId], public_key: bytes, sign: Sign
    ) -> HandshakeAnswers:
        """As `DealBots.run`."""
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
        """As `DealBots.tell`."""
        told = [work_pb2.WorkClose(bot=bot_message(each.bot), close=each.close) for each in closes]
        self._post(closes=work_pb2.WorkCloses(closes=told))

    def _post(self, **body: Any) -> None:
        self._send(work_pb2.ToWorker(begin=self._assignment.begin, **body))

    async def _next(self) -> work_pb2.FromWorker:
        """Wait for the worker's next message about it."""
        try:
            message = await self._received.receive()
        except trio.EndOfChannel:
            raise Lost("it has ended") from None
        if message.HasField("failed"):
            raise (
                BadCommand(message.failed.why) if message.failed.bot else Lost(message.failed.why)
            )
        return message


def _deals(fixed: FixedDeals) -> work_pb2.WorkDeals:
    culprits = [
        work_pb2.WorkCulprit(
            bot=bot_message(bot),
            fault=each.kind.value,  # type: ignore[arg-type]
            reason=each.reason,
        )
        for bot, each in fixed.culprits.items()
    ]
    return work_pb2.WorkDeals(
        context=fixed.context,
        fair_deal=fixed.fair_deal,
        key=fixed.key,
        plan=fixed.opening.plan,
        culprits=culprits,
    )


def _require_sizes(found: Sequence[bytes], number: int, sizes: Container[int]) -> None:
    if len(found) != number or any(len(each) not in sizes for each in found):
        raise BadMessage("not one value for each participant, or of a wrong size")


LOCAL: Final = Needs()
"""The requirements of deal-sets for local workers."""


class Worker:
    """A worker, through all its processes if it is local."""

    def __init__(
        self,
        number: int,
        changed: Callable[[], None],
        *,
        joined_as: str = "",
        most_bytes: int = MOST_MESSAGE_BYTES,
    ) -> None:
        """Begin without a connection.

        Args:
          number: Unique among the workers of the arena.
          changed: Called when it becomes ready or broken, or asks for a deal-set.
          joined_as: The name of a worker on another machine; empty for a local one.
          most_bytes: Longest message.
        """
        self.number: Final = number
        self.name: Final = joined_as or f"worker {number}"
        self._changed, self._joined, self._most_bytes = changed, bool(joined_as), most_bytes
        self._ready: work_pb2.WorkerReady | None = None
        self.why_broken = ""
        """Why it cannot start; empty if it can."""
        self.takes = 0
        """Deal-sets that it has asked for and not received."""
        self._counts = work_pb2.WorkerCounts()
        self.starts = 0
        """How often it was connected."""
        self._pid = 0
        self._leaves = False
        """Whether it has announced that it leaves."""
        self._assigned: dict[Begin, _Assigned] = {}
        self._dropped: set[Begin] = set()
        """Assignments that it still plays although the arena does not wait for them."""
        self._process: RunningWorker | None = None
        self._out: trio.MemorySendChannel[work_pb2.ToWorker] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether it accepts assignments."""
        return self._ready is not None and not self._leaves

    @property
    def matches(self) -> int:
        """Matches of its assignments."""
        return sum(each.matches for each in self._assigned.values())

    @property
    def archives(self) -> frozenset[str]:
        """The archives that its assignments need, by the hash of their contents."""
        return frozenset[str]().union(*(each.archives for each in self._assigned.values()))

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
        """Whether it has declared what deal-sets with these needs require."""
        if not self._joined or needs.speed_class is None:
            return not self._joined and needs.speed_class is None
        ready = self._ready
        return (
            ready is not None
            and ready.speed_class == needs.speed_class
            and ready.sandbox >= needs.sandbox.value  # a better level is the greater text
            and needs.runtimes.issubset(ready.runtimes)
        )

    def status(self) -> WorkerStatus:
        """Its counts, for `arena status`."""
        at = self.played_at or journal_pb2.PlayedAt()
        return WorkerStatus(
            number=self.number,
            name=self.name if self._joined else "",
            pid=self._pid,
            starts=self.starts,
            matches=self._counts.matches,
            decisions=self._counts.decisions,
            sandbox=at.sandbox,
            speed_class=at.speed_class,
        )

    # Messages.

    async def converse(
        self,
        process: RunningWorker,
        why_unfit: Callable[[work_pb2.WorkerReady], str] = lambda _: "",
    ) -> None:
        """Exchange messages with it until its stream ends; then its assignments are lost.

        `why_unfit` returns why the arena cannot use a ready worker; empty if it can.
        """
        self.starts += 1
        self._process = process
        try:
            await self._converse(process, why_unfit)
        finally:
            self._lose()

    async def _converse(
        self, process: RunningWorker, why_unfit: Callable[[work_pb2.WorkerReady], str]
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._out, out = trio.open_memory_channel[work_pb2.ToWorker](math.inf)
        messages = Messages(process.stdout, work_pb2.FromWorker, self._most_bytes)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_write, out, process.stdin)
            with trio.move_on_after(SILENT_S) as patience:
                try:
                    while (message := await messages.next()) is not None:
                        patience.deadline = trio.current_time() + SILENT_S
                        if message.HasField("ready") and (why := why_unfit(message.ready)):
                            raise BadMessage(why)
                        self._take(message)
                except BadMessage as error:
                    self.end(str(error))
            if patience.cancelled_caught:
                self.end(f"it has sent nothing for {SILENT_S:.0f} s")
            nursery.cancel_scope.cancel()

    def _lose(self) -> None:
        """Fail its assignments, as its process or connection has ended."""
        self._process = self._out = self._ready = None
        self.takes, self._leaves = 0, False
        self._counts = work_pb2.WorkerCounts()
        self._dropped.clear()
        for assigned in self._assigned.values():
            assigned.incoming.close()

    def _take(self, message: work_pb2.FromWorker) -> None:
        kind, begin = message.WhichOneof("body"), Begin.of(message.begin)
        if kind == "ready":
            self._pid, self.why_broken = message.ready.pid, ""
            self._ready = message.ready
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
            self._end_if_done()
        elif begin in self._assigned:
            assigned = self._assigned[begin]
            assigned.is_over = assigned.is_over or kind in ("report", "failed")
            assigned.incoming.send_nowait(message)
        elif begin not in self._dropped:
            raise BadMessage(f"{kind} of {begin}, which it was not assigned")
        elif kind in ("report", "failed"):
            self._dropped.remove(begin)
            _log.info("a report counts no longer", extra={"deal_set": begin.deal_set})

    def end(self, why: str) -> None:
        """End its process or connection, because it misbehaves."""
        _log.error("a worker is ended", extra={"worker": self.name, "why": why})
        self._ready = None
        if self._process is not None:
            self._process.kill()

    def broken(self, why: str) -> None:
        """Record that it cannot start."""
        self.why_broken = why
        self._changed()

    # Deal-sets.

    async def play(self, leased: LeasedDealSet) -> None:
        """Assign a deal-set that the worker has asked for, and have it played and recorded.

        Raises:
          Lost: if the worker does not finish it.
          BadCommand: if a bot cannot be launched.
          OutOfDate: if it was leased again.
          StoreError: if the results cannot be recorded.
        """
        self.takes -= 1
        start = self.starts
        try:
            assignment = await leased.hand_out(self.name)
        except BaseException:
            self.takes += start == self.starts
            raise
        if not self.is_ready or start != self.starts:
            raise Lost("it has just ended")
        begin = Begin.of(assignment.begin)
        assigned = _Assigned(assignment, leased.archives, self._send)
        self._assigned[begin] = assigned
        try:
            await assigned.play(leased, self)
        except BadMessage as error:
            self.end(str(error))
            raise Lost(str(error)) from error
        except Unfinished as error:
            raise Lost(str(error)) from error
        finally:
            del self._assigned[begin]
            if not assigned.is_over and self.is_ready:
                self._dropped.add(begin)
            assigned.done()
            self._end_if_done()

    def _end_if_done(self) -> None:
        """End a worker that leaves when it has no assignments."""
        if self._leaves and not self._assigned and self._process is not None:
            self._process.kill()

    def _send(self, message: work_pb2.ToWorker) -> None:
        """Send it a message without blocking; dropped if it has ended."""
        if self._out is not None:
            self._out.send_nowait(message)


async def _write(
    messages: trio.MemoryReceiveChannel[work_pb2.ToWorker], stream: trio.abc.SendStream
) -> None:
    try:
        async for each in messages:
            await stream.send_all(frame(each))
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass  # it has ended; its other stream ends, too
