"""A whole qualification, in a minute at most, in a folder of its own."""

import functools
import os
import shlex
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trio

from arena.competition.archive import BadArchive, read_archive, unpack
from arena.competition.manifest import BadManifest, Manifest, read_manifest
from arena.competition.report import (
    MANIFEST_CHECK,
    START_CHECK,
    Check,
    Report,
    last_of,
)
from arena.competition.wheels import read_wheels, require_fitting, wheels_in
from arena.conformance.play import judge
from arena.jail import BadCommand, BotCommand, Level, Wall, instance_name
from arena.qualification import opponents, robustness
from arena.qualification.client import lines_of, starter
from arena.qualification.games import RANDOM, Games, Played, Sitting, check_of, sittings, why_absent
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.gate.tokens import Tokens
from arena.server.host import ServerSettings, serve
from arena.server.submissions.built_runtimes import BuiltRuntimes, site_of
from arena.server.submissions.command import launched_manifest, submitted_command
from arena.server.submissions.installed import INSTALLED, NotInstalled, install
from arena.server.submissions.runtimes import offered
from arena.server.tournaments.launcher import Launcher, NoShow

MOST_S: Final = 60.0
"""For everything, from the first look at the archive to the report, but to install its wheels."""
LOOKING_S: Final = 6.0
"""Of these, kept for what is done after play: looking at the replays of what failed."""
START: Final = "start"
"""The name of the process that is started first."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of a qualification is wanted, and how it is repeated."""

    again: str = "./my-bot"
    """The folder or zip, as its author would name it."""
    seed: str = "q7"
    only: tuple[str, ...] = ()
    """Games, or names of what every bot must stand; none is all."""
    seats: int | None = None
    most_s: float = MOST_S

    @property
    def partial(self) -> bool:
        """Whether not all is looked at, so that nobody is qualified by it."""
        return bool(self.only) or self.seats is not None

    def command(self, name: str, seats: int = 0) -> str:
        """The command that repeats one check."""
        words = ["arena", "bots", "check", self.again, "--only", name]
        words += ["--seats", str(seats)] if seats else []
        return shlex.join([*words, "--seed", self.seed])


@dataclass(frozen=True, slots=True)
class Shelves:
    """Where packages are that a bot may have beside the SDK."""

    data: Path | None = None
    """The folder of the arena whose runtimes it may name; None has none."""
    runtime_sha256: str = ""
    """Of the runtime that it was submitted for; empty is the one that has its name now."""
    installed: Path | None = None
    """What was installed of wheels is kept here; None keeps nothing."""

    def names(self) -> Collection[str] | None:
        """The runtimes that it may name; None if that was looked at before."""
        if self.runtime_sha256:
            return None
        return () if self.data is None else BuiltRuntimes(self.data).names()

    def site(self, name: str) -> Path:
        """The packages of a runtime that it names.

        Raises:
          BadCommand: if it is gone.
        """
        assert self.data is not None, "it has names"
        sha256 = self.runtime_sha256
        if not sha256:
            named = BuiltRuntimes(self.data).named(name)
            sha256 = "" if named is None else named.sha256
        return site_of(sha256, self.data, "the bot")


_LONGEST_FOLDER: Final = 90
"""Bytes of the folder of socket files: their whole paths have 107 at most. Else it is ports."""

Told = Callable[[str], None]
"""Hears the title of each check as it is over."""


@dataclass(slots=True)
class _Found:
    """What has been found so far; what is not here when the time is over did not end."""

    start: Check | None = None
    games: list[Played] = field(default_factory=list)
    stands: dict[str, Check] = field(default_factory=dict)


