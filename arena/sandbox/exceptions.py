"""Finds exceptions of a bot's code in its output, as the Python SDK prints them, and errors that its bridge finds.

One line says what was raised and where; the indented traceback follows:

    cardarena: my_bot.py:12: KeyError: 'row': an exception at ask 1048581 of match 1, so …
      Traceback (most recent call last):
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

_HEAD: Final = re.compile(
    r"cardarena: (?P<what>.+): an (?:exception|error) at (?:ask (?P<ask>\d+)|the (?:start|end)) of match \d+.*"
)
_INDENT: Final = "  "


class PrintedException(NamedTuple):
    """An exception in a bot's code."""

    what: str
    """The bot's file and line, and the exception: `my_bot.py:12: KeyError: 'row'`."""
    ask_id: int | None
    """The ask that the code handled; None at the start or the end of a match."""


def printed_exception(line: str) -> PrintedException | None:
    """The exception that a line reports; None if it reports none."""
    found = _HEAD.fullmatch(line)
    return found and PrintedException(found["what"], int(found["ask"]) if found["ask"] else None)


class _Line(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def by_arena(self) -> bool: ...


L = TypeVar("L", bound=_Line)


def without_other_asks(lines: Sequence[L], ask_id: int) -> list[L]:
    """The lines without exceptions at other asks and their tracebacks."""
    kept, at_other = [], False
    for line in lines:
        raised = None if line.by_arena else printed_exception(line.text)
        if raised is not None:
            at_other = raised.ask_id != ask_id
        elif not line.text.startswith(_INDENT):
            at_other = False
        if not at_other:
            kept.append(line)
    return kept
