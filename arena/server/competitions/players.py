"""The bots of competitions: who is launched by which command, and who dials in.

Each launched bot has one launcher, whatever it plays in, so that two competitions never start the same
process twice.
"""

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import trio

from arena.competition.manifest import runs_python
from arena.competition.pairing import HOUSE
from arena.competition.wheels import require_fitting, wheels_in
from arena.jail import UPLOADS_AT, BadCommand, BotCommand, Level, Wall, parse_commands
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.submissions.built_runtimes import site_of
from arena.server.submissions.command import launched_manifest
from arena.server.submissions.installed import INSTALLED, NotInstalled, folder_of, install
from arena.server.tournaments.launcher import Launcher
from arena.store import Blobs, StoreError, Version

HOUSE_BOT: Final = Path(__file__).with_name("house_bot.py")

RETURN_S: Final = 20.0
"""After a start of the arena, longest time for bots that dial in to be back at their matches."""


class Players:
    """Has the bots of all competitions of an arena come to their matches. Made and used in trio."""

    def __init__(
        self,
        arena: Arena,
        data: Path,
        folder: Path,
        nursery: trio.Nursery,
        *,
        wall: Wall | None = None,
    ) -> None:
        """Launches nothing yet.

        Args:
          arena: Where the bots dial in.
          data: Has the archives of uploaded versions.
          folder: Gets a folder and a log for every instance of a launched bot.
          nursery: The bots run in it.
          wall: What they are jailed by; None jails nobody.
        """
        self._arena = arena
        self._wall = wall
        self._data = data
        self._folder = folder
        self._nursery = nursery
        self._launchers: dict[str, Launcher] = {}
        self._commands: dict[str, BotCommand] = {}
        self._back_at_s = trio.current_time() + RETURN_S
        self.add(BotCommand(HOUSE, (sys.executable, str(HOUSE_BOT))))

    @property
    def level(self) -> Level:
        """What launched bots are jailed by. Waits for the wall's trial, when asked first."""
        return Level.S0 if self._wall is None else self._wall.level

    def require_level(self, least: Level) -> None:
        """See that what is launched is jailed as well as that.

        Raises:
          BadCommand: if it is not.
        """
        if self.level < least:  # levels are named so that a better one is the greater text
            why = "" if self._wall is None else self._wall.why_not(least)
            raise BadCommand(
                f"bots are to be launched at jail level {least} or better, and are at {self.level} "
                f"here{f': {why}' if why else ''}"
            )

    def add(self, command: BotCommand) -> None:
        """Know a bot that is launched.

        Raises:
          BadCommand: if another bot of this name is launched here already.
        """
        known = self._commands.setdefault(command.name, command)
        if known.argv != command.argv:
            raise BadCommand(
                f"{command.name!r} is started by `{known.text}` in another competition of this "
                f"arena, not by `{command.text}`: give one of them another name"
            )

    def add_version(self, version: Version) -> BotId:
        """Know an uploaded version; the bot that it plays as. Blocks until its files are unpacked.

        Raises:
          BadCommand: if its manifest has no command that can be launched, or there is no wall to
            launch it behind: strangers wrote it.
        """
        if self.level not in UPLOADS_AT:
            raise BadCommand(
                f"{version} was uploaded, and is not launched at jail level {self.level}"
            )
        self.add(command_of(version, self._data, self._wall))
        return BotId(str(version))

    def is_launched(self, name: str) -> bool:
        """Whether the arena starts this bot; others dial in."""
        return name in self._commands

    async def require(self, bots: Sequence[BotId]) -> None:
        """Have all these bots running and connected.

        Raises:
          NoShow: for the first that does not come.
        """
        for name, own in self._launched(bots).items():
            await self._launcher(name).require(own)

    async def ensure(self, bots: Sequence[BotId]) -> None:
        """As `require`, but the seat of a bot that does not come is played by fallback.

        Bots that dial in are waited for only after a start of the arena: they are on their way back.
        """
        async with trio.open_nursery() as nursery:
            for name, own in self._launched(bots).items():
                nursery.start_soon(self._launcher(name).ensure, own)
            remote = [each for each in bots if each.name not in self._commands]
            with trio.move_on_at(self._back_at_s):
                await self._arena.arrived(remote)

    def start_soon(self, task: Callable[..., Awaitable[object]], *args: object) -> None:
        """Run a task for as long as bots are launched."""
        self._nursery.start_soon(task, *args)

    async def send_home(self) -> None:
        """Close the streams of all launched bots, and give them time to end."""
        async with trio.open_nursery() as nursery:
            for launcher in self._launchers.values():
                nursery.start_soon(launcher.send_home)

    def _launched(self, bots: Sequence[BotId]) -> Mapping[str, list[BotId]]:
        found: dict[str, list[BotId]] = {}
        for bot in dict.fromkeys(bots):
            if bot.name in self._commands:
                found.setdefault(bot.name, []).append(bot)
        return found

    def _launcher(self, name: str) -> Launcher:
        if name not in self._launchers:
            own = [self._commands[name]]
            self._launchers[name] = Launcher(
                self._arena, own, self._folder, self._nursery, wall=self._wall
            )
        return self._launchers[name]


def launched_command(name: str, command: str) -> BotCommand:
    """A bot by the command that its organiser wrote.

    Raises:
      BadCommand: if it cannot be launched.
    """
    (parsed,) = parse_commands([command])
    return BotCommand(name, parsed.argv)


def command_of(version: Version, data: Path, wall: Wall | None = None) -> BotCommand:
    """How an uploaded version is launched. Blocks until its files are unpacked.

    Wheels of it that are not installed any more are, behind the wall: then it is called on a thread of trio's.

    Raises:
      BadCommand: if its manifest has no command, its files are gone or damaged, or what runs it is
        not here.
    """
    try:
        folder = Blobs(data).unpacked(version.sha256).absolute()
    except StoreError as error:
        raise BadCommand(f"the files of {version} are gone: {error}") from error
    except OSError as error:
        raise BadCommand(f"{version} cannot be unpacked: {error.strerror}") from error
    return launched_manifest(
        str(version), version.manifest, folder, _packages(version, folder, data, wall)
    )


def _packages(version: Version, folder: Path, data: Path, wall: Wall | None) -> list[Path]:
    """The folders of packages that a version has, beside the SDK: first its own."""
    if not runs_python(version.manifest.get("command", ())):
        return []
    found = []
    try:
        if wheels := wheels_in(folder):
            require_fitting(wheels)
            site = folder_of(wheels, data / INSTALLED)
            if not site.is_dir():
                trio.from_thread.run(install, wheels, folder, data / INSTALLED, wall)
            found.append(site)
    except (NotInstalled, OSError, ValueError) as error:
        raise BadCommand(f"the wheels of {version} are not installed: {error}") from error
    if version.runtime_sha256:
        found.append(site_of(version.runtime_sha256, data, str(version)))
    return found
