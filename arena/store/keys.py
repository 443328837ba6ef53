"""The keys of bots, owners, organisers and workers, and the sign-in sessions of people.

A sign-in session is a key that was made with another one, and an identity at a provider that is linked to an owner is a
key whose hash belongs to no token: code that checks, lists, bans or revokes keys treats all alike. A key is stored
without its token, as the token's SHA-256. Tokens have 256 random bits, so a fast hash is enough: a stolen copy of the
store does not help to guess a token.
"""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final

from sqlalchemy import Connection, RowMapping, delete, func, insert, or_, select, update

from arena.errors import RefusalError
from arena.store import schema
from arena.store.database import Database
from arena.store.errors import StoreError
from arena.store.moments import iso_utc
from arena.store.names import NAME, NAME_RULE, claim, skeleton
from arena.store.rows import dataclass_of, find_row, find_rows
from arena.store.versions import OverQuota

MAX_SESSIONS: Final = 20
"""The maximal number of sign-in sessions of one owner; a further one ends the oldest."""
SIGN_INS: Final = 30
"""The number of sign-in sessions that one owner may begin within `SIGN_IN_TIME`."""
SIGN_IN_TIME: Final = timedelta(hours=1)
SHOWN_FOR: Final = timedelta(days=1)
"""The time for which a session is listed after its end."""


class KeyIdTaken(StoreError):
    """A key with that id exists."""


class UnknownKey(RefusalError, StoreError, reason="UNKNOWN_KEY"):
    """There is no key with that id."""


class LinkedAlready(RefusalError, StoreError, reason="LINKED_ALREADY"):
    """A valid key has that hash: the identity already signs in an owner."""


class KeyRevoked(RefusalError, StoreError, reason="REVOKED_TOKEN"):
    """The key was revoked."""


class Scope(StrEnum):
    """What a key permits."""

    BOT = schema.BOT_SCOPE
    """Playing as one bot, and reading."""
    ORGANISER = schema.ORGANISER_SCOPE
    """Making matches, and reading."""
    OWNER = schema.OWNER_SCOPE
    """Submitting and managing versions of one's own bots, and reading."""
    WORKER = schema.WORKER_SCOPE
    """Playing deal-sets for the arena, on another machine."""


@dataclass(frozen=True, slots=True)
class Key:
    """A stored key. Times are in UTC, to the second."""

    id: str
    """Public: the first characters of the token after its prefix."""
    token_sha256: bytes
    scope: Scope
    owner: str
    bot: str
    """The bot's name; empty for an organiser, an owner or a worker."""
    created: datetime
    expires: datetime | None = None
    """None for a key that does not expire."""
    revoked: datetime | None = None
    used: date | None = None
    """The last day on which it was used."""
    signed_in_with: str = ""
    """The id of the key that a sign-in session was made with; empty for a key."""
    label: str = ""
    """The browser's name for itself in a sign-in session; the provider and name of a linked identity; otherwise empty."""
    changed: int = 0
    """The number of this key's last change among the changes of all keys; 0 before it is stored."""


