"""`python -m bench.sandbox`: the cost of a sandbox at the start of a bot and for its messages.

Starts with and without a sandbox alternate, so that other load affects both.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import grpc
import trio

from arena.sandbox import BotCommand, Level, Sandbox, launch

STARTS = 50
ROUND_TRIPS = 2_000
PROGRAMS = {
    "/bin/true": ("/bin/true",),
    "python -S": (sys.executable, "-S", "-c", ""),
    "import cardarena": (sys.executable, "-c", "import cardarena"),
}
ASK = "/bench.Echo/Echo"
CLIENT = f"""
import statistics, sys, time, grpc
with grpc.insecure_channel(sys.argv[1]) as channel:
    ask = channel.unary_unary({ASK!r})
    took_us = []
    for _ in range({ROUND_TRIPS} + 100):
        began = time.perf_counter()
        ask(b"x")
        took_us.append((time.perf_counter() - began) * 1e6)
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


async def _echo(_: bytes, __: object) -> bytes:
    return b"x"


def _round_trips(sandbox: Sandbox, folder: Path) -> None:
    """Measure round trips at a level: by TCP outside, and by the bound socket in the sandbox."""
    socket = folder / "echo.sock"

    async def main() -> None:
        server = grpc.aio.server()
        method = grpc.unary_unary_rpc_method_handler(_echo)
        handler = grpc.method_handlers_generic_handler("bench.Echo", {"Echo": method})
        server.add_generic_rpc_handlers((handler,))
        port = server.add_insecure_port("127.0.0.1:0")
        server.add_insecure_port(f"unix:{socket}")
        await server.start()

        async def one(address: str, sandbox: Sandbox | None) -> None:
            argv = (sys.executable, "-c", CLIENT, address)
            process = await launch(
                BotCommand("bot", argv),
                folder / "trips",
                {},
                sandbox=sandbox,
                socket=sandbox and socket,
            )
            await process.watch()
            print(
                f"{'sandboxed' if sandbox else 'not sandboxed'}, {address}: {float(process.last_words()):.0f} µs"
            )

        for _ in range(3):
            for address, used in (
                (f"127.0.0.1:{port}", None),
                (f"unix:{socket}", None),
                (sandbox.address(socket), sandbox),
            ):
                await asyncio.to_thread(trio.run, one, address, used)
        await server.stop(0)

    print(f"a round trip of gRPC, the median of {ROUND_TRIPS:,}")
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
