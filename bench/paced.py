"""Load at an offered rate: answers are said when they are due, however late the server is.

Bots that wait for the next ask before they think of an answer slow down with the server,
and so never meet it when it is slow: what they did not ask for meanwhile is missing among
the times (coordinated omission). Here the times at which answers are due are drawn
beforehand, as of many bots that know nothing of each other, and a turnaround counts from
then: from when an answer was due until its bot has read the ask that follows. An answer
whose turn has not come yet waits, and its waiting counts.

Streams play in pairs, two bots at one match of the trivial game; both answer at the same
moment, since neither is asked again before the other has answered. With as many pairs as
there are, that many moments can be under way.

Run as a program with a `bench.load.Job` as JSON; once all streams have been asked it prints
how long an ask and its answer are, `Lengths` as JSON. Then each line on its input, a `Pace` as JSON, has it play so, and it prints the
`Turnaround` as JSON. Against the bare server it needs nothing but grpcio.
"""

import asyncio
import contextlib
import gc
import json
import math
import selectors
import sys
import time
from array import array
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Final

import grpc

from bench import load
from bench.bare import METHOD

WARM_S: Final = 0.5
"""Play at a pace before the count begins."""
PATIENCE_S: Final = 5.0
"""After the last answer was due; asks that have not come by then count as coming at that moment."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What is offered."""

    per_s: float
    """Decisions a second, of all streams together."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Lengths:
    """Of messages, in bytes."""

    asked: int
    answered: int


@dataclass(frozen=True, slots=True)
class Turnaround:
    """What was found at a pace, from when answers were due to when the next asks were read."""

    decisions: int
    done_per_s: float
    """Decisions a second, from the first that was due to the last that was done."""
    p50_ms: float
    p90_ms: float
    p99_ms: float
    p999_ms: float
    most_ms: float


def turnaround(times_s: Sequence[float], took_s: float) -> Turnaround:
    """The percentiles of times, in milliseconds."""
    ordered = sorted(times_s)
    shares = (0.5, 0.9, 0.99, 0.999, 1.0)
    found = [round(percentile(ordered, share) * 1000, 3) for share in shares]
    return Turnaround(len(ordered), round(len(ordered) / took_s), *found)


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest of values, from low to high, up to which that share of them lies."""
    return ordered[max(1, math.ceil(share * len(ordered))) - 1]


class Schedule:
    """Which pair of streams answers when. Knows no transport: times come in, and pairs go out."""

    def __init__(self, pairs: int) -> None:
        self._asked = [0] * pairs
        """Streams of each pair that have been asked, and have not been told to answer."""
        self._idle: deque[int] = deque()
        self._waiting: deque[float] = deque()
        self._due_s = [math.nan] * pairs
        self.times_s = array("d")
        """Turnarounds of what was due since `count_from`."""
        self._from_s = math.inf
        self.last_s = 0.0
        """When the last of them was over."""

    def asked(self, pair: int, now_s: float) -> tuple[int, float] | None:
        """A stream of a pair was asked; which pair is to answer, and since when it is due."""
        self._over(pair, now_s)
        self._asked[pair] += 1
        if self._asked[pair] == 2:
            self._idle.append(pair)
        return self._next()

    def due(self, due_s: float) -> tuple[int, float] | None:
        """Both answers of some pair are due; which pair is to give them, if any is free."""
        self._waiting.append(due_s)
        return self._next()

    def count_from(self, from_s: float) -> None:
        """Forget all times, and keep those of answers that are due from then on."""
        self.times_s = array("d")
        self._from_s = from_s

    def give_up(self, now_s: float) -> None:
        """Count what is not over as if it were now, and stop counting."""
        for pair, asked in enumerate(self._asked):
            for _ in range(2 - asked):
                self._over(pair, now_s)
        while self._waiting:
            due_s = self._waiting.popleft()
            if due_s >= self._from_s:
                self.times_s.extend((now_s - due_s, now_s - due_s))
                self.last_s = now_s
        self._from_s = math.inf

    @property
    def at_rest(self) -> bool:
        """Whether nothing is due and every stream has been asked."""
        return not self._waiting and len(self._idle) == len(self._asked)

    def _over(self, pair: int, now_s: float) -> None:
        due_s = self._due_s[pair]
        if due_s >= self._from_s:
            self.times_s.append(now_s - due_s)
            self.last_s = now_s

    def _next(self) -> tuple[int, float] | None:
        if not (self._idle and self._waiting):
            return None
        pair, due_s = self._idle.popleft(), self._waiting.popleft()
        self._asked[pair], self._due_s[pair] = 0, due_s
        return pair, due_s


