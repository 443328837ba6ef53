"""One bot's session: its seats at matches and its asks, over all of its streams.

A session outlives its streams. While no stream is attached the clocks run on;
a bot that comes back is told its matches and open asks in `welcome`.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import grpc
from google.protobuf.message import DecodeError

from arena.games.contract import MAX_OFFERED
from arena.referee import Answer, FaultKind, MatchSpec, OpenAsk, Outcome
from arena.server.outbox import MAX_FRAME_BYTES, Outbox
from arena.server.refusals import Refused
from arena.wire import asks
from arena.wire.settings import settings_of_options
from cardarena.v1 import game_pb2, play_pb2

MAX_MESSAGE_BYTES: Final = 65_536
MAX_NOTE_CHARS: Final = 200
MAX_MATCHES: Final = 512
MAX_OPEN_ASKS: Final = 512
MAX_STRIKES: Final = 10
"""Messages that could not be taken before a stream is closed."""
REMEMBERED_ASKS: Final = 1024
"""Settled asks that are remembered, to tell a repeated answer from another one."""

_Reason = play_pb2.RefusalReason

_PLAIN_ANSWERS: Final = tuple(Answer(index=index) for index in range(MAX_OFFERED))


@dataclass(frozen=True, slots=True)
class BotId:
    """Which process of which bot: tournaments run a bot as several instances."""

    name: str
    instance: int = 0


@dataclass(frozen=True, slots=True)
class Support:
    """What a bot declared for one game."""

    rules_version: int
    """0 is any."""
    seats: frozenset[int]
    """Empty is any."""


class Session:
    """A bot, as the arena knows it from its first hello on."""

    def __init__(self, bot: BotId, now_s: Callable[[], float]) -> None:
        self.bot = bot
        self.epoch = 0
        self.games: dict[str, Support] = {}
        self.max_matches = 0
        self.max_open_asks = 1
        self.wants_text = False
        self.gone = False
        """Left for good; it is asked no more in the matches it sits at."""
        self._now_s = now_s
        self._outbox: Outbox | None = None
        self._seatings: dict[int, Seating] = {}
        self._open: dict[int, tuple[Seating, OpenAsk]] = {}
        self._waiting: deque[tuple[Seating, OpenAsk]] = deque()
        self._settled: dict[int, object] = {}
        self._next_ask = 1
        self._next_match = 1
        self._last_round_trip_ms = 0
        self._strikes = 0

    # Streams.

    @property
    def connected(self) -> bool:
        """Whether a stream is attached."""
        return self._outbox is not None

    @property
    def matches(self) -> int:
        """Matches that the bot sits at."""
        return len(self._seatings)

    def attach(self, hello: play_pb2.Hello, outbox: Outbox) -> None:
        """A stream said hello; it takes the place of any older one."""
        if self._outbox is not None:
            text = "another stream took over with the same token"
            self._outbox.close(Refused(grpc.StatusCode.ABORTED, "TAKEN_OVER", text))
        self._outbox = outbox
        self.epoch += 1
        self.gone = False
        self.games = {
            each.game: Support(each.rules_version, frozenset(each.seats)) for each in hello.games
        }
        self.max_matches = min(hello.max_matches or 1, MAX_MATCHES)
        self.max_open_asks = min(hello.max_open_asks or 1, MAX_OPEN_ASKS)
        self.wants_text = hello.want_text
        self._strikes = 0
        outbox.gathers = self.max_open_asks > 1
        for frame in self._resume():
            outbox.post(frame)
        self._fill_slots()

    def detach(self, outbox: Outbox) -> None:
        """A stream ended. If it was the newest, the bot is away until it comes back."""
        if self._outbox is outbox:
            self._outbox = None

    def leave(self) -> None:
        """The bot will not come back, as when its process has ended."""
        self.gone = True
        for seating in list(self._seatings.values()):
            seating.left()

    def close(self, verdict: Refused | None = None) -> None:
        """Close the stream, in order unless there is a verdict."""
        if self._outbox is not None:
            self._outbox.close(verdict)

    def send(self, message: play_pb2.ArenaMessage) -> None:
        """Tell the bot something, if it is there."""
        if self._outbox is not None:
            self._outbox.post(message.SerializeToString())

    # Matches.

    def plays(self, game_id: str, rules_version: int, seats: int) -> bool:
        """Whether the bot declared this game, rules version and number of seats."""
        support = self.games.get(game_id)
        return (
            support is not None
            and support.rules_version in (0, rules_version)
            and (not support.seats or seats in support.seats)
        )

    def seat_at(self, spec: MatchSpec, seat: int, names: tuple[str, ...]) -> "Seating":
        """Seat the bot at a match and tell it so."""
        seating = Seating(self, self._next_match, spec, seat, names)
        self._next_match += 1
        self._seatings[seating.number] = seating
        self.send(play_pb2.ArenaMessage(match_start=seating.match_start))
        return seating

    def unseat(self, seating: "Seating") -> None:
        """The match is over for the bot."""
        self._seatings.pop(seating.number, None)

    # Asks.

    def ask(self, seating: "Seating", ask: OpenAsk) -> None:
        """Ask as soon as the bot has a free slot."""
        # Never ahead of one that waits: a match that moves on at once would keep its slot.
        if not self._waiting and len(self._open) < self.max_open_asks:
            self._send_ask(seating, ask)
        else:
            self._waiting.append((seating, ask))

    def withdraw(self, ask: OpenAsk, fault: FaultKind | None, reason: str) -> None:
        """An ask is settled without the bot's answer, or by a wrong one."""
        if ask.number:
            if self._open.pop(ask.number, None) is not None:
                self._remember(ask.number, None)
            closed = play_pb2.AskClosed(
                ask_id=ask.number,
                fault=fault or 0,  # type: ignore[arg-type]
                reason=reason,
            )
            self.send(play_pb2.ArenaMessage(ask_closed=closed))
            self._fill_slots()

    def _send_ask(self, seating: "Seating", ask: OpenAsk) -> None:
        ask.number = number = self._next_ask
        self._next_ask = number + 1
        self._open[number] = (seating, ask)
        if self._outbox is not None:
            self._outbox.post_ask(self._element(seating, ask), ask)
        ask.sent(self._now_s())

    def _element(self, seating: "Seating", ask: OpenAsk, used_s: float = 0.0) -> bytes:
        move_ms, bank_ms, increment_ms = ask.clock_ms(used_s)
        return asks.ask_element(
            ask.number,
            seating.match_field,
            move_ms,
            bank_ms,
            increment_ms,
            self._last_round_trip_ms,
            ask.body,
        )

    def _fill_slots(self) -> None:
        while self._waiting and len(self._open) < self.max_open_asks:
            seating, ask = self._waiting.popleft()
            if not ask.settled:
                self._send_ask(seating, ask)

    def _remember(self, number: int, choice: object) -> None:
        self._settled[number] = choice
        self._settled.pop(number - REMEMBERED_ASKS, None)

    # What the bot says.

    def deliver(self, outbox: Outbox, data: bytes, received_s: float) -> None:
        """Take a message from a stream, `received_s` being when its bytes came."""
        if outbox is not self._outbox:
            return
        try:
            message = play_pb2.BotMessage.FromString(data)
        except DecodeError:
            self._garbage("the message could not be read", received_s)
            return
        kind = message.WhichOneof("body")
        if kind == "answers":
            for answer in message.answers.answers:
                self._answer(answer, received_s)
            if self._waiting:
                self._fill_slots()
        elif kind == "ready":
            self.max_matches = min(message.ready.max_matches, MAX_MATCHES)
        elif kind == "hello":
            self._refuse(0, _Reason.REFUSAL_REASON_OUT_OF_ORDER, "hello was said before")
        elif kind in ("deal_commit", "deal_reveal"):
            text = "no deal-set is waiting for entropy"
            self._refuse(0, _Reason.REFUSAL_REASON_NOT_OFFERED, text)
        else:
            self._garbage("the message is empty", received_s)

    def _answer(self, answer: play_pb2.Answer, received_s: float) -> None:
        number = answer.ask_id
        found = self._open.pop(number, None)
        kind = answer.WhichOneof("choice")
        index = answer.index
        choice: object = index if kind == "index" else None
        if kind == "move":
            choice = answer.move.SerializeToString(deterministic=True)
        if found is None:
            self._answer_to_nothing(number, choice)
            return
        _, ask = found
        self._remember(number, choice)
        self._last_round_trip_ms = max(0, math.ceil((received_s - ask.sent_s) * 1000))
        note = answer.note
        if len(note) > MAX_NOTE_CHARS:
            text = f"a note has at most {MAX_NOTE_CHARS} characters; the answer was taken"
            self._refuse(number, _Reason.REFUSAL_REASON_NOTE_TOO_LONG, text)
            note = ""
        if kind == "index":
            known = not note and index < len(_PLAIN_ANSWERS)
            plain = _PLAIN_ANSWERS[index] if known else Answer(index=index, note=note)
            ask.answered(plain, received_s)
        elif kind == "move":
            ask.answered(Answer(move=answer.move, note=note), received_s)
        else:
            ask.answered(Answer(note=note), received_s)

    def _answer_to_nothing(self, number: int, choice: object) -> None:
        if number == 0 or number >= self._next_ask:
            text = f"there is no ask {number}"
            self._refuse(number, _Reason.REFUSAL_REASON_UNKNOWN_ASK, text)
            return
        known = self._settled.get(number)
        if known is not None and choice != known:
            text = f"ask {number} has another answer already, which stands"
            self._refuse(number, _Reason.REFUSAL_REASON_ALREADY_ANSWERED, text)
        # Anything else is stale or said twice: nothing to add.

    def _garbage(self, text: str, received_s: float) -> None:
        """Something unreadable came. With one ask open, it must have been the answer."""
        if len(self._open) == 1:
            ((number, (_, ask)),) = self._open.items()
            del self._open[number]
            self._remember(number, None)
            ask.answered(Answer(), received_s)
        self._refuse(0, _Reason.REFUSAL_REASON_MALFORMED, text)

    def _refuse(self, number: int, reason: play_pb2.RefusalReason.ValueType, text: str) -> None:
        refusal = play_pb2.Refusal(ask_id=number, reason=reason, text=text)
        self.send(play_pb2.ArenaMessage(refusal=refusal))
        self._strikes += 1
        if self._strikes > MAX_STRIKES:
            code = grpc.StatusCode.RESOURCE_EXHAUSTED
            self.close(Refused(code, "TOO_MANY_REFUSALS", "too much could not be taken"))

    def _resume(self) -> list[bytes]:
        """The welcome, with what is open; what does not fit into it follows as new asks."""
        welcome = play_pb2.Welcome(
            epoch=self.epoch,
            limits=play_pb2.Limits(
                max_matches=self.max_matches,
                max_open_asks=self.max_open_asks,
                max_message_bytes=MAX_MESSAGE_BYTES,
                max_note_chars=MAX_NOTE_CHARS,
            ),
            matches=[seating.match_start for seating in self._seatings.values()],
        )
        now_s = self._now_s()
        listed = [welcome.SerializeToString()]
        room = MAX_FRAME_BYTES - len(listed[0])
        later = []
        for number, (seating, ask) in list(self._open.items()):
            element = self._element(seating, ask, now_s - ask.sent_s)
            if len(element) <= room:
                # Asks are encoded already; as `Welcome.open_asks` they have another tag.
                listed.append(asks.as_open_ask(element))
                room -= len(element)
                continue
            # An ask that is not listed is settled: the decision is asked again under
            # another number. Its clock runs on.
            del self._open[number]
            self._remember(number, None)
            ask.number = self._next_ask
            self._next_ask += 1
            self._open[ask.number] = (seating, ask)
            later.append(asks.asks_frame([self._element(seating, ask, now_s - ask.sent_s)]))
        return [asks.welcome_frame(b"".join(listed)), *later]


