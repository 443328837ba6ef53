"""The audit: the actions of people, as a hash chain. Changing or removing a row breaks the chain."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from arena.results.deal_sets import digest
from arena.store import schema
from arena.store.moments import unix_ms


def append(
    connection: Connection, now: datetime, who: str, what: str, before: Any, after: Any
) -> None:
    """Append a row; `before` and `after` are JSON values."""
    table = schema.audit
    latest = select(table.c.sha256).order_by(table.c.id.desc()).limit(1)
    link = connection.execute(latest).scalar_one_or_none() or ""
    row = {"at_unix_ms": unix_ms(now), "who": who, "what": what, "before": before, "after": after}
    connection.execute(insert(table).values(**row, sha256=_link(link, row)))


def broken(connection: Connection) -> Iterator[str]:
    """Yield the places where the chain is broken, in sentences."""
    table, link = schema.audit, ""
    for row in connection.execute(select(table).order_by(table.c.id)).mappings():
        if row["sha256"] != _link(link, dict(row)):
            yield f"row {row['id']} of the audit was changed, or one before it was removed"
        link = row["sha256"]


def _link(before: str, row: Mapping[str, Any]) -> str:
    values = [row[name] for name in ("at_unix_ms", "who", "what", "before", "after")]
    return digest(before, json.loads(json.dumps(values, sort_keys=True)))
