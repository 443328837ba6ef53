"""Values of enums of the contract as words: `COMPETITION_STATE_DRAFT` is `draft`."""

from typing import Any


def enum_number(enum: Any, word: str) -> Any:
    """Return the number of a word; 0 for an empty one. Raises `ValueError` if the enum has no such value."""
    return enum.Value(_prefix(enum) + word.upper()) if word else 0


def enum_word(enum: Any, number: int) -> str:
    """Return the word of a number; empty for 0, and for a number that this version does not know."""
    if not number or number not in enum.values():
        return ""
    word: str = enum.Name(number).removeprefix(_prefix(enum)).lower()
    return word


def _prefix(enum: Any) -> str:
    prefix: str = enum.Name(0).removesuffix("UNSPECIFIED")
    return prefix
