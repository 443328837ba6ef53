"""Qualifies one archive at an arena of its own, in this process or as a program.

    python -m arena.app.qualification ARCHIVE WORK REPORT AGAIN SEED DATA RUNTIME

WORK is a folder that does not exist yet. REPORT is the file of the report, in JSON, which is written atomically. DATA
has the runtimes and installed wheels; RUNTIME is the hash of the bot's runtime, or empty. The process exits with an
error if there is no sandbox, if the sandbox's spawner ends, or if the memory of the machine runs out. It has a low
priority, so that it does not delay matches in play.
"""

import contextlib
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from arena.app.arena_process import ServerSettings, serve
from arena.bots.archive import BotArchive
from arena.bots.built_runtimes import BuiltRuntimes
from arena.bots.installed_wheels import INSTALLED
from arena.bots.manifest import read_manifest
from arena.bots.qualifier import AT_A_TIME
from arena.bots.tokens import Tokens
from arena.live.arena import Arena
from arena.results.qualification_report import MANIFEST_CHECK, START_CHECK, QualificationReport
from arena.sandbox.command import BadCommand
from arena.sandbox.sandbox import (
    NO_MEMORY,
    NO_SPAWNER,
    NoSandbox,
    Sandbox,
    SandboxDemand,
    raise_sandbox,
)
from arena.testing.qualification import run
from arena.testing.qualification.robustness import NAMES
from arena.testing.qualification.run import OnDone, QualificationRequest, Shelves

NICENESS = 10


def qualify(
    archive: Path,
    work: Path,
    request: QualificationRequest | None = None,
    on_done: OnDone = lambda _: None,
    sandbox: Sandbox | None = None,
    shelves: Shelves | None = None,
) -> QualificationReport:
    """Check whether the bot in an archive may play; see `arena.testing.qualification.run.qualify`."""
    return run.qualify(archive, work, _serve, request, on_done, sandbox, shelves)


def checks_of(archive: BotArchive, data: Path) -> tuple[str, ...]:
    """Return the names of the checks of a bot, if this machine can run it. The check of the manifest is always made.

    Raises `BadCommand` if the bot's runtime was not built in the folder.
    """
    manifest = read_manifest(archive.manifest, archive.paths)
    if manifest.is_built:
        runtime = BuiltRuntimes(data).named(manifest.runtime)
        if runtime is None:
            raise BadCommand(
                f"the bot is run by the runtime {manifest.runtime}, which was not built here: get "
                f"{manifest.runtime}.toml and {manifest.runtime}.lock from the arena's organiser, "
                f"and `arena runtimes build {manifest.runtime}.toml`"
            )
        if runtime.lacks:
            raise BadCommand(f"the bot cannot be checked: {runtime.lacks}")
    return (MANIFEST_CHECK, START_CHECK, *(entry.game.id for entry in manifest.games), *NAMES)


def check_bot(
    archive: BotArchive,
    work: Path,
    data: Path,
    request: QualificationRequest,
    on_done: OnDone,
    sandbox: Sandbox | None,
) -> QualificationReport:
    """Do as `qualify` does, for an author: with the runtimes of `data`, in a folder that can be removed afterwards."""
    try:
        return qualify(archive.path, work, request, on_done, sandbox, Shelves(data))
    finally:
        bot = work / "bot"
        for folder in (bot, *(path for path in bot.rglob("*") if path.is_dir())):
            with contextlib.suppress(OSError):
                folder.chmod(0o755)


def _serve(data: Path, sandbox: Sandbox | None, main: Callable[[Arena], Awaitable[None]]) -> None:
    serve(ServerSettings(data).sandboxed(sandbox), Tokens(), main)


def main() -> None:
    """Qualify, and write the report."""
    archive, work, target, again, seed, data, runtime_sha256 = sys.argv[1:]
    os.nice(NICENESS)
    try:
        # This is as in competitions, where bots see the same part of the system.
        hidden = Path(work).absolute() / "data"
        sandbox = raise_sandbox(SandboxDemand.REQUIRE, data=hidden, in_memory=True)
    except NoSandbox as error:
        sys.exit(str(error))
    assert sandbox is not None
    shelves = Shelves(Path(data), runtime_sha256, Path(data) / INSTALLED)
    games_at_a_time = max(2, ((os.cpu_count() or 1) + 1) // AT_A_TIME)
    request = QualificationRequest(again=again, seed=seed, games_at_a_time=games_at_a_time)
    try:
        with sandbox:
            report = qualify(Path(archive), Path(work), request, sandbox=sandbox, shelves=shelves)
            if sandbox.has_ended:
                sys.exit(NO_SPAWNER)  # the failure is not charged to the bot
            if sandbox.is_short:
                sys.exit(NO_MEMORY)
    except BadCommand as error:
        sys.exit(str(error))
    partial = Path(f"{target}.partial")
    partial.write_text(json.dumps(report.as_json()), "utf-8")
    partial.replace(target)


if __name__ == "__main__":
    main()
