"""The qualified bot as a client of the conformance kit; it is started as for play."""

import math
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import trio

from arena.sandbox.command import BotCommand
from arena.sandbox.output import Printed, read_output
from arena.sandbox.process import BotProcess, launch
from arena.sandbox.sandbox import Sandbox

_END_S: Final = 5.0
"""The longest time in seconds for a bot to end."""


class BotClient:
    """One process of the bot. Its methods block, and are called on other threads than trio's."""

    def __init__(self, nursery: trio.Nursery, process: BotProcess) -> None:
        """Follow `process` in the nursery until it ends."""
        self._process = process
        self._scope = trio.CancelScope()
        nursery.start_soon(self._watch)

    async def _watch(self) -> None:
        with self._scope:
            await self._process.watch()

    @property
    def exit_code(self) -> int | None:
        return trio.from_thread.run_sync(lambda: self._process.returncode)

    @property
    def stdout_lines(self) -> tuple[str, ...]:
        """Return no lines, because the log of a bot does not separate stdout and stderr."""
        return ()

    @property
    def stderr_text(self) -> str:
        """Return its output so far; all of it after its end."""
        if self.exit_code is not None:
            self._ended(_END_S)
        return "\n".join(line.text for line in lines_of(self._process.output))

    def wait(self, wait_s: float) -> int | None:
        return self.exit_code if self._ended(wait_s) else None

    def interrupt(self) -> None:
        raise NotImplementedError(signal.SIGINT)

    def kill(self) -> None:
        trio.from_thread.run_sync(self._scope.cancel)
        self._ended(math.inf)

    def _ended(self, wait_s: float) -> bool:
        async def wait() -> bool:
            with trio.move_on_after(wait_s):
                await self._process.exited.wait()
            return self._process.exited.is_set()

        return trio.from_thread.run(wait)


def starter(
    nursery: trio.Nursery,
    command: BotCommand,
    folder: Path,
    sandbox: Sandbox | None,
    socket: Path | None,
) -> Callable[[Sequence[str], Mapping[str, str], Path], BotClient]:
    """Return a function that starts the bot in `folder` for one case. The kit calls it on another thread.

    A sandboxed bot has no network, so it needs the `socket` of the scripted arena.
    """

    def start(_argv: Sequence[str], environment: Mapping[str, str], _folder: Path) -> BotClient:
        given = dict(environment)
        used = sandbox if socket is not None else None
        if used is not None and socket is not None:
            given["CARDARENA_ADDRESS"] = used.address(socket)

        async def launched() -> BotClient:
            process = await launch(command, folder, given, sandbox=used, socket=socket)
            return BotClient(nursery, process)

        return trio.from_thread.run(launched)

    return start


def lines_of(output: Path) -> list[Printed]:
    """Return the lines that a bot printed; none if it has no log yet."""
    try:
        return [line for line in read_output(output) if not line.by_arena]
    except OSError:
        return []
