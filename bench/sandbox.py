"""`python -m bench.sandbox`: the cost of a sandbox at the start of a bot and for its messages.

Starts with and without a sandbox alternate, so that other load affects both.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import trio

from arena.live.play_socket import PlaySockets
from arena.sandbox.command import BotCommand
from arena.sandbox.process import launch
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.spawner.order import Level

STARTS = 50
ROUND_TRIPS = 2_000
PROGRAMS = {
    "/bin/true": ("/bin/true",),
    "python -S": (sys.executable, "-S", "-c", ""),
    "import cardarena": (sys.executable, "-c", "import cardarena"),
}
ASK = "/bench.Echo/Echo"
CLIENT = f"""
import queue, statistics, sys, time, grpc
with grpc.insecure_channel(sys.argv[1]) as channel:
    asks = queue.SimpleQueue()
    answers = channel.stream_stream({ASK!r})(iter(asks.get, None))
    took_us = []
    for _ in range({ROUND_TRIPS} + 100):
        began = time.perf_counter()
        asks.put(b"x")
        next(answers)
        took_us.append((time.perf_counter() - began) * 1e6)
    asks.put(None)
print(statistics.median(took_us[100:]))
"""


async def _ended(
    argv: tuple[str, ...], sandbox: Sandbox | None, folder: Path, socket: Path | None
) -> float:
    began = time.perf_counter()
    process = await launch(BotCommand("bot", argv), folder, {}, sandbox=sandbox, socket=socket)
    await process.watch()
    assert process.returncode == 0, process.last_words()
    return time.perf_counter() - began


async def _starts(sandboxes: dict[str, Sandbox | None], folder: Path) -> None:
    print(f"ms from launch to the end, the median of {STARTS} in turns (the least)")
    print(f"{'':18}" + "".join(f"{name:>16}" for name in sandboxes))
    for name, argv in PROGRAMS.items():
        took: dict[str, list[float]] = {each: [] for each in sandboxes}
        for _ in range(STARTS):
            for each, sandbox in sandboxes.items():
                took[each].append(1e3 * await _ended(argv, sandbox, folder / "bot", None))
        cells = (f"{statistics.median(each):.1f} ({min(each):.1f})" for each in took.values())
        print(f"{name:18}" + "".join(f"{cell:>16}" for cell in cells))


async def _processor_time(sandboxes: dict[str, Sandbox | None], folder: Path) -> None:
    """CPU time of the spawner and its children, which other load does not change."""
    for name, sandbox in sandboxes.items():
        if sandbox is None:
            continue
        before = _used_ms(sandbox)
        for _ in range(STARTS):
            await _ended(PROGRAMS["/bin/true"], sandbox, folder / "bot", None)
        used_ms = (_used_ms(sandbox) - before) / STARTS
        print(f"{name}: {used_ms:.1f} ms of processor time for a start of /bin/true")


def _used_ms(sandbox: Sandbox) -> float:
    assert sandbox.pid is not None
    text = Path(f"/proc/{sandbox.pid}/stat").read_text("ascii")
    ticks = map(int, text.rpartition(")")[2].split()[11:15])
    return 1e3 * sum(ticks) / os.sysconf("SC_CLK_TCK")


async def _echo(asks: AsyncIterator[bytes], _: object) -> AsyncIterator[bytes]:
    async for ask in asks:
        yield ask


def _round_trips(sandbox: Sandbox, folder: Path) -> None:
    """Measure round trips at a level: by TCP outside, and by the bound socket in the sandbox."""
    socket = folder / "echo.sock"

    async def main() -> None:
        server = grpc.aio.server()
        method = grpc.stream_stream_rpc_method_handler(_echo)
        handler = grpc.method_handlers_generic_handler("bench.Echo", {"Echo": method})
        server.add_generic_rpc_handlers((handler,))
        port = server.add_insecure_port("127.0.0.1:0")
        server.add_insecure_port(f"unix:{socket}")
        sockets = PlaySockets(folder / "arena")
        sockets.folder.mkdir(parents=True)
        sockets.listen(server)
        relayed = sockets.open(print).path
        await server.start()

        async def one(
            what: str, address: str, sandbox: Sandbox | None, socket: Path | None
        ) -> None:
            argv = (sys.executable, "-c", CLIENT, address)
            process = await launch(
                BotCommand("bot", argv),
                folder / "trips",
                {},
                sandbox=sandbox,
                socket=socket,
            )
            await process.watch()
            print(f"{what}: {float(process.last_words()):.0f} µs")

        for _ in range(3):
            for what, address, used, given in (
                ("not sandboxed, TCP", f"127.0.0.1:{port}", None, None),
                ("not sandboxed, socket file", f"unix:{socket}", None, None),
                ("sandboxed, socket file", sandbox.address(socket), sandbox, socket),
                ("sandboxed, by the relay", sandbox.address(relayed), sandbox, relayed),
            ):
                await asyncio.to_thread(trio.run, one, what, address, used, given)
        await server.stop(0)
        sockets.close()

    print(f"a round trip on a stream of gRPC, the median of {ROUND_TRIPS:,}")
    asyncio.run(main())


def main() -> None:
    """Measure, and print the results."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        began = time.perf_counter()
        with (
            Sandbox(data=folder / "data") as best,
            Sandbox(data=folder / "data", most=Level.S1) as least,
        ):
            print(f"{best.level}: found in {1e3 * (time.perf_counter() - began):.0f} ms")
            sandboxes = {"none": None, best.level.value: best, least.level.value: least}
            trio.run(_starts, sandboxes, folder)
            trio.run(_processor_time, sandboxes, folder)
            _round_trips(best, folder)


if __name__ == "__main__":
    main()
