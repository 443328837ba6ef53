"""Compare the two definitions of a family's messages: dataclasses of the rules and protobuf."""

import dataclasses
import re
from enum import StrEnum
from types import ModuleType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

_FIELD_TYPES: Final = {
    bool: {FieldDescriptor.TYPE_BOOL},
    int: {
        FieldDescriptor.TYPE_UINT32,
        FieldDescriptor.TYPE_SINT32,
        FieldDescriptor.TYPE_UINT64,
        FieldDescriptor.TYPE_SINT64,
    },
    str: {FieldDescriptor.TYPE_STRING},
}
"""By type of a dataclass field, the types of protobuf fields that can hold it."""


class Mismatch(ValueError):
    """A dataclass and its message differ. Raised when a codec is made."""


class MessageShape:
    """The protobuf module of a family, and checks of dataclasses against it."""

    def __init__(self, family: str, messages: ModuleType) -> None:
        self.family = family
        self.prefix = prefix_of(family)
        self.messages = messages

    def message(self, name: str) -> type[Message]:
        """Return the family's message of this name, without prefix. Raises `Mismatch` if there is none."""
        value = getattr(self.messages, self.prefix + name, None)
        if value is None:
            raise Mismatch(f"{self.family}: there is no message {self.prefix}{name}")
        message: type[Message] = value
        return message

    def hints(self, cls: type) -> dict[str, Any]:
        hints = get_type_hints(cls)
        return {field.name: hints[field.name] for field in dataclasses.fields(cls)}

    def check_ask(self) -> None:
        """Require that the family's Ask has the fields that every family's Ask has.

        Raises `Mismatch` if it does not.
        """
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

    def check_class(self, cls: type, message: type[Message]) -> None:
        """Require that a message has a fitting field for every field of a dataclass.

        Raises `Mismatch` naming the field that does not fit.
        """
        fields = message.DESCRIPTOR.fields_by_name
        for name, hint in self.hints(cls).items():
            where = f"{self.family}: {cls.__name__}.{name}"
            if name not in fields:
                raise Mismatch(f"{where} is not in {message.DESCRIPTOR.name}")
            self._check_field(hint, fields[name], where)

    def _check_field(self, hint: Any, field: FieldDescriptor, where: str) -> None:
        inner, may_be_none = optional(hint)
        if get_origin(inner) is tuple:
            if not field.is_repeated or may_be_none:
                raise Mismatch(f"{where} is a tuple, so its field must be repeated")
            if len({*get_args(inner)} - {Ellipsis}) != 1:
                raise Mismatch(f"{where} is a tuple of several types, which no field can hold")
            inner = element(inner)
        elif field.is_repeated:
            raise Mismatch(f"{where} is one value, but its field is repeated")
        elif field.type == FieldDescriptor.TYPE_ENUM and field.has_presence:
            raise Mismatch(f"{where} is an enum, whose zero stands for None, so not optional")
        elif may_be_none and not field.has_presence and not is_enum(inner):
            raise Mismatch(f"{where} may be None, so its field must be optional")
        if not self._fits(inner, field):
            raise Mismatch(f"{where} does not fit its field of type {field.type}")
        if dataclasses.is_dataclass(inner):
            assert isinstance(inner, type)
            message = getattr(self.messages, field.message_type.name)
            names = {field.name for field in message.DESCRIPTOR.fields}
            self.require_same(inner, set(self.hints(inner)), names)
            self.check_class(inner, message)

    def _fits(self, kind: Any, field: FieldDescriptor) -> bool:
        if is_enum(kind):
            return bool(field.type == FieldDescriptor.TYPE_ENUM)
        held = field.message_type.name if field.message_type is not None else None
        if dataclasses.is_dataclass(kind):
            return held is not None and hasattr(self.messages, held)
        if get_origin(kind) is tuple:
            return held == "Cards" and element(kind) is str
        return field.type in _FIELD_TYPES.get(plain(kind), ())

    def require_same(self, cls: type, ours: set[str], theirs: set[str]) -> None:
        """Require that a class and its message have the same fields, or an enum the same values.

        Raises `Mismatch` naming those that only one of them has.
        """
        if ours != theirs:
            odd = ", ".join(sorted(ours ^ theirs))
            raise Mismatch(f"{self.family}: {cls.__name__} and its message differ in: {odd}")

    def enum_numbers(self, cls: type[StrEnum], enum: EnumDescriptor) -> dict[StrEnum, int]:
        """Return the protobuf numbers of an enum's members.

        Raises `Mismatch` if the members and the protobuf values differ.
        """
        prefix = upper(enum.name)
        numbers = {value.name: value.number for value in enum.values}
        ours = {f"{prefix}_{member.name}" for member in cls}
        theirs = set(numbers) - {f"{prefix}_UNSPECIFIED"}
        self.require_same(cls, ours, theirs)
        return {member: numbers[f"{prefix}_{member.name}"] for member in cls}


def prefix_of(family: str) -> str:
    """Return the prefix of a family's message names: `ChinesePoker` for `chinese_poker`."""
    return "".join(word.capitalize() for word in family.split("_"))


def optional(hint: Any) -> tuple[Any, bool]:
    """Return a type without None, and whether it allowed None."""
    if get_origin(hint) in (Union, UnionType):
        inner = [kind for kind in get_args(hint) if kind is not type(None)]
        if len(inner) == 1:
            return inner[0], True
    return hint, False


def is_enum(kind: Any) -> bool:
    """Return whether a type is a `StrEnum`."""
    return isinstance(kind, type) and issubclass(kind, StrEnum)


def element(hint: Any) -> Any:
    """Return the type of a tuple's elements, which all have the same type."""
    return get_args(hint)[0]


def plain(kind: Any) -> Any:
    """Return the type behind a NewType such as Seat."""
    return getattr(kind, "__supertype__", kind)


def upper(name: str) -> str:
    """Return `PlayCard` as `PLAY_CARD`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()
