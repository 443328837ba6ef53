"""Asks of a match in this process. Their messages are made when a bot reads them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.message_factory import GetMessageClass

from cardarena._ask import Ask, Told
from cardarena.v1.game_pb2 import Fault
from cardarena.v1.play_pb2 import Answer, ArenaMessage, Clock, MatchStart, PlayedFor
from cardarena.v1.play_pb2 import Ask as AskMessage

if TYPE_CHECKING:
    from arena.games.contract import Moves
    from arena.terms import MatchTerms

DECISION_BITS: Final = 20
"""The number of a match in the number of an ask, which also has the seat's decision, as at an arena."""


@dataclass(slots=True)
class News:
    """News for a seat, as values of the rules."""

    events: list[Any] = field(default_factory=list)
    faults: list[tuple[Fault, int]] = field(default_factory=list)
    """Fallback moves, each with the number of `events` before it."""

    def add(self, later: "News") -> None:
        """Add later news."""
        shift = len(self.events)
        self.events += later.events
        self.faults += [(fault, at + shift) for fault, at in later.faults]


class Form:
    """Converts the rules' values of a game to messages."""

    def __init__(self, terms: "MatchTerms") -> None:
        from arena.games.notation import Notation
        from arena.referee.clock import SeatClock
        from arena.referee.seat import Answer as Said
        from arena.referee.seat import RejectedAnswer, chosen_move
        from arena.wire.games import codec_of

        game = terms.game
        self.rules = game.rules
        self.family = game.family
        self.codec = codec_of(game)
        self.move_notation = Notation(game.messages.Move)
        self.event_notation = Notation(game.messages.Event)
        self.wrong = RejectedAnswer
        self._said = Said
        self._chosen_move = chosen_move
        self.clock_ms = SeatClock(terms.time_control).times_ms()
        body = AskMessage.DESCRIPTOR.fields_by_name[game.family].message_type
        self.body: Any = GetMessageClass(body)
        self.view: Any = GetMessageClass(body.fields_by_name["view"].message_type)

    def judged(self, allowed: "Moves", answer: Answer) -> Any:
        """Return the move of an answer in the rules' class, or what is wrong with it."""
        if answer.HasField("index"):
            said = self._said(index=answer.index)
        else:
            move = answer.move if answer.HasField("move") else None
            said = self._said(move=move, failed=answer.failed)
        return self._chosen_move(allowed, said, self.codec, self.move_notation)

    def moves(self, offered: Sequence[Any]) -> list[Any]:
        """Return moves as messages."""
        return list(self.body.FromString(self.codec.listed(offered)).moves)

    def events(self, events: Sequence[Any]) -> list[Any]:
        """Return events as messages."""
        return list(self.body.FromString(b"".join(map(self.codec.event, events))).events)

    def event_texts(self, events: Sequence[Any]) -> list[str]:
        """Return events in notation."""
        return [self.event_notation.write(event) for event in events]

    def played_for(self, faults: Sequence[tuple[Fault, int]], seat: int) -> list[PlayedFor]:
        """Return faults as a seat receives them."""
        from arena.wire import fields

        encoded = (fields.played_for(fault, at, own=fault.seat == seat) for fault, at in faults)
        return list(AskMessage.FromString(b"".join(encoded)).played_for)


_FORMS: dict[tuple[str, Any], Form] = {}


def form_of(terms: "MatchTerms") -> Form:
    """Return the form of a match's asks, which matches with the same game and clock share."""
    key = terms.game.id, terms.time_control
    if key not in _FORMS:
        _FORMS[key] = Form(terms)
    return _FORMS[key]


