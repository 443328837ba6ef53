"""The worker's side: it plays assignments in an arena with a separate folder, and reports them."""

import json
import logging
import math
from collections import defaultdict
from collections.abc import AsyncIterable, Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import trio

from arena.contests.workers.messages import Begin, bot_of, report_parts
from arena.live.arena import Arena
from arena.live.arena_player import ArenaPlayer, plan_of
from arena.live.deals.fair import Culprit, FixedDeals
from arena.live.deals.handshakes import DrawClosing
from arena.live.matches.match_record import MatchRecord
from arena.live.matches.recording import PlayedMatch
from arena.live.matches.results import match_outcome
from arena.live.orders import SCHEDULED, DealSetOrder, order_of_message
from arena.live.players import ArchivedBot, Players
from arena.records.deal_book import BookedDeal, Opening
from arena.referee.spec import FaultKind, Outcome
from arena.results.deal_sets import DealSet, MatchOutcome, MatchPlan
from arena.sandbox.command import BadCommand, BotCommand, house_argv
from cardarena.v1 import work_pb2

COUNT_S: Final = 5.0
"""Interval of the messages with its counts: the messages of a thousand workers use a fifth of the limit of their key."""
LOOK_S: Final = 1.0
"""Seconds between two checks of what the worker's process plays."""

_log = logging.getLogger(__name__)

_Inbox = trio.MemoryReceiveChannel[work_pb2.WorkResponse]


class ReportRecorder:
    """A `MatchRecorder` that keeps outcomes of matches until they are reported."""

    needed_records: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._played: dict[str, PlayedMatch] = {}

    async def record(self, match: MatchRecord, outcome: Outcome) -> None:
        result, log = match_outcome(outcome), match.seated.log
        self._played[match.match_id] = PlayedMatch(result, log.bodies, log.seated)
        match.recorded(result)

    def take(self, match_id: str) -> PlayedMatch | None:
        """Remove and return a match that has ended; None if it has not begun."""
        return self._played.pop(match_id, None)


class _Dropped(Exception):
    """The arena does not wait for the deal-set any more."""


class _Unplayed(Exception):
    """A match could not begin. The text says why."""


class _AssignmentInPlay:
    def __init__(self, begin: Begin, assignment: work_pb2.WorkAssignment, inbox: _Inbox) -> None:
        self.begin: Final = begin
        self.assignment: Final = assignment
        self.inbox: Final = inbox
        self.order: Final = replace(
            order_of_message(assignment.order), own_dice=assignment.own_dice
        )
        self.is_agreed = False
        """Whether its deals are agreed."""


class _Started:
    """A `trio.TaskStatus` that sets an event; `started` may be called again."""

    def __init__(self, event: trio.Event) -> None:
        self._event = event

    def started(self, _: None = None) -> None:
        self._event.set()


