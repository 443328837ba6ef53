"""The handshakes of fair deals with the bots that are connected to this process.

The arena draws and stores the deals (`arena.live.deals.fair`). If a worker plays a deal-set, its bots are connected
to the worker, which runs the handshake.
"""

import contextlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

import trio

from arena.bots.bot_ids import BotId
from arena.live.deals.deal_time import DealTimes
from arena.live.deals.handshake import Handshake, HandshakePhase, complaint_of, refusal
from arena.live.session.session import Session
from arena.records.deal_book import BookedDeal, view_of
from arena.referee.timers import ArenaTime
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
        self, find: Callable[[BotId], Session | None], time: ArenaTime | None = None
    ) -> None:
        """Begin without handshakes.

        Args:
          find: Returns the session of a bot; None before its first hello.
          time: The time of the arena; by default trio's, and the arena is never late.
        """
        self._find = find
        self._time = time or ArenaTime(trio.lowlevel.current_clock().current_time)
        self._times = DealTimes(self._time)
        self._handshakes: defaultdict[BotId, dict[bytes, Handshake]] = defaultdict(dict)
        """Handshakes in progress, by bot and its context."""
        self._over: dict[bytes, BotId] = {}
        """The bots of finished contexts."""

    async def run(
        self, deal: BookedDeal, excluded: Collection[BotId], public_key: bytes, sign: Sign
    ) -> HandshakeAnswers:
        bell = _Bell()
        handshake = Handshake(
            deal,
            self._find,
            now_s=self._time.now_s,
            lag=self._time.lag,
            times=self._times,
            changed=bell.ring,
            public_key=public_key,
        )
        for bot, view in handshake.views.items():
            self._handshakes[bot][view] = handshake
        answers = None
        try:
            handshake.begin(excluded)
            while handshake.phase is not HandshakePhase.SETTLED:
                if handshake.phase is HandshakePhase.SEAL:
                    handshake.sealed(await sign(handshake.commitments))
                    continue
                with trio.move_on_at(handshake.wake_s):
                    await bell.rung()
                handshake.check()
            answers = HandshakeAnswers(handshake.commitments, handshake.entropies)
            return answers
        finally:
            if answers is None or complaint_of(deal, *answers):
                for bot, view in handshake.views.items():
                    self._end(bot, view)

    def tell(self, closes: Iterable[DrawClosing]) -> None:
        for name, close in closes:
            self._end(name, close.context)
            bot = self._find(name)
            if bot is not None and bot.adds_entropy:
                bot.send_until_received(close.context, play_pb2.ArenaMessage(deal_close=close))

    def take(self, bot: BotId, message: play_pb2.BotMessage) -> play_pb2.Refusal | None:
        """Accept a bot's commitment or the opening of one, or return a refusal."""
        commits = message.HasField("deal_commit")
        context = (message.deal_commit if commits else message.deal_reveal).context
        handshake = self._handshakes.get(bot, {}).get(context)
        if handshake is None:
            return self._to_nothing(bot, context)
        if commits:
            return handshake.commit(bot, message.deal_commit.commitment)
        return handshake.reveal(bot, message.deal_reveal.entropy)

    def attached(self, bot: BotId) -> None:
        """Send a bot that was welcomed on a new stream the messages that it may have missed."""
        for handshake in list(self._handshakes.get(bot, {}).values()):
            handshake.attached(bot)

    def _end(self, bot: BotId, view: bytes) -> None:
        """Ignore messages of a bot about a draw from now on: their lateness is not the bot's fault."""
        self._over[view] = bot
        self._handshakes[bot].pop(view, None)
        if not self._handshakes[bot]:
            del self._handshakes[bot]
        while len(self._over) > REMEMBERED_DEALS:
            del self._over[next(iter(self._over))]

    def _to_nothing(self, bot: BotId, context: bytes) -> play_pb2.Refusal | None:
        # Another bot's context is refused like an unknown one: which contexts exist is secret.
        if self._over.get(context) == bot:
            return None  # it was sent before the bot knew that the draw is over
        text = "there is no deal-set of this context, or it is another bot's"
        return refusal(play_pb2.RefusalReason.REFUSAL_REASON_UNKNOWN_DEAL, text)


def closes_of(deal: BookedDeal) -> Iterable[DrawClosing]:
    """Return the opening of a finished draw for each of its bots."""
    participants = deal.fair_deal.participants
    entropies = [
        play_pb2.Entropy(
            participant=participant.participant,
            entropy=entropy,
            commitment=participant.commitment,
            salt=participant.salt,
        )
        for participant, entropy in zip(participants, deal.shown_entropies, strict=True)
    ]
    for participant in participants:
        close = play_pb2.DealClose(
            context=view_of(deal.context, participant),
            secret=deal.secret,
            entropies=entropies,
            void_reason=deal.void_reason,
            deal=deal.context,
        )
        yield DrawClosing(BotId(participant.bot, participant.instance), close)


class _Bell:
    """A signal to a trio task from any code on its thread, such as callbacks of asyncio."""

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
