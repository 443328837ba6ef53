"""A store in PostgreSQL: how it is told to keep the promises that `arena.store.database` makes.

All writes take one lock of the database, so that writers take turns as in a file; readers see one state and
never wait. Texts are compared by their bytes, as SQLite does, or tables would come out otherwise.
"""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import Connection, Engine, create_engine, event, make_url
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


def engine(url: str, busy_timeout_s: float) -> Engine:
    """An engine for a database, which does not connect yet.

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
