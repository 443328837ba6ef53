"""Owners, their bots and the bots' versions: who may play with what.

An owner registers with an invitation. A submitted version never changes; its events are appended to those
before. The caller passes the present time.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection, delete, func, insert, select, update

from arena.errors import RefusalError, refusal
from arena.schedule.deal_sets import digest
from arena.store import audit, schema
from arena.store.database import Database
from arena.store.errors import StoreError
from arena.store.keys import Key, insert_key, revoke_all
from arena.store.moments import iso_utc, unix_ms
from arena.store.names import NAME, NAME_RULE, NameTaken, claim
from arena.store.rows import dataclass_of, find_row, find_rows
from arena.submission.versions import VersionEvent, require_follows

DAY_MS: Final = 24 * 3600 * 1000
QUOTAS: Final[Mapping[VersionEvent, int]] = {VersionEvent.SUBMITTED: 10, VersionEvent.ACTIVE: 3}
"""How often each event may happen to one owner's bots in a day."""
MAX_BOTS: Final = 20
"""Bots of one owner: their names are never free again."""
MAX_REMOTE_VERSIONS: Final = 50
"""New versions of a remote bot in a day; further ones are counted as the version before."""


class NotInvited(RefusalError, StoreError):
    """The code of an invitation is wrong or was used."""

    entry = refusal("BAD_CODE")


class Unknown(StoreError):
    """There is no such owner, bot or version."""


class UnknownOwner(RefusalError, Unknown):
    """There is no such owner."""

    entry = refusal("UNKNOWN_OWNER")


class UnknownBot(RefusalError, Unknown):
    """There is no such bot."""

    entry = refusal("UNKNOWN_BOT")


class UnknownVersion(RefusalError, Unknown):
    """There is no such version."""

    entry = refusal("UNKNOWN_VERSION")


class Banned(RefusalError, StoreError):
    """The owner was banned; the text says why."""

    entry = refusal("BANNED")


class SubmittedBefore(RefusalError, StoreError):
    """The bot has a version of the same contents; the text names it."""

    entry = refusal("SUBMITTED_BEFORE")


class TooManyBots(RefusalError, StoreError):
    """The owner has as many bots as allowed."""

    entry = refusal("TOO_MANY_BOTS")


class OverQuota(RefusalError, StoreError):
    """The owner's quota for a day is used up; `retry_s` is in how many seconds it is free again."""

    entry = refusal("OVER_QUOTA")

    def __init__(self, detail: str, retry_s: float = 0.0) -> None:
        super().__init__(detail)
        self.retry_s = retry_s


