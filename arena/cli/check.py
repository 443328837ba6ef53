"""`arena check`: the qualification of a bot on this machine; and the archive that would be submitted."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from arena.app.submission import BotArchive, CannotSubmit, packed_bot
from arena.cli.options import data_folder, json_option, log_to, plain_errors, print_json
from arena.cli.sandbox_options import SandboxChoice, competition_sandbox_options
from arena.cli.suggestions import nearest
from arena.cli.terminal.plain import Interrupted, program, say
from arena.cli.terminal.report import print_report
from arena.errors import exits


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
@competition_sandbox_options
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

    An arena makes the same check of submitted bots: it reads the manifest, starts the bot in a sandbox, and lets it
    play each of its games against a sample and a random bot. Then it tests how the bot copes with cut connections and
    unknown messages. The check takes some seconds for each game, and at most two minutes.
    """
    from arena.app.qualification import check_bot, checks_of
    from arena.testing.qualification.run import QualificationRequest

    with bot_archive(path) as archive, tempfile.TemporaryDirectory(prefix="check-") as folder:
        with plain_errors():
            known = checks_of(archive, data)
        for check_name in only:
            if check_name not in known:
                text = f"there is no check {check_name!r} of this bot; {nearest(check_name, known)}"
                raise click.ClickException(text)
        work = keep or Path(folder) / "work"
        if work.exists():
            raise click.ClickException(f"{work} is there already: --keep makes it")
        log_to(Path(folder))

        def show(text: str) -> None:
            if not as_json:
                say(text, err=True)

        show(f"Checking {path}; this takes up to two minutes.")
        request = QualificationRequest(again=str(path), seed=seed, only=only, seats=seats)
        try:
            with plain_errors(), confinement.open(work.absolute() / "data", ()) as sandbox:
                report = check_bot(
                    archive, work, data, request, lambda title: show(f"  {title}"), sandbox
                )
        except KeyboardInterrupt:
            raise Interrupted("the check was stopped before its end") from None
    name = path.resolve().name.removesuffix(".zip")
    if as_json:
        print_json({"name": name} | report.as_json())
    else:
        print_report(report, name)
    passed = not report.failed if report.partial else report.qualified
    if not passed:
        raise SystemExit(exits.BOT_FAILED)


@contextlib.contextmanager
def bot_archive(path: Path) -> Iterator[BotArchive]:
    """Pack a bot for submission; all its problems are printed at once."""
    if not path.is_dir() and path.suffix != ".zip":
        raise click.ClickException(
            f"{path} is a file: a bot is a folder with bot.toml, or a zip of one; "
            f"`{program()} new FOLDER` creates a folder"
        )
    try:
        with packed_bot(path) as archive:
            yield archive
    except CannotSubmit as error:
        raise click.ClickException(str(error)) from None
