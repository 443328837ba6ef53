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
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from types import ModuleType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from arena.games.contract import Event, Move, Moves, View
from arena.wire.fields import delimited, tag_bytes, tag_varint, varint

_ASK_VIEW: Final = tag_bytes(1)
_ASK_EVENT: Final = tag_bytes(2)
_ASK_MOVE: Final = tag_bytes(3)
_ASK_COMPLETE: Final = tag_varint(4) + b"\x01"

_CACHED_MOVES: Final = 1 << 12
"""Moves whose bytes are kept; past that the cache starts afresh."""

_INTS: Final = {
    FieldDescriptor.TYPE_UINT32,
    FieldDescriptor.TYPE_SINT32,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_SINT64,
}


class Mismatch(TypeError):
    """A rules class and its message differ. Raised when a codec is made."""


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
        shape = _Shape(family, rules, messages)
        self.view_message, self._encode_view = shape.makers(rules.View, shape.message("View"))
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
        fields = self._ask_fields
        try:
            return b"".join([fields[id(move)] for move in offered])
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


class _Shape:
    """The two definitions of a family side by side."""

    def __init__(self, family: str, rules: ModuleType, messages: ModuleType) -> None:
        self.family = family
        self.prefix = "".join(word.capitalize() for word in family.split("_"))
        self.rules = rules
        self.messages = messages

    def message(self, name: str) -> type[Message]:
        found = getattr(self.messages, self.prefix + name, None)
        if found is None:
            raise Mismatch(f"{self.family}: there is no message {self.prefix}{name}")
        message: type[Message] = found
        return message

    def hints(self, cls: type) -> dict[str, Any]:
        """Field names and types, as the class declares them."""
        hints = get_type_hints(cls)
        return {field.name: hints[field.name] for field in dataclasses.fields(cls)}

    def check_ask(self) -> None:
        fields = {
            f.name: (f.number, f.is_repeated, f.message_type and f.message_type.name)
            for f in self.message("Ask").DESCRIPTOR.fields
        }
        if fields != {
            "view": (1, False, f"{self.prefix}View"),
            "events": (2, True, f"{self.prefix}Event"),
            "moves": (3, True, f"{self.prefix}Move"),
            "moves_complete": (4, False, None),
        }:
            raise Mismatch(f"{self.prefix}Ask has the fields {fields}")

    def makers(
        self, cls: type, message: type[Message]
    ) -> tuple[Callable[[Any], Any], Callable[[Any], bytes]]:
        """What makes a `message` of a `cls`, all of whose fields it has, and what encodes one."""
        source = _Source()
        build = source.build(self, cls, message, "it", {})
        theirs = {field.name for field in message.DESCRIPTOR.fields}
        self.require_same(cls, set(self.hints(cls)), theirs)
        return source.function(build), source.function(f"{build}.SerializeToString()")

    def require_same(self, cls: type, ours: set[str], theirs: set[str]) -> None:
        if ours != theirs:
            odd = ", ".join(sorted(ours ^ theirs))
            raise Mismatch(f"{self.family}: {cls.__name__} and its message differ in: {odd}")

    def enum_numbers(self, cls: type[StrEnum], enum: EnumDescriptor) -> dict[StrEnum, int]:
        prefix = _upper(enum.name)
        numbers = {value.name: value.number for value in enum.values}
        ours = {f"{prefix}_{member.name}" for member in cls}
        theirs = set(numbers) - {f"{prefix}_UNSPECIFIED"}
        self.require_same(cls, ours, theirs)
        return {member: numbers[f"{prefix}_{member.name}"] for member in cls}


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
        shape: _Shape,
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
        self, shape: _Shape, hint: Any, field: FieldDescriptor, access: str, where: str
    ) -> str:
        inner, optional = _optional(hint)
        repeated = field.is_repeated
        if get_origin(inner) is tuple:
            if not repeated or optional:
                raise Mismatch(f"{where} is a tuple, so its field must be repeated")
            if len({*get_args(inner)} - {Ellipsis}) != 1:
                raise Mismatch(f"{where} is a tuple of several types, which no field is")
            one = self._one(shape, _element(inner), field, "x", where)
            return access if one == "x" else f"[{one} for x in {access}]"
        if repeated:
            raise Mismatch(f"{where} is one value, but its field is repeated")
        if field.type == FieldDescriptor.TYPE_ENUM and field.has_presence:
            raise Mismatch(f"{where} is an enum, whose zero says that there is none: not optional")
        if optional and not field.has_presence and not _is_enum(inner):
            raise Mismatch(f"{where} may be None, so its field must be optional")
        one = self._one(shape, inner, field, access, where)
        if optional and _is_enum(inner):
            return f"0 if {access} is None else {one}"
        if optional and one != access:
            return f"None if {access} is None else {one}"
        return one

    def _one(
        self, shape: _Shape, kind: Any, field: FieldDescriptor, access: str, where: str
    ) -> str:
        """An expression for a single value of a type."""
        wrong = Mismatch(f"{where} does not fit its field of type {field.type}")
        if _is_enum(kind):
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
            if _element(kind) is not str:
                raise wrong
            cards = importlib.import_module("cardarena.games.v1.cards_pb2")
            return f"{self.name(cards.Cards)}(cards={access})"
        kind = _plain(kind)
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

    def __init__(self, shape: _Shape, name: str, selector: str, enum: str, union: Any) -> None:
        classes: tuple[type, ...] = get_args(union) or (union,)
        message = shape.message(name)
        descriptor = message.DESCRIPTOR
        field = descriptor.fields_by_name.get(selector)
        if field is None or field.enum_type is None:
            raise Mismatch(f"{descriptor.name} has no enum field {selector}")
        prefix = _upper(shape.prefix + enum)
        values = field.enum_type.values_by_name
        wanted = {f"{prefix}_{_upper(cls.__name__)}": cls for cls in classes}
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
            self._encoders[cls] = source.function(f"{build}.SerializeToString()")
            self._makers[cls] = source.function(build)
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
    shape: _Shape, cls: type, message: type[Message], selector: str
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


