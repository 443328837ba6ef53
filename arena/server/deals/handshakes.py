"""The handshakes of fair deals with the bots that are connected to this process.

The arena draws and stores the deals (`arena.server.deals.fair`). If a worker plays a deal-set, its bots are connected
to the worker, which runs the handshake.
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
"""Number of finished contexts that are remembered: a late message about one is ignored, not refused."""

Sign: TypeAlias = Callable[[Sequence[bytes]], Awaitable[Sequence[bytes]]]
"""Takes the commitments of the participants in their order; returns the signature of each transcript."""


class HandshakeAnswers(NamedTuple):
    """The commitments and entropies of the participants of a draw, in their order."""

    commitments: Sequence[bytes]
    entropies: Sequence[bytes]


class DrawClosing(NamedTuple):
    """The opening of a draw for one of its bots."""

    bot: BotId
    close: play_pb2.DealClose


class DealBots(Protocol):
    """The bots of fair deals, connected to this process or to a worker."""

    async def run(
        self, deal: BookedDeal, excluded: Collection[BotId], public_key: bytes, sign: Sign
    ) -> HandshakeAnswers:
        """Run the handshake of a draw; `excluded` bots are not asked.

        `public_key` verifies the signatures of `sign`; it is empty without a signer.
        """
        ...

    def tell(self, closes: Iterable[DrawClosing]) -> None:
        """Send bots the openings of their draws. Does not block."""
        ...


class Handshakes:
    """Runs handshakes, and passes messages of bots to them; implements `DealBots`. Created in trio."""

    def __init__(
        self,
        find: Callable[[BotId], Participant | None],
        *,
        lag: Lag | None = None,
        now_s: Callable[[], float] | None = None,
        owner_of: Callable[[str], str] = lambda bot: bot,
    ) -> None:
        """Begin without handshakes.

        Args:
          find: Returns a bot that this process has seen, or None.
          lag: How late this process itself is.
          now_s: Reads the clock, in seconds; trio's clock by default.
          owner_of: Returns the owner of a bot by its name.
        """
        self._find = find
        self._lag = lag or NeverLate()
        self._now_s = now_s or trio.lowlevel.current_clock().current_time
        self._times = DealTimes(self._now_s, self._lag, owner_of)
        self._handshakes: defaultdict[BotId, dict[bytes, Handshake]] = defaultdict(dict)
        """Handshakes in progress, by bot and its context."""
        self._over: dict[bytes, BotId] = {}
        """The bots of finished contexts."""

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

    def deal_commit(self, bot: BotId, context: bytes, commitment: bytes) -> play_pb2.Refusal | None:
        """Accept a bot's commitment, or return a refusal."""
        handshake = self._handshake(bot, context)
        if handshake is None:
            return self._to_nothing(bot, context)
        return handshake.commit(bot, commitment)

    def deal_reveal(self, bot: BotId, context: bytes, entropy: bytes) -> play_pb2.Refusal | None:
        """Accept the opening of a bot's commitment, or return a refusal."""
        handshake = self._handshake(bot, context)
        if handshake is None:
            return self._to_nothing(bot, context)
        return handshake.reveal(bot, entropy)

    def attached(self, bot: BotId) -> None:
        """Repeat to a bot that was welcomed on a new stream what it may have missed."""
        for handshake in self._concerning(bot):
            handshake.attached(bot)

    def _concerning(self, bot: BotId) -> list[Handshake]:
        return list(self._handshakes.get(bot, {}).values())

    def _handshake(self, bot: BotId, context: bytes) -> Handshake | None:
        return self._handshakes.get(bot, {}).get(context)

    def _end(self, bot: BotId, view: bytes) -> None:
        """Ignore messages of a bot about a draw from now on: they are late through no fault of the bot."""
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
            return None  # it was sent before the bot knew that the draw is over
        text = "there is none of this context, or it is another bot's"
        return refusal(play_pb2.RefusalReason.REFUSAL_REASON_UNKNOWN_DEAL, text)


def closes_of(deal: BookedDeal) -> Iterable[DrawClosing]:
    """Return the opening of a finished draw for each of its bots."""
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
    """Wakes a trio task from any code on its thread, such as callbacks of asyncio."""

    def __init__(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._event = trio.Event()

    def ring(self) -> None:
        """Wake the task, or let its next wait return at once."""
        with contextlib.suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._event.set, idempotent=True)

    async def rung(self) -> None:
        """Wait until `ring` was called since the last wait."""
        await self._event.wait()
        self._event = trio.Event()
