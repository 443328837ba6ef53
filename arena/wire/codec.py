"""Rules classes to protobuf messages and back, derived from both definitions.

A family of games defines its views, moves and events twice: as dataclasses
for the rules and as messages for the wire. A `Codec` walks both definitions
once, when it is made, and raises `Mismatch` where they differ, so a codec
that exists is one that fits. What it builds are plain functions, written out
as source and compiled, as `dataclasses` does it: no field is looked up by
name while a match is played.

Names correspond: for the family `chinese_poker` and prefix `ChinesePoker`

    View                 <-> message ChinesePokerView
    nested class Row     <-> message ChinesePokerRow
    StrEnum Phase        <-> enum ChinesePokerPhase, values CHINESE_POKER_PHASE_...;
                             None is its zero, so no field of an enum is `optional`
    Move = Set | Play    <-> one flat message ChinesePokerMove whose `verb` is
                             CHINESE_POKER_VERB_SET or CHINESE_POKER_VERB_PLAY
    Event = Dealt | ...  <-> one flat message ChinesePokerEvent with a `kind`
"""

import dataclasses
import importlib
from collections.abc import Callable, Sequence
from enum import StrEnum
from types import ModuleType
from typing import Any, Final, get_args, get_origin

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from arena.games.contract import Event, Move, Moves, View
from arena.wire.encoders import encoder
from arena.wire.fields import delimited, tag_bytes, tag_varint, varint
from arena.wire.shape import Mismatch, Shape, element, is_enum, optional, plain, upper

_ASK_VIEW: Final = tag_bytes(1)
_ASK_EVENT: Final = tag_bytes(2)
_ASK_MOVE: Final = tag_bytes(3)
_ASK_COMPLETE: Final = tag_varint(4) + b"\x01"

_CACHED_MOVES: Final = 1 << 10
"""Moves whose bytes are kept; past that the cache starts afresh. In most games fewer are ever seen; where
they hardly ever come again, as in Chinese Poker, it is full all the time, and some 700 bytes each."""

_INTS: Final = {
    FieldDescriptor.TYPE_UINT32,
    FieldDescriptor.TYPE_SINT32,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_SINT64,
}


class Malformed(ValueError):
    """A message does not say a move. The text is fit for the bot that sent it."""


