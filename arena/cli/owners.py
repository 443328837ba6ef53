"""`arena owners`: the people who may submit bots to an arena."""

import csv
import functools
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import BinaryIO, Final

import click

from arena.api.invited_people import InvitedPeople, read_people, without_formulas
from arena.cli.arena_client import (
    NoAnswer,
    Server,
    dial_options,
    patiently,
    say_again,
    server_options,
    service_client,
)
from arena.cli.command_group import CommandGroup
from arena.cli.keys import LifetimeType, day_of
from arena.cli.options import json_option, print_json, read_text
from arena.cli.owner_keys import KeyFile, OwnerKey
from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import program, say
from arena.errors import exits
from arena.referee.wire.message_json import message_json
from arena.validation import InvalidInput
from cardarena.v1 import owners_pb2
from cardarena.v1.owners_pb2_grpc import OwnerServiceStub

LONGEST: Final = timedelta(days=365)
OF_ONE_NAME: Final = ("BAD_NAME", "NAME_TAKEN")
"""The reasons of refusals after which other names may still be invited."""


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  arena owners register https://arena.example:7654 --code 7Q4K-M2XW-9TRA
  arena owners invite ann
  arena owners invite --csv class.csv > codes.csv
  arena owners invitations
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
  arena owners invite ann --expires 7d --json
  arena owners invite --csv class.csv > codes.csv

\b
class.csv has a line for each person: the name first, then what else you keep, such as an
address; commas, semicolons or tabs separate them. A first line `name,…` is a heading. The output has the same lines with the code after the name.
"""
)
@click.argument("owner", required=False)
@click.option("--csv", "file", type=click.File("rb"), help="Invite all names of a file.")
@click.option(
    "--expires",
    type=LifetimeType(),
    default=timedelta(days=30),
    show_default="30d",
    metavar="TIME",
    help="Lifetime of the code, at most 365d.",
)
@json_option
@server_options
def invite(
    *, owner: str | None, file: BinaryIO | None, expires: timedelta, as_json: bool, server: Server
) -> None:
    """Create a code with which OWNER can register, and print it once.

    With --csv each name of a file is invited. A name that the arena refuses is reported and the
    others are still invited; the exit code is then 1.
    """
    if (owner is None) == (file is None):
        raise click.UsageError("give the name of an owner, or a file of names with --csv")
    if expires > LONGEST:
        raise click.BadParameter("an invitation is valid for 365d at most", param_hint="--expires")
    lifetime_s = int(expires.total_seconds())
    if file is not None:
        try:
            listed = read_people(read_text(file))
        except InvalidInput as error:
            problems = "\n  ".join(("no invitation is made:", *error.problems))
            raise click.ClickException(f"{file.name} is not valid, so {problems}") from None
        _invite_all(listed, server, lifetime_s, as_json=as_json)
        return
    request = owners_pb2.InviteRequest(owner=owner or "", lifetime_s=lifetime_s)
    with service_client(server, OwnerServiceStub) as arena:
        code = arena.call(arena.stub.Invite, request).code
    if as_json:
        print_json({"owner": owner, "code": code})
        return
    say(f"{owner} registers with: arena owners register {server.address} --code CODE", err=True)
    click.echo(code)


def _invite_all(listed: InvitedPeople, server: Server, lifetime_s: int, *, as_json: bool) -> None:
    """Invite people, and print each code at once, so that none is lost if the command is stopped."""
    made: list[dict[str, str]] = []
    heading, people = listed.heading, listed.people
    writer = csv.writer(sys.stdout, delimiter=listed.delimiter, lineterminator="\n")
    if heading and not as_json:
        writer.writerow(without_formulas([heading[0], "code", *heading[1:]]))
    with service_client(server, OwnerServiceStub) as arena:
        for number, (name, *rest) in people:
            invited = functools.partial(
                arena.call,
                arena.stub.Invite,
                owners_pb2.InviteRequest(owner=name, lifetime_s=lifetime_s),
            )
            try:
                # Before the first code nothing is lost if the arena does not answer.
                code = patiently(
                    invited, told=say_again, passes=lambda error: bool(made) and error.passes
                ).code
            except NoAnswer as error:
                if error.reason not in OF_ONE_NAME:
                    raise
                say(f"line {number}: {name} is not invited: {error.message}", err=True)
                continue
            made.append({"owner": name, "code": code})
            if not as_json:
                writer.writerow(without_formulas([name, code, *rest]))
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


@owners.command(
    epilog="\b\nExamples:\n  arena owners invitations\n  arena owners invitations --json"
)
@json_option
@server_options
def invitations(*, as_json: bool, server: Server) -> None:
    """List open invitations, whose names have not registered, and when they expire."""
    request = owners_pb2.ListInvitationsRequest()
    with service_client(server, OwnerServiceStub) as arena:
        listed = arena.pages(arena.stub.ListInvitations, request, "invitations")
    if as_json:
        print_json(message_json(owners_pb2.ListInvitationsResponse(invitations=listed)))
        return
    if not listed:
        say("There are no open invitations.")
        return
    now_ms = time.time() * 1000
    rows = [
        (
            row.owner,
            row.invited_by,
            day_of(row.created_unix_ms),
            ("expired " if row.expires_unix_ms <= now_ms else "") + day_of(row.expires_unix_ms),
        )
        for row in listed
    ]
    heads = ("owner", "invited by", "made", "expires")
    print_table(heads, rows, wrapped=heads[:2])


@owners.command("list", epilog="\b\nExamples:\n  arena owners list\n  arena owners list --json")
@json_option
@server_options
def list_owners(*, as_json: bool, server: Server) -> None:
    """List the owners."""
    with service_client(server, OwnerServiceStub) as arena:
        listed = arena.pages(arena.stub.ListOwners, owners_pb2.ListOwnersRequest(), "owners")
    if as_json:
        print_json(message_json(owners_pb2.ListOwnersResponse(owners=listed)))
        return
    if not listed:
        say("There are no owners.")
        return
    heads = ("owner", "invited by", "banned")
    table = [(owner.owner, owner.invited_by, owner.banned) for owner in listed]
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
