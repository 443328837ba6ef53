"""The launched bots of an arena: started when first needed, and again if they die."""

import functools
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import trio

from arena.jail import (
    BadCommand,
    BotCommand,
    BotProcess,
    Level,
    Wall,
    instance_name,
    launch,
)
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.gate.tokens import new_token

CONNECT_S: Final = 20.0
"""Time from launch to hello; a cold start on a busy machine is slow."""
GO_HOME_S: Final = 2.0
"""Longest that bots have to end by themselves once their streams have ended."""
MAX_STARTS: Final = 5
"""Starts of one instance that failed in a row before it is given up."""


class NoShow(Exception):
    """A bot was launched and did not connect. The text says what it did instead."""


class Launcher:
    """Launches bots into an arena. Made and used in trio."""

    def __init__(
        self,
        arena: Arena,
        commands: Sequence[BotCommand],
        folder: Path,
        nursery: trio.Nursery,
        *,
        wall: Wall | None = None,
        terminal: str = "",
        heard: Callable[[str, str], None] | None = None,
    ) -> None:
        """Launches nothing yet.

        Args:
          arena: Where the bots dial in.
          commands: Of the bots, by their names.
          folder: Gets a folder and a log for every instance.
          nursery: The bots run in it.
          wall: What they are jailed by, but for one at the terminal; the arena has to have its
            socket for jailed bots. None jails nobody.
          terminal: The name of a bot that has the terminal, as for a debugger. It is waited for
            without limit.
          heard: Gets a bot's name and a line that it printed, at once.
        """
        self._arena = arena
        self._commands: Mapping[str, BotCommand] = {each.name: each for each in commands}
        self._folder = folder.absolute()  # a bot's HOME is read in the bot's own folder
        self._nursery = nursery
        self._wall = wall if wall is not None and wall.level is not Level.S0 else None
        self._terminal = terminal
        self._heard = heard
        self._running: dict[BotId, BotProcess] = {}
        self._failures: dict[BotId, str] = {}
        self._failed_starts: dict[BotId, int] = {}
        self._locks: dict[BotId, trio.Lock] = {}

    async def require(self, bots: Sequence[BotId]) -> None:
        """Have all these bots running and connected.

        Raises:
          NoShow: for the first that does not come.
        """
        await self.ensure(bots)
        for bot in bots:
            if bot in self._failures:
                raise NoShow(self._failures[bot])

    async def ensure(self, bots: Sequence[BotId]) -> None:
        """As `require`, but the seat of a bot that does not come is played by fallback."""
        async with trio.open_nursery() as nursery:
            for bot in bots:
                nursery.start_soon(self._bring, bot)

    async def send_home(self) -> None:
        """Close the streams of all bots, and give them time to take in how the deals open, and to end."""
        for bot in self._running:
            if (session := self._arena.sessions.get(bot)) is not None:
                session.close()
        with trio.move_on_after(math.inf if self._terminal else GO_HOME_S):
            for process in list(self._running.values()):
                await process.exited.wait()

    def start_soon(self, task: Callable[..., Awaitable[object]], *args: object) -> None:
        """Run a task for as long as bots are launched."""
        self._nursery.start_soon(task, *args)

    async def _bring(self, bot: BotId) -> None:
        lock = self._locks.setdefault(bot, trio.Lock())
        async with lock:
            running = self._running.get(bot)
            if running is not None and not running.exited.is_set():
                return
            if self._failed_starts.get(bot, 0) >= MAX_STARTS:
                return
            await self._start(bot)

    async def _start(self, bot: BotId) -> None:
        token = new_token()
        name = instance_name(bot.name, bot.instance)
        at_terminal = bot.name == self._terminal
        wall = None if at_terminal else self._wall
        self._arena.tokens.add(token, bot, walled=wall is not None)
        socket = None if wall is None else self._arena.play_socket
        address = self._arena.address
        if wall is not None:
            assert socket is not None, "jailed bots need the arena's socket"
            address = wall.address(socket)
        environment = {
            "CARDARENA_ADDRESS": address,
            "CARDARENA_TOKEN": token,
            "CARDARENA_ONCE": "1",
        }
        try:
            process = await launch(
                self._commands[bot.name],
                self._folder / name,
                environment,
                terminal=at_terminal,
                wall=wall,
                socket=socket,
            )
        except BadCommand as error:
            self._arena.tokens.drop(token)
            self._failed_starts[bot] = MAX_STARTS
            self._failures[bot] = str(error)
            return
        self._running[bot] = process
        self._nursery.start_soon(self._watch, bot, process, token)
        self._failures.pop(bot, None)
        arrived = False
        with trio.move_on_after(math.inf if at_terminal else CONNECT_S):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._cancel_on_exit, process, nursery.cancel_scope)
                await self._arena.arrived((bot,))
                arrived = True
                nursery.cancel_scope.cancel()
        if arrived:
            self._failed_starts[bot] = 0
            return
        self._failed_starts[bot] = self._failed_starts.get(bot, 0) + 1
        self._failures[bot] = _what_happened(bot, process)
        if self._wall is not None and process.visible is not None:
            words = process.last_words()
            self._failures[bot] += self._wall.what_it_hid(words, process.visible, process.command)

    async def _watch(self, bot: BotId, process: BotProcess, token: str) -> None:
        """Tell the bot's session when its process has ended: it will not come back.

        Not where the arena itself stops and ends its bots: they are back at the next start.
        """
        try:
            await process.watch(self._heard and functools.partial(self._heard, bot.name))
        finally:
            self._arena.tokens.drop(token)
            session = self._arena.sessions.get(bot)
            left = self._running.get(bot) is process and not self._arena.is_shut
            if session is not None and left:
                session.leave()

    async def _cancel_on_exit(self, process: BotProcess, scope: trio.CancelScope) -> None:
        await process.exited.wait()
        scope.cancel()


def _what_happened(bot: BotId, process: BotProcess) -> str:
    if process.returncode is None:
        what = f"the bot {bot.name!r} did not connect within {CONNECT_S:.0f} s"
    else:
        what = f"the bot {bot.name!r} {process.how_it_ended}"
    words = process.last_words()
    said = f"; it printed:\n{words}" if words else " and printed nothing"
    return f"{what} before it said hello: {process.command.text}{said}"
