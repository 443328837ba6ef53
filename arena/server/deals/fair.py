"""Fair deals, from the order of a deal-set to the publication of its secrets.

`Deals.fix` runs the handshake with the bots (`arena.server.deals.handshake`), again
without those that did not open their commitments, until the packs of the
deal-set are fixed; `Deals.close` publishes everything after the last match.
Each step is on disk before it is shown.
"""

import contextlib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import trio

from arena.deal import (
    ENTROPY_BYTES,
    Terms,
    first_pack,
    plan_hash,
    plan_line,
    rules_hash,
    server_commitment,
    setting_texts,
)
from arena.deal import context as context_of
from arena.games.catalogue import Game
from arena.games.contract import Options
from arena.referee import FaultKind, ForfeitedSeat, Lag, NeverLate, Unwritten
from arena.replay.deal_book import BookedDeal, DealState, Defaulter, Opening
from arena.replay.journal.deal_log import DealLog
from arena.replay.signing import Signer
from arena.server.bots import BotId
from arena.server.deals.handshake import Handshake, Participant, Phase, refusal
from cardarena.v1 import journal_pb2, play_pb2

REMEMBERED_DEALS: Final = 1_000
"""Deal-sets that are over, about which a late message is passed over and not refused."""
SALT_BYTES: Final = 32
PSEUDONYM_BYTES: Final = 8

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlannedMatch:
    """One match of a deal-set."""

    match_id: str
    bots: tuple[BotId, ...]
    """By seat."""
    rotation: int = 0
    """By how many seats the bots are turned; 0 for a match alone."""


@dataclass(frozen=True, slots=True)
class GroupOrder:
    """A deal-set whose packs are to be fixed."""

    group_id: str
    """The deal-set's name, or the id of a match alone."""
    game: Game
    options: Options
    matches: tuple[PlannedMatch, ...]
    """All of them, with the same number of seats."""
    boards: int = 0
    """Boards that may be dealt; 0 is as many as the matches take."""

    @property
    def bots(self) -> tuple[BotId, ...]:
        """Everybody who sits at one of the matches, once."""
        return tuple(dict.fromkeys(bot for match in self.matches for bot in match.bots))

    @property
    def plan(self) -> str:
        """The plan, as replays reveal it."""
        return "\n".join(
            plan_line(
                match.match_id, match.rotation, ((bot.name, bot.instance) for bot in match.bots)
            )
            for match in self.matches
        )

    @property
    def rules_hash(self) -> bytes:
        """Binds the game, the version of its rules and all its options."""
        values = {each.name: getattr(self.options, each.name) for each in self.game.settings}
        return rules_hash(self.game.id, self.game.rules_version, setting_texts(values))

    @property
    def deck(self) -> tuple[str, ...]:
        """The pack before chance has touched it."""
        seats = len(self.matches[0].bots)
        return tuple(str(card) for card in first_pack(self.game.rules, self.options, seats))


@dataclass(frozen=True, slots=True)
class Culprit:
    """What a bot did that made a deal-set void."""

    kind: FaultKind
    reason: str


@dataclass(frozen=True, slots=True)
class FixedDeal:
    """A deal-set whose packs nobody can choose any more."""

    context: bytes
    fair_deal: journal_pb2.FairDeal
    """As the matches' `Opened` holds it."""
    opening: Opening
    """What opens it, with the key of the deals. Secret until it is closed."""
    culprits: Mapping[BotId, Culprit]
    """Bots whose seats are played by fallback from the first card on."""

    @property
    def key(self) -> bytes:
        """The key of the deals. Secret."""
        return self.opening.key

    @property
    def match_ids(self) -> tuple[str, ...]:
        """Its matches, by id."""
        return tuple(line.partition(" ")[0] for line in self.opening.plan.splitlines())

    def forfeited_seats(self, bots: Sequence[BotId]) -> tuple[ForfeitedSeat, ...]:
        """The seats of culprits at a match between `bots`, by seat."""
        return tuple(
            ForfeitedSeat(seat, self.culprits[bot].kind, self.culprits[bot].reason)
            for seat, bot in enumerate(bots)
            if bot in self.culprits
        )


