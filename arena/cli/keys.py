"""`arena keys`: the keys of bots, organisers and owners."""

import functools
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from arena.cli.arena_client import PAGE
from arena.cli.command_group import CommandGroup
from arena.cli.options import (
    data_option,
    json_option,
    print_json,
    require_folder,
    with_options,
)
from arena.cli.owner_keys import token_option
from arena.cli.services import ArenaServices, service_options
from arena.cli.terminal.console import print_table
from arena.records.signing import kept_key
from arena.referee.wire.enums import enum_word, word_of
from arena.referee.wire.message_json import message_json
from cardarena.v1 import keys_pb2
from cardarena.v1.keys_pb2_grpc import KeyServiceStub

F = TypeVar("F", bound=Callable[..., Any])

_TOKEN_MARK: Final = "arena_"  # noqa: S105 - what tokens begin with
_KEY_ID: Final = re.compile(r"[0-9A-Za-z]{8}")
_UNITS: Final = {"w": 7 * 86_400, "d": 86_400, "h": 3_600, "m": 60}
_LIFETIME: Final = re.compile(r"([1-9][0-9]{0,4})([wdhm])")


class LifetimeType(click.ParamType[timedelta]):
    """A span of time, such as `30d`."""

    name = "lifetime"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        if isinstance(value, timedelta):
            return value
        match = _LIFETIME.fullmatch(value)
        if match is None:
            self.fail("give a number and w, d, h or m: 30d are thirty days", param, ctx)
        return timedelta(seconds=int(match[1]) * _UNITS[match[2]])


_expires_option: Final = click.option(
    "--expires",
    type=LifetimeType(),
    metavar="TIME",
    help="Lifetime, such as 30d.  [default: unlimited]",
)


def _creating(command: F) -> F:
    return with_options(
        token_option(command), json_option, functools.partial(service_options, kind=ArenaServices)
    )


_reading: Final = functools.partial(service_options, kind=ArenaServices, require=require_folder)
"""Adds the options of commands that create no folder."""


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  arena keys new bot my-bot --owner ann
  arena keys new organiser --owner ann --expires 30d
  arena keys list
  arena keys revoke Xy3kPq9A
""",
)
def keys() -> None:
    """Create, list and revoke the keys of bots, organisers and owners.

    A running arena applies the changes within a second. In a folder, no key is needed to create the first one.
    """


@keys.group(
    epilog="""\b
Examples:
  arena keys new bot my-bot --owner ann
  arena keys new organiser --owner ann --expires 30d
  arena keys new owner ann
"""
)
def new() -> None:
    """Create a key and print its token once. The arena stores only its hash."""


@new.command(
    epilog="""\b
Examples:
  arena keys new bot my-bot --owner ann
  arena keys new bot my-bot --expires 30d
  export CARDARENA_TOKEN=$(arena keys new bot my-bot --owner ann)

\b
A bot keeps its owner for good. A bot may have several keys: to replace one, create
another, restart the bot with it, and revoke the old one.
"""
)
@click.argument("name")
@click.option("--owner", help="The owner; required for a new bot.")
@_expires_option
@_creating
def bot(*, name: str, owner: str | None, expires: timedelta | None, **given: Any) -> None:
    """Create a key for the bot NAME: with its token the bot plays under this name."""
    _create(keys_pb2.KEY_SCOPE_BOT, owner or "", bot=name, lifetime=expires, **given)


@new.command(epilog="\b\nExamples:\n  arena keys new organiser --owner ann --expires 30d")
@click.option("--owner", required=True, help="The organiser's name.")
@_expires_option
@_creating
def organiser(*, owner: str, expires: timedelta | None, **given: Any) -> None:
    """Create a key for an organiser, who can create matches and competitions with its token."""
    _create(keys_pb2.KEY_SCOPE_ORGANISER, owner, lifetime=expires, **given)


@new.command(
    epilog="""\b
Examples:
  arena keys new worker m1
  arena keys new worker m1 --to worker-token
