"""The launched bots of an arena: started when first needed, and again if they die."""

import functools
import logging
import math
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import trio

from arena.sandbox import (
    NO_SPAWNER,
    BadCommand,
    BotCommand,
    BotProcess,
    Level,
    Sandbox,
    instance_name,
    launch,
)
from arena.server.admission.tokens import new_token
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.competitions.frozen_bots import FrozenBots
from arena.store.blobs import remove_unpacked

CONNECT_S: Final = 20.0
"""Longest time in seconds from the launch to hello."""
GO_HOME_S: Final = 2.0
"""Seconds that bots have to end by themselves after their streams have ended."""
MAX_STARTS: Final = 5
"""Failed starts in a row by the bot's fault, after which it is not started again."""
AGAIN_S: Final = (0.0, 1.0, 2.0, 4.0, 8.0)
"""Waits in seconds before each start of a bot that the arena fails to start."""
REST_S: Final = 60.0
"""Time in seconds after the last of these until it is started again."""
COPY: Final = "files"
"""The folder in the folder of a process that has its copy of an uploaded bot's files."""

_BUBBLEWRAP: Final = "bwrap: "
"""How messages of bubblewrap begin. It prints one when it cannot build a sandbox, before the bot prints anything."""

_log = logging.getLogger(__name__)


class NoShow(Exception):
    """A bot was launched and did not connect. The text says what it did instead."""

    def __init__(self, text: str, why: str = "", *, by_arena: bool = False) -> None:
        """`why` is the reason alone, without the bot's name, command and output.

        `by_arena` says that it is no fault of the bot: the arena could not start it, or was too late itself.
        """
        super().__init__(text)
        self.why: Final = why
        self.by_arena: Final = by_arena


