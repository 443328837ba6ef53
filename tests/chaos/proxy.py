"""A TCP proxy that mistreats what passes through it, in the event loop of its test.

A `Link` is one connection. It can be mistreated at will (`reset`, `half_close`,
`stall`), or by a `Plan`: what happens to it once so many bytes have passed one
way. Plans are drawn from a seed, so a failing one can be drawn again.
"""

import asyncio
import contextlib
import socket
import struct
from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from random import Random

UP, DOWN = "up", "down"
"""From the bot to the arena, and back."""
CHUNK_BYTES = 16_384
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Deed(StrEnum):
    """What happens to a connection."""

    CUT = "cut"  # closed in order, both ways
    RESET = "reset"  # both ends get a TCP reset
    STALL = "stall"  # nothing passes this way for a time, then all of it
    HALF_CLOSE = "half-close"  # one side hangs up, the other may go on talking
    ONE_WAY = "one way"  # what is sent this way is lost, then both ends get a reset


@dataclass(frozen=True)
class Act:
    """One thing that happens to a connection."""

    deed: Deed
    way: str = DOWN
    after_bytes: int = 0
    """It happens when exactly so many more bytes have passed on its way."""
    lasts_s: float = 0.0
    """Of a stall, and of the loss before the reset of `ONE_WAY`."""


@dataclass(frozen=True)
class Plan:
    """How a connection is treated."""

    latency_s: float = 0.0
    jitter_s: float = 0.0
    acts: tuple[Act, ...] = ()
    """One after the other."""


def plan_of(seed, number):
    """The plan of a connection, the `number`th of a proxy; the same for the same seed."""
    random = Random(f"{seed}:{number}")
    acts = []
    while len(acts) < 8 and not (acts and acts[-1].deed is not Deed.STALL):
        act = Act(
            deed=random.choice(list(Deed)),
            way=random.choice([UP, DOWN]),
            # A hello and a welcome are some hundred bytes, a short match some thousands.
            after_bytes=int(min(random.paretovariate(0.7) * 120, 20_000)),
            lasts_s=random.uniform(0.05, 0.6),
        )
        acts.append(act)
    return Plan(
        latency_s=random.choice([0.0, 0.0, random.uniform(0, 0.02)]),
        jitter_s=random.choice([0.0, random.uniform(0, 0.01)]),
        acts=tuple(acts),
    )


class _Way:
    """One direction of a connection: read, kept for a while, passed on."""

    def __init__(self, link, name, reader, writer):
        self._link, self._name = link, name
        self._reader, self._writer = reader, writer
        self._queue = deque()
        self._more = asyncio.Event()
        self.flows = asyncio.Event()
        self.flows.set()
        self.loses = False
        self.passed_bytes = 0

    async def read(self):
        """Take what comes, and say when it is to be passed on."""
        plan, loop, due_s = self._link.plan, asyncio.get_running_loop(), 0.0
        while True:
            data = await self._reader.read(CHUNK_BYTES)
            delay_s = plan.latency_s + self._link.random.uniform(0, plan.jitter_s)
            # In order, however they jitter: TCP would have it so.
            due_s = max(due_s, loop.time() + delay_s)
            self._queue.append((due_s, data))
            self._more.set()
            if not data:
                return

    async def write(self):
        """Pass on what was read, when it is due, until the sender has hung up."""
        loop = asyncio.get_running_loop()
        while True:
            while not self._queue:
                self._more.clear()
                await self._more.wait()
            due_s, data = self._queue.popleft()
            if (wait_s := due_s - loop.time()) > 0:
                await asyncio.sleep(wait_s)
            await self.flows.wait()
            if not data:
                with contextlib.suppress(OSError):
                    self._writer.write_eof()
                return
            await self._pass(data)

    async def _pass(self, data):
        link = self._link
        while (act := link.next_act) and act.way == self._name:
            head = act.after_bytes - (self.passed_bytes - link.act_from[self._name])
            if head > len(data):
                break
            head = max(0, head)
            await self._send(data[:head])
            data = data[head:]
            link.act_done()
            await link.do(act)
        await self._send(data)

    async def _send(self, data):
        if not self._link.open:
            return
        self.passed_bytes += len(data)
        if data and not self.loses:
            self._writer.write(data)
            await self._writer.drain()