"""
)
@click.argument("name")
@_creating
def worker(*, name: str, **given: Any) -> None:
    """Create a key for the worker NAME, which may only play deal-sets with it.

    Workers see the cards of what they play, so give keys to machines of your own only.
    """
    _create(keys_pb2.KEY_SCOPE_WORKER, name, **given)


@new.command(epilog="\b\nExamples:\n  arena keys new owner ann")
@click.argument("owner")
@token_option
@json_option
@_reading
def owner(*, owner: str, **given: Any) -> None:
    """Create another key for OWNER, who has registered and lost the first one.

    The owner passes the printed token in CARDARENA_OWNER_TOKEN. Revoke the lost key.
    """
    _create(keys_pb2.KEY_SCOPE_OWNER, owner, **given)


def _create(
    scope: keys_pb2.KeyScope.ValueType,
    owner: str,
    *,
    client: ArenaServices,
    as_json: bool,
    keep: Callable[[str], object] | None,
    bot: str = "",
    lifetime: timedelta | None = None,
) -> None:
    """Create a key. Only its token is printed on standard output, for shells."""
    keys = client.of(KeyServiceStub)
    lifetime_s = round(lifetime.total_seconds()) if lifetime else 0
    request = keys_pb2.CreateKeyRequest(scope=scope, owner=owner, bot=bot, lifetime_s=lifetime_s)
    created = keys.call(keys.stub.CreateKey, request)
    token = created.token
    if keep is not None:
        keep(token)
        created.ClearField("token")
    if as_json:
        print_json(message_json(created))
        return
    key = created.key
    whose = f"the {enum_word(keys_pb2.KeyScope, scope)} "
    whose += f"{key.bot!r} of {key.owner!r}" if key.bot else repr(key.owner)
    end = f", valid until {_time(key.expires_unix_ms):%Y-%m-%d %H:%M} UTC"
    until = end if key.expires_unix_ms else ""
    shown = "" if keep else " Its token is shown only now:"
    click.echo(f"Key {key.key_id} for {whose}{until}.{shown}", err=True)
    if keep is None:
        click.echo(token)


@keys.command("list", epilog="\b\nExamples:\n  arena keys list\n  arena keys list --json")
@json_option
@_reading
def list_keys(*, client: ArenaServices, as_json: bool) -> None:
    """List the keys, and the sign-in sessions of browsers. A token begins with `arena_` and its key's id.

    An owner's token lists only keys of the owner.
    """
    keys = client.of(KeyServiceStub)
    listed = keys.pages(keys.stub.ListKeys, keys_pb2.ListKeysRequest(page_size=PAGE), "keys")
    if as_json:
        print_json(message_json(keys_pb2.ListKeysResponse(keys=listed)))
        return
    if not listed:
        click.echo("There are no keys.")
        return
    rows = [
        (
            key.key_id,
            word_of(key, "scope") + ", in a browser" * bool(key.signed_in_with),
            key.bot,
            key.owner,
            _state(key),
            day_of(key.created_unix_ms),
            key.last_used,
        )
        for key in listed
    ]
    print_table(("id", "scope", "bot", "owner", "state", "made", "last used"), rows)


@keys.command(
    "arena-key",
    epilog="\b\nExamples:\n  arena keys arena-key\n"
    "  arena replay verify data/replays --arena $(arena keys arena-key)",
)
@data_option
def public_key(data: Path) -> None:
    """Print the arena's public key, which verifies its signatures.

    The arena signs its replays, official standings and the transcripts of fair deals. Publish this
    key. The private key is the file `arena-key` in the data folder: anyone who has it can sign in the
    arena's name.
    """
    require_folder(data)
    try:
        click.echo(kept_key(data).public_key.hex())
    except FileNotFoundError:
        text = f"there is no key in {data}: an arena creates it with its first start"
        raise click.ClickException(text) from None
    except (OSError, ValueError) as error:
        raise click.ClickException(f"the key cannot be read: {error}") from None


@keys.command(
    epilog="\b\nExamples:\n  arena keys revoke Xy3kPq9A\n  arena keys revoke Xy3kPq9A b0TnT2zW"
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@_reading
def revoke(*, client: ArenaServices, ids: tuple[str, ...]) -> None:
    """Revoke keys for good with the sign-in sessions that were made with them, and close the streams of their bots."""
    for key_id in ids:
        if not _KEY_ID.fullmatch(key_id):
            # The text may be a token, so it is neither sent nor printed.
            text = "a key's id has 8 letters and digits, as `arena keys list` shows"
            if key_id.startswith(_TOKEN_MARK):
                text += "; never give a token on a command line, where others can read it"
            raise click.UsageError(text)
    keys = client.of(KeyServiceStub)
    for key_id in ids:
        request = keys_pb2.RevokeKeyRequest(key_id=key_id)
        key = keys.call(keys.stub.RevokeKey, request).key
        click.echo(f"The key {key.key_id} of {key.bot or key.owner!r} is revoked.", err=True)


def _state(key: keys_pb2.KeyInfo) -> str:
    if key.state == keys_pb2.KEY_STATE_REVOKED:
        return f"revoked {day_of(key.revoked_unix_ms)}"
    if not key.expires_unix_ms:
        return "valid"
    word = "expired" if key.state == keys_pb2.KEY_STATE_EXPIRED else "valid to"
    return f"{word} {day_of(key.expires_unix_ms)}"


def day_of(unix_ms: int) -> str:
    """Return a day in UTC, such as 2026-11-29."""
    return _time(unix_ms).date().isoformat()


def _time(unix_ms: int) -> datetime:
    return datetime.fromtimestamp(unix_ms / 1000, UTC)
