"""Plays deal-sets: waits until their bots are connected, fixes the deals and plays the matches."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

import trio

from arena.bots.bot_ids import BotId
from arena.errors.refused import BOT_NOT_AVAILABLE, DRAINING, Refused
from arena.live.arena import Arena
from arena.live.launcher import NoShow
from arena.live.orders import SCHEDULED, DealSetOrder, TableOrder
from arena.live.players import Players
from arena.live.runner import DEFAULT_ATTEMPTS, MatchByMatch, Phases, run_deal_sets
from arena.live.work import CountBegin, DealSetPlayer, OnEnded, ScheduledWork
from arena.referee.terms import MatchTerms
from arena.results.deal_sets import DealSet, MatchOutcome, MatchPlan, aborted

if TYPE_CHECKING:
    from arena.referee.spec import Outcome

MAX_MATCHES: Final = 8
"""The number of simultaneous matches of one game; their asks then share frames."""

INSTANCES: Final = 2
"""The number of simultaneous processes of a launched bot, unless it has several seats of a table."""

_log = logging.getLogger(__name__)

PlayOrdered = Callable[[DealSetOrder, str], Awaitable[MatchOutcome]]
"""A function like `Matches.play`."""

AgreeDeals = Callable[[DealSetOrder], Awaitable[object]]
"""A function like `Matches.fix_deals`."""


class BotSource(Protocol):
    """A source of connected bots, which launches the bots of matches or waits for them."""

    async def ensure(self, bots: Sequence[BotId]) -> None:
        """Wait until these bots are connected, or cannot be. Raises `NoShow` if the arena failed to start one."""
        ...

    def phases_of(self, bots: Sequence[BotId]) -> Phases | None:
        """Return the phases in which a deal-set between these bots is played; None if all tables are played at the same time."""
        ...

    def all_sandboxed(self, bots: Sequence[BotId]) -> bool:
        """Return whether each of them is launched in a sandbox, in a new process for each table of a deal-set."""
        ...


class ArenaPlayer(MatchByMatch):
    """A `DealSetPlayer` that plays in this process's arena."""

    def __init__(
        self,
        arena: Arena,
        bots: BotSource,
        order: Callable[[DealSet], DealSetOrder],
        *,
        max_matches: int = MAX_MATCHES,
        attempts: int = DEFAULT_ATTEMPTS,
        play_match: PlayOrdered | None = None,
        agree: AgreeDeals | None = None,
        may_ponder: set[str] | None = None,
    ) -> None:
        """Make a player that plays nothing yet.

        Args:
          order: Returns the order of a deal-set: its terms, and the process at each seat.
          attempts: The maximal number of starts of a match.
          play_match: Plays one match; by default `Matches.play`.
          agree: Fixes the deals of a deal-set with its bots; by default the arena draws them.
          may_ponder: Receives the ids of matches while they are played, so that their bots are not
            frozen.
        """
        super().__init__(
            self._play_one, max_matches=max_matches, attempts=attempts, phases_of=self._phases_of
        )
        self._arena, self._bots, self._order = arena, bots, order
        self._play_ordered = play_match or self._play_here
        self._agree = agree or arena.matches.fix_deals
        self._may_ponder: set[str] = set() if may_ponder is None else may_ponder
        self._orders: dict[str, DealSetOrder] = {}
        self._never_begun: set[str] = set()
        """Matches in play that have never begun, by id: those of deal-sets that are taken for the first time."""

    def why_waits(self) -> str:
        admission = self._arena.admission
        if admission is None or not admission.why_closed():
            return ""
        # Readers of pages see this reason too. The amount of lateness is left out because it changes; it is in the
        # metrics.
        return f"{admission.why_full() or 'the arena is busy'}, so fewer matches begin or none"

    async def play(
        self,
        deal_set: DealSet,
        known: Mapping[str, MatchOutcome],
        ended: OnEnded,
        begin: CountBegin,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> Mapping[str, MatchOutcome]:
        order = self._order(deal_set)
        common_dice = not order.own_dice and self._bots.all_sandboxed(order.bots)
        self._orders[deal_set.id] = replace(order, common_dice=common_dice)
        self._may_ponder.update(order.match_ids)
        if deal_set.begin == 1:
            self._never_begun.update(order.match_ids)
        try:
            return await super().play(deal_set, known, ended, begin, task_status=task_status)
        finally:
            self._may_ponder.difference_update(order.match_ids)
            self._never_begun.difference_update(order.match_ids)
            del self._orders[deal_set.id]

    def _phases_of(self, deal_set: DealSet) -> Phases | None:
        return self._bots.phases_of(self._orders[deal_set.id].bots)

    async def _play_here(self, order: DealSetOrder, match_id: str) -> MatchOutcome:
        is_first = match_id in self._never_begun
        self._never_begun.discard(match_id)
        return await self._arena.matches.play(order, match_id, is_first=is_first)

    async def _play_one(self, deal_set: DealSet, match: MatchPlan) -> MatchOutcome:
        """Play a match; return its outcome once that is recorded. While the arena drains, this waits for ever."""
        order = self._orders[deal_set.id]
        try:
            if not order.terms.seeded:
                # Every bot of the deal-set adds entropy to its packs.
                await self._bots.ensure(order.bots)
                await self._agree(order)
            await self._bots.ensure(order.table(match.id).bots)
            return await self._play_ordered(order, match.id)
        except NoShow as error:
            # No bot is charged if the arena failed to start one: the deal-set stays unfinished.
            return aborted(match.id, str(error))
        except Refused as refused:
            if refused.reason == BOT_NOT_AVAILABLE:
                # The arena has ended the bot since it was started: no bot is charged.
                _log.warning(
                    "a match is ordered again", extra={"match": match.id, "why": str(refused)}
                )
                return aborted(match.id, str(refused))
            if refused.reason != DRAINING:
                raise
            await trio.sleep_forever()  # until the matches in play have ended


class MakePlayer(Protocol):
    """Makes the `DealSetPlayer` of a game of a competition: `ArenaPlayer`, or one that has workers."""

    def __call__(
        self,
        arena: Arena,
        players: Players,
        order: Callable[[DealSet], DealSetOrder],
        /,
        *,
        max_matches: int = ...,
    ) -> DealSetPlayer:
        """See `ArenaPlayer`."""
        ...


class UnratedMatches:
    """A `PlayOrdered` for matches outside of competitions, which keeps all records of the referee about them."""

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
        play_match=matches,
    )
    work = _UntilFailure([plan_of(order, at) for at, order in enumerate(orders, 1)])
    await run_deal_sets(work, player)