class Codec:
    """Encodes the views, moves and events of one family of games."""

    def __init__(self, family: str, number: int, rules: ModuleType) -> None:
        """Derive the codec of `family`, whose field in every `oneof game` is `number`.

        `view_message` makes the family's View message of a view, `view` its bytes.

        Raises:
          Mismatch: naming the class and the field that differ.
        """
        self.family = family
        self.number = number
        messages = importlib.import_module(f"cardarena.games.v1.{family}_pb2")
        shape = Shape(family, rules, messages)
        self.view_message = _maker(shape, rules.View, shape.message("View"))
        self._encode_view = encoder(shape, rules.View, shape.message("View"))
        self._read_view = _reader(shape, rules.View, shape.message("View"), "")
        self._moves = _Flat(shape, "Move", "verb", "Verb", rules.Move)
        self._events = _Flat(shape, "Event", "kind", "EventKind", rules.Event)
        shape.check_ask()
        self._game_tag = tag_bytes(number)
        self._move_bytes: dict[Move, bytes] = {}
        # Interned moves are found by identity, which spares hashing a dataclass;
        # kept alive beside, they cannot lend their identity to another move.
        self._kept: dict[int, Move] = {}
        self._ask_fields: dict[int, bytes] = {}
        self._game_moves: dict[int, bytes] = {}

    def view(self, view: View) -> bytes:
        """Encode a view as the family's View message."""
        return self._encode_view(view)

    def event_message(self, event: Event) -> Any:
        """The family's Event message of an event, as whoever is told in this process gets it."""
        return self._events.make(event)

    def move_message(self, move: Move) -> Any:
        """Likewise the family's Move message of a move."""
        return self._moves.make(move)

    def event(self, event: Event) -> bytes:
        """Encode an event as an element of an ask's `events`."""
        return delimited(_ASK_EVENT, self._events.encode(event))

    def move(self, move: Move) -> bytes:
        """Encode a move as the family's Move message."""
        body = self._move_bytes.get(move)
        if body is None:
            if len(self._move_bytes) >= _CACHED_MOVES:
                self._move_bytes.clear()
            body = self._move_bytes[move] = self._moves.encode(move)
        return body

    def game_move(self, move: Move) -> bytes:
        """Encode a move as `cardarena.v1.GameMove`."""
        known = self._game_moves.get(id(move))
        return self._keep(move)[1] if known is None else known

    def game_event(self, event: Event) -> bytes:
        """Encode an event as `cardarena.v1.GameEvent`."""
        return delimited(self._game_tag, self._events.encode(event))

    def game_view(self, view: View) -> bytes:
        """Encode a view as `cardarena.v1.GameView`."""
        return delimited(self._game_tag, self._encode_view(view))

    def read_view(self, message: Message) -> View:
        """Read a view from the family's View message.

        Raises:
          Malformed: if it does not say one.
        """
        return self._read_view(message)

    def ask(self, view: View, events: Sequence[bytes], moves: Moves) -> bytes:
        """Encode the `game` field of an ask.

        `events` are encoded already, by `event`: each once, for all who may know.
        """
        encoded, listed = self._encode_view(view), self.listed(moves.offered)
        complete = _ASK_COMPLETE if moves.complete else b""
        parts = (_ASK_VIEW, varint(len(encoded)), encoded, *events, listed, complete)
        body = b"".join(parts)
        return self._game_tag + varint(len(body)) + body

    def listed(self, offered: Sequence[Move]) -> bytes:
        """Encode moves as elements of an ask's `moves`."""
        try:
            return b"".join(map(self._ask_fields.__getitem__, map(id, offered)))
        except KeyError:
            return b"".join([self._keep(move)[0] for move in offered])

    def read_move(self, message: Message) -> Move:
        """Read a move from `cardarena.v1.GameMove`.

        Raises:
          Malformed: if it is of another game, or does not say a move.
        """
        game = message.WhichOneof("game")
        if game is None:
            raise Malformed("the answer has no move of a known game")
        if game != self.family:
            raise Malformed(f"the move is of {game}, the match is {self.family}")
        return self._moves.read(getattr(message, game))

    def read_event(self, message: Message) -> Event:
        """Read an event from the family's Event message.

        Raises:
          Malformed: if it does not say an event.
        """
        return self._events.read(message)

    def _keep(self, move: Move) -> tuple[bytes, bytes]:
        """The move as an element of an ask's `moves` and as a GameMove, kept for next time."""
        at = id(move)
        if at not in self._kept:
            if len(self._kept) >= _CACHED_MOVES:
                self._kept.clear()
                self._ask_fields.clear()
                self._game_moves.clear()
            body = self.move(move)
            self._kept[at] = move
            self._ask_fields[at] = delimited(_ASK_MOVE, body)
            self._game_moves[at] = delimited(self._game_tag, body)
        return self._ask_fields[at], self._game_moves[at]


def _maker(shape: Shape, cls: type, message: type[Message]) -> Callable[[Any], Any]:
    """What makes a `message` of a `cls`, all of whose fields it has."""
    source = _Source()
    build = source.build(shape, cls, message, "it", {})
    theirs = {field.name for field in message.DESCRIPTOR.fields}
    shape.require_same(cls, set(shape.hints(cls)), theirs)
    return source.function(build)


