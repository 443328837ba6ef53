"""What a value of a TOML file should be, in words to whoever wrote it."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeAlias

Check: TypeAlias = Callable[[Any], str]
"""Says what a value should be; empty if it is that."""


def text(value: Any) -> str:
    """A text that says something."""
    return "" if isinstance(value, str) and value.strip() else "a text that is not empty"


def one_of(kind: type[StrEnum]) -> Check:
    """One of the words of an enumeration."""
    names = [str(each) for each in kind]
    return lambda value: "" if value in names else f"one of {', '.join(names)}"


def number(low: int, high: int) -> Check:
    """A whole number between two, which count."""

    def check(value: Any) -> str:
        fits = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        return "" if fits else f"a whole number from {low:,} to {high:,}"

    return check


def yes_or_no(value: Any) -> str:
    """True or false."""
    return "" if isinstance(value, bool) else "true or false"


def table(value: Any) -> str:
    """A table of its own."""
    return "" if isinstance(value, dict) else "a table"


def problems_of(given: Mapping[str, Any], keys: Mapping[str, Check], where: str = "") -> list[str]:
    """What is wrong with the values of a table, and which keys of it nobody knows."""
    found = []
    for name, value in given.items():
        if name not in keys:
            known = ", ".join(keys)
            found.append(f"{where}there is no key {name!r}; the keys are: {known}")
        elif wanted := keys[name](value):
            found.append(f"{where}{name} is {wanted}, not {said(value)}")
    return found


def said(value: Any) -> str:
    """A value as it is quoted to whoever wrote it."""
    shown = repr(value) if isinstance(value, str) else str(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"
