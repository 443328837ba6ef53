"""Official standings in the store: computed once, signed, and never changed."""

from dataclasses import asdict, dataclass

from sqlalchemy import Connection, func, insert, select

from arena.store import schema
from arena.store.rows import dataclass_of, find_rows


@dataclass(frozen=True, slots=True)
class OfficialStandings:
    """Official standings; without key and signature before they are signed."""

    number: int
    """From 1 in each competition."""
    body: str
    """JSON, the text that is signed."""
    record: str
    """JSON Lines of the record that they were computed from, as one text that is passed between processes."""
    inputs_sha256: str
    public_key: str = ""
    """Hexadecimal, as is the signature."""
    signature: str = ""
    at_unix_ms: int = 0


def count(connection: Connection, competition: int) -> int:
    """Return how many official standings a competition has."""
    table = schema.official_standings
    query = select(func.count()).where(table.c.competition == competition)
    return connection.execute(query).scalar_one()


def add(connection: Connection, competition: int, made: OfficialStandings) -> None:
    """Store official standings of the next number."""
    values = {"competition": competition, **asdict(made)}
    connection.execute(insert(schema.official_standings).values(values))


def read(connection: Connection, competition: int, number: int | None) -> OfficialStandings | None:
    """Official standings by their number, or the latest; None if there are none."""
    query = select(schema.official_standings).filter_by(competition=competition)
    if number is None:
        query = query.order_by(schema.official_standings.c.number.desc()).limit(1)
    else:
        query = query.filter_by(number=number)
    rows = find_rows(connection, query)
    return dataclass_of(OfficialStandings, rows[0]) if rows else None