class _Source:
    """An expression under construction, and the values that its names stand for."""

    def __init__(self) -> None:
        self._values: dict[str, object] = {}

    def name(self, value: object) -> str:
        name = f"v{len(self._values)}"
        self._values[name] = value
        return name

    def function(self, expression: str) -> Callable[[Any], Any]:
        made: Callable[[Any], Any] = eval(f"lambda it: {expression}", self._values)  # noqa: S307
        return made

    def build(
        self,
        shape: Shape,
        cls: type,
        message: type[Message],
        access: str,
        constants: dict[str, int],
    ) -> str:
        """An expression that makes `message` from the `cls` at `access`."""
        fields = message.DESCRIPTOR.fields_by_name
        arguments = [f"{name}={number}" for name, number in constants.items()]
        for name, hint in shape.hints(cls).items():
            where = f"{shape.family}: {cls.__name__}.{name}"
            if name not in fields:
                raise Mismatch(f"{where} is not in {message.DESCRIPTOR.name}")
            value = self._value(shape, hint, fields[name], f"{access}.{name}", where)
            arguments.append(f"{name}={value}")
        return f"{self.name(message)}({', '.join(arguments)})"

    def _value(
        self, shape: Shape, hint: Any, field: FieldDescriptor, access: str, where: str
    ) -> str:
        inner, may_be_none = optional(hint)
        repeated = field.is_repeated
        if get_origin(inner) is tuple:
            if not repeated or may_be_none:
                raise Mismatch(f"{where} is a tuple, so its field must be repeated")
            if len({*get_args(inner)} - {Ellipsis}) != 1:
                raise Mismatch(f"{where} is a tuple of several types, which no field is")
            one = self._one(shape, element(inner), field, "x", where)
            return access if one == "x" else f"[{one} for x in {access}]"
        if repeated:
            raise Mismatch(f"{where} is one value, but its field is repeated")
        if field.type == FieldDescriptor.TYPE_ENUM and field.has_presence:
            raise Mismatch(f"{where} is an enum, whose zero says that there is none: not optional")
        if may_be_none and not field.has_presence and not is_enum(inner):
            raise Mismatch(f"{where} may be None, so its field must be optional")
        one = self._one(shape, inner, field, access, where)
        if may_be_none and is_enum(inner):
            return f"0 if {access} is None else {one}"
        if may_be_none and one != access:
            return f"None if {access} is None else {one}"
        return one

    def _one(self, shape: Shape, kind: Any, field: FieldDescriptor, access: str, where: str) -> str:
        """An expression for a single value of a type."""
        wrong = Mismatch(f"{where} does not fit its field of type {field.type}")
        if is_enum(kind):
            if field.type != FieldDescriptor.TYPE_ENUM:
                raise wrong
            return f"{self.name(shape.enum_numbers(kind, field.enum_type))}[{access}]"
        if dataclasses.is_dataclass(kind):
            if field.type != FieldDescriptor.TYPE_MESSAGE:
                raise wrong
            assert isinstance(kind, type)
            message = getattr(shape.messages, field.message_type.name, None)
            if message is None:
                raise wrong
            theirs = {each.name for each in message.DESCRIPTOR.fields}
            shape.require_same(kind, set(shape.hints(kind)), theirs)
            inner = _Source()
            made = inner.function(inner.build(shape, kind, message, "it", {}))
            return f"{self.name(made)}({access})"
        if get_origin(kind) is tuple:
            if field.message_type is None or field.message_type.name != "Cards":
                raise wrong
            if element(kind) is not str:
                raise wrong
            cards = importlib.import_module("cardarena.games.v1.cards_pb2")
            return f"{self.name(cards.Cards)}(cards={access})"
        kind = plain(kind)
        fits = (
            (kind is bool and field.type == FieldDescriptor.TYPE_BOOL)
            or (kind is int and field.type in _INTS)
            or (kind is str and field.type == FieldDescriptor.TYPE_STRING)
        )
        if not fits:
            raise wrong
        return access


