"""The seam between an arena and its workers: a leased deal-set goes out, a report comes back.

The arena draws, fixes, signs and publishes the deals, and records the results. A worker launches the
bots, agrees the deals with them, and plays. It knows nothing of the arena's folder, store and key.

A deal-set may be handed out several times, as workers die. Each handing out is a `Begin`; a report
counts if it is of the latest one and the first.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

import trio
from google.protobuf.message import DecodeError

from arena.schedule.deal_sets import DealSetPlan
from arena.schedule.outcomes import MatchOutcome
from arena.schedule.runner import Begin as RaiseBegin
from arena.schedule.runner import OnEnded
from arena.schedule.work import DealSetJob
from arena.server.arena import Arena, Workers
from arena.server.competitions.arena_player import MAX_MATCHES, ArenaPlayer
from arena.server.competitions.players import Players
from arena.server.deals.fair import FixedDeals
from arena.server.deals.handshakes import DealBots
from arena.server.matches.recording import PlayedMatch
from arena.server.orders import DealSetOrder, deal_set_message
from arena.server.workers.messages import BadMessage, Begin, match_of
from cardarena.v1 import journal_pb2, work_pb2


class Stale(Exception):
    """The deal-set was handed out again since, or has a report already: this one does not count."""


class LeasedDealSet:
    """A leased deal-set that workers play: what is handed out, and what the arena records of it."""

    def __init__(
        self,
        arena: Arena,
        epoch: int,
        begin: RaiseBegin,
        order: DealSetOrder,
        entrants: Iterable[work_pb2.WorkEntrant],
    ) -> None:
        """Nothing is handed out yet.

        Args:
          arena: Has the deals, the results and the key.
          epoch: Counts the leases of the deal-set.
          begin: Raises the number of its begins.
          order: The deal-set.
          entrants: How its bots are launched.
        """
        self.order: Final = order
        self.outcomes: Final[dict[str, MatchOutcome]] = {}
        """The results of its matches so far, by id."""
        self._arena, self._begin, self._entrants = arena, begin, list(entrants)
        self._latest = Begin(order.deal_set, epoch, 0)
        self._wanted: list[str] | None = None
        """The matches that were handed out and are not reported."""
        self._key = b""
        self._anew = True

    @property
    def is_complete(self) -> bool:
        """Whether all its matches have results."""
        return len(self.outcomes) == len(self.order.tables)

    async def prepare(self) -> bool:
        """Find out which matches are to be played; returns whether there are any.

        Raises:
          StoreError: if results cannot be read.
        """
        order, matches = self.order, self._arena.matches
        known = await trio.to_thread.run_sync(matches.results.outcomes, order.match_ids)
        self._keep(known.values())
        # A worker that dies does not get its bots other packs; a match that was aborted does.
        aborted = len(self.outcomes) < len(known)
        await matches.take_up(order, known, anew=self._anew and aborted)
        self._anew = False
        return not self.is_complete

    async def hand_out(self, worker: str) -> work_pb2.ToWorker:
        """Its assignment for a worker of this name; what was handed out of it before counts no longer.

        Raises:
          OutOfDate: if it was leased again.
          StoreError: if that cannot be kept.
        """
        self._latest = self._latest._replace(begin=await self._begin(worker))
        self._wanted = [each for each in self.order.match_ids if each not in self.outcomes]
        assignment = work_pb2.WorkAssignment(
            order=deal_set_message(self.order), matches=self._wanted, entrants=self._entrants
        )
        return work_pb2.ToWorker(begin=self._latest.message, assignment=assignment)

    async def fix(self, bots: DealBots) -> FixedDeals:
        """Fix its deals, with the bots at a worker if they are fair; on return that is on disk.

        Raises:
          Unwritten: if the deals cannot be kept.
        """
        fixed = await self._arena.matches.fix_deals(self.order, bots)
        self._key = fixed.key
        return fixed

    async def record(self, said: work_pb2.FromWorker, worker: int) -> None:
        """Record what the worker of this number reports, and publish the deal-set if it is over.

        Workers are trusted: whether moves follow the rules is not verified.

        Raises:
          Stale: if it was handed out again since, or has a report.
          BadMessage: if it is not a report of what was handed out.
          StoreError: if the results cannot be recorded.
        """
        if self._wanted is None or Begin.of(said.begin) != self._latest:
            raise Stale(f"not the latest of {self.order.deal_set}")
        try:
            played = [match_of(each) for each in said.report.matches]
            if sorted(each.outcome.match_id for each in played) != sorted(self._wanted):
                raise BadMessage("a report of other matches")
            for each in played:
                self._require_own(each)
            self._wanted = None
            with trio.CancelScope(shield=True):
                await self._arena.recorder.record_report(self.order, played, worker)
        except (ValueError, DecodeError) as error:
            raise BadMessage(f"no report: {error}") from error
        self._keep(each.outcome for each in played)
        self._anew = True

    def _require_own(self, played: PlayedMatch) -> None:
        """Require the match's own records, and the arena's packs."""
        opened = journal_pb2.Record.FromString(b"".join(played.records[:1])).opened
        if opened.match_id != played.outcome.match_id:
            raise BadMessage(f"records of {played.outcome.match_id} that are of another match")
        if opened.deal_key_sha256 != hashlib.sha256(self._key).digest():
            raise BadMessage(f"{opened.match_id} was played by other packs")

    def _keep(self, outcomes: Iterable[MatchOutcome]) -> None:
        self.outcomes.update({each.match_id: each for each in outcomes if each.has_result})


class WorkerPool(Workers, Protocol):
    """The workers of an arena, however they are reached."""

    @property
    def asks(self) -> int:
        """Deal-sets that workers have asked for and not received."""
        ...

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Have the workers run until cancelled; started once deal-sets can be handed out."""
        ...

    async def play(
        self,
        leased: LeasedDealSet,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Have a deal-set played and recorded, handed out again and again as workers die.

        `task_status` is started once a worker has taken it. `leased` is incomplete on return if it was given up. While the arena drains, nothing new is
        handed out, and this waits for ever.

        Raises:
          BadCommand: if a bot cannot be launched.
          CannotPlay: if no worker can be had.
          OutOfDate: if the deal-set was leased again.
          StoreError: if results cannot be read or recorded.
        """
        ...


class PoolPlayer:
    """A `DealSetPlayer`: workers play deal-sets of launched bots, and this process all others.

    A worker asks for a deal-set when it can begin one.
    """

    def __init__(
        self,
        pool: WorkerPool,
        arena: Arena,
        players: Players,
        order: Callable[[DealSetPlan], DealSetOrder],
        *,
        max_matches: int = MAX_MATCHES,
    ) -> None:
        """Play nothing yet; see `ArenaPlayer`. `max_matches` are those of this process."""
        self._pool, self._arena, self._players, self._order = pool, arena, players, order
        self._here = ArenaPlayer(arena, players, order, max_matches=max_matches)

    async def ready(self) -> int:
        """As `DealSetPlayer.ready`."""
        await self._here.ready()
        return max(1, self._pool.asks)

    async def play(
        self,
        job: DealSetJob,
        known: Mapping[str, MatchOutcome],
        ended: OnEnded,
        begin: RaiseBegin,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> Mapping[str, MatchOutcome]:
        """As `DealSetPlayer.play`."""
        order = self._order(job.deal_set)
        names = dict.fromkeys(bot.name for bot in order.bots)
        # A match that was cut short in this process continues in it.
        here = self._arena.matches.has_begun(order)
        if here or not all(map(self._players.is_launched, names)):
            return await self._here.play(job, known, ended, begin, task_status=task_status)
        leased = LeasedDealSet(self._arena, job.epoch, begin, order, map(self._entrant, names))
        found = {match_id for match_id, each in known.items() if each.has_result}
        missing = [each for each in job.deal_set.matches if each.id not in found]
        await self._pool.play(leased, task_status=task_status)
        for match in missing:
            if match.id in leased.outcomes:
                ended(match, leased.outcomes[match.id])
        return leased.outcomes

    def _entrant(self, name: str) -> work_pb2.WorkEntrant:
        archived = self._players.archived(name)
        if archived is None:
            return work_pb2.WorkEntrant(name=name, argv=self._players.argv(name))
        return work_pb2.WorkEntrant(
            name=name,
            archive_sha256=archived.sha256,
            manifest_json=json.dumps(archived.manifest, default=list),
            runtime_sha256=archived.runtime_sha256,
        )
