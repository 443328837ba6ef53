"""The launched bots of an arena, which are started when first needed and restarted if they die."""

import functools
import logging
import math
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import trio

from arena.bots.blobs import remove_unpacked
from arena.bots.bot_ids import BotId
from arena.bots.tokens import new_token
from arena.errors import faults
from arena.live.arena import Arena
from arena.live.frozen_bots import FrozenBots
from arena.live.play_socket import BotSocket, FloodReport
from arena.referee.terms import MatchTerms
from arena.sandbox.command import BadCommand, BotCommand
from arena.sandbox.hidden_files import why_not_started
from arena.sandbox.output import instance_name
from arena.sandbox.process import BotProcess, launch
from arena.sandbox.sandbox import NO_MEMORY, NO_SPAWNER, Sandbox
from arena.sandbox.spawner.order import Level

CONNECT_S: Final = 20.0
"""The longest time in seconds from the launch to hello, for bots whose manifest has no other."""
LATE_TIMES: Final = 3
"""The factor of that time while the arena is late."""
_LONGER: Final = "a bot may take longer by --start SECONDS, or by start_s of its bot.toml or of its table in [bots]"
GO_HOME_S: Final = 2.0
"""Seconds that bots have to end by themselves after their streams have ended."""
MAX_STARTS: Final = 5
"""The number of failed starts in a row by the bot's fault after which it is not started again."""
AGAIN_S: Final = (0.0, 1.0, 2.0, 4.0, 8.0)
"""The waits in seconds before further starts of a bot that the arena fails to start."""
REST_S: Final = 60.0
"""Seconds after the last of these waits until it is started again."""
COPY: Final = "files"
"""The folder in the folder of a process that has its copy of an uploaded bot's files."""

_BUBBLEWRAP: Final = "bwrap: "
"""The beginning of messages of bubblewrap. It prints one if it cannot build a sandbox, before the bot prints anything."""

_log = logging.getLogger(__name__)


class NoShow(Exception):
    """A bot was launched and did not connect. The text says what happened instead."""

    def __init__(self, text: str, why: str = "", *, by_arena: bool = False) -> None:
        """`why` is the reason alone, without the bot's name, command and output.

        With `by_arena` it is not the fault of the bot: the arena could not start it, or was late.
        """
        super().__init__(text)
        self.why: Final = why
        self.by_arena: Final = by_arena