def _field_reader(shape: _Shape, hint: Any, field: FieldDescriptor) -> Callable[[Message], Any]:
    inner, optional = _optional(hint)
    name = field.name
    if get_origin(inner) is tuple:
        one = _one_reader(shape, _element(inner), field)
        return lambda given: tuple(one(each) for each in getattr(given, name))
    one = _one_reader(shape, inner, field)
    if optional and _is_enum(inner):
        return lambda given: one(number) if (number := getattr(given, name)) else None
    if optional:
        return lambda given: one(getattr(given, name)) if given.HasField(name) else None
    return lambda given: one(getattr(given, name))


def _one_reader(shape: _Shape, kind: Any, field: FieldDescriptor) -> Callable[[Any], Any]:
    if _is_enum(kind):
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


def _optional(hint: Any) -> tuple[Any, bool]:
    """The type without None, and whether None was allowed."""
    if get_origin(hint) in (Union, UnionType):
        inner = [each for each in get_args(hint) if each is not type(None)]
        if len(inner) == 1:
            return inner[0], True
    return hint, False


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, StrEnum)


def _element(hint: Any) -> Any:
    """The type of a tuple's elements, which are all of one type."""
    kinds = [each for each in get_args(hint) if each is not Ellipsis]
    return kinds[0]


def _plain(kind: Any) -> Any:
    """The type behind a NewType such as Seat."""
    return getattr(kind, "__supertype__", kind)


def _upper(name: str) -> str:
    """`PlayCard` as `PLAY_CARD`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def _words(name: str) -> str:
    """`PlayCard` as `play card`."""
    return _upper(name).lower().replace("_", " ")
