"""Fair deals, from the order of a deal-set to the publication of its secrets.

The arena draws, keeps, signs and publishes. `FairDeals.fix` has the handshake with the bots
(`arena.server.deals.handshakes`), again without those that did not open their commitments, until
the packs of the deal-set are fixed; `FairDeals.close` publishes everything after the last match.
Each step is on disk before it is shown.
"""

import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from arena.deal import (
    ENTROPY_BYTES,
    SALT_BYTES,
    DealTerms,
    plan_hash,
    server_commitment,
)
from arena.deal import context as context_of
from arena.errors import faults
from arena.referee import FaultKind, ForfeitedSeat, Unwritten
from arena.replay.deal_book import BookedDeal, DealState, Defaulter, Opening, seat_views
from arena.replay.journal.deal_log import DealLog
from arena.replay.signing import Signer
from arena.server.bots import BotId
from arena.server.deals.handshake import complaint_of, signatures_of
from arena.server.deals.handshakes import DealBots, closes_of
from arena.server.orders import DealSetOrder
from cardarena.v1 import journal_pb2

PSEUDONYM_BYTES: Final = 8

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Culprit:
    """What a bot did that made a deal-set void."""

    kind: FaultKind
    reason: str


@dataclass(frozen=True, slots=True)
class FixedDeals:
    """The source of a deal-set's packs, fixed so that nobody can choose them any more."""

    opening: Opening
    """What opens them, with the key of the deals. Secret until the deal-set is over."""
    context: bytes = b""
    """Names the fair deal in the public log; empty for seeded deals."""
    fair_deal: journal_pb2.FairDeal | None = None
    """As the matches' `Opened` holds it; None for seeded deals."""
    culprits: Mapping[BotId, Culprit] = field(default_factory=dict)
    """Bots whose seats are played by fallback from the first card on."""

    @property
    def key(self) -> bytes:
        """The key of the deals. Secret."""
        return self.opening.key

    @property
    def match_ids(self) -> tuple[str, ...]:
        """The matches of a fair deal, by id."""
        return tuple(line.partition(" ")[0] for line in self.opening.plan.splitlines())

    def seat_views(self, match_id: str) -> tuple[bytes, ...]:
        """By seat of a match, what names the fair deal on the bot's stream; none for seeded deals."""
        if self.fair_deal is None:
            return ()
        return seat_views(self.context, self.fair_deal, self.opening.plan, match_id)

    def forfeited_seats(self, bots: Sequence[BotId]) -> tuple[ForfeitedSeat, ...]:
        """The seats of culprits at a match between `bots`, by seat."""
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
        signer: Signer | None = None,
    ) -> None:
        """Begin with the deal-sets that `log` was left with.

        Args:
          log: Keeps the deals.
          server_id: Names the arena, see `arena_id`.
          bots: The bots that are connected to this process.
          draw: Returns so many unpredictable random bytes.
          signer: Signs what the bots are shown, if anybody does.
        """
        self._log = log
        self._server_id = server_id
        self._bots = bots
        self._bots_of: dict[str, DealBots] = {}
        """The bots of deal-sets that are in play, by the deal-set's name."""
        self._draw = draw
        self._signer = signer

    @property
    def live(self) -> tuple[FixedDeals, ...]:
        """Deal-sets that are fixed and not closed, those of an earlier process too."""
        return tuple(self._fixed(deal) for deal in self._log.live)

    async def fix(self, order: DealSetOrder, bots: DealBots | None = None) -> FixedDeals:
        """Let the arena and the bots draw, and fix the packs of a deal-set.

        A deal-set of this id and plan that is fixed already, as before a restart, keeps its packs. If
        this is cancelled, the draw is void. To be called once at a time for a deal-set; other ones
        may be fixed meanwhile. `bots` are those that play it, if they are not connected to this
        process.

        Raises:
          Unwritten: if the deals cannot be kept.
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
        """Deal-sets of several tables that have void draws, which are secret as long as they are."""
        return frozenset(
            deal.fair_deal.deal_set
            for deal in self._log.book.deals()
            if deal.state is DealState.VOIDED and deal.shared
        )

    async def close(self, context: bytes) -> None:
        """Publish the secrets of a deal-set after its last match; nothing if it is not live.

        Raises:
          Unwritten: if that cannot be kept.
        """
        deal = self._log.book.get(context)
        if deal is not None and deal.state is DealState.FIXED:
            await self._publish(self._log.opened(context))
            self._bots_of.pop(deal.fair_deal.deal_set, None)

    async def void(self, context: bytes, reason: str) -> None:
        """Have other packs drawn for a deal-set if it is ordered again; nothing if it is not live.

        Raises:
          Unwritten: if that cannot be kept.
        """
        deal = self._log.book.get(context)
        if deal is not None and deal.state is DealState.FIXED:
            await self._publish(self._log.voided(context, reason))
            self._bots_of.pop(deal.fair_deal.deal_set, None)

    async def give_up(self, deal_set: str, reason: str) -> None:
        """Publish that no match is played by a deal-set; nothing if no draw of it is known.

        Raises:
          Unwritten: if that cannot be kept.
        """
        over: tuple[BookedDeal, ...] = ()
        for deal in self._log.live:
            if deal.fair_deal.deal_set == deal_set:
                over += self._log.voided(deal.context, reason)
        await self._publish(over + self._log.given_up(deal_set))
        self._bots_of.pop(deal_set, None)

    # Inside.

    async def _attempt(self, order: DealSetOrder, bots: DealBots) -> FixedDeals | None:
        """One handshake; None if a bot made it void."""
        culprits = self._culprits(order.deal_set)
        deal = self._drawn(order)
        context = deal.context

        async def sign(commitments: Sequence[bytes]) -> Sequence[bytes]:
            return signatures_of(deal, commitments, self._signer)

        public_key = b"" if self._signer is None else self._signer.public_key
        try:
            await self._log.synced()
            told = await bots.run(deal, culprits, public_key, sign)
            if complaint := complaint_of(deal, *told):
                fields = {"deal_set": order.deal_set, "why": complaint}
                _log.warning("a deal-set is void", extra=fields)
                await self._publish(self._log.voided(context, complaint, *told))
                return None
            deal = self._log.fixed(context, *told)
            await self._log.synced()
            return self._fixed(deal)
        except BaseException:
            # As when the arena stops. It was committed to, so it must be seen to have ended.
            known = self._log.book.get(context)
            if known is not None and known.state in (DealState.DRAWN, DealState.FIXED):
                with contextlib.suppress(Unwritten):
                    self._tell(self._log.voided(context, "the arena gave it up before the deal"))
            raise

    def _drawn(self, order: DealSetOrder) -> BookedDeal:
        """Draw everything that the arena adds to a deal-set, and keep it."""
        names = {bot: self._draw(PSEUDONYM_BYTES).hex() for bot in order.bots}
        named = sorted((name, bot.name, bot.instance) for bot, name in names.items())
        plan, salt, secret = order.plan, self._draw(SALT_BYTES), self._draw(ENTROPY_BYTES)
        terms = DealTerms(
            server_id=self._server_id,
            deal_set=order.deal_set,
            game=order.terms.game.id,
            rules_hash=order.rules_hash,
            deck=order.deck,
            boards=0,  # as many as the matches take
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
        """Tell everybody of deals that are over, once that is on disk."""
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
        """Who made this deal-set void before; also known after a restart."""
        return {
            BotId(each.bot, each.instance): _culprit(each)
            for each in self._log.book.defaulters(deal_set)
        }


def _culprit(defaulter: Defaulter) -> Culprit:
    if defaulter.lied:
        return Culprit(FaultKind.MALFORMED, faults.LIE.text())
    return Culprit(FaultKind.TIMEOUT, faults.UNOPENED.text())


def _is_of(deal: BookedDeal, order: DealSetOrder) -> bool:
    """Whether a deal-set that is fixed is the one that is ordered."""
    fair_deal = deal.fair_deal
    return (
        fair_deal.deal_set == order.deal_set
        and deal.plan == order.plan
        and fair_deal.rules_hash == order.rules_hash
    )
