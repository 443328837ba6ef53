"""The time that a restart takes with many matches in play.

    python -m bench.restart --matches 400 --matches 2000

First an arena plays seeded matches on a mock clock, up to a number of decisions each, and is stopped. Then an arena
with its folder starts on the real clock: it reads the journals (`recover`), starts to listen, and replays the
matches. *Longest hold* is the most CPU time of the loop between two turns of a task that asks for one every
millisecond.
"""

import gc
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import click
import trio
from trio.testing import MockClock

from arena.replay import durable_files
from arena.replay.journal.deal_log import DealLog
from arena.replay.journal.journal import Journal
from arena.replay.journal.recovery import recover
from arena.server.admission.tokens import Tokens
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.orders import BY_HAND
from arena.store import open_store
from arena.testing.orders import match_order
from arena.testing.outbox import MemoryOutbox
from cardarena.v1 import play_pb2

GAMES = ("klaberjass",)
BOTS = 16
TICK_S = 0.001


@contextmanager
def taken_up(folder, results):
    """Return an arena with the contents of a folder, the time to read it, and its journal."""
    replays = folder / "replays"
    replays.mkdir(exist_ok=True)
    began_s = time.perf_counter()
    recovery = recover(folder / "journal", replays, is_secret=lambda _: True)
    read_s = time.perf_counter() - began_s
    with (
        DealLog(folder / "journal", public=folder / "commitments") as log,
        Journal(folder / "journal", matches=recovery.matches) as journal,
    ):
        arena = Arena(
            journal,
            log,
            replays,
            Tokens(guests=True),
            results=results,
            recovery=recovery,
            server_id="arena",
        )
        yield arena, read_s, journal


async def answers(arena, bot, enough, counts):
    """Answer each ask of a bot with its first move, up to the limit of decisions."""
    line = MemoryOutbox()
    arena.hello(play_pb2.Hello(token=f"guest:{bot.name}", max_matches=512, max_open_asks=512,
                               games=[play_pb2.GameSupport(game=game) for game in GAMES]), line)  # fmt: skip
    session = arena.sessions.get(bot)
    while True:
        for data in line.take_frames():
            for ask in play_pb2.ArenaMessage.FromString(data).asks.asks:
                counts[bot, ask.ask_id >> 20] = counts.get((bot, ask.ask_id >> 20), 0) + 1
                if counts[bot, ask.ask_id >> 20] <= enough:
                    said = play_pb2.Answers(answers=[play_pb2.Answer(ask_id=ask.ask_id, index=0)])
                    session.incoming.deliver(
                        line,
                        play_pb2.BotMessage(answers=said).SerializeToString(),
                        trio.current_time(),
                    )
        await trio.sleep(0.001)


async def leave_behind(folder, results, matches, decisions):
    """Play matches up to a number of decisions of each seat, and stop."""
    bots = [BotId(f"bot{number}") for number in range(BOTS)]
    with taken_up(folder, results) as (arena, _, journal):
        async with trio.open_nursery() as nursery:
            await nursery.start(arena.run)
            for bot in bots:
                nursery.start_soon(answers, arena, bot, decisions, {})
            await trio.sleep(0.1)
            for number, game in zip(range(matches), cycle(GAMES), strict=False):
                pair = (bots[number % BOTS], bots[(number // BOTS + number + 1) % BOTS])
                if pair[0] == pair[1]:
                    pair = (pair[0], bots[(number + 1) % BOTS])
                order = match_order(
                    game, pair, {"hands": 40}, seed=str(number), match_id=f"m{number}"
                )
                arena.matches.order(order, f"m{number}", BY_HAND)
            await trio.sleep(60)
            nursery.cancel_scope.cancel()
        return journal.written_bytes


async def come_back(folder, results):
    """Restart with a folder; returns the seconds to read it, to listen, to replay all, and the longest hold."""
    holds = [0.0]

    async def watch():
        before_s = time.thread_time()
        while True:
            await trio.sleep(TICK_S)
            now_s = time.thread_time()
            holds.append(now_s - before_s)
            before_s = now_s

    with taken_up(folder, results) as (arena, read_s, _):
        began_s = time.perf_counter()
        async with trio.open_nursery() as nursery:
            await nursery.start(arena.run)
            listens_s = time.perf_counter() - began_s
            gc.collect()
            gc.freeze()  # as the host does before it listens
            nursery.start_soon(watch)
            while not arena.matches.all_replayed:  # noqa: ASYNC110 - nothing tells of it
                await trio.sleep(0.01)
            all_s = time.perf_counter() - began_s
            await trio.sleep(0.1)
            tables = len(arena.matches.referee.runners)
            nursery.cancel_scope.cancel()
    return read_s, read_s + listens_s, read_s + all_s, max(holds), tables


@click.command()
@click.option("--matches", "sizes", type=int, multiple=True, default=(400, 2000))
@click.option("--decisions", default=50, help="Of each seat at a match.")
def main(sizes, decisions):
    """Print a line for each number of matches."""
    durable_files.sync_data = lambda _: None  # without the time of the disk
    for matches in sizes:
        folder = Path(tempfile.mkdtemp())
        try:
            with open_store(folder / "arena.db") as store:
                written = trio.run(leave_behind, folder, store.matches(), matches, decisions,
                                   clock=MockClock(autojump_threshold=0))  # fmt: skip
                cpu_s = time.process_time()
                read_s, listens_s, all_s, hold_s, tables = trio.run(
                    come_back, folder, store.matches()
                )
                cpu_s = time.process_time() - cpu_s
        finally:
            shutil.rmtree(folder)
        sys.stdout.write(
            f"{matches} matches ({tables} go on), {written / 1e6:.1f} MB: read {read_s:.2f} s, "
            f"listens {listens_s:.2f} s, all played again {all_s:.2f} s, longest hold "
            f"{hold_s * 1000:.0f} ms, processor {cpu_s:.2f} s\n"
        )


if __name__ == "__main__":
    main()
