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
        told: Told = lambda *_: None,
    ) -> None:
        self._plan, self._game = plan, game
        self._terms = plan.games[game].terms
        self._held = competitions
        self._arena, self._players = arena, players
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
        dealer = Dealer(
            [order_of(each, self._terms) for each in open_],
            fair=not self._terms.seeded,
            fix_deals=self._arena.matches.fix_deals,
            bots=self._players,
        )
        game = record.games[self._game]
        report = await run_tournament(
            open_,
            source=WhileRunning(self._leased, self._runs),
            play=Table(self._arena, self._players, dealer, self._terms).play,
            known=game.outcomes,
            max_matches=MAX_MATCHES,
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
    """Has one match of a deal-set played, its bots being brought first."""

    def __init__(self, arena: Arena, players: Players, dealer: Dealer, terms: MatchTerms) -> None:
        self._arena, self._players, self._dealer = arena, players, dealer
        self._terms = terms

    async def play(self, match: MatchPlan) -> MatchOutcome:
        """How the match ended, once that is recorded."""
        order = await self._dealer.ready(match.deal_set_id)
        await self._players.ensure(order.table(match.id).bots)
        try:
            return await self._arena.lease(order, match.id)
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
