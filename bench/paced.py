"""Load at an offered rate: answers are sent when they are due, however late the server is.

Bots that wait for an ask before they prepare an answer slow down with the server, so that its slow moments are
missing among the measured times (coordinated omission). Here the times of answers are drawn beforehand, as for many
independent bots. A turnaround is counted from the time when an answer was due until its bot has read the following
ask, so that an answer that must wait for its turn counts with its wait.

Streams play in pairs, two bots in one match of the trivial game. Both answer at the same moment, as neither is asked
again before the other has answered.

Run as a program with a `bench.load.Job` as JSON, it prints the lengths of an ask and its answer when all streams have
asks (`Lengths` as JSON). Each line of its input is a `Pace` as JSON, with which it then plays, and prints the
`Turnaround` as JSON. Against the bare server it needs only grpcio.
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
"""Seconds of play at a pace before the count."""
PATIENCE_S: Final = 5.0
"""Seconds after the last answer; asks that have not arrived by then count as arriving then."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The offered load."""

    per_s: float
    """Decisions a second of all streams together."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths of messages in bytes."""

    asked: int
    answered: int


@dataclass(frozen=True, slots=True)
class Turnaround:
    """The results at a pace: times from due answers to the arrival of the next asks."""

    decisions: int
    done_per_s: float
    """Decisions a second, from the first one due to the last one made."""
    p50_ms: float
    p90_ms: float
    p99_ms: float
    p999_ms: float
    most_ms: float


def turnaround(times_s: Sequence[float], took_s: float) -> Turnaround:
    """Return percentiles of times, in milliseconds."""
    ordered = sorted(times_s)
    shares = (0.5, 0.9, 0.99, 0.999, 1.0)
    found = [round(percentile(ordered, share) * 1000, 3) for share in shares]
    return Turnaround(len(ordered), round(len(ordered) / took_s), *found)


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest of the ascending values up to which a share of them lies."""
    return ordered[max(1, math.ceil(share * len(ordered))) - 1]


class Schedule:
    """Decides which pair of streams answers when, from times alone."""

    def __init__(self, pairs: int) -> None:
        self._asked = [0] * pairs
        """Streams of each pair that have an ask and no answer."""
        self._idle: deque[int] = deque()
        self._waiting: deque[float] = deque()
        self._due_s = [math.nan] * pairs
        self.times_s = array("d")
        """Turnarounds of answers due since `count_from`."""
        self._from_s = math.inf
        self.last_s = 0.0
        """The end of the last of them."""

    def asked(self, pair: int, now_s: float) -> tuple[int, float] | None:
        """Record an ask of a pair; returns the pair that must answer, and since when that is due."""
        self._over(pair, now_s)
        self._asked[pair] += 1
        if self._asked[pair] == 2:
            self._idle.append(pair)
        return self._next()

    def due(self, due_s: float) -> tuple[int, float] | None:
        """Record that answers of a pair are due; returns the pair that gives them, if one is free."""
        self._waiting.append(due_s)
        return self._next()

    def count_from(self, from_s: float) -> None:
        """Forget all times, and record those of answers due from then on."""
        self.times_s = array("d")
        self._from_s = from_s

    def give_up(self, now_s: float) -> None:
        """Count unfinished turnarounds as if they ended now, and stop."""
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
        """Whether no answer is due and each stream has an ask."""
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
    """All streams, which answer by the schedule."""

    def __init__(self, job: load.Job) -> None:
        self._job = job
        self.schedule = Schedule(job.streams // 2)
        self.lengths = Lengths(0, 0)
        loop = asyncio.get_running_loop()
        self._turns = [loop.create_future() for _ in range(job.streams)]
        self._draw = Random(1)
        self.at_rest = asyncio.Event()
        """Set while no answer is due and each stream has an ask."""

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
        """Make answers due at a pace, by a Poisson process."""
        begin_s = time.perf_counter()
        count_s, end_s = begin_s + WARM_S, begin_s + WARM_S + pace.seconds
        self.schedule.count_from(count_s)
        due_s = begin_s
        gc.disable()  # a pause of this process would count as one of the server
        while (due_s := due_s + self._draw.expovariate(pace.per_s / 2)) < end_s:
            # Also when it is late, so that asks are still read.
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
    # In asyncio timers of epoll have whole milliseconds; those of select have the resolution of the kernel.
    return asyncio.SelectorEventLoop(selectors.SelectSelector())


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=_loop) as runner:
        runner.run(_main(load.Job(**json.loads(sys.argv[1]))))
