"""Fair deals, from the order of a deal-set to the publication of its secrets.

`FairDeals.fix` runs the handshake with the bots (`arena.live.deals.handshakes`) until the packs of the deal-set are
fixed; a bot that does not open its commitment is left out of the next handshake. `FairDeals.close` publishes all
secrets after the last match. Each step is on disk before it is sent.
"""

import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from arena.bots.bot_ids import BotId
from arena.durable_files import Unwritten
from arena.errors import faults
from arena.live.deals.handshake import complaint_of, signatures_of
from arena.live.deals.handshakes import DealBots, closes_of
from arena.live.orders import DealSetOrder
from arena.records.deal_book import BookedDeal, DealState, Defaulter, Opening, seat_views
from arena.records.journal.deal_log import DealLog
from arena.records.signing import ArenaKey
from arena.referee.deal import (
    ENTROPY_BYTES,
    SALT_BYTES,
    DealTerms,
    plan_hash,
    planned_bot,
    pseudonym,
    server_commitment,
)
from arena.referee.deal import context as context_of
from arena.referee.spec import FaultKind, ForfeitedSeat
from cardarena.v1 import journal_pb2

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Culprit:
    """The reason why a bot made a deal-set void."""

    kind: FaultKind
    reason: str


@dataclass(frozen=True, slots=True)
class FixedDeals:
    """The source of a deal-set's packs, after which no participant can change them."""

    opening: Opening
    """The opening of the deals, with their key. It is secret until the deal-set is over."""
    context: bytes = b""
    """Id of the fair deal in the public log; empty for seeded deals."""
    fair_deal: journal_pb2.FairDeal | None = None
    """The fair deal in the `Opened` record of its matches; None for seeded deals."""
    culprits: Mapping[BotId, Culprit] = field(default_factory=dict)
    """The bots whose seats are played by fallback moves from the first card."""

    @property
    def key(self) -> bytes:
        """The key of the deals. Secret."""
        return self.opening.key

    @property
    def match_ids(self) -> tuple[str, ...]:
        return tuple(line.partition(" ")[0] for line in self.opening.plan.splitlines())

    def seat_views(self, match_id: str) -> tuple[bytes, ...]:
        """Return the context of the fair deal on each bot's stream, by seat of a match; empty for seeded deals."""
        if self.fair_deal is None:
            return ()
        return seat_views(self.context, self.fair_deal, self.opening.plan, match_id)

    def forfeited_seats(self, bots: Sequence[BotId]) -> tuple[ForfeitedSeat, ...]:
        """Return the seats of culprits in a match of `bots`, which are in seat order."""
        return tuple(
            ForfeitedSeat(seat, self.culprits[bot].kind, self.culprits[bot].reason)
            for seat, bot in enumerate(bots)
            if bot in self.culprits
        )