class _Flat:
    """A union of classes as one flat message that says which class it is."""

    def __init__(self, shape: Shape, name: str, selector: str, enum: str, union: Any) -> None:
        classes: tuple[type, ...] = get_args(union) or (union,)
        message = shape.message(name)
        descriptor = message.DESCRIPTOR
        field = descriptor.fields_by_name.get(selector)
        if field is None or field.enum_type is None:
            raise Mismatch(f"{descriptor.name} has no enum field {selector}")
        prefix = upper(shape.prefix + enum)
        values = field.enum_type.values_by_name
        wanted = {f"{prefix}_{upper(cls.__name__)}": cls for cls in classes}
        theirs = set(values) - {f"{prefix}_UNSPECIFIED"}
        if set(wanted) != theirs:
            odd = ", ".join(sorted(set(wanted) ^ theirs))
            raise Mismatch(f"{shape.family}: {name} and {descriptor.name} differ in: {odd}")
        self._selector = selector
        self._encoders: dict[type, Callable[[Any], bytes]] = {}
        self._makers: dict[type, Callable[[Any], Any]] = {}
        self._readers: dict[int, Callable[[Message], Any]] = {}
        used = {selector}
        for value_name, cls in wanted.items():
            number = values[value_name].number
            source = _Source()
            build = source.build(shape, cls, message, "it", {selector: number})
            self._makers[cls] = source.function(build)
            self._encoders[cls] = encoder(shape, cls, message, {selector: number})
            self._readers[number] = _reader(shape, cls, message, selector)
            used |= set(shape.hints(cls))
        unused = {field.name for field in descriptor.fields} - used
        if unused:
            raise Mismatch(f"{descriptor.name} has fields that no class has: {sorted(unused)}")

    def encode(self, value: Any) -> bytes:
        return self._encoders[type(value)](value)

    def make(self, value: Any) -> Any:
        return self._makers[type(value)](value)

    def read(self, message: Message) -> Any:
        reader = self._readers.get(getattr(message, self._selector))
        if reader is None:
            raise Malformed(f"{message.DESCRIPTOR.name} has no {self._selector}")
        return reader(message)


def _reader(
    shape: Shape, cls: type, message: type[Message], selector: str
) -> Callable[[Message], Any]:
    """A function that reads a `cls` from the flat message."""
    fields = message.DESCRIPTOR.fields_by_name
    hints = shape.hints(cls)
    readers = {name: _field_reader(shape, hint, fields[name]) for name, hint in hints.items()}
    known = {selector, *readers}

    def read(given: Message) -> Any:
        for field, _ in given.ListFields():
            if field.name not in known:
                raise Malformed(f"{_words(cls.__name__)} does not use the field {field.name}")
        return cls(**{name: reader(given) for name, reader in readers.items()})

    return read


def _field_reader(shape: Shape, hint: Any, field: FieldDescriptor) -> Callable[[Message], Any]:
    inner, may_be_none = optional(hint)
    name = field.name
    if get_origin(inner) is tuple:
        one = _one_reader(shape, element(inner), field)
        return lambda given: tuple(one(each) for each in getattr(given, name))
    one = _one_reader(shape, inner, field)
    if may_be_none and is_enum(inner):
        return lambda given: one(number) if (number := getattr(given, name)) else None
    if may_be_none:
        return lambda given: one(getattr(given, name)) if given.HasField(name) else None
    return lambda given: one(getattr(given, name))


def _one_reader(shape: Shape, kind: Any, field: FieldDescriptor) -> Callable[[Any], Any]:
    if is_enum(kind):
        members = {n: member for member, n in shape.enum_numbers(kind, field.enum_type).items()}

        def read_enum(number: int) -> StrEnum:
            if number not in members:
                raise Malformed(f"{field.name} is not set to a known value")
            return members[number]

        return read_enum
    if dataclasses.is_dataclass(kind):
        assert isinstance(kind, type)
        inner = field.message_type.fields_by_name
        hints = shape.hints(kind)
        readers = {name: _field_reader(shape, hint, inner[name]) for name, hint in hints.items()}
        return lambda given: kind(**{name: read(given) for name, read in readers.items()})
    if get_origin(kind) is tuple:
        return lambda given: tuple(given.cards)
    return lambda value: value


def _words(name: str) -> str:
    """`PlayCard` as `play card`."""
    return upper(name).lower().replace("_", " ")
