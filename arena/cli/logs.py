"""The arena's log: lines of JSON in the data folder, bounded in size and without secrets.

Modules log by the standard library; this module turns each record into a line. The message is the
same for each event of a kind. Fields, which calls pass as `extra`, name the match, bot or file.

The log has the type and place of an error, but not its text, which may quote a card. To see the text,
play the match again from the journal.
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

from arena.durable_files import Unwritten
from arena.token_bucket import TokenBucket

LOG_NAME: Final = "arena.log"
MAX_LOG_BYTES: Final = 32 << 20
OLD_LOGS: Final = 3
"""The number of full logs that are kept beside the current one."""
BURST_LINES: Final = 200
"""The number of lines of one kind that are written without a limit of their rate."""
LINES_PER_S: Final = 20.0
"""The rate of lines of one kind after that, in lines a second."""
MAX_KINDS: Final = 1_000
"""The maximal number of kinds of lines whose rates are counted."""
LEFT_OUT: Final = "left_out"
"""The field with the number of lines of the same kind that were dropped before it."""

_TOKEN: Final = re.compile(r"(arena_[0-9A-Za-z]{8})[0-9A-Za-z]{12,}")


def log_file(data: Path, name: str = LOG_NAME) -> logging.Handler:
    """Return a handler that writes a log in a data folder; each process has its own name.

    Raises `Unwritten` if the folder cannot be written.
    """
    try:
        data.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(
            data / name, maxBytes=MAX_LOG_BYTES, backupCount=OLD_LOGS, encoding="utf-8"
        )
    except OSError as error:
        raise Unwritten(f"cannot write in {data}: {error.strerror}") from error
    handler.setFormatter(formatter())
    handler.addFilter(gone_is_no_error)
    handler.addFilter(Throttle())
    return handler


def formatter() -> logging.Formatter:
    """Return a formatter that turns a record into a line of JSON."""
    return _Lines()


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        made = datetime.fromtimestamp(record.created, UTC)
        line = {
            "event": _own_words(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "timestamp": made.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            **{name: value for name, value in vars(record).items() if _is_field(name)},
            **_error_without_text(record),
        }
        return json.dumps(
            {name: _without_tokens(value) for name, value in line.items()}, default=_plain
        )


_NO_FIELDS: Final = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime"})
"""The attributes of every record; all others were passed as `extra`."""


def _is_field(name: str) -> bool:
    """Return whether an attribute was passed as `extra`: libraries add their own attributes, such as `_ray_timestamp_ns` of Ray."""
    return name not in _NO_FIELDS and not name.startswith("_")


def gone_is_no_error(record: logging.LogRecord) -> bool:
    """Turn the error of gRPC about a client that closed its connection before the response into a warning.

    Errors are never dropped, so clients that reconnect often would fill the log.
    """
    kind = record.exc_info[0] if record.exc_info else None
    if record.name.startswith("grpc.") and kind is not None and kind.__name__ == _UNSAID:
        record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
    return True


_UNSAID: Final = "ExecuteBatchError"


class Throttle(logging.Filter):
    """Limits the rate of the lines of each kind. Errors are never dropped.

    A kind is a message before its arguments are inserted. Time is that of the records.
    """

    def __init__(self) -> None:
        super().__init__()
        self._now_s = 0.0
        """Time of the current record."""
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
    """The number of lines dropped since the last written one."""


def _own_words(record: logging.LogRecord) -> str:
    """Return the message; for a library's message only the first line, because the others quote its input."""
    message = record.getMessage()
    return message if record.name.startswith("arena") else message.partition("\n")[0]


def _error_without_text(record: logging.LogRecord) -> dict[str, Any]:
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
    # The system's text about a file quotes nothing of a match.
    reason = f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
    yield f"{type(error).__module__}.{type(error).__qualname__}{reason}"
    for frame in traceback.extract_tb(error.__traceback__):
        yield f"  {frame.filename}:{frame.lineno} {frame.name}"
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            if id(inner) not in seen:
                yield "  which holds"
                yield from _trace(inner, seen)


def _without_tokens(value: object) -> object:
    """Shorten tokens in a text to their public part."""
    return _TOKEN.sub(r"\1...", value) if isinstance(value, str) and "arena_" in value else value


def _plain(value: object) -> str:
    """Return texts and numbers unchanged, and the type of any other value, because it may have secrets."""
    return str(value) if isinstance(value, Path) else f"<{type(value).__qualname__}>"
