"""The bots of competitions: which bots are launched, by which commands, and which connect by themselves.

Each launched bot has one launcher for all competitions, so that two competitions never start the same process twice.
"""

import contextlib
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

import trio

from arena.bots.blobs import Blobs
from arena.bots.bot_ids import BotId
from arena.bots.bot_python import BOT_PYTHON, bot_python
from arena.bots.built_runtimes import site_of
from arena.bots.command import folder_command, launched_manifest
from arena.bots.installed_wheels import INSTALLED, NotInstalled, folder_of, install
from arena.bots.manifest import runs_python
from arena.bots.wheels import require_fitting, wheels_in
from arena.live.arena import Arena
from arena.live.frozen_bots import FrozenBots
from arena.live.launcher import Launcher
from arena.live.runner import LINGER_S, Phases
from arena.live.session.session import Session
from arena.results.deal_sets import HOUSE
from arena.sandbox.command import (
    BadCommand,
    BotCommand,
    SharedName,
    house_argv,
    parse_commands,
)
from arena.sandbox.house_levels import HOUSE_BOTS
from arena.sandbox.sandbox import UPLOADS_AT, Sandbox
from arena.sandbox.spawner.order import Level
from arena.store import StoreError, Version

RETURN_S: Final = 20.0
"""The longest time in seconds, after a start of the arena, in which remote bots may return to their matches."""

IDLE_CHECK_S: Final = 1.0
"""The longest time in seconds between two checks whether launched bots play."""

OF_PEOPLE: Final = 1_000
"""The first number of processes for matches of people.

A separate `Players` launches them, so that no process of a competition sits at such a table, and no deal-set waits for
a person.
"""

IDLE_S: Final = 60.0
"""Seconds without a match of any launched bot after which all launched bots are ended."""


@dataclass(frozen=True, slots=True)
class ArchivedBot:
    """The archive from which a process without the registry of versions launches an uploaded version."""

    name: str
    sha256: str
    manifest: Mapping[str, Any]
    runtime_sha256: str

    def __str__(self) -> str:
        return self.name