class Link:
    """One connection through the proxy."""

    def __init__(self, number, plan, seed, bot, arena):
        self.number = number
        self.plan = plan
        self.random = Random(f"{seed}:{number}:jitter")
        self.open = True
        self.deeds = []
        """What was done to it."""
        self.act_from = {UP: 0, DOWN: 0}
        """Bytes that had passed each way at the act before."""
        self._acts = deque(plan.acts)
        self._writers = {DOWN: bot[1], UP: arena[1]}
        self.ways = {
            UP: _Way(self, UP, bot[0], arena[1]),
            DOWN: _Way(self, DOWN, arena[0], bot[1]),
        }

    async def run(self):
        """Pass on both ways until both have ended, or it is closed."""
        tasks = [
            asyncio.ensure_future(do())
            for way in self.ways.values()
            for do in (way.read, way.write)
        ]
        try:
            await asyncio.gather(*tasks)
        except (OSError, asyncio.IncompleteReadError):
            pass  # one end is gone; so is the other then
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.close()

    @property
    def next_act(self):
        """What is to happen next; None if nothing is."""
        return self._acts[0] if self._acts else None

    def act_done(self):
        """Count on from here to the act after this one."""
        self._acts.popleft()
        self.act_from = {name: way.passed_bytes for name, way in self.ways.items()}

    def spare(self):
        """Let nothing more happen to it."""
        self._acts.clear()

    async def do(self, act):
        """Do something to it; returns when it may go on."""
        self.deeds.append(act.deed)
        if act.deed is Deed.CUT:
            self.close()
        elif act.deed is Deed.RESET:
            self.reset()
        elif act.deed is Deed.STALL:
            await asyncio.sleep(act.lasts_s)
        elif act.deed is Deed.HALF_CLOSE:
            self.half_close(act.way)
        else:
            self.ways[act.way].loses = True
            asyncio.get_running_loop().call_later(act.lasts_s, self.reset)

    def close(self):
        """Hang up on both ends, in order."""
        self._over()
        for writer in self._writers.values():
            writer.close()

    def reset(self):
        """Hang up on both ends as a host that has crashed and come back."""
        self._over()
        for writer in self._writers.values():
            bare = writer.get_extra_info("socket")
            if bare is not None:
                with contextlib.suppress(OSError):
                    bare.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            writer.transport.abort()

    def _over(self):
        self.open = False
        self.flow()  # nothing waits any more

    def half_close(self, way):
        """Tell the receiving end of one way that nothing more will come."""
        writer = self._writers[way]
        with contextlib.suppress(OSError):
            writer.write_eof()
        self.ways[way].loses = True

    def stall(self):
        """Let nothing pass until `flow`."""
        for way in self.ways.values():
            way.flows.clear()

    def flow(self):
        """Let pass what was stalled."""
        for way in self.ways.values():
            way.flows.set()


class Proxy:
    """Listens on a port of its own and connects through to another address."""

    def __init__(self, target, *, plan=lambda number: Plan(), seed=0):
        """`target()` is the address, `plan(number)` the plan of the nth connection, from 0."""
        self._target, self._plan, self._seed = target, plan, seed
        self._tasks = set()
        self._server = None
        self.links = []
        self.address = ""

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        self.address = f"{host}:{port}"
        return self

    async def __aexit__(self, *_):
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for link in self.links:
            link.reset()  # nobody is left to read what may still be queued
        await asyncio.sleep(0)  # a transport closes its socket one turn of the loop later
        await self._server.wait_closed()

    @property
    def link(self):
        """The newest connection."""
        return self.links[-1]

    async def _accept(self, *bot):
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            await self._connect(bot)
        except asyncio.CancelledError:
            bot[1].transport.abort()  # the proxy ends
        finally:
            self._tasks.discard(task)
            bot[1].close()

    async def _connect(self, bot):
        host, port = self._target().rsplit(":", 1)
        try:
            arena = await asyncio.open_connection(host, int(port))
        except OSError:
            return  # nobody listens there: the bot is hung up on
        number = len(self.links)
        link = Link(number, self._plan(number), self._seed, bot, arena)
        self.links.append(link)
        await link.run()
