"""The database of a store: connections, transactions, and the schema's revision.

SQLite runs with a write-ahead log, so that readers never wait for the writer; with a full sync at a
commit, so that a power cut loses nothing, unless the caller does without it; and writers take the lock when they begin,
so that none fails half-way. `arena.store.postgresql` does the same for PostgreSQL.
"""

import contextlib
import logging
import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection as SqliteConnection
from typing import Final
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, inspect, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from arena.store import postgresql, schema
from arena.store.errors import StoreError, as_store_errors, store_failure
from arena.store.postgresql import WRITES
from arena.store.schema import HEAD, METADATA, revision

BUSY_TIMEOUT_S: Final = 5.0
"""How long to wait for another program's lock."""

CACHE_KIB: Final = 8192
"""The maximal page cache of each connection, in KiB.

Rows are found by random ids: with 512 KiB 12,012 deal-sets took the arena a tenth more (`python -m bench.scheduling
12012 12`).
"""
PUBLIC_CACHE_KIB: Final = 512
"""The same for connections of web pages. The system caches the pages of the file too."""

CHECKED_BYTES: Final = 32 * 2**20
"""A file of up to this size is checked for damage when it is opened, which takes up to 0.1 s."""

_log = logging.getLogger(__name__)


URL_FILE: Final = "store-url"
"""The file with the address of a store in PostgreSQL, in the folder where the store's own file would be."""


def url_beside(path: Path) -> str:
    """Return the address of a store in PostgreSQL; empty if the store is a file.

    Raises `StoreError` if it cannot be read.
    """
    place = path.with_name(URL_FILE)
    try:
        return place.read_text("utf-8").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreError(f"{place} cannot be read: {error.strerror}") from error


def is_there(path: Path) -> bool:
    """Return whether a store exists: its file, or the address of its database.

    Raises `StoreError` if the address cannot be read.
    """
    return path.exists() or bool(url_beside(path))


def kept_at(path: Path) -> Path:
    """Return the file that a folder needs to find its store: the store's own, or that with the address.

    Raises `StoreError` if the address cannot be read.
    """
    return path.with_name(URL_FILE) if url_beside(path) else path


def require_url(url: str) -> None:
    """Require the address of a store in PostgreSQL. Raises `StoreError` if it is not one."""
    if not postgresql.is_url(url):
        raise StoreError("the address of a store has the form postgresql://HOST/DATABASE")


def keep_in(url: str, path: Path) -> None:
    """Place a new store in PostgreSQL.

    Raises `StoreError` if the address is not one of PostgreSQL, or the store exists in another place.
    """
    require_url(url)
    stored = url_beside(path)
    if stored == url:
        return
    if stored or path.exists():
        where = postgresql.shown(stored) if stored else path
        raise StoreError(
            f"the store of this folder is {where}: use another folder for another store"
        )
    place = path.with_name(URL_FILE)
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        # The address may contain a password.
        with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{url}\n")
    except OSError as error:
        raise StoreError(f"{place} cannot be written: {error.strerror}") from error