class Players:
    """Launches the bots of all competitions of an arena, and waits for remote ones. Used in trio."""

    def __init__(
        self,
        arena: Arena,
        data: Path,
        folder: Path,
        nursery: trio.Nursery,
        *,
        sandbox: Sandbox | None = None,
        of_one_author: bool = False,
        one_at_a_time: bool = False,
        of_people: bool = False,
    ) -> None:
        """Begin without processes.

        Args:
          folder: Gets a folder and a log for every instance of a launched bot.
          sandbox: The sandbox of launched bots; None for no sandbox.
          of_one_author: Whether all bots are of one author, so that they need not be isolated from
            each other.
          one_at_a_time: Whether deal-sets are played one after the other.
          of_people: Whether they are for matches of people; then all processes have numbers from
            `OF_PEOPLE` on.
        """
        self._arena = arena
        self._of_one_author = of_one_author
        self._of_people = of_people
        self._sandbox = sandbox
        self._data = data
        self._folder = folder
        self._nursery = nursery
        self.frozen_bots: Final = FrozenBots(self._session_of)
        """Freezes submitted bots between their moves, at sandbox level S3."""
        self._launchers: dict[str, Launcher] = {}
        self._commands: dict[str, BotCommand] = {}
        self._archived: dict[str, Version | ArchivedBot] = {}
        self.phases: Final = Phases(self._end_processes, 0.0 if one_at_a_time else LINGER_S)
        """Of the deal-sets that the bots launched here play."""
        self._used_s = -math.inf
        """When launched bots were last needed, as far as `_end_idle` has looked."""
        self._watches_idle = False
        self._starting = 0
        """Calls that wait at present for bots to be started."""
        self._can_start = trio.Event()
        """Set unless idle bots are being ended."""
        self._can_start.set()
        self._back_at_s = trio.current_time() + RETURN_S
        for name, level in {HOUSE: "sample", **HOUSE_BOTS}.items():
            self.add(BotCommand(name, house_argv(level)))

    def _session_of(self, bot: BotId) -> Session | None:
        return self._arena.sessions.get(bot)

    @property
    def level(self) -> Level:
        """The sandbox level of launched bots. The first call waits for the trial of the sandbox."""
        return Level.S0 if self._sandbox is None else self._sandbox.level

    def require_level(self, least: Level) -> None:
        """Require a sandbox level for the bots that are launched. Raises `BadCommand` if they have a lower one."""
        if self.level < least:  # levels compare as texts, the stronger one is greater
            why = "" if self._sandbox is None else self._sandbox.why_not(least)
            raise BadCommand(
                f"bots are to be launched at sandbox level {least} or better, and are at {self.level} "
                f"here{f': {why}' if why else ''}"
            )

    def add(self, command: BotCommand) -> None:
        """Register a bot that is launched.

        Raises `SharedName` if another bot of this name is already launched here.
        """
        known = self._commands.setdefault(command.name, command)
        if known.argv != command.argv:
            raise SharedName(
                f"{command.name!r} is also the name of a bot that this arena launches for another competition, by "
                "another command: give one of them another name"
            )

    def add_version(self, version: Version | ArchivedBot) -> BotId:
        """Register an uploaded version; return the bot that it plays as. Blocks until its files are unpacked.

        Raises `BadCommand` if its manifest has no command that can be launched, or there is no sandbox: uploaded files
        are not trusted.
        """
        if self.level not in UPLOADS_AT:
            raise BadCommand(
                f"{version} was uploaded, and is not launched at sandbox level {self.level}"
            )
        self.add(command_of(version, self._data, self._sandbox))
        self._archived[str(version)] = version
        return BotId(str(version))

    async def forget(self, name: str) -> None:
        """End the processes of a launched bot that plays nothing, so that another bot may have its name."""
        if (launcher := self._launchers.pop(name, None)) is not None:
            await launcher.send_home()
        self._commands.pop(name, None)
        self._archived.pop(name, None)

    def command(self, name: str) -> BotCommand:
        return self._commands[name]

    def archived(self, name: str) -> Version | ArchivedBot | None:
        """Return the archive of an uploaded version; None for a bot that is launched by a command."""
        return self._archived.get(name)

    def is_launched(self, name: str) -> bool:
        """Return whether the arena launches this bot; others dial in."""
        return name in self._commands

    async def require(self, bots: Sequence[BotId]) -> None:
        """Start or wait for all these bots. Raises `NoShow` for the first that does not connect."""
        launched = self._launched(bots)
        async with self._needed(launched):
            for name, processes in launched.items():
                await self._launcher(name).require(processes)

    async def ensure(self, bots: Sequence[BotId]) -> None:
        """Do as `require` does, but the fallback plays the seat of a bot that does not connect by its own fault.

        Remote bots are waited for only after a start of the arena, because they reconnect then. Raises `NoShow` if the
        arena failed to start a bot repeatedly.
        """
        launched = self._launched(bots)
        remote = [bot for bot in bots if bot.name not in self._commands]
        async with self._needed(launched):
            # Usually all of them run, which is found out without a task.
            running = (self._launcher(name).all_run(on) for name, on in launched.items())
            if not remote and all(running):
                return
            async with trio.open_nursery() as nursery:
                began_s = trio.current_time()
                for name, processes in launched.items():
                    nursery.start_soon(self._launcher(name).bring, processes)
                with trio.move_on_at(self._back_at_s):
                    await self._arena.sessions.arrived(remote)
        for name, processes in launched.items():
            self._launcher(name).require_no_failure(processes)
        self.phases.started(trio.current_time() - began_s)

    def phases_of(self, bots: Sequence[BotId]) -> Phases | None:
        """Return the phases of all deal-sets with launched bots in a sandbox; None for other deal-sets.

        Remote bots cannot be ended, bots without a sandbox can leave files for later processes, and the arena's own
        bots are trusted.
        """
        launched = any(self.is_launched(bot.name) for bot in bots if bot.name != HOUSE)
        return self.phases if launched and self.level is not Level.S0 else None

    def all_sandboxed(self, bots: Sequence[BotId]) -> bool:
        """Return whether none of them can pass on what it has seen to its process at the next table of a deal-set.

        It is launched in a sandbox, in a new process for each table. Even the time of reading a file could otherwise
        pass on a bit, because a file that was read before is read faster.
        """
        if self.level is Level.S0 or not all(self.is_launched(bot.name) for bot in bots):
            return False
        commands = [self._commands[bot.name] for bot in bots]
        return self._of_one_author or all(map(self._leaves_no_trace, commands))

    def _leaves_no_trace(self, command: BotCommand) -> bool:
        if command.is_house:  # the arena's own bots are trusted
            return True
        return self._sandbox is not None and not self._sandbox.why_reads_disk(command)

    def rests(self, name: str) -> bool:
        return name in self._launchers and self._launchers[name].rests

    async def send_home(self) -> None:
        async with trio.open_nursery() as nursery:
            for launcher in self._launchers.values():
                nursery.start_soon(launcher.send_home)

    @contextlib.asynccontextmanager
    async def _needed(self, launched: Mapping[str, Sequence[BotId]]) -> AsyncIterator[None]:
        """Launch bots within the block; `_end_idle` ends them later."""
        if not launched:
            yield
            return
        await self._can_start.wait()
        self._used_s = trio.current_time()
        if not self._watches_idle:
            self._watches_idle = True
            self._nursery.start_soon(self._end_idle)
        self._starting += 1
        try:
            yield
        finally:
            self._starting -= 1
            self._used_s = trio.current_time()

    async def _end_idle(self) -> None:
        """End all launched bots when none has been needed for a while, because they use memory."""
        while trio.current_time() < self._used_s + IDLE_S:
            await trio.sleep_until(self._used_s + IDLE_S)
            if self._any_plays or self._starting:
                self._used_s = trio.current_time()
        self._can_start = trio.Event()
        try:
            await self.phases.rest()
        finally:
            self._watches_idle = False
            self._can_start.set()

    @property
    def _any_plays(self) -> bool:
        """Whether a launched bot plays a match, or is to play one that was ordered and waits for its turn.

        Such a match may outlive the run of its deal-set, for example if the store fails.
        """
        ordered = (
            bot for match in self._arena.matches.in_play.values() for bot in match.table.bots
        )
        reserved = (session.bot for session in self._arena.sessions if session.matches)
        return any(
            self.is_launched(bot.name) and (bot.instance >= OF_PEOPLE) is self._of_people
            for bot in chain(ordered, reserved)
        )

    async def _end_processes(self) -> None:
        """End all launched bots when the matches that were ordered with them are over."""
        while self._any_plays:
            with trio.move_on_after(IDLE_CHECK_S):
                await self._arena.matches.referee.match_ended()
        await self.send_home()

    def _launched(self, bots: Sequence[BotId]) -> Mapping[str, list[BotId]]:
        launched: dict[str, list[BotId]] = {}
        for bot in dict.fromkeys(bots):
            if bot.name in self._commands:
                launched.setdefault(bot.name, []).append(bot)
        return launched

    def _launcher(self, name: str) -> Launcher:
        if name not in self._launchers:
            commands = [self._commands[name]]
            self._launchers[name] = Launcher(
                self._arena,
                commands,
                self._folder,
                self._nursery,
                sandbox=self._sandbox,
                frozen_bots=self.frozen_bots,
            )
        return self._launchers[name]