def require_game(arena: Arena, bots: Sequence[BotId], terms: MatchTerms) -> None:
    """Require that bots, which are connected, play a game with so many seats.

    Raises `NoShow` for the first that does not.
    """
    for bot in bots:
        session = arena.sessions.get(bot)
        if session is None or session.plays(terms.game.id, terms.game.rules_version, terms.seats):
            continue
        declared = session.declared.games
        seats = declared[terms.game.id].seats if terms.game.id in declared else ()
        plays = f"with {', '.join(map(str, sorted(seats)))} seats" if seats else ", ".join(declared)
        why = faults.NOT_PLAYED.text(game=terms.game.id, seats=terms.seats)
        raise NoShow(f"{bot.name}: {why}; it plays {plays} ({faults.NOT_PLAYED.code})", why)


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
          folder: Gets a folder and a log for every instance; the folder is empty for each process.
          sandbox: The sandbox of all bots but the one at the terminal; the arena must have its socket for sandboxed
            bots. None for no sandbox.
          frozen_bots: Freezes submitted bots between their moves if the sandbox supports that; None to freeze no bot.
          terminal: The name of a bot that has the terminal, for example for a debugger. It has no time limit.
          heard: Called with a bot's name and each line that it prints.
        """
        self._arena = arena
        self._commands: Mapping[str, BotCommand] = {command.name: command for command in commands}
        self._folder = folder.absolute()  # a bot reads HOME relative to its own folder
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
        """Return whether the arena failed to start a bot and waits before the next attempt."""
        return any(until_s > trio.current_time() for until_s in self._rests_until_s.values())

    async def require(self, bots: Sequence[BotId]) -> None:
        """Start all these bots, once each, and wait until they are connected.

        Raises `NoShow` for the first that does not connect.
        """
        async with trio.open_nursery() as nursery:
            for bot in bots:
                nursery.start_soon(self._bring, bot, (0.0,))
        for bot in bots:
            if bot in self._failures:
                raise self._failures[bot]

    async def ensure(self, bots: Sequence[BotId]) -> None:
        """Do as `require` does, but the fallback plays the seat of a bot that does not connect by its own fault.

        Raises `NoShow` if the arena failed to start a bot repeatedly.
        """
        await self.bring(bots)
        self.require_no_failure(bots)

    def all_run(self, bots: Sequence[BotId]) -> bool:
        """Return whether all these bots run, and the latest start of each succeeded: `bring` would then do nothing."""
        return all(map(self._runs, bots))

    def _runs(self, bot: BotId) -> bool:
        running = self._running.get(bot)
        if running is None or running.process.exited.is_set() or bot in self._failures:
            return False
        return not self._locks[bot].locked()  # during a start the result is unknown

    async def bring(self, bots: Sequence[BotId]) -> None:
        """Start all these bots, and wait until each is connected or has failed."""
        async with trio.open_nursery() as nursery:
            for bot in bots:
                nursery.start_soon(self._bring, bot, AGAIN_S)

    def require_no_failure(self, bots: Sequence[BotId]) -> None:
        """Require that the arena has not failed to start one of these bots. Raises `NoShow` if it has."""
        for bot in bots:
            if bot in self._failures and self._failures[bot].by_arena:
                raise self._failures[bot]

    def phases_of(self, bots: Sequence[BotId]) -> None:
        """Return None: matches outside of competitions have no phases."""

    def all_sandboxed(self, bots: Sequence[BotId]) -> bool:  # noqa: ARG002 - as `BotSource.all_sandboxed`
        """Return False: a process plays several matches."""
        return False

    async def send_home(self) -> None:
        """End all bots: close their streams, and let them end by themselves for some seconds."""
        running = list(self._running.items())
        for bot, _ in running:
            if (session := self._arena.sessions.get(bot)) is not None:
                session.send_home()
        with trio.move_on_after(math.inf if self._terminal else GO_HOME_S):
            for _, started in running:
                await started.process.exited.wait()
        for _, started in running:
            started.scope.cancel()
        for _, started in running:
            await started.ended.wait()

    async def _bring(self, bot: BotId, waits_s: Sequence[float]) -> None:
        """Start a bot and wait until it is connected; if the arena fails, try again after each of the waits."""
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
        """Start a bot and wait until it is connected; return why it is not, or None."""
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
        start_s = self._commands[bot.name].start_s or CONNECT_S
        limit_s = math.inf if bot.name == self._terminal else start_s
        waited_s = 0.0
        while not waited_s or (waited_s < LATE_TIMES * start_s and self._arena.why_late):
            if await self._arrives(bot, running.process, limit_s):
                return None
            if running.process.exited.is_set():
                break
            waited_s += start_s
        return self._no_show(bot, running.process, waited_s)

    async def _arrives(self, bot: BotId, process: BotProcess, within_s: float) -> bool:
        arrived = False
        with trio.move_on_after(within_s):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._cancel_on_exit, process, nursery.cancel_scope)
                await self._arena.sessions.arrived((bot,))
                arrived = True
                nursery.cancel_scope.cancel()
        return arrived

    def _no_show(self, bot: BotId, process: BotProcess, waited_s: float = CONNECT_S) -> NoShow:
        """Return why a bot did not connect. It is the bot's fault unless the arena has failed."""
        hidden = failed = ""
        words = process.last_words()
        if self._sandbox is not None and process.visible is not None:
            hidden = self._sandbox.what_it_hid(words, process.visible, process.command)
            failed = "its sandbox could not be built" if words.startswith(_BUBBLEWRAP) else ""
        if process.ended_with_spawner:
            failed = NO_SPAWNER
        if process.ended_by_shortage:
            failed = NO_MEMORY
        what = process.how_it_ended
        if process.returncode is None:
            failed = self._arena.why_late
            what = f"did not connect within {waited_s:.0f} s"
        what = f"{what} before it said hello"
        if cause := why_not_started(process.command, words, process.returncode):
            what = f"{what}: {cause}"
        if failed:
            what = f"{what}: {failed}"
        printed = f"; it printed:\n{words}" if words else " and printed nothing"
        cure = "" if failed or process.returncode is not None else f"\n{_LONGER}"
        text = f"the bot {bot.name!r} {what}: {process.command.text}{printed}{hidden}{cure}"
        return NoShow(text, f"it {what}", by_arena=bool(failed))

    async def _launch(self, bot: BotId) -> "_Running":
        """Start a bot in an empty folder, with a copy of its files. Messages to earlier processes are not repeated.

        Raises `BadCommand` if the process cannot be started, and `OSError` if its files cannot be copied.
        """
        token = new_token()
        folder = self._folder / instance_name(bot.name, bot.instance)
        at_terminal = bot.name == self._terminal
        sandbox = None if at_terminal else self._sandbox
        if (session := self._arena.sessions.get(bot)) is not None:
            session.forget_sent()
        command = await trio.to_thread.run_sync(_fresh, self._commands[bot.name], folder)
        self._arena.tokens.add(
            token,
            bot,
            sandboxed=sandbox is not None,
            publishes_notes=command.publishes_notes,
        )
        address, socket = self._arena.address, None
        if sandbox is not None:
            assert self._arena.play_sockets is not None, "sandboxed bots need the arena's sockets"
            socket = self._arena.play_sockets.open(functools.partial(self._on_flood, bot))
            address = sandbox.address(socket.path)
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
                socket=None if socket is None else socket.path,
            )
        except BaseException:
            self._arena.tokens.drop(token)
            if socket is not None:
                socket.close()
            raise
        running = self._running[bot] = _Running(process, socket)
        self._nursery.start_soon(self._watch, bot, running, token)
        if self._frozen_bots is not None and command.files is not None and process.can_freeze:
            self._nursery.start_soon(self._frozen_bots.keep, bot, process)
        return running

    async def _watch(self, bot: BotId, running: "_Running", token: str) -> None:
        """Tell the bot's session when its process has ended, so that it is not expected to reconnect.

        The session is not told if the arena stops or loses its spawner: then its bots return at the next start. If
        the memory of the machine ran out, the matches of the bot are aborted and no bot is charged.
        """
        process = running.process
        try:
            with running.scope:
                await process.watch(self._heard and functools.partial(self._heard, bot.name))
        finally:
            self._arena.tokens.drop(token)
            if running.socket is not None:
                running.socket.close()
            session = self._arena.sessions.get(bot)
            ended_by_arena = process.ended_with_spawner or self._arena.is_shut
            left = self._running.get(bot) is running and not ended_by_arena
            if session is not None and left and process.ended_by_shortage:
                matches = [seating.match_start.match_id for seating in session.seats]
                incident = self._arena.matches.abort(matches)
                fields = {"bot": bot.name, "incident": incident, "matches": matches}
                _log.error("the kernel ended a bot within its limit of memory", extra=fields)
            elif session is not None and left:
                session.leave()
            copy = self._folder / instance_name(bot.name, bot.instance) / COPY
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(_empty, copy)
            running.ended.set()

    def _on_flood(self, bot: BotId, report: FloodReport) -> None:
        """Write to a bot's log what the relay did about its flood; pauses because of it are not refunded to its owner."""
        fields = {"bot": bot.name, "instance": bot.instance, "why": report.why}
        text = f"further connections wait: {report.why}"
        if report.flood_s is not None:
            _log.warning("the connections of a flooding bot were closed", extra=fields)
            text = f"its connections were closed: {report.why}"
            now_s, lag = self._arena.now_s(), self._arena.lag
            if lag is not None:
                owner = self._arena.tokens.owner_of(bot.name)
                lag.caused(owner, now_s - report.flood_s, now_s)
        if bot in self._running:
            self._running[bot].process.note(text)

    async def _cancel_on_exit(self, process: BotProcess, scope: trio.CancelScope) -> None:
        await process.exited.wait()
        scope.cancel()


class _Running:
    def __init__(self, process: BotProcess, socket: BotSocket | None) -> None:
        self.process: Final = process
        self.socket: Final = socket
        """Its socket file, if it is sandboxed."""
        self.scope: Final = trio.CancelScope()
        """Cancelled to end it."""
        self.ended: Final = trio.Event()
        """Set when it has ended and its copy of the bot's files is removed."""


def _fresh(command: BotCommand, folder: Path) -> BotCommand:
    """Empty the folder of a process and copy the bot's files there; return the command with their new paths."""
    copy = folder / COPY
    folder.mkdir(parents=True, exist_ok=True)
    _empty(folder, but=copy)
    _empty(copy)
    if command.files is None:
        return command
    shutil.copytree(command.files, copy, dirs_exist_ok=True)
    return command.moved(copy)


def _empty(folder: Path, but: Path | None = None) -> None:
    """Remove the contents of a folder. The folder itself stays, because the spawner has mounted it by its path."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    folder.chmod(0o755)
    for path in folder.iterdir():
        if path == but:
            continue
        if path.is_dir() and not path.is_symlink():
            remove_unpacked(path)
        else:
            path.unlink()
