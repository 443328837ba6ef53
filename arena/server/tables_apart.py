"""Tables are made in a process of their own, so that no match waits while sums are done.

A live table of many deal-sets takes seconds of Python. On another thread of the arena they would be taken from
the loop, a switch of threads at a time. The process opens the store by itself, as any command does, gives way
to the arena, and ends with it. It starts with the first table that somebody asks for.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from threading import Lock
from typing import Final, Protocol, TypeVar

from arena.competition.tables import Json
from arena.referee.workers import begin_worker
from arena.server.office import Unsigned, latest_table, table_of, unsigned
from arena.store import Store, StoreError, open_store

FRESH_S: Final = 10.0
"""How long a live table is shown again."""

_NOT_NOW: Final = "tables cannot be made just now"

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shown:
    """A table as it is sent: a text, so that nobody on the loop takes it apart."""

    text: str
    number: int
    """0 for a live one."""
    public_key: str
    signature: str


class Tables(Protocol):
    """Has tables made, and looks pairs up in them. Calls raise what the store raises."""

    async def table(self, name: str, number: int) -> Shown:
        """An official table, by its number; for 0 the latest state."""
        ...

    async def pair(self, name: str, game: str, bot: str, other: str) -> Json | None:
        """What happened between two, in the latest state; None if they have not met."""
        ...


class TableMaker:
    """Makes tables of one store, and keeps them for `FRESH_S`. Blocks for as long as that takes."""

    def __init__(self, store: Store, now_s: Callable[[], float] = time.monotonic) -> None:
        self._held, self._now_s = store.competitions(), now_s
        self._made: dict[str, tuple[float, Json]] = {}

    def table(self, name: str, number: int) -> Shown:
        """As `Tables.table`."""
        table = table_of(self._held, name, number) if number else self._made_anew(name)
        return Shown(
            json.dumps(table),
            table.get("number", 0),
            table.get("public_key", ""),
            table.get("signature", ""),
        )

    def pair(self, name: str, game: str, bot: str, other: str) -> Json | None:
        """As `Tables.pair`."""
        made_s, table = self._made.get(name, (0.0, None))
        if table is None or self._now_s() - made_s > FRESH_S:
            table = self._made_anew(name)
        games = table["games"]
        for each in games:
            if each["game"] == (game or games[0]["game"]):
                for row in each["pairs"]:
                    if {row["bot"], row["other"]} == {bot, other}:
                        found: Json = row
                        return found
        return None

    def unsigned(self, name: str) -> Unsigned:
        """As `TablesApart.unsigned`."""
        return unsigned(self._held, name)

    def _made_anew(self, name: str) -> Json:
        now_s = self._now_s()
        self._made = {
            other: made for other, made in self._made.items() if now_s - made[0] <= FRESH_S
        }
        table = latest_table(self._held, name)
        self._made[name] = self._now_s(), table
        return table


class TablesApart:
    """`Tables` of the store at a path, in a process of their own. Used on an asyncio loop.

    Official ones are made there for whoever signs them, on another thread.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pool: ProcessPoolExecutor | None = None
        self._lock = Lock()
        self._closed = False

    async def table(self, name: str, number: int) -> Shown:
        return await self._asked(_table, name, number)

    async def pair(self, name: str, game: str, bot: str, other: str) -> Json | None:
        return await self._asked(_pair, name, game, bot, other)

    async def _asked(self, do: Callable[..., _T], *given: object) -> _T:
        """What the process says; where it has died, what another one says."""
        for _ in range(2):
            try:
                # Starting a process takes longer than the loop may wait.
                future = await asyncio.to_thread(self._submit, do, given)
                return await asyncio.wrap_future(future)
            except BrokenProcessPool:
                self._has_died()
        raise StoreError(_NOT_NOW)

    def unsigned(self, name: str) -> Unsigned:
        """As `arena.server.office.unsigned`. Blocks until it is made, and is called on no loop."""
        for _ in range(2):
            try:
                return self._submit(_unsigned, (name,)).result()
            except BrokenProcessPool:
                self._has_died()
        raise StoreError(_NOT_NOW)

    def _has_died(self) -> None:
        _log.warning("the process that makes tables has died, and another one is started")
        self._drop()

    def _submit(self, do: Callable[..., _T], given: tuple[object, ...]) -> "Future[_T]":
        with self._lock:
            if self._closed:
                raise StoreError("the arena closes")
            if self._pool is None:
                # Never fork: a forked gRPC process may deadlock.
                self._pool = ProcessPoolExecutor(
                    1,
                    mp_context=get_context("spawn"),
                    initializer=_begin,
                    initargs=(self._path,),
                )
            return self._pool.submit(do, *given)

    def _drop(self) -> None:
        with self._lock:
            if getattr(self._pool, "_broken", False):
                self._pool = None

    def close(self) -> None:
        """End the process. What is being made is not waited for."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            processes = list((getattr(pool, "_processes", None) or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()


_makers: list[TableMaker] = []
"""Of this process, once it has begun: one."""


def _begin(path: Path) -> None:
    begin_worker()
    _makers.append(TableMaker(open_store(path)))


def _table(name: str, number: int) -> Shown:
    return _makers[0].table(name, number)


def _pair(name: str, game: str, bot: str, other: str) -> Json | None:
    return _makers[0].pair(name, game, bot, other)


def _unsigned(name: str) -> Unsigned:
    return _makers[0].unsigned(name)
