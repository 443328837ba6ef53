"""The worker's side: plays assignments in an arena with a folder of its own, and reports them.

It ends when its standard input does, so it never outlives the arena that it plays for.
"""

import json
import logging
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import trio

from arena.referee import FaultKind, Outcome
from arena.replay.deal_book import BookedDeal, Opening
from arena.sandbox import BadCommand, BotCommand
from arena.schedule.deal_sets import DealSetPlan, MatchOutcome, MatchPlan
from arena.schedule.work import DealSetJob
from arena.server.arena import Arena
from arena.server.competitions.arena_player import ArenaPlayer, plan_of
from arena.server.competitions.players import ArchivedBot, Players
from arena.server.deals.fair import Culprit, FixedDeals
from arena.server.deals.handshakes import DrawClosing
from arena.server.matches.match_record import MatchRecord
from arena.server.matches.recording import PlayedMatch
from arena.server.matches.results import match_outcome
from arena.server.orders import SCHEDULED, DealSetOrder, order_of_message
from arena.server.workers.messages import Begin, Messages, bot_of, frame, match_message
from cardarena.v1 import work_pb2

COUNT_S: Final = 1.0
"""Interval of the messages with its counts."""

_log = logging.getLogger(__name__)

_Inbox = trio.MemoryReceiveChannel[work_pb2.ToWorker]


class ReportRecorder:
    """Keeps how matches end until they are reported: a `MatchRecorder`."""

    needed_records: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._played: dict[str, PlayedMatch] = {}

    async def record(self, match: MatchRecord, outcome: Outcome) -> None:
        """As `MatchRecorder.record`."""
        found, log = match_outcome(outcome), match.seated.log
        self._played[match.match_id] = PlayedMatch(found, log.bodies, log.seated)
        match.recorded(found)

    def take(self, match_id: str) -> PlayedMatch | None:
        """A match that has ended, which is forgotten; None if it has not begun."""
        return self._played.pop(match_id, None)


class _Dropped(Exception):
    """The arena no longer waits for the deal-set."""


class _Unplayed(Exception):
    """A match could not begin. The text says why."""


class _Assigned:
    """An assignment in play."""

    def __init__(self, begin: Begin, assignment: work_pb2.WorkAssignment, inbox: _Inbox) -> None:
        self.begin: Final = begin
        self.assignment: Final = assignment
        self.inbox: Final = inbox
        self.order: Final = order_of_message(assignment.order)
        self.is_agreed = False
        """Whether its deals are agreed."""


