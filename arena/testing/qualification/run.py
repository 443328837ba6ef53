"""Runs all checks of a qualification, within a time limit, in a separate folder."""

import functools
import os
import shlex
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trio

from arena.bots.archive import BadArchive, read_archive, unpack
from arena.bots.bot_ids import BotId
from arena.bots.bot_python import BOT_PYTHON, bot_python, site_of_python
from arena.bots.built_runtimes import BuiltRuntimes, site_of
from arena.bots.command import launched_manifest, submitted_command
from arena.bots.installed_wheels import INSTALLED, NotInstalled, install
from arena.bots.manifest import BadManifest, Manifest, read_manifest
from arena.bots.runtimes import offered
from arena.bots.wheels import read_wheels, require_fitting, wheels_in
from arena.errors import checks
from arena.games.game import Game
from arena.live.arena import Arena
from arena.live.launcher import COPY, Launcher, NoShow
from arena.results.qualification_report import (
    MANIFEST_CHECK,
    START_CHECK,
    Check,
    QualificationReport,
    last_of,
)
from arena.sandbox.command import SAMPLE_BOTS, BadCommand, BotCommand
from arena.sandbox.output import instance_name
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.spawner.order import Level
from arena.testing.conformance.play import judge
from arena.testing.qualification import robustness
from arena.testing.qualification.client import lines_of, starter
from arena.testing.qualification.games import (
    RANDOM,
    Games,
    QualificationMatch,
    QualificationSeating,
    check_of,
    seatings,
)

MOST_S: Final = 120.0
"""The time limit in seconds from the archive to the report, without the installation of wheels."""
REPLAYS_S: Final = 6.0
"""The seconds of it that are reserved for reading the replays of failed checks."""
END_GAMES_S: Final = 4.0
"""The seconds of it that are reserved for ending the matches of slow bots."""
START: Final = "start"
"""The name of the bot's first process."""
RANDOM_BOT: Final = Path(__file__).with_name("random_opponent.py")


def sample_bot(game: Game) -> Path:
    """Return the sample bot of a game; each family of games has one."""
    return SAMPLE_BOTS / f"{game.family}.py"


@dataclass(frozen=True, slots=True)
class QualificationRequest:
    """The requested checks, and how to repeat them."""

    again: str = "./my-bot"
    """The folder or zip, for the command that repeats a check."""
    seed: str = "q7"
    only: tuple[str, ...] = ()
    """Ids of games and names of cases; empty for all."""
    seats: int | None = None
    most_s: float = MOST_S
    games_at_a_time: int = (os.cpu_count() or 1) + 1

    @property
    def partial(self) -> bool:
        """Whether some checks are left out, so that the bot cannot be qualified."""
        return bool(self.only) or self.seats is not None

    def command(self, name: str, seats: int = 0) -> str:
        command = ["arena", "check", self.again, "--only", name]
        command += ["--seats", str(seats)] if seats else []
        return shlex.join([*command, "--seed", self.seed])


@dataclass(frozen=True, slots=True)
class Shelves:
    """The folders of packages that a bot may use besides the SDK."""

    data: Path | None = None
    """The data folder of the arena, which has the runtimes; None for no runtimes."""
    runtime_sha256: str = ""
    """The runtime that the bot was submitted for; empty is the present one of that name."""
    installed: Path | None = None
    """The folder of installed wheels, for later runs; None to use a temporary one."""

    def names(self) -> Collection[str] | None:
        """Return the runtimes that the bot may name; None if that was already checked."""
        if self.runtime_sha256:
            return None
        return () if self.data is None else BuiltRuntimes(self.data).names()

    def site(self, name: str) -> Path:
        """Return the packages of a runtime. Raises `BadCommand` if it was removed."""
        assert self.data is not None, "it has names"
        sha256 = self.runtime_sha256
        if not sha256:
            named = BuiltRuntimes(self.data).named(name)
            sha256 = "" if named is None else named.sha256
        return site_of(sha256, self.data, "the bot")


_LONGEST_FOLDER: Final = 90
"""The most bytes in the path of the folder of sockets, since a socket's path has at most 107."""

OnDone = Callable[[str], None]
"""Called with the title of each check when it has ended."""

ServeArena = Callable[[Path, Sandbox | None, Callable[[Arena], Awaitable[None]]], object]
"""Runs an arena in a data folder, with bots in the sandbox, while a program runs."""


@dataclass(slots=True)
class _Found:
    """The results so far. Checks without a result at the end were not finished in time."""

    start: Check | None = None
    games: list[QualificationMatch] = field(default_factory=list)
    cases: dict[str, Check] = field(default_factory=dict)