class Deals:
    """All fair deals of an arena."""

    def __init__(
        self,
        log: DealLog,
        server_id: str,
        find: Callable[[BotId], Participant | None],
        *,
        lag: Lag | None = None,
        draw: Callable[[int], bytes] = os.urandom,
        signer: Signer | None = None,
    ) -> None:
        """Begin with the deal-sets that `log` was left with.

        Args:
          log: Keeps the deals.
          server_id: Names the arena, see `arena_id`.
          find: A bot, if the arena has seen it.
          lag: How late the arena itself is.
          draw: Gives as many bytes that nobody can foresee.
          signer: Signs what the bots are shown, if anybody does.
        """
        self._log = log
        self._server_id = server_id
        self._find = find
        self._lag = lag or NeverLate()
        self._draw = draw
        self._signer = signer
        self._groups: dict[bytes, Handshake] = {}
        """Those of this process that are not over, by context."""
        self._over: dict[bytes, None] = {}

    # Deal-sets.

    @property
    def live(self) -> tuple[FixedDeal, ...]:
        """Deal-sets that are fixed and not closed, those of an earlier process too."""
        return tuple(self._fixed(deal) for deal in self._log.live)

    async def fix(self, order: GroupOrder) -> FixedDeal:
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

    async def close(self, context: bytes) -> None:
        """Publish the secrets of a deal-set after its last match; nothing if it is not live.

        Raises:
          Unwritten: if that cannot be kept.
        """
        deal = self._log.book.get(context)
        if deal is not None and deal.state is DealState.FIXED:
            await self._publish(self._log.opened(context))

    async def void(self, context: bytes, reason: str) -> None:
        """Publish that no match was played by a deal-set; nothing if it is not live.

        Raises:
          Unwritten: if that cannot be kept.
        """
        deal = self._log.book.get(context)
        if deal is not None and deal.state is DealState.FIXED:
            await self._publish(self._log.voided(context, reason))

    # Bots.

    def deal_commit(self, bot: BotId, context: bytes, commitment: bytes) -> play_pb2.Refusal | None:
        """Take a bot's commitment; a refusal for it if that is not possible."""
        group = self._groups.get(context)
        if group is None or bot not in group.bots:
            return self._to_nothing(context)
        return group.commit(bot, commitment)

    def deal_reveal(self, bot: BotId, context: bytes, entropy: bytes) -> play_pb2.Refusal | None:
        """Take the opening of a bot's commitment; a refusal for it if that is not possible."""
        group = self._groups.get(context)
        if group is None or bot not in group.bots:
            return self._to_nothing(context)
        return group.reveal(bot, entropy)

    def attached(self, bot: BotId) -> None:
        """A bot has a stream, and was welcomed: repeat what it may have missed."""
        for group in list(self._groups.values()):
            group.attached(bot)

    def detached(self, bot: BotId) -> None:
        """A bot has no stream any more."""
        for group in list(self._groups.values()):
            group.detached(bot)

    # Inside.

    async def _attempt(self, order: GroupOrder) -> FixedDeal | None:
        """One handshake; None if a bot made it void."""
        culprits = self._culprits(order.group_id)
        context, fair_deal = self._drawn(order)
        bell = _Bell()
        group = Handshake(
            context,
            fair_deal,
            self._find,
            now_s=trio.lowlevel.current_clock().current_time,
            lag=self._lag,
            changed=bell.ring,
            signer=self._signer,
        )
        try:
            await self._log.synced()
            self._groups[context] = group
            group.begin(culprits)
            while group.phase is not Phase.SETTLED:
                with trio.move_on_at(group.wake_s):
                    await bell.rung()
                group.check()
            if group.complaint:
                fields = {"deal_set": order.group_id, "why": group.complaint}
                _log.warning("a deal-set is void", extra=fields)
                void = self._log.voided(context, group.complaint, group.commitments, group.told)
                await self._publish(void)
                return None
            deal = self._log.fixed(context, group.commitments, group.told)
            await self._log.synced()
            return self._fixed(deal)
        except BaseException:
            # As when the arena stops. It was committed to, so it must be seen to have ended.
            self._groups.pop(context, None)
            known = self._log.book.get(context)
            if known is not None and known.state in (DealState.DRAWN, DealState.FIXED):
                with contextlib.suppress(Unwritten):
                    self._tell(self._log.voided(context, "the arena gave it up before the deal"))
            raise

    def _drawn(self, order: GroupOrder) -> tuple[bytes, journal_pb2.FairDeal]:
        """Draw everything that the arena adds to a deal-set, and keep it."""
        names = {bot: self._draw(PSEUDONYM_BYTES).hex() for bot in order.bots}
        named = sorted((name, bot.name, bot.instance) for bot, name in names.items())
        plan, salt, secret = order.plan, self._draw(SALT_BYTES), self._draw(ENTROPY_BYTES)
        terms = Terms(
            server_id=self._server_id,
            group_id=order.group_id,
            game=order.game.id,
            rules_hash=order.rules_hash,
            deck=order.deck,
            boards=order.boards,
            plan_hash=plan_hash(plan, salt),
            participants=tuple(name for name, *_ in named),
            log_head=self._log.head,
        )
        context = context_of(terms)
        fair_deal = journal_pb2.FairDeal(
            server_id=terms.server_id,
            group_id=terms.group_id,
            rules_hash=terms.rules_hash,
            deck=terms.deck,
            boards=terms.boards,
            plan_hash=terms.plan_hash,
            participants=[
                journal_pb2.DealParticipant(participant=name, bot=bot, instance=instance)
                for name, bot, instance in named
            ],
            log_head=terms.log_head,
            server_commitment=server_commitment(context, secret),
        )
        self._log.drawn(context, fair_deal, secret, plan, salt)
        return context, fair_deal

    async def _publish(self, deal: BookedDeal) -> None:
        """Tell everybody of a deal-set that is over, once that is on disk."""
        await self._log.synced()
        self._tell(deal)

    def _tell(self, deal: BookedDeal) -> None:
        self._groups.pop(deal.context, None)
        self._over[deal.context] = None
        if len(self._over) > REMEMBERED_DEALS:
            del self._over[next(iter(self._over))]
        participants = deal.fair_deal.participants
        close = play_pb2.DealClose(
            context=deal.context,
            secret=deal.secret,
            entropies=[
                play_pb2.Entropy(participant=each.participant, entropy=entropy)
                for each, entropy in zip(participants, deal.shown_entropies, strict=True)
            ],
            void_reason=deal.void_reason,
        )
        message = play_pb2.ArenaMessage(deal_close=close)
        for each in participants:
            bot = self._find(BotId(each.bot, each.instance))
            if bot is not None and bot.adds_entropy and bot.connected:
                bot.send(message)

    def _fixed(self, deal: BookedDeal) -> FixedDeal:
        culprits = self._culprits(deal.fair_deal.group_id)
        return FixedDeal(deal.context, deal.fair_deal, deal.opening, culprits)

    def _culprits(self, group_id: str) -> dict[BotId, Culprit]:
        """Who made this deal-set void before; also known after a restart."""
        return {
            BotId(each.bot, each.instance): _culprit(each)
            for each in self._log.book.defaulters(group_id)
        }

    def _to_nothing(self, context: bytes) -> play_pb2.Refusal | None:
        if context in self._over:
            return None  # stale: it crossed the news that the deal-set is over
        text = "there is no such deal-set, or it is not this bot's"
        return refusal(play_pb2.RefusalReason.REFUSAL_REASON_UNKNOWN_ASK, text)


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


def _is_of(deal: BookedDeal, order: GroupOrder) -> bool:
    """Whether a deal-set that is fixed is the one that is ordered."""
    fair_deal = deal.fair_deal
    return (
        fair_deal.group_id == order.group_id
        and deal.plan == order.plan
        and fair_deal.rules_hash == order.rules_hash
        and fair_deal.boards == order.boards
    )
