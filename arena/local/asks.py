"""Asks of a match in this process. Their messages are made when a bot reads them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Final

from google.protobuf.message_factory import GetMessageClass

from arena.games.catalogue import game_by_id
from arena.games.contract import Event, Move, Moves, Seat, State
from arena.games.game import Game
from arena.games.notation import Notation
from arena.referee.clock import SeatClock
from arena.referee.seat import Answer as RefereeAnswer
from arena.referee.seat import RejectedAnswer, chosen_move
from arena.referee.terms import MatchTerms, TimeControl
from arena.referee.wire import fields
from arena.referee.wire.games import codec_of
from cardarena._ask import Ask, Told
from cardarena.v1.game_pb2 import Fault
from cardarena.v1.play_pb2 import Answer, ArenaMessage, Clock, MatchStart
from cardarena.v1.play_pb2 import Ask as AskMessage

DECISION_BITS: Final = 20
"""The number of a match in the number of an ask, which also has the seat's decision, as at an arena."""


@dataclass(slots=True)
class News:
    """News for a seat, as values of the rules."""

    events: list[Event] = field(default_factory=list)
    faults: list[tuple[Fault, int]] = field(default_factory=list)
    """Fallback moves, each with the number of `events` before it."""

    def add(self, later: "News") -> None:
        shift = len(self.events)
        self.events += later.events
        self.faults += [(fault, at + shift) for fault, at in later.faults]


class Form:
    """Converts the rules' values of a game to messages."""

    def __init__(self, game: Game, time_control: TimeControl) -> None:
        self.rules = game.rules
        self.family = game.family
        self.codec = codec_of(game)
        self.move_notation = Notation(game.messages.Move)
        self.event_notation = Notation(game.messages.Event)
        self.clock_ms = SeatClock(time_control).times_ms()
        body = AskMessage.DESCRIPTOR.fields_by_name[game.family].message_type
        self.body: Any = GetMessageClass(body)
        self.view: Any = GetMessageClass(body.fields_by_name["view"].message_type)

    def judged(self, allowed: Moves, answer: Answer) -> Move | RejectedAnswer:
        """Return the move of an answer in the rules' class, or what is wrong with it."""
        if answer.HasField("index"):
            given = RefereeAnswer(index=answer.index)
        else:
            move = answer.move if answer.HasField("move") else None
            given = RefereeAnswer(move=move, failed=answer.failed)
        return chosen_move(allowed, given, self.codec, self.move_notation)

    def moves(self, offered: Sequence[Move]) -> list[Any]:
        return list(self.body.FromString(self.codec.listed(offered)).moves)

    def events(self, events: Sequence[Event]) -> list[Any]:
        return list(self.body.FromString(b"".join(map(self.codec.event, events))).events)

    def texts(self, events: Sequence[Event]) -> list[str]:
        return [self.event_notation.write(event) for event in events]

    def told(self, news: News, seat: int, *, with_texts: bool) -> Told:
        encoded = [
            fields.played_for(fault, at, own=fault.seat == seat) for fault, at in news.faults
        ]
        played_for = AskMessage.FromString(b"".join(encoded)).played_for
        texts = self.texts(news.events) if with_texts else []
        return Told(self.events(news.events), texts, list(played_for))


@cache
def _form(game_id: str, time_control: TimeControl) -> Form:
    return Form(game_by_id(game_id), time_control)


def form_of(terms: MatchTerms) -> Form:
    """Return the form of a match's asks, which matches with the same game and clock share."""
    return _form(terms.game.id, terms.time_control)


class LocalAsk(Ask[Any, Any, Any]):
    """One decision of one seat, equal to the ask of a stream.

    Fields that the bot does not read are never made.
    """

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

    with_texts: ClassVar[bool] = False
    allowed: Moves
    """The legal moves, as values of the rules."""

    def __init__(
        self,
        form: Form,
        start: MatchStart,
        decision: int,
        state: State,
        allowed: Moves,
        news: News,
        earlier: News | None,
        clock_ms: tuple[int, int, int],
    ) -> None:
        """Ask for a decision of the seat, counted from 1, in a state with these legal moves.

        `news` has the events since the seat's last decision; `earlier` has the news of earlier decisions, which were
        made without the bot. `clock_ms` has the time for the move, in the bank, and added for an answer in time.
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
        self._view: Any = None
        self._events: list[Any] | None = None
        self._now_s = time.monotonic
        self._received_s = time.monotonic()

    def __getattr__(self, name: str) -> Any:
        """Make a field of an ask when it is first read."""
        if name == "message":
            self.message = self._made()
        elif name == "_body":
            self._body = getattr(self.message, self.family)
        elif name == "_before":
            self._before = None
            if self._earlier is not None:
                told_of, seat = self._form.told, self.start.seat
                self._before = told_of(self._earlier, seat, with_texts=self.with_texts)
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self, name)

    def close(self) -> None:
        self.open = False

    def judged(self, answer: Answer) -> Move:
        """Return the move of an answer in the rules' class.

        Raises `ValueError` if it is illegal; the text says why.
        """
        move = self._form.judged(self.allowed, answer)
        if isinstance(move, RejectedAnswer):
            raise ValueError(move.reason)  # noqa: TRY004
        return move

    @property
    def seat(self) -> int:
        return self.start.seat

    @property
    def decision(self) -> int:
        return self._decision

    @property
    def view(self) -> Any:
        if self._view is None:
            view = self._form.rules.view(self._state, Seat(self.start.seat))
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
        form, seat, news = self._form, Seat(self.start.seat), self._news
        events = [form.codec.event(event) for event in news.events]
        parts = [
            fields.seat_field(seat),
            *(fields.played_for(fault, at, own=fault.seat == seat) for fault, at in news.faults),
            form.codec.ask(form.rules.view(self._state, seat), events, self.allowed),
        ]
        head = self.ask_id, self._decision, fields.match_field(self.match), *self._clock_ms, 0
        element = fields.ask_element(*head, b"".join(parts))
        message = ArenaMessage.FromString(fields.asks_frame([element])).asks.asks[0]
        if self.with_texts:
            message.move_texts.extend(map(form.move_notation.write, self.allowed.offered))
            message.event_texts.extend(form.texts(news.events))
        return message


class TextAsk(LocalAsk):
    """An ask that also has moves and events in notation."""

    __slots__ = ()
    with_texts = True
