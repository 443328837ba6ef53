"""The schema is such as PostgreSQL takes, and what goes wrong with a store there is told in plain words.

The tests beside this one are run on a PostgreSQL, too (`conftest.py`); statements here are written out in its dialect.
"""

import stat
from contextlib import closing
from datetime import UTC, datetime

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Integer, make_url, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.schema import CreateIndex, CreateTable

from arena.api.site_archive import SiteArchive
from arena.contests.plan import read_plan
from arena.contests.plan_text import HIDDEN
from arena.store import (
    StoreBusy,
    StoreError,
    answering_version,
    is_there,
    keep_in,
    open_public,
    open_store,
    schema,
)
from arena.store.database import URL_FILE, url_beside
from arena.store.postgresql import LEAST_VERSION, unpublish
from arena.store.snapshot import snapshot
from tests.store.made import made
from tests.store.test_keys import key

pytestmark = pytest.mark.slow  # starts a server

NOW = datetime(2026, 11, 22, tzinfo=UTC)
POSTGRESQL = postgresql.dialect()
TABLES = schema.METADATA.sorted_tables


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_table_can_be_made(table):
    made = str(CreateTable(table).compile(dialect=POSTGRESQL))
    assert f"CREATE TABLE {table.name}" in made
    for index in table.indexes:
        assert "CREATE INDEX" in str(CreateIndex(index).compile(dialect=POSTGRESQL))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_times_in_milliseconds_fit_their_columns(table):
    """An INTEGER of PostgreSQL ends in 1970: 2³¹ ms are 25 days."""
    for column in table.columns:
        if column.name.endswith("_ms"):
            written = column.type.compile(dialect=POSTGRESQL)
            assert written == "BIGINT", column
            assert column.type.compile(dialect=sqlite.dialect()) in {"BIGINT", "INTEGER"}
        elif isinstance(column.type, Integer):
            assert "_ms" not in column.name


def test_rows_that_another_worker_is_taking_are_stepped_over():
    query = select(schema.deal_sets.c.id).limit(1).with_for_update(skip_locked=True)
    assert "FOR UPDATE SKIP LOCKED" in str(query.compile(dialect=POSTGRESQL))
    assert "FOR UPDATE" not in str(query.compile(dialect=sqlite.dialect()))


def test_the_folder_remembers_where_its_store_is(tmp_path, cluster):
    path, url = tmp_path / "arena.db", cluster.new_store()
    assert not is_there(path)
    keep_in(url, path)
    keep_in(url, path)  # as at each start of the arena
    assert is_there(path)
    assert (tmp_path / URL_FILE).stat().st_mode & 0o077 == 0, "it may hold a password"
    with open_store(path) as store:
        assert store.violations() == ()
    with open_store(path):
        pass  # it was made above, and is now found
    assert not path.exists()
    with pytest.raises(StoreError, match="use another folder"):
        keep_in(cluster.new_store(), path)


# fmt: off
REFUSED = [
    # url                                     sentence                                   why
    ("mysql://here/arena",                    "the form postgresql://",          "another database"),
    ("postgresql://u:hidden@here:x/arena",     "is not of the form postgresql",    "no address"),
    ("postgresql://u:hidden@127.0.0.1:1/db",  "does not answer",                         "nobody is there"),
]
# fmt: on


def opened(url, path):
    keep_in(url, path)
    return open_store(path)


