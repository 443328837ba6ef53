"""Distinguishes failures of the whole arena from those of a single competition or match."""

from arena.durable_files import Unwritten
from arena.store import StoreBusy, StoreError


def is_of_arena(error: Exception) -> bool:
    """Return whether the store or the journal as a whole fails; other errors of the store are about single rows."""
    return isinstance(error, Unwritten) or type(error) in (StoreError, StoreBusy)


def first_error(error: Exception) -> Exception:
    """Return the first error of nested exception groups, or the error itself."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