def qualify(
    archive: Path,
    work: Path,
    serve: ServeArena,
    wanted: QualificationRequest | None = None,
    on_done: OnDone = lambda _: None,
    sandbox: Sandbox | None = None,
    shelves: Shelves | None = None,
) -> QualificationReport:
    """Check whether the bot in an archive may play.

    Args:
      work: A folder that does not exist yet, for the bot, its processes and their logs.
      serve: Runs the arena at which the bot plays.
      wanted: The checks; None for all.
      sandbox: The bot's sandbox, which hides `work / "data"`. None uses no sandbox.
      shelves: The packages that the bot may use.

    Raises:
      BadCommand: if it was submitted for a runtime that was removed.
      CannotServe, Unwritten: if the arena of the qualification cannot start.
      KeyboardInterrupt: if it was interrupted.
    """
    wanted, shelves = wanted or QualificationRequest(), shelves or Shelves()
    began_s = time.monotonic()
    work = work.absolute()  # the bot runs in another folder
    work.mkdir(parents=True)

    def took_s() -> float:
        return time.monotonic() - began_s

    again = shlex.join(["arena", "check", wanted.again])
    try:
        read = read_archive(archive)
        manifest = read_manifest(read.manifest, read.paths, offered(), shelves.names())
        if manifest.runs_python:
            require_fitting(read_wheels(read))
    except (BadArchive, BadManifest) as error:
        problem = checks.MANIFEST.message("; ".join(error.problems))
        check = Check(MANIFEST_CHECK, passed=False, took_s=took_s(), problem=problem, again=again)
        return QualificationReport("", wanted.seed, took_s(), (check,), wanted.partial)
    unpack(read, work / "bot")
    packages = [shelves.site(manifest.runtime)] if manifest.is_built else []
    manifested = Check(MANIFEST_CHECK, passed=True, took_s=took_s())
    on_done(manifested.title)
    sandbox = None if sandbox is None or sandbox.level is Level.S0 else sandbox
    run = _Run(
        *(
            work,
            manifest,
            wanted,
            on_done,
            sandbox,
            shelves.installed or work / INSTALLED,
            packages,
        ),
        bot_python(work / BOT_PYTHON),
    )
    until_s = began_s + wanted.most_s - REPLAYS_S
    try:
        main = functools.partial(run.main, until_s - time.monotonic())
        serve(work / "data", sandbox, main)
    finally:
        found = run.found
    start = found.start or Check(
        START_CHECK, passed=False, problem=checks.NOT_STARTED.message(), again=again
    )
    results = [manifested, start]
    if start.passed:
        results += [run.check_of_game(seating) for seating in run.seatings]
        results += [run.check_of_case(name) for name in run.cases]
    return QualificationReport(read.sha256, wanted.seed, took_s(), tuple(results), wanted.partial)


