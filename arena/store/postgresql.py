"""A store in PostgreSQL: how it is told to keep the promises that `arena.store.database` makes.

All writes take one lock of the database, so that writers take turns as in a file; readers see one state and
never wait. Texts are compared by their bytes, as SQLite does, or tables would come out otherwise.

Who may know what is public alone reads views in a schema of their own, which have no more.
"""

import hashlib
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from sqlalchemy import (
    Connection,
    Engine,
    Table,
    cast,
    create_engine,
    event,
    literal_column,
    make_url,
    null,
    select,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from arena.store.errors import StoreBusy, StoreError

SCHEMES: Final = ("postgresql://", "postgres://")
LEAST_VERSION: Final = 15
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtext('cardarena'), hashtext(current_schema()))"
_BUSY: Final = "another program has kept {place} locked for over {timeout_s:g} s"
_SENTENCES: Final[Mapping[str, str]] = {
    "25006": "{place} cannot be written: it is read-only",
    "42501": "{place} cannot be used: its user has no right to",
    "53100": "the disk that holds {place} is full; what was recorded before is safe, so make room "
    "and go on",
    "55P03": _BUSY,
    "40P01": _BUSY,
    "57014": _BUSY,
}
"""By SQLSTATE."""
_IS_BUSY: Final = frozenset({"55P03", "40P01", "57014"})


def is_url(text: str) -> bool:
    """Whether a text names a database of PostgreSQL."""
    return text.startswith(SCHEMES)


def shown(url: str) -> str:
    """The address as it may be told: without a password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except (ArgumentError, ValueError):
        return "the address of the store"


def engine(url: str, busy_timeout_s: float, *, public_only: bool = False) -> Engine:
    """An engine for a database, which does not connect yet.

    With `public_only` it reads nothing but the views that `publish` makes, and writes nothing.

    Raises:
      StoreError: if the address is none, or psycopg is not installed.
    """
    try:
        address = make_url(url).set(drivername="postgresql+psycopg")
        made = create_engine(
            address, connect_args={"connect_timeout": max(2, round(busy_timeout_s))}
        )
    except (ArgumentError, ValueError) as error:  # the latter for a port that is no number
        raise StoreError("the address of the store is not as postgresql://HOST/DATABASE") from error
    except ModuleNotFoundError as error:
        raise StoreError(
            "a store in PostgreSQL needs psycopg: pip install 'cardarena-engine[postgres]'"
        ) from error

    patience_ms = max(1, round(busy_timeout_s * 1000))  # zero would be for ever

    if public_only:

        @event.listens_for(made, "begin")
        def public(connection: Connection) -> None:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            # Of this transaction alone, and nothing behind it: what has no view is not found.
            connection.exec_driver_sql(
                f"SELECT set_config('search_path', quote_ident({_PUBLIC}), true)"
            )

        return made

    @event.listens_for(made, "begin")
    def begun(connection: Connection) -> None:
        if connection.get_execution_options().get(WRITES, False):
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{patience_ms}ms'")
            connection.exec_driver_sql(_LOCK)
        else:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")

    return made


WRITES: Final = "arena_writes"
"""The execution option of a transaction that writes."""


_PUBLIC: Final = "current_schema() || '_pages'"
"""The schema of the views, beside that of the tables."""
_DIGEST: Final = (
    f"SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = {_PUBLIC}"  # noqa: S608
)
"""What the views were made of."""


def publish(
    connection: Connection,
    tables: Sequence[Table],
    secret_tables: AbstractSet[str],
    secret_columns: AbstractSet[tuple[str, str]],
) -> None:
    """Make the views for those who may know what is public: no secret table, and NULL for secret columns."""
    views = _views(tables, secret_tables, secret_columns)
    unpublish(connection)
    here, there = connection.exec_driver_sql(
        f"SELECT quote_ident(current_schema()), quote_ident({_PUBLIC})"
    ).one()
    connection.exec_driver_sql(f"CREATE SCHEMA {there}")
    for name, query in views.items():
        connection.exec_driver_sql(f"CREATE VIEW {there}.{name} AS {query} FROM {here}.{name}")
    connection.exec_driver_sql(f"COMMENT ON SCHEMA {there} IS '{_digest(views)}'")


def unpublish(connection: Connection) -> None:
    """Drop the views: a table that has one cannot be changed."""
    there = connection.exec_driver_sql(f"SELECT quote_ident({_PUBLIC})").scalar_one()
    connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {there} CASCADE")


def is_published(
    connection: Connection,
    tables: Sequence[Table],
    secret_tables: AbstractSet[str],
    secret_columns: AbstractSet[tuple[str, str]],
) -> bool:
    """Whether the views are those that `publish` would make."""
    found = connection.exec_driver_sql(_DIGEST).scalar_one_or_none()
    return found == _digest(_views(tables, secret_tables, secret_columns))


def _views(
    tables: Sequence[Table],
    secret_tables: AbstractSet[str],
    secret_columns: AbstractSet[tuple[str, str]],
) -> dict[str, str]:
    """By its name, what each view selects."""
    from sqlalchemy.dialects import postgresql  # who has a file, and most do, is without it

    made = {}
    for table in tables:
        if table.name in secret_tables:
            continue
        columns = [
            (
                cast(null(), column.type)
                if (table.name, column.name) in secret_columns
                else literal_column(f'"{column.name}"')
            ).label(column.name)
            for column in table.columns
        ]
        made[table.name] = str(select(*columns).compile(dialect=postgresql.dialect()))  # type: ignore[no-untyped-call]
    return made


def _digest(views: Mapping[str, str]) -> str:
    return hashlib.sha256(repr(sorted(views.items())).encode()).hexdigest()


def require_sound(connection: Connection, place: str) -> None:
    """See that a database keeps what the store promises.

    Raises:
      StoreError: if it is too old, or compares texts otherwise than by their bytes.
    """
    version = int((connection.dialect.server_version_info or (0,))[0])
    if version < LEAST_VERSION:
        raise StoreError(f"{place} is PostgreSQL {version}; the arena needs {LEAST_VERSION}")
    order = connection.exec_driver_sql(
        "SELECT datcollate FROM pg_database WHERE datname = current_database()"
    ).scalar_one()
    if order not in {"C", "POSIX", "C.UTF-8"}:
        raise StoreError(
            f"{place} orders texts by {order}, and the arena's tables by their bytes: make it by "
            "createdb --template=template0 --locale=C --encoding=UTF8"
        )


def in_plain_words(error: DBAPIError, place: str, timeout_s: float) -> StoreError | None:
    """The failure as a person can mend it; None if it is a bug."""
    code = str(getattr(error.orig, "sqlstate", None))
    if code in _SENTENCES:
        kind = StoreBusy if code in _IS_BUSY else StoreError
        return kind(_SENTENCES[code].format(place=place, timeout_s=timeout_s))
    if isinstance(error, OperationalError):
        return StoreError(
            f"{place} does not answer: is PostgreSQL running there, and is it let in?"
        )
    return None
