"""Computes standings in a process of its own, so that matches do not wait for them.

Live standings of many deal-sets take seconds of Python, and another thread would delay the event loop at every switch
of threads. The process opens the store itself, runs at a low priority, and ends with the arena. It starts when
standings are first requested.
"""

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from threading import Lock
from typing import Final, TypeVar

from arena.competition.standings import Json
from arena.referee.step_processes import begin_worker
from arena.server.competition_service import latest_standings, next_official, official_of
from arena.server.official_standings import UnsignedStandings
from arena.store import Store, StoreError, open_store

FRESH_S: Final = 10.0
"""How long live standings are reused, in seconds."""

_NOT_NOW: Final = "standings cannot be computed at present"

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SentStandings:
    """Standings as a JSON text, which the event loop sends without parsing it."""

    text: str
    number: int
    """0 for live standings."""
    public_key: str
    signature: str


class StandingsMaker:
    """Computes standings of one store, and keeps them for `FRESH_S` seconds. Calls block."""

    def __init__(self, store: Store, now_s: Callable[[], float] = time.monotonic) -> None:
        self._competitions, self._now_s = store.competitions(), now_s
        self._made: dict[str, tuple[float, Json]] = {}

    def standings(self, name: str, number: int) -> SentStandings:
        """The official standings of a number; for 0 the latest standings."""
        found = official_of(self._competitions, name, number) if number else self._made_anew(name)
        return SentStandings(
            json.dumps(found),
            found.get("number", 0),
            found.get("public_key", ""),
            found.get("signature", ""),
        )

    def pair(self, name: str, game: str, bot: str, other: str) -> Json | None:
        """The results between two bots in the latest standings; None if they have not met."""
        made_s, standings = self._made.get(name, (0.0, None))
        if standings is None or self._now_s() - made_s > FRESH_S:
            standings = self._made_anew(name)
        games = standings["games"]
        for each in games:
            if each["game"] == (game or games[0]["game"]):
                for row in each["pairs"]:
                    if {row["bot"], row["other"]} == {bot, other}:
                        found: Json = row
                        return found
        return None

    def unsigned(self, name: str) -> UnsignedStandings:
        """As `StandingsProcess.unsigned`."""
        return next_official(self._competitions, name)

    def _made_anew(self, name: str) -> Json:
        now_s = self._now_s()
        self._made = {
            other: made for other, made in self._made.items() if now_s - made[0] <= FRESH_S
        }
        standings = latest_standings(self._competitions, name)
        self._made[name] = self._now_s(), standings
        return standings


class StandingsProcess:
    """A `StandingsMaker` of the store at a path, in a process of its own. Used on an asyncio loop.

    Official standings are computed there too, called on another thread, and signed in the arena's process.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pool: ProcessPoolExecutor | None = None
        self._lock = Lock()
        self._closed = False

    async def standings(self, name: str, number: int) -> SentStandings:
        return await self._computed(StandingsMaker.standings, name, number)

    async def pair(self, name: str, game: str, bot: str, other: str) -> Json | None:
        return await self._computed(StandingsMaker.pair, name, game, bot, other)

    async def _computed(self, compute: Callable[..., _T], *given: object) -> _T:
        """The result of a method of `StandingsMaker`; if the process has died, that of another one."""
        for _ in range(2):
            with self._restarting():
                # Starting a process takes longer than the loop may wait.
                future = await asyncio.to_thread(self._submit, compute, given)
                return await asyncio.wrap_future(future)
        raise StoreError(_NOT_NOW)

    def unsigned(self, name: str) -> UnsignedStandings:
        """As `competition_service.next_official`. Blocks until it is computed; not for an event loop."""
        for _ in range(2):
            with self._restarting():
                return self._submit(StandingsMaker.unsigned, (name,)).result()
        raise StoreError(_NOT_NOW)

    @contextlib.contextmanager
    def _restarting(self) -> Iterator[None]:
        """Have the next call start another process if the process has died."""
        try:
            yield
        except BrokenProcessPool:
            _log.warning("the standings process has died, and is started again")
            with self._lock:
                if getattr(self._pool, "_broken", False):
                    self._pool = None

    def _submit(self, compute: Callable[..., _T], given: tuple[object, ...]) -> "Future[_T]":
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
            return self._pool.submit(_call, compute, *given)

    def close(self) -> None:
        """End the process, also while it computes."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            processes = list((getattr(pool, "_processes", None) or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()


_makers: list[StandingsMaker] = []
"""The maker of this process, once it has begun."""


def _begin(path: Path) -> None:
    begin_worker()
    _makers.append(StandingsMaker(open_store(path)))


def _call(compute: Callable[..., _T], *given: object) -> _T:
    return compute(_makers[0], *given)
