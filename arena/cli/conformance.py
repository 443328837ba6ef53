"""`arena conformance`: whether a client keeps the contract."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import say
from arena.conformance.cases import BadCase, Case, chosen, folder, load
from arena.conformance.play import Verdict
from arena.conformance.run import badge_line, result_line, run


def _as_json(verdict: Verdict) -> dict[str, Any]:
    case = verdict.case
    return {
        "id": case.id,
        "title": case.title,
        "must": case.must,
        "source": case.source,
        "passed": verdict.passed,
        "sentence": verdict.sentence,
        "took_s": round(verdict.took_s, 2),
    }


def _tell_all(cases: tuple[Case, ...]) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("case", "when", "the client must"):
        table.add_column(name, no_wrap=name == "case")
    for case in cases:
        table.add_row(case.id, case.title, case.must)
    PlainConsole().print(table)


def _tell(verdict: Verdict) -> None:
    case = verdict.case
    say(f"{'pass' if verdict.passed else 'FAIL'}  {case.id}  {case.title}")
    if not verdict.passed:
        say(f"      the client must {case.must} ({case.source})")
        say(f"      {verdict.sentence}")
        for line in verdict.told.splitlines():
            say(f"      | {line}")


@click.command(
    epilog="\b\nExamples:\n"
    "  arena conformance -- python clients/conformance/python/client.py\n"
    "  arena conformance --case C3 --case C21 -- ./my_client\n"
    "  arena conformance --list",
    context_settings={"ignore_unknown_options": False},
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--case", "ids", multiple=True, metavar="ID", help="Only this case, or those below it."
)
@click.option(
    "--cases",
    "path",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    default=None,
    help="Folder of the cases, if not the arena's own.",
)
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1, 64), help="At a time.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--badge", is_flag=True, help="Print a line for a README as well.")
@click.option("--list", "listed", is_flag=True, help="Show the cases, and play none.")
@click.pass_context
def conformance(
    context: click.Context,
    command: tuple[str, ...],
    ids: tuple[str, ...],
    path: Path | None,
    jobs: int,
    as_json: bool,
    badge: bool,
    listed: bool,
) -> None:
    """Try a client against a scripted arena, case by case.

    COMMAND starts the client with the kit's fixed bots; it follows two hyphens.
    clients/conformance/README.md says what they do. The exit code is 1 if a case fails.
    """
    place = path or folder()
    try:
        cases = chosen(load(place), ids)
        if listed:
            _tell_all(cases)
            return
        if not command:
            raise click.UsageError("give the client's command after --")
        verdicts = run(
            cases,
            command,
            place,
            jobs=jobs,
            told=(lambda _: None) if as_json else _tell,
        )
    except BadCase as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{command[0]} cannot be started: {error.strerror}") from error
    today = dt.datetime.now(dt.UTC).date().isoformat()
    if as_json:
        said = {
            "result": result_line(verdicts),
            "passed": sum(verdict.passed for verdict in verdicts),
            "cases": [_as_json(verdict) for verdict in verdicts],
            "badge": badge_line(verdicts, today),
        }
        click.echo(json.dumps(said, indent=2))
    else:
        say(result_line(verdicts))
        if badge:
            say(badge_line(verdicts, today))
    if not all(verdict.passed for verdict in verdicts):
        context.exit(1)
