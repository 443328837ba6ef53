"""The way in which a bot decides several matches, and its numbers of matches and open asks."""

import inspect
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from cardarena._bot import BatchBot, Bot
from cardarena._errors import Misconfigured

MANY: Final = 64
"""The number of matches of a bot that can decide any number at once."""


class Way(Enum):
    """The caller of the bot's methods."""

    MAIN_THREAD = auto()
    THREADS = auto()
    PROCESSES = auto()
    EVENT_LOOP = auto()
    BATCH = auto()


_REMEDIES: Final = {
    Way.MAIN_THREAD: "set workers",
    Way.THREADS: "set more workers",
    Way.PROCESSES: "set more processes",
    Way.EVENT_LOOP: "await what takes long, or set workers",
    Way.BATCH: "set max_matches lower",
}


@dataclass(frozen=True, slots=True)
class Mode:
    """The way in which a bot decides several matches."""

    way: Way
    at_once: int
    """The number of threads or processes; 0 without a limit."""
    max_matches: int
    max_open_asks: int

    @property
    def remedy(self) -> str:
        """The advice on what to change if asks wait in the bot's own queue."""
        return _REMEDIES[self.way]


def mode_of(kind: type[Bot] | type[BatchBot]) -> Mode:
    """Return the mode that a bot's class declares.

    Raises:
      Misconfigured: if it declares two ways, or a wrong number.
    """
    way, at_once = _way(kind)
    matches = kind.max_matches if kind.max_matches is not None else at_once or MANY
    asks = kind.max_open_asks if kind.max_open_asks is not None else at_once or matches
    return Mode(way, at_once, matches, asks)


def async_methods(kind: type[Bot] | type[BatchBot]) -> set[str]:
    """Return the names of the methods that are coroutine functions."""
    names = ("started", "move", "moves", "ended")
    return {name for name in names if inspect.iscoroutinefunction(getattr(kind, name, None))}


def _way(kind: type[Bot] | type[BatchBot]) -> tuple[Way, int]:
    name, waits = kind.__name__, async_methods(kind)
    if issubclass(kind, BatchBot):
        if waits:
            raise Misconfigured(f"{name}.{min(waits)} is async: only methods of a Bot may be")
        given = [option for option in ("workers", "processes") if hasattr(kind, option)]
        if given:
            raise Misconfigured(f"{name} sets {given[0]}: a BatchBot decides all moves together")
        return Way.BATCH, 0
    for option, least in (("workers", 1), ("processes", 0)):
        number = getattr(kind, option)
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            raise Misconfigured(f"{name}.{option} is {number!r}: a number from {least} is wanted")
    ways = {
        "async def move": "move" in waits,
        "workers": kind.workers > 1,
        "processes": kind.processes > 0,
    }
    if waits and "move" not in waits:
        raise Misconfigured(
            f"{name}.{min(waits)} is async and its move is not: make move async too"
        )
    chosen = [way for way, so in ways.items() if so]
    if len(chosen) > 1:
        raise Misconfigured(f"{name} has {' and '.join(chosen)}: choose one of them")
    if kind.event_loop not in ("asyncio", "trio"):
        raise Misconfigured(f"{name}.event_loop is {kind.event_loop!r}: asyncio or trio is wanted")
    if kind.processes:
        return Way.PROCESSES, kind.processes
    if kind.workers > 1:
        return Way.THREADS, kind.workers
    return (Way.EVENT_LOOP, 0) if waits else (Way.MAIN_THREAD, 1)
