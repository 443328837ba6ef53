"""The bot under a scripted arena: started as for play, and seen as the conformance kit sees a client."""

import math
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import trio

from arena.jail import BotCommand, BotProcess, Printed, Wall, launch, read_output

_END_S: Final = 5.0
"""How long a bot that is ended may take to be gone."""


class BotClient:
    """One run of the bot. Made and used on another thread than trio's."""

    def __init__(self, nursery: trio.Nursery, process: BotProcess) -> None:
        """`process` is watched in the nursery until it has ended."""
        self._process = process
        self._scope = trio.CancelScope()
        nursery.start_soon(self._watch)

    async def _watch(self) -> None:
        with self._scope:
            await self._process.watch()

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return trio.from_thread.run_sync(lambda: self._process.returncode)

    @property
    def printed(self) -> tuple[str, ...]:
        """Nothing: what a bot prints to stdout and to stderr is kept together."""
        return ()

    @property
    def told(self) -> str:
        """All that it printed so far; once it has ended, all."""
        if self.exit_code is not None:
            self._ended(_END_S)
        return "\n".join(line.text for line in lines_of(self._process.output))

    def wait(self, wait_s: float) -> int | None:
        """Its exit code; None if it does not end in time."""
        return self.exit_code if self._ended(wait_s) else None

    def interrupt(self) -> None:
        """No qualification does that."""
        raise NotImplementedError(signal.SIGINT)

    def kill(self) -> None:
        """End it, and all that it has started."""
        trio.from_thread.run_sync(self._scope.cancel)
        self._ended(math.inf)

    def _ended(self, wait_s: float) -> bool:
        async def wait() -> bool:
            with trio.move_on_after(wait_s):
                await self._process.exited.wait()
            return self._process.exited.is_set()

        return trio.from_thread.run(wait)


def starter(
    nursery: trio.Nursery, command: BotCommand, folder: Path, wall: Wall | None, socket: Path | None
) -> Callable[[Sequence[str], Mapping[str, str], Path], BotClient]:
    """What starts the bot for one case, in a folder of its own; the kit calls it on another thread.

    A jailed bot reaches the scripted arena by its `socket` alone.
    """

    def start(_argv: Sequence[str], environment: Mapping[str, str], _folder: Path) -> BotClient:
        given = dict(environment)
        jail = wall if socket is not None else None
        if jail is not None and socket is not None:
            given["CARDARENA_ADDRESS"] = jail.address(socket)

        async def launched() -> BotClient:
            process = await launch(command, folder, given, wall=jail, socket=socket)
            return BotClient(nursery, process)

        return trio.from_thread.run(launched)

    return start


def lines_of(output: Path) -> list[Printed]:
    """What a bot printed itself; nothing if it has no log yet."""
    try:
        return [line for line in read_output(output) if not line.by_arena]
    except OSError:
        return []
