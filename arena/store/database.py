"""Opening the store: how SQLite is told to keep its promises, and which schema there is.

A write-ahead log, so that readers never wait for the writer. A full sync at every
commit, so that a power cut loses nothing that was recorded. Writers take the lock
when they begin, so that none fails half-way.
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

from arena.store import postgresql
from arena.store.errors import StoreError, in_plain_words
from arena.store.postgresql import WRITES
from arena.store.schema import HEAD, METADATA, revision

BUSY_TIMEOUT_S: Final = 5.0
"""How long to wait for another program's lock."""

CACHE_KIB: Final = 512
"""What each connection may keep of the file: SQLite's 2 MB each would fill for an hour, and the system has the pages too."""

CHECKED_BYTES: Final = 32 * 2**20
"""A file up to this size is read whole when it is opened, to find damage early (0.1 s)."""

_log = logging.getLogger(__name__)


URL_FILE: Final = "store-url"
"""Beside a store's file, if its rows are in PostgreSQL: the address, and nothing is in the file."""


def url_beside(path: Path) -> str:
    """The address of the database that has the rows of a store; empty if its file has them.

    Raises:
      StoreError: if it stands there and cannot be read.
    """
    place = path.with_name(URL_FILE)
    try:
        return place.read_text("utf-8").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreError(f"{place} cannot be read: {error.strerror}") from error


def is_there(path: Path) -> bool:
    """Whether there is a store: its file, or the address of its database.

    Raises:
      StoreError: if the address cannot be read.
    """
    return path.exists() or bool(url_beside(path))


def kept_at(path: Path) -> Path:
    """The file without which a folder has lost its store: its own, or that with the address.

    Raises:
      StoreError: if the address cannot be read.
    """
    return path.with_name(URL_FILE) if url_beside(path) else path


def keep_in(url: str, path: Path) -> None:
    """Have the rows of a store be kept in a database from now on.

    Raises:
      StoreError: if the address is none of PostgreSQL's, or the store is elsewhere already.
    """
    if not postgresql.is_url(url):
        raise StoreError("a store is in PostgreSQL at postgresql://HOST/DATABASE, or in the folder")
    held = url_beside(path)
    if held == url:
        return
    if held or path.exists():
        where = postgresql.shown(held) if held else path
        raise StoreError(f"the store of this folder is {where}: use another folder for another one")
    place = path.with_name(URL_FILE)
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        # It may hold a password.
        with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{url}\n")
    except OSError as error:
        raise StoreError(f"{place} cannot be written: {error.strerror}") from error


class Database:
    """A file or a database, and the two ways to use it. Any thread may call; writers wait for each other."""

    def __init__(self, path: Path, busy_timeout_s: float, *, public_only: bool = False) -> None:
        """With `public_only` nothing can be written, and nothing read that is secret.

        Raises:
          StoreError: if it cannot be opened at all.
        """
        url = url_beside(path)
        self._file: Final = None if url else path
        self.path: Final = postgresql.shown(url) if url else path
        """As it is told."""
        self._busy_timeout_s = busy_timeout_s
        self._writer = threading.Lock()
        self._looker: SqliteConnection | None = None
        if url:
            self._engine = postgresql.engine(url, busy_timeout_s, public_only=public_only)
        else:
            if not public_only:
                _keep_private(path)
            self._engine = (_public_engine if public_only else _engine)(path, busy_timeout_s)
        self._writing = self._engine.execution_options(**{WRITES: True})

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the file and changes nothing.

        Raises:
          StoreError: if the file cannot be read.
        """
        with self._in_plain_words(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is on disk when the block ends, or undone if it raises.

        Raises:
          StoreError: if the file cannot be written.
        """
        with self._writer, self._in_plain_words(), self._writing.begin() as connection:
            yield connection

    @contextmanager
    def _in_plain_words(self) -> Iterator[None]:
        if self._file is not None:
            with in_plain_words(self.path, self._busy_timeout_s):
                yield
            return
        try:
            yield
        except DBAPIError as error:
            told = postgresql.in_plain_words(error, str(self.path), self._busy_timeout_s)
            if told is None:
                raise
            raise told from error

    def close(self) -> None:
        """Close the file; its write-ahead log is folded into it."""
        self._engine.dispose()
        if self._looker is not None:
            self._looker.close()

    def version(self) -> int | None:
        """A number that is another after each commit, whoever made it; None if only reading tells."""
        if self._file is None:
            return None
        try:
            if self._looker is None:
                self._looker = _looker(self._file)
            (found,) = self._looker.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            return None
        return int(found)

    def require_present(self) -> None:
        """See that the file has the present schema.

        Raises:
          StoreError: if it has not, or cannot be read.
        """
        with self.reading() as connection:
            found = self._revision(connection)
        if found is None:
            raise StoreError(
                f"{self.path} has nothing yet that may be shown: start the arena once, or `arena status`"
            )
        if found != HEAD:
            raise StoreError(
                f"{self.path} was written by another version of the arena: "
                "`arena status` or `arena matches` of this one brings an older file up to date"
            )

    def prepare(self) -> None:
        """Bring the file to the present schema.

        Raises:
          StoreError: as `open_store` says.
        """
        with self.reading() as connection:
            self._require_sound(connection)
            if self._revision(connection) == HEAD and self._is_published(connection):
                return
        with self.writing() as connection:
            found = self._revision(connection)  # again: another program may have been faster
            if found is None:
                METADATA.create_all(connection)
                revision.create(connection)
                connection.execute(insert(revision).values(version_num=HEAD))
            elif found != HEAD:
                if self._file is None:
                    postgresql.unpublish(connection)
                self._upgrade(connection, found)
            if not self._is_published(connection):
                postgresql.publish(connection, _SHOWN, SECRET_TABLES, SECRET_COLUMNS)

    def _is_published(self, connection: Connection) -> bool:
        """Whether those who may know what is public can read that; of a file they always can."""
        return self._file is not None or postgresql.is_published(
            connection, _SHOWN, SECRET_TABLES, SECRET_COLUMNS
        )

    def _require_sound(self, connection: Connection) -> None:
        if self._file is None:
            postgresql.require_sound(connection, str(self.path))
            return
        if self._file.stat().st_size > CHECKED_BYTES:
            return
        if connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one() != "ok":
            raise StoreError(
                f"{self.path} is damaged; put a copy in its place, or move it away to start anew"
            )

    def _revision(self, connection: Connection) -> str | None:
        """The schema's revision: None if the file is empty, "" from before the first one."""
        known = inspect(connection)
        tables = [*known.get_table_names(), *known.get_view_names()]
        if not tables:
            return None
        if revision.name not in tables:
            raise StoreError(f"{self.path} is a database, but not one of the arena's")
        return connection.execute(select(revision.c.version_num)).scalar_one_or_none() or ""

    def _upgrade(self, connection: Connection, found: str) -> None:
        # Alembic takes longer to import than all else here to run.
        from arena.store import upgrade

        if found and not upgrade.knows(found):
            raise StoreError(
                f"{self.path} was written by a newer version of the arena (schema {found}, where "
                f"this one knows {HEAD}): use that version"
            )
        upgrade.to_head(connection)


