"""Deal-sets in play: where their packs come from, and when their replays may be read.

All matches of a deal-set have the same packs, so nothing of it is shown before its
last match has a result. Then all its replays are published, and a fair deal is
opened; also where several processes, one after another, played the matches.
"""

import hashlib
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import trio

from arena.replay.deal_book import Opening, seeded_opening
from arena.replay.journal.deal_log import DealLog
from arena.replay.read import replay_path
from arena.replay.signing import Signer
from arena.replay.write import write_replay
from arena.server.deals.fair import FairDeals, FixedDeals
from arena.server.deals.handshakes import DealBots
from arena.server.orders import DealSetOrder
from cardarena.v1 import journal_pb2

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
        self._unwritten: set[str] = set()
        """Matches whose replays could not be written, by id."""

    @property
    def unpublished(self) -> frozenset[str]:
        """Matches that are over and have no replay so far, by id: the journal has their records."""
        held = (each.records for each in self._sets.values())
        return frozenset(self._unwritten).union(*held)

    def take_up(self, order: DealSetOrder, over: Collection[str]) -> None:
        """Take up a deal-set; the matches `over`, by id, have a result already."""
        known = self._sets.setdefault(order.deal_set, _DealSet(order))
        known.over.update(over)

    def found(self, order: DealSetOrder, match_id: str, records: Sequence[bytes]) -> None:
        """A match of it was over before the arena started, and its replay is not published."""
        known = self._sets.setdefault(order.deal_set, _DealSet(order))
        known.over.add(match_id)
        known.records[match_id] = records

    async def fix(self, order: DealSetOrder, bots: DealBots | None = None) -> FixedDeals:
        """What the packs of a deal-set come from. Once it returns, that is on disk.

        `bots` are those that play it, if they are not connected to this process.

        Raises:
          Unwritten: if it cannot be kept.
        """
        known = self._sets.setdefault(order.deal_set, _DealSet(order))
        async with known.fixing:
            if known.fixed is None or bots is not None:
                known.fixed = await self._fix(order, bots)
        return known.fixed

    def give(self, order: DealSetOrder, fixed: FixedDeals) -> None:
        """The arena that this process plays for has fixed the deals of a deal-set."""
        self._sets[order.deal_set] = _DealSet(order, fixed=fixed)

    def forget(self, deal_set: str) -> None:
        """A deal-set is over, and somebody else publishes it."""
        self._sets.pop(deal_set, None)

    async def _fix(self, order: DealSetOrder, bots: DealBots | None) -> FixedDeals:
        if not order.seed:
            return await self._fair.fix(order, bots)
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
        fixed = known.fixed or self._fixed_before(known.order)
        if fixed is None:
            _log.error("the key of a deal-set is lost", extra={"deal_set": deal_set})
            self._unwritten.update(known.records)
            return ()
        published = []
        digest = hashlib.sha256(fixed.opening.key).digest()
        for match_id, records in known.records.items():
            if _key_sha256(records) != digest:
                _log.error("the key of a match is lost", extra={"match": match_id})
                self._unwritten.add(match_id)
                continue
            try:
                await trio.to_thread.run_sync(
                    write_replay, self._replays, match_id, records, fixed.opening, self._signer
                )
            except OSError:
                _log.exception("a replay could not be written", extra={"match": match_id})
                self._unwritten.add(match_id)
            else:
                published.append(match_id)
        if fixed.fair_deal is not None:
            await self._fair.close(fixed.context)
        return tuple(published)

    def _fixed_before(self, order: DealSetOrder) -> FixedDeals | None:
        """What an earlier process had fixed."""
        if order.seed:
            return FixedDeals(seeded_opening(order.seed))
        named = (
            each
            for each in self._fair.live
            if each.fair_deal is not None and each.fair_deal.deal_set == order.deal_set
        )
        return next(named, None)

    @property
    def live(self) -> tuple[FixedDeals, ...]:
        """Fair deals that are fixed and not closed."""
        return self._fair.live

    async def void(self, context: bytes, reason: str) -> None:
        """Have other packs drawn for a deal-set if it is ordered again; nothing if it is not live.

        Raises:
          Unwritten: if that cannot be kept.
        """
        await self._fair.void(context, reason)

    async def draw_anew(self, order: DealSetOrder, reason: str) -> None:
        """Have other packs drawn for a deal-set by which no match is played and none counts.

        Those of a seed stay, as they follow from it.

        Raises:
          Unwritten: if that cannot be kept.
        """
        known = self._sets.pop(order.deal_set, None) or _DealSet(order)
        fixed = known.fixed or self._fixed_before(order)
        if fixed is not None and fixed.fair_deal is not None:
            await self._fair.void(fixed.context, reason)

    async def close_left_over(self, awaited: Callable[[str], bool]) -> None:
        """Open fair deals that nothing will be played by any more.

        `awaited` tells whether somebody may still play by a deal-set, by its name.
        """
        for deals in self._fair.live:
            assert deals.fair_deal is not None
            name = deals.fair_deal.deal_set
            if name in self._sets:
                continue
            # Replays are written when all matches are over, and before the deals are opened.
            if any(replay_path(self._replays, match_id).exists() for match_id in deals.match_ids):
                await self._fair.close(deals.context)
            elif not awaited(name):
                await self._fair.give_up(name, "no match was played by it")
        for name in self._fair.with_void_draws.difference(self._sets):
            if not awaited(name):
                await self._fair.give_up(name, "no match was played by it")


def _key_sha256(records: Sequence[bytes]) -> bytes:
    """What the records of a match commit to as the key of its deals."""
    return journal_pb2.Record.FromString(records[0]).opened.deal_key_sha256
