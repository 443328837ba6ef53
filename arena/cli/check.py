"""`arena check`: the qualification of a bot on this machine; and the archive that would be submitted."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from arena.cli.options import data_folder, json_option, log_to, plain_errors, print_json
from arena.cli.sandbox_options import SandboxChoice, sandbox_options
from arena.cli.suggestions import nearest
from arena.cli.terminal.plain import Interrupted, program, say
from arena.errors import exits
from arena.server.submissions.built_runtimes import BuiltRuntimes
from arena.submission.archive import MANIFEST, BadArchive, BotArchive, pack, read_archive
from arena.submission.manifest import BadManifest, read_manifest
from arena.submission.wheels import read_wheels


@click.command(
    epilog="""\b
Examples:
  arena check ./my-bot
  arena check ./my-bot --only klaberjass
  arena check ./my-bot --only soko --seats 4 --seed q7
  arena check my-bot.zip --json

\b
Exit codes:
  0  the bot would be qualified    2  wrong arguments
  1  it could not be checked       3  it would not be qualified; or with --only, a check failed
"""
)
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--only", multiple=True, metavar="CHECK", help="A game, or the name of a check; repeatable."
)
@click.option("--seats", type=click.IntRange(2, 10), help="Only with this number of seats.")
@click.option("--seed", default="q7", help="Repeats the deals.")
@click.option(
    "--keep", type=click.Path(path_type=Path), help="Keep replays and logs in this new folder."
)
@data_folder("Folder of the runtimes that were built here.")
@sandbox_options
@json_option
def check(
    *,
    path: Path,
    only: tuple[str, ...],
    seats: int | None,
    seed: str,
    keep: Path | None,
    data: Path,
    confinement: SandboxChoice,
    as_json: bool,
) -> None:
    """Check whether the bot in PATH, a folder or a zip, would be qualified.

    An arena does the same with submitted bots: it reads the manifest, starts the bot in a sandbox,
    and lets it play each of its games against a sample and a random bot. Then it tests how the bot
    copes with cut connections and unknown messages. The check takes at most a minute.
    """
    from arena.qualification import QualificationRequest, Shelves, qualify
    from arena.qualification.robustness import NAMES

    with bot_archive(path) as archive, tempfile.TemporaryDirectory(prefix="check-") as folder:
        manifest = read_manifest(archive.manifest, archive.paths)
        if manifest.is_built:
            _require_built(manifest.runtime, data)
        known = ["start", *(each.game.id for each in manifest.games), *NAMES]
        for each in only:
            if each not in known:
                text = f"there is no check {each!r} of this bot; {nearest(each, known)}"
                raise click.ClickException(text)
        work = keep or Path(folder) / "work"
        if work.exists():
            raise click.ClickException(f"{work} is there already: --keep makes it")
        log_to(Path(folder))

        def shown(text: str) -> None:
            if not as_json:
                say(text, err=True)

        shown(f"Checking {path}; this takes up to a minute.")
        wanted = QualificationRequest(again=str(path), seed=seed, only=only, seats=seats)
        try:
            hidden = work.absolute() / "data"
            with plain_errors(), confinement.open(hidden, ()) as sandbox:
                report = qualify(
                    archive.path,
                    work,
                    wanted,
                    lambda title: shown(f"  {title}"),
                    sandbox,
                    Shelves(data),
                )
        except KeyboardInterrupt:
            raise Interrupted("the check was stopped before its end") from None
        finally:
            _make_removable(work)
    name = path.name.removesuffix(".zip")
    if as_json:
        print_json({"name": name} | report.as_json())
    else:
        for line in report.words(name):
            say(line)
    passed = not report.failed if report.partial else report.qualified
    if not passed:
        raise SystemExit(exits.BOT_FAILED)


@contextlib.contextmanager
def bot_archive(path: Path) -> Iterator[BotArchive]:
    """Pack a bot for submission; all its problems are printed at once."""
    with tempfile.TemporaryDirectory(prefix="bot-") as folder:
        packed = Path(folder) / "bot.zip"
        try:
            if path.is_dir():
                pack(path, packed)
            elif path.suffix != ".zip":
                raise click.ClickException(
                    f"{path} is a file: a bot is a folder with {MANIFEST}, or a zip of one; "
                    f"`{program()} new FOLDER` creates a folder"
                )
            else:
                shutil.copyfile(path, packed)
            archive = read_archive(packed)
            if read_manifest(archive.manifest, archive.paths).runs_python:
                read_wheels(archive)
        except (BadArchive, BadManifest) as error:
            lines = "".join(f"\n  {each}" for each in error.problems)
            raise click.ClickException(f"{path} cannot be submitted:{lines}") from None
        except OSError as error:
            raise click.ClickException(f"cannot read {path}: {error.strerror}") from error
        yield archive


def _require_built(name: str, data: Path) -> None:
    """Require that this machine has the runtime that a bot names."""
    found = BuiltRuntimes(data).named(name)
    if found is None:
        raise click.ClickException(
            f"the bot is run by the runtime {name}, which was not built here: get {name}.toml and "
            f"{name}.lock from the arena's organiser, and `arena runtimes build {name}.toml`"
        )
    if found.lacks:
        raise click.ClickException(f"the bot cannot be checked: {found.lacks}")


def _make_removable(work: Path) -> None:
    """Make the folders of the bot writable, so that they can be removed."""
    for folder in (work / "bot", *(each for each in (work / "bot").rglob("*") if each.is_dir())):
        with contextlib.suppress(OSError):
            folder.chmod(0o755)
