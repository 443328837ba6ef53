"""`arena runtimes`: what runs the bots that are submitted, and whether this machine has it."""

import json

import click
from rich.table import Table
from rich.text import Text

from arena.cli.terminal.console import PlainConsole
from arena.server.submissions.runtimes import Runtime
from arena.server.submissions.runtimes import runtimes as looked_for


@click.command(epilog="\b\nExamples:\n  arena runtimes\n  arena runtimes --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def runtimes(*, as_json: bool) -> None:
    """List what runs submitted bots, by the first word of a manifest's command.

    Each is looked for on this machine, and asked for its version; an arena takes the bots of those
    that are here.
    """
    found = looked_for()
    if as_json:
        click.echo(json.dumps({"runtimes": list(map(_as_json, found))}, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("runtime", "version", "program"):
        table.add_column(column)
    for each in found:
        table.add_row(each.name, each.version or "-", Text(each.lacks or each.program))
    PlainConsole().print(table)


def _as_json(runtime: Runtime) -> dict[str, object]:
    return {
        "runtime": runtime.name,
        "commands": list(runtime.language.programs),
        "here": runtime.is_here,
        "version": runtime.version,
        "program": runtime.program,
        "lacks": runtime.lacks,
    }
