"""`python -m bench.pondering`: what processes of a rival cost a bot that is to move.

A sandboxed bot needs a fixed processor time for each of its moves, alone and beside a rival with
many processes that never sleep.
"""

import json
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import trio

from arena.sandbox import BotCommand, Sandbox, launch

MOVES = 40
MOVE_S = 0.15
RIVALS = 24
MOVER = f"""
import json, time
took_s = []
for _ in range({MOVES}):
    began, used = time.monotonic(), time.process_time()
    while time.process_time() - used < {MOVE_S}:
        pass
    took_s.append(time.monotonic() - began)
    time.sleep(0.05)
print(json.dumps(took_s))
"""
SPINNER = f"""
import os
for _ in range({RIVALS - 1}):
    if os.fork() == 0:
        break
print("ready", flush=True)
while True:
    pass
"""


async def _moves(sandbox: Sandbox, folder: Path) -> list[float]:
    command = BotCommand("moves", (sys.executable, "-S", "-c", MOVER))
    process = await launch(command, folder / "moves", {}, sandbox=sandbox)
    lines: list[str] = []
    await process.watch(lines.append)
    found: list[float] = json.loads(lines[-1])
    return found


def _on_line(ready: trio.Event) -> Callable[[str], None]:
    return lambda _: ready.set()


async def _measure(sandbox: Sandbox, folder: Path) -> None:
    print(
        f"a move of {MOVE_S} s of processor time at {sandbox.level}: median and longest of {MOVES}"
    )
    for rivals in (0, RIVALS):
        async with trio.open_nursery() as nursery:
            if rivals:
                command = BotCommand("spins", (sys.executable, "-S", "-c", SPINNER))
                spins = await launch(command, folder / "spins", {}, sandbox=sandbox)
                ready = trio.Event()
                nursery.start_soon(spins.watch, _on_line(ready))
                await ready.wait()
            took_s = await _moves(sandbox, folder)
            nursery.cancel_scope.cancel()
        print(
            f"{rivals:3} processes of a rival: {statistics.median(took_s):.2f} s, {max(took_s):.2f} s"
        )


def main() -> None:
    """Measure, and print it."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with Sandbox(data=folder / "data") as sandbox:
            trio.run(_measure, sandbox, folder)


if __name__ == "__main__":
    main()
