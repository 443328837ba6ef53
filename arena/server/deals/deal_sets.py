"""Deal-sets in play: where their packs come from, and when their replays may be read.

All matches of a deal-set have the same packs, so nothing of it is shown before
the last of them has ended.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import trio

from arena.games.catalogue import Game
from arena.games.contract import Options
from arena.referee import Ending, Outcome
from arena.replay.deal_book import Opening, seeded_opening
from arena.replay.journal.deal_log import DealLog
from arena.replay.journal.match_log import MatchLog
from arena.replay.signing import Signer
from arena.replay.write import replay_path, write_replay
from arena.server.deals.fair import Deals, FixedDeal, GroupOrder, PlannedMatch
from arena.server.matches.orders import MatchOrder

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FixedDeals:
    """What the packs of a deal-set come from."""

    opening: Opening
    fair: FixedDeal | None = None
    """None if the deals follow from a seed."""

    @property
    def context(self) -> bytes:
        """Names a fair deal on the bots' streams; empty for seeded deals."""
        return self.fair.context if self.fair else b""


@dataclass(slots=True)
class _DealSet:
    waiting: int
    """Matches that have not begun."""
    fixing: trio.Lock = field(default_factory=trio.Lock)
    fixed: FixedDeals | None = None
    logs: dict[str, MatchLog] = field(default_factory=dict)
    """Of the matches that have begun, by match id."""
    playing: set[str] = field(default_factory=set)


class DealSets:
    """All deal-sets of an arena that are not over."""

    def __init__(
        self, deals: Deals, log: DealLog, replays: Path, signer: Signer | None = None
    ) -> None:
        """Begin without any.

        Args:
          deals: Agrees fair deals with the bots.
          log: Keeps the deals.
          replays: The folder of published replays.
          signer: Signs these, if anybody does.
        """
        self._deals = deals
        self._log = log
        self._replays = replays
        self._signer = signer
        self._sets: dict[str, _DealSet] = {}

    async def fix(self, order: MatchOrder, game: Game, options: Options) -> FixedDeals:
        """What the match's packs come from. Once it returns, that is on disk.

        Raises:
          Unwritten: if it cannot be kept.
        """
        deal_set = self._sets.setdefault(_name(order), _DealSet(order.tables))
        async with deal_set.fixing:
            if deal_set.fixed is None:
                deal_set.fixed = await self._fix(order, game, options)
        return deal_set.fixed

    async def _fix(self, order: MatchOrder, game: Game, options: Options) -> FixedDeals:
        if order.seed:
            opening = seeded_opening(order.seed)
            self._log.seeded(opening.key, order.seed)
            await self._log.synced()
            return FixedDeals(opening)
        matches = order.plan or (PlannedMatch(order.match_id, order.bots),)
        fair = await self._deals.fix(GroupOrder(_name(order), game, options, matches))
        return FixedDeals(fair.opening, fair)

    def begins(self, order: MatchOrder, log: MatchLog) -> None:
        """A match of the deal-set begins."""
        deal_set = self._sets[_name(order)]
        deal_set.waiting -= 1
        deal_set.logs[order.match_id] = log
        deal_set.playing.add(order.match_id)

    def goes_on(self, order: MatchOrder, opening: Opening, log: MatchLog) -> None:
        """A match goes on that had been cut short; `opening` opens its deals."""
        known = self._sets.setdefault(_name(order), _DealSet(order.tables))
        if known.fixed is None:
            fair = next((each for each in self._deals.live if each.key == opening.key), None)
            known.fixed = FixedDeals(opening, fair)
        self.begins(order, log)

    async def close_left_over(self, held: Callable[[str], bool]) -> None:
        """Open fair deals that nothing will be played by any more, but those that are `held`.

        `held` is asked about the deal-set's name, or the id of a match alone.
        """
        for deal in self._deals.live:
            name = deal.fair_deal.group_id
            if name in self._sets or held(name):
                continue
            if any(replay_path(self._replays, match_id).exists() for match_id in deal.match_ids):
                await self._deals.close(deal.context)
            else:
                await self._deals.void(deal.context, "no match was played by it")

    async def ended(self, order: MatchOrder, outcome: Outcome | None) -> None:
        """A match of the deal-set has ended, or was suspended if there is no outcome.

        Publishes the whole deal-set after its last match.
        """
        name = _name(order)
        deal_set = self._sets[name]
        deal_set.playing.discard(order.match_id)
        again = outcome is None or (order.deal_set and outcome.ending is Ending.ABORTED)
        if again:
            deal_set.waiting += 1  # it may be played again
            del deal_set.logs[order.match_id]
        if deal_set.waiting > 0 or deal_set.playing:
            return
        del self._sets[name]
        assert deal_set.fixed is not None
        opening = deal_set.fixed.opening
        for match_id, log in deal_set.logs.items():
            try:
                await trio.to_thread.run_sync(
                    write_replay, self._replays, match_id, log.bodies, opening, self._signer
                )
            except OSError:
                _log.exception("a replay could not be written", extra={"match": match_id})
        if deal_set.fixed.fair is not None:
            await self._deals.close(deal_set.fixed.context)


def _name(order: MatchOrder) -> str:
    """A match alone is a deal-set of its own."""
    return order.deal_set or order.match_id
