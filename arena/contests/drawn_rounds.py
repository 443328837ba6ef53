"""One game of a tournament, drawn round by round.

A round is drawn from the store and stored before its first card. After a restart every round is drawn again, and must
agree with the stored one.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import Final

import trio
from trio.to_thread import run_sync

from arena.contests.draws import next_round
from arena.contests.entrants import Seat
from arena.contests.plan import CompetitionPlan
from arena.live.arena_player import order_of
from arena.live.orders import DealSetOrder
from arena.live.runner import run_deal_sets
from arena.live.shared_transactions import StoredWork
from arena.live.work import DealSetPlayer, RunProgress
from arena.results.deal_sets import DealSet
from arena.results.record import CompetitionRecord
from arena.results.states import State
from arena.store import Competitions, DrawDiffers

WAIT_S: Final = 1.0
"""Between two looks at the clock, outside of the hours of play."""

OnProgress = Callable[[str, int, RunProgress], None]
"""Called with a competition's name, the number of a game, and how far the game has come."""


class Incomplete(Exception):
    """The arena has repeatedly failed to finish deal-sets; the text has their number."""


class DrawnRounds:
    """One game of a tournament."""

    def __init__(
        self,
        plan: CompetitionPlan,
        game: int,
        competitions: Competitions,
        *,
        make_player: Callable[[Callable[[DealSet], DealSetOrder]], DealSetPlayer],
        seats: Callable[[], Awaitable[Seat]],
        now: Callable[[], datetime],
        on_progress: OnProgress = lambda *_: None,
    ) -> None:
        """Draw nothing yet. `seats` is called before the deal-sets of a round are played."""
        self._plan, self._game, self._seats = plan, game, seats
        self._competitions, self._now = competitions, now
        self._player = make_player(self._order)
        self._on_progress = partial(on_progress, plan.name, game)

    async def run(self) -> bool:
        """Play while the competition runs; return True when nothing is left to draw, or the competition closes.

        Raises:
          DrawDiffers: if a stored round differs from the new draw.
          Incomplete: if the arena cannot finish a deal-set.
          StoreError: if the store fails.
        """
        stored = await run_sync(self._competitions.deal_sets, self._plan.name, self._game)
        work = StoredWork(stored, goes_on=self._in_hours, if_running=True)
        await work.start_anew()
        record = await self._record()
        await run_sync(self._require_draws_agree, record)
        while await self._may_begin():
            if record.games[self._game].open:
                await self._play(record, work)
            elif not await run_sync(self._draw, record):
                return True
            record = await self._record()
        return self._plan.is_closed(self._now())

    @property
    def waits(self) -> str:
        """Why no deal-set begins although its hours allow one; empty if there is no such reason."""
        return self._player.why_waits()

    def _order(self, deal_set: DealSet) -> DealSetOrder:
        return order_of(deal_set, self._plan.games[self._game].terms, self._seat)

    async def _record(self) -> CompetitionRecord:
        return await run_sync(self._competitions.record, self._plan.name)

    async def _may_begin(self) -> bool:
        """Wait until play may begin by the hours of the plan; return False if it is paused or closes."""
        return await self._runs() and await self._in_hours()

    async def _in_hours(self) -> bool:
        """Do as `_may_begin` does, but do not check within the hours whether the competition is paused."""
        while not self._plan.is_closed(self._now()):
            if not self._plan.why_not_played(self._now()):
                return True
            await trio.sleep(WAIT_S)
            if not await self._runs():
                return False
        return False

    async def _runs(self) -> bool:
        return await run_sync(self._competitions.state, self._plan.name) is State.RUNNING

    def _require_draws_agree(self, record: CompetitionRecord) -> None:
        game = record.games[self._game]
        for stored in game.rounds:
            drawn = next_round(self._plan, self._game, record.candidates, game.past(stored.number))
            if drawn is None:
                raise DrawDiffers(f"round {stored.number} was drawn, and would not be drawn now")
            self._competitions.keep_round(self._plan.name, self._game, drawn.round, drawn.deal_sets)

    def _draw(self, record: CompetitionRecord) -> bool:
        past = record.games[self._game].past()
        drawn = next_round(self._plan, self._game, record.candidates, past)
        if drawn is None:
            return False
        self._competitions.keep_round(self._plan.name, self._game, drawn.round, drawn.deal_sets)
        return True

    async def _play(self, record: CompetitionRecord, work: StoredWork) -> None:
        game = record.games[self._game]
        self._seat = await self._seats()
        report = await run_deal_sets(
            work,
            self._player,
            deal_sets=game.open,
            known=game.outcomes,
            on_progress=self._on_progress,
        )
        if report.incomplete and await self._may_begin():
            still = (await self._record()).games[self._game].open
            if still and {deal_set.id for deal_set in still} <= {
                deal_set.id for deal_set in report.incomplete
            }:
                raise Incomplete(
                    f"the arena could not complete {len(still)} deal-sets of {self._plan.name}: "
                    "its log says why"
                )
