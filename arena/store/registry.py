"""Owners, their bots and the versions of bots.

An owner registers with an invitation. A submitted version never changes; its events are appended to those
before. The caller passes the present time.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, delete, func, insert, select, update

from arena.errors import RefusalError
from arena.results.deal_sets import digest
from arena.results.versions import VersionEvent, require_follows
from arena.store import audit, schema
from arena.store.database import Database
from arena.store.errors import StoreError
from arena.store.keys import Key, insert_key, revoke_all
from arena.store.moments import iso_utc, unix_ms
from arena.store.names import NAME, NAME_RULE, NameTaken, claim
from arena.store.rows import dataclass_of, find_row, find_rows
from arena.store.versions import (
    DAY_MS,
    BotKind,
    Unknown,
    Version,
    active_version,
    insert_version,
    next_version,
    read_version,
    read_versions,
    record_event,
    require_quota,
    times_of_event,
)

MAX_BOTS: Final = 20
"""The maximal number of bots of one owner, as their names are never free again."""
INVITED_FOR: Final = timedelta(days=30)
"""The default lifetime of an invitation."""
MAX_REMOTE_VERSIONS: Final = 50
"""The number of new versions of a remote bot in a day; further ones count as the previous version."""


class NotInvited(RefusalError, StoreError, reason="BAD_CODE"):
    """The code of an invitation is wrong, was used, or has expired."""


class UnknownOwner(RefusalError, Unknown, reason="UNKNOWN_OWNER"):
    """There is no such owner."""


class UnknownBot(RefusalError, Unknown, reason="UNKNOWN_BOT"):
    """There is no such bot."""


class Banned(RefusalError, StoreError, reason="BANNED"):
    """The owner was banned; the text says why."""


class SubmittedBefore(RefusalError, StoreError, reason="SUBMITTED_BEFORE"):
    """The bot has a version of the same contents; the text names it."""


class TooManyBots(RefusalError, StoreError, reason="TOO_MANY_BOTS"):
    """The owner has as many bots as allowed."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A person who may have bots."""

    name: str
    invited_by: str
    created: str
    """ISO 8601, UTC."""
    banned: str | None
    """The reason of the ban; None if the owner is not banned."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A bot of an owner."""

    name: str
    owner: str
    kind: BotKind
    created: str
    """ISO 8601, UTC."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation whose name has not registered. Its code is not stored."""

    invited: str
    """The name that it is for."""
    invited_by: str
    created: str
    """ISO 8601, UTC, as is the next."""
    expires: str