@dataclass
class _Run:
    _work: Path
    _manifest: Manifest
    _wanted: QualificationRequest
    _on_done: OnDone
    _sandbox: Sandbox | None
    _installed: Path
    _packages: list[Path]
    _python: Path
    _not_installed: str = ""
    found: _Found = field(default_factory=_Found)

    @functools.cached_property
    def seatings(self) -> Sequence[QualificationSeating]:
        only = self._wanted.only
        declared = [g for g in self._manifest.games if not only or g.game.id in only]
        return seatings(declared, self._wanted.seats)

    @functools.cached_property
    def cases(self) -> Sequence[str]:
        only, seats = self._wanted.only, self._wanted.seats
        return [name for name in robustness.NAMES if (name in only if only else seats is None)]

    @property
    def _bots(self) -> Path:
        return self._work / "bots"

    def _candidate(self, name: str) -> BotCommand:
        manifest, bot = self._manifest.as_json(), self._work / "bot"
        return launched_manifest(name, manifest, bot, self._packages, self._python)

    def _launcher(
        self, arena: Arena, commands: Sequence[BotCommand], nursery: trio.Nursery
    ) -> Launcher:
        return Launcher(arena, commands, self._bots, nursery, sandbox=self._sandbox)

    async def main(self, left_s: float, arena: Arena) -> None:
        """Install the bot's wheels; then run the checks that need an arena, for `left_s` at most."""
        try:
            await self._install()
        except NotInstalled as error:
            self._not_installed = checks.WHEELS.message(str(error))
        with trio.move_on_after(left_s) as scope:
            async with trio.open_nursery() as nursery:
                if await self._starts(arena, nursery):
                    async with trio.open_nursery() as both:
                        both.start_soon(self._play, arena, nursery, scope.deadline - END_GAMES_S)
                        both.start_soon(self._check_cases, nursery)
                nursery.cancel_scope.cancel()

    async def _starts(self, arena: Arena, nursery: trio.Nursery) -> bool:
        began_s = trio.current_time()
        problem = self._not_installed
        if not problem:
            launcher = self._launcher(arena, [self._candidate(START)], nursery)
            try:
                await launcher.require((BotId(START),))
            except NoShow as error:
                problem = checks.NO_HELLO.message(error.why)
            nursery.start_soon(launcher.send_home)
        self.found.start = Check(
            START_CHECK,
            passed=not problem,
            took_s=trio.current_time() - began_s,
            problem=problem,
            last_lines=self._last_lines(START) if problem else (),
            again=self._wanted.command(START_CHECK) if problem else "",
        )
        self._on_done(self.found.start.title)
        return not problem

    async def _install(self) -> None:
        """Install the bot's wheels, and make them the first entry of its import path."""
        if not self._manifest.runs_python:
            return
        bot = self._work / "bot"
        if wheels := wheels_in(bot):
            self._packages.insert(0, await install(wheels, bot, self._installed, self._sandbox))

    async def _play(self, arena: Arena, nursery: trio.Nursery, until_s: float) -> None:
        families = {seating.game.family: seating.game for seating in self.seatings}
        commands = [
            submitted_command(RANDOM.name, ("python", str(RANDOM_BOT)), Path("/")),
            *(
                submitted_command(f"sample {family}", ("python", str(sample_bot(game))), Path("/"))
                for family, game in families.items()
            ),
        ]
        opponent_bots = Launcher(arena, commands, self._bots, nursery)
        games = Games(
            arena,
            functools.partial(self._launcher, arena),
            self._candidate,
            opponent_bots,
            self._wanted.seed,
            self._wanted.games_at_a_time,
            until_s,
        )

        def done(played: QualificationMatch) -> None:
            self.found.games.append(played)
            self._on_done(f"{played.seating.game.id}, {played.seating.seats} seats")

        await games.play(self.seatings, done)

    async def _check_cases(self, nursery: trio.Nursery) -> None:
        if not self.cases:
            return
        shown = robustness.shown_match(self._manifest.games[0], self._wanted.seed)
        for case in robustness.cases(shown):
            if case.id not in self.cases:
                continue
            name = f"case-{case.id}"
            sockets = self._sockets(case.id)
            socket = None if sockets is None else sockets / "main.sock"
            command, folder = self._candidate(name), self._bots / name
            start = starter(nursery, command, folder, self._sandbox, socket)
            play = functools.partial(judge, case, (), self._work, start=start, sockets=sockets)
            try:
                verdict = await trio.to_thread.run_sync(play, abandon_on_cancel=True)
            except BadCommand as error:
                sentence, took_s = str(error), 0.0
            else:
                sentence, took_s = verdict.sentence, verdict.took_s
            problem = robustness.entry_of(case.id).message(sentence) if sentence else ""
            self.found.cases[case.id] = Check(
                case.id,
                passed=not problem,
                took_s=took_s,
                problem=problem,
                last_lines=self._last_lines(name) if problem else (),
                again=self._wanted.command(case.id) if problem else "",
            )
            self._on_done(self.found.cases[case.id].title)

    def _sockets(self, case: str) -> Path | None:
        """Return a folder for the sockets of a case; None if their paths would be too long.

        Without sockets the case uses ports, and the bot has no sandbox, because a sandboxed bot has no
        network.
        """
        folder = self._work / "sockets" / case
        folder.mkdir(parents=True)
        return folder if len(os.fsencode(folder)) <= _LONGEST_FOLDER else None

    # The checks, after play.

    def check_of_game(self, seating: QualificationSeating) -> Check:
        again = self._wanted.command(seating.game.id, seating.seats)
        for played in self.found.games:
            if played.seating == seating:
                output = self._output(seating.candidate.name)
                return check_of(played, self._work / "data" / "replays", output, again)
        return Check(
            seating.game.id,
            passed=False,
            seats=seating.seats,
            problem=self._no_time,
            last_lines=self._last_lines(seating.candidate.name),
            again=again,
        )

    def check_of_case(self, name: str) -> Check:
        again = self._wanted.command(name)
        unended = Check(name, passed=False, problem=self._no_time, again=again)
        return self.found.cases.get(name, unended)

    @property
    def _no_time(self) -> str:
        return checks.NO_TIME.message(f"{self._wanted.most_s:.0f} s")

    def _last_lines(self, process: str) -> tuple[str, ...]:
        return last_of(self._output(process))

    def _output(self, process: str) -> list[str]:
        """Return the output of a process of the bot, with file names as in its archive."""
        names = list(dict.fromkeys((instance_name(process, 0), process)))
        copies = (self._bots / name / COPY for name in names)
        lines = [line.text for name in names for line in lines_of(self._bots / f"{name}.log")]
        site = site_of_python(self._python.parents[2])
        for folder in (*copies, self._work / "bot", *self._packages, site):
            lines = [line.replace(f"{folder}/", "") for line in lines]
        return lines
