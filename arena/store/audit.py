"""What was done by whom, in a chain: a row that is changed or taken out later breaks it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, insert, select

from arena.ladder.draws import digest
from arena.store import schema


def append(
    connection: Connection, *, at_unix_ms: int, who: str, what: str, before: Any, after: Any
) -> None:
    """Add a row to the end of the chain; `before` and `after` are such as JSON can hold."""
    table = schema.audit
    latest = select(table.c.sha256).order_by(table.c.id.desc()).limit(1)
    link = connection.execute(latest).scalar_one_or_none() or ""
    row = {"at_unix_ms": at_unix_ms, "who": who, "what": what, "before": before, "after": after}
    connection.execute(insert(table).values(**row, sha256=_link(link, row)))


def broken(connection: Connection) -> Iterator[str]:
    """What is wrong with the chain, a sentence each."""
    table, link = schema.audit, ""
    for row in connection.execute(select(table).order_by(table.c.id)).mappings():
        if row["sha256"] != _link(link, dict(row)):
            yield f"row {row['id']} of the audit was changed, or one before it was taken out"
        link = row["sha256"]


def _link(before: str, row: Mapping[str, Any]) -> str:
    told = [row[name] for name in ("at_unix_ms", "who", "what", "before", "after")]
    return digest(before, json.loads(json.dumps(told, sort_keys=True)))
