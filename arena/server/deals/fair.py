"""Fair deals, from the order of a deal-set to the publication of its secrets.

`FairDeals.fix` runs the handshake with the bots (`arena.server.deals.handshake`), again
without those that did not open their commitments, until the packs of the
deal-set are fixed; `FairDeals.close` publishes everything after the last match.
Each step is on disk before it is shown.
"""

import contextlib
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import trio

from arena.deal import (
    ENTROPY_BYTES,
    SALT_BYTES,
    DealTerms,
    plan_hash,
    server_commitment,
)
from arena.deal import context as context_of
from arena.referee import FaultKind, ForfeitedSeat, Lag, NeverLate, Unwritten
from arena.replay.deal_book import (
    BookedDeal,
    DealState,
    Defaulter,
    Opening,
    seat_views,
    view_of,
)
from arena.replay.journal.deal_log import DealLog
from arena.replay.signing import Signer
from arena.server.bots import BotId
from arena.server.deals.deal_time import DealTimes
from arena.server.deals.handshake import Handshake, Participant, Phase, refusal
from arena.server.orders import DealSetOrder
from cardarena.v1 import journal_pb2, play_pb2

REMEMBERED_DEALS: Final = 10_000
"""Contexts that are over and still known: a late message about one is ignored, not refused."""
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
        find: Callable[[BotId], Participant | None],
        *,
        lag: Lag | None = None,
        draw: Callable[[int], bytes],
        signer: Signer | None = None,
        now_s: Callable[[], float] | None = None,
        owner_of: Callable[[str], str] = lambda bot: bot,
    ) -> None:
        """Begin with the deal-sets that `log` was left with.

        Args:
          log: Keeps the deals.
          server_id: Names the arena, see `arena_id`.
          find: A bot, if the arena has seen it.
          lag: How late the arena itself is.
          draw: Gives as many bytes that nobody can foresee.
          signer: Signs what the bots are shown, if anybody does.
          now_s: Reads the arena's clock; without it, trio's.
          owner_of: Names whose a bot is, by its name.
        """
        self._log = log
        self._server_id = server_id
        self._find = find
        self._lag = lag or NeverLate()
        self._now_s = now_s or trio.lowlevel.current_clock().current_time
        self._times = DealTimes(self._now_s, self._lag, owner_of)
        self._draw = draw
        self._signer = signer
        self._handshakes: defaultdict[BotId, dict[bytes, Handshake]] = defaultdict(dict)
        """Those of this process that are not over, by bot and by the context that it was told."""
        self._over: dict[bytes, BotId] = {}
        """By each context that a bot was told of a draw that is over, the bot."""

    # Deal-sets.

    @property
    def live(self) -> tuple[FixedDeals, ...]:
        """Deal-sets that are fixed and not closed, those of an earlier process too."""
        return tuple(self._fixed(deal) for deal in self._log.live)

    async def fix(self, order: DealSetOrder) -> FixedDeals:
        """Let the arena and the bots draw, and fix the packs of a deal-set.

        A deal-set of this id and plan that is fixed already, as before a
        restart, is gone on with. If this is cancelled, the deal-set is void. To be
        called once at a time for a deal-set; other ones may be fixed meanwhile.

        Raises:
          Unwritten: if the deals cannot be kept.
        """
        for deal in self._log.live:
            if _is_of(deal, order):
                return self._fixed(deal)
        while True:
            fixed = await self._attempt(order)
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

    async def void(self, context: bytes, reason: str) -> None:
        """Have other packs drawn for a deal-set if it is ordered again; nothing if it is not live.

        Raises:
          Unwritten: if that cannot be kept.
        """
        deal = self._log.book.get(context)
        if deal is not None and deal.state is DealState.FIXED:
            await self._publish(self._log.voided(context, reason))

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

    # Bots.

    def deal_commit(self, bot: BotId, context: bytes, commitment: bytes) -> play_pb2.Refusal | None:
        """Take a bot's commitment; a refusal for it if that is not possible."""
        handshake = self._handshake(bot, context)
        if handshake is None:
            return self._to_nothing(bot, context)
        return handshake.commit(bot, commitment)

    def deal_reveal(self, bot: BotId, context: bytes, entropy: bytes) -> play_pb2.Refusal | None:
        """Take the opening of a bot's commitment; a refusal for it if that is not possible."""
        handshake = self._handshake(bot, context)
        if handshake is None:
            return self._to_nothing(bot, context)
        return handshake.reveal(bot, entropy)

    def attached(self, bot: BotId) -> None:
        """A bot has a stream, and was welcomed: repeat what it may have missed."""
        for handshake in self._concerning(bot):
            handshake.attached(bot)

    def detached(self, bot: BotId) -> None:
        """A bot has no stream any more."""
        for handshake in self._concerning(bot):
            handshake.detached(bot)

    # Inside.

    def _concerning(self, bot: BotId) -> list[Handshake]:
        return list(self._handshakes.get(bot, {}).values())

    def _handshake(self, bot: BotId, context: bytes) -> Handshake | None:
        return self._handshakes.get(bot, {}).get(context)

    async def _attempt(self, order: DealSetOrder) -> FixedDeals | None:
        """One handshake; None if a bot made it void."""
        culprits = self._culprits(order.deal_set)
        deal = self._drawn(order)
        context = deal.context
        bell = _Bell()
        handshake = Handshake(
            deal,
            self._find,
            now_s=self._now_s,
            lag=self._lag,
            times=self._times,
            changed=bell.ring,
            signer=self._signer,
        )
        try:
            await self._log.synced()
            for bot, view in handshake.views.items():
                self._handshakes[bot][view] = handshake
            handshake.begin(culprits)
            while handshake.phase is not Phase.SETTLED:
                with trio.move_on_at(handshake.wake_s):
                    await bell.rung()
                handshake.check()
            if handshake.complaint:
                _log.warning(
                    "a deal-set is void",
                    extra={"deal_set": order.deal_set, "why": handshake.complaint},
                )
                self._end(deal)
                void = self._log.voided(
                    context, handshake.complaint, handshake.commitments, handshake.told
                )
                await self._publish(void)
                return None
            deal = self._log.fixed(context, handshake.commitments, handshake.told)
            await self._log.synced()
            return self._fixed(deal)
        except BaseException:
            # As when the arena stops. It was committed to, so it must be seen to have ended.
            self._end(deal)
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
            self._end(deal)
            participants = deal.fair_deal.participants
            close = play_pb2.DealClose(
                secret=deal.secret,
                entropies=[
                    play_pb2.Entropy(
                        participant=each.participant,
                        entropy=entropy,
                        commitment=each.commitment,
                        salt=each.salt,
                    )
                    for each, entropy in zip(participants, deal.shown_entropies, strict=True)
                ],
                void_reason=deal.void_reason,
                deal=deal.context,
            )
            for each in participants:
                bot = self._find(BotId(each.bot, each.instance))
                if bot is not None and bot.adds_entropy:
                    close.context = view_of(deal.context, each)
                    bot.send_until_heard(close.context, play_pb2.ArenaMessage(deal_close=close))

    def _end(self, deal: BookedDeal) -> None:
        """What bots say about a draw from now on comes too late, and is no mistake of theirs."""
        for each in deal.fair_deal.participants:
            bot, view = BotId(each.bot, each.instance), view_of(deal.context, each)
            self._over[view] = bot
            if self._handshake(bot, view) is not None:
                del self._handshakes[bot][view]
                if not self._handshakes[bot]:
                    del self._handshakes[bot]
        while len(self._over) > REMEMBERED_DEALS:
            del self._over[next(iter(self._over))]

    def _fixed(self, deal: BookedDeal) -> FixedDeals:
        culprits = self._culprits(deal.fair_deal.deal_set)
        return FixedDeals(deal.opening, deal.context, deal.fair_deal, culprits)

    def _culprits(self, deal_set: str) -> dict[BotId, Culprit]:
        """Who made this deal-set void before; also known after a restart."""
        return {
            BotId(each.bot, each.instance): _culprit(each)
            for each in self._log.book.defaulters(deal_set)
        }

    def _to_nothing(self, bot: BotId, context: bytes) -> play_pb2.Refusal | None:
        # Another bot's context is refused like any that nobody has: which ones there are is secret.
        if self._over.get(context) == bot:
            return None  # stale: it crossed the news that the draw is over
        text = "there is no such deal-set, or it is not this bot's"
        return refusal(play_pb2.RefusalReason.REFUSAL_REASON_UNKNOWN_DEAL, text)


class _Bell:
    """Wakes a task of trio from anywhere on its thread, callbacks of other loops included."""

    def __init__(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._event = trio.Event()

    def ring(self) -> None:
        with contextlib.suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._event.set, idempotent=True)

    async def rung(self) -> None:
        """Wait until it has rung since the last time."""
        await self._event.wait()
        self._event = trio.Event()


def _culprit(defaulter: Defaulter) -> Culprit:
    if defaulter.lied:
        return Culprit(FaultKind.MALFORMED, "its entropy did not open its commitment to the deal")
    return Culprit(FaultKind.TIMEOUT, "it did not open its commitment to the deal in time")


def _is_of(deal: BookedDeal, order: DealSetOrder) -> bool:
    """Whether a deal-set that is fixed is the one that is ordered."""
    fair_deal = deal.fair_deal
    return (
        fair_deal.deal_set == order.deal_set
        and deal.plan == order.plan
        and fair_deal.rules_hash == order.rules_hash
    )
