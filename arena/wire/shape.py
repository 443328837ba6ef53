"""The two definitions of a family of games side by side: classes of the rules, and messages."""

import dataclasses
import re
from enum import StrEnum
from types import ModuleType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message


class Mismatch(ValueError):
    """A rules class and its message differ. Raised when a codec is made."""


class Shape:
    """The two definitions of a family side by side."""

    def __init__(self, family: str, rules: ModuleType, messages: ModuleType) -> None:
        self.family = family
        self.prefix = "".join(word.capitalize() for word in family.split("_"))
        self.rules = rules
        self.messages = messages

    def message(self, name: str) -> type[Message]:
        """The family's message of that name.

        Raises:
          Mismatch: if there is none.
        """
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
        """Hold that the family's Ask has the fields that all families' have.

        Raises:
          Mismatch: if it does not.
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

    def require_same(self, cls: type, ours: set[str], theirs: set[str]) -> None:
        """Hold that a class and its message have the same fields, or values.

        Raises:
          Mismatch: naming those that only one of them has.
        """
        if ours != theirs:
            odd = ", ".join(sorted(ours ^ theirs))
            raise Mismatch(f"{self.family}: {cls.__name__} and its message differ in: {odd}")

    def enum_numbers(self, cls: type[StrEnum], enum: EnumDescriptor) -> dict[StrEnum, int]:
        """The numbers of an enum's members.

        Raises:
          Mismatch: if the two have other members.
        """
        prefix = upper(enum.name)
        numbers = {value.name: value.number for value in enum.values}
        ours = {f"{prefix}_{member.name}" for member in cls}
        theirs = set(numbers) - {f"{prefix}_UNSPECIFIED"}
        self.require_same(cls, ours, theirs)
        return {member: numbers[f"{prefix}_{member.name}"] for member in cls}


def optional(hint: Any) -> tuple[Any, bool]:
    """The type without None, and whether None was allowed."""
    if get_origin(hint) in (Union, UnionType):
        inner = [each for each in get_args(hint) if each is not type(None)]
        if len(inner) == 1:
            return inner[0], True
    return hint, False


def is_enum(kind: Any) -> bool:
    """Whether a type is an enum of the rules."""
    return isinstance(kind, type) and issubclass(kind, StrEnum)


def element(hint: Any) -> Any:
    """The type of a tuple's elements, which are all of one type."""
    kinds = [each for each in get_args(hint) if each is not Ellipsis]
    return kinds[0]


def plain(kind: Any) -> Any:
    """The type behind a NewType such as Seat."""
    return getattr(kind, "__supertype__", kind)


def upper(name: str) -> str:
    """`PlayCard` as `PLAY_CARD`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()