class LocalAsk(Ask[Any, Any, Any]):
    """One decision of one seat, equal to the ask of a stream.

    Fields that the bot does not read are never made.
    """

    _events: list[Any] | None
    _view: Any

    __slots__ = (
        "_clock_ms",
        "_decision",
        "_earlier",
        "_events",
        "_form",
        "_news",
        "_state",
        "_view",
        "allowed",
    )

    allowed: "Moves"
    """The legal moves, as values of the rules."""

    def __init__(
        self,
        form: Form,
        start: MatchStart,
        decision: int,
        state: Any,
        allowed: "Moves",
        news: News,
        earlier: News | None,
        clock_ms: tuple[int, int, int],
    ) -> None:
        """Ask for the seat's `decision`, counted from 1, in a state of the rules.

        Args:
          form: The form of the match's asks.
          start: The message with which the match began for the seat.
          decision: The number of the seat's decision.
          state: The state of the rules.
          allowed: The legal moves.
          news: What happened since the seat's last decision.
          earlier: News of earlier decisions that were made without the bot.
          clock_ms: Milliseconds for the move, in the bank, and added for each answer in time.
        """
        self.match = start.match
        self.ask_id = self.match << DECISION_BITS | decision
        self._decision = decision
        self.family = form.family
        self.start = start
        self.open = True
        self.shown = True
        self.allowed = allowed
        self._form = form
        self._state = state
        self._news = news
        self._earlier = earlier
        self._clock_ms = clock_ms
        self._moves = None
        self._random = None
        self._view = None
        self._events = None
        self._now_s = time.monotonic
        self._received_s = time.monotonic()

    def __getattr__(self, name: str) -> Any:
        """Makes a field of an ask when it is first read."""
        if name == "message":
            self.message = self._made()
        elif name == "_body":
            self._body = getattr(self.message, self.family)
        elif name == "_before":
            self._before = self._told_before()
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self, name)

    def judged(self, answer: Answer) -> Any:
        """Return the move of an answer in the rules' class.

        Raises:
          ValueError: if it is illegal; the text says why.
        """
        found = self._form.judged(self.allowed, answer)
        if isinstance(found, self._form.wrong):
            raise ValueError(found.reason)  # noqa: TRY004
        return found

    @property
    def seat(self) -> int:
        return self.start.seat

    @property
    def decision(self) -> int:
        return self._decision

    @property
    def view(self) -> Any:
        if self._view is None:
            view = self._form.rules.view(self._state, self.start.seat)  # type: ignore[arg-type]
            self._view = self._form.view.FromString(self._form.codec.view(view))
        return self._view

    @property
    def moves(self) -> Sequence[Any]:
        if self._moves is None:
            self._moves = self._form.moves(self.allowed.offered)
        return self._moves

    @property
    def moves_complete(self) -> bool:
        return self.allowed.complete

    @property
    def forced(self) -> bool:
        return self.allowed.complete and len(self.allowed.offered) == 1

    @property
    def events(self) -> Sequence[Any]:
        if self._events is None:
            before = self._earlier.events if self._earlier else []
            self._events = self._form.events([*before, *self._news.events])
        return self._events

    @property
    def clock(self) -> Clock:
        move_ms, bank_ms, increment_ms = self._clock_ms
        return Clock(move_ms=move_ms, bank_ms=bank_ms, increment_ms=increment_ms)

    def _made(self) -> AskMessage:
        from arena.games.contract import Seat
        from arena.wire import fields

        form, seat, news = self._form, Seat(self.start.seat), self._news
        events = [form.codec.event(event) for event in news.events]
        parts = [
            fields.seat_field(seat),
            *(fields.played_for(fault, at, own=fault.seat == seat) for fault, at in news.faults),
            form.codec.ask(form.rules.view(self._state, seat), events, self.allowed),
        ]
        number = fields.match_field(self.match)
        element = fields.ask_element(
            self.ask_id, self._decision, number, *self._clock_ms, 0, b"".join(parts)
        )
        return ArenaMessage.FromString(fields.asks_frame([element])).asks.asks[0]

    def _told_before(self) -> Told | None:
        earlier, form = self._earlier, self._form
        if earlier is None:
            return None
        played_for = form.played_for(earlier.faults, self.start.seat)
        return Told(form.events(earlier.events), [], played_for)


class TextAsk(LocalAsk):
    """As `LocalAsk`, with moves and events in notation."""

    __slots__ = ()

    def _made(self) -> AskMessage:
        message = super()._made()
        form = self._form
        message.move_texts.extend(map(form.move_notation.write, self.allowed.offered))
        message.event_texts.extend(form.event_texts(self._news.events))
        return message

    def _told_before(self) -> Told | None:
        told = super()._told_before()
        if told is not None and self._earlier is not None:
            told.event_texts = self._form.event_texts(self._earlier.events)
        return told
