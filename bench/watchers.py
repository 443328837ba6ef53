"""A thousand watchers of one match: their cost for `arena web`, and their effect on the match.

The bots measure their own time, and the journal has the charged time: the difference is what the arena added to a
turn, with watchers and without. Each watcher reads all messages, and must receive every one.
"""

import asyncio
import contextlib
import json
import os
import resource
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from bench import arena_server, clock_bots
from bench.clock import extra_ms
from bench.processes import PATIENCE_S, Failed, Process
from bench.web_process import WebProcess, web_of

WATCHERS: Final = 1_000
QUICK_WATCHERS: Final = 100
OF_ADDRESS: Final = 8
"""Watchers of one address, as `arena web` limits them; the addresses are all of this machine."""
GAME: Final = "jam"
THINK_MS: Final = 250.0
"""Time of the bots for a move, which gives about eight steps a second."""
AT_ONCE: Final = 50
"""Watchers that connect at a time."""
_SPARE_FILES: Final = 200


@dataclass(frozen=True, slots=True)
class Watched:
    """The results."""

    watchers: int
    messages_per_s: float
    """Messages for each watcher."""
    core_share: float
    """Use of one core by `arena web`."""
    memory_mb: float
    """Memory of `arena web` at the end."""
    added_mb: float
    """Increase of that memory by the watchers."""
    p99_ms: float
    """Time from the first watcher that received a message to another one."""
    missed: int
    """Messages that a watcher missed."""
    alone_p99_ms: float
    """Time that the arena added to a turn without watchers."""
    beside_p99_ms: float
    """The same with watchers."""


def measure(*, quick: bool, progress: Callable[[str], None]) -> Watched:
    """Play without watchers, then with them.

    Raises:
      Failed: if a process does not start.
    """
    watchers, seconds = (QUICK_WATCHERS, 4.0) if quick else (WATCHERS, 30.0)
    _need_files(watchers + _SPARE_FILES)
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as folder:
        with _playing(folder) as bots, web_of(Path(folder)) as web:
            match = _match_in_play(web)
            progress("a match without watchers")
            bots.tell(str(seconds))
            alone = json.loads(bots.line())
            progress(f"{watchers:,} watchers")
            before_mb = web.memory_mb
            with ThreadPoolExecutor(1, initializer=_give_way) as others:
                watching = _watch(web, match, watchers, seconds, bots)
                crowd = others.submit(asyncio.run, watching).result()
            memory_mb = web.memory_mb
            beside = json.loads(bots.line())
        charged = [extra_ms(Path(folder), thoughts) for thoughts in (alone, beside)]
    first = {number: min(times) for number, times in crowd.arrivals.items()}
    # Not all watchers receive the first and the last message of the window.
    whole = sorted(crowd.arrivals)[1:-1]
    late_ms = sorted(
        (at - first[number]) * 1000 for number in whole for at in crowd.arrivals[number]
    )
    if not late_ms:
        raise Failed("the watchers got no messages")
    return Watched(
        watchers=watchers,
        messages_per_s=round(len(whole) / crowd.seconds, 2),
        core_share=round(crowd.cpu_s / crowd.seconds, 3),
        memory_mb=round(memory_mb, 1),
        added_mb=round(memory_mb - before_mb, 1),
        p99_ms=round(_p99(late_ms), 1),
        missed=sum(watchers - len(crowd.arrivals[number]) for number in whole),
        alone_p99_ms=round(_p99(charged[0]), 2),
        beside_p99_ms=round(_p99(charged[1]), 2),
    )


def _give_way() -> None:
    """Lower the priority of this thread, as real watchers are on other machines."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)


def _p99(values: list[float]) -> float:
    ordered = sorted(map(abs, values))
    return ordered[len(ordered) * 99 // 100]


@contextlib.contextmanager
def _playing(data: str) -> Iterator[Process]:
    """Run an arena with one match, whose bots have asks."""
    job = arena_server.Job(
        game=GAME, streams=2, seats=2, matches=1, options={"hands": 200}, data=data
    )
    with contextlib.ExitStack() as stack:
        server = Process("bench.arena_server", json.dumps(asdict(job)))
        stack.callback(server.end)
        play = clock_bots.Job(server.line(), 2, GAME, THINK_MS, any_move=True)
        bots = Process("bench.clock_bots", json.dumps(asdict(play)))
        stack.callback(bots.end)
        bots.line()
        yield bots


def _match_in_play(web: WebProcess) -> str:
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        found = json.loads(web.get("/live.json")[0])["matches"]
        if found:
            return str(found[0]["match"])
        time.sleep(0.2)
    raise Failed("arena web shows no match in play")


@dataclass(slots=True)
class _Crowd:
    arrivals: dict[int, list[float]]
    """The arrival of each message at each watcher, by id."""
    seconds: float
    cpu_s: float


async def _watch(
    web: WebProcess, match: str, watchers: int, seconds: float, bots: Process
) -> _Crowd:
    loop = asyncio.get_running_loop()
    arrivals: dict[int, list[float]] = defaultdict(list)
    dialing = asyncio.Semaphore(AT_ONCE)
    open_: list[asyncio.Transport] = []

    async def come(at: int) -> None:
        async with dialing:
            here = f"127.0.{1 + at // OF_ADDRESS // 250}.{1 + at // OF_ADDRESS % 250}"
            watcher = _Watcher(f"/m/{match}/feed", arrivals)
            transport, _ = await loop.create_connection(
                lambda: watcher, web.host, web.port, local_addr=(here, 0)
            )
            open_.append(transport)
            await asyncio.wait_for(watcher.begun, PATIENCE_S)

    await asyncio.gather(*map(come, range(watchers)))
    await asyncio.sleep(1.0)
    arrivals.clear()
    bots.tell(str(seconds))
    cpu_s, begin_s = web.cpu_s, time.perf_counter()
    await asyncio.sleep(seconds)
    crowd = _Crowd(dict(arrivals), time.perf_counter() - begin_s, web.cpu_s - cpu_s)
    for each in open_:
        each.abort()
    return crowd


class _Watcher(asyncio.Protocol):
    """Records the arrival of each message; reads every byte."""

    def __init__(self, path: str, arrivals: dict[int, list[float]]) -> None:
        self._path, self._arrivals = path, arrivals
        self._transport: asyncio.Transport | None = None
        self._rest = b""
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        request = f"GET {self._path} HTTP/1.1\r\nhost: arena\r\naccept: text/event-stream\r\n\r\n"
        transport.write(request.encode())

    def data_received(self, data: bytes) -> None:
        if not self.begun.done():
            self.begun.set_result(None)
        *lines, self._rest = (self._rest + data).split(b"\n")
        now_s = time.perf_counter()
        for line in lines:
            if line.startswith(b"id: "):
                self._arrivals[int(line[4:])].append(now_s)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        if not self.begun.done():
            self.begun.set_exception(Failed("a watcher was sent away"))


def _need_files(count: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard), hard))