def launched_command(name: str, command: str, start_s: float | None = None) -> BotCommand:
    """Return a bot by the command that its organiser wrote, with the longest time that it may take to connect.

    Raises `BadCommand` if it cannot be launched.
    """
    (parsed,) = parse_commands([command], folder_command)
    return replace(parsed, name=name, start_s=start_s or parsed.start_s)


def command_of(
    version: Version | ArchivedBot, data: Path, sandbox: Sandbox | None = None
) -> BotCommand:
    """Return how an uploaded version is launched. Blocks until its files are unpacked.

    Its wheels are installed again, in the sandbox, if their installation was removed; then call it on a thread of trio.

    Raises `BadCommand` if its manifest has no command, its files are missing or damaged, or this machine lacks its
    runtime.
    """
    try:
        folder = Blobs(data).unpacked(version.sha256).absolute()
        python = bot_python(data / BOT_PYTHON)
    except StoreError as error:
        raise BadCommand(f"the files of {version} are missing: {error}") from error
    except OSError as error:
        raise BadCommand(f"{version} cannot be unpacked: {error.strerror}") from error
    packages = _packages(version, folder, data, sandbox)
    return launched_manifest(str(version), version.manifest, folder, packages, python)


def _packages(
    version: Version | ArchivedBot, folder: Path, data: Path, sandbox: Sandbox | None
) -> list[Path]:
    if not runs_python(version.manifest.get("command", ())):
        return []
    folders = []
    try:
        if wheels := wheels_in(folder):
            require_fitting(wheels)
            site = folder_of(wheels, data / INSTALLED)
            if not site.is_dir():
                trio.from_thread.run(install, wheels, folder, data / INSTALLED, sandbox)
            folders.append(site)
    except (NotInstalled, OSError, ValueError) as error:
        raise BadCommand(f"the wheels of {version} are not installed: {error}") from error
    if version.runtime_sha256:
        folders.append(site_of(version.runtime_sha256, data, str(version)))
    return folders
