"""Bots that measure their own time: one process with a bot on each stream.

Run as a program with a job as JSON, it prints `ready` when each bot has an ask. Each line of its input is a number of
seconds, for which it then plays; after that it prints the time of each answered ask as JSON. The time of a bot is
from reading the ask to writing the answer, by its own monotonic clock.
"""

import asyncio
import contextlib
import json
import sys
import time
from dataclasses import dataclass
from random import random
from typing import NamedTuple

import grpc

from arena.wire.fields import varint
from bench.load import PLAY, bot_name
from cardarena.v1 import play_pb2


@dataclass(frozen=True, slots=True)
class Job:
    """The job."""

    address: str
    streams: int
    game: str
    think_ms: float
    """Longest time of a bot for an ask; it sleeps a random time up to this."""
    any_move: bool = False
    """Answer with a random move, not with the first one."""


class Asked(NamedTuple):
    """An ask, and the time of its arrival."""

    stream: int
    ask_id: int
    index: int
    """The index of the move."""
    read_s: float


class _Bots:
    def __init__(self, job: Job) -> None:
        self._job = job
        self._asked: set[int] = set()
        self.all_asked = asyncio.Event()
        self.recording = False
        self.thoughts: list[tuple[str, int, int]] = []
        """Bot, id of the ask, and microseconds."""

    async def play(self, stream: int) -> None:
        options = (("grpc.use_local_subchannel_pool", 1),)
        async with grpc.aio.insecure_channel(self._job.address, options=options) as channel:
            call = channel.stream_stream(PLAY)()
            hello = play_pb2.Hello(
                token=f"guest:{bot_name(stream)}",
                sdk="cardarena-bench",
                games=[play_pb2.GameSupport(game=self._job.game)],
                max_matches=2,
                max_open_asks=2,
            )
            await call.write(play_pb2.BotMessage(hello=hello).SerializeToString())
            writing = asyncio.Lock()
            with contextlib.suppress(grpc.aio.AioRpcError):  # set by the reader of asks
                async with asyncio.TaskGroup() as thinking:
                    while (frame := await call.read()) is not grpc.aio.EOF:
                        read_s = time.perf_counter()
                        for ask in play_pb2.ArenaMessage.FromString(frame).asks.asks:
                            asked = Asked(stream, ask.ask_id, self._index(ask), read_s)
                            thinking.create_task(self._think(call, writing, asked))

    def _index(self, ask: play_pb2.Ask) -> int:
        if not self._job.any_move:
            return 0
        return int(random() * len(getattr(ask, str(ask.WhichOneof("game"))).moves))

    async def _think(
        self, call: grpc.aio.StreamStreamCall, writing: asyncio.Lock, asked: Asked
    ) -> None:
        if not self.all_asked.is_set():
            self._asked.add(asked.stream)
            if len(self._asked) == self._job.streams:
                self.all_asked.set()
        recorded = self.recording
        await asyncio.sleep(random() * self._job.think_ms / 1000)
        body = b"\x08" + varint(asked.ask_id) + b"\x10" + varint(asked.index)
        answers = b"\x0a" + varint(len(body)) + body
        async with writing:
            thought_us = round((time.perf_counter() - asked.read_s) * 1e6)
            await call.write(b"\x1a" + varint(len(answers)) + answers)
        if recorded and self.recording:
            self.thoughts.append((bot_name(asked.stream), asked.ask_id, thought_us))


async def _main(job: Job) -> None:
    bots = _Bots(job)
    streams = [asyncio.create_task(bots.play(number)) for number in range(job.streams)]
    begun = asyncio.create_task(bots.all_asked.wait())
    await asyncio.wait({begun, *streams}, return_when=asyncio.FIRST_COMPLETED)
    if not bots.all_asked.is_set():
        sys.exit("a stream ended before it was asked anything")
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        bots.thoughts = []
        bots.recording = True
        await asyncio.sleep(float(line))
        bots.recording = False
        print(json.dumps(bots.thoughts), flush=True)
    for task in streams:
        task.cancel()
    await asyncio.gather(*streams, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(_main(Job(**json.loads(sys.argv[1]))))
