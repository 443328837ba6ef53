"""One game of a tournament, drawn round by round and played on lease.

A round is drawn from the store and kept there before its first card. When it goes on after a stop, every
round is drawn again first, and must come out as it was kept.
"""

from collections.abc import Callable, Mapping, Sequence

import trio
from trio.to_thread import run_sync

from arena.competition.draws import next_round
from arena.competition.plan_file import CompetitionPlan
from arena.competition.record import CompetitionRecord
from arena.competition.states import State
from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan, MatchPlan
from arena.ladder.tournament import Progress, run_tournament
from arena.ladder.work import DealSetJob, WorkSource
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.competitions.players import Players
from arena.server.competitions.playing_processes import PlayingProcesses
from arena.server.orders import DealSetOrder, TableOrder
from arena.server.refusals import DRAINING, Refused
from arena.server.tournaments.dealer import Dealer
from arena.server.tournaments.leased_work import LeasedWork
from arena.store import Competitions, DrawDiffers
from arena.terms import MatchTerms

MAX_MATCHES = 8
"""Matches of one game played at a time; their asks then travel together."""

Told = Callable[[int, Progress], None]
"""Is told how far a game has come, by its number."""


class Incomplete(Exception):
    """The arena failed to finish deal-sets again and again; the text says how many."""


class DrawnTournament:
    """One game of a tournament."""

    def __init__(
        self,
        plan: CompetitionPlan,
        game: int,
        competitions: Competitions,
        arena: Arena,
        players: Players,
        *,
        elsewhere: PlayingProcesses | None = None,
        told: Told = lambda *_: None,
    ) -> None:
        self._plan, self._game = plan, game
        self._terms = plan.games[game].terms
        self._held = competitions
        self._arena, self._players, self._elsewhere = arena, players, elsewhere
        self._told = told
        self._leased: LeasedWork | None = None

    async def run(self) -> bool:
        """Play for as long as the competition runs; True when nothing is left to draw.

        Raises:
          DrawDiffers: if a round that was drawn before comes out otherwise now.
          Incomplete: if the arena cannot finish a deal-set.
          StoreError: if the store fails.
        """
        self._leased = LeasedWork(await run_sync(self._held.leases, self._plan.name, self._game))
        await self._leased.start_anew()
        record = await self._record()
        await run_sync(self._require_draws_agree, record)
        while await self._runs():
            open_ = record.games[self._game].open
            if open_:
                await self._play(record, open_)
            elif not await run_sync(self._draw, record):
                return True
            record = await self._record()
        return False

    async def _record(self) -> CompetitionRecord:
        return await run_sync(self._held.record, self._plan.name)

    async def _runs(self) -> bool:
        held = await run_sync(self._held.get, self._plan.name)
        return held.state is State.RUNNING

    def _require_draws_agree(self, record: CompetitionRecord) -> None:
        game = record.games[self._game]
        for each in game.rounds:
            drawn = next_round(self._plan, self._game, record.candidates, game.past(each.number))
            if drawn is None:
                raise DrawDiffers(f"round {each.number} was drawn, and would not be drawn now")
            self._held.keep_round(self._plan.name, self._game, drawn.round, drawn.deal_sets)

    def _draw(self, record: CompetitionRecord) -> bool:
        past = record.games[self._game].past()
        drawn = next_round(self._plan, self._game, record.candidates, past)
        if drawn is None:
            return False
        self._held.keep_round(self._plan.name, self._game, drawn.round, drawn.deal_sets)
        return True

    async def _play(self, record: CompetitionRecord, open_: Sequence[DealSetPlan]) -> None:
        assert self._leased is not None
        table = Table(
            self._arena, self._players, self._terms, self._plan.name, elsewhere=self._elsewhere
        )
        table.know([order_of(each, self._terms) for each in open_])
        game = record.games[self._game]
        report = await run_tournament(
            open_,
            source=WhileRunning(self._leased, self._runs),
            play=table.play,
            known=game.outcomes,
            max_matches=table.most,
            on_progress=lambda progress: self._told(self._game, progress),
        )
        if report.incomplete and await self._runs():
            still = (await self._record()).games[self._game].open
            if still and {each.id for each in still} <= {each.id for each in report.incomplete}:
                raise Incomplete(
                    f"the arena could not complete {len(still)} deal-sets of {self._plan.name}: "
                    "its log says why"
                )


