"""Reports of exceptions in a bot's code, with the line of the bot that caused them."""

import inspect
import sys
import sysconfig
import traceback
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final

from cardarena._errors import NoMove

_OWN: Final = ("cardarena", "arena.local")
"""The packages that call a bot."""
_OTHERS: Final = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
NOTE: Final = "error: "
"""The beginning of a note that reports an error of the bot."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception and its place in the bot's code."""

    file: str
    """The name of the bot's file, without its folder; empty for `NoMove`, for which no code has an error."""
    line: int
    """The number of the last line of the bot in the traceback."""
    error: str
    """The type and the text of the exception, as Python prints them."""
    traceback: str
    """The part of the traceback from the bot's code on, as Python prints it."""

    @classmethod
    def of(cls, error: Exception, asked: Callable[..., Any], cure: str = "") -> "Raised":
        """Return the report of an exception of the bot's function `asked`, with a cure if one is known."""
        if isinstance(error, NoMove):
            return cls("", 0, str(error), "")
        trace = error.__traceback__
        while trace is not None and _is_own(trace.tb_frame):
            trace = trace.tb_next
        code = getattr(inspect.unwrap(asked), "__code__", None)
        file, line = ("?", 0) if code is None else (code.co_filename, code.co_firstlineno)
        frames, at = trace, trace
        while at is not None:
            of_a_library = at.tb_frame.f_code.co_filename.startswith(_OTHERS)
            if not (of_a_library or _is_own(at.tb_frame)):
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
        return f"{self.file}:{self.line}: {self.error}" if self.file else self.error


def now_at(thinking: int | Coroutine[Any, Any, Any]) -> str:
    """Return the file and line of the bot's code that a thread or a coroutine executes; empty if it is not known."""
    for frame in _frames(thinking):
        if not (_is_own(frame) or frame.f_code.co_filename.startswith(_OTHERS)):
            return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
    return ""


def _frames(thinking: int | Coroutine[Any, Any, Any]) -> Iterator[FrameType]:
    """Yield the frames of a thread or a coroutine, the innermost first."""
    if isinstance(thinking, int):
        frame = sys._current_frames().get(thinking)
        while frame is not None:
            yield frame
            frame = frame.f_back
        return
    awaited: Any = thinking
    frames = []
    while frame := getattr(awaited, "cr_frame", None):
        frames.append(frame)
        awaited = awaited.cr_await
    yield from reversed(frames)


def _is_own(frame: FrameType) -> bool:
    module = f"{frame.f_globals.get('__name__', '')}."
    return module.startswith(tuple(f"{package}." for package in _OWN))