def _keep_private(path: Path) -> None:
    """Have a store be its owner's alone: it holds the seeds of tournaments, and scores of boards in play.

    The files that SQLite makes beside it have its mode. A file is never opened to be mended:
    whoever closes it again would let go of the locks on it.
    """
    with contextlib.suppress(OSError):  # the database says better what is wrong
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            for each in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
                mode = stat.S_IMODE(each.stat().st_mode)
                if mode & 0o077:
                    each.chmod(mode & 0o700)
                    _log.warning("others could open what is secret", extra={"path": str(each)})


SECRET_TABLES: Final = frozenset({"keys", "invitations", "audit"})
SECRET_COLUMNS: Final = frozenset(
    {
        ("deal_sets", "seed"),
        ("tournaments", "seed"),
        ("entrants", "command"),
        ("matches", "evidence"),
    }
)
"""What a reader of what is public gets as NULL: packs follow from seeds, and commands name paths."""
_SHOWN: Final = (*METADATA.sorted_tables, revision)
_READING: Final = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_TRANSACTION}
)


def may_read(action: int, table: str | None, column: str | None, *_: str | None) -> int:
    """SQLite's question whether a statement of a reader of what is public may do something."""
    # SQLAlchemy asks the one pragma when it connects, and sets nothing by it.
    asks = action == sqlite3.SQLITE_PRAGMA and table == "read_uncommitted" and column is None
    if action in _READING or asks:
        return sqlite3.SQLITE_OK
    if action != sqlite3.SQLITE_READ or table in SECRET_TABLES:
        return sqlite3.SQLITE_DENY
    secret = (table, column) in SECRET_COLUMNS
    return sqlite3.SQLITE_IGNORE if secret else sqlite3.SQLITE_OK


_CACHE: Final = f"PRAGMA cache_size = {-CACHE_KIB}"  # below zero it is KiB, else pages


def _looker(path: Path) -> SqliteConnection:
    """A connection that never writes: SQLite tells it of every commit, as of another's."""
    return sqlite3.connect(
        _reading_uri(path), timeout=0, isolation_level=None, check_same_thread=False, uri=True
    )


def _reading_uri(path: Path) -> str:
    return f"file:{quote(str(path.absolute()))}?mode=ro"


def _public_engine(path: Path, busy_timeout_s: float) -> Engine:
    """An engine that reads, and of that only what everybody may know."""

    def connect() -> SqliteConnection:
        connection = sqlite3.connect(
            _reading_uri(path),
            timeout=busy_timeout_s,
            isolation_level=None,
            check_same_thread=False,
            uri=True,
        )
        connection.execute(_CACHE)
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
        # The driver would begin transactions late, at the first change; we begin them ourselves.
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(_CACHE)

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
