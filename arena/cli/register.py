"""`arena register`: become an owner of bots, with the code of an invitation."""

import json

import click

from arena.cli.lobby import Server
from arena.cli.options import dial_options
from arena.cli.owner_keys import KeyFile, OwnerKey
from arena.cli.owning import owning_of
from arena.cli.terminal.plain import say


@click.command(
    epilog="""\b
Examples:
  arena register https://arena.example:7654 --code 7Q4K-M2XW-9TRA
  arena register localhost:7654 --code 7Q4K-M2XW-9TRA
"""
)
@click.argument("address")
@click.option("--code", required=True, help="Of the invitation that an organiser gave you.")
@dial_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def register(
    *,
    address: str,
    code: str,
    ca: str | None,
    client_cert: str | None,
    client_key: str | None,
    insecure: bool,
    as_json: bool,
) -> None:
    """Become an owner at the arena ADDRESS, by invitation.

    Your key is kept in `~/.config/cardarena`, where only you can read it; the other commands find it
    there. Who has it can submit and retire your bots.
    """
    server = Server(address, "", ca, client_cert, client_key, insecure)
    keys = KeyFile()
    keys.all()  # whether it can be kept is found out before the code is used up
    with owning_of(server) as owning:
        made = owning.register(code)
    keys.keep(OwnerKey(address, made.owner, made.token))
    if as_json:
        told = {"owner": made.owner, "address": address, "keys": str(keys.path)}
        click.echo(json.dumps(told, indent=2))
        return
    say(f"You are {made.owner} at {address}. Your key is in {keys.path}.")
    say("Next: arena bots new my-bot")
