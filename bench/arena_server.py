"""A served arena with a new match for each that ends.

Run as a program with a job as JSON, it prints its address, waits for its bots and lets them play until it is killed.
"""

import contextlib
import itertools
import json
import logging
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

import trio

from arena.app.arena_process import ServerSettings, serve
from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens
from arena.live.arena import Arena
from arena.referee.terms import TimeControl
from arena.testing.orders import match_order
from bench import trivial
from bench.load import bot_name


@dataclass(frozen=True, slots=True)
class Job:
    """The job."""

    game: str
    streams: int
    seats: int
    matches: int
    """Matches of each stream at a time; with none, bots only connect."""
    options: dict[str, object] = field(default_factory=dict)
    move_ms: int = 3_600_000
    """Time for a move in seconds: long enough for the pauses of the load."""
    data: str = ""
    """The folder of the journal; empty for a temporary one."""
    hog: bool = False
    """Let a thread compute beside the arena."""

    def tables(self) -> list[tuple[BotId, ...]]:
        """Return the bots of each table: neighbours in a ring, so that each sits at `matches` tables."""
        if not self.matches:
            return []
        bots = [BotId(bot_name(stream)) for stream in range(self.streams)]
        ring = bots + bots
        step = 1 if self.seats > 2 or self.matches > 1 else self.seats
        rounds = max(1, round(self.matches * step / self.seats))
        starts = range(0, self.streams, step)
        return [tuple(ring[at : at + self.seats]) for at in starts] * rounds


async def keep_playing(arena: Arena, job: Job) -> None:
    """Wait for the bots, and begin a new match whenever one has ended."""
    control = TimeControl(move_ms=job.move_ms, bank_ms=0)
    numbers = itertools.count()

    async def table(bots: tuple[BotId, ...]) -> None:
        while True:
            number = f"{next(numbers):016x}"
            order = match_order(job.game, bots, job.options, match_id=number, time_control=control)
            await arena.matches.play(order, order.deal_set)

    tables = job.tables()
    if not tables:
        await trio.sleep_forever()
    await arena.sessions.arrived(
        sorted({bot for bots in tables for bot in bots}, key=lambda bot: bot.name)
    )
    async with trio.open_nursery() as nursery:
        for bots in tables:
            nursery.start_soon(table, bots)


async def _serve(arena: Arena, job: Job) -> None:
    print(arena.address, flush=True)
    await keep_playing(arena, job)


def _hog() -> None:
    while True:
        sum(range(10_000))


def main(job: Job) -> None:
    logging.basicConfig(level=logging.WARNING)
    trivial.offer()
    if job.hog:
        threading.Thread(target=_hog, daemon=True).start()
    with contextlib.ExitStack() as stack:
        data = job.data or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="cardarena-bench-")
        )
        tokens = Tokens(guests=True)
        serve(ServerSettings(Path(data)), tokens, lambda arena: _serve(arena, job))


if __name__ == "__main__":
    main(Job(**json.loads(sys.argv[1])))
