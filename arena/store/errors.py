"""What can be wrong with a store, each in one sentence for the person who runs the arena."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError

_SENTENCES: Final = {
    sqlite3.SQLITE_NOTADB: "{path} is not a database",
    sqlite3.SQLITE_CORRUPT: (
        "{path} is damaged; put a copy in its place, or move it away to start anew"
    ),
    sqlite3.SQLITE_FULL: (
        "the disk that holds {path} is full; what was recorded before is safe, so make room "
        "and go on"
    ),
    sqlite3.SQLITE_BUSY: "another program has kept {path} locked for over {timeout_s:g} s",
    sqlite3.SQLITE_LOCKED: "another program has kept {path} locked for over {timeout_s:g} s",
    sqlite3.SQLITE_READONLY: "{path} cannot be written: it, its folder or its disk is read-only",
    sqlite3.SQLITE_CANTOPEN: (
        "{path} cannot be opened: it is no file, or its folder is not open to you for writing"
    ),
    sqlite3.SQLITE_PERM: "{path} cannot be opened: you have no right to",
    sqlite3.SQLITE_IOERR: "the disk that holds {path} fails to read or write it",
}


class StoreError(Exception):
    """A store that cannot be used as asked; the text says why in one sentence."""


class SettingsDiffer(StoreError):
    """The tournament is there already, with other settings."""


class EntrantsChanged(SettingsDiffer):
    """The tournament is there already, the same but for the versions of some bots."""


class StoreBusy(StoreError):
    """Another program keeps the store locked; a little later it may be free."""


_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


@contextmanager
def in_plain_words(path: object, timeout_s: float) -> Iterator[None]:
    """Turn the failures of SQLite that a person can mend into a `StoreError`.

    Any other is a bug, and passes as it is.
    """
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        # The low byte is the kind of failure, the rest its variety.
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
        if code not in _SENTENCES:
            raise
        kind = StoreBusy if code in _BUSY else StoreError
        raise kind(_SENTENCES[code].format(path=path, timeout_s=timeout_s)) from error
