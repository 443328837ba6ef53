"""Owners, their bots and the bots' versions: who may play with what.

Nobody registers without an invitation, nothing that was submitted is ever changed, and what happens
to a version is written behind what happened before. Times are the caller's.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection, RowMapping, delete, func, insert, select, update

from arena.competition.versions import Event, require_follows
from arena.ladder.draws import digest
from arena.store import audit, schema
from arena.store.database import Database
from arena.store.errors import StoreError
from arena.store.keys import NAME, NAME_RULE, Key, NameTaken, claim, insert_key, revoke_all

DAY_MS: Final = 24 * 3600 * 1000
QUOTAS: Final[Mapping[Event, int]] = {Event.SUBMITTED: 10, Event.ACTIVE: 3}
"""How often each may happen to one owner's bots in a day."""
MAX_BOTS: Final = 20
"""Of one owner: a name is taken for good."""
MAX_REMOTE_VERSIONS: Final = 50
"""Of a remote bot in a day; what it says beyond that is taken for the version before."""


class NotInvited(StoreError):
    """The code of an invitation is wrong or was used."""


class Unknown(StoreError):
    """There is no such owner, bot or version."""


class UnknownOwner(Unknown):
    """There is no such owner."""


class UnknownBot(Unknown):
    """There is no such bot."""


class UnknownVersion(Unknown):
    """There is no such version."""


class Banned(StoreError):
    """The owner was banned; the text says why."""


class SubmittedBefore(StoreError):
    """The bot has a version of the same contents; the text names it."""


class TooManyBots(StoreError):
    """The owner has as many bots as one may have."""


class OverQuota(StoreError):
    """It was done as often as a day allows."""

    def __init__(self, sentence: str, retry_after_ms: int) -> None:
        super().__init__(sentence)
        self.retry_after_ms: Final = retry_after_ms
        """After that it may be done once more."""


class BotKind(StrEnum):
    """How a bot comes to the arena."""

    UPLOADED = "uploaded"
    REMOTE = "remote"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Owner:
    """Who may have bots."""

    name: str
    invited_by: str
    created: str
    """When, in UTC, as ISO 8601 has it."""
    banned: str | None
    """Why; None if the owner is not."""


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
    state: Event
    reason: str = ""
    """Why it is in that state, where somebody said so."""
    since_unix_ms: int = 0
    """When it came to be."""

    def __str__(self) -> str:
        return f"{self.bot}@{self.number}"


