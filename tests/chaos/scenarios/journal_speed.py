"""How many decisions a second reach the disk, where everybody waits for each of their own.

Group commit: who waits meanwhile shares the next sync.
"""

import tempfile
import time
from pathlib import Path

import trio

from arena.records.journal.journal import Journal
from cardarena.v1 import game_pb2, journal_pb2
from tests.chaos.report import Figure, Report, percentile

PER_S = 2_000
P99_MS = 40.0


async def journal_speed(seed, *, writers=64, seconds=5.0):
    """So many writers, each of which appends a decision and waits until it is on disk."""
    with tempfile.TemporaryDirectory(prefix="cardarena-chaos-", dir=Path.cwd()) as folder:
        took_s, waits_s = trio.run(_write, Path(folder), writers, seconds)
    per_s = len(waits_s) / took_s
    p99_ms = percentile(waits_s, 99) * 1e3
    return Report().add(
        Figure("writers", writers),
        Figure.at_least("durable decisions", per_s, "/s", PER_S),
        Figure("until on disk, median", percentile(waits_s, 50) * 1e3, "ms"),
        Figure.at_most("until on disk, 99th percentile", p99_ms, "ms", P99_MS),
    )


async def _write(folder, writers, seconds):
    move = game_pb2.GameMove()
    move.democracy.SetInParent()
    waits_s = []

    async def writer(number):
        count = 0
        while trio.current_time() < end_s:
            count += 1
            decided = journal_pb2.Decided(
                seat=number % 2, decision=count, move=move, sent_us=count * 1000, charged_us=5000
            )
            began_s = time.perf_counter()
            record = journal_pb2.Record(match=number + 1, decided=decided)
            journal.append(record.SerializeToString())
            await journal.synced()
            waits_s.append(time.perf_counter() - began_s)

    with Journal(folder / "journal") as journal:
        async with trio.open_nursery() as nursery:
            await nursery.start(journal.run)
            began_s = time.perf_counter()
            end_s = trio.current_time() + seconds
            async with trio.open_nursery() as writing:
                for number in range(writers):
                    writing.start_soon(writer, number)
            took_s = time.perf_counter() - began_s
            nursery.cancel_scope.cancel()
    return took_s, waits_s
