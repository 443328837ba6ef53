"""Encode dataclasses as protobuf bytes without making protobuf messages.

Most values that are sent occur many times: cards, seats, phases, small numbers. The bytes of each,
after the tag of its field, are cached in a table. Parts of a view that stay the same from ask to ask,
such as a trick that all seats see, are cached too. An encoder is one expression that looks up these
bytes. It is generated as source code and compiled once, as `dataclasses` does.

Fields are written in the order of their numbers and default values are omitted, so the bytes are
those that protobuf writes.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, get_origin

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from arena.wire.fields import delimited, tag_bytes, tag_varint, varint
from arena.wire.shape import MessageShape, element, is_enum, optional

Encode = Callable[[Any], bytes]

_MOST_KNOWN: Final = 1 << 12
"""Values whose bytes are cached for a field, before its table is emptied."""
_LONGEST_KNOWN: Final = 64
"""Longer encodings, in bytes, are not cached, so that long texts do not fill the memory."""
_PARTS_KEPT: Final = 1 << 8
"""Parts of messages that are cached for a field, before its table is emptied."""
_BITS: Final = {
    FieldDescriptor.TYPE_UINT32: 32,
    FieldDescriptor.TYPE_UINT64: 64,
    FieldDescriptor.TYPE_SINT32: 32,
    FieldDescriptor.TYPE_SINT64: 64,
}
_SIGNED: Final = {FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SINT64}


def encoder(
    shape: MessageShape,
    cls: type,
    message: type[Message],
    constants: Mapping[str, int] | None = None,
) -> Encode:
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
    made: Encode = eval(f"lambda it: b''.join(({''.join(f'{part}, ' for part in parts)}))", values)  # noqa: S307
    return made


class _Known(dict[Any, bytes]):
    """A cache of the bytes of values: a missing value is encoded and stored."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode

    def __missing__(self, value: Any) -> bytes:
        encoded = self._encode(value)
        if len(encoded) <= _LONGEST_KNOWN:
            if len(self) >= _MOST_KNOWN:
                self.clear()
            self[value] = encoded
        return encoded


def _field(shape: MessageShape, hint: Any, field: FieldDescriptor) -> tuple[object, str]:
    """Return what an encoder needs for a field, and the expression that uses it."""
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
            return delimited(tag, b"".join([members[id(each)] for each in them]))

        return packed_members, "({known}({it}) if {it} else b'')"
    one_of_them = _Known(lambda value: varint(_unsigned(field, value))).__getitem__

    def packed(them: tuple[Any, ...]) -> bytes:
        return delimited(tag, b"".join(map(one_of_them, them)))

    return packed, "({known}({it}) if {it} else b'')"


def _body(shape: MessageShape, kind: Any, field: FieldDescriptor) -> Encode:
    """Return the encoder of a nested message: a dataclass, or a tuple of cards."""
    if get_origin(kind) is tuple:
        card = _Known(_scalar(field.message_type.fields_by_name["cards"])).__getitem__
        return lambda cards: b"".join(map(card, cards))
    return encoder(shape, kind, getattr(shape.messages, field.message_type.name))


def _kept(encode: Encode) -> Encode:
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


def _scalar(field: FieldDescriptor) -> Encode:
    """Return the encoder of one value of a field, with its tag; None is not written."""
    if field.type == FieldDescriptor.TYPE_STRING:
        tag = tag_bytes(field.number)
        return lambda text: b"" if text is None else delimited(tag, text.encode())
    return lambda value: b"" if value is None else _varint_field(field, value)


def _varint_field(field: FieldDescriptor, value: int) -> bytes:
    return tag_varint(field.number) + varint(_unsigned(field, value))


def _unsigned(field: FieldDescriptor, value: int) -> int:
    """Return a number as protobuf writes it: signed numbers in zigzag encoding.

    Raises:
      ValueError: if it exceeds the range of the field.
    """
    bits = _BITS.get(field.type, 32)
    folded = (value << 1) ^ (value >> (bits - 1)) if field.type in _SIGNED else int(value)
    if not 0 <= folded < 1 << bits:
        raise ValueError(f"{field.full_name} cannot hold {value}")
    return folded