class Registry:
    """The registry of a store. Calls block on the disk; any thread may call.

    Raises:
      UnknownOwner, UnknownBot, UnknownVersion: from any method with such a name, if there is none.
      Banned: from any method that writes for an owner who is banned.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    # Owners.

    def invite(
        self,
        code: str,
        owner: str,
        *,
        invited_by: str,
        now: datetime,
        lifetime: timedelta = INVITED_FOR,
    ) -> None:
        """Let a person register as `owner` with `code`. Only the hash of the code is stored.

        Raises:
          NameTaken: if the name is another's, looks like a known name, or registered.
          ValueError: if it is not a valid name.
        """
        _require_name(owner)
        with self._database.writing() as connection:
            claim(connection, owner, owner)
            _require_unregistered(connection, owner)
            connection.execute(
                insert(schema.invitations).values(
                    code_sha256=_hash(code),
                    invited_by=invited_by,
                    created=iso_utc(now),
                    invited=owner,
                    expires=iso_utc(now + lifetime),
                )
            )
            after = {"code_sha256": _hash(code), "invited": owner}
            audit.append(connection, now, invited_by, "invite", None, after)

    def invitations(self) -> tuple[Invitation, ...]:
        """Return the invitations of names that have not registered, by name; expired ones too."""
        table, owners = schema.invitations, schema.owners
        query = (
            select(table)
            .where(table.c.invited.not_in(select(owners.c.name)))
            .order_by(table.c.invited, table.c.created, table.c.code_sha256)
        )
        with self._database.reading() as connection:
            return tuple(
                Invitation(row["invited"], row["invited_by"], row["created"], row["expires"])
                for row in find_rows(connection, query)
            )

    def register(self, code: str, new_key: Callable[[str], Key], *, now: datetime) -> Owner:
        """Register the owner whom an invitation is for; `new_key` makes a first key for that name.

        Raises:
          NotInvited: if the code is wrong, was used, or has expired.
          KeyIdTaken: if the key's id is not new.
        """
        table = schema.invitations
        with self._database.writing() as connection:
            code_sha256 = _hash(code)
            row = find_row(connection, table, code_sha256=code_sha256)
            if row is None or row["owner"] is not None or row["expires"] <= iso_utc(now):
                raise NotInvited
            owner: str = row["invited"]
            _require_unregistered(connection, owner)
            connection.execute(
                insert(schema.owners).values(
                    name=owner, invited_by=row["invited_by"], created=iso_utc(now)
                )
            )
            used = update(table).filter_by(code_sha256=code_sha256).values(owner=owner)
            connection.execute(used)
            insert_key(connection, new_key(owner))
            after = {"invited_by": row["invited_by"]}
            audit.append(connection, now, owner, "register", None, after)
            return _owner(connection, owner)

    def owners(self) -> tuple[Owner, ...]:
        query = select(schema.owners).order_by(schema.owners.c.name)
        with self._database.reading() as connection:
            return tuple(dataclass_of(Owner, row) for row in find_rows(connection, query))

    def owner(self, name: str) -> Owner:
        with self._database.reading() as connection:
            return _owner(connection, name)

    def require_welcome(self, owner: str) -> None:
        """Require that an owner exists and is not banned."""
        with self._database.reading() as connection:
            _require_not_banned(_owner(connection, owner))

    def ban(self, owner: str, *, reason: str, who: str, now: datetime) -> None:
        """Ban an owner: revoke all keys of the owner, and ban all versions of the owner's bots."""
        with self._database.writing() as connection:
            before = {"banned": _owner(connection, owner).banned}
            banned = update(schema.owners).filter_by(name=owner).values(banned=reason)
            connection.execute(banned)
            audit.append(connection, now, who, "ban", before, {"banned": reason})
            revoke_all(connection, owner, now)
            silent = update(schema.webhooks).filter_by(owner=owner, competition="")
            connection.execute(silent.values(off="its owner is banned"))
            for bot in _bots(connection, owner):
                for version in read_versions(connection, bot):
                    if version.state is not VersionEvent.BANNED:
                        record_event(connection, version, VersionEvent.BANNED, who, reason, now)

    # Bots and versions.

    def create_bot(self, name: str, owner: str, kind: BotKind, *, now: datetime) -> None:
        """Make a bot of an owner.

        Raises:
          NameTaken: if the name is another's, or the owner already has a bot of that name.
          TooManyBots: if the owner has `MAX_BOTS`.
          ValueError: if it is not a valid name.
        """
        _require_name(name)
        with self._database.writing() as connection:
            _require_not_banned(_owner(connection, owner))
            claim(connection, name, owner)
            bots = _bots(connection, owner)
            if name in bots:
                raise NameTaken(f"{owner} has a bot {name!r}")
            if len(bots) >= MAX_BOTS:
                raise TooManyBots(f"{owner} has {MAX_BOTS}")
            values = {"name": name, "owner": owner, "kind": str(kind), "created": iso_utc(now)}
            connection.execute(insert(schema.bots).values(values))

    def submit(
        self,
        bot: str,
        *,
        sha256: str,
        manifest: Mapping[str, Any],
        runtime_sha256: str = "",
        now: datetime,
    ) -> Version:
        """Add a version of a bot; its parent is the version that is active.

        Raises:
          SubmittedBefore: if the bot has a version of these contents.
          OverQuota: if the owner has submitted as often as a day allows.
        """
        with self._database.writing() as connection:
            owner = _owner_of(connection, bot)
            versions = read_versions(connection, bot)
            for version in versions:
                if version.sha256 == sha256:
                    raise SubmittedBefore(f"{version}, which is {version.state}")
            require_quota(connection, owner, VersionEvent.SUBMITTED, now)
            state = VersionEvent.SUBMITTED
            new = next_version(bot, versions, sha256, manifest, state, runtime_sha256)
            insert_version(connection, new, owner, now)
        return new

    def record(
        self,
        bot: str,
        number: int,
        event: VersionEvent,
        *,
        who: str,
        reason: str = "",
        now: datetime,
    ) -> Version:
        """Record an event of a version. If it becomes active, the version that was active becomes inactive.

        Raises:
          NotNow: if the event may not follow the version's state.
          OverQuota: if the owner's versions became active as often as a day allows.
        """
        with self._database.writing() as connection:
            owner = _owner_of(connection, bot)
            version = read_version(connection, bot, number)
            require_follows(version.state, event)
            require_quota(connection, owner, event, now)
            if event is VersionEvent.ACTIVE:
                other = active_version(read_versions(connection, bot))
                if other is not None:
                    why = f"{version} took its place"
                    record_event(connection, other, VersionEvent.INACTIVE, who, why, now)
            record_event(connection, version, event, who, reason, now)
            return read_version(connection, bot, number)

    def dialled_in(self, bot: str, said: str, *, now: datetime) -> Version | None:
        """Record the version that a remote bot declares; a new one replaces the one that was active.

        Returns the version that plays from now on; None if the bot is not a remote one, its owner is banned, or the
        version was retired or banned. After `MAX_REMOTE_VERSIONS` new ones in a day, the active version does not
        change.
        """
        sha256 = digest(["remote", said])
        with self._database.writing() as connection:
            try:
                owner = _owner_of(connection, bot)
            except (Unknown, Banned):
                return None
            if _bot(connection, bot).kind is not BotKind.REMOTE:
                return None
            versions = read_versions(connection, bot)
            active = active_version(versions)
            version = next((version for version in versions if version.sha256 == sha256), None)
            if version is None:
                new_today = sum(
                    at_unix_ms > unix_ms(now) - DAY_MS
                    for at_unix_ms in times_of_event(connection, bot, VersionEvent.UNVERIFIED)
                )
                if new_today >= MAX_REMOTE_VERSIONS:
                    return active
                state = VersionEvent.UNVERIFIED
                version = next_version(bot, versions, sha256, {"said": said}, state)
                insert_version(connection, version, owner, now)
            if version.state not in _REMOTE_STATES:
                return None
            if version.state is not VersionEvent.ACTIVE:
                if active is not None:
                    why = f"{version} dialled in"
                    record_event(connection, active, VersionEvent.INACTIVE, owner, why, now)
                record_event(connection, version, VersionEvent.ACTIVE, owner, "it dialled in", now)
            return read_version(connection, bot, version.number)

    def keep_report(
        self, bot: str, number: int, report: Mapping[str, Any], *, now: datetime
    ) -> None:
        """Store the report of a version's qualification, in place of an earlier one."""
        table = schema.reports
        with self._database.writing() as connection:
            read_version(connection, bot, number)
            connection.execute(delete(table).filter_by(bot=bot, number=number))
            values = {"bot": bot, "number": number, "made_unix_ms": unix_ms(now)}
            connection.execute(insert(table).values(**values, report=dict(report)))

    def report(self, bot: str, number: int) -> Mapping[str, Any] | None:
        """Return the report of a version's qualification; None if there is none yet."""
        with self._database.reading() as connection:
            read_version(connection, bot, number)
            row = find_row(connection, schema.reports, bot=bot, number=number)
            return None if row is None else row["report"]

    def run_by(self) -> Mapping[str, Sequence[Version]]:
        """Return the versions that may still play with a built runtime, by the hash of the runtime."""
        table = schema.versions
        over = (VersionEvent.REJECTED, VersionEvent.RETIRED, VersionEvent.BANNED)
        by_runtime: dict[str, list[Version]] = {}
        with self._database.reading() as connection:
            query = select(table.c.bot).where(table.c.runtime_sha256 != "").distinct()
            for bot in connection.execute(query.order_by(table.c.bot)).scalars().all():
                for version in read_versions(connection, bot):
                    if version.runtime_sha256 and version.state not in over:
                        by_runtime.setdefault(version.runtime_sha256, []).append(version)
        return by_runtime

    def unqualified(self) -> tuple[Version, ...]:
        """Versions that are to be qualified, in the order in which they were submitted."""
        events = schema.version_events
        ends = (
            select(
                events.c.bot,
                events.c.number,
                func.min(events.c.id).label("first"),
                func.max(events.c.id).label("last"),
            )
            .group_by(events.c.bot, events.c.number)
            .subquery()
        )
        waiting = (str(VersionEvent.SUBMITTED), str(VersionEvent.CHECKED))
        with self._database.reading() as connection:
            rows = connection.execute(
                select(ends.c.bot, ends.c.number)
                .join(events, events.c.id == ends.c.last)
                .where(events.c.event.in_(waiting))
                .order_by(ends.c.first)
            ).all()
            return tuple(read_version(connection, row.bot, row.number) for row in rows)

    def bot(self, name: str) -> Bot:
        with self._database.reading() as connection:
            return _bot(connection, name)

    def find_bot(self, name: str) -> Bot | None:
        with self._database.reading() as connection:
            try:
                return _bot(connection, name)
            except Unknown:
                return None

    def bots_of(self, owner: str) -> tuple[Bot, ...]:
        with self._database.reading() as connection:
            return tuple(_bot(connection, name) for name in _bots(connection, owner))

    def names(self, kind: BotKind | None = None) -> tuple[str, ...]:
        """Return the names of all bots, or of those of a kind."""
        table = schema.bots
        query = select(table.c.name).order_by(table.c.name)
        if kind is not None:
            query = query.where(table.c.kind == kind)
        with self._database.reading() as connection:
            return tuple(connection.execute(query).scalars())

    def owners_of_bots(self) -> Mapping[str, str]:
        """Return the owner of each bot, by its name."""
        query = select(schema.bots.c.name, schema.bots.c.owner)
        with self._database.reading() as connection:
            return {row.name: row.owner for row in connection.execute(query)}

    def version(self, bot: str, number: int) -> Version:
        with self._database.reading() as connection:
            return read_version(connection, bot, number)

    def versions(self, bot: str) -> tuple[Version, ...]:
        """Return the versions of a bot, oldest first; none if there is no such bot."""
        with self._database.reading() as connection:
            return read_versions(connection, bot)

    def active(self, bot: str) -> Version | None:
        return active_version(self.versions(bot))