@pytest.mark.parametrize(("url", "sentence", "_why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_errors_of_an_address_do_not_contain_its_password(tmp_path, url, sentence, _why):
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    path = tmp_path / "arena.db"
    with pytest.raises(StoreError, match=sentence) as raised:
        opened(url, path)
    assert "hidden" not in str(raised.value)


def test_a_folder_whose_store_is_a_file_keeps_it(tmp_path):
    path = tmp_path / "arena.db"
    open_store(path).close()
    with pytest.raises(StoreError, match="use another folder"):
        keep_in("postgresql://here/arena", path)


def test_writers_take_turns_and_say_so_when_it_lasts(tmp_path, cluster):
    path = tmp_path / "arena.db"
    keep_in(cluster.new_store(), path)
    with (
        open_store(path) as first,
        open_store(path, busy_timeout_s=0.05) as second,
        first._database.writing(),
    ):
        held = second.competitions()
        assert held.all() == (), "readers do not wait"
        with pytest.raises(StoreBusy, match="S-BUSY"):
            made(second)


@pytest.fixture
def organised(tmp_path, cluster):
    """The path of a store in PostgreSQL with a key and a competition."""
    path = tmp_path / "arena.db"
    keep_in(cluster.new_store(), path)
    with open_store(path) as store:
        store.keys().add(key())
        made(store)
    return path


def test_pages_read_what_is_public_and_nothing_else(organised):
    with open_public(organised) as store:
        (shown,) = store.competitions().all()
        assert shown.name == "autumn"
        assert (read_plan(shown.config).seed, read_plan(shown.config).bots) == (HIDDEN, {})
        assert {each.command for each in shown.entries} == {""}


@pytest.mark.parametrize("table", sorted(schema.SECRET_TABLES))
def test_pages_find_no_table_that_is_secret(organised, table):
    with open_public(organised) as store, pytest.raises(ProgrammingError, match="does not exist"):
        selected(store, f"SELECT * FROM {table}")


@pytest.mark.parametrize(("table", "column"), sorted(schema.SECRET_COLUMNS))
def test_pages_read_null_where_a_column_is_secret(organised, table, column):
    with open_public(organised) as store:
        assert all(each is None for (each,) in selected(store, f"SELECT {column} FROM {table}"))
        assert {column} <= set(schema.METADATA.tables[table].columns.keys()), "it is one"


def test_pages_write_nothing(organised):
    with open_public(organised) as store, pytest.raises(StoreError, match="S-READONLY"):
        selected(store, "DELETE FROM matches")


def as_pages(cluster, path):
    """Make the role of pages; the address of the store at `path` for it."""
    url = make_url(url_beside(path))
    role = f"{url.query['options'].removeprefix('-csearch_path=')}_pages"
    cluster.execute(f"CREATE ROLE {role} LOGIN")
    return url.set(username=role).render_as_string()


@pytest.fixture(params=["before", "after"])
def pages_url(request, tmp_path, cluster):
    """The address for the role of pages, which is made before or after the tables; a store with a key and a competition."""
    path = tmp_path / "arena.db"
    keep_in(cluster.new_store(), path)
    if request.param == "before":
        made_url = as_pages(cluster, path)
    with open_store(path) as store:
        store.keys().add(key())
        made(store)
    if request.param == "after":
        made_url = as_pages(cluster, path)
        open_store(path).close()  # as the arena's next start does
    return made_url


def test_pages_with_a_role_of_their_own_show_what_is_public(tmp_path, pages_url):
    with closing(SiteArchive(tmp_path / "pages", store_url=pages_url)) as archive:
        (shown,) = archive.competitions()
        assert sorted(entered.bot for entered in shown.bots) == ["ann", "bob"]


def test_the_role_of_pages_cannot_read_a_table(pages_url):
    """Also with a client of its own, which sets no search path."""
    with psycopg.connect(pages_url, autocommit=True) as connection:
        for table in TABLES:
            with pytest.raises(InsufficientPrivilege):
                connection.execute(f"SELECT * FROM {table.name}")


# fmt: off
CHANGES = [
    # statement                                              reason
    ("INSERT INTO {pages}.matches DEFAULT VALUES",           "a row"),
    ("DELETE FROM {pages}.matches",                          "the rows of a view"),
    ("CREATE TABLE {tables}.mine (n int)",                   "a table beside them"),
    ("CREATE OR REPLACE VIEW {pages}.keys AS SELECT * FROM {tables}.keys", "a view of what is secret"),
    ("SET ROLE arena",                                       "the role of the arena"),
]
# fmt: on


@pytest.mark.parametrize(("statement", "reason"), CHANGES, ids=[row[-1] for row in CHANGES])
def test_the_role_of_pages_changes_nothing(pages_url, statement, reason):
    pages = make_url(pages_url).username
    words = statement.format(pages=pages, tables=pages.removesuffix("_pages"))
    with psycopg.connect(pages_url) as connection, pytest.raises(psycopg.Error) as raised:
        connection.execute(words)
    assert raised.value.sqlstate == "42501", raised.value


def test_pages_wait_for_an_arena_to_publish(organised):
    with open_store(organised) as store, store._database.writing() as connection:
        unpublish(connection)
    with pytest.raises(StoreError, match="has no tables yet"):
        open_public(organised)
    open_store(organised).close()
    open_public(organised).close()


def test_views_of_another_version_are_replaced(organised, monkeypatch):
    """What became secret since must not stay readable."""
    now_secret = schema.SECRET_COLUMNS | {("competitions", "created")}
    monkeypatch.setattr(schema, "SECRET_COLUMNS", now_secret)
    open_store(organised).close()
    with open_public(organised) as store:
        assert selected(store, "SELECT created FROM competitions") == [(None,)]


def test_a_server_is_asked_for_its_version(cluster):
    assert int(answering_version(cluster.new_store(), 5.0).partition(".")[0]) >= LEAST_VERSION


def test_a_server_that_is_too_old_is_said(cluster, monkeypatch):
    monkeypatch.setattr("arena.store.postgresql.LEAST_VERSION", 1000)
    with pytest.raises(StoreError, match="the arena needs 1000"):
        answering_version(cluster.new_store(), 5.0)


def test_a_server_that_does_not_answer_is_said():
    with pytest.raises(StoreError, match="S-NO-ANSWER"):
        answering_version("postgresql://127.0.0.1:1/arena", 2.0)


def test_a_public_store_that_is_nowhere_is_none(tmp_path):
    with pytest.raises(StoreError, match="there is no"):
        open_public(tmp_path / "arena.db")


def selected(store, query):
    with store._database.reading() as connection:
        result = connection.exec_driver_sql(query)
        return [tuple(row) for row in result] if result.returns_rows else []


def test_nobody_else_reads_a_dump_while_it_is_copied(tmp_path, cluster):
    path, dumped = tmp_path / "arena.db", tmp_path / "dump"
    keep_in(cluster.new_store(), path)
    open_store(path).close()
    with snapshot(path) as taken:
        taken.write(dumped, lambda _: None)
    assert stat.S_IMODE(dumped.stat().st_mode) == 0o600
