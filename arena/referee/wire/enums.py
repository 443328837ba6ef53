"""Values of enums of the contract as words: `COMPETITION_STATE_DRAFT` is `draft`; and messages as JSON."""

from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message


def enum_number(enum: Any, word: str) -> Any:
    """Return the number of a word; 0 for an empty one. Raises `ValueError` if the enum has no such value."""
    return enum.Value(_prefix(enum) + word.upper()) if word else 0


def enum_word(enum: Any, number: int) -> str:
    """Return the word of a number; empty for 0, and for a number that this version does not know."""
    if not number or number not in enum.values():
        return ""
    word: str = enum.Name(number).removeprefix(_prefix(enum)).lower()
    return word


def word_of(message: Message, field: str) -> str:
    """Return the word of an enum field of a message, as `enum_word`."""
    names = message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number
    number: int = getattr(message, field)
    if not number or number not in names:
        return ""
    prefix = names[0].name.removesuffix("UNSPECIFIED")
    return str(names[number].name).removeprefix(prefix).lower()


def _prefix(enum: Any) -> str:
    prefix: str = enum.Name(0).removesuffix("UNSPECIFIED")
    return prefix


def message_json(message: Message) -> dict[str, Any]:
    """Return a message as JSON, with the names of its fields in `proto/`, including unset ones."""
    values: dict[str, Any] = MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return values
