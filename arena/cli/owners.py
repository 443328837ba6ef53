"""`arena owners`: who may have bots at an arena, for its organisers."""

import json

import click
from rich.table import Table
from rich.text import Text

from arena.cli.lobby import ORGANISERS_KEY, Server, server_options
from arena.cli.owning import owning_of
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import plain, say

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group(
    epilog="""\b
Examples:
  arena owners invite ann
  arena owners list
  arena owners ban eve --reason "two accounts"
"""
)
def owners() -> None:
    """Invite, list and ban the owners of bots; with an organiser's token."""


@owners.command(epilog="\b\nExamples:\n  arena owners invite ann\n  arena owners invite ann --json")
@click.argument("owner")
@json_option
@server_options
def invite(*, owner: str, as_json: bool, server: Server) -> None:
    """Make a code with which somebody may register as OWNER, and print it, once."""
    with owning_of(server, ORGANISERS_KEY) as owning:
        code = owning.invite(owner)
    if as_json:
        click.echo(json.dumps({"owner": owner, "code": code}, indent=2))
        return
    say(f"{owner} registers with: arena register {server.address} --code CODE", err=True)
    click.echo(code)


@owners.command("list", epilog="\b\nExamples:\n  arena owners list\n  arena owners list --json")
@json_option
@server_options
def list_owners(*, as_json: bool, server: Server) -> None:
    """List the owners."""
    with owning_of(server, ORGANISERS_KEY) as owning:
        found = owning.owners()
    if as_json:
        rows = [
            {"owner": each.owner, "invited_by": each.invited_by, "banned": each.banned or None}
            for each in found
        ]
        click.echo(json.dumps({"owners": rows}, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("owner", "invited by", "banned"):
        table.add_column(column)
    for each in found:
        table.add_row(*(Text(plain(t)) for t in (each.owner, each.invited_by, each.banned)))
    PlainConsole().print(table if found else "There are no owners.")


@owners.command(epilog='\b\nExamples:\n  arena owners ban eve --reason "two accounts"')
@click.argument("owner")
@click.option("--reason", required=True, help="Why, as the owner is told.")
@server_options
def ban(*, owner: str, reason: str, server: Server) -> None:
    """Ban OWNER for good, with all its keys and every version of its bots."""
    with owning_of(server, ORGANISERS_KEY) as owning:
        owning.ban(owner, reason)
    say(f"{owner} is banned, and its bots play no more.", err=True)
