"""Local workers: child processes of the arena that play deal-sets, controlled over two pipes.

A worker that dies, stalls or sends an invalid message is ended and started again. Its deal-sets are handed
out again, to any worker.
"""

import logging
import math
import shutil
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Collection, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import trio

from arena.deal import ENTROPY_BYTES, NO_COMMITMENT
from arena.replay.deal_book import BookedDeal
from arena.sandbox import BadCommand
from arena.schedule.runner import CannotPlay
from arena.server.bots import BotId
from arena.server.data_folder import is_running
from arena.server.deals.fair import FixedDeals
from arena.server.deals.handshakes import DrawClosing, HandshakeAnswers, Sign
from arena.server.workers.messages import BadMessage, Begin, Messages, bot_message, frame
from arena.server.workers.pool import LeasedDealSet
from cardarena.v1 import work_pb2

MOST_BEGINS: Final = 6
"""Times that a deal-set is handed out under one lease, as it may be what kills workers."""
START_S: Final = 60.0
"""Time for a worker to become ready, and longest silence; it sends its counts every second."""
AGAIN_S: Final = 0.5
"""Wait between the end of a worker and its next start; doubled after each failed start."""
LONGEST_AGAIN_S: Final = 30.0
STOP_S: Final = 10.0
"""Time for a worker to end after its standard input was closed."""
MOST_STARTS: Final = 6
"""Failed starts in a row after which a worker counts as broken."""

Command = Callable[[int, Path], Sequence[str]]
"""The command that starts the worker of a number in its own folder."""

_log = logging.getLogger(__name__)


class RunningWorker(Protocol):
    """The part of `trio.Process` that is used."""

    stdin: trio.abc.SendStream | None
    stdout: trio.abc.ReceiveStream | None

    @property
    def returncode(self) -> int | None: ...
    async def wait(self) -> int: ...
    def kill(self) -> None: ...


Start = Callable[[Sequence[str]], Awaitable[RunningWorker]]
"""Starts a program with pipes at its standard input and output."""


class _Lost(Exception):
    """A worker cannot finish an assignment. The text says why."""