class _Streams:
    """All streams, which answer when the schedule says so."""

    def __init__(self, job: load.Job) -> None:
        self._job = job
        self.schedule = Schedule(job.streams // 2)
        self.lengths = Lengths(0, 0)
        loop = asyncio.get_running_loop()
        self._turns = [loop.create_future() for _ in range(job.streams)]
        self._draw = Random(1)
        self.at_rest = asyncio.Event()
        """Set while nothing is due and every stream has been asked."""

    async def play(self, number: int) -> None:
        job = self._job
        respond = load.responder(job)
        options = (("grpc.use_local_subchannel_pool", 1),)
        async with grpc.aio.insecure_channel(job.address, options=options) as channel:
            call = channel.stream_stream(load.PLAY if job.game else METHOD)()
            read, write = call.read, call.write
            await write(load.hello(job, number))
            while (frame := await read()) is not grpc.aio.EOF:
                now_s = time.perf_counter()
                answer, decisions = respond(frame)
                if not decisions:
                    continue
                self.lengths = Lengths(len(frame), len(answer))
                turn = self._turns[number]
                self._answer(self.schedule.asked(number // 2, now_s))
                if self.schedule.at_rest:
                    self.at_rest.set()
                await turn
                await write(answer)

    def _answer(self, chosen: tuple[int, float] | None) -> None:
        if chosen is not None:
            loop = asyncio.get_running_loop()
            for number in (2 * chosen[0], 2 * chosen[0] + 1):
                self._turns[number].set_result(None)
                self._turns[number] = loop.create_future()

    async def offer(self, pace: Pace) -> Turnaround:
        """Let answers be due at a pace, by a Poisson process."""
        begin_s = time.perf_counter()
        count_s, end_s = begin_s + WARM_S, begin_s + WARM_S + pace.seconds
        self.schedule.count_from(count_s)
        due_s = begin_s
        gc.disable()  # a pause of this process would look like one of the server
        while (due_s := due_s + self._draw.expovariate(pace.per_s / 2)) < end_s:
            # Also when it is late: else nothing would be read any more.
            await asyncio.sleep(max(0.0, due_s - time.perf_counter()))
            self.at_rest.clear()
            self._answer(self.schedule.due(due_s))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.at_rest.wait(), PATIENCE_S)
        gc.enable()
        self.schedule.give_up(time.perf_counter())
        return turnaround(self.schedule.times_s, self.schedule.last_s - count_s)


async def _main(job: load.Job) -> None:
    streams = _Streams(job)
    tasks = [asyncio.create_task(streams.play(number)) for number in range(job.streams)]
    begun = asyncio.create_task(streams.at_rest.wait())
    await asyncio.wait({begun, *tasks}, return_when=asyncio.FIRST_COMPLETED)
    if not begun.done():
        sys.exit("a stream ended before it was asked anything")
    print(json.dumps(asdict(streams.lengths)), flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        found = await streams.offer(Pace(**json.loads(line)))
        print(json.dumps(asdict(found)), flush=True)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _loop() -> asyncio.AbstractEventLoop:
    # epoll's timers are of whole milliseconds in asyncio; select's are as fine as the kernel's.
    return asyncio.SelectorEventLoop(selectors.SelectSelector())


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=_loop) as runner:
        runner.run(_main(load.Job(**json.loads(sys.argv[1]))))