class Launcher:
    """Launches bots into an arena. Made and used in trio."""

    def __init__(
        self,
        arena: Arena,
        commands: Sequence[BotCommand],
        folder: Path,
        nursery: trio.Nursery,
        *,
        sandbox: Sandbox | None = None,
        frozen_bots: FrozenBots | None = None,
        terminal: str = "",
        heard: Callable[[str, str], None] | None = None,
    ) -> None:
        """Begin without processes.

        Args:
          arena: Where the bots dial in.
          commands: The commands of the bots.
          folder: Gets a folder and a log for every instance; the folder is empty for each process.
          nursery: The bots run in it.
          sandbox: The sandbox of all bots but the one at the terminal; the arena must have its socket for sandboxed
            bots. None for no sandbox.
          frozen_bots: Freezes submitted bots between their moves where the sandbox can; None for never.
          terminal: The name of a bot that has the terminal, as for a debugger. There is no time limit for it.
          heard: Called with a bot's name and each line that it prints.
        """
        self._arena = arena
        self._commands: Mapping[str, BotCommand] = {each.name: each for each in commands}
        self._folder = folder.absolute()  # a bot's HOME is read in the bot's own folder
        self._nursery = nursery
        self._sandbox = sandbox if sandbox is not None and sandbox.level is not Level.S0 else None
        self._frozen_bots = frozen_bots
        self._terminal = terminal
        self._heard = heard
        self._running: dict[BotId, _Running] = {}
        self._failures: dict[BotId, NoShow] = {}
        """The reason why the latest start of a bot failed."""
        self._failed_starts: Counter[BotId] = Counter()
        """Failed starts in a row by the bot's fault."""
        self._rests_until_s: dict[BotId, float] = {}
        """When a bot that the arena failed to start is started again."""
        self._locks: defaultdict[BotId, trio.Lock] = defaultdict(trio.Lock)

    @property
    def rests(self) -> bool:
        """Whether the arena failed to start a bot, and does not try again yet."""
        return any(until_s > trio.current_time() for until_s in self._rests_until_s.values())

    async def require(self, bots: Sequence[BotId]) -> None:
        """Have all these bots running and connected; each is started once.

        Raises:
          NoShow: for the first that does not come.
        """
        async with trio.open_nursery() as nursery:
            for bot in bots:
                nursery.start_soon(self._bring, bot, (0.0,))
        for bot in bots:
            if bot in self._failures:
                raise self._failures[bot]

    async def ensure(self, bots: Sequence[BotId]) -> None:
        """As `require`, but the seat of a bot that does not come by its own fault is played by fallback.

        Raises:
          NoShow: if the arena failed to start one, again and again.
        """
        await self.bring(bots)
        self.require_no_failure(bots)

    async def bring(self, bots: Sequence[BotId]) -> None:
        """Have all these bots running and connected, as far as they come."""
        async with trio.open_nursery() as nursery:
            for bot in bots:
                nursery.start_soon(self._bring, bot, AGAIN_S)

    def require_no_failure(self, bots: Sequence[BotId]) -> None:
        """Require that the arena has not failed to start one of these bots.

        Raises:
          NoShow: if it has.
        """
        for bot in bots:
            if bot in self._failures and self._failures[bot].by_arena:
                raise self._failures[bot]

    def phases_of(self, bots: Sequence[BotId]) -> None:
        """Return None: matches outside of competitions have no phases."""

    def all_sandboxed(self, bots: Sequence[BotId]) -> bool:  # noqa: ARG002 - as `BotSource.all_sandboxed`
        """Return False: a process plays several matches."""
        return False

    async def send_home(self) -> None:
        """End all bots: close their streams, and give them time to end by themselves."""
        running = list(self._running.items())
        for bot, _ in running:
            if (session := self._arena.sessions.get(bot)) is not None:
                session.close()
        with trio.move_on_after(math.inf if self._terminal else GO_HOME_S):
            for _, each in running:
                await each.process.exited.wait()
        for _, each in running:
            each.scope.cancel()
        for _, each in running:
            await each.ended.wait()

    async def _bring(self, bot: BotId, waits_s: Sequence[float]) -> None:
        """Have a bot running and connected; where the arena fails, it tries again after each of the waits."""
        async with self._locks[bot]:
            for wait_s in waits_s:
                if self._is_given_up(bot):
                    return
                await trio.sleep(wait_s)
                failure = await self._started(bot)
                if failure is None:
                    self._failures.pop(bot, None)
                    self._failed_starts[bot] = 0
                    return
                self._failures[bot] = failure
                fields = {"bot": bot.name, "instance": bot.instance, "why": failure.why}
                if not failure.by_arena:
                    self._failed_starts[bot] += 1
                    _log.warning("a bot did not connect", extra=fields)
                    return
                _log.error("the arena could not start a bot", extra=fields)
            self._rests_until_s[bot] = trio.current_time() + REST_S

    def _is_given_up(self, bot: BotId) -> bool:
        if self._failed_starts[bot] >= MAX_STARTS:
            return True
        return self._rests_until_s.get(bot, 0.0) > trio.current_time()

    async def _started(self, bot: BotId) -> NoShow | None:
        """Have a bot running and connected; why it is not."""
        running = self._running.get(bot)
        if running is None or running.process.exited.is_set():
            if running is not None:
                await running.ended.wait()
            try:
                running = await self._launch(bot)
            except (BadCommand, OSError) as error:
                why = error.why if isinstance(error, BadCommand) else str(error)
                return NoShow(str(error), why, by_arena=True)
        elif bot not in self._failures:
            return None
        arrived = False
        with trio.move_on_after(math.inf if bot.name == self._terminal else CONNECT_S):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._cancel_on_exit, running.process, nursery.cancel_scope)
                await self._arena.sessions.arrived((bot,))
                arrived = True
                nursery.cancel_scope.cancel()
        return None if arrived else self._no_show(bot, running.process)

    def _no_show(self, bot: BotId, process: BotProcess) -> NoShow:
        hidden = failed = ""
        words = process.last_words()
        if self._sandbox is not None and process.visible is not None:
            hidden = self._sandbox.what_it_hid(words, process.visible, process.command)
            failed = "its sandbox could not be built" if words.startswith(_BUBBLEWRAP) else ""
        if process.ended_with_spawner:
            failed = NO_SPAWNER
        if process.returncode is None:
            failed = self._arena.why_late
        return _no_show(bot, process, hidden, failed)

    async def _launch(self, bot: BotId) -> "_Running":
        """Start a bot in an empty folder, with a copy of its files, and with nothing that an earlier process was sent.

        Raises:
          BadCommand: if the process cannot be started.
          OSError: if its files cannot be copied.
        """
        token = new_token()
        folder = self._folder / instance_name(bot.name, bot.instance)
        at_terminal = bot.name == self._terminal
        sandbox = None if at_terminal else self._sandbox
        if (session := self._arena.sessions.get(bot)) is not None:
            session.forget_sent()
        command = await trio.to_thread.run_sync(_fresh, self._commands[bot.name], folder)
        self._arena.tokens.add(token, bot, sandboxed=sandbox is not None)
        socket = None if sandbox is None else self._arena.play_socket
        address = self._arena.address
        if sandbox is not None:
            assert socket is not None, "sandboxed bots need the arena's socket"
            address = sandbox.address(socket)
        environment = {
            "CARDARENA_ADDRESS": address,
            "CARDARENA_TOKEN": token,
            "CARDARENA_ONCE": "1",
        }
        try:
            process = await launch(
                command,
                folder,
                environment,
                terminal=at_terminal,
                sandbox=sandbox,
                socket=socket,
            )
        except BaseException:
            self._arena.tokens.drop(token)
            raise
        running = self._running[bot] = _Running(process)
        self._nursery.start_soon(self._watch, bot, running, token)
        if self._frozen_bots is not None and command.files is not None and process.can_freeze:
            self._nursery.start_soon(self._frozen_bots.keep, bot, process)
        return running

    async def _watch(self, bot: BotId, running: "_Running", token: str) -> None:
        """Tell the bot's session when its process has ended: it will not come back.

        Not where the arena stops, or loses its spawner and thereby its bots: they are back at the next start.
        """
        process = running.process
        try:
            with running.scope:
                await process.watch(self._heard and functools.partial(self._heard, bot.name))
        finally:
            self._arena.tokens.drop(token)
            session = self._arena.sessions.get(bot)
            ended_by_arena = process.ended_with_spawner or self._arena.is_shut
            left = self._running.get(bot) is running and not ended_by_arena
            if session is not None and left:
                session.leave()
            copy = self._folder / instance_name(bot.name, bot.instance) / COPY
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(_empty, copy)
            running.ended.set()

    async def _cancel_on_exit(self, process: BotProcess, scope: trio.CancelScope) -> None:
        await process.exited.wait()
        scope.cancel()


