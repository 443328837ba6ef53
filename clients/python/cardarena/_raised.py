"""Reports an exception in a bot's code with the line of the bot where it came from."""

import inspect
import sysconfig
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final

_OWN: Final = str(Path(__file__).parent)
_OTHERS: Final = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
NOTE: Final = "error: "
"""The beginning of a note that reports an error of the bot."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception and its place in the bot's code."""

    file: str
    """The name of the bot's file, without its folder."""
    line: int
    """The number of the last line of the bot in the traceback."""
    error: str
    """The type and the text of the exception, as Python prints them."""
    traceback: str
    """The traceback from the bot's code on, as Python prints it."""

    @classmethod
    def of(cls, error: Exception, asked: Callable[..., Any], cure: str = "") -> "Raised":
        """Return the report of an exception of the bot's function `asked`, with a cure if one is known."""
        trace = error.__traceback__
        while trace is not None and _is_of(trace, _OWN):
            trace = trace.tb_next
        code = getattr(inspect.unwrap(asked), "__code__", None)
        file, line = ("?", 0) if code is None else (code.co_filename, code.co_firstlineno)
        frames, at = trace, trace
        while at is not None:
            if not _is_of(at, _OWN, *_OTHERS):
                file, line = at.tb_frame.f_code.co_filename, at.tb_lineno
            at = at.tb_next
        printed = traceback.TracebackException(type(error), error, frames)
        (text, *_) = traceback.format_exception_only(error)[-1].splitlines() or [""]
        if cure:
            text = f"{text}: {cure}"
        return cls(Path(file).name, line, text, "".join(printed.format()))

    @property
    def note(self) -> str:
        """The text of the note for the bot's owner."""
        return f"{NOTE}{self}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.error}"


def _is_of(trace: TracebackType, *folders: str) -> bool:
    return trace.tb_frame.f_code.co_filename.startswith(folders)