class BotKind(StrEnum):
    """How a bot is connected to its matches."""

    UPLOADED = "uploaded"
    REMOTE = "remote"
    COMMAND = "command"


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


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a bot, as it was submitted."""

    bot: str
    number: int
    sha256: str
    manifest: Mapping[str, Any]
    runtime_sha256: str
    parent: int | None
    state: VersionEvent
    reason: str = ""
    """Why it is in that state; empty if no reason was given."""
    since_unix_ms: int = 0
    """When it entered that state."""

    def __str__(self) -> str:
        return f"{self.bot}@{self.number}"


class Registry:
    """The registry of a store. Calls block on the disk; any thread may call.

    Raises:
      UnknownOwner, UnknownBot, UnknownVersion: from any method with such a name, if there is none.
      Banned: from any method that writes for an owner who is banned.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    # Owners.

    def invite(self, code: str, owner: str, *, invited_by: str, now: datetime) -> None:
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
                )
            )
            after = {"code_sha256": _hash(code), "invited": owner}
            audit.append(connection, now, invited_by, "invite", None, after)

    def register(self, code: str, new_key: Callable[[str], Key], *, now: datetime) -> Owner:
        """Register the owner whom an invitation is for; `new_key` makes a first key for that name.

        Raises:
          NotInvited: if the code is wrong or was used.
          KeyIdTaken: if the key's id is not new.
        """
        table = schema.invitations
        with self._database.writing() as connection:
            code_sha256 = _hash(code)
            row = find_row(connection, table, code_sha256=code_sha256)
            if row is None or row["owner"] is not None or not row["invited"]:
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
        """All owners, by name."""
        query = select(schema.owners).order_by(schema.owners.c.name)
        with self._database.reading() as connection:
            return tuple(dataclass_of(Owner, row) for row in find_rows(connection, query))

    def owner(self, name: str) -> Owner:
        """An owner by name."""
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
            for bot in _bots(connection, owner):
                for version in _versions(connection, bot):
                    if version.state is not VersionEvent.BANNED:
                        _record(connection, version, VersionEvent.BANNED, who, reason, now)

    # Bots and versions.

    def create_bot(self, name: str, owner: str, kind: BotKind, *, now: datetime) -> None:
        """Make a bot of an owner.

        Raises:
          NameTaken: if the name is another's, or the owner has a bot of it already.
          TooManyBots: if the owner has `MAX_BOTS`.
          ValueError: if it is not a valid name.
        """
        _require_name(name)
        with self._database.writing() as connection:
            _require_not_banned(_owner(connection, owner))
            claim(connection, name, owner)
            own = _bots(connection, owner)
            if name in own:
                raise NameTaken(f"{owner} has a bot {name!r}")
            if len(own) >= MAX_BOTS:
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
            versions = _versions(connection, bot)
            for version in versions:
                if version.sha256 == sha256:
                    raise SubmittedBefore(f"{version}, which is {version.state}")
            _require_quota(connection, owner, VersionEvent.SUBMITTED, now)
            state = VersionEvent.SUBMITTED
            new = _next_version(bot, versions, sha256, manifest, state, runtime_sha256)
            _insert_version(connection, new, owner, now)
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
            version = _version(connection, bot, number)
            require_follows(version.state, event)
            _require_quota(connection, owner, event, now)
            if event is VersionEvent.ACTIVE:
                other = _active(_versions(connection, bot))
                if other is not None:
                    why = f"{version} took its place"
                    _record(connection, other, VersionEvent.INACTIVE, who, why, now)
            _record(connection, version, event, who, reason, now)
            return _version(connection, bot, number)

    def dialled_in(self, bot: str, said: str, *, now: datetime) -> Version | None:
        """Record the version that a remote bot declares; a new one replaces the one that was active.

        Returns the version that plays from now on; None if the bot is not a remote one, its owner is banned,
        or the version was retired or banned. After `MAX_REMOTE_VERSIONS` new ones in a day, the active version
        stays.
        """
        sha256 = digest(["remote", said])
        with self._database.writing() as connection:
            try:
                owner = _owner_of(connection, bot)
            except (Unknown, Banned):
                return None
            if _bot(connection, bot).kind is not BotKind.REMOTE:
                return None
            versions = _versions(connection, bot)
            active = _active(versions)
            version = next((each for each in versions if each.sha256 == sha256), None)
            if version is None:
                new_today = sum(
                    at_unix_ms > unix_ms(now) - DAY_MS
                    for at_unix_ms in _times_of_event(connection, bot, VersionEvent.UNVERIFIED)
                )
                if new_today >= MAX_REMOTE_VERSIONS:
                    return active
                state = VersionEvent.UNVERIFIED
                version = _next_version(bot, versions, sha256, {"said": said}, state)
                _insert_version(connection, version, owner, now)
            if version.state not in _REMOTE_STATES:
                return None
            if version.state is not VersionEvent.ACTIVE:
                if active is not None:
                    why = f"{version} dialled in"
                    _record(connection, active, VersionEvent.INACTIVE, owner, why, now)
                _record(connection, version, VersionEvent.ACTIVE, owner, "it dialled in", now)
            return _version(connection, bot, version.number)

    def keep_report(
        self, bot: str, number: int, report: Mapping[str, Any], *, now: datetime
    ) -> None:
        """Store the report of a version's qualification, in place of an earlier one."""
        table = schema.reports
        with self._database.writing() as connection:
            _version(connection, bot, number)
            connection.execute(delete(table).filter_by(bot=bot, number=number))
            values = {"bot": bot, "number": number, "made_unix_ms": unix_ms(now)}
            connection.execute(insert(table).values(**values, report=dict(report)))

    def report(self, bot: str, number: int) -> Mapping[str, Any] | None:
        """The report of a version's qualification; None if there is none yet."""
        with self._database.reading() as connection:
            _version(connection, bot, number)
            row = find_row(connection, schema.reports, bot=bot, number=number)
            return None if row is None else row["report"]

    def run_by(self) -> Mapping[str, Sequence[Version]]:
        """The versions that may still play with a built runtime, by the hash of the runtime."""
        table = schema.versions
        over = (VersionEvent.REJECTED, VersionEvent.RETIRED, VersionEvent.BANNED)
        found: dict[str, list[Version]] = {}
        with self._database.reading() as connection:
            query = select(table.c.bot).where(table.c.runtime_sha256 != "").distinct()
            for bot in connection.execute(query.order_by(table.c.bot)).scalars().all():
                for version in _versions(connection, bot):
                    if version.runtime_sha256 and version.state not in over:
                        found.setdefault(version.runtime_sha256, []).append(version)
        return found

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
            return tuple(_version(connection, row.bot, row.number) for row in rows)

    def bot(self, name: str) -> Bot:
        """A bot by name."""
        with self._database.reading() as connection:
            return _bot(connection, name)

    def find_bot(self, name: str) -> Bot | None:
        """A bot by name; None if there is none."""
        with self._database.reading() as connection:
            try:
                return _bot(connection, name)
            except Unknown:
                return None

    def names(self, kind: BotKind) -> tuple[str, ...]:
        """The names of all bots of a kind."""
        table = schema.bots
        query = select(table.c.name).where(table.c.kind == kind).order_by(table.c.name)
        with self._database.reading() as connection:
            return tuple(connection.execute(query).scalars())

    def version(self, bot: str, number: int) -> Version:
        """A version by its bot and number."""
        with self._database.reading() as connection:
            return _version(connection, bot, number)

    def versions(self, bot: str) -> tuple[Version, ...]:
        """The versions of a bot, oldest first; none if there is no such bot."""
        with self._database.reading() as connection:
            return _versions(connection, bot)

    def active(self, bot: str) -> Version | None:
        """The version of a bot that plays, if one does."""
        return _active(self.versions(bot))


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
    """The owner of a bot, who must not be banned."""
    owner = _bot(connection, bot).owner
    _require_not_banned(_owner(connection, owner))
    return owner


