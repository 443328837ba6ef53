"""A thousand watchers of one match: their cost for `arena web`, and their effect on the match.

The bots measure their own time, and the journal has the charged time: the difference is what the arena added to a
turn, with watchers and without. Each watcher reads all messages, and must receive every one.
"""

import asyncio
import json
import os
import resource
import tempfile
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from bench import arena_server
from bench.clock import charges, thinking
from bench.processes import PATIENCE_S, Failed, Process, children_of, cpu_s, memory_mb, running

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


def measure(*, quick: bool, progress: Callable[[str], None]) -> dict[str, float]:
    """Play without watchers, then with them.

    Figures are of `arena web`, messages of each watcher. `p99_ms` is from the first watcher that received a message to another
    one; `alone_p99_ms` and `beside_p99_ms` are what the arena added to a turn without watchers and with them.

    Raises:
      Failed: if a process does not start.
    """
    watchers, seconds = (QUICK_WATCHERS, 4.0) if quick else (WATCHERS, 30.0)
    _need_files(watchers + _SPARE_FILES)
    with tempfile.TemporaryDirectory(prefix="cardarena-bench-") as folder:
        words = ("-m", "arena", "web", "--port", "0", "--data", folder)
        listens = r"Pages are at http://([^:/]+):(\d+)/"
        job = arena_server.Job(GAME, 2, 2, 1, {"hands": 200}, data=folder)
        with (
            thinking(job, THINK_MS) as (_, bots),
            running(*words, first_line=listens) as (web, address),
        ):
            host, port = address[1], int(address[2])
            match = _match_in_play(host, port)
            progress("a match without watchers")
            bots.tell(str(seconds))
            alone = json.loads(bots.line())
            progress(f"{watchers:,} watchers")
            before_mb = memory_mb(web)
            with ThreadPoolExecutor(1, initializer=_give_way) as others:
                watching = _watch((host, port), web, match, watchers, seconds, bots)
                arrivals, watched_s, used_s = others.submit(asyncio.run, watching).result()
            after_mb = memory_mb(web)
            beside = json.loads(bots.line())
        charged = [
            [charge.above_ms for charge in charges(Path(folder), thoughts)]
            for thoughts in (alone, beside)
        ]
    first = {number: min(times) for number, times in arrivals.items()}
    # Not all watchers receive the first and the last message of the window.
    whole = sorted(arrivals)[1:-1]
    late_ms = sorted((at - first[number]) * 1000 for number in whole for at in arrivals[number])
    if not late_ms:
        raise Failed("the watchers got no messages")
    return {
        "watchers": watchers,
        "messages_per_s": round(len(whole) / watched_s, 2),
        "core_share": round(used_s / watched_s, 3),
        "memory_mb": round(after_mb, 1),
        "added_mb": round(after_mb - before_mb, 1),
        "p99_ms": round(_p99(late_ms), 1),
        "missed": sum(watchers - len(arrivals[number]) for number in whole),
        "alone_p99_ms": round(_p99(charged[0]), 2),
        "beside_p99_ms": round(_p99(charged[1]), 2),
    }


def _give_way() -> None:
    """Lower the priority of this thread, as real watchers are on other machines."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)


def _p99(values: list[float]) -> float:
    ordered = sorted(map(abs, values))
    return ordered[len(ordered) * 99 // 100]


def _match_in_play(host: str, port: int) -> str:
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        with urllib.request.urlopen(f"http://{host}:{port}/live.json", timeout=PATIENCE_S) as page:
            matches = json.load(page)["matches"]
        if matches:
            return str(matches[0]["match"])
        time.sleep(0.2)
    raise Failed("arena web shows no match in play")


def _cpu_s(pid: int) -> float:
    """Return the processor time of a process and those that it has started, in seconds."""
    return cpu_s(pid) + sum(map(_cpu_s, children_of(pid)))


async def _watch(
    address: tuple[str, int], web: int, match: str, watchers: int, seconds: float, bots: Process
) -> tuple[dict[int, list[float]], float, float]:
    """Watch a match; returns the arrival of each message at each watcher by id, seconds, and CPU seconds of `arena web`."""
    loop = asyncio.get_running_loop()
    arrivals: dict[int, list[float]] = defaultdict(list)
    dialing = asyncio.Semaphore(AT_ONCE)
    open_: list[asyncio.Transport] = []

    async def come(at: int) -> None:
        async with dialing:
            here = f"127.0.{1 + at // OF_ADDRESS // 250}.{1 + at // OF_ADDRESS % 250}"
            watcher = _Watcher(f"/m/{match}/feed", arrivals)
            transport, _ = await loop.create_connection(
                lambda: watcher, *address, local_addr=(here, 0)
            )
            open_.append(transport)
            await asyncio.wait_for(watcher.begun, PATIENCE_S)

    await asyncio.gather(*map(come, range(watchers)))
    await asyncio.sleep(1.0)
    arrivals.clear()
    bots.tell(str(seconds))
    used_s, begin_s = _cpu_s(web), time.perf_counter()
    await asyncio.sleep(seconds)
    watched = dict(arrivals), time.perf_counter() - begin_s, _cpu_s(web) - used_s
    for transport in open_:
        transport.abort()
    return watched


class _Watcher(asyncio.Protocol):
    """Records the arrival of each message; reads every byte."""

    def __init__(self, path: str, arrivals: dict[int, list[float]]) -> None:
        self._path, self._arrivals = path, arrivals
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