def qualify(
    archive: Path,
    work: Path,
    wanted: Wanted | None = None,
    told: Told = lambda _: None,
    wall: Wall | None = None,
    shelves: Shelves | None = None,
) -> Report:
    """Find out whether the bot in an archive may play.

    Args:
      archive: A zip, as it is submitted.
      work: A folder that is not there yet, for the bot, its processes and their logs.
      wanted: What is looked at.
      told: Hears how far it is.
      wall: What the bot is jailed by; it has to hide `work / "data"`. None jails nobody.
      shelves: Where packages are that it may have.

    Raises:
      BadCommand: if it was submitted for a runtime that is not here any more.
      CannotServe, Unwritten: if nothing can be played on this machine.
      KeyboardInterrupt: if it was interrupted.
    """
    wanted, shelves = wanted or Wanted(), shelves or Shelves()
    began_s = time.monotonic()
    work = work.absolute()  # the bot runs in a folder of its own
    work.mkdir(parents=True)
    took_s = functools.partial(_since, began_s)
    again = shlex.join(["arena", "bots", "check", wanted.again])
    try:
        read = read_archive(archive)
        manifest = read_manifest(read.manifest, read.paths, offered(), shelves.names())
        if manifest.runs_python:
            require_fitting(read_wheels(read))
    except (BadArchive, BadManifest) as error:
        problem = "; ".join(error.problems)
        check = Check(MANIFEST_CHECK, passed=False, took_s=took_s(), problem=problem, again=again)
        return Report("", wanted.seed, took_s(), (check,), wanted.partial)
    unpack(read, work / "bot")
    packages = [shelves.site(manifest.runtime)] if manifest.is_built else []
    manifested = Check(MANIFEST_CHECK, passed=True, took_s=took_s())
    told(manifested.title)
    jail = None if wall is None or wall.level is Level.S0 else wall
    run = _Run(work, manifest, wanted, told, jail, shelves.installed or work / INSTALLED, packages)
    until_s = began_s + wanted.most_s - LOOKING_S
    try:
        serve(
            ServerSettings(work / "data", play_socket=jail is not None),
            Tokens(),
            functools.partial(run.main, until_s - time.monotonic()),
        )
    finally:
        found = run.found
    start = found.start or Check(
        START_CHECK, passed=False, problem="it was stopped before it had started", again=again
    )
    checks = [manifested, start]
    if start.passed:
        checks += [run.check_of_game(each) for each in run.sittings]
        checks += [run.check_of_case(name) for name in run.cases]
    return Report(read.sha256, wanted.seed, took_s(), tuple(checks), wanted.partial)


def _since(began_s: float) -> float:
    return time.monotonic() - began_s


