"""`arena owners`: who may submit bots to an arena."""

import csv
import functools
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, TextIO

import click

from arena.cli.arena_client import (
    NoAnswer,
    Server,
    dial_options,
    patiently,
    server_options,
    service_client,
)
from arena.cli.command_group import CommandGroup
from arena.cli.options import json_option, print_json
from arena.cli.owner_keys import KeyFile, OwnerKey
from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import program, say
from arena.errors import exits
from cardarena.v1 import owners_pb2
from cardarena.v1.owners_pb2_grpc import OwnerServiceStub

OF_ONE_NAME: Final = ("BAD_NAME", "NAME_TAKEN")
"""Reasons of refusals after which other names may still be invited."""


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  arena owners register https://arena.example:7654 --code 7Q4K-M2XW-9TRA
  arena owners invite ann
  arena owners invite --csv class.csv > codes.csv
  arena owners list
  arena owners ban eve --reason "two accounts"
""",
)
def owners() -> None:
    """Register as an owner of bots; organisers invite, list and ban owners."""


@owners.command(
    epilog="""\b
Examples:
  arena owners register https://arena.example:7654 --code 7Q4K-M2XW-9TRA
  arena owners register localhost:7654 --code 7Q4K-M2XW-9TRA
"""
)
@click.argument("address")
@click.option("--code", required=True, help="The code of your invitation.")
@dial_options
@json_option
def register(
    *, address: str, code: str, server_at: Callable[[str, str], Server], as_json: bool
) -> None:
    """Register at the arena ADDRESS with the code of an invitation.

    Your key is written to `~/.config/cardarena`, where only you can read it and other commands find
    it. Anyone who has it can submit and retire your bots.
    """
    keys = KeyFile()
    keys.all()  # a file that cannot be read is reported before the code is used up
    with service_client(server_at(address, ""), OwnerServiceStub) as arena:
        made = arena.call(arena.stub.Register, owners_pb2.RegisterRequest(code=code))
    keys.keep(OwnerKey(address, made.owner, made.token))
    if as_json:
        print_json({"owner": made.owner, "address": address, "keys": str(keys.path)})
        return
    say(f"You are {made.owner} at {address}. Your key is in {keys.path}.")
    say(f"Next: {program()} new my-bot")


@owners.command(
    epilog="""\b
Examples:
  arena owners invite ann
  arena owners invite ann --json
  arena owners invite --csv class.csv > codes.csv

\b
class.csv has a line for each person: the name first, then what else you keep, such as an
address. A first line `name,…` is a heading. The output has the same lines with the code.
"""
)
@click.argument("owner", required=False)
@click.option(
    "--csv", "file", type=click.File("r", encoding="utf-8-sig"), help="Invite all names of a file."
)
@json_option
@server_options
def invite(*, owner: str | None, file: TextIO | None, as_json: bool, server: Server) -> None:
    """Create a code with which OWNER can register, and print it once.

    With --csv each name of a file is invited. A name that the arena refuses is reported and the
    others are still invited; the exit code is then 1.
    """
    if (owner is None) == (file is None):
        raise click.UsageError("give the name of an owner, or a file of names with --csv")
    if file is not None:
        _invite_all(_people(file), server, as_json=as_json)
        return
    with service_client(server, OwnerServiceStub) as arena:
        code = arena.call(arena.stub.Invite, owners_pb2.InviteRequest(owner=owner or "")).code
    if as_json:
        print_json({"owner": owner, "code": code})
        return
    say(
        f"{owner} registers with: arena owners register {server.address} --code CODE",
        err=True,
    )
    click.echo(code)


def _people(file: TextIO) -> list[list[str]]:
    """The lines of a file of names, each with the name first.

    Raises:
      click.ClickException: if it has none, or one twice; then no invitation is made.
    """
    try:
        lines = [[cell.strip() for cell in line] for line in csv.reader(file)]
    except (csv.Error, UnicodeDecodeError) as error:
        raise click.ClickException(
            f"{file.name} is no file of comma-separated values: {error}"
        ) from None
    people = [line for line in lines if line and line[0]]
    if people and people[0][0].casefold() in ("name", "owner"):
        del people[0]
    if not people:
        raise click.ClickException(f"{file.name} has no names")
    names = Counter(line[0].casefold() for line in people)
    if twice := [line[0] for line in people if names[line[0].casefold()] > 1]:
        raise click.ClickException(f"{file.name} has {twice[0]!r} twice, so no invitation is made")
    return people


def _invite_all(people: Sequence[Sequence[str]], server: Server, *, as_json: bool) -> None:
    """Invite people, and print each code at once, so that none is lost if the command is stopped."""
    made: list[dict[str, str]] = []
    writer = csv.writer(sys.stdout, lineterminator="\n")
    with service_client(server, OwnerServiceStub) as arena:
        for name, *rest in people:
            invited = functools.partial(
                arena.call, arena.stub.Invite, owners_pb2.InviteRequest(owner=name)
            )
            try:
                code = patiently(invited).code
            except NoAnswer as error:
                if error.reason not in OF_ONE_NAME:
                    raise
                say(f"{name} is not invited: {error.message}", err=True)
                continue
            made.append({"owner": name, "code": code})
            if not as_json:
                writer.writerow([name, code, *rest])
                sys.stdout.flush()
    if as_json:
        print_json({"invited": made})
    say(
        f"{len(made)} of {len(people)} are invited. They register with: arena owners register "
        f"{server.address} --code CODE",
        err=True,
    )
    if len(made) < len(people):
        raise click.exceptions.Exit(exits.FAILED)


@owners.command("list", epilog="\b\nExamples:\n  arena owners list\n  arena owners list --json")
@json_option
@server_options
def list_owners(*, as_json: bool, server: Server) -> None:
    """List the owners."""
    with service_client(server, OwnerServiceStub) as arena:
        found = arena.pages(arena.stub.ListOwners, owners_pb2.ListOwnersRequest(), "owners")
    if as_json:
        rows = [
            {"owner": each.owner, "invited_by": each.invited_by, "banned": each.banned or None}
            for each in found
        ]
        print_json({"owners": rows})
        return
    if not found:
        say("There are no owners.")
        return
    heads = ("owner", "invited by", "banned")
    table = [(each.owner, each.invited_by, each.banned) for each in found]
    print_table(heads, table, wrapped=heads)


@owners.command(epilog='\b\nExamples:\n  arena owners ban eve --reason "two accounts"')
@click.argument("owner")
@click.option("--reason", required=True, help="The reason, which the owner can read.")
@server_options
def ban(*, owner: str, reason: str, server: Server) -> None:
    """Ban OWNER: revoke their keys and retire all versions of their bots."""
    with service_client(server, OwnerServiceStub) as arena:
        arena.call(arena.stub.Ban, owners_pb2.BanRequest(owner=owner, reason=reason))
    say(f"{owner} is banned, and all versions of their bots are retired.", err=True)