_REMOTE_STATES: Final = (VersionEvent.UNVERIFIED, VersionEvent.INACTIVE, VersionEvent.ACTIVE)
"""States of a remote bot's version in which it may play."""


def _owner(connection: Connection, name: str) -> Owner:
    row = find_row(connection, schema.owners, name=name)
    if row is None:
        raise UnknownOwner(repr(name))
    return dataclass_of(Owner, row)


def _require_unregistered(connection: Connection, owner: str) -> None:
    if find_row(connection, schema.owners, name=owner) is not None:
        raise NameTaken(f"{owner} is registered")


def _bot(connection: Connection, name: str) -> Bot:
    row = find_row(connection, schema.bots, name=name)
    if row is None:
        raise UnknownBot(repr(name))
    return dataclass_of(Bot, row, kind=BotKind(row["kind"]))


def _require_not_banned(owner: Owner) -> None:
    if owner.banned is not None:
        raise Banned(f"{owner.name}, because {owner.banned}")


def _owner_of(connection: Connection, bot: str) -> str:
    owner = _bot(connection, bot).owner
    _require_not_banned(_owner(connection, owner))
    return owner


def _bots(connection: Connection, owner: str) -> Sequence[str]:
    table = schema.bots
    query = select(table.c.name).where(table.c.owner == owner).order_by(table.c.name)
    return connection.execute(query).scalars().all()


def _require_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise ValueError(NAME_RULE)


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()
