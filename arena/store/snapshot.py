"""Copies a store while an arena writes it, and puts the copy back.

A file is copied by SQLite's backup interface, a database by `pg_dump`. Both read one snapshot.
"""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import and_, delete, select, tuple_, update

from arena.results.deal_sets import DealSetState
from arena.store import postgresql, schema
from arena.store.database import BUSY_TIMEOUT_S, Database, keep_in, url_beside
from arena.store.errors import StoreError, as_store_errors
from arena.store.store import open_store

if TYPE_CHECKING:
    from psycopg import Connection as PostgresqlConnection

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"
_PAGES: Final = 4_096
"""The number of pages that are copied between two calls of the progress."""
_SCHEMA: Final = "SELECT current_schema()"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot of a store at the beginning of the block."""

    kind: str
    """`SQLITE` or `POSTGRESQL`."""
    write: Callable[[Path, Callable[[float], None]], None]
    """Writes it into a file that does not exist; the progress is called with the completed share."""


@contextmanager
def snapshot(path: Path) -> Iterator[Snapshot]:
    """Take a snapshot of the store at `path`, for which no reader or writer waits.

    Raises `StoreError` if it cannot be read, or `pg_dump` is missing or fails.
    """
    if url := url_beside(path):
        with _connected(url) as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            (name, tables) = _one(connection, "SELECT pg_export_snapshot(), current_schema()")
            words = [
                *("--format=custom", f"--snapshot={name}", f'--table="{tables}".*'),
                *("--no-owner", "--no-privileges"),
            ]

            def dump(to: Path, _: Callable[[float], None]) -> None:
                to.touch(0o600, exist_ok=False)  # pg_dump would let others read it
                _run(url, "pg_dump", *words, f"--file={to}")

            yield Snapshot(POSTGRESQL, dump)
        return
    with as_store_errors(path, 0), closing(sqlite3.connect(path, isolation_level=None)) as source:
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM alembic_version")  # the first read fixes the snapshot

        def write(to: Path, progress: Callable[[float], None]) -> None:
            to.touch(0o600, exist_ok=False)
            # The failing disk is that of the copy, not that of the store.
            with as_store_errors(to.parent, 0), closing(sqlite3.connect(to)) as target:
                source.backup(
                    target,
                    pages=_PAGES,
                    progress=lambda _, left, total: progress(1 - left / max(total, 1)),
                )

        yield Snapshot(SQLITE, write)


def put_back(kind: str, file: Path, path: Path, url: str) -> None:
    """Make a store of what `Snapshot.write` wrote: at `path`, or in the empty database at `url`.

    Raises `StoreError` if that is not possible, or the database has tables.
    """
    if kind == SQLITE:
        if url:
            raise StoreError("the backup has a store in a file: leave out --store")
        shutil.move(file, path)
        return
    if not url:
        raise StoreError(
            "the backup has a store in PostgreSQL: name an empty database with --store"
        )
    with _connected(url) as connection:
        (tables,) = _one(connection, _SCHEMA)
        found = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
        if tables is None or _one(connection, found) != (0,):
            raise StoreError(f"{postgresql.shown(url)} is not empty: make another database")
    listed = _run(url, "pg_restore", "--list", str(file))
    _require_schema(listed, str(tables))
    words = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges")
    database = _environment(url).get("PGDATABASE", "")
    _run(url, "pg_restore", *words, f"--dbname={database}", str(file))
    keep_in(url, path)


def forget_unfinished(path: Path) -> frozenset[str]:
    """Prepare a copy of a store for play; return the matches whose records in the journal count.

    Bots may have seen more of the fair deal-sets in play than the copy has, and their packs may be published since.
    Results of such deal-sets are removed, so that they are played again with new packs. Deal-sets whose packs follow
    from a seed continue, as their packs stay the same.

    Raises `StoreError` as `open_store` does.
    """
    open_store(path).close()  # brings an older one up to date
    database = Database(path, BUSY_TIMEOUT_S)
    games, sets, matches = schema.competition_games, schema.deal_sets, schema.matches
    try:
        with database.writing() as connection:
            terms = connection.execute(select(games.c.id, games.c.terms))
            fair = [row.id for row in terms if not row.terms["seeded"]]
            unplayed = select(matches.c.competition_game, matches.c.deal_set).where(
                matches.c.competition_game.in_(fair), matches.c.status != schema.FINISHED
            )
            found = connection.execute(
                select(matches.c.id)
                .join(
                    sets,
                    and_(
                        sets.c.competition_game == matches.c.competition_game,
                        sets.c.id == matches.c.deal_set,
                    ),
                )
                .where(
                    sets.c.state.not_in((DealSetState.COMPLETE, DealSetState.VOID)),
                    tuple_(sets.c.competition_game, sets.c.id).in_(unplayed),
                )
            )
            ids = [*found.scalars()]
            connection.execute(delete(schema.faults).where(schema.faults.c.match.in_(ids)))
            connection.execute(
                update(matches)
                .where(matches.c.id.in_(ids))
                .values(status=schema.PLANNED, published=False, **dict.fromkeys(_OF_RESULTS))
            )
            known = connection.execute(select(matches.c.id))
            return frozenset(known.scalars()).difference(ids)
    finally:
        database.close()


_OF_RESULTS: Final = (
    *("scores", "places", "forfeited", "fallback_share", "ending", "hands", "decisions"),
    *("evidence", "journal", "ended_unix_ms"),
)
"""Columns of a match that are null before it has ended."""


def _require_schema(listed: str, tables: str) -> None:
    """Require that a dump is of the schema that the address names: `pg_restore` renames none."""
    for line in listed.splitlines():
        # "215; 1259 16386 TABLE public matches arena"
        words = line.split()
        if words[3:4] == ["TABLE"] and words[4] not in ("DATA", tables):
            raise StoreError(
                f"the tables of the backup are in the schema {words[4]}, and the address names "
                f"{tables}: make a schema {words[4]} and put it in the address's search_path"
            )


@contextmanager
def _connected(url: str) -> "Iterator[PostgresqlConnection]":
    try:
        import psycopg
    except ModuleNotFoundError:
        raise StoreError(
            "a store in PostgreSQL needs psycopg: pip install 'cardarena-engine[postgres]'"
        ) from None
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            yield connection
    except psycopg.Error as error:
        raise StoreError(f"{postgresql.shown(url)}: {error}") from error


def _one(connection: "PostgresqlConnection", query: str) -> tuple[object, ...]:
    row: tuple[object, ...] | None = connection.execute(query).fetchone()
    assert row is not None
    return row


def _environment(url: str) -> Mapping[str, str]:
    """Return the address as variables of libpq: a command line would show its password to others."""
    from psycopg.pq import Conninfo

    options = Conninfo.parse(url.encode())
    named = {
        each.envvar.decode(): each.val.decode()
        for each in options
        if each.envvar is not None and each.val is not None
    }
    return os.environ | named


def _run(url: str, program: str, *words: str) -> str:
    """Run a program of PostgreSQL; return its output."""
    environment = _environment(url)
    words = tuple(
        f"--dbname={environment['PGDATABASE']}" if each.startswith("--dbname=") else each
        for each in words
    )
    try:
        done = subprocess.run(
            [program, *words], env=environment, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise StoreError(f"{program} is missing: install postgresql-client") from None
    if done.returncode:
        why = done.stderr.strip().splitlines()
        raise StoreError(f"{program} failed: {why[-1] if why else done.returncode}")
    return done.stdout
