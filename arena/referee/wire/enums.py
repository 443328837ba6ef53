"""Values of enums of the contract as words: `COMPETITION_STATE_DRAFT` is `draft`."""

from typing import Any

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message


def enum_number(enum: Any, word: str) -> Any:
    """Return the number of a word; 0 for an empty one. Raises `ValueError` if the enum has no such value."""
    return enum.Value(_prefix(enum.DESCRIPTOR) + word.upper()) if word else 0


def enum_word(enum: Any, number: int) -> str:
    """Return the word of a number; empty for 0, and for a number that this version does not know."""
    return _word(enum.DESCRIPTOR, number)


def word_of(message: Message, field: str) -> str:
    """Return the word of an enum field of a message, as `enum_word`."""
    return _word(message.DESCRIPTOR.fields_by_name[field].enum_type, getattr(message, field))


def _word(enum: EnumDescriptor, number: int) -> str:
    if not number or number not in enum.values_by_number:
        return ""
    name: str = enum.values_by_number[number].name
    return name.removeprefix(_prefix(enum)).lower()


def _prefix(enum: EnumDescriptor) -> str:
    name: str = enum.values_by_number[0].name
    return name.removesuffix("UNSPECIFIED")
