"""The log of a launched bot's output, with times, for the bot's owner.

A line of the log is the time in UTC, the writer, and text. `|` is the bot (stdout or stderr), `*` the
arena with a line about the bot's process.

    2026-11-21T04:10:22.123Z * started: python3 bot.py
    2026-11-21T04:10:22.871Z | loading my model

The times identify the lines of one match or decision. Exceptions of a bot's code are recognised in the form in which
the Python SDK and its bridge print them. One line has the exception and its place; the indented traceback follows:

    cardarena: my_bot.py:12: KeyError: 'row': an exception at ask 1048581 of match 1, so …
      Traceback (most recent call last):
"""

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, Protocol, Self, TypeVar

MAX_OUTPUT_BYTES: Final = 1 << 20
"""The size limit of the log of one process, in two halves of which the older one is deleted."""
LOG_SUFFIX: Final = ".log"
OLDER_SUFFIX: Final = ".log.older"
_HALF_BYTES: Final = MAX_OUTPUT_BYTES // 2
_BOT: Final = "|"
_ARENA: Final = "*"
_STAMP_CHARS: Final = len("2026-11-21T04:10:22.123Z")
_HEAD: Final = re.compile(
    r"cardarena: (?P<what>.+): an (?:exception|error) at (?:ask (?P<ask>\d+)|the (?:start|end)) of match \d+"
)
"""It need not begin the line, because a bot may have printed a part of the line, as by `print(".", end="")`."""
_STUCK: Final = re.compile(
    r"cardarena: fault .*: timeout: .*; (?P<where>`move` has not returned since decision (?P<decision>\d+).*)"
)
_INDENT: Final = "  "


def instance_name(bot: str, instance: int) -> str:
    """Return the name of the folder and the log of one process of a bot."""
    # A worker gets the name from an arena, so it must not lead out of the folder.
    return f"{bot}-{instance}".replace(" ", "_").replace("/", "_")


class OutputLog:
    """Appends the output of one bot's process to its log.

    Write errors raise no exception: output is lost, and the bot continues.
    """

    def __init__(self, path: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Open the log with mode 0600. `now` returns the time in UTC."""
        self._path = path
        self._now = now
        self._fd = -1
        self._size = 0
        self._within_line = False
        self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def printed(self, chunk: bytes | bytearray) -> None:
        """Add output of the bot; the time of a line is that of its first byte."""
        if not chunk:
            return
        head = b"" if self._within_line else self._head(_BOT)
        ends = chunk.endswith(b"\n")
        body = chunk[:-1] if ends else chunk
        lines = body.replace(b"\n", b"\n" + self._head(_BOT))
        self._write(head + lines + (b"\n" if ends else b""))
        self._within_line = not ends

    def mark(self, text: str) -> None:
        line = self._head(_ARENA) + text.replace("\n", " ").encode("utf-8", "replace") + b"\n"
        self._write(b"\n" + line if self._within_line else line)
        self._within_line = False

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _head(self, writer: str) -> bytes:
        stamp = self._now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return f"{stamp} {writer} ".encode()

    def _open(self) -> None:
        with suppress(OSError):
            self._fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self._size = os.fstat(self._fd).st_size

    def _write(self, data: bytes) -> None:
        if self._fd < 0:
            return
        with suppress(OSError):
            while data:
                self._size += os.write(self._fd, data[:_HALF_BYTES])
                data = data[_HALF_BYTES:]
                if self._size >= _HALF_BYTES:
                    self.close()
                    self._path.replace(self._path.with_suffix(OLDER_SUFFIX))
                    self._open()


def output_paths(folder: Path) -> list[Path]:
    """Return all logs in a folder of launched bots and in its subfolders."""
    return sorted((*folder.glob(f"*{LOG_SUFFIX}"), *folder.glob(f"*/*{LOG_SUFFIX}")))


class Printed(NamedTuple):
    """A line of a log."""

    at: datetime
    """The time in UTC."""
    by_arena: bool
    """Whether the arena wrote the line, and not the bot."""
    text: str


def read_output(path: Path) -> list[Printed]:
    """Return the lines of a log, oldest first; empty if it does not exist.

    Raises `OSError` if it exists and cannot be read.
    """
    printed: list[Printed] = []
    for part in (path.with_suffix(OLDER_SUFFIX), path):
        try:
            data = part.read_bytes()
        except FileNotFoundError:
            continue
        # Only "\n" ends a line: `splitlines` would split at more characters.
        lines = map(_read_line, data.decode("utf-8", "replace").split("\n"))
        printed += [line for line in lines if line is not None]
    return printed


def between(lines: Sequence[Printed], begin: datetime, end: datetime) -> list[Printed]:
    """Return the lines from `begin` to `end`, both included."""
    return [line for line in lines if begin <= line.at <= end]


def _read_line(line: str) -> Printed | None:
    """Return a line of the log; None for a fragment, as at the beginning of the older half."""
    stamp, rest = line[:_STAMP_CHARS], line[_STAMP_CHARS:]
    if rest[:2] not in (f" {_BOT}", f" {_ARENA}"):
        return None
    try:
        at = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    if at.tzinfo is None:
        return None
    return Printed(at, rest[1] == _ARENA, rest[3:])


class PrintedException(NamedTuple):
    """An exception in a bot's code."""

    what: str
    """The bot's file and line, and the exception: `my_bot.py:12: KeyError: 'row'`."""
    ask_id: int | None
    """The ask that the code handled; None at the start or the end of a match."""


def printed_exception(line: str) -> PrintedException | None:
    """Return the exception that a line reports; None if it reports none."""
    match = _HEAD.search(line)
    return match and PrintedException(match["what"], int(match["ask"]) if match["ask"] else None)


class StuckBot(NamedTuple):
    """A report of a bot's code that has not chosen a move in time."""

    where: str
    """A sentence with its place: `move` has not returned since decision 1, now at my_bot.py:6."""
    decision: int
    """The decision that it is computing."""


def printed_stuck(line: str) -> StuckBot | None:
    """Return the place of a bot's code from a line that reports a late answer; None for another line."""
    match = _STUCK.search(line)
    return match and StuckBot(match["where"], int(match["decision"]))


class _Line(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def by_arena(self) -> bool: ...


L = TypeVar("L", bound=_Line)


def without_other_asks(lines: Sequence[L], ask_id: int) -> list[L]:
    """Return the lines without exceptions at other asks and their tracebacks."""
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