class Database:
    """A file or a database, with transactions that read or write. Any thread may call; writers take turns."""

    def __init__(
        self, path: Path, busy_timeout_s: float, *, public_only: bool = False, url: str = ""
    ) -> None:
        """With `public_only` nothing can be written, and nothing secret can be read.

        `url` is the address of a store in PostgreSQL, in place of the one in the folder.

        Raises `StoreError` if it cannot be opened.
        """
        url = url or url_beside(path)
        self._file: Final = None if url else path
        self.path: Final = postgresql.shown(url) if url else path
        """The file, or the address without a password, for messages."""
        self._busy_timeout_s = busy_timeout_s
        self._writer = threading.Lock()
        self._version_reader: SqliteConnection | None = None
        if url:
            self._engine = postgresql.engine(url, busy_timeout_s, public_only=public_only)
        else:
            if not public_only:
                _keep_private(path)
            self._engine = (_public_engine if public_only else _engine)(path, busy_timeout_s)
        self._writing = self._engine.execution_options(**{WRITES: True})
        self._writing_unsynced = self._writing.execution_options(**{_UNSYNCED: True})

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Run the block in a transaction that reads one snapshot. Raises `StoreError` if the file cannot be read."""
        with self._as_store_errors(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self, *, synced: bool = True) -> Iterator[Connection]:
        """Run the block in a transaction that is on disk when the block ends, or rolled back if it raises.

        In a file, a transaction that is not `synced` survives this process at once, and a power cut with the next
        synced one. So nothing that depends on a lost one is known to anybody. A database syncs all transactions.

        Raises `StoreError` if the file cannot be written.
        """
        engine = self._writing if synced else self._writing_unsynced
        with self._writer, self._as_store_errors(), engine.begin() as connection:
            yield connection

    @contextmanager
    def _as_store_errors(self) -> Iterator[None]:
        if self._file is not None:
            with as_store_errors(self.path, self._busy_timeout_s):
                yield
            return
        try:
            yield
        except DBAPIError as error:
            failure = postgresql.as_store_error(error, str(self.path), self._busy_timeout_s)
            if failure is None:
                raise
            raise failure from error

    def close(self) -> None:
        """Close the file, and write its write-ahead log into it."""
        self._engine.dispose()
        if self._version_reader is not None:
            self._version_reader.close()

    def version(self) -> int | None:
        """Return a number that changes with each commit of any process; None if the database has none."""
        if self._file is None:
            return None
        try:
            if self._version_reader is None:
                # It never writes: SQLite reports the commits of other connections only.
                self._version_reader = _read_only(self._file, 0.0)
            (version,) = self._version_reader.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            return None
        return int(version)

    def require_present(self) -> None:
        """Require the present schema. Raises `StoreError` if the schema is another, or the file cannot be read."""
        with self.reading() as connection:
            found = self._revision(connection)
        if found is None:
            raise StoreError(
                f"{self.path} has no tables yet: start the arena once, or run `arena status`"
            )
        if found != HEAD:
            raise StoreError(
                f"{self.path} was written by another version of the arena: "
                "`arena status` or `arena match list` of this version migrates an older file"
            )

    def prepare(self) -> None:
        """Make or migrate the tables to the present schema. Raises `StoreError` as `open_store` does."""
        with self.reading() as connection:
            self._require_sound(connection)
            if self._revision(connection) == HEAD and self._is_published(connection):
                return
        with self.writing() as connection:
            # The revision is read again, because another program may have been faster.
            found = self._revision(connection)
            if found is None:
                METADATA.create_all(connection)
                revision.create(connection)
                connection.execute(insert(revision).values(version_num=HEAD))
            elif found != HEAD:
                if self._file is None:
                    postgresql.unpublish(connection)
                self._upgrade(connection, found)
            if not self._is_published(connection):
                postgresql.publish(connection)

    def _is_published(self, connection: Connection) -> bool:
        """Return whether public readers can read the tables; of a file they always can."""
        return self._file is not None or postgresql.is_published(connection)

    def _require_sound(self, connection: Connection) -> None:
        if self._file is None:
            postgresql.require_sound(connection, str(self.path))
            return
        if self._file.stat().st_size > CHECKED_BYTES:
            return
        if connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one() != "ok":
            raise store_failure("S-CORRUPT", self.path)

    def _revision(self, connection: Connection) -> str | None:
        """Return the schema's revision; None without tables, "" if the table of the revision is empty."""
        known = inspect(connection)
        tables = [*known.get_table_names(), *known.get_view_names()]
        if not tables:
            return None
        if revision.name not in tables:
            raise store_failure("S-FOREIGN", self.path)
        return connection.execute(select(revision.c.version_num)).scalar_one_or_none() or ""

    def _upgrade(self, connection: Connection, found: str) -> None:
        # Imported late, as Alembic takes longer to import than opening a store.
        from arena.store import upgrade

        if not found or not upgrade.knows(found):
            schemas = f"schema {found or 'unknown'}, not {HEAD}"
            raise store_failure("S-VERSION", self.path, schemas)
        upgrade.to_head(connection)


def _keep_private(path: Path) -> None:
    """Restrict a store to its owner: it has the seeds of competitions, and scores of boards in play.

    SQLite makes its other files with the same mode. An existing file is not opened for this: closing it
    would release the process's locks on it.
    """
    with contextlib.suppress(OSError):  # the error of opening the database is better
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
                mode = stat.S_IMODE(file.stat().st_mode)
                if mode & 0o077:
                    file.chmod(mode & 0o700)
                    _log.warning("others could open what is secret", extra={"path": str(file)})


_READING: Final = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_TRANSACTION}
)


def may_read(action: int, table: str | None, column: str | None, *_: str | None) -> int:
    """SQLite's authorizer for public readers: secret columns are read as NULL, all else is denied."""
    # SQLAlchemy reads this pragma when it connects.
    asks = action == sqlite3.SQLITE_PRAGMA and table == "read_uncommitted" and column is None
    if action in _READING or asks:
        return sqlite3.SQLITE_OK
    if action != sqlite3.SQLITE_READ or table in schema.SECRET_TABLES:
        return sqlite3.SQLITE_DENY
    secret = (table, column) in schema.SECRET_COLUMNS
    return sqlite3.SQLITE_IGNORE if secret else sqlite3.SQLITE_OK


_UNSYNCED: Final = "arena_unsynced"
"""The execution option of a transaction that waits for no sync."""
_CACHE: Final = "PRAGMA cache_size = {}"  # below zero it is KiB, else pages


def _read_only(path: Path, timeout_s: float) -> SqliteConnection:
    return sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?mode=ro",
        timeout=timeout_s,
        isolation_level=None,
        check_same_thread=False,
        uri=True,
    )


def _public_engine(path: Path, busy_timeout_s: float) -> Engine:
    def connect() -> SqliteConnection:
        connection = _read_only(path, busy_timeout_s)
        connection.execute(_CACHE.format(-PUBLIC_CACHE_KIB))
        connection.set_authorizer(may_read)
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool)

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def _engine(path: Path, busy_timeout_s: float) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)), connect_args={"timeout": busy_timeout_s}
    )

    @event.listens_for(engine, "connect")
    def connected(connection: SqliteConnection, _: ConnectionPoolEntry) -> None:
        # Otherwise the driver begins a transaction only at the first change.
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(_CACHE.format(-CACHE_KIB))

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        options = connection.get_execution_options()
        # The driver executes it, because through SQLAlchemy it takes longer than a statement of the transaction.
        cursor = connection.connection.cursor()
        cursor.execute(f"PRAGMA synchronous = {'NORMAL' if _UNSYNCED in options else 'FULL'}")
        cursor.execute("BEGIN IMMEDIATE" if WRITES in options else "BEGIN")

    return engine
