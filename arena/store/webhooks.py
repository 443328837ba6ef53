"""Webhooks: the owners, events and addresses, and the queue of deliveries.

An event is queued in the transaction that moves the places of its source, so it is queued once. It is sent at least
once: an attempt counts when its answer is stored.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection, RowMapping, delete, func, insert, select, update

from arena.errors import RefusalError
from arena.store import events, schema
from arena.store.database import Database
from arena.store.errors import StoreError
from arena.store.events import Event, events_after
from arena.store.moments import unix_ms
from arena.store.rows import dataclass_of, find_row, find_rows

MOST_OF_OWNER: Final = 5
"""The maximal number of webhooks of an owner or organiser."""
MOST_WAITING: Final = 1_000
"""The maximal number of waiting deliveries of a webhook; with one more it is switched off."""
BACK_OFF_S: Final = (10, 60, 300, 1_800, 7_200, 21_600, 43_200)
"""Seconds from each failed attempt to the next one; after the last attempt the delivery is given up."""
MOST_FAILURES: Final = 16
"""The number of failed attempts in a row after which a webhook is switched off."""
KEPT_MS: Final = 86_400_000
"""Milliseconds for which a delivery is kept after it was sent or given up: so an event that is read twice is sent once."""


class NoWebhook(RefusalError, StoreError, reason="UNKNOWN_WEBHOOK"):
    """The owner has no webhook of that number."""


class TooManyWebhooks(RefusalError, StoreError, reason="TOO_MANY_WEBHOOKS"):
    """The owner has as many webhooks as allowed."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook, without its secret."""

    id: int
    owner: str
    competition: str
    """The competition whose events it gets; empty for events of the owner's bots."""
    url: str
    created_unix_ms: int
    failures: int
    """The number of failed attempts since one succeeded."""
    off: str
    """Why nothing is sent any more; empty while it is."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """An attempt that is due."""

    webhook: int
    event: str
    body: str
    tries: int
    """The number of earlier attempts."""
    url: str
    secret: str


class Webhooks:
    """The webhooks of a store. Calls block on the disk; any thread may call.

    Raises:
      NoWebhook: from any method with an owner and a number, if that owner has none of that number.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, owner: str, competition: str, url: str, secret: str, *, now: datetime) -> Webhook:
        """Add a webhook, which gets the events from now on.

        Raises:
          TooManyWebhooks: if the owner has `MOST_OF_OWNER`.
        """
        table = schema.webhooks
        with self._database.writing() as connection:
            if len(_of(connection, owner)) >= MOST_OF_OWNER:
                raise TooManyWebhooks(f"{owner} has {MOST_OF_OWNER}; delete one first")
            if connection.execute(select(table.c.id).limit(1)).first() is None:
                # Earlier events were sent to no webhook.
                _set_places(connection, events.ends(connection))
            number: int = connection.execute(
                insert(table)
                .values(
                    owner=owner,
                    competition=competition,
                    url=url,
                    secret=secret,
                    created_unix_ms=unix_ms(now),
                    due_unix_ms=0,
                    failures=0,
                    off="",
                )
                .returning(table.c.id)
            ).scalar_one()
            return _webhook(connection, owner, number)

    def of_owner(self, owner: str) -> tuple[Webhook, ...]:
        """Return the webhooks of an owner or organiser, the oldest first."""
        with self._database.reading() as connection:
            return tuple(_of(connection, owner))

    def remove(self, owner: str, number: int) -> None:
        """Remove a webhook and its waiting deliveries."""
        deliveries = schema.webhook_deliveries
        with self._database.writing() as connection:
            _webhook(connection, owner, number)
            connection.execute(delete(deliveries).filter_by(webhook=number))
            connection.execute(delete(schema.webhooks).filter_by(id=number))

    def test(self, owner: str, number: int, *, now: datetime) -> Webhook:
        """Queue an event without content, and switch the webhook on if it was off."""
        with self._database.writing() as connection:
            hook = _webhook(connection, owner, number)
            _set(connection, number, failures=0, off="", due_unix_ms=0)
            at = unix_ms(now)
            event = Event(f"test-{number}-{at}", events.TEST, at, {"url": hook.url}, frozenset())
            _queue(connection, number, event, at)
            return _webhook(connection, owner, number)

    def audience(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the owners and the competitions that have a webhook that is on."""
        with self._database.reading() as connection:
            hooks = [hook for hook in _of(connection) if not hook.off]
        competitions = frozenset(hook.competition for hook in hooks) - {""}
        return frozenset(hook.owner for hook in hooks if not hook.competition), competitions

    def collect(self, *, now: datetime) -> None:
        """Queue the events since the last call."""
        with self._database.reading() as connection:
            if connection.execute(select(schema.webhooks.c.id).limit(1)).first() is None:
                return
            places = _places(connection)
            if events_after(connection, places) == ([], places):
                return
        with self._database.writing() as connection:
            happened, then = events_after(connection, _places(connection))
            _queue_all(connection, happened, now)
            _set_places(connection, then)

    def place(self, source: str) -> Any:
        """Return how far a source of events was read; None if it was not read."""
        with self._database.reading() as connection:
            row = find_row(connection, schema.event_places, source=source)
            return None if row is None else row["place"]

    def move(self, source: str, place: Any, happened: Sequence[Event], *, now: datetime) -> None:
        """Queue events that were read from a source, and note how far it was read."""
        with self._database.writing() as connection:
            _queue_all(connection, happened, now)
            _set_places(connection, {source: place})

    def due(self, *, now: datetime, most: int) -> tuple[tuple[Delivery, ...], int | None]:
        """Return the attempts that are due, at most one of an owner, and the time of the next one in milliseconds since 1970."""
        table, hooks = schema.webhook_deliveries, schema.webhooks
        first = select(func.min(table.c.id)).where(table.c.waits).group_by(table.c.webhook)
        query = (
            select(table, hooks.c.owner, hooks.c.url, hooks.c.secret, hooks.c.due_unix_ms)
            .join(hooks, hooks.c.id == table.c.webhook)
            .where(table.c.id.in_(first), hooks.c.off == "")
            .order_by(hooks.c.due_unix_ms, table.c.id)
        )
        earliest: dict[str, RowMapping] = {}
        with self._database.reading() as connection:
            for row in find_rows(connection, query):
                earliest.setdefault(row["owner"], row)
        rows = [row for row in earliest.values() if row["due_unix_ms"] <= unix_ms(now)]
        following = min((row["due_unix_ms"] for row in earliest.values()), default=None)
        return tuple(dataclass_of(Delivery, row) for row in rows[:most]), following

    def settle(
        self, delivery: Delivery, problem: str, wait_s: float, *, now: datetime, off: str = ""
    ) -> None:
        """Note how an attempt ended.

        Args:
          delivery: The delivery that was attempted.
          problem: Why the receiver did not accept it; empty if it did.
          wait_s: How long to wait before the next attempt of this webhook, in seconds.
          now: The time.
          off: Why nothing more is sent to this webhook; empty to continue.
        """
        table, at = schema.webhook_deliveries, unix_ms(now)
        with self._database.writing() as connection:
            row = find_row(connection, schema.webhooks, id=delivery.webhook)
            if row is None:
                return  # it was removed during the attempt
            tries = delivery.tries + 1
            waits = bool(problem) and tries <= len(BACK_OFF_S)
            of = {"webhook": delivery.webhook, "event": delivery.event}
            connection.execute(update(table).filter_by(**of).values(tries=tries, waits=waits))
            failures = row["failures"] + 1 if problem else 0
            off = off or row["off"]
            if failures >= MOST_FAILURES:
                off = f"{failures} attempts in a row failed, the last one because {problem}"
            due = at + round(wait_s * 1000)
            _set(connection, delivery.webhook, failures=failures, off=off, due_unix_ms=due)
            settled = ~table.c.waits & (table.c.made_unix_ms < at - KEPT_MS)
            connection.execute(delete(table).where(settled))


def _queue_all(connection: Connection, happened: Iterable[Event], now: datetime) -> None:
    """Queue each event for the webhooks that it concerns."""
    hooks = [hook for hook in _of(connection) if not hook.off]
    waiting = _waiting(connection)
    for event in happened:
        for hook in hooks:
            is_told = (
                hook.competition == event.competition
                if hook.competition
                else hook.owner in event.owners
            )
            if not is_told or event.at_unix_ms < hook.created_unix_ms:
                continue
            waits = waiting[hook.id] = waiting.get(hook.id, 0) + 1
            if waits > MOST_WAITING:
                _set(connection, hook.id, off=f"more than {MOST_WAITING:,} deliveries waited")
            else:
                _queue(connection, hook.id, event, unix_ms(now))


def _queue(connection: Connection, number: int, event: Event, now_unix_ms: int) -> None:
    table = schema.webhook_deliveries
    if find_row(connection, table, webhook=number, event=event.id) is None:
        at = datetime.fromtimestamp(event.at_unix_ms / 1000, UTC).isoformat(timespec="milliseconds")
        body = {"id": event.id, "type": event.type, "timestamp": at, "data": dict(event.data)}
        connection.execute(
            insert(table).values(
                webhook=number,
                event=event.id,
                body=json.dumps(body, ensure_ascii=False, separators=(",", ":")),
                tries=0,
                made_unix_ms=now_unix_ms,
                waits=True,
            )
        )


def _waiting(connection: Connection) -> dict[int, int]:
    """Return how many deliveries wait, by webhook."""
    table = schema.webhook_deliveries
    query = select(table.c.webhook, func.count().label("waits")).where(table.c.waits)
    rows = connection.execute(query.group_by(table.c.webhook))
    return {row.webhook: row.waits for row in rows}


def _of(connection: Connection, owner: str | None = None) -> list[Webhook]:
    table = schema.webhooks
    query = select(table).order_by(table.c.id)
    if owner is not None:
        query = query.where(table.c.owner == owner)
    return [dataclass_of(Webhook, row) for row in find_rows(connection, query)]


def _webhook(connection: Connection, owner: str, number: int) -> Webhook:
    row = find_row(connection, schema.webhooks, id=number, owner=owner)
    if row is None:
        raise NoWebhook(f"{owner} has no webhook {number}")
    return dataclass_of(Webhook, row)


def _set(connection: Connection, number: int, **values: object) -> None:
    connection.execute(update(schema.webhooks).filter_by(id=number).values(**values))


def _places(connection: Connection) -> dict[str, Any]:
    """Return the places of the tables; for a table without one, its end."""
    rows = {
        row["source"]: row["place"] for row in find_rows(connection, select(schema.event_places))
    }
    return {name: rows.get(name, end) for name, end in events.ends(connection).items()}


def _set_places(connection: Connection, places: Mapping[str, Any]) -> None:
    table = schema.event_places
    for source, place in places.items():
        connection.execute(delete(table).filter_by(source=source))
        connection.execute(insert(table).values(source=source, place=place))
