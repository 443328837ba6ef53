"""Errors of a store, for the operator of the arena."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError

from arena.errors import entry


class StoreError(Exception):
    """The store cannot execute a call; the text says why."""


class StoreBusy(StoreError):
    """Another program has locked the store; a retry may succeed."""


_BUSY: Final = "S-BUSY"
_CODES: Final[Mapping[int, str]] = {
    sqlite3.SQLITE_NOTADB: "S-NOTADB",
    sqlite3.SQLITE_CORRUPT: "S-CORRUPT",
    sqlite3.SQLITE_FULL: "S-FULL",
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_READONLY: "S-READONLY",
    sqlite3.SQLITE_CANTOPEN: "S-CANTOPEN",
    sqlite3.SQLITE_PERM: "S-PERM",
    sqlite3.SQLITE_IOERR: "S-IOERR",
}


def store_failure(code: str, place: object, detail: str = "") -> StoreError:
    """Return the error with a code of the table of errors: what is wrong at `place`, and what to do."""
    row = entry(code)
    kind = StoreBusy if code == _BUSY else StoreError
    return kind(f"{place}: {row.message(detail)}. {row.cure.removesuffix('.')}")


@contextmanager
def as_store_errors(path: object, timeout_s: float) -> Iterator[None]:
    """Turn failures of SQLite that an operator can fix into a `StoreError`.

    Other failures are bugs and are raised unchanged.
    """
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        # The low byte is the primary result code; the rest refines it.
        code = _CODES.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF)
        if code is None:
            raise
        raise store_failure(code, path, waited(code, timeout_s)) from error


def waited(code: str, timeout_s: float) -> str:
    """Return the detail of a failure: how long the caller waited for a locked store."""
    return f"for over {timeout_s:g} s" if code == _BUSY else ""
