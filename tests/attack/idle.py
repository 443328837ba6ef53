"""Streams on which nothing happens: what each takes of memory, and all of the processor.

    python -m tests.attack.idle ADDRESS STREAMS SECONDS

opens so many play streams, each on a connection of its own as every bot has it,
says when they are open, then only answers pings, and says how many were lost.
"""

import asyncio
import resource
import selectors
import sys
import time

from tests.attack.culprits import hello
from tests.attack.http2 import ACK, Frame, Wire, call, frame, said
from tests.attack.machine import use_of
from tests.chaos.case import Violation
from tests.chaos.processes import PATIENCE_S, Child, die_with_parent, until
from tests.chaos.report import Figure, Report
from tests.chaos.trial import Trial

KB = 64.0
CPU_PERCENT = 1.0
FILES_BESIDE = 200
"""Open files of a process that are no streams."""
OPEN_S = 300.0
RETRY_S = 0.5


async def connections(seed, *, streams, idle_s=60.0):
    """Hold many idle streams open, and see what they take."""
    report = Report()
    possible = _raise_file_limit() - FILES_BESIDE
    if streams > possible:
        report.add(Figure("streams that were asked for", streams))
        streams = possible
    async with Trial(seed=seed) as trial:
        pid = trial.server.child.pid
        (await _hold(trial, 20, 0.0)).kill()  # until everything is loaded
        await asyncio.sleep(1.0)
        before, began_s = use_of(pid), time.monotonic()
        holder = await _hold(trial, streams, idle_s)
        opened, took_s = use_of(pid), time.monotonic() - began_s
        try:
            began_s = time.monotonic()
            lost = int((await holder.says(r"lost (\d+)", idle_s + PATIENCE_S))[1])
            after, lasted_s = use_of(pid), time.monotonic() - began_s
        finally:
            holder.kill()
    each_kb = (max(opened.rss_kb, after.rss_kb) - before.rss_kb) / streams
    percent = 100 * (after.cpu_s - opened.cpu_s) / lasted_s
    if lost:
        where = f"{lost} of {streams}"
        report.violations.append(Violation("idle streams stay open", where))
    return report.add(
        Figure("idle streams", streams),
        Figure("opened in", took_s, "s"),
        Figure("- processor for that", opened.cpu_s - before.cpu_s, "s"),
        Figure.at_most("memory of a stream", each_kb, "kB", KB),
        Figure.at_most("processor when idle", percent, "%", CPU_PERCENT),
    )


async def _hold(trial, streams, idle_s):
    """A process with so many open streams, for so long."""
    log = trial.server.log.with_name(f"idle-{streams}.log")
    holder = Child("tests.attack.idle", trial.server.address, streams, idle_s, log=log)
    try:
        await until(lambda: f"{streams} open" in holder.words(), "all streams", OPEN_S)
    except BaseException:
        holder.kill()
        raise
    return holder


def _raise_file_limit():
    """As many files as may be open; gives the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


class Holder:
    """Opens streams, and answers the arena's pings."""

    def __init__(self, address):
        self._address = address
        self._selector = selectors.DefaultSelector()
        self.open = 0
        self.refused = 0

    def add(self, number):
        """One more stream that was welcomed; a bot that is refused comes again."""
        wire, stream = Wire(self._address), 1
        while True:
            wire.send(call(stream) + said(stream, hello(f"idle {number}")))
            seen = wire.wait_for(_about(stream), OPEN_S)
            if seen is None:
                raise SystemExit(f"stream {number} was not welcomed")
            if not seen.ends_stream:
                break
            self.refused += 1
            time.sleep(RETRY_S)
            stream += 2
        self._selector.register(wire.fileno(), selectors.EVENT_READ, wire)
        self.open += 1

    def rest(self, seconds):
        """Only answer pings for so long."""
        end_s = time.monotonic() + seconds
        while True:
            left_s = max(0.0, end_s - time.monotonic())
            for key, _ in self._selector.select(left_s):
                self._hear(key.data)
            if not left_s:
                return

    def _hear(self, wire):
        ended = False
        for seen in wire.frames(0.0):
            if seen.kind == Frame.PING and not seen.flags & ACK:
                wire.send(frame(Frame.PING, flags=ACK, body=seen.body))
            ended = ended or seen.ends_stream
        if ended or wire.closed:
            self._selector.unregister(wire.fileno())
            wire.close()
            self.open -= 1


def _about(stream):
    """Whether a frame is the first message of a stream, or its end."""
    return lambda seen: seen.stream == stream and (seen.kind == Frame.DATA or seen.ends_stream)


def _say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    die_with_parent()
    address, streams, idle_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    holder = Holder(address)
    for number in range(streams):
        holder.add(number)
        if number % 100 == 0:
            holder.rest(0.0)
    _say(f"{streams} open")
    holder.rest(idle_s)
    _say(f"idle for {idle_s:g} s, lost {streams - holder.open}")