class WhileRunning:
    """A `WorkSource` that leases nothing new once a competition does not run any more."""

    def __init__(self, work: WorkSource, runs: Callable[[], "object"]) -> None:
        self._work = work
        self._runs = runs

    async def lease(self, worker: str, most: int) -> Sequence[DealSetJob]:
        if not await self._runs():  # type: ignore[misc]
            return ()
        return await self._work.lease(worker, most)

    async def heartbeat(self, worker: str) -> frozenset[str]:
        return await self._work.heartbeat(worker)

    async def report(
        self, worker: str, job: DealSetJob, outcomes: Mapping[str, MatchOutcome]
    ) -> None:
        await self._work.report(worker, job, outcomes)

    async def give_up(self, worker: str, job: DealSetJob) -> None:
        await self._work.give_up(worker, job)


class Table:
    """Has the matches of a competition played, here or elsewhere, their bots being brought first."""

    def __init__(
        self,
        arena: Arena,
        players: Players,
        terms: MatchTerms,
        competition: str,
        *,
        elsewhere: PlayingProcesses | None = None,
    ) -> None:
        self._arena, self._players, self._elsewhere = arena, players, elsewhere
        self._terms, self._competition = terms, competition
        self._away: dict[str, DealSetOrder] = {}
        """Deal-sets that are played elsewhere, by name."""
        self._dealer = self._dealer_of([])

    @property
    def most(self) -> int:
        """Matches to play at a time."""
        return MAX_MATCHES * (1 if self._elsewhere is None else self._elsewhere.most)

    def know(self, orders: Sequence[DealSetOrder]) -> None:
        """Know deal-sets that are played one after the other, in place of those known so far."""
        self._away.clear()
        self._dealer = self._dealer_of([each for each in orders if not self._goes_away(each)])

    def add(self, order: DealSetOrder) -> None:
        """Know one more deal-set, which follows nobody."""
        if not self._goes_away(order):
            self._dealer.add(order)

    def forget(self, deal_set: str) -> None:
        """A deal-set is over."""
        self._away.pop(deal_set, None)
        self._dealer.forget(deal_set)

    async def play(self, match: MatchPlan) -> MatchOutcome:
        """How the match ended, once that is recorded."""
        order = self._away.get(match.deal_set_id)
        if order is None:
            return await play_here(
                self._arena, self._players, self._dealer, match.deal_set_id, match.id
            )
        assert self._elsewhere is not None
        if self._arena.draining:
            await trio.sleep_forever()  # as `play_here` does
        return await self._elsewhere.play(self._competition, order, match.id)

    def _goes_away(self, order: DealSetOrder) -> bool:
        if self._elsewhere is None or not self._elsewhere.plays(order, self._players):
            return False
        self._away[order.deal_set] = order
        return True

    def _dealer_of(self, orders: Sequence[DealSetOrder]) -> Dealer:
        return Dealer(
            orders,
            fair=not self._terms.seeded,
            fix_deals=self._arena.matches.fix_deals,
            bots=self._players,
        )


async def play_here(
    arena: Arena, players: Players, dealer: Dealer, deal_set: str, match_id: str
) -> MatchOutcome:
    """How a match ended that this process has played, its bots being brought first; it is recorded then."""
    order = await dealer.ready(deal_set)
    await players.ensure(order.table(match_id).bots)
    try:
        return await arena.lease(order, match_id)
    except Refused as refused:
        if refused.reason != DRAINING:
            raise
        await trio.sleep_forever()  # until what is in play has ended


def order_of(deal_set: DealSetPlan, terms: MatchTerms) -> DealSetOrder:
    """The order of a deal-set in which each bot has a process of its own at every table."""
    return DealSetOrder(
        deal_set.id,
        terms,
        tuple(
            TableOrder(
                match.id,
                tuple(BotId(name, match.instance) for name in match.bots),
                match.rotation,
            )
            for match in deal_set.matches
        ),
        deal_set.seed if terms.seeded else "",
    )
