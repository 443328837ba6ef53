"""`arena keys`: the keys of bots, organisers and owners."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import click

from arena.cli.command_group import CommandGroup
from arena.cli.options import (
    data_option,
    json_option,
    make_folder,
    plain_errors,
    print_json,
    require_folder,
)
from arena.cli.terminal.console import print_table
from arena.replay.signing import kept_key
from arena.server.admission.tokens import KEY_ID_CHARS, MARK, key_id, new_token, token_sha256
from arena.server.data_folder import store_path
from arena.store import NAME, Key, Keys, Scope, Store, open_store
from arena.store.keys import KeyIdTaken
from arena.store.names import NAME_RULE

_UNITS: Final = {"w": 7 * 86_400, "d": 86_400, "h": 3_600, "m": 60}
_LIFETIME: Final = re.compile(r"([1-9][0-9]{0,4})([wdhm])")


class NameType(click.ParamType[str]):
    """The name of a bot or an owner."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not NAME.fullmatch(value):
            self.fail(NAME_RULE, param, ctx)
        return str(value)


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

    A running arena applies the changes within a second.
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
@click.argument("name", type=NameType())
@click.option("--owner", type=NameType(), help="The owner; required for a new bot.")
@click.option(
    "--expires",
    type=LifetimeType(),
    metavar="TIME",
    help="Lifetime, such as 30d.  [default: unlimited]",
)
@json_option
@data_option
def bot(name: str, owner: str | None, expires: timedelta | None, as_json: bool, data: Path) -> None:
    """Create a key for the bot NAME: with its token the bot plays under this name."""
    with plain_errors(), _open(data) as store:
        held = store.keys()
        owner = owner or held.owner_of(name)
        if owner is None:
            raise click.UsageError(f"{name!r} is a new bot: say whose, with --owner")
        key, token = _make(held, Scope.BOT, owner, name, expires)
    _print(key, token, f"the bot {name!r} of {owner!r}", as_json=as_json)


@new.command(epilog="\b\nExamples:\n  arena keys new organiser --owner ann --expires 30d")
@click.option("--owner", type=NameType(), required=True, help="The organiser's name.")
@click.option(
    "--expires",
    type=LifetimeType(),
    metavar="TIME",
    help="Lifetime, such as 30d.  [default: unlimited]",
)
@json_option
@data_option
def organiser(owner: str, expires: timedelta | None, as_json: bool, data: Path) -> None:
    """Create a key for an organiser, who can create matches and competitions with its token."""
    with plain_errors(), _open(data) as store:
        key, token = _make(store.keys(), Scope.ORGANISER, owner, "", expires)
    _print(key, token, f"the organiser {owner!r}", as_json=as_json)


@new.command(
    epilog="""\b
Examples:
  arena keys new worker m1
  arena keys new worker m1 > worker-token
"""
)
@click.argument("name", type=NameType())
@json_option
@data_option
def worker(name: str, as_json: bool, data: Path) -> None:
    """Create a key for the worker NAME, which may play deal-sets with it and nothing else.

    Workers see the cards of what they play, so give keys to machines of your own only.
    """
    with plain_errors(), _open(data) as store:
        key, token = _make(store.keys(), Scope.WORKER, name, "", None)
    _print(key, token, f"the worker {name!r}", as_json=as_json)


@new.command(epilog="\b\nExamples:\n  arena keys new owner ann")
@click.argument("owner", type=NameType())
@json_option
@data_option
def owner(owner: str, as_json: bool, data: Path) -> None:
    """Create another key for OWNER, who has registered and lost the first one.

    The owner passes the printed token in CARDARENA_OWNER_TOKEN. Revoke the lost key.
    """
    require_folder(data)
    with plain_errors(), _open(data) as store:
        store.registry().require_welcome(owner)
        key, token = _make(store.keys(), Scope.OWNER, owner, "", None)
    _print(key, token, f"the owner {owner!r}", as_json=as_json)


@keys.command("list", epilog="\b\nExamples:\n  arena keys list\n  arena keys list --json")
@json_option
@data_option
def list_keys(as_json: bool, data: Path) -> None:
    """List the keys. A token begins with `arena_` and its key's id."""
    require_folder(data)
    with plain_errors(), _open(data) as store:
        held = store.keys().all()
    now = _now()
    if as_json:
        print_json({"keys": [_as_json(key, now) for key in held]})
        return
    if not held:
        click.echo("There are no keys.")
        return
    rows = [
        (
            key.id,
            key.scope.value,
            key.bot,
            key.owner,
            _state(key, now),
            _day(key.created),
            "" if key.used is None else key.used.isoformat(),
        )
        for key in held
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
@data_option
def revoke(ids: tuple[str, ...], data: Path) -> None:
    """Revoke keys for good, and close the streams of their bots."""
    for each in ids:
        if not re.fullmatch(rf"[0-9A-Za-z]{{{KEY_ID_CHARS}}}", each):
            # It may be a token, so it is not printed.
            text = f"a key's id has {KEY_ID_CHARS} letters and digits, as `arena keys list` shows"
            if each.startswith(MARK):
                text += "; never give a token on a command line, where others can read it"
            raise click.UsageError(text)
    require_folder(data)
    with plain_errors(), _open(data) as store:
        for each in ids:
            key = store.keys().revoke(each, _now())
            click.echo(f"The key {key.id} of {key.bot or key.owner!r} is revoked.", err=True)


def _open(data: Path) -> Store:
    make_folder(data)
    return open_store(store_path(data))


def _make(
    held: Keys, scope: Scope, owner: str, bot_name: str, lifetime: timedelta | None
) -> tuple[Key, str]:
    now = _now()
    while True:
        token = new_token()
        key = Key(
            id=key_id(token),
            token_sha256=token_sha256(token),
            scope=scope,
            owner=owner,
            bot=bot_name,
            created=now,
            expires=None if lifetime is None else now + lifetime,
        )
        try:
            return held.add(key), token
        except KeyIdTaken:
            continue  # once in 218 million million


def _print(key: Key, token: str, whose: str, *, as_json: bool) -> None:
    """Print the token alone on standard output, for shells; the rest goes to standard error."""
    if as_json:
        print_json(_as_json(key, _now()) | {"token": token})
        return
    until = "" if key.expires is None else f", valid until {key.expires:%Y-%m-%d %H:%M} UTC"
    click.echo(f"Key {key.id} for {whose}{until}. Its token is shown only now:", err=True)
    click.echo(token)


def _as_json(key: Key, now: datetime) -> dict[str, Any]:
    return {
        "id": key.id,
        "scope": key.scope.value,
        "owner": key.owner,
        "bot": key.bot or None,
        "state": _state(key, now).split()[0],
        "created": key.created.isoformat(),
        "expires": None if key.expires is None else key.expires.isoformat(),
        "revoked": None if key.revoked is None else key.revoked.isoformat(),
        "last_used": None if key.used is None else key.used.isoformat(),
    }


def _state(key: Key, now: datetime) -> str:
    if key.revoked is not None:
        return f"revoked {_day(key.revoked)}"
    if key.expires is None:
        return "valid"
    return f"valid to {_day(key.expires)}" if key.expires > now else f"expired {_day(key.expires)}"


def _day(moment: datetime) -> str:
    return moment.date().isoformat()


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