class _Run:
    """What is started and played for one bot."""

    def __init__(
        self,
        work: Path,
        manifest: Manifest,
        wanted: Wanted,
        told: Told,
        wall: Wall | None,
        installed: Path,
        packages: list[Path],
    ) -> None:
        self.found = _Found()
        self._installed = installed
        self._packages = packages
        self._not_installed = ""
        self._work = work
        self._manifest = manifest
        self._wanted = wanted
        self._told = told
        self._wall = wall
        declared = [g for g in manifest.games if not wanted.only or g.game.id in wanted.only]
        self.sittings: Sequence[Sitting] = sittings(declared, wanted.seats)
        self.cases: Sequence[str] = [
            name
            for name in robustness.NAMES
            if (name in wanted.only if wanted.only else wanted.seats is None)
        ]

    @property
    def _bots(self) -> Path:
        return self._work / "bots"

    def _candidate(self, name: str) -> BotCommand:
        return launched_manifest(name, self._manifest.as_json(), self._work / "bot", self._packages)

    def _launcher(
        self, arena: Arena, commands: Sequence[BotCommand], nursery: trio.Nursery
    ) -> Launcher:
        return Launcher(arena, commands, self._bots, nursery, wall=self._wall)

    async def main(self, left_s: float, arena: Arena) -> None:
        """Everything that needs an arena, as long as there is time; wheels have their own."""
        try:
            await self._install()
        except NotInstalled as error:
            self._not_installed = f"its wheels cannot be installed: {error}"
        with trio.move_on_after(left_s):
            async with trio.open_nursery() as nursery:
                if await self._starts(arena, nursery):
                    async with trio.open_nursery() as both:
                        both.start_soon(self._play, arena, nursery)
                        both.start_soon(self._stand, nursery)
                nursery.cancel_scope.cancel()

    async def _starts(self, arena: Arena, nursery: trio.Nursery) -> bool:
        began_s = trio.current_time()
        problem = self._not_installed
        if not problem:
            launcher = self._launcher(arena, [self._candidate(START)], nursery)
            try:
                await launcher.require((BotId(START),))
            except NoShow as error:
                problem = why_absent(error)
            nursery.start_soon(launcher.send_home)
        self.found.start = Check(
            START_CHECK,
            passed=not problem,
            took_s=trio.current_time() - began_s,
            problem=problem,
            last_lines=self._last_lines(START) if problem else (),
            again=self._wanted.command(START_CHECK) if problem else "",
        )
        self._told(self.found.start.title)
        return not problem

    async def _install(self) -> None:
        """Have the bot's own packages where it imports from, before all others."""
        if not self._manifest.runs_python:
            return
        bot = self._work / "bot"
        if wheels := wheels_in(bot):
            self._packages.insert(0, await install(wheels, bot, self._installed, self._wall))

    async def _play(self, arena: Arena, nursery: trio.Nursery) -> None:
        families = {each.game.family: each.game for each in self.sittings}
        commands = [
            submitted_command(RANDOM.name, ("python", str(opponents.RANDOM)), Path("/")),
            *(
                submitted_command(
                    f"sample {family}", ("python", str(opponents.sample_bot(game))), Path("/")
                )
                for family, game in families.items()
            ),
        ]
        opposing = Launcher(arena, commands, self._bots, nursery)  # the arena's own bots
        games = Games(
            arena,
            functools.partial(self._launcher, arena),
            self._candidate,
            opposing,
            self._wanted.seed,
        )

        def told(played: Played) -> None:
            self.found.games.append(played)
            self._told(f"{played.sitting.game.id}, {played.sitting.seats} seats")

        await games.play(self.sittings, max(2, (os.cpu_count() or 1) + 1), told)

    async def _stand(self, nursery: trio.Nursery) -> None:
        """The cases of the scripted arena, one after the other, beside the games."""
        if not self.cases:
            return
        table = robustness.table_of(self._manifest.games[0], self._wanted.seed)
        for case in robustness.cases(table):
            if case.id not in self.cases:
                continue
            name = f"stands-{case.id}"
            sockets = self._sockets(case.id)
            socket = None if sockets is None else sockets / "main.sock"
            command, folder = self._candidate(name), self._bots / name
            start = starter(nursery, command, folder, self._wall, socket)
            play = functools.partial(judge, case, (), self._work, start=start, sockets=sockets)
            try:
                verdict = await trio.to_thread.run_sync(play, abandon_on_cancel=True)
            except BadCommand as error:
                sentence, took_s = str(error), 0.0
            else:
                sentence, took_s = verdict.sentence, verdict.took_s
            problem = f"it must {case.must}: {sentence}" if sentence else ""
            self.found.stands[case.id] = Check(
                case.id,
                passed=not problem,
                took_s=took_s,
                problem=problem,
                last_lines=self._last_lines(name) if problem else (),
                again=self._wanted.command(case.id) if problem else "",
            )
            self._told(self.found.stands[case.id].title)

    def _sockets(self, case: str) -> Path | None:
        """A folder for the socket files of a case; None if their paths would be too long.

        Then the bot is not jailed for it: in a jail it would reach nothing.
        """
        folder = self._work / "sockets" / case
        folder.mkdir(parents=True)
        return folder if len(os.fsencode(folder)) <= _LONGEST_FOLDER else None

    # What was found, when all is over.

    def check_of_game(self, sitting: Sitting) -> Check:
        """What a sitting came to."""
        again = self._wanted.command(sitting.game.id, sitting.seats)
        for played in self.found.games:
            if played.sitting == sitting:
                words = self._words(sitting.candidate.name)
                return check_of(played, self._work / "data" / "replays", words, again)
        return Check(
            sitting.game.id,
            passed=False,
            seats=sitting.seats,
            problem=self._no_time,
            last_lines=self._last_lines(sitting.candidate.name),
            again=again,
        )

    def check_of_case(self, name: str) -> Check:
        """What a case came to."""
        again = self._wanted.command(name)
        unended = Check(name, passed=False, problem=self._no_time, again=again)
        return self.found.stands.get(name, unended)

    @property
    def _no_time(self) -> str:
        return f"it had not ended when the {self._wanted.most_s:.0f} s for everything were over"

    def _last_lines(self, process: str) -> tuple[str, ...]:
        return last_of(self._words(process))

    def _words(self, process: str) -> list[str]:
        """What a process of the bot printed, its files named as in its archive."""
        names = dict.fromkeys((instance_name(process, 0), process))
        lines = [line for name in names for line in lines_of(self._bots / f"{name}.log")]
        folders = (self._work / "bot", *self._packages)
        return [_without(line.text, folders) for line in lines]


def _without(text: str, folders: Sequence[Path]) -> str:
    """What a bot printed, without the folders that its files and packages are in."""
    for folder in folders:
        text = text.replace(f"{folder}/", "")
    return text
