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
from typing import Any

import grpc

from arena.referee.wire.fields import varint
from bench.load import Job, Ready, any_move, bot_name, called, hello
from cardarena.v1 import play_pb2


@dataclass(frozen=True, slots=True)
class ThinkingJob(Job):
    """The job of bots that think: they sleep a random time over each ask."""

    think_ms: float = 0.0
    """Longest time for an ask."""


class _Bots:
    def __init__(self, job: ThinkingJob) -> None:
        self._job = job
        self.ready = Ready(job.streams)
        self._recording = False
        self._thoughts: list[tuple[str, int, int]] = []
        """Bot, id of the ask, and microseconds."""

    async def play(self, stream: int) -> None:
        """Play on a stream until it ends."""
        async with called(self._job) as call:
            await call.write(hello(self._job, stream))
            writing = asyncio.Lock()
            with contextlib.suppress(grpc.aio.AioRpcError):  # set by the reader of asks
                async with asyncio.TaskGroup() as thinking:
                    while (frame := await call.read()) is not grpc.aio.EOF:
                        read_s = time.perf_counter()
                        for ask in play_pb2.ArenaMessage.FromString(frame).asks.asks:
                            self.ready.add(stream)
                            thinking.create_task(self._think(call, writing, stream, ask, read_s))

    async def record(self, seconds: float) -> list[tuple[str, int, int]]:
        """Return the times of the asks that were answered within some seconds."""
        self._thoughts, self._recording = [], True
        await asyncio.sleep(seconds)
        self._recording = False
        return self._thoughts

    async def _think(
        self, call: Any, writing: asyncio.Lock, stream: int, ask: play_pb2.Ask, read_s: float
    ) -> None:
        recorded = self._recording
        index = 0 if self._job.first else any_move(ask)
        await asyncio.sleep(random() * self._job.think_ms / 1000)
        body = b"\x08" + varint(ask.ask_id) + b"\x10" + varint(index)
        answers = b"\x0a" + varint(len(body)) + body
        async with writing:
            thought_us = round((time.perf_counter() - read_s) * 1e6)
            await call.write(b"\x1a" + varint(len(answers)) + answers)
        if recorded and self._recording:
            self._thoughts.append((bot_name(stream), ask.ask_id, thought_us))


async def _main(job: ThinkingJob) -> None:
    bots = _Bots(job)
    await bots.ready.play(map(bots.play, range(job.streams)), bots.record)


if __name__ == "__main__":
    asyncio.run(_main(ThinkingJob(**json.loads(sys.argv[1]))))