class _Assigned:
    """An assignment in play at a worker, and the `DealBots` of its bots."""

    def __init__(
        self, assignment: work_pb2.ToWorker, send: Callable[[work_pb2.ToWorker], None]
    ) -> None:
        """`send` sends a message to the worker."""
        self.matches: Final = len(assignment.assignment.matches)
        self.is_over = False
        """Whether the worker has sent its last message about it."""
        self.incoming, self._received = trio.open_memory_channel[work_pb2.FromWorker](math.inf)
        self._assignment, self._send = assignment, send

    async def play(self, leased: LeasedDealSet, worker: int) -> None:
        """Have it played and recorded; raises as `_Worker.play`."""
        self._send(self._assignment)
        fixed = await leased.fix(self)
        if fixed.fair_deal is not None:
            self._post(deals=_deals(fixed))
        await leased.record(await self._next(), worker)

    def done(self) -> None:
        """The arena is done with it."""
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
        """The worker's next message about it."""
        try:
            message = await self._received.receive()
        except trio.EndOfChannel:
            raise _Lost("it has ended") from None
        if message.HasField("failed"):
            raise (
                BadCommand(message.failed.why) if message.failed.bot else _Lost(message.failed.why)
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


class _Worker:
    """A worker process, which is started again when it ends."""

    def __init__(
        self,
        number: int,
        folders: Path,
        command: Command,
        start: Start,
        changed: Callable[[], None],
    ) -> None:
        """`changed` is called when it becomes ready or broken."""
        self.number: Final = number
        self._folders, self._command, self._start = folders, command, start
        self._changed = changed
        self.is_ready = False
        """Whether it accepts assignments."""
        self.why_broken = ""
        """Why it does not start; empty if it may."""
        self.takes = 0
        """Deal-sets that it has asked for and not received."""
        self._counts = work_pb2.WorkerCounts()
        self._starts = self._pid = 0
        self._was_ready = False
        """Whether it has been ready since its last start."""
        self._assigned: dict[Begin, _Assigned] = {}
        self._dropped: set[Begin] = set()
        """Begins that it still plays although the arena no longer waits for them."""
        self._process: RunningWorker | None = None
        self._out: trio.MemorySendChannel[work_pb2.ToWorker] | None = None

    @property
    def matches(self) -> int:
        """Matches of its assignments."""
        return sum(each.matches for each in self._assigned.values())

    def status(self) -> Mapping[str, int]:
        """Its counts, for `arena status`."""
        return {
            "number": self.number,
            "pid": self._pid,
            "starts": self._starts,
            "matches": self._counts.matches,
            "decisions": self._counts.decisions,
        }

    # The process.

    async def run(self) -> None:
        """Keep it running until cancelled."""
        failed = 0
        while True:
            was_ready = await self._run_once()
            failed = 0 if was_ready else failed + 1
            if failed == MOST_STARTS:
                self.why_broken = f"worker {self.number} does not start; the logs say why"
                self._changed()
            fields = {"worker": self.number, "ready": was_ready}
            _log.warning("a worker has ended, and is started again", extra=fields)
            await trio.sleep(min(LONGEST_AGAIN_S, AGAIN_S * 2**failed))

    async def _run_once(self) -> bool:
        """Run it once, to its end; returns whether it became ready."""
        folder = Path(tempfile.mkdtemp(prefix=f"{self.number}-", dir=self._folders))
        self._was_ready = False
        try:
            process = self._process = await self._start(self._command(self.number, folder))
            self._starts += 1
            try:
                await self._converse(process)
            finally:
                self._lose()
                with trio.CancelScope(shield=True):
                    await _end(process)
        except OSError as error:
            fields = {"worker": self.number, "why": error.strerror}
            _log.error("a worker cannot be started", extra=fields)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(_remove, folder)
        return self._was_ready

    def _lose(self) -> None:
        """The process has ended: fail its assignments."""
        self._process = self._out = None
        self.is_ready, self.takes = False, 0
        self._counts = work_pb2.WorkerCounts()
        self._dropped.clear()
        for assigned in self._assigned.values():
            assigned.incoming.close()

    async def _converse(self, process: RunningWorker) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._out, out = trio.open_memory_channel[work_pb2.ToWorker](math.inf)
        messages = Messages(process.stdout, work_pb2.FromWorker)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_write, out, process.stdin)
            with trio.move_on_after(START_S) as patience:
                try:
                    while (message := await messages.next()) is not None:
                        patience.deadline = trio.current_time() + START_S
                        self._take(message)
                except BadMessage as error:
                    self.end(str(error))
            if patience.cancelled_caught:
                self.end(f"it has sent nothing for {START_S:.0f} s")
            nursery.cancel_scope.cancel()

    def _take(self, message: work_pb2.FromWorker) -> None:
        kind, begin = message.WhichOneof("body"), Begin.of(message.begin)
        if kind == "ready":
            self._pid, self.why_broken = message.ready.pid, ""
            self.is_ready = self._was_ready = True
            self._changed()
        elif kind == "counts":
            self._counts = message.counts
        elif kind == "takes":
            self.takes += 1
            self._changed()
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
        """Kill the process, which misbehaves; it is started again."""
        _log.error("a worker is ended", extra={"worker": self.number, "why": why})
        self.is_ready = False
        if self._process is not None:
            self._process.kill()

    # Deal-sets.

    async def play(self, leased: LeasedDealSet) -> None:
        """Hand a deal-set out, and have it played and recorded; it has been asked for.

        Raises:
          _Lost: if it is not played to its end.
          BadCommand: if a bot cannot be launched.
          OutOfDate: if it was leased again.
          StoreError: if the results cannot be recorded.
        """
        self.takes -= 1
        start = self._starts
        try:
            assignment = await leased.hand_out(f"worker {self.number}")
        except BaseException:
            self.takes += start == self._starts
            raise
        if not self.is_ready or start != self._starts:
            raise _Lost("it has just ended")
        begin = Begin.of(assignment.begin)
        assigned = self._assigned[begin] = _Assigned(assignment, self._send)
        try:
            await assigned.play(leased, self.number)
        except BadMessage as error:
            self.end(str(error))
            raise _Lost(str(error)) from error
        finally:
            del self._assigned[begin]
            if not assigned.is_over and self.is_ready:
                self._dropped.add(begin)
            assigned.done()

    def _send(self, message: work_pb2.ToWorker) -> None:
        """Send it a message without blocking; dropped if it has ended."""
        if self._out is not None:
            self._out.send_nowait(message)