class _UntilFailure(ScheduledWork):
    """A `WorkSource` that ends with the first deal-set that the arena cannot finish."""

    async def give_up(self, deal_set: DealSet) -> None:  # noqa: ARG002 - any of them
        self.clear()


def plan_of(order: DealSetOrder, number: int) -> DealSet:
    """Return the plan of a deal-set that was ordered without a schedule."""
    matches = tuple(
        MatchPlan(
            table.match_id, order.deal_set, table.rotation, tuple(bot.name for bot in table.bots)
        )
        for table in order.tables
    )
    return DealSet(order.deal_set, number, matches[0].bots, order.seed, matches)


def order_of(
    deal_set: DealSet, terms: MatchTerms, seated: Callable[[BotId], BotId] = lambda bot: bot
) -> DealSetOrder:
    """Return the order of a deal-set. `seated` returns the bot that plays for a process of a bot in the plan."""
    return DealSetOrder(
        deal_set.id,
        terms,
        tuple(
            TableOrder(match.id, tuple(map(seated, processes_of(deal_set, match))), match.rotation)
            for match in deal_set.matches
        ),
        deal_set.seed if terms.seeded else "",
    )


def processes_of(deal_set: DealSet, match: MatchPlan) -> tuple[BotId, ...]:
    """Return, by seat, the process of each launched bot at a table; no process has two seats.

    At all tables of a deal-set the instance has the same number, with a new process for each table (see `Phases`).
    Deal-sets alternate between instances, so that a bot that takes one match at a time plays two.
    """
    seen: Counter[str] = Counter()
    seated = []
    for name in match.bots:
        seated.append(BotId(name, (deal_set.number - 1) % INSTANCES + INSTANCES * seen[name]))
        seen[name] += 1
    return tuple(seated)
