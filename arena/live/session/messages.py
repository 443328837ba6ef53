"""The messages of a bot's stream: those that the bot sends, and the queue of those that its writer sends.

In the queue, a run of asks becomes one frame.

The writers of all streams are woken together, once the host loop has nothing more to read. gRPC delivers messages in
every second turn of the loop. A writer that sent at once would send small frames, and small frames cause further small
frames: few asks get few answers. So writers wait while messages arrive, and their frames share one write of the
journal.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from google.protobuf.message import DecodeError

from arena.bots.bot_ids import BotId
from arena.errors import refusal
from arena.errors.refused import Refused
from arena.games.contract import MAX_OFFERED
from arena.live.metrics import Counts
from arena.live.session.asks import AskEntry, AskSender, Seating, decision_of
from arena.live.session.limits import (
    FREE_MESSAGES,
    FREE_MESSAGES_PER_S,
    MAX_MATCH_NOTE_BYTES,
    MAX_NOTE_CHARS,
    MAX_OPEN_ASKS,
    MAX_STRIKES,
)
from arena.live.session.seats import SeatTable
from arena.live.session.stream import MAX_FRAME_BYTES, CurrentStream, Postbox
from arena.referee.seat import Answer, OpenAsk
from arena.referee.wire.fields import asks_frame
from arena.token_bucket import TokenBucket
from cardarena.v1 import play_pb2

DealTalk: TypeAlias = Callable[[BotId, play_pb2.BotMessage], play_pb2.Refusal | None]
"""Takes a bot's message about deals; returns a refusal, or None."""

LAG_S: Final = 0.001
"""The time in seconds from its time stamp to the transport after which an ask is stamped again."""
MAX_QUEUED_BYTES: Final = 8 << 20
"""The number of bytes that may wait for one bot; its stream is closed if more wait."""
MAX_WAITING_BYTES: Final = 512 << 20
"""The number of bytes that wait for all bots together above which streams with more than `SHARE_BYTES` are closed."""
SHARE_BYTES: Final = 1 << 20
"""The number of bytes that may wait for one bot even then."""
QUIET_TURNS: Final = 3
"""The number of turns of the loop in a row without a message after which writers are woken."""
MOST_TURNS: Final = 24
"""The maximal number of turns of the loop that a writer waits."""

_Reason = play_pb2.RefusalReason

_CONTEXT_BYTES: Final = 32
"""The number of bytes of a deal's context that a refusal repeats; a longer context is shortened."""

_PLAIN_ANSWERS: Final = tuple(Answer(index=index) for index in range(MAX_OFFERED))


