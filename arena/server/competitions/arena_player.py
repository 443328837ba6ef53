"""The one place that plays leased deal-sets: brings their bots, agrees their deals, leases their matches."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

import trio

from arena.competition.plan import CompetitionPlan
from arena.schedule.deal_sets import DealSetPlan, MatchOutcome, MatchPlan, aborted
from arena.schedule.runner import (
    DEFAULT_ATTEMPTS,
    CannotPlay,
    CountBegin,
    DealSetPlayer,
    MatchByMatch,
    OnEnded,
    Phases,
    run_deal_sets,
)
from arena.schedule.work import DealSetJob, ScheduledWork
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.competitions.launcher import NoShow
from arena.server.competitions.players import Players
from arena.server.orders import SCHEDULED, DealSetOrder, TableOrder
from arena.server.refusals import DRAINING, Refused
from arena.terms import MatchTerms

if TYPE_CHECKING:
    from arena.referee import Outcome

MAX_MATCHES: Final = 8
"""Matches of one game played at a time; their asks then travel together."""

INSTANCES: Final = 2
"""Processes of a launched bot that are alive at a time, unless it has several seats of a table."""

LeaseMatch = Callable[[DealSetOrder, str], Awaitable[MatchOutcome]]
"""As `Matches.lease`."""

AgreeDeals = Callable[[DealSetOrder], Awaitable[object]]
"""As `Matches.fix_deals`."""


class BotSource(Protocol):
    """Launches the bots of matches, or waits for them."""

    async def ensure(self, bots: Sequence[BotId]) -> None:
        """Have all these bots connected, as far as they come.

        Raises:
          NoShow: if the arena failed to start one.
        """
        ...

    def phases_of(self, bots: Sequence[BotId]) -> Phases | None:
        """The phases in which a deal-set between these bots is played; None if all tables are at a time."""
        ...

    def all_sandboxed(self, bots: Sequence[BotId]) -> bool:
        """Whether each of them is launched in a sandbox, in a new process for each table of a deal-set."""
        ...


class ArenaPlayer(MatchByMatch):
    """A `DealSetPlayer` that plays in this process's arena."""

    def __init__(
        self,
        arena: Arena,
        bots: BotSource,
        order: Callable[[DealSetPlan], DealSetOrder],
        *,
        max_matches: int = MAX_MATCHES,
        attempts: int = DEFAULT_ATTEMPTS,
        lease: LeaseMatch | None = None,
        agree: AgreeDeals | None = None,
        may_ponder: set[str] | None = None,
    ) -> None:
        """Play nothing yet.

        Args:
          arena: Plays the matches.
          bots: Has their bots connected.
          order: Says how a deal-set is ordered: its terms, and which process of a bot sits where.
          max_matches: Matches at a time.
          attempts: Times that a match is started, at most.
          lease: Has one match played; by default `arena.matches.lease`.
          agree: Has the deals of a deal-set fixed by its bots; by default as the arena draws them.
          may_ponder: Has the ids of all matches here while they are played, so that their bots are not frozen.
        """
        super().__init__(
            self._play_one, max_matches=max_matches, attempts=attempts, phases_of=self._phases_of
        )
        self._arena, self._bots, self._order = arena, bots, order
        self._lease = lease or arena.matches.lease
        self._agree = agree or arena.matches.fix_deals
        self._may_ponder: set[str] = set() if may_ponder is None else may_ponder
        self._orders: dict[str, DealSetOrder] = {}

    async def play(
        self,
        job: DealSetJob,
        known: Mapping[str, MatchOutcome],
        ended: OnEnded,
        begin: CountBegin,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> Mapping[str, MatchOutcome]:
        """As `DealSetPlayer.play`."""
        order = self._order(job.deal_set)
        self._orders[job.id] = replace(order, common_dice=self._bots.all_sandboxed(order.bots))
        self._may_ponder.update(order.match_ids)
        try:
            return await super().play(job, known, ended, begin, task_status=task_status)
        finally:
            self._may_ponder.difference_update(order.match_ids)
            del self._orders[job.id]

    def _phases_of(self, job: DealSetJob) -> Phases | None:
        return self._bots.phases_of(self._orders[job.id].bots)

    async def _play_one(self, job: DealSetJob, match: MatchPlan) -> MatchOutcome:
        """How a match ended, once that is recorded. While the arena drains, it waits for ever."""
        order = self._orders[job.id]
        try:
            if not order.terms.seeded:
                # Every bot of the deal-set adds entropy to its packs.
                await self._bots.ensure(order.bots)
                await self._agree(order)
            await self._bots.ensure(order.table(match.id).bots)
            return await self._lease(order, match.id)
        except NoShow as error:
            # No bot is charged if the arena failed to start one: the deal-set stays unfinished.
            return aborted(match.id, str(error))
        except Refused as refused:
            if refused.reason != DRAINING:
                raise
            await trio.sleep_forever()  # until what is in play has ended


class MakePlayer(Protocol):
    """Makes the `DealSetPlayer` of a game of a competition: `ArenaPlayer`, or one that has workers."""

    def __call__(
        self,
        arena: Arena,
        players: Players,
        order: Callable[[DealSetPlan], DealSetOrder],
        /,
        *,
        max_matches: int = ...,
    ) -> DealSetPlayer:
        """See `ArenaPlayer`."""
        ...


PlayerOf = Callable[[CompetitionPlan], MakePlayer]
"""Chooses what plays the deal-sets of a plan.

Raises:
  CannotPlay: if nothing can.
"""


def arena_player_of(plan: CompetitionPlan) -> MakePlayer:
    """A `PlayerOf` for an arena without workers."""
    if plan.speed_class is not None:
        raise CannotPlay(
            f"{plan.name} has a speed class, so it is played by workers on other machines, which join "
            "a running arena: arena serve"
        )

    def make(
        arena: Arena,
        players: Players,
        order: Callable[[DealSetPlan], DealSetOrder],
        *,
        max_matches: int = MAX_MATCHES,
    ) -> ArenaPlayer:
        may_ponder = players.frozen_bots.may_ponder if plan.pondering else None
        return ArenaPlayer(arena, players, order, max_matches=max_matches, may_ponder=may_ponder)

    return make


class UnratedMatches:
    """A `LeaseMatch` for matches outside of competitions, which keeps all that the referee knows of them."""

    def __init__(self, arena: Arena, begins: Callable[[str], None] = lambda _: None) -> None:
        """`begins` is called with the id of each match before it begins."""
        self._arena, self._begins = arena, begins
        self.outcomes: Final[dict[str, Outcome]] = {}
        """The referee's outcome of each match that has ended, by its id, aborted ones included."""

    async def __call__(self, order: DealSetOrder, match_id: str) -> MatchOutcome:
        self._begins(match_id)
        match = self._arena.matches.order(order, match_id, SCHEDULED)
        outcome = await match.outcome()
        assert match.played is not None
        self.outcomes[match_id] = match.played
        return outcome


async def play_unrated(
    orders: Sequence[DealSetOrder],
    matches: UnratedMatches,
    arena: Arena,
    bots: BotSource,
    *,
    max_matches: int,
) -> None:
    """Play deal-sets outside of competitions in order; each match is tried once, and the first failure ends it."""
    of_plan = {order.deal_set: order for order in orders}
    player = ArenaPlayer(
        arena,
        bots,
        lambda plan: of_plan[plan.id],
        max_matches=max_matches,
        attempts=1,
        lease=matches,
    )
    work = _UntilFailure([plan_of(order, at) for at, order in enumerate(orders, 1)])
    await run_deal_sets(work, player)


class _UntilFailure(ScheduledWork):
    """A schedule that ends with the first deal-set that the arena cannot finish."""

    async def give_up(self, worker: str, job: DealSetJob) -> None:
        """As `WorkSource.give_up`."""
        await super().give_up(worker, job)
        self.clear()


def plan_of(order: DealSetOrder, number: int) -> DealSetPlan:
    """The plan of a deal-set that was ordered without a schedule."""
    matches = tuple(
        MatchPlan(
            table.match_id,
            order.deal_set,
            table.rotation,
            tuple(bot.name for bot in table.bots),
            order.seed,
        )
        for table in order.tables
    )
    return DealSetPlan(order.deal_set, number, matches[0].bots, order.seed, matches)


def order_of(
    deal_set: DealSetPlan, terms: MatchTerms, seated: Callable[[BotId], BotId] = lambda bot: bot
) -> DealSetOrder:
    """The order of a deal-set. `seated` is what plays for a process of a bot that the plan names."""
    return DealSetOrder(
        deal_set.id,
        terms,
        tuple(
            TableOrder(match.id, tuple(map(seated, processes_of(deal_set, match))), match.rotation)
            for match in deal_set.matches
        ),
        deal_set.seed if terms.seeded else "",
    )


def processes_of(deal_set: DealSetPlan, match: MatchPlan) -> tuple[BotId, ...]:
    """Which process of each launched bot sits at a table, by seat; no process has two seats of it.

    At all tables of a deal-set it is the instance of the same number, in a new process for each (see `Phases`).
    Deal-sets alternate between instances, so that a bot that takes one match at a time plays two.
    """
    seen: Counter[str] = Counter()
    found = []
    for name in match.bots:
        found.append(BotId(name, (deal_set.number - 1) % INSTANCES + INSTANCES * seen[name]))
        seen[name] += 1
    return tuple(found)