class Seating:
    """A bot's seat at one match: `arena.referee.SeatPort`."""

    def __init__(
        self, session: Session, number: int, spec: MatchSpec, seat: int, names: tuple[str, ...]
    ) -> None:
        control = spec.time_control
        self.number = number
        self.match_field = asks.match_field(number)
        self.match_start = play_pb2.MatchStart(
            match=number,
            game=spec.game.id,
            rules_version=spec.game.rules_version,
            options=settings_of_options(spec.game, spec.options),
            time_control=game_pb2.TimeControl(
                move_ms=control.move_ms,
                bank_ms=control.bank_ms,
                increment_ms=control.increment_ms,
                hand_ms=control.hand_ms,
                match_ms=control.match_ms,
            ),
            seat=seat,
            players=[play_pb2.Player(seat=at, name=name) for at, name in enumerate(names)],
        )
        self._session = session
        self._seat = seat
        self._ask: OpenAsk | None = None

    @property
    def gone(self) -> bool:
        return self._session.gone

    @property
    def connected(self) -> bool:
        return self._session.connected

    @property
    def wants_text(self) -> bool:
        return self._session.wants_text

    def ask(self, ask: OpenAsk) -> None:
        self._ask = ask
        self._session.ask(self, ask)

    def close(self, ask: OpenAsk, fault: FaultKind | None, reason: str) -> None:
        self._session.withdraw(ask, fault, reason)

    def end(self, outcome: Outcome, trailing_events: tuple[bytes, ...]) -> None:
        end = play_pb2.MatchEnd(
            match=self.number,
            trailing_events=[game_pb2.GameEvent.FromString(event) for event in trailing_events],
            scores=outcome.scores,
            places=outcome.places,
            ending=outcome.ending.value,  # type: ignore[arg-type]
            faults=[
                game_pb2.Fault(
                    seat=fault.seat,
                    kind=fault.kind.value,  # type: ignore[arg-type]
                    decision=fault.decision,
                    reason=fault.reason if fault.seat == self._seat else "",
                )
                for fault in outcome.faults
            ],
            replay_id=outcome.match_id,
        )
        self._session.send(play_pb2.ArenaMessage(match_end=end))
        self._session.unseat(self)

    def left(self) -> None:
        """Settle what the bot still owes, now that it will not answer."""
        if self._ask is not None and not self._ask.settled:
            self._ask.abandoned()
