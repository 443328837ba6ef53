"""A store in PostgreSQL, with the guarantees that `arena.store.database` gives for SQLite.

All writers take one advisory lock, so they take turns as in a file. There are no other locks. PostgreSQL is for managed
databases, replication and backups; it adds no throughput. Readers see a snapshot and never wait. Texts are compared by
their bytes, as SQLite does; otherwise standings could have another order.

Public readers use views in a separate schema, which have no secret tables or columns.
"""

import hashlib
from collections.abc import Mapping
from typing import Final

from sqlalchemy import (
    Connection,
    Engine,
    cast,
    create_engine,
    event,
    literal_column,
    make_url,
    null,
    select,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from arena.store import schema
from arena.store.errors import StoreError, store_failure, waited

SCHEMES: Final = ("postgresql://", "postgres://")
LEAST_VERSION: Final = 15
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtext('cardarena'), hashtext(current_schema()))"
_CODES: Final[Mapping[str, str]] = {
    "25006": "S-READONLY",
    "42501": "S-PERM",
    "53100": "S-FULL",
    "55P03": "S-BUSY",
    "40P01": "S-BUSY",
    "57014": "S-BUSY",
}
"""By SQLSTATE."""


def is_url(text: str) -> bool:
    """Return whether a text names a database of PostgreSQL."""
    return text.startswith(SCHEMES)


