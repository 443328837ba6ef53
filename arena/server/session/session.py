"""One bot's session: its seats at matches and its asks, over all of its streams.

A session outlives its streams. While no stream is attached the clocks run on;
a bot that comes back is told its matches and open asks in `welcome`. After a
restart of the arena a session is *held*: its bot is expected back, and asks
wait for it until it comes or is given up (`release`).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from arena.games.contract import MAX_OFFERED
from arena.referee import Answer, FaultKind, MatchSpec, OpenAsk, Said
from arena.referee.clock import GRACE_S
from arena.referee.place import MAX_MOVE_BYTES
from arena.replay.journal.match_log import note_bytes
from arena.server.bots import BotId, Support
from arena.server.gate.limits import LOCAL, OWN_HELLOS, OWN_HELLOS_PER_S
from arena.server.refusals import Refused
from arena.server.session.asks import AskEntry, AskTable
from arena.server.session.games import admitted
from arena.server.session.outbox import MAX_FRAME_BYTES, Postbox
from arena.server.session.seating import Seating, decision_of
from arena.server.session.seats import SeatTable
from arena.server.session.unheard import Unheard
from arena.token_bucket import TokenBucket
from arena.wire import asks
from arena.wire.codec import Codec
from cardarena.v1 import play_pb2

MAX_MESSAGE_BYTES: Final = 65_536
MAX_NOTE_CHARS: Final = 200
MAX_MATCH_NOTE_BYTES: Final = 1 << 18
"""What the notes of one seat at a match may take."""
MAX_MATCHES: Final = 512
MAX_OPEN_ASKS: Final = 512
MAX_STRIKES: Final = 10
"""Messages that could not be taken before a stream is closed."""
FREE_MESSAGES: Final = 40
"""Messages that a bot may send in one go besides the answers it owes."""
FREE_MESSAGES_PER_S: Final = 20.0
"""How quickly it may send more of them."""
MIN_PING_INTERVAL_MS: Final = 10_000
"""HTTP/2 pings of a client that come more often end its connection."""
MAX_SENT_BYTES: Final = 2 << 20
"""A welcome may list 512 matches, and the end of a match all that a seat was not told."""
REMEMBERED_CLOSES: Final = 64
"""Deal-sets of which a bot is told again how they were opened."""
CONTRACT: Final = 1
"""The version of the contract of `play.proto`."""

_Reason = play_pb2.RefusalReason

_CONTEXT_BYTES: Final = 32
"""Of a longer one, what a refusal says again."""
_LIMITS: Final = play_pb2.Limits(
    max_message_bytes=MAX_MESSAGE_BYTES,
    max_note_chars=MAX_NOTE_CHARS,
    max_answers=MAX_OPEN_ASKS,
    free_messages=FREE_MESSAGES,
    free_messages_per_s=round(FREE_MESSAGES_PER_S),
    max_refusals=MAX_STRIKES,
    min_ping_interval_ms=MIN_PING_INTERVAL_MS,
    max_sent_bytes=MAX_SENT_BYTES,
    grace_ms=round(GRACE_S * 1000),
    max_match_note_bytes=MAX_MATCH_NOTE_BYTES,
    max_match_move_bytes=MAX_MOVE_BYTES,
)
"""What every bot is held to."""

_CAPABILITIES: Final = frozenset(play_pb2.Capability.values()) - {
    play_pb2.Capability.CAPABILITY_UNSPECIFIED
}

_PLAIN_ANSWERS: Final = tuple(Answer(index=index) for index in range(MAX_OFFERED))


DealTalk: TypeAlias = Callable[[BotId, play_pb2.BotMessage], play_pb2.Refusal | None]
"""Takes what a bot says about deals, and may refuse it."""


class Session:
    """A bot, as the arena knows it from its first hello on."""

    def __init__(
        self,
        bot: BotId,
        now_s: Callable[[], float],
        *,
        on_deal: "DealTalk | None" = None,
        on_refusal: Callable[[int], None] = lambda _: None,
        epoch: int = 0,
        matches: int = 0,
    ) -> None:
        """A session that begins, or goes on after `epoch` streams and `matches` matches.

        `on_deal` takes what the bot says about deals, and may refuse it; `on_refusal` is
        told the reason of whatever could not be taken.
        """
        self.bot = bot
        self.epoch = epoch
        self.games: Mapping[str, Support] = {}
        """Of those that it declared, the games that it may be seated at."""
        self.version = ""
        """Which version of itself it said last that it is."""
        self.max_matches = 0
        self.came_ready = 0
        """Times that it said hello, or that it is ready."""
        self.max_open_asks = 1
        self.wants_text = False
        self.adds_entropy = False
        self.address = LOCAL
        """Where its newest stream comes from, as limits count addresses."""
        self._gone = False
        self._reserved = 0
        """Matches that are about to begin."""
        self._held = False
        self._now_s = now_s
        self._on_deal = on_deal
        self._on_refusal = on_refusal
        self._bucket = TokenBucket(FREE_MESSAGES, FREE_MESSAGES_PER_S, now_s)
        self.hellos = TokenBucket(OWN_HELLOS, OWN_HELLOS_PER_S, now_s)
        """How often the bot may still say hello."""
        self._outbox: Postbox | None = None
        self._seats = SeatTable()
        self._asks = AskTable()
        self._matches = matches
        self._closes: Unheard[bytes] = Unheard(REMEMBERED_CLOSES)
        """How deal-sets were opened, by context."""
        self._owed_on_deals = 0
        """What the bot was asked about deals and may answer."""
        self._last_round_trip_ms = 0
        self._strikes = 0
        self._invented = 0
        """Answers of the message in hand to decisions that the bot is not known to have been asked for."""

    # Streams.

    @property
    def connected(self) -> bool:
        """Whether a stream is attached."""
        return self._outbox is not None

    @property
    def present(self) -> bool:
        """Whether a stream is attached, and not by a process that has ended since."""
        return self.connected and not self._gone

    @property
    def invited(self) -> bool:
        """Whether a match can be made with it by hand: it is there, and the bot's first process."""
        return self.connected and self.bot.instance == 0

    @property
    def gone(self) -> bool:
        """Whether it has left for good: it is asked no more in the matches it sits at."""
        return self._gone

    @property
    def held(self) -> bool:
        """Whether it is expected back after a restart of the arena: asks wait for it."""
        return self._held

    @property
    def matches(self) -> int:
        """Matches that the bot sits at, or is about to."""
        return self._seats.playing + self._reserved

    @property
    def queued(self) -> tuple[int, int]:
        """Frames and bytes that wait to be sent."""
        return (0, 0) if self._outbox is None else self._outbox.queued

    @property
    def numbered(self) -> int:
        """The highest number of a match so far."""
        return self._matches

    def attach(self, hello: play_pb2.Hello, outbox: Postbox, address: str = LOCAL) -> None:
        """A stream from an address said hello; it takes the place of any older one."""
        if self._outbox is not None:
            text = "another stream took over with the same token"
            self._outbox.close(Refused(grpc.StatusCode.ABORTED, "TAKEN_OVER", text))
        self._outbox = outbox
        self.address = address
        self.epoch += 1
        self.came_ready += 1
        self._gone = False
        self.games, admissions = admitted(hello.games)
        self.version = hello.version
        self.max_matches = min(hello.max_matches or 1, MAX_MATCHES)
        self.max_open_asks = min(hello.max_open_asks or 1, MAX_OPEN_ASKS)
        self.wants_text = hello.want_text
        self.adds_entropy = hello.adds_entropy
        self._strikes = 0
        now_s = self._now_s()
        if self._held:
            self._held = False
            self._fill_slots(listed_s=now_s)
        greeting = play_pb2.Welcome(
            epoch=self.epoch,
            contract=CONTRACT,
            capabilities=[each for each in hello.capabilities if each in _CAPABILITIES],
            games=admissions,
        )
        for frame in self._resume(greeting, now_s):
            outbox.post(frame)
        self._fill_slots()
        for seating in self._seats:
            seating.attend(here=True)

    def detach(self, outbox: Postbox) -> None:
        """A stream ended. If it was the newest, the bot is away until it comes back."""
        if self._outbox is outbox:
            self._outbox = None
            for seating in self._seats:
                seating.attend(here=False)

    def release(self) -> None:
        """Expect the bot back no longer: its clocks run from now on."""
        if self._held:
            self._held = False
            self._fill_slots()
            for seating in self._seats:
                seating.attend(here=self.connected)

    def expect_back(self) -> None:
        """The arena was restarted: unless the bot is there, asks wait until it comes."""
        self._held = self._held or not self.connected

    def never_came(self) -> None:
        """The bot is not there and nobody waits for it: its seats are played by fallback."""
        self._gone = True

    def reserve(self) -> None:
        """A match of the bot's is about to begin, which counts from now on."""
        self._reserved += 1

    def unreserve(self) -> None:
        """The match has begun, or will not."""
        self._reserved -= 1

    def leave(self) -> None:
        """The bot will not come back, as when its process has ended."""
        self._gone = True
        for seating in list(self._seats):
            seating.left()

    def close(self, verdict: Refused | None = None) -> None:
        """Close the stream, in order unless there is a verdict."""
        if self._outbox is not None:
            self._outbox.close(verdict)

    def send(self, message: play_pb2.ArenaMessage) -> None:
        """Tell the bot something, if it is there."""
        if self._outbox is not None:
            self._outbox.post(message.SerializeToString())
            if message.WhichOneof("body") in ("deal_open", "deal_transcript"):
                self._owed_on_deals += 1

    def send_until_heard(self, context: bytes, message: play_pb2.ArenaMessage) -> None:
        """Tell the bot how a deal-set was opened, on later streams again unless it has heard."""
        frame = message.SerializeToString()
        if self._outbox is not None:
            self._outbox.post(frame)
        self._closes.tell(context, frame, frozenset(self._asks.open_ids))

    # Matches.

    def plays(self, game_id: str, rules_version: int, seats: int) -> bool:
        """Whether the bot declared this game, rules version and number of seats."""
        support = self.games.get(game_id)
        return (
            support is not None
            and support.rules_version in (0, rules_version)
            and (not support.seats or seats in support.seats)
        )

    def seat_at(
        self, spec: MatchSpec, seat: int, names: tuple[str, ...], number: int = 0
    ) -> Seating:
        """Seat the bot at a match and tell it so.

        `number` is that of a match which goes on; 0 takes the next one.
        """
        goes_on, number = number != 0, number or self._matches + 1
        self._matches = max(self._matches, number)
        seating = Seating(self, number, spec, seat, names)
        seating.is_replayed = goes_on
        self._seats.add(seating)
        self.send(play_pb2.ArenaMessage(match_start=seating.match_start))
        return seating

    def ended_before(self, spec: MatchSpec, seat: int, number: int, end: play_pb2.MatchEnd) -> None:
        """A match ended before the arena was restarted, and the bot may not have heard of it."""
        names = tuple(entrant.name for entrant in spec.entrants)
        self._matches = max(self._matches, number)
        self._seats.add(Seating(self, number, spec, seat, names))
        frame = play_pb2.ArenaMessage(match_end=end).SerializeToString()
        self._seats.ended(number, frame, frozenset())

    def unseat(self, seating: Seating, end: play_pb2.MatchEnd) -> None:
        """The match is over: tell the bot, on its next stream again unless it has heard."""
        frame = play_pb2.ArenaMessage(match_end=end).SerializeToString()
        if self._outbox is not None:
            self._outbox.post(frame)
        self._seats.ended(seating.number, frame, frozenset(self._asks.open_ids))

    # Asks.

    def ask(self, seating: Seating, ask: OpenAsk) -> None:
        """Ask as soon as the bot has a free slot."""
        entry = self._asks.add(seating, ask)
        # Never ahead of a waiting ask: else a match that asks again at once would keep the slot.
        if not self._asks.any_waiting and self._has_slot:
            self._send_ask(entry)
        else:
            self._asks.wait(entry)

    def withdraw(self, ask: OpenAsk, fault: FaultKind | None, reason: str) -> None:
        """An ask is settled without the bot's answer, or by a wrong one."""
        self._asks.withdraw(ask)
        if ask.sent_s >= 0:
            closed = play_pb2.AskClosed(
                ask_id=ask.number,
                fault=fault or 0,  # type: ignore[arg-type]
                reason=reason,
            )
            self.send(play_pb2.ArenaMessage(ask_closed=closed))
            self._fill_slots()

    @property
    def _has_slot(self) -> bool:
        return not self._held and len(self._asks.open_ids) < self.max_open_asks

    def _send_ask(self, entry: AskEntry) -> None:
        seating, ask = entry.asked
        self._asks.sent(entry)
        if self._outbox is not None:
            self._outbox.post_ask(self._element(seating, ask), ask)
        ask.sent(self._now_s())

    def _element(self, seating: Seating, ask: OpenAsk, used_s: float = 0.0) -> bytes:
        move_ms, bank_ms, increment_ms = ask.clock_ms(used_s)
        return asks.ask_element(
            ask.number,
            ask.decision,
            seating.match_field,
            move_ms,
            bank_ms,
            increment_ms,
            self._last_round_trip_ms,
            ask.body + ask.texts() if self.wants_text else ask.body,
        )

    def _fill_slots(self, *, listed_s: float | None = None) -> None:
        """Open asks that wait, as many as there are slots.

        With `listed_s` they are not sent: `welcome` will list them at that time.
        """
        while self._has_slot and (entry := self._asks.next_waiting()) is not None:
            if listed_s is None:
                self._send_ask(entry)
            else:
                self._asks.sent(entry)
                entry.asked[1].sent(listed_s)

    def answered_before(self, number: int, said: Said | None, codec: Codec) -> None:
        """An ask was answered before the arena was restarted; the answer may be said again."""
        self._asks.remember(number, said, codec)

    # What the bot says.

    def deliver(self, outbox: Postbox, data: bytes, received_s: float) -> None:
        """Take a message from a stream, `received_s` being when its bytes came."""
        if outbox is not self._outbox:
            return
        try:
            message = play_pb2.BotMessage.FromString(data)
        except DecodeError:
            self._garbage("the message could not be read", received_s, data)
            self._count_extra()
            return
        kind = message.WhichOneof("body")
        if kind == "answers":
            if self._take_answers(outbox, message.answers.answers, received_s, data):
                return
        elif kind == "ready":
            self.max_matches = min(message.ready.max_matches, MAX_MATCHES)
            self.came_ready += 1
        elif kind == "hello":
            self._refuse(0, _Reason.REFUSAL_REASON_OUT_OF_ORDER, "hello was said before")
        elif kind in ("deal_commit", "deal_reveal"):
            self._about_deals(message)
            if self._owed_on_deals > 0:
                self._owed_on_deals -= 1
                return
        else:
            self._unknown(data, received_s)
        self._count_extra()

    def _take_answers(
        self, outbox: Postbox, given: Sequence[play_pb2.Answer], received_s: float, data: bytes
    ) -> bool:
        """Take the answers of one message; false if no open ask wanted any of them."""
        owed, self._invented = False, 0
        for answer in given if len(given) <= MAX_OPEN_ASKS else self._first_of(given):
            owed = self._answer(answer, received_s, data) or owed
            if outbox.closed:
                break  # replies to the rest would reach nobody
        if self._asks.any_waiting:
            self._fill_slots()
        # The first of a message that nothing was owed for counts as the message does.
        for _ in range(self._invented if owed else self._invented - 1):
            if outbox.closed:
                break
            self._count_extra()
        return owed

    def _unknown(self, data: bytes, received_s: float) -> None:
        """A message without a body that this arena knows."""
        if not data:
            self._garbage("the message is empty", received_s, data)
            return
        # Whoever wrote the client knows more than this arena: no fault of the bot.
        text = "the arena does not know such a message"
        self._refuse(0, _Reason.REFUSAL_REASON_NOT_OFFERED, text, strike=False)

    def _first_of(self, answers: Sequence[play_pb2.Answer]) -> Sequence[play_pb2.Answer]:
        """As many answers as asks can be open; the rest is refused unread."""
        text = f"a message holds at most {MAX_OPEN_ASKS} answers, one for each open ask"
        self._refuse(0, _Reason.REFUSAL_REASON_MALFORMED, text)
        return answers[:MAX_OPEN_ASKS]

    def _about_deals(self, message: play_pb2.BotMessage) -> None:
        deal = message.deal_commit if message.HasField("deal_commit") else message.deal_reveal
        context = deal.context[:_CONTEXT_BYTES]
        if self._on_deal is None:
            text = "no deal-set is waiting for entropy"
            reason = _Reason.REFUSAL_REASON_NOT_OFFERED
            self._refuse(0, reason, text, strike=False, deal_context=context)
        elif refusal := self._on_deal(self.bot, message):
            # A message that the bot was asked for may come too late, which is no misbehaviour.
            strike = self._owed_on_deals <= 0
            self._refuse(0, refusal.reason, refusal.text, strike=strike, deal_context=context)

    def _count_extra(self) -> None:
        """Count a message that no ask called for: a few are allowed, a flood is not."""
        if not self._bucket.take():
            text = f"over {FREE_MESSAGES_PER_S:g} messages a second that answer no open ask"
            self.close(Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_MESSAGES", text))

    def _answer(self, answer: play_pb2.Answer, received_s: float, data: bytes) -> bool:
        """Take an answer; false if no open ask wanted it."""
        number = answer.ask_id
        entry = self._asks.take_open(number)
        kind = answer.WhichOneof("choice")
        if entry is None:
            self._answer_to_nothing(answer)
            return False
        seating, ask = entry.asked
        self._asks.settle(entry)
        if self._seats.any_ended:
            self._seats.answered(number)
        if self._closes:
            self._closes.answered(number)
        self._last_round_trip_ms = max(0, math.ceil((received_s - ask.sent_s) * 1000))
        note = answer.note
        if len(note) > MAX_NOTE_CHARS:
            text = f"a note has at most {MAX_NOTE_CHARS} characters; the answer was taken"
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
            ask.answered(Answer(note=note), received_s, data)
        entry.said, entry.codec = ask.said, seating.codec
        return True

    def _takes_note(self, seating: Seating, note: str) -> bool:
        """Whether there is room for a note at its match; the bot is told once that there is not."""
        taken = seating.note_bytes + note_bytes(note)
        if taken <= MAX_MATCH_NOTE_BYTES:
            seating.note_bytes = taken
            return True
        if not seating.notes_refused:
            seating.notes_refused = True
            text = (
                f"the notes of a match take at most {MAX_MATCH_NOTE_BYTES} bytes; answers are taken"
            )
            self._refuse(0, _Reason.REFUSAL_REASON_NOTE_TOO_LONG, text, strike=False)
        return False

    def _answer_to_nothing(self, answer: play_pb2.Answer) -> None:
        number = answer.ask_id
        match, decision = decision_of(number)
        seating = self._seats.get(match)
        asked = match <= self._matches
        if seating is not None:
            # What was asked before a restart is known once it was played again.
            asked = decision <= seating.asked or seating.is_replayed
        if match == 0 or decision == 0 or not asked:
            text = f"there is no ask {number}"
            self._refuse(number, _Reason.REFUSAL_REASON_UNKNOWN_ASK, text)
            return
        if self._asks.contradicts(answer):
            text = f"ask {number} has another answer already, which stands"
            self._refuse(number, _Reason.REFUSAL_REASON_ALREADY_ANSWERED, text)
        elif not self._asks.knows(number) and (seating is None or not seating.is_replayed):
            self._invented += 1
        # Any other answer is stale or repeated, and needs no reply.

    def _garbage(self, text: str, received_s: float, data: bytes) -> None:
        """Something unreadable came. With one ask open, it must have been the answer."""
        entry = self._asks.only_open()
        if entry is not None:
            _, ask = entry.asked
            self._asks.settle(entry)
            ask.answered(Answer(), received_s, data)
        self._refuse(0, _Reason.REFUSAL_REASON_MALFORMED, text)

    def _refuse(
        self,
        number: int,
        reason: play_pb2.RefusalReason.ValueType,
        text: str,
        *,
        strike: bool = True,
        deal_context: bytes = b"",
    ) -> None:
        refusal = play_pb2.Refusal(
            ask_id=number, reason=reason, text=text, deal_context=deal_context
        )
        self.send(play_pb2.ArenaMessage(refusal=refusal))
        self._on_refusal(reason)
        self._strikes += strike
        if self._strikes > MAX_STRIKES:
            code = grpc.StatusCode.RESOURCE_EXHAUSTED
            self.close(Refused(code, "TOO_MANY_REFUSALS", "too much could not be taken"))

    def _resume(self, welcome: play_pb2.Welcome, now_s: float) -> list[bytes]:
        """The welcome, with what is open; asks that do not fit into it follow, and ends."""
        open_ids = frozenset(self._asks.open_ids)
        ends = self._seats.tell_ends_again(open_ids)
        closes = self._closes.again(open_ids) if self.adds_entropy else ()
        limits = welcome.limits
        limits.CopyFrom(_LIMITS)
        limits.max_matches, limits.max_open_asks = self.max_matches, self.max_open_asks
        welcome.matches.extend(seating.match_start for seating in self._seats)
        welcome.matches.extend(seating.match_start for seating, _ in ends)
        waiting = [entry.number for entry in self._asks.waiting]
        listed: list[bytes] = []
        later: list[bytes] = []
        room = MAX_FRAME_BYTES - welcome.ByteSize()
        for entry in self._asks.open:
            seating, ask = entry.asked
            element = self._element(seating, ask, now_s - ask.sent_s)
            if len(element) <= room and not later:
                # Asks are encoded already; as `Welcome.open_asks` they have another tag.
                listed.append(asks.as_open_ask(element))
                room -= len(element)
            else:
                welcome.later_asks.append(entry.number)
                later.append(asks.asks_frame([element]))
        welcome.later_asks.extend(waiting)
        frame = asks.welcome_frame(welcome.SerializeToString() + b"".join(listed))
        return [frame, *later, *(end for _, end in ends), *(close for _, close in closes)]


def seat_all(
    spec: MatchSpec, sessions: Sequence[Session], numbers: Sequence[int] = ()
) -> list[Seating]:
    """Seat bots at a match, by seat; `numbers` are the match's on their streams if it goes on."""
    names = tuple(entrant.name for entrant in spec.entrants)
    numbered = zip(sessions, numbers or [0] * spec.terms.seats, strict=True)
    return [
        session.seat_at(spec, seat, names, number)
        for seat, (session, number) in enumerate(numbered)
    ]