class _Running:
    """A process of a bot."""

    def __init__(self, process: BotProcess) -> None:
        self.process: Final = process
        self.scope: Final = trio.CancelScope()
        """Cancelled to end it."""
        self.ended: Final = trio.Event()
        """Set when it has ended and its copy of the bot's files is removed."""


def _fresh(command: BotCommand, folder: Path) -> BotCommand:
    """Empty the folder of a process, and copy the bot's files there; the command with their new paths."""
    copy = folder / COPY
    folder.mkdir(parents=True, exist_ok=True)
    _empty(folder, but=copy)
    _empty(copy)
    if command.files is None:
        return command
    shutil.copytree(command.files, copy, dirs_exist_ok=True)
    return command.moved(copy)


def _empty(folder: Path, but: Path | None = None) -> None:
    """Remove what is in a folder. The folder stays, as the spawner has it mounted by its path."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    folder.chmod(0o755)
    for each in folder.iterdir():
        if each == but:
            continue
        if each.is_dir() and not each.is_symlink():
            remove_unpacked(each)
        else:
            each.unlink()


def _no_show(bot: BotId, process: BotProcess, hidden: str, failed: str) -> NoShow:
    """`failed` says, as part of a sentence, what the arena failed at; empty if it is the bot's fault."""
    if process.returncode is None:
        what = f"did not connect within {CONNECT_S:.0f} s"
    else:
        what = process.how_it_ended
    what = f"{what} before it said hello"
    if failed:
        what = f"{what}: {failed}"
    words = process.last_words()
    printed = f"; it printed:\n{words}" if words else " and printed nothing"
    text = f"the bot {bot.name!r} {what}: {process.command.text}{printed}{hidden}"
    return NoShow(text, f"it {what}", by_arena=bool(failed))
