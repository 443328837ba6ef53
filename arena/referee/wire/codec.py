"""Convert views, moves and events of the rules to protobuf bytes, and read messages back.

The views, moves and events of a family of games are defined twice: as dataclasses for the rules and
as protobuf messages for the wire. A `Codec` compares both definitions when it is made and raises
`Mismatch` if they differ. It builds one encoder and one reader for each class, so no field is looked
up by reflection while a match is played.

Names correspond: for the family `chinese_poker` and prefix `ChinesePoker`

    View                 <-> message ChinesePokerView
    nested class Row     <-> message ChinesePokerRow
    StrEnum Phase        <-> enum ChinesePokerPhase, values CHINESE_POKER_PHASE_...;
                             None is its zero, so no field of an enum is `optional`
    Move = Set | Play    <-> one flat message ChinesePokerMove whose `verb` is
                             CHINESE_POKER_VERB_SET or CHINESE_POKER_VERB_PLAY
    Event = Dealt | ...  <-> one flat message ChinesePokerEvent with a `kind`

Encoders make no protobuf messages. Most values that are sent occur many times: cards, seats, phases, small
numbers. The bytes of each, after the tag of its field, are cached in a table. Parts of a view that stay the same
from ask to ask, such as a trick that all seats see, are cached too. An encoder is one expression that looks up
these bytes. It is generated as source code and compiled once, as `dataclasses` does. Fields are written in the
order of their numbers and default values are omitted, so the bytes are those that protobuf writes.
"""

import dataclasses
import importlib
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from types import ModuleType
from typing import Any, Final, get_args, get_origin

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from arena.games.contract import Event, Move, Moves, View
from arena.referee.wire.fields import delimited, tag_bytes, tag_varint, varint
from arena.referee.wire.shape import MessageShape, Mismatch, element, is_enum, optional, upper

_Encode = Callable[[Any], bytes]

_MOST_KNOWN: Final = 1 << 12
"""The number of values whose bytes are cached for a field before its table is emptied."""
_LONGEST_KNOWN: Final = 64
"""The length of an encoding in bytes above which it is not cached, so that long texts do not fill the memory."""
_PARTS_KEPT: Final = 1 << 8
"""The number of parts of messages that are cached for a field before its table is emptied."""
_BITS: Final = {
    FieldDescriptor.TYPE_UINT32: 32,
    FieldDescriptor.TYPE_UINT64: 64,
    FieldDescriptor.TYPE_SINT32: 32,
    FieldDescriptor.TYPE_SINT64: 64,
}
_SIGNED: Final = {FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SINT64}

_ASK_VIEW: Final = tag_bytes(1)
_ASK_EVENT: Final = tag_bytes(2)
_ASK_MOVE: Final = tag_bytes(3)
_ASK_COMPLETE: Final = tag_varint(4) + b"\x01"

_CACHED_MOVES: Final = 1 << 10
"""The number of moves whose bytes a codec caches before it empties the cache.

Most games have fewer moves. In games with many more, such as Chinese Poker, an entry takes about 700
bytes.
"""


class Malformed(ValueError):
    """A message is not a valid move, event or view. The text may be shown to the bot that sent it."""


class Codec:
    """Encodes the views, moves and events of one family of games."""

    def __init__(self, family: str, number: int, classes: ModuleType) -> None:
        """Derive the codec of `family`, whose field in every `oneof game` is `number`.

        `classes` is the family's module `messages`, with `View`, `Move` and `Event`.

        Raises `Mismatch` naming the class and the field that differ.
        """
        self.family = family
        self.number = number
        messages = importlib.import_module(f"cardarena.games.v1.{family}_pb2")
        shape = MessageShape(family, messages)
        view = shape.message("View")
        shape.check_class(classes.View, view)
        shape.require_same(
            classes.View,
            {*shape.hints(classes.View)},
            {field.name for field in view.DESCRIPTOR.fields},
        )
        self._encode_view = _encoder(shape, classes.View, view)
        self._read_view = _reader(shape, classes.View, view, "")
        self._moves = _Flat(shape, "Move", "verb", "Verb", classes.Move)
        self._events = _Flat(shape, "Event", "kind", "EventKind", classes.Event)
        shape.check_ask()
        self._game_tag = tag_bytes(number)
        self._move_bytes: dict[Move, bytes] = {}
        # Interned moves are found by their `id`, which is quicker than hashing a dataclass. `_kept`
        # keeps them alive, so that no other move gets the same `id`.
        self._kept: dict[int, Move] = {}
        self._ask_fields: dict[int, bytes] = {}
        self._game_moves: dict[int, bytes] = {}

    def view(self, view: View) -> bytes:
        return self._encode_view(view)

    def event(self, event: Event) -> bytes:
        """Encode an event as an element of an ask's `events`."""
        return delimited(_ASK_EVENT, self._events.encode(event))

    def move(self, move: Move) -> bytes:
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
        return delimited(self._game_tag, self._events.encode(event))

    def game_view(self, view: View) -> bytes:
        return delimited(self._game_tag, self._encode_view(view))

    def read_view(self, message: Message) -> View:
        """Read a view from the family's View message. Raises `Malformed` if a field is missing or unknown."""
        return self._read_view(message)

    def ask(self, view: View, events: Sequence[bytes], moves: Moves) -> bytes:
        """Encode the `game` field of an ask.

        `events` were encoded by `event`, each once for all seats that receive it.
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

        Raises `Malformed` if it belongs to another game or is not a valid move.
        """
        game = message.WhichOneof("game")
        if game is None:
            raise Malformed("the answer has no move of a known game")
        if game != self.family:
            raise Malformed(f"the move is of {game}, the match is {self.family}")
        return self._moves.read(getattr(message, game))

    def read_event(self, message: Message) -> Event:
        """Read an event from the family's Event message. Raises `Malformed` if it is not a valid event."""
        return self._events.read(message)

    def _keep(self, move: Move) -> tuple[bytes, bytes]:
        """Encode and cache a move: as an element of an ask's `moves`, and as a GameMove."""
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