class IncomingMessages:
    """The messages that one bot sends, over all its streams."""

    def __init__(
        self,
        bot: BotId,
        stream: CurrentStream,
        asks: AskSender,
        seats: SeatTable,
        now_s: Callable[[], float],
        *,
        on_ready: Callable[[int], None],
        on_refusal: Callable[[int], None],
        on_deal: "DealTalk | None" = None,
    ) -> None:
        """Take messages of a bot.

        Args:
          stream: The stream to which replies are sent.
          on_ready: Called with the number of matches that the bot declares itself ready for.
          on_refusal: Called with the reason of each refusal.
          on_deal: Takes messages about deals; without it, all of them are refused.
        """
        self._bot = bot
        self._stream = stream
        self._asks = asks
        self._table = asks.table
        self._seats = seats
        self._on_ready = on_ready
        self._on_refusal = on_refusal
        self._on_deal = on_deal
        self._bucket = TokenBucket(FREE_MESSAGES, FREE_MESSAGES_PER_S, now_s)
        self._strikes = 0
        """Refused messages of this stream."""
        self._owed_on_deals = 0
        """Messages about deals that the bot was asked for and has not sent."""

    def begin_stream(self) -> None:
        """Begin a new stream, which has no strikes."""
        self._strikes = 0

    @property
    def owes_on_deals(self) -> bool:
        """Whether the bot was asked for a message about a deal, and has not sent it."""
        return self._owed_on_deals > 0

    def expect_deal_message(self) -> None:
        self._owed_on_deals += 1

    def deliver(self, outbox: Postbox, data: bytes, received_s: float) -> None:
        """Take a message of a stream; `received_s` is the time at which its bytes arrived."""
        if outbox is not self._stream.outbox:
            return
        try:
            message = play_pb2.BotMessage.FromString(data)
        except DecodeError:
            self._malformed("", received_s, data)
            self._count_extra()
            return
        kind = message.WhichOneof("body")
        if kind == "answers":
            if self._take_answers(outbox, message.answers.answers, received_s, data):
                return
        elif kind == "ready":
            self._on_ready(message.ready.max_matches)
        elif kind == "hello":
            self._refuse(0, _Reason.REFUSAL_REASON_OUT_OF_ORDER, "a second hello")
        elif kind in ("deal_commit", "deal_reveal"):
            self._about_deals(message)
            if self._owed_on_deals > 0:
                self._owed_on_deals -= 1
                return
        else:
            self._unknown(data, received_s)
        self._count_extra()

    # Answers.

    def _take_answers(
        self, outbox: Postbox, given: Sequence[play_pb2.Answer], received_s: float, data: bytes
    ) -> bool:
        """Take the answers of one message; return false if none of them belongs to an open ask."""
        owed, invented = False, 0
        for answer in given if len(given) <= MAX_OPEN_ASKS else self._first_of(given):
            entry = self._table.take_open(answer.ask_id)
            if entry is not None:
                self._answer(entry, answer, received_s, data)
                owed = True
            elif self._is_invented(answer):
                invented += 1
            if outbox.closed:
                break  # the bot would not receive further replies
        if self._table.any_waiting:
            self._asks.fill_slots()
        # In a message without an answer to an open ask, the first counts with the message itself.
        for _ in range(invented if owed else invented - 1):
            if outbox.closed:
                break
            self._count_extra()
        return owed

    def _first_of(self, answers: Sequence[play_pb2.Answer]) -> Sequence[play_pb2.Answer]:
        """Return as many answers as asks can be open; the rest is refused without being read."""
        text = f"a message holds at most {MAX_OPEN_ASKS} answers, one for each open ask"
        self._refuse(0, _Reason.REFUSAL_REASON_MALFORMED, text)
        return answers[:MAX_OPEN_ASKS]

    def _answer(
        self, entry: AskEntry, answer: play_pb2.Answer, received_s: float, data: bytes
    ) -> None:
        number = entry.number
        kind = answer.WhichOneof("choice")
        seating, ask = entry.asked
        self._asks.answered(entry, ask, received_s)
        if self._seats.ends.messages:
            self._seats.ends.answered(number)
        if self._seats.closes.messages:
            self._seats.closes.answered(number)
        note = answer.note
        if len(note) > MAX_NOTE_CHARS:
            text = f"the limit is {MAX_NOTE_CHARS} characters"
            self._refuse(number, _Reason.REFUSAL_REASON_NOTE_TOO_LONG, text)
            note = ""
        if note and not self._takes_note(seating, note):
            note = ""
        index = answer.index
        if kind == "index":
            known = not note and index < len(_PLAIN_ANSWERS)
            plain = _PLAIN_ANSWERS[index] if known else Answer(index=index, note=note)
            ask.answered(plain, received_s, data)
        elif kind == "move":
            ask.answered(Answer(move=answer.move, note=note), received_s, data)
        else:
            ask.answered(Answer(note=note, failed=kind == "failed"), received_s, data)
        entry.answered(ask.said, seating.codec)

    def _takes_note(self, seating: Seating, note: str) -> bool:
        """Return whether a note fits into the limit of its match; the first that does not fit is refused."""
        if seating.takes_note(note):
            return True
        if seating.refuses_notes():
            text = f"the limit of a match is {MAX_MATCH_NOTE_BYTES} bytes"
            self._refuse(0, _Reason.REFUSAL_REASON_NOTE_TOO_LONG, text, strike=False)
        return False

    def _is_invented(self, answer: play_pb2.Answer) -> bool:
        """Refuse an answer to an ask that is not open, unless it is stale or repeated.

        Returns whether its ask may never have been made.
        """
        number = answer.ask_id
        match, decision = decision_of(number)
        seating = self._seats.get(match)
        asked = match <= self._seats.numbered
        if seating is not None:
            # After a restart it is unknown which asks were made until the match is replayed.
            asked = decision <= seating.asked or seating.is_replayed
        if match == 0 or decision == 0 or not asked:
            text = f"ask {number}"
            self._refuse(number, _Reason.REFUSAL_REASON_UNKNOWN_ASK, text)
            return False
        if self._table.contradicts(answer):
            text = f"ask {number}"
            self._refuse(number, _Reason.REFUSAL_REASON_ALREADY_ANSWERED, text)
            return False
        # Any other answer is stale or repeated, and needs no reply.
        return not self._table.knows(number) and (seating is None or not seating.is_replayed)

    # Everything else.

    def _about_deals(self, message: play_pb2.BotMessage) -> None:
        deal = message.deal_commit if message.HasField("deal_commit") else message.deal_reveal
        context = deal.context[:_CONTEXT_BYTES]
        if self._on_deal is None:
            text = "no deal-set is waiting for entropy"
            reason = _Reason.REFUSAL_REASON_NOT_OFFERED
            self._refuse(0, reason, text, strike=False, deal_context=context)
        elif refused := self._on_deal(self._bot, message):
            # A message that the bot was asked for may arrive too late, which does not count as a strike.
            strike = self._owed_on_deals <= 0
            self._refuse(0, refused.reason, refused.text, strike=strike, deal_context=context)

    def _unknown(self, data: bytes, received_s: float) -> None:
        """Refuse an empty message, or one whose body this arena does not know."""
        if not data:
            self._malformed("it is empty", received_s, data)
            return
        # The client may be newer than this arena, so this does not count as a strike.
        text = "it does not know such a message"
        self._refuse(0, _Reason.REFUSAL_REASON_NOT_OFFERED, text, strike=False)

    def _malformed(self, text: str, received_s: float, data: bytes) -> None:
        """Refuse a message that cannot be read. If one ask is open, the message counts as its answer."""
        entry = self._table.only_open()
        if entry is not None:
            ask = entry.asked[1]
            self._table.settle(entry)
            ask.answered(Answer(), received_s, data)
        self._refuse(0, _Reason.REFUSAL_REASON_MALFORMED, text)

    def _count_extra(self) -> None:
        """Count a message that answers no open ask; the stream is closed if there are too many."""
        if not self._bucket.take():
            detail = f"over {FREE_MESSAGES_PER_S:g} a second"
            self._stream.close(Refused("TOO_MANY_MESSAGES", detail))

    def _refuse(
        self,
        number: int,
        reason: play_pb2.RefusalReason.ValueType,
        detail: str,
        *,
        strike: bool = True,
        deal_context: bytes = b"",
    ) -> None:
        text = refusal(_Reason.Name(reason).removeprefix("REFUSAL_REASON_")).message(detail)
        refused = play_pb2.Refusal(
            ask_id=number, reason=reason, text=text, deal_context=deal_context
        )
        self._stream.send(play_pb2.ArenaMessage(refusal=refused))
        self._on_refusal(reason)
        self._strikes += strike
        if self._strikes > MAX_STRIKES:
            self._stream.close(Refused("TOO_MANY_REFUSALS"))


