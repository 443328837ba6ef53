"""Opening the file: how SQLite is told to keep its promises, and which schema it holds.

A write-ahead log, so that readers never wait for the writer. A full sync at every
commit, so that a power cut loses nothing that was recorded. Writers take the lock
when they begin, so that none fails half-way.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection as SqliteConnection
from typing import Final

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, inspect, select
from sqlalchemy.pool import ConnectionPoolEntry

from arena.store.errors import StoreError, in_plain_words
from arena.store.schema import HEAD, METADATA, revision

BUSY_TIMEOUT_S: Final = 5.0
"""How long to wait for another program's lock."""

CHECKED_BYTES: Final = 32 * 2**20
"""A file up to this size is read whole when it is opened, to find damage early (0.1 s)."""

_WRITES: Final = "arena_writes"


class Database:
    """A file, and the two ways to use it. Any thread may call; writers wait for each other."""

    def __init__(self, path: Path, busy_timeout_s: float) -> None:
        self.path: Final = path
        self._busy_timeout_s = busy_timeout_s
        self._engine = _engine(path, busy_timeout_s)
        self._writer = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the file and changes nothing.

        Raises:
          StoreError: if the file cannot be read.
        """
        with in_plain_words(self.path, self._busy_timeout_s), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is on disk when the block ends, or undone if it raises.

        Raises:
          StoreError: if the file cannot be written.
        """
        engine = self._engine.execution_options(**{_WRITES: True})
        with (
            self._writer,
            in_plain_words(self.path, self._busy_timeout_s),
            engine.begin() as connection,
        ):
            yield connection

    def close(self) -> None:
        """Close the file; its write-ahead log is folded into it."""
        self._engine.dispose()

    def prepare(self) -> None:
        """Bring the file to the present schema.

        Raises:
          StoreError: as `open_store` says.
        """
        with self.reading() as connection:
            self._require_sound(connection)
            if self._revision(connection) == HEAD:
                return
        with self.writing() as connection:
            found = self._revision(connection)  # again: another program may have been faster
            if found is None:
                METADATA.create_all(connection)
                revision.create(connection)
                connection.execute(insert(revision).values(version_num=HEAD))
            elif found != HEAD:
                self._upgrade(connection, found)

    def _require_sound(self, connection: Connection) -> None:
        if self.path.stat().st_size > CHECKED_BYTES:
            return
        if connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one() != "ok":
            raise StoreError(
                f"{self.path} is damaged; put a copy in its place, or move it away to start anew"
            )

    def _revision(self, connection: Connection) -> str | None:
        """The schema's revision: None if the file is empty, "" from before the first one."""
        tables = inspect(connection).get_table_names()
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

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