def shown(url: str) -> str:
    """Return the address without its password, for messages."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except (ArgumentError, ValueError):
        return "the address of the store"


def engine(url: str, busy_timeout_s: float, *, public_only: bool = False) -> Engine:
    """Return an engine for a database, which does not connect yet.

    With `public_only` it only reads the views that `publish` makes.

    Raises `StoreError` if the address is not valid, or psycopg is not installed.
    """
    try:
        address = make_url(url).set(drivername="postgresql+psycopg")
        made = create_engine(
            address, connect_args={"connect_timeout": max(2, round(busy_timeout_s))}
        )
    except (ArgumentError, ValueError) as error:  # the latter for a port that is no number
        raise StoreError(
            "the address of the store is not of the form postgresql://HOST/DATABASE"
        ) from error
    except ModuleNotFoundError as error:
        raise StoreError(
            "a store in PostgreSQL needs psycopg: pip install 'cardarena-engine[postgres]'"
        ) from error

    # A role finds the schema of its own name first, so for `public_pages` the views' schema is the current one.
    views = f"CASE WHEN {_CURRENT_DIGEST} = '{_digest(_views())}' THEN current_schema() ELSE {_PUBLIC} END"
    patience_ms = max(1, round(busy_timeout_s * 1000))  # 0 would be without limit

    @event.listens_for(made, "begin")
    def begun(connection: Connection) -> None:
        if connection.get_execution_options().get(WRITES, False) and not public_only:
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{patience_ms}ms'")
            connection.exec_driver_sql(_LOCK)
            return
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if public_only:
            # For this transaction only, and without the tables' schema: secret tables are not found.
            connection.exec_driver_sql(
                f"SELECT set_config('search_path', quote_ident({views}), true)"
            )

    return made


WRITES: Final = "arena_writes"
"""The execution option of a transaction that writes."""


_PUBLIC: Final = "current_schema() || '_pages'"
"""The name of the schema of the views, and of the role that may read only them."""
_DIGEST: Final = (
    f"SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = {_PUBLIC}"  # noqa: S608
)
"""The digest of the views, stored as a comment of their schema."""
_CURRENT_DIGEST: Final = (
    "obj_description(to_regnamespace(quote_ident(current_schema()))::oid, 'pg_namespace')"
)
_ROLE_READS: Final = (
    f"SELECT has_schema_privilege(oid, {_PUBLIC}, 'USAGE') FROM pg_roles WHERE rolname = {_PUBLIC}"  # noqa: S608
)
"""Whether the role may read the views; no row if an administrator has not made it."""


def publish(connection: Connection) -> None:
    """Make the views for public readers: no secret table, and NULL for secret columns.

    If there is a role with the name of their schema, as `public_pages`, it may read them.
    """
    views = _views()
    unpublish(connection)
    tables, public = connection.exec_driver_sql(
        f"SELECT quote_ident(current_schema()), quote_ident({_PUBLIC})"
    ).one()
    connection.exec_driver_sql(f"CREATE SCHEMA {public}")
    for name, query in views.items():
        connection.exec_driver_sql(f"CREATE VIEW {public}.{name} AS {query} FROM {tables}.{name}")
    connection.exec_driver_sql(f"COMMENT ON SCHEMA {public} IS '{_digest(views)}'")
    if connection.exec_driver_sql(_ROLE_READS).first() is not None:
        # The role needs only the name of the tables' schema; it has no rights to a table.
        connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA {tables}, {public} TO {public}")
        connection.exec_driver_sql(f"GRANT SELECT ON ALL TABLES IN SCHEMA {public} TO {public}")


def unpublish(connection: Connection) -> None:
    """Drop the views, because a table with a view cannot be changed."""
    public = connection.exec_driver_sql(f"SELECT quote_ident({_PUBLIC})").scalar_one()
    connection.exec_driver_sql(f"DROP SCHEMA IF EXISTS {public} CASCADE")


def is_published(connection: Connection) -> bool:
    """Return whether the views are those that `publish` would make, and their role may read them."""
    if connection.exec_driver_sql(_DIGEST).scalar_one_or_none() != _digest(_views()):
        return False
    return connection.exec_driver_sql(_ROLE_READS).scalar_one_or_none() is not False


def _views() -> dict[str, str]:
    """Return the query of each view, by the name of its table."""
    from sqlalchemy.dialects import postgresql  # costs time that a store in a file need not spend

    made = {}
    for table in (*schema.METADATA.sorted_tables, schema.revision):
        if table.name in schema.SECRET_TABLES:
            continue
        columns = [
            (
                cast(null(), column.type)
                if (table.name, column.name) in schema.SECRET_COLUMNS
                else literal_column(f'"{column.name}"')
            ).label(column.name)
            for column in table.columns
        ]
        made[table.name] = str(select(*columns).compile(dialect=postgresql.dialect()))  # type: ignore[no-untyped-call]
    return made


def _digest(views: Mapping[str, str]) -> str:
    return hashlib.sha256(repr(sorted(views.items())).encode()).hexdigest()


def require_sound(connection: Connection, place: str) -> None:
    """Require a database that can give the guarantees of the store.

    Raises `StoreError` if its version is too old, or it does not compare texts by their bytes.
    """
    version = int((connection.dialect.server_version_info or (0,))[0])
    if version < LEAST_VERSION:
        raise StoreError(f"{place} is PostgreSQL {version}; the arena needs {LEAST_VERSION}")
    order = connection.exec_driver_sql(
        "SELECT datcollate FROM pg_database WHERE datname = current_database()"
    ).scalar_one()
    if order not in {"C", "POSIX", "C.UTF-8"}:
        raise StoreError(
            f"{place} orders texts by {order}, but the arena needs the order of bytes: make it with "
            "createdb --template=template0 --locale=C --encoding=UTF8"
        )


def answering_version(url: str, timeout_s: float) -> str:
    """Return the version of the server at an address, after the checks of `require_sound`.

    Raises `StoreError` if no server answers, or it cannot have a store.
    """
    place, made = shown(url), engine(url, timeout_s)
    try:
        with made.connect() as connection:
            require_sound(connection, place)
            return ".".join(map(str, connection.dialect.server_version_info or ()))
    except DBAPIError as error:
        raise as_store_error(error, place, timeout_s) or error from error
    finally:
        made.dispose()


def as_store_error(error: DBAPIError, place: str, timeout_s: float) -> StoreError | None:
    """Return the `StoreError` of a failure that an operator can fix; None if it is a bug."""
    code = _CODES.get(str(getattr(error.orig, "sqlstate", None)))
    if code is None and isinstance(error, OperationalError):
        code = "S-NO-ANSWER"
    return None if code is None else store_failure(code, place, waited(code, timeout_s))