class _Started:
    """A `trio.TaskStatus` that calls a function."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call

    def started(self, _: None = None) -> None:
        """As `trio.TaskStatus.started`."""
        self._call()


class AssignmentPlayer:
    """Plays the assignments of an arena. Made and run in trio."""

    def __init__(
        self,
        arena: Arena,
        recorder: ReportRecorder,
        players: Players,
        ready: work_pb2.WorkerReady,
    ) -> None:
        """Create a player without assignments.

        Args:
          arena: The worker's own arena, which plays the matches.
          recorder: The recorder of that arena.
          players: Launches bots.
          ready: Describes the worker.
        """
        self._ready = ready
        self._arena, self._recorder, self._players = arena, recorder, players
        self._inboxes: dict[Begin, trio.MemorySendChannel[work_pb2.ToWorker]] = {}
        """Messages for each assignment in play."""
        self._player = ArenaPlayer(
            arena, players, self._order, attempts=1, lease=self._ordered, agree=self._agree
        )
        self._assigned: dict[str, _Assigned] = {}
        """The assignment in play of each deal-set, by the deal-set's name."""
        self._begun = trio.Event()
        """Set once the latest assignment has begun."""
        self._turns: defaultdict[str, trio.Lock] = defaultdict(trio.Lock)
        """One begin of a deal-set at a time, by the deal-set's name."""
        self._outgoing, self._unsent = trio.open_memory_channel[work_pb2.FromWorker](math.inf)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is in play."""
        return not self._inboxes

    async def run(self, asks: trio.abc.ReceiveStream, answers: trio.abc.SendStream) -> None:
        """Play assignments until the arena closes the stream.

        Raises:
          BadMessage: if the arena sends something else.
        """
        messages = Messages(asks, work_pb2.ToWorker)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._write, answers)
            self._send(ready=self._ready)
            nursery.start_soon(self._count)
            nursery.start_soon(self._take)
            while (message := await messages.next()) is not None:
                begin = Begin.of(message.begin)
                if message.HasField("assignment"):
                    self._inboxes[begin], inbox = trio.open_memory_channel(math.inf)
                    nursery.start_soon(self._play, begin, message.assignment, inbox)
                elif begin in self._inboxes:
                    self._inboxes[begin].send_nowait(message)
            nursery.cancel_scope.cancel()

    async def _play(self, begin: Begin, assignment: work_pb2.WorkAssignment, inbox: _Inbox) -> None:
        """Play an assignment, and wait until the arena has recorded the report."""
        try:
            # An earlier begin that the arena has dropped is played to its end first.
            async with self._turns[begin.deal_set]:
                try:
                    own = self._assigned[begin.deal_set] = _Assigned(begin, assignment, inbox)
                    matches = await self._played(own)
                    self._send(begin, report=work_pb2.WorkReport(matches=matches))
                except _Dropped:
                    return
                except BadCommand as error:
                    self._send(begin, failed=work_pb2.WorkFailed(bot=True, why=str(error)))
                except _Unplayed as error:
                    self._send(begin, failed=work_pb2.WorkFailed(why=str(error)))
                except Exception:
                    _log.exception(
                        "a deal-set cannot be played", extra={"deal_set": begin.deal_set}
                    )
                    why = "a worker failed: its log says why"
                    self._send(begin, failed=work_pb2.WorkFailed(why=why))
                finally:
                    self._assigned.pop(begin.deal_set, None)
                    self._begun.set()
                    self._arena.deal_sets.forget(begin.deal_set)
                await self._next(inbox)
        finally:
            del self._inboxes[begin]
            if not any(each.deal_set == begin.deal_set for each in self._inboxes):
                del self._turns[begin.deal_set]

    async def _take(self) -> None:
        """Ask for a deal-set whenever one can begin at once."""
        while True:
            await self._players.phases.open()
            await self._player.ready()
            self._begun = trio.Event()
            self._send(takes=work_pb2.WorkerTakes())
            await self._begun.wait()

    async def _played(self, own: "_Assigned") -> list[work_pb2.WorkMatch]:
        for each in own.assignment.entrants:
            await self._know(each)
        plan = plan_of(own.order, 1)
        wanted = tuple(each for each in plan.matches if each.id in own.assignment.matches)
        job = DealSetJob(replace(plan, matches=wanted), own.begin.epoch, own.begin.begin)
        ponder = {each.id for each in wanted} if own.assignment.pondering else set[str]()
        self._players.frozen_bots.may_ponder.update(ponder)
        why: dict[str, str] = {}

        def ended(match: MatchPlan, outcome: MatchOutcome) -> None:
            why[match.id] = outcome.evidence

        started = _Started(self._begun.set)
        try:
            await self._player.play(job, {}, ended, _never_begun, task_status=started)
        finally:
            self._players.frozen_bots.may_ponder.difference_update(ponder)
        played = [self._recorder.take(each.id) for each in wanted]
        for match, found in zip(wanted, played, strict=True):
            if found is None:
                raise _Unplayed(why[match.id])
        return [match_message(each) for each in played if each is not None]

    def _order(self, plan: DealSetPlan) -> DealSetOrder:
        return self._assigned[plan.id].order

    async def _agree(self, order: DealSetOrder) -> None:
        own = self._assigned[order.deal_set]
        if not own.is_agreed:
            self._arena.deal_sets.give(order, await self._agreed(own.begin, own.inbox))
            own.is_agreed = True

    async def _know(self, entrant: work_pb2.WorkEntrant) -> None:
        """Add a bot to those that can be launched.

        Raises:
          BadCommand: if it cannot be launched.
        """
        if entrant.argv:
            self._players.add(BotCommand(entrant.name, tuple(entrant.argv)))
        elif not self._players.is_launched(entrant.name):
            manifest = json.loads(entrant.manifest_json)
            archived = ArchivedBot(
                entrant.name, entrant.archive_sha256, manifest, entrant.runtime_sha256
            )
            await trio.to_thread.run_sync(self._players.add_version, archived)

    async def _ordered(self, order: DealSetOrder, match_id: str) -> MatchOutcome:
        return await self._arena.matches.order(order, match_id, SCHEDULED).outcome()

    async def _agreed(self, begin: Begin, inbox: _Inbox) -> FixedDeals:
        """Have the deals agreed with the bots, until the arena has fixed them."""
        while True:
            if (message := await self._next(inbox)) is None:
                raise _Dropped
            if message.HasField("deals"):
                return _fixed(message.deals)
            draw = message.draw
            deal = BookedDeal(draw.context, draw.fair_deal, draw.secret, plan="", plan_salt=b"")

            async def sign(commitments: Sequence[bytes]) -> Sequence[bytes]:
                sent = work_pb2.WorkCommitments(commitments=commitments)
                self._send(begin, commitments=sent)
                if (answer := await self._next(inbox)) is None:
                    raise _Dropped
                return answer.signatures.signatures

            excluded = [bot_of(each) for each in draw.excluded]
            found = await self._arena.handshakes.run(deal, excluded, draw.public_key, sign)
            self._send(begin, entropies=work_pb2.WorkEntropies(entropies=found.entropies))

    async def _next(self, inbox: _Inbox) -> work_pb2.ToWorker | None:
        """The next message for an assignment; None if the arena is done with it.

        Closes of deals go to the bots.
        """
        async for message in inbox:
            if message.HasField("done"):
                break
            if not message.HasField("closes"):
                return message
            closes = message.closes.closes
            self._arena.handshakes.tell(
                DrawClosing(bot_of(each.bot), each.close) for each in closes
            )
        return None

    # Outgoing messages.

    async def _count(self) -> None:
        while True:
            games = self._arena.metrics.counts.games.values()
            counts = work_pb2.WorkerCounts(
                matches=len(self._arena.matches.referee.runners),
                decisions=sum(game.decisions for game in games),
            )
            self._send(counts=counts)
            await trio.sleep(COUNT_S)

    def _send(self, begin: Begin | None = None, **body: Any) -> None:
        named = None if begin is None else begin.message
        self._outgoing.send_nowait(work_pb2.FromWorker(begin=named, **body))

    async def _write(self, answers: trio.abc.SendStream) -> None:
        try:
            async for each in self._unsent:
                await answers.send_all(frame(each))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the arena has ended; the other stream ends, too


async def _never_begun(player: str) -> int:
    """Begin nothing: a worker has no workers of its own."""
    raise NotImplementedError(player)


def _fixed(deals: work_pb2.WorkDeals) -> FixedDeals:
    culprits = {
        bot_of(each.bot): Culprit(FaultKind(each.fault), each.reason) for each in deals.culprits
    }
    fair_deal = deals.fair_deal if deals.HasField("fair_deal") else None
    return FixedDeals(Opening(deals.key, plan=deals.plan), deals.context, fair_deal, culprits)