class Pump:
    """Wakes the writers of all streams of an arena. Used on the thread of the host loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, counts: Counts) -> None:
        """`counts.messages` counts the messages that arrive."""
        self._loop = loop
        self._counts = counts
        self._waiters: list[asyncio.Future[None]] = []
        self._seen = 0
        """Messages that had arrived at the last turn."""
        self._quiet = 0
        self._turns = 0

    def wake(self, waiter: asyncio.Future[None]) -> None:
        """Set the future of a writer that has frames to send, together with the others."""
        self._waiters.append(waiter)
        if len(self._waiters) == 1:
            self._seen, self._quiet, self._turns = self._counts.messages, 0, 0
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        self._turns += 1
        messages = self._counts.messages
        if messages == self._seen:
            self._quiet += 1
        else:
            self._seen, self._quiet = messages, 0
        if self._quiet < QUIET_TURNS and self._turns < MOST_TURNS:
            self._loop.call_soon(self._turn)
            return
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


class Outbox:
    """The queue between a session and the writer of its stream.

    Used on the thread of the host loop. After `close` it queues nothing more, and the writer ends once it has sent
    everything that was queued before.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        now_s: Callable[[], float],
        counts: Counts | None = None,
        pump: Pump | None = None,
    ) -> None:
        """Begin with an empty queue. `pump` wakes the writer, together with those of other streams."""
        self._counts = counts or Counts()
        self._pump = pump or Pump(loop, self._counts)
        self._loop = loop
        self._now_s = now_s
        self._frames: list[bytes] = []
        self._asks: list[bytes] = []
        self._asks_bytes = 0
        self._unstamped: list[OpenAsk] = []
        self._queued_bytes = 0
        self._handed: list[bytes] = []
        self._handed_bytes = 0
        """Bytes that the writer has taken and is sending."""
        self.dropped = False
        self._waiter: asyncio.Future[None] | None = None
        self._writer_was_free = True
        self.closed = False
        self.closing: asyncio.Future[None] = loop.create_future()
        """Done once the outbox is closed."""
        self.verdict: Refused | None = None
        """Why the stream was closed, if not in order."""
        self.received_s = 0.0
        """When the answer arrived that the first ask of the last `next` follows; 0 if it follows no
        answer, or if the bot kept the transport busy."""
        self._received_s = 0.0

    def post(self, frame: bytes) -> None:
        if not self.closed:
            self._seal_asks()
            self._frames.append(frame)
            self._count(len(frame))

    def post_ask(self, element: bytes, ask: OpenAsk) -> None:
        """Queue an ask; `OpenAsk.sent` is called again when the writer takes it."""
        if not self.closed:
            if self._asks_bytes + len(element) > MAX_FRAME_BYTES:
                self._seal_asks()
            if not self._unstamped:
                self._received_s = self._counts.received_s
            self._asks.append(element)
            self._unstamped.append(ask)
            self._asks_bytes += len(element)
            self._count(len(element))

    @property
    def queued(self) -> tuple[int, int]:
        """Frames and bytes that wait to be sent; asks that will share a frame count as one."""
        frames = len(self._handed) + len(self._frames) + bool(self._asks)
        return frames, self._handed_bytes + self._queued_bytes

    def close(self, verdict: Refused | None = None) -> None:
        if not self.closed:
            self.closed = True
            self.verdict = verdict
            if not self.closing.done():
                self.closing.set_result(None)
            self._wake()

    def drop(self) -> None:
        """Close the queue, and send only what the transport already has."""
        self.close()
        self.dropped = True
        self._counts.waits(-self._handed_bytes - self._queued_bytes)
        self._handed_bytes = self._queued_bytes = 0
        self._handed.clear()  # the writer iterates over this list
        self._frames.clear()
        self._asks.clear()
        self._unstamped.clear()

    async def next(self) -> list[bytes]:
        """Wait for frames and return them; empty when the outbox is closed and drained."""
        if self._handed_bytes:
            self._counts.waits(-self._handed_bytes)
        self._handed, self._handed_bytes = [], 0
        while not (self._frames or self._asks or self.closed):
            self._writer_was_free = True
            self._waiter = self._loop.create_future()
            await self._waiter
        self._seal_asks()
        frames, self._frames = self._frames, []
        self._handed, self._handed_bytes = frames, self._queued_bytes
        self._queued_bytes = 0
        self.received_s = 0.0
        if self._writer_was_free and self._unstamped:
            self.received_s = self._received_s
            # The arena itself took this long, so the clocks start now. While the bot delays the transport, its own
            # clock runs.
            now_s = self._now_s()
            if now_s - self._unstamped[0].sent_s > LAG_S:
                for ask in self._unstamped:
                    ask.sent(now_s)
        self._unstamped.clear()
        self._writer_was_free = False
        return frames

    def _seal_asks(self) -> None:
        if self._asks:
            self._frames.append(asks_frame(self._asks))
            self._asks = []
            self._asks_bytes = 0

    def _count(self, size: int) -> None:
        self._queued_bytes += size
        of_all = self._counts.waits(size)
        waiting = self._queued_bytes + self._handed_bytes
        if waiting > SHARE_BYTES and (waiting > MAX_QUEUED_BYTES or of_all > MAX_WAITING_BYTES):
            self.close(Refused("NOT_READING"))
        elif self._waiter is not None:
            self._wake()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None:
            self._pump.wake(waiter)