class _Flat:
    """A union of classes as one flat message, whose selector field names the class."""

    def __init__(
        self, shape: MessageShape, name: str, selector: str, enum: str, union: Any
    ) -> None:
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
        self._readers: dict[int, Callable[[Message], Any]] = {}
        used = {selector}
        for value_name, cls in wanted.items():
            number = values[value_name].number
            shape.check_class(cls, message)
            self._encoders[cls] = _encoder(shape, cls, message, {selector: number})
            self._readers[number] = _reader(shape, cls, message, selector)
            used |= set(shape.hints(cls))
        unused = {field.name for field in descriptor.fields} - used
        if unused:
            raise Mismatch(f"{descriptor.name} has fields that no class has: {sorted(unused)}")

    def encode(self, value: Any) -> bytes:
        return self._encoders[type(value)](value)

    def read(self, message: Message) -> Any:
        reader = self._readers.get(getattr(message, self._selector))
        if reader is None:
            raise Malformed(f"{message.DESCRIPTOR.name} has no {self._selector}")
        return reader(message)


# Readers.


def _reader(
    shape: MessageShape, cls: type, message: type[Message], selector: str
) -> Callable[[Message], Any]:
    """Return a function that reads a `cls` from a message; `selector` is ignored."""
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


def _field_reader(
    shape: MessageShape, hint: Any, field: FieldDescriptor
) -> Callable[[Message], Any]:
    inner, may_be_none = optional(hint)
    name = field.name
    if get_origin(inner) is tuple:
        one = _one_reader(shape, element(inner), field)
        return lambda given: tuple(one(value) for value in getattr(given, name))
    one = _one_reader(shape, inner, field)
    if may_be_none and is_enum(inner):
        return lambda given: one(number) if (number := getattr(given, name)) else None
    if may_be_none:
        return lambda given: one(getattr(given, name)) if given.HasField(name) else None
    return lambda given: one(getattr(given, name))


def _one_reader(shape: MessageShape, kind: Any, field: FieldDescriptor) -> Callable[[Any], Any]:
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
    """Return `PlayCard` as `play card`."""
    return upper(name).lower().replace("_", " ")


# Encoders.


def _encoder(
    shape: MessageShape,
    cls: type,
    message: type[Message],
    constants: Mapping[str, int] | None = None,
) -> _Encode:
    """Return a function that encodes a `cls` as `message`, which must fit it.

    `constants` are values of fields that the class does not have, by name.
    """
    hints, values = shape.hints(cls), dict[str, object]()
    parts = []
    for field in sorted(message.DESCRIPTOR.fields, key=lambda field: field.number):
        name = f"v{len(values)}"
        if field.name in hints:
            values[name], part = _field(shape, hints[field.name], field)
            parts.append(part.format(known=name, it=f"it.{field.name}"))
        elif constants and field.name in constants:
            parts.append(repr(_varint_field(field, constants[field.name])))
    made: _Encode = eval(f"lambda it: b''.join(({''.join(f'{part}, ' for part in parts)}))", values)  # noqa: S307
    return made


class _Known(dict[Any, bytes]):
    """A cache of the bytes of values: a missing value is encoded and stored."""

    def __init__(self, encode: _Encode) -> None:
        self._encode = encode

    def __missing__(self, value: Any) -> bytes:
        encoded = self._encode(value)
        if len(encoded) <= _LONGEST_KNOWN:
            if len(self) >= _MOST_KNOWN:
                self.clear()
            self[value] = encoded
        return encoded