class LocalWorkers:
    """The local workers of an arena: a `WorkerPool`. Made and run in trio."""

    def __init__(
        self, folder: Path, command: Command, number: int, start: Start | None = None
    ) -> None:
        """Create workers that are not started.

        Args:
          folder: Has a folder for each while it runs; what earlier ones left there is removed.
          command: Starts one.
          number: How many there are.
          start: Starts a program; without it, a child of this process.
        """
        self._folder = folder
        self._workers = [
            _Worker(each, folder, command, start or _started, self._wake)
            for each in range(1, number + 1)
        ]
        self._changed = trio.Event()
        self._in_play = 0
        self._draining = False

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """As `WorkerPool.run`."""
        await trio.to_thread.run_sync(self._make_folder)
        async with trio.open_nursery() as nursery:
            for each in self._workers:
                nursery.start_soon(each.run)
            # Otherwise the first that is ready would get everything.
            while not all(each.is_ready or each.why_broken for each in self._workers):
                await self._changed.wait()
            task_status.started()

    def _make_folder(self) -> None:
        """Make the folder of the workers' folders, and remove those of workers that have ended."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in self._folder.iterdir():
            if not is_running(left):
                _remove(left)

    async def play(
        self,
        leased: LeasedDealSet,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """As `WorkerPool.play`."""
        for number in range(MOST_BEGINS):
            worker = await self._least_loaded() if await leased.prepare() else None
            if number == 0:
                task_status.started()
            if worker is None:
                return
            self._in_play += 1
            try:
                await worker.play(leased)
            except _Lost as lost:
                fields = {"worker": worker.number, "deal_set": leased.order.deal_set}
                _log.warning("a deal-set begins again", extra={**fields, "why": str(lost)})
            finally:
                self._in_play -= 1
                self._wake()
            if leased.is_complete:
                return
        _log.error("a deal-set is given up", extra={"deal_set": leased.order.deal_set})

    async def _least_loaded(self) -> _Worker:
        """The worker that gets the next deal-set."""
        while True:
            if self._draining:
                await trio.sleep_forever()
            if (found := least_loaded(self._workers)) is not None:
                return found
            if all(each.why_broken for each in self._workers):
                raise CannotPlay(self._workers[0].why_broken)
            await self._changed.wait()

    def _wake(self) -> None:
        """Wake all tasks that wait for a change."""
        self._changed.set()
        self._changed = trio.Event()

    @property
    def asks(self) -> int:
        """As `WorkerPool.asks`."""
        return sum(each.takes for each in self._workers if each.is_ready)

    def drain(self) -> None:
        """As `WorkerPool.drain`."""
        self._draining = True
        self._wake()

    async def idle(self) -> None:
        """As `WorkerPool.idle`."""
        while self._in_play:
            await self._changed.wait()

    def status(self) -> list[Mapping[str, int]]:
        """As `WorkerPool.status`."""
        return [each.status() for each in self._workers]


def least_loaded(workers: Iterable[_Worker]) -> _Worker | None:
    """The worker that plays the fewest matches of those that ask for a deal-set; None if none asks."""
    asking = [each for each in workers if each.is_ready and each.takes > 0]
    return min(asking, key=lambda each: (each.matches, each.number), default=None)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


async def _write(
    messages: trio.MemoryReceiveChannel[work_pb2.ToWorker], stream: trio.abc.SendStream
) -> None:
    try:
        async for each in messages:
            await stream.send_all(frame(each))
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass  # it has ended; its other stream ends, too


async def _started(command: Sequence[str]) -> RunningWorker:
    return await trio.lowlevel.open_process(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the arena, which ends it
    )


async def _end(process: RunningWorker) -> None:
    """End a process, and wait for it."""
    if process.stdin is not None:
        await process.stdin.aclose()
    with trio.move_on_after(STOP_S):
        await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
    if process.stdout is not None:
        await process.stdout.aclose()
