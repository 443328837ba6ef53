"""The events of webhooks, which are read from tables that the store has for other purposes.

There is no second list that could differ: qualifications are events of versions, actions of organisers are in the
audit, and crashes are faults of matches. For each table a place says how far it was read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Table, func, or_, select

from arena.results.deal_sets import bot_of
from arena.results.versions import VersionEvent
from arena.store import schema
from arena.store.rows import find_rows

MOST: Final = 500
"""The number of rows of a table that are read at a time."""
LATE_MS: Final = 60_000
"""The longest time from the end of a match to its record, in milliseconds."""
CRASHES_MS: Final = 600_000
"""The time in milliseconds in which repeated crashes of a bot make one event."""
TEST: Final = "test"
OVERTAKEN: Final = "overtaken"
_OF_VERSION: Final = {VersionEvent.QUALIFIED: "qualified", VersionEvent.REJECTED: "failed"}
_OF_ACTION: Final = {"start": "begun", "freeze": "frozen", "finish": "finished"}
_CRASHES: Final = ("gone", "error")
"""Faults of a bot that is not there, or whose code fails."""

Places = dict[str, Any]
"""The position up to which each source was read."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened."""

    id: str
    """The id, which is the same at each reading."""
    type: str
    at_unix_ms: int
    data: Mapping[str, Any]
    owners: frozenset[str]
    """The owners whose bots it concerns."""
    competition: str = ""
    """The competition whose webhooks get it; empty for none."""


def ends(connection: Connection) -> Places:
    """Return the places after all events so far."""
    latest = connection.execute(select(func.max(schema.matches.c.ended_unix_ms))).scalar_one()
    places = {
        table.name: connection.execute(select(func.max(table.c.id))).scalar_one() or 0
        for table in (schema.version_events, schema.audit)
    }
    return places | {schema.matches.name: latest or 0}


def events_after(connection: Connection, places: Places) -> tuple[list[Event], Places]:
    """Return the events after places, and the places after them. A crash may be read twice, with the same id."""
    now = ends(connection)
    events = [
        *_qualifications(connection, places, now),
        *_actions(connection, places, now),
        *_crashes(connection, places, now),
    ]
    return events, now


def _rows(connection: Connection, table: Table, places: Places, now: Places, which: Any) -> Any:
    """Return the rows of a table after its place; if there are too many, `now` is set to the last of these."""
    after, until = places[table.name], now[table.name]
    query = select(table).where(table.c.id > after, table.c.id <= until, which)
    rows = find_rows(connection, query.order_by(table.c.id).limit(MOST))
    if len(rows) == MOST:
        now[table.name] = rows[-1]["id"]
    return rows


def _qualifications(connection: Connection, places: Places, now: Places) -> Iterator[Event]:
    table = schema.version_events
    which = table.c.event.in_([*map(str, _OF_VERSION)])
    for row in _rows(connection, table, places, now, which):
        data = {"bot": row["bot"], "version": row["number"], "summary": row["reason"]}
        kind = _OF_VERSION[VersionEvent(row["event"])]
        owners = _owners(connection, {row["bot"]}).values()
        yield Event(f"version-{row['id']}", kind, row["at_unix_ms"], data, frozenset(owners))


def _actions(connection: Connection, places: Places, now: Places) -> Iterator[Event]:
    table, entrants = schema.audit, schema.entrants
    which = or_(*(table.c.what.startswith(f"{action} competition ") for action in _OF_ACTION))
    for row in _rows(connection, table, places, now, which):
        action, _, name = row["what"].split(" ", 2)
        in_it = (
            select(entrants.c.owner)
            .join(schema.competitions, schema.competitions.c.id == entrants.c.competition)
            .where(schema.competitions.c.name == name)
        )
        owners = frozenset(connection.execute(in_it).scalars())
        data = {"competition": name}
        yield Event(
            f"action-{row['id']}", _OF_ACTION[action], row["at_unix_ms"], data, owners, name
        )


def _crashes(connection: Connection, places: Places, now: Places) -> Iterator[Event]:
    """Return the crashes of bots. They name no match, because the matches of an open deal-set are secret."""
    matches, seats, faults = schema.matches, schema.match_seats, schema.faults
    if places[matches.name] == now[matches.name]:
        return
    query = (
        select(seats.c.bot, matches.c.game, matches.c.ended_unix_ms, faults.c.kind)
        .join(seats, seats.c.match == matches.c.id)
        .join(faults, (faults.c.match == matches.c.id) & (faults.c.seat == seats.c.seat))
        .where(
            matches.c.ended_unix_ms > places[matches.name] - LATE_MS, faults.c.kind.in_(_CRASHES)
        )
        .order_by(matches.c.ended_unix_ms)
    )
    rows = find_rows(connection, query)
    owners = _owners(connection, {bot_of(row["bot"]) for row in rows})
    for row in rows:
        bot, at_unix_ms = bot_of(row["bot"]), row["ended_unix_ms"]
        if bot in owners:
            data = {"bot": bot, "game": row["game"], "fault": row["kind"]}
            yield Event(
                f"crash-{bot}-{at_unix_ms // CRASHES_MS}",
                "crashed",
                at_unix_ms,
                data,
                frozenset({owners[bot]}),
            )


def _owners(connection: Connection, bots: set[str]) -> dict[str, str]:
    """Return the owners of registered bots, by bot."""
    table = schema.bots
    rows = connection.execute(select(table.c.name, table.c.owner).where(table.c.name.in_(bots)))
    return {row.name: row.owner for row in rows}