def _field(shape: MessageShape, hint: Any, field: FieldDescriptor) -> tuple[object, str]:
    kind, _ = optional(hint)
    if get_origin(kind) is tuple and field.is_repeated:
        return _repeated(shape, element(kind), field)
    if is_enum(kind):
        numbers = shape.enum_numbers(kind, field.enum_type)
        known = {id(member): _varint_field(field, number) for member, number in numbers.items()}
        # Looked up by `id`, as an enum computes its hash each time. None is the zero.
        return known | {id(None): b""}, "{known}[id({it})]"
    if field.message_type is not None:
        tag, body = tag_bytes(field.number), _body(shape, kind, field)
        return _kept(
            lambda part: b"" if part is None else delimited(tag, body(part))
        ), "{known}({it})"
    encode, empty = _scalar(field), None if field.has_presence else _EMPTY[field.cpp_type]
    return _Known(lambda value: b"" if value == empty else encode(value)), "{known}[{it}]"


def _repeated(shape: MessageShape, kind: Any, field: FieldDescriptor) -> tuple[object, str]:
    tag = tag_bytes(field.number)
    if field.message_type is not None:
        body = _body(shape, kind, field)
        one = _kept(lambda part: delimited(tag, body(part)))
        return one, "b''.join(map({known}, {it}))"
    if field.type == FieldDescriptor.TYPE_STRING:
        known = _Known(_scalar(field))
        return known.__getitem__, "b''.join(map({known}, {it}))"
    if is_enum(kind):
        numbers = shape.enum_numbers(kind, field.enum_type)
        members = {id(member): varint(number) for member, number in numbers.items()}

        def packed_members(them: tuple[Any, ...]) -> bytes:
            return delimited(tag, b"".join([members[id(value)] for value in them]))

        return packed_members, "({known}({it}) if {it} else b'')"
    one_of_them = _Known(lambda value: varint(_unsigned(field, value))).__getitem__

    def packed(them: tuple[Any, ...]) -> bytes:
        return delimited(tag, b"".join(map(one_of_them, them)))

    return packed, "({known}({it}) if {it} else b'')"


def _body(shape: MessageShape, kind: Any, field: FieldDescriptor) -> _Encode:
    """Return the encoder of a nested message: a dataclass, or a tuple of cards."""
    if get_origin(kind) is tuple:
        card = _Known(_scalar(field.message_type.fields_by_name["cards"])).__getitem__
        return lambda cards: b"".join(map(card, cards))
    return _encoder(shape, kind, getattr(shape.messages, field.message_type.name))


def _kept(encode: _Encode) -> _Encode:
    """Add a cache by identity to an encoder; the values that are sent are immutable."""
    kept: dict[int, tuple[Any, bytes]] = {}

    def encode_once(part: Any) -> bytes:
        known = kept.get(id(part))
        if known is not None:
            return known[1]
        encoded = encode(part)
        if len(kept) >= _PARTS_KEPT:
            kept.clear()
        kept[id(part)] = (
            part,
            encoded,
        )  # the cache keeps the part alive, so no other part gets its `id`
        return encoded

    return encode_once


_EMPTY: Final[Mapping[int, object]] = {
    FieldDescriptor.CPPTYPE_BOOL: False,
    FieldDescriptor.CPPTYPE_UINT32: 0,
    FieldDescriptor.CPPTYPE_UINT64: 0,
    FieldDescriptor.CPPTYPE_INT32: 0,
    FieldDescriptor.CPPTYPE_INT64: 0,
    FieldDescriptor.CPPTYPE_STRING: "",
}
"""By C++ type of a field without presence, the default value, which is not written."""


def _scalar(field: FieldDescriptor) -> _Encode:
    """Return the encoder of one value of a field, with its tag; None is not written."""
    if field.type == FieldDescriptor.TYPE_STRING:
        tag = tag_bytes(field.number)
        return lambda text: b"" if text is None else delimited(tag, text.encode())
    return lambda value: b"" if value is None else _varint_field(field, value)


def _varint_field(field: FieldDescriptor, value: int) -> bytes:
    return tag_varint(field.number) + varint(_unsigned(field, value))


def _unsigned(field: FieldDescriptor, value: int) -> int:
    """Return a number as protobuf writes it: signed numbers in zigzag encoding.

    Raises `ValueError` if it exceeds the range of the field.
    """
    bits = _BITS.get(field.type, 32)
    folded = (value << 1) ^ (value >> (bits - 1)) if field.type in _SIGNED else int(value)
    if not 0 <= folded < 1 << bits:
        raise ValueError(f"{field.full_name} cannot hold {value}")
    return folded
