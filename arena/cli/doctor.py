"""`arena doctor`: problems of this machine, each with its cure."""

from dataclasses import asdict
from pathlib import Path

import click

from arena.app.doctor import MACHINE, Goal, Wanted, examine
from arena.app.findings import Readiness
from arena.cli.options import data_option, json_option, plain_errors, print_json
from arena.cli.serve import DEFAULT_PORT
from arena.cli.terminal.console import progress
from arena.cli.terminal.plain import say
from arena.cli.web import WEB_PORT
from arena.errors import exits
from arena.sandbox.sandbox import Sandbox


@click.command(
    epilog="""\b
Examples:
  arena doctor
  arena doctor play
  arena doctor serve submissions --data /var/lib/arena
  arena doctor serve --store postgresql://arena@db.example/arena --json
  arena doctor data --data /var/lib/arena

\b
Exit codes:
  0  nothing is lacking, though something may be weak    2  wrong arguments
  1  something is lacking, or parts of the data differ
"""
)
@click.argument("goals", nargs=-1, type=click.Choice([goal.value for goal in Goal]))
@click.option("--port", default=DEFAULT_PORT, envvar="ARENA_PORT", help="Port of the arena.")
@click.option("--web-port", default=WEB_PORT, help="Port of the pages.")
@click.option(
    "--store",
    default="",
    envvar="ARENA_STORE",
    metavar="URL",
    help="Store in PostgreSQL; without it that of the data folder.",
)
@json_option
@data_option
def doctor(
    goals: tuple[str, ...], port: int, web_port: int, store: str, as_json: bool, data: Path
) -> None:
    """Show what this machine lacks for GOALS, each with its cure; without GOALS for all but `data`.

    `play` launches bots of your own, `serve` lets bots connect, `submissions` runs submitted bots, and `pages` shows
    matches in a browser. `data` compares the store, the replays, the log of deals and the official standings of a data
    folder, which takes as long as `arena replay verify`. The command changes nothing.
    """
    wanted = Wanted(set(map(Goal, goals)) or set(MACHINE), data, port, web_port, store)
    quiet = as_json or Goal.DATA not in wanted.goals
    with (
        plain_errors(),
        Sandbox(data=data) as sandbox,
        progress("comparing the data", quiet=quiet) as tell,
    ):
        findings = tuple(examine(wanted, sandbox, tell))
    if as_json:
        print_json({"findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            say(f"{finding.state:<6} {finding.subject:<15} {finding.found}")
            if finding.cure:
                say(f"{'':<22} cure: {finding.cure}")
    if any(finding.state is Readiness.LACKS for finding in findings):
        raise SystemExit(exits.FAILED)
