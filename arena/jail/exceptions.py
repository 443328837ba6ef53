"""What a launched bot printed of exceptions in its own code, as the Python SDK tells them.

A line of its own says what was raised and where; the traceback follows, set in:

    cardarena: my_bot.py:12: KeyError: 'row': an exception at ask 1048581 of match 1, so …
      Traceback (most recent call last):
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

_HEAD: Final = re.compile(
    r"cardarena: (?P<what>.+): an exception at (?:ask (?P<ask>\d+)|the (?:start|end)) of match \d+.*"
)
_SET_IN: Final = "  "


class ToldException(NamedTuple):
    """An exception in a bot's code."""

    what: str
    """The bot's file and line, and the exception: `my_bot.py:12: KeyError: 'row'`."""
    ask_id: int | None
    """The ask that it was given; None at the start or the end of a match."""


def told_exception(line: str) -> ToldException | None:
    """What a line says of an exception; None if it says nothing of one."""
    found = _HEAD.fullmatch(line)
    return found and ToldException(found["what"], int(found["ask"]) if found["ask"] else None)


class _Line(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def by_arena(self) -> bool: ...


L = TypeVar("L", bound=_Line)


def without_others(lines: Sequence[L], ask_id: int) -> list[L]:
    """The lines but for exceptions that the bot raised at other asks, and their tracebacks."""
    kept, others = [], False
    for line in lines:
        told = None if line.by_arena else told_exception(line.text)
        if told is not None:
            others = told.ask_id != ask_id
        elif not line.text.startswith(_SET_IN):
            others = False
        if not others:
            kept.append(line)
    return kept
