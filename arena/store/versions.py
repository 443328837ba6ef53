"""Versions of bots: their rows and events, read and written within a transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection, insert, select

from arena.errors import RefusalError
from arena.results.versions import VersionEvent
from arena.store import audit, schema
from arena.store.errors import StoreError
from arena.store.moments import unix_ms
from arena.store.rows import dataclass_of, find_rows

DAY_MS: Final = 24 * 3600 * 1000
QUOTAS: Final[Mapping[VersionEvent, int]] = {VersionEvent.SUBMITTED: 10, VersionEvent.ACTIVE: 3}
"""The maximal number of each event for one owner's bots in a day."""


class Unknown(StoreError):
    """There is no such owner, bot or version."""


class UnknownVersion(RefusalError, Unknown, reason="UNKNOWN_VERSION"):
    """There is no such version."""


class OverQuota(RefusalError, StoreError, reason="OVER_QUOTA"):
    """The owner's quota for a day is used up; `retry_s` is the number of seconds until it is available again."""

    def __init__(self, detail: str, retry_s: float = 0.0) -> None:
        super().__init__(detail)
        self.retry_s = retry_s


class BotKind(StrEnum):
    """How a bot is connected to its matches."""

    UPLOADED = "uploaded"
    REMOTE = "remote"
    COMMAND = "command"


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
    """The time when it entered that state, in Unix milliseconds."""

    def __str__(self) -> str:
        return f"{self.bot}@{self.number}"


def read_versions(connection: Connection, bot: str) -> tuple[Version, ...]:
    """Return the versions of a bot, oldest first."""
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


def active_version(versions: Sequence[Version]) -> Version | None:
    """Return the version that plays, if one does."""
    return next((version for version in versions if version.state is VersionEvent.ACTIVE), None)


def next_version(
    bot: str,
    versions: Sequence[Version],
    sha256: str,
    manifest: Mapping[str, Any],
    state: VersionEvent,
    runtime_sha256: str = "",
) -> Version:
    """Return the next version of a bot; its parent is the active one."""
    number = 1 + max((version.number for version in versions), default=0)
    active = active_version(versions)
    parent = None if active is None else active.number
    return Version(bot, number, sha256, dict(manifest), runtime_sha256, parent, state)


def insert_version(connection: Connection, new: Version, who: str, now: datetime) -> None:
    """Insert a new version with its first event."""
    columns = ("bot", "number", "sha256", "manifest", "runtime_sha256", "parent")
    values = {name: getattr(new, name) for name in columns}
    connection.execute(insert(schema.versions).values(values))
    _insert_event(connection, new, new.state, who, "", now)


def times_of_event(connection: Connection, bot: str, event: VersionEvent) -> Sequence[int]:
    """Return when an event happened to versions of a bot, in milliseconds since 1970."""
    events = schema.version_events
    query = select(events.c.at_unix_ms).where(events.c.bot == bot, events.c.event == str(event))
    return connection.execute(query).scalars().all()


def read_version(connection: Connection, bot: str, number: int) -> Version:
    """Return a version by its number. Raises `UnknownVersion` if there is none."""
    for version in read_versions(connection, bot):
        if version.number == number:
            return version
    raise UnknownVersion(f"{bot}@{number}")


def record_event(
    connection: Connection,
    version: Version,
    event: VersionEvent,
    who: str,
    reason: str,
    now: datetime,
) -> None:
    """Record an event of a version, and add it to the audit."""
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


def require_quota(connection: Connection, owner: str, event: VersionEvent, now: datetime) -> None:
    """Require that an event may happen to an owner's bots today.

    Raises `OverQuota` if it happened as often as a day allows.
    """
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
