"""Deal-sets in play: where their packs come from, and when their replays may be read.

All matches of a deal-set have the same packs, so nothing of it is shown before its
last match has a result. Then all its replays are published, and a fair deal is
opened; also where several processes, one after another, played the matches.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import trio

from arena.replay.deal_book import Opening, seeded_opening
from arena.replay.journal.deal_log import DealLog
from arena.replay.signing import Signer
from arena.replay.write import replay_path, write_replay
from arena.server.deals.fair import FairDeals, FixedDeals
from arena.server.orders import DealSetOrder

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _DealSet:
    """What is known of a deal-set whose replays are not published."""

    order: DealSetOrder
    fixing: trio.Lock = field(default_factory=trio.Lock)
    fixed: FixedDeals | None = None
    over: set[str] = field(default_factory=set)
    """Matches that will not be played again, by id."""
    records: dict[str, Sequence[bytes]] = field(default_factory=dict)
    """The records of matches that are over, by id, for their replays."""


class DealSets:
    """All deal-sets of an arena that are not over."""

    def __init__(
        self, fair: FairDeals, log: DealLog, replays: Path, signer: Signer | None = None
    ) -> None:
        """Begin without any.

        Args:
          fair: Agrees fair deals with the bots.
          log: Keeps the deals.
          replays: The folder of published replays.
          signer: Signs these, if anybody does.
        """
        self._fair = fair
        self._log = log
        self._replays = replays
        self._signer = signer
        self._sets: dict[str, _DealSet] = {}

    def take_up(self, order: DealSetOrder, over: Collection[str]) -> None:
        """Take up a deal-set; the matches `over`, by id, have a result already."""
        known = self._sets.setdefault(order.deal_set, _DealSet(order))
        known.over.update(over)

    def found(self, order: DealSetOrder, match_id: str, records: Sequence[bytes]) -> None:
        """A match of it was over before the arena started, and its replay is not published."""
        known = self._sets.setdefault(order.deal_set, _DealSet(order))
        known.over.add(match_id)
        known.records[match_id] = records

    async def fix(self, order: DealSetOrder) -> FixedDeals:
        """What the packs of a deal-set come from. Once it returns, that is on disk.

        Raises:
          Unwritten: if it cannot be kept.
        """
        known = self._sets.setdefault(order.deal_set, _DealSet(order))
        async with known.fixing:
            if known.fixed is None:
                known.fixed = await self._fix(order)
        return known.fixed

    async def _fix(self, order: DealSetOrder) -> FixedDeals:
        if not order.seed:
            return await self._fair.fix(order)
        opening = seeded_opening(order.seed)
        self._log.seeded(opening.key, order.seed)
        await self._log.synced()
        return FixedDeals(opening)

    def goes_on(self, order: DealSetOrder, opening: Opening) -> None:
        """A match of it goes on that had been cut short; `opening` opens its deals."""
        known = self._sets.setdefault(order.deal_set, _DealSet(order))
        if known.fixed is None:
            fair = (each for each in self._fair.live if each.key == opening.key)
            known.fixed = next(fair, FixedDeals(opening))

    async def over(
        self, order: DealSetOrder, match_id: str, records: Sequence[bytes]
    ) -> tuple[str, ...]:
        """A match has ended and will not be played again.

        After the last one the whole deal-set is published; returns what was, by id.
        """
        self.found(order, match_id, records)
        return await self.publish(order.deal_set)

    async def publish(self, deal_set: str) -> tuple[str, ...]:
        """Publish a deal-set if all its matches are over; returns those with a replay, by id."""
        known = self._sets.get(deal_set)
        if known is None or not known.over.issuperset(known.order.match_ids):
            return ()
        del self._sets[deal_set]
        fixed = known.fixed or self._fixed_before(known)
        if fixed is None:
            _log.error("the key of a deal-set is lost", extra={"deal_set": deal_set})
            return ()
        published = []
        for match_id, records in known.records.items():
            try:
                await trio.to_thread.run_sync(
                    write_replay, self._replays, match_id, records, fixed.opening, self._signer
                )
            except OSError:
                _log.exception("a replay could not be written", extra={"match": match_id})
            else:
                published.append(match_id)
        if fixed.fair_deal is not None:
            await self._fair.close(fixed.context)
        return tuple(published)

    def _fixed_before(self, known: _DealSet) -> FixedDeals | None:
        """What an earlier process had fixed."""
        if known.order.seed:
            return FixedDeals(seeded_opening(known.order.seed))
        named = (
            each
            for each in self._fair.live
            if each.fair_deal is not None and each.fair_deal.deal_set == known.order.deal_set
        )
        return next(named, None)

    async def close_left_over(self, awaited: Callable[[str], bool]) -> None:
        """Open fair deals that nothing will be played by any more.

        `awaited` tells whether somebody may still play by a deal-set, by its name.
        """
        for deals in self._fair.live:
            assert deals.fair_deal is not None
            name = deals.fair_deal.deal_set
            if name in self._sets or awaited(name):
                continue
            if any(replay_path(self._replays, match_id).exists() for match_id in deals.match_ids):
                await self._fair.close(deals.context)
            else:
                await self._fair.void(deals.context, "no match was played by it")