class Registry:
    """The registry of a store. Calls block for as long as the disk takes; any thread may call."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # Owners.

    def invite(self, code: str, owner: str, *, invited_by: str, now: datetime) -> None:
        """Let somebody register as `owner` with `code`, of which only the hash is kept.

        Raises:
          NameTaken: if the name is another's, known in another spelling, or registered.
          ValueError: if it is no name.
        """
        _require_name(owner)
        with self._database.writing() as connection:
            claim(connection, owner, owner)
            _require_unregistered(connection, owner)
            connection.execute(
                insert(schema.invitations).values(
                    code_sha256=_hash(code),
                    invited_by=invited_by,
                    created=_text(now),
                    invited=owner,
                )
            )
            told = {"code_sha256": _hash(code), "invited": owner}
            _audit(connection, now, invited_by, "invite", None, told)

    def register(self, code: str, new_key: Callable[[str], Key], *, now: datetime) -> Owner:
        """Make an owner of who has the code, with a first key.

        `new_key` makes the key of an owner of that name.

        Raises:
          NotInvited: if the code is wrong or was used.
          KeyIdTaken: if the key's id is not new.
        """
        table = schema.invitations
        with self._database.writing() as connection:
            this = table.c.code_sha256 == _hash(code)
            row = connection.execute(select(table).where(this)).mappings().one_or_none()
            if row is None or row["owner"] is not None or not row["invited"]:
                raise NotInvited("this code is wrong, or somebody has registered with it")
            owner: str = row["invited"]
            _require_unregistered(connection, owner)
            connection.execute(
                insert(schema.owners).values(
                    name=owner, invited_by=row["invited_by"], created=_text(now)
                )
            )
            connection.execute(update(table).where(this).values(owner=owner))
            insert_key(connection, new_key(owner))
            _audit(connection, now, owner, "register", None, {"invited_by": row["invited_by"]})
            return _as_owner(_owner(connection, owner))

    def owners(self) -> tuple[Owner, ...]:
        """All owners, by name."""
        table = schema.owners
        with self._database.reading() as connection:
            rows = connection.execute(select(table).order_by(table.c.name)).mappings()
            return tuple(map(_as_owner, rows))

    def owner(self, name: str) -> Owner:
        """An owner.

        Raises:
          Unknown: if there is none of the name.
        """
        with self._database.reading() as connection:
            return _as_owner(_owner(connection, name))

    def require_welcome(self, owner: str) -> None:
        """Require that an owner is not banned.

        Raises:
          Unknown, Banned: if there is no such owner, or it is.
        """
        with self._database.reading() as connection:
            _require_welcome(_owner(connection, owner))

    def ban(self, owner: str, *, reason: str, who: str, now: datetime) -> None:
        """Ban an owner, with every version of its bots and all its keys.

        Raises:
          Unknown: if there is no such owner.
        """
        table = schema.owners
        with self._database.writing() as connection:
            row = _owner(connection, owner)
            connection.execute(update(table).where(table.c.name == owner).values(banned=reason))
            _audit(connection, now, who, "ban", {"banned": row["banned"]}, {"banned": reason})
            revoke_all(connection, owner, now)
            for bot in _bots(connection, owner):
                for version in _versions(connection, bot):
                    if version.state is not Event.BANNED:
                        _record(connection, version, Event.BANNED, who, reason, now)

    # Bots and versions.

    def create_bot(self, name: str, owner: str, kind: BotKind, *, now: datetime) -> None:
        """Make a bot of an owner.

        Raises:
          Unknown, Banned: if the owner is none, or banned.
          NameTaken: if the name is another's, or the owner has a bot of it already.
          ValueError: if it is no name.
        """
        _require_name(name)
        table = schema.bots
        with self._database.writing() as connection:
            _require_welcome(_owner(connection, owner))
            claim(connection, name, owner)
            held = _bots(connection, owner)
            if name in held:
                raise NameTaken(f"{owner} has a bot {name!r} already")
            if len(held) >= MAX_BOTS:
                raise TooManyBots(f"{owner} has {MAX_BOTS} bots, which is the most")
            connection.execute(
                insert(table).values(name=name, owner=owner, kind=str(kind), created=_text(now))
            )

    def submit(
        self,
        bot: str,
        *,
        sha256: str,
        manifest: Mapping[str, Any],
        runtime_sha256: str = "",
        now: datetime,
    ) -> Version:
        """Keep a new version of a bot; its parent is the version that is active.

        Raises:
          Unknown, Banned: if there is no such bot, or its owner is banned.
          SubmittedBefore: if the bot has a version of these contents.
          OverQuota: if the owner has submitted as often as a day allows.
        """
        table = schema.versions
        with self._database.writing() as connection:
            owner = _owner_of(connection, bot)
            held = _versions(connection, bot)
            for version in held:
                if version.sha256 == sha256:
                    raise SubmittedBefore(f"{version} has the same contents: it is {version.state}")
            _require_quota(connection, owner, Event.SUBMITTED, now)
            active = [version.number for version in held if version.state is Event.ACTIVE]
            new = Version(
                bot=bot,
                number=1 + max((version.number for version in held), default=0),
                sha256=sha256,
                manifest=dict(manifest),
                runtime_sha256=runtime_sha256,
                parent=active[0] if active else None,
                state=Event.SUBMITTED,
            )
            connection.execute(
                insert(table).values(
                    bot=bot,
                    number=new.number,
                    sha256=sha256,
                    manifest=new.manifest,
                    runtime_sha256=runtime_sha256,
                    parent=new.parent,
                )
            )
            _insert_event(connection, new, Event.SUBMITTED, owner, "", now)
        return new

    def record(
        self, bot: str, number: int, event: Event, *, who: str, reason: str = "", now: datetime
    ) -> Version:
        """Write what happened to a version; where it becomes active, the one before steps back.

        Raises:
          Unknown, Banned: if there is no such version, or its owner is banned.
          NotNow: if that may not follow the version's state.
          OverQuota: if it became active as often as a day allows.
        """
        with self._database.writing() as connection:
            owner = _owner_of(connection, bot)
            version = _version(connection, bot, number)
            require_follows(version.state, event)
            _require_quota(connection, owner, event, now)
            if event is Event.ACTIVE:
                for other in _versions(connection, bot):
                    if other.state is Event.ACTIVE:
                        why = f"{version} took its place"
                        _record(connection, other, Event.INACTIVE, who, why, now)
            _record(connection, version, event, who, reason, now)
            return _version(connection, bot, number)

    def dialled_in(self, bot: str, said: str, *, now: datetime) -> Version | None:
        """Note which version a remote bot says that it is; a new one takes the place of the last.

        Returns the version that plays from now on; None if the bot is no remote one of an owner who
        is welcome, or that version was retired or banned. Whoever says too many new ones in a day
        stays what it was.
        """
        table = schema.versions
        sha256 = digest(["remote", said])
        with self._database.writing() as connection:
            try:
                owner = _owner_of(connection, bot)
            except (Unknown, Banned):
                return None
            if _bot(connection, bot).kind is not BotKind.REMOTE:
                return None
            held = _versions(connection, bot)
            active = next((each for each in held if each.state is Event.ACTIVE), None)
            version = next((each for each in held if each.sha256 == sha256), None)
            if version is None:
                new_today = sum(
                    event_ms > _unix_ms(now) - DAY_MS
                    for event_ms in _beginnings(connection, bot, Event.UNVERIFIED)
                )
                if new_today >= MAX_REMOTE_VERSIONS:
                    return active
                version = Version(
                    bot=bot,
                    number=1 + max((each.number for each in held), default=0),
                    sha256=sha256,
                    manifest={"said": said},
                    runtime_sha256="",
                    parent=None if active is None else active.number,
                    state=Event.UNVERIFIED,
                )
                connection.execute(
                    insert(table).values(
                        bot=bot,
                        number=version.number,
                        sha256=sha256,
                        manifest=version.manifest,
                        runtime_sha256="",
                        parent=version.parent,
                    )
                )
                _insert_event(connection, version, Event.UNVERIFIED, owner, "", now)
            if version.state not in (Event.UNVERIFIED, Event.INACTIVE, Event.ACTIVE):
                return None
            if version.state is not Event.ACTIVE:
                if active is not None:
                    why = f"{version} dialled in"
                    _record(connection, active, Event.INACTIVE, owner, why, now)
                _record(connection, version, Event.ACTIVE, owner, "it dialled in", now)
            return _version(connection, bot, version.number)

    def keep_report(
        self, bot: str, number: int, report: Mapping[str, Any], *, now: datetime
    ) -> None:
        """Keep the report of a qualification; one that was kept before makes way.

        Raises:
          Unknown: if there is no such version.
        """
        table = schema.reports
        with self._database.writing() as connection:
            _version(connection, bot, number)
            this = (table.c.bot == bot) & (table.c.number == number)
            connection.execute(delete(table).where(this))
            connection.execute(
                insert(table).values(
                    bot=bot, number=number, made_unix_ms=_unix_ms(now), report=dict(report)
                )
            )

    def report(self, bot: str, number: int) -> Mapping[str, Any] | None:
        """The report of a version's qualification; None if there is none yet.

        Raises:
          Unknown: if there is no such version.
        """
        table = schema.reports
        with self._database.reading() as connection:
            _version(connection, bot, number)
            query = select(table.c.report).where(table.c.bot == bot, table.c.number == number)
            found: Mapping[str, Any] | None = connection.execute(query).scalar_one_or_none()
            return found

    def run_by(self) -> Mapping[str, Sequence[Version]]:
        """The versions that may still play by a runtime that was built, by its hash."""
        table = schema.versions
        over = (Event.REJECTED, Event.RETIRED, Event.BANNED)
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
        waiting = (str(Event.SUBMITTED), str(Event.CHECKED))
        with self._database.reading() as connection:
            rows = connection.execute(
                select(ends.c.bot, ends.c.number)
                .join(events, events.c.id == ends.c.last)
                .where(events.c.event.in_(waiting))
                .order_by(ends.c.first)
            ).all()
            return tuple(_version(connection, row.bot, row.number) for row in rows)

    def bot(self, name: str) -> Bot:
        """A bot.

        Raises:
          Unknown: if there is none of the name.
        """
        with self._database.reading() as connection:
            return _bot(connection, name)

    def find_bot(self, name: str) -> Bot | None:
        """A bot; None if there is none of the name."""
        with self._database.reading() as connection:
            try:
                return _bot(connection, name)
            except Unknown:
                return None

    def bots_of(self, owner: str) -> tuple[Bot, ...]:
        """The bots of an owner, by name."""
        with self._database.reading() as connection:
            return tuple(_bot(connection, name) for name in _bots(connection, owner))

    def names(self, kind: BotKind) -> tuple[str, ...]:
        """The names of all bots of a kind."""
        table = schema.bots
        query = select(table.c.name).where(table.c.kind == kind).order_by(table.c.name)
        with self._database.reading() as connection:
            return tuple(connection.execute(query).scalars())

    def version(self, bot: str, number: int) -> Version:
        """A version.

        Raises:
          Unknown: if there is none.
        """
        with self._database.reading() as connection:
            return _version(connection, bot, number)

    def versions(self, bot: str) -> tuple[Version, ...]:
        """The versions of a bot, oldest first; none if there is no such bot."""
        with self._database.reading() as connection:
            return _versions(connection, bot)

    def active(self, bot: str) -> Version | None:
        """The version of a bot that plays, if one does."""
        return next((each for each in self.versions(bot) if each.state is Event.ACTIVE), None)


def _owner(connection: Connection, name: str) -> RowMapping:
    table = schema.owners
    row = connection.execute(select(table).where(table.c.name == name)).mappings().one_or_none()
    if row is None:
        raise UnknownOwner(f"there is no owner {name!r}")
    return row


def _as_owner(row: RowMapping) -> Owner:
    return Owner(row["name"], row["invited_by"], row["created"], row["banned"])


def _require_unregistered(connection: Connection, owner: str) -> None:
    held = select(schema.owners.c.name).where(schema.owners.c.name == owner)
    if connection.execute(held).first() is not None:
        raise NameTaken(f"{owner} is registered already")


def _bot(connection: Connection, name: str) -> Bot:
    table = schema.bots
    row = connection.execute(select(table).where(table.c.name == name)).mappings().one_or_none()
    if row is None:
        raise UnknownBot(f"there is no bot {name!r}")
    return Bot(row["name"], row["owner"], BotKind(row["kind"]))


def _require_welcome(owner: RowMapping) -> None:
    if owner["banned"] is not None:
        raise Banned(f"{owner['name']} was banned: {owner['banned']}")


def _owner_of(connection: Connection, bot: str) -> str:
    """The owner of a bot, who must not be banned."""
    owner = _bot(connection, bot).owner
    _require_welcome(_owner(connection, owner))
    return owner


def _bots(connection: Connection, owner: str) -> Sequence[str]:
    table = schema.bots
    query = select(table.c.name).where(table.c.owner == owner).order_by(table.c.name)
    return connection.execute(query).scalars().all()


def _versions(connection: Connection, bot: str) -> tuple[Version, ...]:
    table, events = schema.versions, schema.version_events
    states: dict[int, RowMapping] = {
        row["number"]: row
        for row in connection.execute(
            select(events).where(events.c.bot == bot).order_by(events.c.id)
        ).mappings()
    }
    rows = connection.execute(select(table).where(table.c.bot == bot).order_by(table.c.number))
    return tuple(
        Version(
            bot=bot,
            number=row["number"],
            sha256=row["sha256"],
            manifest=row["manifest"],
            runtime_sha256=row["runtime_sha256"],
            parent=row["parent"],
            state=Event(states[row["number"]]["event"]),
            reason=states[row["number"]]["reason"],
            since_unix_ms=states[row["number"]]["at_unix_ms"],
        )
        for row in rows.mappings()
    )


def _beginnings(connection: Connection, bot: str, event: Event) -> Sequence[int]:
    """When versions of a bot began so."""
    events = schema.version_events
    query = select(events.c.at_unix_ms).where(events.c.bot == bot, events.c.event == str(event))
    return connection.execute(query).scalars().all()


def _version(connection: Connection, bot: str, number: int) -> Version:
    for version in _versions(connection, bot):
        if version.number == number:
            return version
    raise UnknownVersion(f"there is no version {bot}@{number}")


def _record(
    connection: Connection, version: Version, event: Event, who: str, reason: str, now: datetime
) -> None:
    _insert_event(connection, version, event, who, reason, now)
    before, after = {"state": version.state}, {"state": event, "reason": reason}
    _audit(connection, now, who, f"version {version}", before, after)


def _insert_event(
    connection: Connection, version: Version, event: Event, who: str, reason: str, now: datetime
) -> None:
    connection.execute(
        insert(schema.version_events).values(
            bot=version.bot,
            number=version.number,
            event=str(event),
            at_unix_ms=_unix_ms(now),
            who=who,
            reason=reason,
        )
    )


def _require_quota(connection: Connection, owner: str, event: Event, now: datetime) -> None:
    if event not in QUOTAS:
        return
    events, bots = schema.version_events, schema.bots
    # Clocks may be set back: what lies ahead counts too.
    recent = (
        connection.execute(
            select(events.c.at_unix_ms)
            .join(bots, bots.c.name == events.c.bot)
            .where(
                bots.c.owner == owner,
                bots.c.kind != str(BotKind.REMOTE),
                events.c.event == str(event),
                events.c.at_unix_ms > _unix_ms(now) - DAY_MS,
            )
            .order_by(events.c.at_unix_ms)
        )
        .scalars()
        .all()
    )
    if len(recent) >= QUOTAS[event]:
        free_at = recent[-QUOTAS[event]] + DAY_MS
        raise OverQuota(
            f"{owner} has had {QUOTAS[event]} versions {event} within a day, which is the most",
            free_at - _unix_ms(now),
        )


def _audit(
    connection: Connection, now: datetime, who: str, what: str, before: Any, after: Any
) -> None:
    audit.append(
        connection, at_unix_ms=_unix_ms(now), who=who, what=what, before=before, after=after
    )


def _require_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise ValueError(NAME_RULE)


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _text(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="seconds")


def _unix_ms(now: datetime) -> int:
    if now.tzinfo is None:
        raise ValueError("the time of an event needs a time zone")
    return int(now.timestamp() * 1000)