def _bots(connection: Connection, owner: str) -> Sequence[str]:
    table = schema.bots
    query = select(table.c.name).where(table.c.owner == owner).order_by(table.c.name)
    return connection.execute(query).scalars().all()


def _versions(connection: Connection, bot: str) -> tuple[Version, ...]:
    events = select(schema.version_events).filter_by(bot=bot).order_by("id")
    latest = {row["number"]: row for row in find_rows(connection, events)}
    query = select(schema.versions).filter_by(bot=bot).order_by("number")
    return tuple(
        dataclass_of(
            Version,
            row,
            state=VersionEvent(latest[row["number"]]["event"]),
            reason=latest[row["number"]]["reason"],
            since_unix_ms=latest[row["number"]]["at_unix_ms"],
        )
        for row in find_rows(connection, query)
    )


def _active(versions: Sequence[Version]) -> Version | None:
    return next((each for each in versions if each.state is VersionEvent.ACTIVE), None)


def _next_version(
    bot: str,
    versions: Sequence[Version],
    sha256: str,
    manifest: Mapping[str, Any],
    state: VersionEvent,
    runtime_sha256: str = "",
) -> Version:
    """The version of a bot after those that it has; its parent is the active one."""
    number = 1 + max((each.number for each in versions), default=0)
    active = _active(versions)
    parent = None if active is None else active.number
    return Version(bot, number, sha256, dict(manifest), runtime_sha256, parent, state)


def _insert_version(connection: Connection, new: Version, who: str, now: datetime) -> None:
    """Insert a new version with its first event."""
    columns = ("bot", "number", "sha256", "manifest", "runtime_sha256", "parent")
    values = {name: getattr(new, name) for name in columns}
    connection.execute(insert(schema.versions).values(values))
    _insert_event(connection, new, new.state, who, "", now)


def _times_of_event(connection: Connection, bot: str, event: VersionEvent) -> Sequence[int]:
    """When an event happened to versions of a bot, in milliseconds since 1970."""
    events = schema.version_events
    query = select(events.c.at_unix_ms).where(events.c.bot == bot, events.c.event == str(event))
    return connection.execute(query).scalars().all()


def _version(connection: Connection, bot: str, number: int) -> Version:
    for version in _versions(connection, bot):
        if version.number == number:
            return version
    raise UnknownVersion(f"{bot}@{number}")


def _record(
    connection: Connection,
    version: Version,
    event: VersionEvent,
    who: str,
    reason: str,
    now: datetime,
) -> None:
    _insert_event(connection, version, event, who, reason, now)
    before, after = {"state": version.state}, {"state": event, "reason": reason}
    audit.append(connection, now, who, f"version {version}", before, after)


def _insert_event(
    connection: Connection,
    version: Version,
    event: VersionEvent,
    who: str,
    reason: str,
    now: datetime,
) -> None:
    connection.execute(
        insert(schema.version_events).values(
            bot=version.bot,
            number=version.number,
            event=str(event),
            at_unix_ms=unix_ms(now),
            who=who,
            reason=reason,
        )
    )


def _require_quota(connection: Connection, owner: str, event: VersionEvent, now: datetime) -> None:
    if event not in QUOTAS:
        return
    events, bots = schema.version_events, schema.bots
    # Events later than `now` count too, as clocks may be set back.
    recent = (
        connection.execute(
            select(events.c.at_unix_ms)
            .join(bots, bots.c.name == events.c.bot)
            .where(
                bots.c.owner == owner,
                bots.c.kind != str(BotKind.REMOTE),
                events.c.event == str(event),
                events.c.at_unix_ms > unix_ms(now) - DAY_MS,
            )
            .order_by(events.c.at_unix_ms)
        )
        .scalars()
        .all()
    )
    if len(recent) >= QUOTAS[event]:
        free_at = recent[-QUOTAS[event]] + DAY_MS
        raise OverQuota(
            f"{owner} has had {QUOTAS[event]} versions {event} within a day",
            (free_at - unix_ms(now)) / 1000,
        )


def _require_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise ValueError(NAME_RULE)


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()
