"""The arena's log: lines of JSON in the data folder, bounded, and free of what nobody may read.

Modules log by the standard library; here every record becomes a line. The message
says what happened, always in the same words. Which match, bot or file it happened to
stands in fields, which the call gives as `extra`.

Of an error the log keeps its type and place, but not its text, which may quote what
the code was at work on, such as a card. To see that, play the match again from the
journal.
"""

import json
import logging
import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Final

from arena.token_bucket import TokenBucket

LOG_NAME: Final = "arena.log"
MAX_LOG_BYTES: Final = 32 << 20
OLD_LOGS: Final = 3
"""Full logs that are kept beside the one that is written."""
BURST_LINES: Final = 200
"""Lines of one kind that are written in one go, however many come."""
LINES_PER_S: Final = 20.0
"""How many more of them after that."""
MAX_KINDS: Final = 1_000
"""Kinds of lines that are counted at a time."""
LEFT_OUT: Final = "left_out"
"""Field of the first line after others of its kind were left out: how many."""

_TOKEN: Final = re.compile(r"(arena_[0-9A-Za-z]{8})[0-9A-Za-z]{12,}")


def log_file(data: Path, name: str = LOG_NAME) -> logging.Handler:
    """A handler that writes the log of a data folder, of this name: each process has its own.

    Raises:
      CannotServe: if the folder cannot be written.
    """
    try:
        data.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(
            data / name, maxBytes=MAX_LOG_BYTES, backupCount=OLD_LOGS, encoding="utf-8"
        )
    except OSError as error:
        from arena.server.listen import CannotServe

        raise CannotServe(f"cannot write in {data}: {error.strerror}") from error
    handler.setFormatter(formatter())
    handler.addFilter(gone_is_no_error)
    handler.addFilter(Throttle())
    return handler


def formatter() -> logging.Formatter:
    """Makes a record into a line of JSON."""
    return _Lines()


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        made = datetime.fromtimestamp(record.created, UTC)
        line = {
            "event": _own_words(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "timestamp": made.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            **{name: each for name, each in vars(record).items() if name not in _NO_FIELDS},
            **_error_without_text(record),
        }
        return json.dumps(
            {name: _without_tokens(each) for name, each in line.items()}, default=_plain
        )


_NO_FIELDS: Final = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime"})
"""What every record has, and what formatters leave in it; all else was given as `extra`."""


def gone_is_no_error(record: logging.LogRecord) -> bool:
    """Make a warning of it that gRPC could not say a call's last words: its client was gone, or was cut off.

    gRPC calls that an error, and errors are never left out: who comes and goes would fill the log.
    """
    kind = record.exc_info[0] if record.exc_info else None
    if record.name.startswith("grpc.") and kind is not None and kind.__name__ == _UNSAID:
        record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
    return True


_UNSAID: Final = "ExecuteBatchError"


class Throttle(logging.Filter):
    """Lets lines of one kind through as long as they are not too many; all errors.

    A kind is a message before its arguments are put in. Time is what the records say.
    """

    def __init__(self) -> None:
        super().__init__()
        self._now_s = 0.0
        """When the record was made that is looked at."""
        self._kinds: dict[tuple[str, str], _Kind] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno >= logging.ERROR:
            return True
        self._now_s = record.created
        name = record.name, str(record.msg)
        kind = self._kinds.get(name)
        if kind is None:
            if len(self._kinds) >= MAX_KINDS:
                self._kinds.clear()
            bucket = TokenBucket(BURST_LINES, LINES_PER_S, lambda: self._now_s)
            kind = self._kinds[name] = _Kind(bucket)
        if not kind.bucket.take():
            kind.left_out += 1
            return False
        if kind.left_out:
            setattr(record, LEFT_OUT, kind.left_out)
            kind.left_out = 0
        return True


@dataclass(slots=True)
class _Kind:
    bucket: TokenBucket
    left_out: int = 0
    """Lines since the last that was let through."""


def _own_words(record: logging.LogRecord) -> str:
    """What is said; of a library's message the first line, as those below quote what it was given."""
    said = record.getMessage()
    return said if record.name.startswith("arena") else said.partition("\n")[0]


def _error_without_text(record: logging.LogRecord) -> dict[str, Any]:
    """An error by its type and where it happened, and so those that led to it."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return {}
    return {"error": type(error).__qualname__, "trace": list(_trace(error, set()))}


def _trace(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    before = error.__cause__
    if before is None and not error.__suppress_context__:
        before = error.__context__
    if before is not None and id(before) not in seen:
        yield from _trace(before, seen)
        yield "and then"
    # The system's own words about a file quote nothing of a match.
    said = f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
    yield f"{type(error).__module__}.{type(error).__qualname__}{said}"
    for frame in traceback.extract_tb(error.__traceback__):
        yield f"  {frame.filename}:{frame.lineno} {frame.name}"
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            if id(each) not in seen:
                yield "  which holds"
                yield from _trace(each, seen)


def _without_tokens(value: object) -> object:
    """Leave of a token what is public of it, should one have got into a text."""
    return _TOKEN.sub(r"\1...", value) if isinstance(value, str) and "arena_" in value else value


def _plain(value: object) -> str:
    """Anything else than text and numbers, by its type: it may hold what nobody may read."""
    return str(value) if isinstance(value, Path) else f"<{type(value).__qualname__}>"
