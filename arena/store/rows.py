"""Reading rows of the store's tables, and turning them into dataclasses."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import Connection, RowMapping, Select, Table, bindparam, select

_T = TypeVar("_T")


def find_row(connection: Connection, table: Table, /, **values: object) -> RowMapping | None:
    """Return the row with these values by column; None if there is none.

    Raises `MultipleResultsFound` if there are several, which is a bug of the caller.
    """
    query = _with_values(table, tuple((column, value is None) for column, value in values.items()))
    return connection.execute(query, values).mappings().one_or_none()


@functools.cache
def _with_values(table: Table, columns: Sequence[tuple[str, bool]]) -> Select[Any]:
    """Return a query of the rows with parameters' values in some columns, and NULL in others."""
    values: dict[str, Any] = {
        column: None if is_none else bindparam(column) for column, is_none in columns
    }
    return select(table).filter_by(**values)


def find_rows(
    connection: Connection, query: Select[Any], values: Mapping[str, Any] | None = None
) -> Sequence[RowMapping]:
    """Return all rows of a query; `values` are those of its parameters."""
    return connection.execute(query, values).mappings().all()


def dataclass_of(kind: type[_T], row: RowMapping, /, **changed: object) -> _T:
    """Return the dataclass whose fields are the columns of their names.

    `changed` are the fields whose values differ from their columns.
    """
    names = [field.name for field in fields(kind) if field.name not in changed]  # type: ignore[arg-type]
    return kind(**{name: row[name] for name in names}, **changed)
