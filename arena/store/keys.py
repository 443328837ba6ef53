"""The keys of bots and organisers, and whose names they are.

A key is kept without its token: only the token's SHA-256 is here. Tokens have
256 random bits, so a fast hash is enough: a stolen copy of this file does not help
to guess them.

Names of bots and owners share one name space, in which upper and lower case
are the same. A name belongs to one owner for good, also after its last key:
nobody inherits a name that others have come to know.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection, RowMapping, Select, func, insert, select, update

from arena.store import schema
from arena.store.database import Database
from arena.store.errors import StoreError

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,31}")
"""What the name of a bot or an owner looks like: ASCII, so that no two names look alike."""
NAME_RULE: Final = (
    "a name has 1 to 32 letters, digits, spaces, dots, dashes or underscores"
    " and begins with a letter or digit"
)


class NameTaken(StoreError):
    """A name is another owner's, or is spelled otherwise. The text says which."""


class KeyIdTaken(StoreError):
    """There is a key of this id already."""


class Scope(StrEnum):
    """What a key is for."""

    BOT = schema.BOT_SCOPE
    """Playing as one bot, and reading."""
    ORGANISER = schema.ORGANISER_SCOPE
    """Making matches, and reading."""
    OWNER = schema.OWNER_SCOPE
    """Submitting versions of one's own bots, looking after them, and reading."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key as the store holds it. Times are in UTC, to the second."""

    id: str
    """Public: the first characters of the token after its mark."""
    token_sha256: bytes
    scope: Scope
    owner: str
    bot: str
    """The bot's name; empty for an organiser or an owner."""
    created: datetime
    expires: datetime | None = None
    """None is never."""
    revoked: datetime | None = None
    used: date | None = None
    """The last day on which it was used."""
    changed: int = 0
    """Counts the changes of all keys; this key's last one. 0 before it is stored."""


class Keys:
    """The keys in a store. Calls block for as long as the disk takes; any thread may make them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, key: Key) -> Key:
        """Keep a new key, and its names as its owner's; returns it as it is kept.

        Raises:
          NameTaken: if a name is another owner's, or is known in another spelling.
          KeyIdTaken: if the id is not new.
          StoreError: if the file cannot be written.
        """
        with self._database.writing() as connection:
            return insert_key(connection, key)

    def owner_of(self, bot: str) -> str | None:
        """Who owns the bot of that name; None if nobody has claimed it."""
        table = schema.names
        with self._database.reading() as connection:
            rows = _rows(connection, select(table).where(table.c.folded == bot.casefold()))
        return rows[0]["owner"] if rows else None

    def revoke(self, key_id: str, now: datetime) -> Key:
        """Make a key invalid for good; returns it. One that was revoked before stays as it was.

        Raises:
          StoreError: if there is no such key, or the file cannot be written.
        """
        table = schema.keys
        with self._database.writing() as connection:
            key = _find(connection, key_id)
            if key.revoked is None:
                connection.execute(
                    update(table)
                    .where(table.c.id == key_id)
                    .values(revoked=_text(now), changed=_next_change(connection))
                )
            return _find(connection, key_id)

    def all(self) -> tuple[Key, ...]:
        """All keys, oldest first; those that are no longer valid included."""
        table = schema.keys
        query = select(table).order_by(table.c.created, table.c.changed)
        with self._database.reading() as connection:
            return tuple(_key(row) for row in _rows(connection, query))

    def changed_since(self, change: int) -> tuple[Key, ...]:
        """The keys that were added or revoked after this many changes, in order of change.

        Writers take turns, so a caller that passes the highest `Key.changed` it has
        seen misses none.
        """
        table = schema.keys
        query = select(table).where(table.c.changed > change).order_by(table.c.changed)
        with self._database.reading() as connection:
            return tuple(_key(row) for row in _rows(connection, query))

    def mark_used(self, key_ids: Collection[str], day: date) -> None:
        """Note that these keys were used on that day.

        Raises:
          StoreError: if the file cannot be written.
        """
        table = schema.keys
        with self._database.writing() as connection:
            connection.execute(
                update(table).where(table.c.id.in_(sorted(key_ids))).values(used=day.isoformat())
            )


def insert_key(connection: Connection, key: Key) -> Key:
    """Keep a new key within a transaction, as `Keys.add` does."""
    names = [key.owner, key.bot] if key.scope is Scope.BOT else [key.owner]
    if not all(NAME.fullmatch(name) for name in names):
        raise ValueError(NAME_RULE)
    claim(connection, key.owner, key.owner)
    if key.bot:
        claim(connection, key.bot, key.owner)
    if _rows(connection, select(schema.keys.c.id).where(schema.keys.c.id == key.id)):
        raise KeyIdTaken(f"there is a key {key.id} already")
    connection.execute(
        insert(schema.keys).values(
            id=key.id,
            token_sha256=key.token_sha256.hex(),
            scope=key.scope.value,
            owner=key.owner,
            bot=key.bot or None,
            created=_text(key.created),
            expires=_text(key.expires),
            changed=_next_change(connection),
        )
    )
    return _find(connection, key.id)


def revoke_all(connection: Connection, owner: str, now: datetime) -> None:
    """Make all keys of an owner invalid for good, within a transaction."""
    table = schema.keys
    query = select(table.c.id).where(table.c.owner == owner, table.c.revoked.is_(None))
    for key_id in connection.execute(query).scalars().all():
        connection.execute(
            update(table)
            .where(table.c.id == key_id)
            .values(revoked=_text(now), changed=_next_change(connection))
        )


def claim(connection: Connection, name: str, owner: str) -> None:
    """Make the name this owner's, if it is not.

    Raises:
      NameTaken: if it is another owner's, or is known in another spelling.
    """
    table = schema.names
    folded = name.casefold()
    rows = _rows(connection, select(table).where(table.c.folded == folded))
    if not rows:
        connection.execute(insert(table).values(folded=folded, name=name, owner=owner))
        return
    (held,) = rows
    if held["owner"].casefold() != owner.casefold():
        raise NameTaken(f"the name {name!r} belongs to the owner {held['owner']!r}")
    if held["name"] != name:
        raise NameTaken(f"the name {name!r} is known as {held['name']!r}; spell it like that")


def _find(connection: Connection, key_id: str) -> Key:
    rows = _rows(connection, select(schema.keys).where(schema.keys.c.id == key_id))
    if not rows:
        raise StoreError(f"there is no key {key_id!r}")
    return _key(rows[0])


def _next_change(connection: Connection) -> int:
    last: int | None = connection.execute(select(func.max(schema.keys.c.changed))).scalar_one()
    return (last or 0) + 1


def _rows(connection: Connection, query: Select[Any]) -> Sequence[RowMapping]:
    return connection.execute(query).mappings().all()


def _text(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise ValueError("the times of a key need a time zone")
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _key(row: RowMapping) -> Key:
    return Key(
        id=row["id"],
        token_sha256=bytes.fromhex(row["token_sha256"]),
        scope=Scope(row["scope"]),
        owner=row["owner"],
        bot=row["bot"] or "",
        created=datetime.fromisoformat(row["created"]),
        expires=_time(row["expires"]),
        revoked=_time(row["revoked"]),
        used=None if row["used"] is None else date.fromisoformat(row["used"]),
        changed=row["changed"],
    )