class FairDeals:
    """All fair deals of an arena."""

    def __init__(
        self,
        log: DealLog,
        server_id: str,
        bots: DealBots,
        *,
        draw: Callable[[int], bytes],
        signer: ArenaKey | None = None,
    ) -> None:
        """Begin with the unfinished deal-sets of `log`.

        Args:
          server_id: The id of the arena, see `arena_id`.
          draw: Returns a number of unpredictable random bytes.
        """
        self._log = log
        self._server_id = server_id
        self._bots = bots
        self._bots_of: dict[str, DealBots] = {}
        """The bots of deal-sets in play, by name of the deal-set."""
        self._draw = draw
        self._signer = signer

    @property
    def live(self) -> tuple[FixedDeals, ...]:
        """Deal-sets that are fixed and not closed, also by an earlier process."""
        return tuple(self._fixed(deal) for deal in self._log.live)

    async def fix(self, order: DealSetOrder, bots: DealBots | None = None) -> FixedDeals:
        """Draw with the bots, and fix the packs of a deal-set.

        A deal-set with this id and plan that was fixed earlier, for example before a restart, keeps its packs. If the
        call is cancelled, the draw is void. Several deal-sets may be fixed at a time, each by one call. `bots` play the
        deal-set, if they are connected to another process.

        Raises `Unwritten` if the deals cannot be written.
        """
        bots = self._bots_of[order.deal_set] = bots or self._bots
        for deal in self._log.live:
            if _is_of(deal, order):
                return self._fixed(deal)
        while True:
            fixed = await self._attempt(order, bots)
            if fixed is not None:
                return fixed

    @property
    def with_void_draws(self) -> frozenset[str]:
        """Deal-sets of several tables with void draws, which stay secret until the deal-set is over."""
        return frozenset(
            deal.fair_deal.deal_set
            for deal in self._log.book.deals()
            if deal.state is DealState.VOIDED and deal.shared
        )

    async def close(self, context: bytes) -> None:
        """Publish the secrets of a deal-set after its last match; does nothing for an unknown one.

        Raises `Unwritten` if that cannot be written.
        """
        deal = self._log.book.get(context)
        if deal is not None and deal.state is DealState.FIXED:
            await self._publish(self._log.opened(context))
            self._bots_of.pop(deal.fair_deal.deal_set, None)

    async def void(self, context: bytes, reason: str) -> None:
        """Void the deals of a deal-set, so that new packs are drawn if it is ordered again.

        Does nothing for an unknown deal-set.

        Raises `Unwritten` if that cannot be written.
        """
        deal = self._log.book.get(context)
        if deal is not None and deal.state is DealState.FIXED:
            await self._publish(self._log.voided(context, reason))
            self._bots_of.pop(deal.fair_deal.deal_set, None)

    async def give_up(self, deal_set: str, reason: str) -> None:
        """Publish that a deal-set has no matches; does nothing if no draw of it is known.

        Raises `Unwritten` if that cannot be written.
        """
        over: tuple[BookedDeal, ...] = ()
        for deal in self._log.live:
            if deal.fair_deal.deal_set == deal_set:
                over += self._log.voided(deal.context, reason)
        await self._publish(over + self._log.given_up(deal_set))
        self._bots_of.pop(deal_set, None)

    async def _attempt(self, order: DealSetOrder, bots: DealBots) -> FixedDeals | None:
        """Run one handshake; None if a bot made it void."""
        culprits = self._culprits(order.deal_set)
        deal = self._drawn(order)
        context = deal.context

        async def sign(commitments: Sequence[bytes]) -> Sequence[bytes]:
            return signatures_of(deal, commitments, self._signer)

        public_key = b"" if self._signer is None else self._signer.public_key
        try:
            await self._log.synced()
            answers = await bots.run(deal, culprits, public_key, sign)
            if complaint := complaint_of(deal, *answers):
                fields = {"deal_set": order.deal_set, "why": complaint}
                _log.warning("a deal-set is void", extra=fields)
                await self._publish(self._log.voided(context, complaint, *answers))
                return None
            deal = self._log.fixed(context, *answers)
            await self._log.synced()
            return self._fixed(deal)
        except BaseException:
            # This happens when the arena stops. The commitment is public, so its end must be public too.
            known = self._log.book.get(context)
            if known is not None and known.state in (DealState.DRAWN, DealState.FIXED):
                with contextlib.suppress(Unwritten):
                    self._tell(self._log.voided(context, "the arena gave it up before the deal"))
            raise

    def _drawn(self, order: DealSetOrder) -> BookedDeal:
        """Draw the arena's part of a deal-set, and write it to the log."""
        plan, salt, secret = order.plan, self._draw(SALT_BYTES), self._draw(ENTROPY_BYTES)
        named = sorted(
            (pseudonym(salt, planned_bot(bot.name, bot.instance)), bot.name, bot.instance)
            for bot in dict.fromkeys(order.bots)
        )
        terms = DealTerms(
            server_id=self._server_id,
            deal_set=order.deal_set,
            game=order.terms.game.id,
            rules_hash=order.rules_hash,
            deck=order.deck,
            boards=0,  # equal to the number of seats
            plan_hash=plan_hash(plan, salt),
            participants=tuple(name for name, *_ in named),
            log_head=self._log.head,
        )
        context = context_of(terms)
        fair_deal = journal_pb2.FairDeal(
            server_id=terms.server_id,
            deal_set=terms.deal_set,
            rules_hash=terms.rules_hash,
            deck=terms.deck,
            boards=terms.boards,
            plan_hash=terms.plan_hash,
            participants=[
                journal_pb2.DealParticipant(
                    participant=name, bot=bot, instance=instance, salt=self._draw(SALT_BYTES)
                )
                for name, bot, instance in named
            ],
            log_head=terms.log_head,
            server_commitment=server_commitment(context, secret),
        )
        self._log.drawn(context, fair_deal, secret, plan, salt)
        deal = self._log.book.get(context)
        assert deal is not None
        return deal

    async def _publish(self, deals: Sequence[BookedDeal]) -> None:
        """Send all bots the openings of finished deals, once they are on disk."""
        await self._log.synced()
        self._tell(deals)

    def _tell(self, deals: Sequence[BookedDeal]) -> None:
        for deal in deals:
            bots = self._bots_of.get(deal.fair_deal.deal_set, self._bots)
            bots.tell(closes_of(deal))

    def _fixed(self, deal: BookedDeal) -> FixedDeals:
        culprits = self._culprits(deal.fair_deal.deal_set)
        return FixedDeals(deal.opening, deal.context, deal.fair_deal, culprits)

    def _culprits(self, deal_set: str) -> dict[BotId, Culprit]:
        return {
            BotId(defaulter.bot, defaulter.instance): _culprit(defaulter)
            for defaulter in self._log.book.defaulters(deal_set)
        }


def _culprit(defaulter: Defaulter) -> Culprit:
    if defaulter.lied:
        return Culprit(FaultKind.MALFORMED, faults.LIE.text())
    return Culprit(FaultKind.TIMEOUT, faults.UNOPENED.text())


def _is_of(deal: BookedDeal, order: DealSetOrder) -> bool:
    fair_deal = deal.fair_deal
    return (
        fair_deal.deal_set == order.deal_set
        and deal.plan == order.plan
        and fair_deal.rules_hash == order.rules_hash
    )