class Keys:
    """The keys in a store. Calls block on the disk; any thread may call."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, key: Key) -> Key:
        """Store a new key, and its names as its owner's; return the stored key.

        Raises:
          NameTaken: if a name is reserved or another owner's, or looks like a known name.
          KeyIdTaken: if the id is not new.
          StoreError: if the file cannot be written.
        """
        with self._database.writing() as connection:
            return insert_key(connection, key)

    def owner_of(self, bot: str) -> str | None:
        """Return the owner of the bot of that name; None if the name is free."""
        with self._database.reading() as connection:
            row = find_row(connection, schema.names, skeleton=skeleton(bot))
        return None if row is None else row["owner"]

    def sign_in(self, session: Key) -> Key:
        """Store a new sign-in session; return the stored one. It ends with its key at the latest.

        Sessions of the owner that ended long ago are removed.

        Raises:
          UnknownKey, KeyRevoked: if it was made with a key that is not stored, or not valid any more.
          OverQuota: if the owner has begun too many.
          KeyIdTaken: if the id is not new.
          StoreError: if the file cannot be written.
        """
        table, now = schema.keys, session.created
        of_owner = table.c.signed_in_with.is_not(None) & (table.c.owner == session.owner)
        with self._database.writing() as connection:
            if _find(connection, session.signed_in_with).revoked is not None:
                raise KeyRevoked  # otherwise a session would outlive a key that has just been revoked
            begun = select(func.count()).where(
                of_owner, table.c.created > iso_utc(now - SIGN_IN_TIME)
            )
            if connection.execute(begun).scalar_one() >= SIGN_INS:
                retry_s = SIGN_IN_TIME.total_seconds()
                raise OverQuota(
                    f"{session.owner} has signed in {SIGN_INS} times in an hour", retry_s
                )
            added = insert_key(connection, session)
            valid = (
                select(table.c.id)
                .where(of_owner, table.c.revoked.is_(None), table.c.expires > iso_utc(now))
                .order_by(table.c.created.desc(), table.c.changed.desc())
                .offset(MAX_SESSIONS)
            )
            for key_id in connection.execute(valid).scalars().all():
                _revoke(connection, key_id, now)
            # After the new row, so that the number of the last change only grows.
            long_ago = iso_utc(now - SHOWN_FOR)
            ended = or_(table.c.revoked < long_ago, table.c.expires < long_ago)
            connection.execute(delete(table).where(of_owner, ended))
            return added

    def link(self, key: Key) -> Key:
        """Store a linked identity, as `add` stores a key. A revoked link of the same identity loses its hash.

        Raises:
          LinkedAlready: if a valid key has its hash.
          As `add`.
        """
        table = schema.keys
        with self._database.writing() as connection:
            earlier = find_row(connection, table, token_sha256=key.token_sha256.hex())
            if earlier is not None and earlier["revoked"] is None:
                raise LinkedAlready(key.label)
            if earlier is not None:
                unused = hashlib.sha256(f"revoked {earlier['id']}".encode()).hexdigest()
                given_up = update(table).filter_by(id=earlier["id"]).values(token_sha256=unused)
                connection.execute(given_up)
            return insert_key(connection, key)

    def linked(self, identity: bytes) -> Key | None:
        """Return the valid key of a linked identity, by its hash."""
        with self._database.reading() as connection:
            row = find_row(connection, schema.keys, token_sha256=identity.hex(), revoked=None)
        return None if row is None else _key(row)

    def find(self, key_id: str) -> Key:
        """Return the key of an id. Raises `UnknownKey` if there is no such key."""
        with self._database.reading() as connection:
            return _find(connection, key_id)

    def revoke(self, key_id: str, now: datetime) -> Key:
        """Make a key and its sessions invalid for ever; return it. A key that was revoked earlier is not changed.

        Raises `UnknownKey` if there is no such key, and `StoreError` if the file cannot be written.
        """
        with self._database.writing() as connection:
            if _find(connection, key_id).revoked is None:
                table = schema.keys
                sessions = select(table.c.id).where(
                    table.c.signed_in_with == key_id, table.c.revoked.is_(None)
                )
                for ended in (key_id, *connection.execute(sessions).scalars().all()):
                    _revoke(connection, ended, now)
            return _find(connection, key_id)

    def all(self) -> tuple[Key, ...]:
        """Return all keys, oldest first, including invalid ones."""
        table = schema.keys
        query = select(table).order_by(table.c.created, table.c.changed)
        with self._database.reading() as connection:
            return tuple(_key(row) for row in find_rows(connection, query))

    def changed_since(self, change: int) -> tuple[Key, ...]:
        """Return the keys that were added or revoked after that change, in order of change.

        Writers take turns, so a caller that passes the highest `Key.changed` it has seen misses none.
        """
        table = schema.keys
        query = select(table).where(table.c.changed > change).order_by(table.c.changed)
        with self._database.reading() as connection:
            return tuple(_key(row) for row in find_rows(connection, query))

    def mark_used(self, key_ids: Collection[str], day: date) -> None:
        """Record that these keys were used on that day. Raises `StoreError` if the file cannot be written."""
        table = schema.keys
        with self._database.writing() as connection:
            connection.execute(
                update(table).where(table.c.id.in_(sorted(key_ids))).values(used=day.isoformat())
            )


def insert_key(connection: Connection, key: Key) -> Key:
    """Store a new key within a transaction, as `Keys.add` does."""
    names = [key.owner, key.bot] if key.scope is Scope.BOT else [key.owner]
    if not all(NAME.fullmatch(name) for name in names):
        raise ValueError(NAME_RULE)
    claim(connection, key.owner, key.owner, organiser=key.scope is Scope.ORGANISER)
    if key.bot:
        claim(connection, key.bot, key.owner)
    if find_row(connection, schema.keys, id=key.id) is not None:
        raise KeyIdTaken(f"there is a key {key.id} already")
    connection.execute(
        insert(schema.keys).values(
            id=key.id,
            token_sha256=key.token_sha256.hex(),
            scope=key.scope.value,
            owner=key.owner,
            bot=key.bot or None,
            created=iso_utc(key.created),
            expires=key.expires and iso_utc(key.expires),
            signed_in_with=key.signed_in_with or None,
            label=key.label,
            changed=_next_change(connection),
        )
    )
    return _find(connection, key.id)


def revoke_all(connection: Connection, owner: str, now: datetime) -> None:
    """Make all keys of an owner invalid for ever, within a transaction."""
    table = schema.keys
    query = select(table.c.id).where(table.c.owner == owner, table.c.revoked.is_(None))
    for key_id in connection.execute(query).scalars().all():
        _revoke(connection, key_id, now)


def _revoke(connection: Connection, key_id: str, now: datetime) -> None:
    values = {"revoked": iso_utc(now), "changed": _next_change(connection)}
    connection.execute(update(schema.keys).filter_by(id=key_id).values(values))


def _find(connection: Connection, key_id: str) -> Key:
    row = find_row(connection, schema.keys, id=key_id)
    if row is None:
        raise UnknownKey(repr(key_id))
    return _key(row)


def _next_change(connection: Connection) -> int:
    last: int | None = connection.execute(select(func.max(schema.keys.c.changed))).scalar_one()
    return (last or 0) + 1


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _key(row: RowMapping) -> Key:
    return dataclass_of(
        Key,
        row,
        token_sha256=bytes.fromhex(row["token_sha256"]),
        scope=Scope(row["scope"]),
        bot=row["bot"] or "",
        signed_in_with=row["signed_in_with"] or "",
        created=datetime.fromisoformat(row["created"]),
        expires=_time(row["expires"]),
        revoked=_time(row["revoked"]),
        used=None if row["used"] is None else date.fromisoformat(row["used"]),
    )
