"""The handshakes of fair deals with the bots that are connected to this process.

The arena draws and keeps the deals (`arena.server.deals.fair`). Where a worker plays a deal-set, its
bots are connected to the worker, and so is the handshake.
"""

import contextlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

import trio

from arena.referee import Lag, NeverLate
from arena.replay.deal_book import BookedDeal, view_of
from arena.server.bots import BotId
from arena.server.deals.deal_time import DealTimes
from arena.server.deals.handshake import Handshake, Participant, Phase, complaint_of, refusal
from cardarena.v1 import play_pb2

REMEMBERED_DEALS: Final = 10_000
"""Contexts that are over and still known: a late message about one is ignored, not refused."""

Sign: TypeAlias = Callable[[Sequence[bytes]], Awaitable[Sequence[bytes]]]
"""Takes the participants' commitments, in their order; returns the arena's signature of what each is shown."""


class HandshakeAnswers(NamedTuple):
    """The commitments and entropies of a draw's participants, in their order."""

    commitments: Sequence[bytes]
    entropies: Sequence[bytes]


class DrawClosing(NamedTuple):
    """How a draw was opened, for one of its bots."""

    bot: BotId
    close: play_pb2.DealClose


class DealBots(Protocol):
    """The bots with which fair deals are agreed, here or at a worker."""

    async def run(
        self, deal: BookedDeal, excluded: Collection[BotId], public_key: bytes, sign: Sign
    ) -> HandshakeAnswers:
        """Run the handshake of a draw; `excluded` bots are not asked.

        `public_key` verifies what `sign` signs; it is empty without a signer.
        """
        ...

    def tell(self, closes: Iterable[DrawClosing]) -> None:
        """Send bots the opening of their draws, without blocking."""
        ...


class Handshakes:
    """Runs the handshakes, and hands bots' messages to them: `DealBots`. Made in trio."""

    def __init__(
        self,
        find: Callable[[BotId], Participant | None],
        *,
        lag: Lag | None = None,
        now_s: Callable[[], float] | None = None,
        owner_of: Callable[[str], str] = lambda bot: bot,
    ) -> None:
        """Begin without any.

        Args:
          find: A bot, if this process has seen it.
          lag: How late this process itself is.
          now_s: Reads the clock, in seconds; without it, trio's.
          owner_of: Names whose a bot is, by its name.
        """
        self._find = find
        self._lag = lag or NeverLate()
        self._now_s = now_s or trio.lowlevel.current_clock().current_time
        self._times = DealTimes(self._now_s, self._lag, owner_of)
        self._handshakes: defaultdict[BotId, dict[bytes, Handshake]] = defaultdict(dict)
        """Open handshakes, by bot and by the context that the bot received."""
        self._over: dict[bytes, BotId] = {}
        """The bot of each context whose handshake is over."""

    async def run(
        self, deal: BookedDeal, excluded: Collection[BotId], public_key: bytes, sign: Sign
    ) -> HandshakeAnswers:
        """As `DealBots.run`."""
        bell = _Bell()
        handshake = Handshake(
            deal,
            self._find,
            now_s=self._now_s,
            lag=self._lag,
            times=self._times,
            changed=bell.ring,
            public_key=public_key,
        )
        for bot, view in handshake.views.items():
            self._handshakes[bot][view] = handshake
        answers = None
        try:
            handshake.begin(excluded)
            while handshake.phase is not Phase.SETTLED:
                if handshake.phase is Phase.SEAL:
                    handshake.sealed(await sign(handshake.commitments))
                    continue
                with trio.move_on_at(handshake.wake_s):
                    await bell.rung()
                handshake.check()
            answers = HandshakeAnswers(handshake.commitments, handshake.told)
            return answers
        finally:
            if answers is None or complaint_of(deal, *answers):
                for bot, view in handshake.views.items():
                    self._end(bot, view)

    def tell(self, closes: Iterable[DrawClosing]) -> None:
        """As `DealBots.tell`."""
        for name, close in closes:
            self._end(name, close.context)
            bot = self._find(name)
            if bot is not None and bot.adds_entropy:
                bot.send_until_received(close.context, play_pb2.ArenaMessage(deal_close=close))

    # What bots say.

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

    def _concerning(self, bot: BotId) -> list[Handshake]:
        return list(self._handshakes.get(bot, {}).values())

    def _handshake(self, bot: BotId, context: bytes) -> Handshake | None:
        return self._handshakes.get(bot, {}).get(context)

    def _end(self, bot: BotId, view: bytes) -> None:
        """What a bot says about a draw from now on comes too late, and is no mistake of its own."""
        self._over[view] = bot
        if self._handshake(bot, view) is not None:
            del self._handshakes[bot][view]
            if not self._handshakes[bot]:
                del self._handshakes[bot]
        while len(self._over) > REMEMBERED_DEALS:
            del self._over[next(iter(self._over))]

    def _to_nothing(self, bot: BotId, context: bytes) -> play_pb2.Refusal | None:
        # Another bot's context is refused like an unknown one: which contexts exist is secret.
        if self._over.get(context) == bot:
            return None  # stale: it crossed the news that the draw is over
        text = "there is none of this context, or it is another bot's"
        return refusal(play_pb2.RefusalReason.REFUSAL_REASON_UNKNOWN_DEAL, text)


def closes_of(deal: BookedDeal) -> Iterable[DrawClosing]:
    """For each bot of a draw that is over, how it was opened."""
    participants = deal.fair_deal.participants
    entropies = [
        play_pb2.Entropy(
            participant=each.participant,
            entropy=entropy,
            commitment=each.commitment,
            salt=each.salt,
        )
        for each, entropy in zip(participants, deal.shown_entropies, strict=True)
    ]
    for each in participants:
        close = play_pb2.DealClose(
            context=view_of(deal.context, each),
            secret=deal.secret,
            entropies=entropies,
            void_reason=deal.void_reason,
            deal=deal.context,
        )
        yield DrawClosing(BotId(each.bot, each.instance), close)


class _Bell:
    """Wakes a task of trio from anywhere on its thread, callbacks of other loops included."""

    def __init__(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._event = trio.Event()

    def ring(self) -> None:
        """Wake the task, now or when it waits."""
        with contextlib.suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._event.set, idempotent=True)

    async def rung(self) -> None:
        """Wait until it has rung since the last time."""
        await self._event.wait()
        self._event = trio.Event()
