"""Load: one process that plays on many streams as fast as it can.

Run as a program with a job as JSON, it prints `ready` when all streams are open. Each line of its input is a number
of seconds, for which it then answers asks; after that it prints the counts as JSON. Between these times it answers
nothing, so that another server can be measured.

Against the bare server it needs only grpcio.
"""

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from dataclasses import asdict, astuple, dataclass, replace
from random import random
from typing import Any, Final

import grpc

from bench.bare import METHOD

PLAY: Final = "/cardarena.v1.PlayService/Play"
RAMP_S: Final = 0.3
"""Seconds of play before the count."""

_FOLD: Final = 2
"""`SOKO_VERB_FOLD`; the bare server needs only grpcio, so messages are not imported here."""

Respond = Callable[[bytes], tuple[bytes, int]]
"""Returns the answer to a frame, which may be empty, and the number of its decisions."""


@dataclass(frozen=True, slots=True)
class Job:
    """The job."""

    address: str
    streams: int
    game: str = ""
    """The game; empty for the bare server."""
    matches: int = 1
    """Matches of each stream at a time; with none, a stream is ready when it is welcomed."""
    first: bool = False
    """Answer with the first move, not with a random one."""
    calls: bool = False
    """Check or call in Soko, and bring in as little as possible."""
    answer_bytes: int = 0
    """Length of an answer to the bare server."""


@dataclass(slots=True)
class Count:
    """Counts of all streams."""

    decisions: int = 0
    frames: int = 0
    asked_bytes: int = 0
    answered_bytes: int = 0

    def since(self, before: "Count") -> "Count":
        """Return the difference from an earlier count."""
        return Count(
            *(now - then for now, then in zip(astuple(self), astuple(before), strict=True))
        )


def responder(job: Job) -> Respond:
    """Return the function that answers the frames of a stream."""
    if job.game:
        chosen = _check_or_call if job.calls else any_move
        return first() if job.first else _answering(chosen)
    answer = bytes(job.answer_bytes)
    return lambda _: (answer, 1)


def first() -> Respond:
    """Answer each ask with its first move."""
    return _answering(lambda _: 0)


def any_move(ask: Any) -> int:
    """Return the index of an offered move at random."""
    return int(random() * len(getattr(ask, ask.WhichOneof("game")).moves))


def _check_or_call(ask: Any) -> int:
    """Return the index of the first move, or of the second if the first is to fold."""
    return int(ask.soko.moves[0].verb == _FOLD)


def _answering(index_of: Callable[[Any], int]) -> Respond:
    """Answer each ask with one of its moves."""
    from arena.referee.wire.fields import varint
    from cardarena.v1 import play_pb2

    read = play_pb2.ArenaMessage.FromString

    def respond(frame: bytes) -> tuple[bytes, int]:
        asks = read(frame).asks.asks
        return _answers(
            [b"\x08" + varint(ask.ask_id) + b"\x10" + varint(index_of(ask)) for ask in asks]
        )

    return respond


def _answers(answers: list[bytes]) -> tuple[bytes, int]:
    """Return a BotMessage of encoded answers, assembled by hand to keep the load light."""
    from arena.referee.wire.fields import delimited

    if not answers:
        return b"", 0
    body = b"".join([delimited(b"\x0a", answer) for answer in answers])
    return delimited(b"\x1a", body), len(answers)


def hello(job: Job, stream: int) -> bytes:
    """Return the first message of a stream; the bare server accepts anything."""
    if not job.game:
        return bytes(job.answer_bytes)
    from cardarena.v1 import play_pb2

    hello = play_pb2.Hello(
        token=f"guest:{bot_name(stream)}",
        sdk="cardarena-bench",
        games=[play_pb2.GameSupport(game=job.game)],
        # A few more than are played, as the seats of a match learn its end one after another.
        max_matches=2 * job.matches,
        max_open_asks=job.matches,
    )
    return play_pb2.BotMessage(hello=hello).SerializeToString()


def bot_name(stream: int) -> str:
    """Return the name of the bot on a stream."""
    return f"load{stream}"


class Ready:
    """The streams that are ready."""

    def __init__(self, streams: int) -> None:
        self._missing = set(range(streams))
        self._all = asyncio.Event()

    def add(self, number: int) -> None:
        """Record that a stream is ready."""
        self._missing.discard(number)
        if not self._missing:
            self._all.set()

    async def play(
        self,
        streams: Iterable[Coroutine[Any, Any, None]],
        measure: Callable[[float], Awaitable[Any]],
    ) -> None:
        """Run the streams; print `ready` when all are, and as JSON what `measure` returns for each line of the input."""
        loop = asyncio.get_running_loop()
        tasks = [asyncio.create_task(stream) for stream in streams]
        begun = asyncio.create_task(self._all.wait())
        await asyncio.wait({begun, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        if not self._all.is_set():
            sys.exit("a stream ended before it was asked anything")
        print("ready", flush=True)
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            print(json.dumps(await measure(float(line))), flush=True)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def called(job: Job) -> AsyncIterator[Any]:
    """Open a stream by a connection of its own, as for bots in different processes."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    async with grpc.aio.insecure_channel(job.address, options=options) as channel:
        yield channel.stream_stream(PLAY if job.game else METHOD)()


async def _play(job: Job) -> None:
    gate = asyncio.Event()
    count = Count()
    ready = Ready(job.streams)
    respond = responder(job)

    async def stream(number: int) -> None:
        async with called(job) as call:
            read, write = call.read, call.write
            await write(hello(job, number))
            while (frame := await read()) is not grpc.aio.EOF:
                answer, decisions = respond(frame)
                if not decisions:
                    if not job.matches:
                        ready.add(number)
                    continue
                if not gate.is_set():
                    ready.add(number)
                    await gate.wait()
                count.decisions += decisions
                count.frames += 1
                count.asked_bytes += len(frame)
                count.answered_bytes += len(answer)
                await write(answer)

    async def open_gate(seconds: float) -> dict[str, float]:
        before = count.decisions
        gate.set()
        await asyncio.sleep(RAMP_S)
        begun, begin_s = replace(count), time.perf_counter()
        await asyncio.sleep(seconds)
        done, took_s = count.since(begun), time.perf_counter() - begin_s
        gate.clear()
        await asyncio.sleep(0.1)  # answers on their way arrive
        return asdict(done) | {"seconds": took_s, "played": count.decisions - before}

    await ready.play(map(stream, range(job.streams)), open_gate)


if __name__ == "__main__":
    asyncio.run(_play(Job(**json.loads(sys.argv[1]))))