class AssignmentPlayer:
    """Plays the assignments of an arena. Made and run in trio."""

    def __init__(
        self,
        arena: Arena,
        recorder: ReportRecorder,
        players: Players,
        send: Callable[[work_pb2.WorkRequest], None],
    ) -> None:
        """Create a player that has no assignments.

        Args:
          arena: The worker's own arena, which plays the matches.
          recorder: The recorder of that arena.
        """
        self._post = send
        self._arena, self._recorder, self._players = arena, recorder, players
        self._inboxes: dict[Begin, trio.MemorySendChannel[work_pb2.WorkResponse]] = {}
        """Messages for each assignment in play."""
        self._player = ArenaPlayer(
            arena, players, self._order, attempts=1, play_match=self._ordered, agree=self._agree
        )
        self._assigned: dict[str, _AssignmentInPlay] = {}
        """The assignment in play of each deal-set, by the deal-set's name."""
        self._known: dict[str, work_pb2.WorkEntrant] = {}
        """The bots that can be launched, by name."""
        self._begun = trio.Event()
        self._turns: defaultdict[str, trio.Lock] = defaultdict(trio.Lock)
        """One begin of a deal-set at a time, by the deal-set's name."""
        self.has_joined = False
        """Whether the other arena has accepted the worker."""

    @property
    def is_idle(self) -> bool:
        return not self._inboxes

    async def run(self, messages: AsyncIterable[work_pb2.WorkResponse]) -> None:
        """Play assignments until the other arena sends no further messages."""
        async with trio.open_nursery() as nursery:
            async for message in messages:
                begin = Begin.of(message.begin)
                if message.HasField("joined"):
                    self.has_joined = True
                    nursery.start_soon(self._count)
                    nursery.start_soon(self._take)
                elif message.HasField("assignment"):
                    self._inboxes[begin], inbox = trio.open_memory_channel(math.inf)
                    nursery.start_soon(self._play, begin, message.assignment, inbox)
                elif begin in self._inboxes:
                    self._inboxes[begin].send_nowait(message)
            nursery.cancel_scope.cancel()

    def leave(self) -> None:
        """Ask for no further assignments; the other arena then ends its messages."""
        self._send(leaves=work_pb2.WorkerLeaves())

    async def _play(self, begin: Begin, assignment: work_pb2.WorkAssignment, inbox: _Inbox) -> None:
        """Play an assignment, and wait until the arena has recorded the report."""
        # The worker asks for one more assignment when an assignment begins or cannot begin.
        started = _Started(self._begun)
        try:
            # An earlier begin that the arena has dropped is played to its end first.
            if self._turns[begin.deal_set].locked():
                started.started()
            async with self._turns[begin.deal_set]:
                try:
                    assigned = _AssignmentInPlay(begin, assignment, inbox)
                    self._assigned[begin.deal_set] = assigned
                    for part in report_parts(await self._played(assigned, started)):
                        self._send(begin, report=part)
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
                    started.started()
                    self._arena.deal_sets.forget(begin.deal_set)
                await self._next(inbox)
        finally:
            del self._inboxes[begin]
            if not any(other.deal_set == begin.deal_set for other in self._inboxes):
                del self._turns[begin.deal_set]

    async def _take(self) -> None:
        while True:
            await self._players.phases.open()
            await self._player.ready()
            self._begun = trio.Event()
            self._send(takes=work_pb2.WorkerTakes())
            await self._begun.wait()

    async def _played(self, assigned: _AssignmentInPlay, started: _Started) -> list[PlayedMatch]:
        for entrant in assigned.assignment.entrants:
            await self._know(entrant, assigned)
        plan = plan_of(assigned.order, 1)
        wanted = tuple(match for match in plan.matches if match.id in assigned.assignment.matches)
        deal_set = replace(plan, matches=wanted)
        ponder = {match.id for match in wanted} if assigned.assignment.pondering else set[str]()
        self._players.frozen_bots.may_ponder.update(ponder)
        why: dict[str, str] = {}

        def ended(match: MatchPlan, outcome: MatchOutcome) -> None:
            why[match.id] = outcome.evidence

        try:
            await self._player.play(deal_set, {}, ended, _never_begun, task_status=started)
        finally:
            self._players.frozen_bots.may_ponder.difference_update(ponder)
        played = {match.id: self._recorder.take(match.id) for match in wanted}
        for match_id, match in played.items():
            if match is None:
                raise _Unplayed(why[match_id])
        return [match for match in played.values() if match is not None]

    def _order(self, plan: DealSet) -> DealSetOrder:
        return self._assigned[plan.id].order

    async def _agree(self, order: DealSetOrder) -> None:
        assigned = self._assigned[order.deal_set]
        if not assigned.is_agreed:
            deals = await self._agreed(assigned.begin, assigned.inbox)
            self._arena.deal_sets.give(order, deals)
            assigned.is_agreed = True

    async def _know(self, entrant: work_pb2.WorkEntrant, assigned: _AssignmentInPlay) -> None:
        """Add a bot to those that can be launched. A later competition may have a bot of the same name with other files.

        Raises `BadCommand` if it cannot be launched, or those files are in play.
        """
        known = self._known.get(entrant.name)
        if known == entrant:
            return
        if known is not None:
            others = (other for other in self._assigned.values() if other is not assigned)
            if any(known in other.assignment.entrants for other in others):
                raise BadCommand(
                    f"{entrant.name} plays another competition with other files at present: give one of them another name"
                )
            del self._known[entrant.name]
            await self._players.forget(entrant.name)
        if entrant.argv:
            start_s = entrant.start_s if entrant.HasField("start_s") else None
            self._players.add(BotCommand(entrant.name, tuple(entrant.argv), start_s=start_s))
        elif entrant.house_level:
            self._players.add(BotCommand(entrant.name, house_argv(entrant.house_level)))
        else:
            manifest = json.loads(entrant.manifest_json)
            archived = ArchivedBot(
                entrant.name, entrant.archive_sha256, manifest, entrant.runtime_sha256
            )
            await trio.to_thread.run_sync(self._players.add_version, archived)
        self._known[entrant.name] = entrant

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

            excluded = [bot_of(bot) for bot in draw.excluded]
            answers = await self._arena.handshakes.run(deal, excluded, draw.public_key, sign)
            self._send(begin, entropies=work_pb2.WorkEntropies(entropies=answers.entropies))

    async def _next(self, inbox: _Inbox) -> work_pb2.WorkResponse | None:
        """Return the next message for an assignment; None if the arena has finished with it.

        Closes of deals are sent to the bots.
        """
        async for message in inbox:
            if message.HasField("done"):
                break
            if not message.HasField("closes"):
                return message
            closes = message.closes.closes
            self._arena.handshakes.tell(
                DrawClosing(bot_of(closing.bot), closing.close) for closing in closes
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
        self._post(work_pb2.WorkRequest(begin=named, **body))


async def _never_begun(player: str) -> int:
    """Do nothing: a worker has no workers of its own."""
    raise NotImplementedError(player)


def _fixed(deals: work_pb2.WorkDeals) -> FixedDeals:
    culprits = {
        bot_of(culprit.bot): Culprit(FaultKind(culprit.fault), culprit.reason)
        for culprit in deals.culprits
    }
    fair_deal = deals.fair_deal if deals.HasField("fair_deal") else None
    return FixedDeals(Opening(deals.key, plan=deals.plan), deals.context, fair_deal, culprits)
