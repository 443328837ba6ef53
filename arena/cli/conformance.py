"""`arena conformance`: tests a client against the contract."""

import datetime as dt
from pathlib import Path
from typing import Any

import click

from arena.cli.options import json_option, print_json
from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import say
from arena.errors import exits
from arena.testing.conformance.cases import BadCase, Case, chosen, folder, load
from arena.testing.conformance.client import let_clients_be_interrupted
from arena.testing.conformance.play import CaseResult, badge_line, result_line, run


def _as_json(verdict: CaseResult) -> dict[str, Any]:
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


def _print_cases(cases: tuple[Case, ...]) -> None:
    heads = ("case", "when", "the client must")
    print_table(heads, [(case.id, case.title, case.must) for case in cases], wrapped=heads[1:])


def _print(verdict: CaseResult) -> None:
    case = verdict.case
    say(f"{'pass' if verdict.passed else 'FAIL'}  {case.id}  {case.title}")
    if not verdict.passed:
        say(f"      the client must {case.must} ({case.source})")
        say(f"      {verdict.sentence}")
        for line in verdict.stderr_tail.splitlines():
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
    "--case",
    "ids",
    multiple=True,
    metavar="ID",
    help="Only this case, or those whose ids begin with it.",
)
@click.option(
    "--cases",
    "path",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    default=None,
    help="Folder of the cases.  [default: the arena's]",
)
@click.option("--jobs", default=2, type=click.IntRange(1, 64), help="Cases played at a time.")
@json_option
@click.option("--badge", is_flag=True, help="Also print a line for a README.")
@click.option("--list", "listed", is_flag=True, help="List the cases, and play none.")
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
    """Test a client against a scripted arena, case by case.

    COMMAND, after two hyphens, starts the client with the bots of the kit, which
    clients/conformance/README.md describes. The exit code is 1 if a case fails.
    """
    place = path or folder()
    try:
        cases = chosen(load(place), ids)
        if listed:
            _print_cases(cases)
            return
        if not command:
            raise click.UsageError("give the client's command after --")
        let_clients_be_interrupted()
        verdicts = run(
            cases, command, place, jobs=jobs, on_done=(lambda _: None) if as_json else _print
        )
    except BadCase as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{command[0]} cannot be started: {error.strerror}") from error
    today = dt.datetime.now(dt.UTC).date().isoformat()
    if as_json:
        result = {
            "result": result_line(verdicts),
            "passed": sum(verdict.passed for verdict in verdicts),
            "cases": [_as_json(verdict) for verdict in verdicts],
            "badge": badge_line(verdicts, today),
        }
        print_json(result)
    else:
        say(result_line(verdicts))
        if badge:
            say(badge_line(verdicts, today))
    if not all(verdict.passed for verdict in verdicts):
        context.exit(exits.FAILED)
