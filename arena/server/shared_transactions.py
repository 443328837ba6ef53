"""Writes to the store that wait at the same time share a transaction, as one costs far more than its rows."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import trio

from arena.store import StoreBusy

LOCKED_ATTEMPTS: Final = 12
"""Attempts to write to a locked store, each of some seconds."""

T = TypeVar("T")
R = TypeVar("R")
_log = logging.getLogger(__name__)


def patiently(call: Callable[[], R]) -> R:
    """Call again while another program has locked the store. Blocks.

    Raises:
      StoreBusy: if it stays locked.
    """
    for _ in range(LOCKED_ATTEMPTS - 1):
        try:
            return call()
        except StoreBusy as error:
            _log.warning("a write waits for the store", extra={"why": str(error)})
    return call()


class SharedTransactions(Generic[T, R]):
    """Writes items, those that wait at the same time in one transaction. Used in trio."""

    def __init__(self, write: Callable[[Sequence[T]], Sequence[R]]) -> None:
        """`write` writes items in one transaction and returns the result of each. It is called on other threads."""
        self._write_all = write
        self._waiting: list[_Waiting[T, R]] = []
        self._writing = trio.Lock()

    async def write(self, item: T) -> R:
        """Write an item; on return it is on disk.

        Raises:
          Exception: as `write`. An item that cannot be written does not affect the others.
        """
        own = _Waiting[T, R](item)
        self._waiting.append(own)
        async with self._writing:
            if not own.outcome:  # an earlier writer may have included it
                await self._write_waiting()
        (result,) = own.outcome
        if isinstance(result, Exception):
            raise result
        return result

    async def _write_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        found = await trio.to_thread.run_sync(self._try, waiting)
        for at, each in enumerate(waiting):
            if isinstance(found, Exception):
                alone = len(waiting) > 1
                result = await trio.to_thread.run_sync(self._try, [each]) if alone else found
                each.outcome = [result if isinstance(result, Exception) else result[0]]
            else:
                each.outcome = [found[at]]

    def _try(self, waiting: Sequence["_Waiting[T, R]"]) -> Sequence[R] | Exception:
        items = [each.item for each in waiting]
        try:
            return patiently(lambda: self._write_all(items))
        except Exception as error:
            return error


@dataclass(slots=True)
class _Waiting(Generic[T, R]):
    """An item that waits to be written."""

    item: T
    outcome: "Sequence[R | Exception]" = ()
    """Its result or error, once it was written."""
