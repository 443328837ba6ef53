"""Computes standings in a separate process, so that matches do not wait for them.

Live standings of many deal-sets take seconds of Python, and another thread would delay the event loop at every switch
of threads. The process opens the store itself, runs at a low priority, and ends with the arena. It starts when
standings are first requested.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from arena.contests.collusion_report import standings_without, suspected
from arena.contests.official_standings import latest_standings, next_official, official_of
from arena.contests.standings import Json
from arena.process_pool import PoolClosed, ProcessPool
from arena.store import OfficialStandings, Store, StoreError, open_store

if TYPE_CHECKING:
    from concurrent.futures import Future

FRESH_S: Final = 10.0
"""How long live standings are reused, in seconds."""

_NOT_NOW: Final = "standings cannot be computed at present"

_T = TypeVar("_T")


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
        standings = (
            official_of(self._competitions, name, number) if number else self._made_anew(name)
        )
        return SentStandings(
            json.dumps(standings),
            standings.get("number", 0),
            standings.get("public_key", ""),
            standings.get("signature", ""),
        )

    def pair(self, name: str, game: str, bot: str, other: str) -> Json | None:
        made_s, standings = self._made.get(name, (0.0, None))
        if standings is None or self._now_s() - made_s > FRESH_S:
            standings = self._made_anew(name)
        games = standings["games"]
        for of_game in games:
            if of_game["game"] == (game or games[0]["game"]):
                for row in of_game["pairs"]:
                    if {row["bot"], row["other"]} == {bot, other}:
                        return {**row, "margins_in": of_game["margins_in"]}
        return None

    def collusion(self, name: str, without: Collection[str], earlier: Sequence[str]) -> str:
        record = self._competitions.record(name)
        if without:
            return json.dumps(standings_without(record, without))
        begins = self._competitions.begins_at_workers(name)
        return json.dumps(suspected(record, begins, [*map(self._competitions.record, earlier)]))

    def unsigned(self, name: str) -> OfficialStandings:
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
    """A `StandingsMaker` of the store at a path, in a separate process. Used on an asyncio loop.

    Official standings are computed there too, called on another thread, and signed in the arena's process.
    """

    def __init__(self, path: Path) -> None:
        self._pool = ProcessPool(1, _begin, path)
        self._reports = ProcessPool(1, _begin, path)
        """Reports take minutes, for which standings do not wait."""

    async def standings(self, name: str, number: int) -> SentStandings:
        return await self._computed(self._pool, StandingsMaker.standings, name, number)

    async def pair(self, name: str, game: str, bot: str, other: str) -> Json | None:
        return await self._computed(self._pool, StandingsMaker.pair, name, game, bot, other)

    async def collusion(self, name: str, without: Collection[str], earlier: Sequence[str]) -> str:
        return await self._computed(self._reports, StandingsMaker.collusion, name, without, earlier)

    async def _computed(self, pool: ProcessPool, compute: Callable[..., _T], *given: object) -> _T:
        """Return the result of a method of `StandingsMaker`; if the process has died, start another one."""
        for _ in range(2):
            with contextlib.suppress(BrokenProcessPool):
                # Starting a process takes longer than the loop may wait.
                future = await asyncio.to_thread(self._submit, pool, compute, given)
                return await asyncio.wrap_future(future)
        raise StoreError(_NOT_NOW)

    def unsigned(self, name: str) -> OfficialStandings:
        """Return what `official_standings.next_official` returns. Blocks until it is computed; not for an event loop."""
        return self._awaited(StandingsMaker.unsigned, name)

    def latest(self, name: str) -> str:
        """Return the latest standings as JSON. Blocks until they are computed; not for an event loop."""
        return self._awaited(StandingsMaker.standings, name, 0).text

    def _awaited(self, compute: Callable[..., _T], *given: object) -> _T:
        for _ in range(2):
            with contextlib.suppress(BrokenProcessPool):
                return self._submit(self._pool, compute, given).result()
        raise StoreError(_NOT_NOW)

    def _submit(
        self, pool: ProcessPool, compute: Callable[..., _T], given: tuple[object, ...]
    ) -> "Future[_T]":
        try:
            return pool.submit(_call, compute, *given)
        except PoolClosed:
            raise StoreError("the arena closes") from None

    def close(self) -> None:
        self._pool.close()
        self._reports.close()


_makers: list[StandingsMaker] = []
"""The maker of this process, after its start."""


def _begin(path: Path) -> None:
    _makers.append(StandingsMaker(open_store(path)))


def _call(compute: Callable[..., _T], *given: object) -> _T:
    return compute(_makers[0], *given)
