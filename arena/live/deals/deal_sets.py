"""Deal-sets in play: the source of their packs, and the publication of their replays.

All matches of a deal-set have the same packs, so its replays stay secret until the last match has a result. Then
all replays are published and a fair deal is opened, even if a restart came between the matches.
"""

import hashlib
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trio

from arena import durable_files
from arena.durable_files import StagedFile
from arena.live.deals.fair import FairDeals, FixedDeals
from arena.live.deals.handshakes import DealBots
from arena.live.orders import DealSetOrder
from arena.live.shared_transactions import SharedTransactions
from arena.records.deal_book import Opening, seeded_opening
from arena.records.journal.deal_log import DealLog
from arena.records.read import replay_path
from arena.records.signing import ArenaKey
from arena.records.write import write_replay
from cardarena.v1 import journal_pb2

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _DealSet:
    order: DealSetOrder
    fixing: trio.Lock = field(default_factory=trio.Lock)
    fixed: FixedDeals | None = None
    over: set[str] = field(default_factory=set)
    """Ids of matches that will not be played again."""
    records: dict[str, Sequence[bytes]] = field(default_factory=dict)
    """Journal records of finished matches, by id, for their replays; none of those that are staged."""
    staged: dict[str, Sequence[StagedFile]] = field(default_factory=dict)
    """Files of replays that are written and only need their names, by id."""


class DealSets:
    """All unfinished deal-sets of an arena."""

    def __init__(
        self, fair: FairDeals, log: DealLog, replays: Path, signer: ArenaKey | None = None
    ) -> None:
        self._fair = fair
        self._log = log
        self.replays: Final = replays
        self.signer: Final = signer
        self._publications = SharedTransactions(_publish_all)
        self._sets: dict[str, _DealSet] = {}
        self._unwritten: set[str] = set()
        """Matches whose replays could not be written, by id."""

    @property
    def unpublished(self) -> frozenset[str]:
        """Ids of finished matches without a replay yet; the journal must keep their records."""
        held = (deal_set.records for deal_set in self._sets.values())
        return frozenset(self._unwritten).union(*held)

    def take_up(self, order: DealSetOrder, over: Collection[str]) -> None:
        """Add a deal-set; the matches whose ids are in `over` have a result already."""
        known = self._sets.setdefault(order.deal_set, _DealSet(order))
        known.over.update(over)

    def add_ended(
        self,
        order: DealSetOrder,
        match_id: str,
        records: Sequence[bytes],
        staged: Sequence[StagedFile] = (),
    ) -> None:
        """Add a match that is over, and whose replay is not published.

        It ended before the arena started, or a worker has played it. In the second case its replay may be `staged`
        without `records`.
        """
        known = self._sets.setdefault(order.deal_set, _DealSet(order))
        known.over.add(match_id)
        known.records[match_id] = records
        if staged:
            known.staged[match_id] = staged

    async def fix(self, order: DealSetOrder, bots: DealBots | None = None) -> FixedDeals:
        """Fix the source of a deal-set's packs, write it to disk and return it.

        `bots` play the deal-set, if they are connected to another process.

        Raises `Unwritten` if it cannot be written.
        """
        known = self._sets.setdefault(order.deal_set, _DealSet(order))
        async with known.fixing:
            if known.fixed is None or bots is not None:
                known.fixed = await self._fix(order, bots)
        return known.fixed

    def give(self, order: DealSetOrder, fixed: FixedDeals) -> None:
        """Add a deal-set whose deals another process has fixed."""
        self._sets[order.deal_set] = _DealSet(order, fixed=fixed)

    def forget(self, deal_set: str) -> None:
        self._sets.pop(deal_set, None)

    async def _fix(self, order: DealSetOrder, bots: DealBots | None) -> FixedDeals:
        if not order.seed:
            return await self._fair.fix(order, bots)
        opening = seeded_opening(order.seed)
        self._log.seeded(opening.key, order.seed)
        await self._log.synced()
        return FixedDeals(opening)

    def goes_on(self, order: DealSetOrder, opening: Opening) -> None:
        """Add a deal-set with an interrupted match that is resumed; `opening` opens its deals."""
        known = self._sets.setdefault(order.deal_set, _DealSet(order))
        if known.fixed is None:
            fair = (deals for deals in self._fair.live if deals.key == opening.key)
            known.fixed = next(fair, FixedDeals(opening))

    async def over(
        self, order: DealSetOrder, match_id: str, records: Sequence[bytes]
    ) -> tuple[str, ...]:
        """Record that a match has ended and will not be played again.

        After the last match the deal-set is published. Returns the published replays by match id.
        """
        self.add_ended(order, match_id, records)
        return await self.publish(order.deal_set)

    async def publish(self, deal_set: str) -> tuple[str, ...]:
        """Publish a deal-set if all its matches are over; return the replays by match id."""
        known = self._sets.get(deal_set)
        if known is None or not known.over.issuperset(known.order.match_ids):
            return ()
        del self._sets[deal_set]
        fixed = known.fixed or self._fixed_before(known.order)
        if fixed is None:
            _log.error("the key of a deal-set is lost", extra={"deal_set": deal_set})
            self._unwritten.update(known.records)
            return ()
        digest = hashlib.sha256(fixed.opening.key).digest()
        unwritten = {}
        for match_id, records in known.records.items():
            if match_id in known.staged:
                continue
            if _key_sha256(records) == digest:
                unwritten[match_id] = records
            else:
                _log.error("the key of a match is lost", extra={"match": match_id})
                self._unwritten.add(match_id)
        if unwritten:
            await trio.to_thread.run_sync(self._write, unwritten, fixed.opening)
        if known.staged:
            await self._publish_staged(known.staged)
        published = [match_id for match_id in known.records if match_id not in self._unwritten]
        if fixed.fair_deal is not None:
            await self._fair.close(fixed.context)
        return tuple(published)

    def _write(self, records: Mapping[str, Sequence[bytes]], opening: Opening) -> None:
        """Write the replays of a deal-set in one call, because each call waits for a thread. Blocks."""
        for match_id, bodies in records.items():
            try:
                write_replay(self.replays, match_id, bodies, opening, self.signer)
            except OSError as error:
                self._not_written(match_id, error)

    async def _publish_staged(self, staged: Mapping[str, Sequence[StagedFile]]) -> None:
        """Rename the staged replays of a deal-set to their final names in one call; return them by match id."""
        files = [file for of_match in staged.values() for file in of_match]
        try:
            await self._publications.write(files)
        except OSError as error:
            durable_files.discard(files)
            for match_id in staged:
                self._not_written(match_id, error)

    def _not_written(self, match_id: str, error: OSError) -> None:
        """Let the journal keep the records of a match for the next start."""
        _log.error("a replay could not be written", extra={"match": match_id}, exc_info=error)
        self._unwritten.add(match_id)

    def _fixed_before(self, order: DealSetOrder) -> FixedDeals | None:
        """Return the source of packs that an earlier process fixed."""
        if order.seed:
            return FixedDeals(seeded_opening(order.seed))
        named = (
            deals
            for deals in self._fair.live
            if deals.fair_deal is not None and deals.fair_deal.deal_set == order.deal_set
        )
        return next(named, None)

    @property
    def live(self) -> tuple[FixedDeals, ...]:
        """Fair deals that are fixed and not opened."""
        return self._fair.live

    async def void(self, context: bytes, reason: str) -> None:
        """Void the deals of a deal-set, so that new packs are drawn if it is ordered again.

        Does nothing if the deal-set is unknown.

        Raises `Unwritten` if that cannot be written.
        """
        await self._fair.void(context, reason)

    async def draw_anew(self, order: DealSetOrder, reason: str) -> None:
        """Void the deals of a deal-set of which no match is in play or counts.

        Packs that follow from a seed stay the same.

        Raises `Unwritten` if that cannot be written.
        """
        known = self._sets.pop(order.deal_set, None) or _DealSet(order)
        fixed = known.fixed or self._fixed_before(order)
        if fixed is not None and fixed.fair_deal is not None:
            await self._fair.void(fixed.context, reason)

    async def close_left_over(self, awaited: Callable[[str], bool]) -> None:
        """Open the fair deals that no match will use any more.

        `awaited` returns whether a match may still use the deal-set of a name.
        """
        for deals in self._fair.live:
            assert deals.fair_deal is not None
            name = deals.fair_deal.deal_set
            if name in self._sets:
                continue
            # Replays are written when all matches are over, and before the deals are opened.
            if any(replay_path(self.replays, match_id).exists() for match_id in deals.match_ids):
                await self._fair.close(deals.context)
            elif not awaited(name):
                await self._fair.give_up(name, "no match was played by it")
        for name in self._fair.with_void_draws.difference(self._sets):
            if not awaited(name):
                await self._fair.give_up(name, "no match was played by it")


def _publish_all(staged: Sequence[Sequence[StagedFile]]) -> Sequence[None]:
    durable_files.publish([file for files in staged for file in files])
    return [None] * len(staged)


def _key_sha256(records: Sequence[bytes]) -> bytes:
    return journal_pb2.Record.FromString(records[0]).opened.deal_key_sha256
