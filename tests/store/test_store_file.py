"""The file itself: how it is opened, and what is said of one that cannot be."""

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event, inspect

from arena.store import StoredMatch, StoreError, open_store, schema, upgrade
from arena.store.database import Database
from arena.store.errors import as_store_errors
from tests.store.made import AT, TERMS, made, result


def refusal(path, **more):
    with pytest.raises(StoreError) as raised:
        open_store(path, **more)
    return str(raised.value)


def run_sql(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


FIRST = Path(__file__).parent / "files" / "revision_r3.sql"
INSERT = "INSERT INTO competitions VALUES (1, 'n', 'c', 'p', 'h', 'draft', 'o', 't', '', NULL, '')"


def told(plan):
    return {match.id: result(match) for match in plan.matches}


def ended(plan):
    return [
        StoredMatch(result(match), TERMS["game"], match.bots, plan.id, AT) for match in plan.matches
    ]


def write(store, *steps):
    """One transaction of statements, and of exceptions to raise between them."""
    with store._database.writing() as connection:
        for step in steps:
            if isinstance(step, Exception):
                raise step
            connection.exec_driver_sql(step)


class TestPromises:
    def test_every_connection_keeps_them(self, path):
        with open_store(path) as store:
            for transaction in (store._database.reading, store._database.writing):
                with transaction() as connection:
                    pragmas = {
                        name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                        for name in (
                            "journal_mode",
                            "synchronous",
                            "foreign_keys",
                            "busy_timeout",
                            "cache_size",
                        )
                    }
                full = 2
                assert pragmas == {
                    "journal_mode": "wal",
                    "synchronous": full,
                    "foreign_keys": 1,
                    "busy_timeout": 5000,
                    "cache_size": -8192,
                }

    @pytest.mark.parametrize(
        ("call", "is_synced"),
        [
            # what is written                                           synced  why
            pytest.param(lambda sets, _, __: sets.take(1), False, id="begins at workers end with a power cut"),
            pytest.param(lambda sets, _, plan: sets.begin_many([(plan, "m1")]), False, id="so does this begin"),
            pytest.param(lambda sets, _, plan: sets.report_many([(plan, told(plan))], now_unix_ms=1), False, id="the results are stored before"),
            pytest.param(lambda _, matches, __: matches.mark_published(["m"]), False, id="a replay gets its mark at the next start"),
            pytest.param(lambda _, matches, plan: matches.record(ended(plan)), True, id="the journal drops a match whose result is stored"),
        ],
    )  # fmt: skip
    def test_what_a_restart_repairs_waits_for_no_sync(self, path, call, is_synced):
        seen = []
        with open_store(path) as store:
            sets = made(store).deal_sets("autumn", 0)
            (plan,) = sets.take(1)

            @event.listens_for(store._database._engine, "commit")
            def committed(connection):
                seen.append(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())

            call(sets, store.matches(), plan)
        assert seen == [2 if is_synced else 1]

    def test_a_writer_takes_the_lock_when_it_begins(self, path):
        with open_store(path) as store, store._database.writing():
            other = sqlite3.connect(path, timeout=0)
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                other.execute("BEGIN IMMEDIATE")
            other.close()

    def test_a_reader_does_not_wait_for_the_writer(self, path):
        with open_store(path) as store, store._database.writing() as connection:
            connection.exec_driver_sql(INSERT)
            assert store.competitions().all() == ()

    def test_an_exception_undoes_the_transaction(self, path):
        with open_store(path) as store:
            with pytest.raises(StoreError, match="stop"):
                write(store, INSERT, StoreError("stop"))
            assert store.competitions().all() == ()

    def test_closing_folds_everything_into_one_file(self, path):
        open_store(path).close()
        assert [each.name for each in path.parent.iterdir()] == ["arena.db"]


class TestRefusals:
    def test_no_folder(self, tmp_path):
        path = tmp_path / "nowhere" / "arena.db"
        assert refusal(path) == f"{path} cannot be made: there is no folder {path.parent}"

    def test_a_folder_in_place_of_the_file(self, tmp_path):
        assert refusal(tmp_path).startswith(f"{tmp_path}: it cannot be opened (S-CANTOPEN). ")

    def test_some_other_file(self, path):
        path.write_text("Dear diary, " * 100)
        assert refusal(path).startswith(f"{path}: it is not a database (S-NOTADB). ")
        assert path.read_text().startswith("Dear diary")

    def test_another_programs_database(self, path):
        run_sql(path, "CREATE TABLE recipes (name TEXT)")
        assert "(S-FOREIGN)" in refusal(path)

    @pytest.mark.parametrize(
        ("revision", "named"),
        [
            pytest.param("9999", "9999", id="a newer schema"),
            pytest.param("0009", "0009", id="a schema from before the first one"),
            pytest.param("v5", "v5", id="the last of a chain from before the first one"),
            pytest.param("r1", "r1", id="a first one that had other columns"),
            pytest.param("r2", "r2", id="a first one without sign-in sessions"),
            pytest.param("", "unknown", id="a schema that names no revision"),
        ],
    )
    def test_a_schema_that_cannot_be_read(self, path, revision, named):
        open_store(path).close()
        run_sql(path, f"UPDATE alembic_version SET version_num = '{revision}'")
        assert f"schema {named}, not {schema.HEAD} (S-VERSION)" in refusal(path)

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda whole: whole[: len(whole) // 2],
            lambda whole: whole[:4096] + bytes(4096) + whole[8192:],
            lambda whole: whole[:-2000] + b"\xff" * 2000,
        ],
        ids=["the tail is cut off", "a page is blank", "the end is overwritten"],
    )
    def test_damage(self, path, spoil):
        open_store(path).close()
        path.write_bytes(spoil(path.read_bytes()))
        assert refusal(path).startswith(f"{path}: it is damaged (S-CORRUPT). ")

    def test_a_lock_that_another_program_keeps(self, path, monkeypatch):
        monkeypatch.setattr("arena.store.store.BUSY_TIMEOUT_S", 0)
        open_store(path).close()
        other = sqlite3.connect(path)
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        assert "locked: for over 0 s (S-BUSY)" in refusal(path, busy_timeout_s=0)
        other.close()
        open_store(path).close()

    def test_a_lock_that_another_program_has_for_a_moment_is_waited_for(self, path, monkeypatch):
        open_store(path).close()
        other = sqlite3.connect(path)
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr("arena.store.store.time.sleep", lambda _: other.close())
        open_store(path, busy_timeout_s=0).close()

    def test_a_full_disk(self, path):
        with open_store(path) as store:
            with store._database.reading() as connection:
                pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            large = INSERT.replace("'n'", f"'{'n' * 100_000}'")
            with pytest.raises(StoreError) as raised:
                write(store, f"PRAGMA max_page_count = {pages}", large)
            assert str(raised.value).startswith(f"{path}: its disk is full (S-FULL). ")
            assert store.competitions().all() == ()

    def test_no_right_to_write(self, path):
        with open_store(path) as store:
            with pytest.raises(StoreError) as raised:
                write(store, "PRAGMA query_only = ON", "DELETE FROM competitions")
            assert str(raised.value).startswith(f"{path}: it cannot be written (S-READONLY). ")

    def test_a_bug_of_ours_is_not_taken_for_one_of_these(self, path):
        memory = sqlite3.connect(":memory:")
        with (
            pytest.raises(sqlite3.OperationalError, match="no such table"),
            as_store_errors(path, 5),
        ):
            memory.execute("SELECT * FROM missing")
        memory.close()


class TestSchemas:
    def test_a_new_file_is_at_the_newest_migration(self, path):
        open_store(path).close()
        script = ScriptDirectory.from_config(upgrade._config())
        assert script.get_current_head() == schema.HEAD

    def test_a_store_of_the_first_revision_becomes_as_a_new_one(self, tmp_path):
        """A change of the schema needs a migration: the dump of the first revision stays as it is."""
        new, migrated = tmp_path / "new.db", tmp_path / "migrated.db"
        open_store(new).close()
        connection = sqlite3.connect(migrated)
        connection.executescript(FIRST.read_text("utf-8"))
        connection.close()
        open_store(migrated).close()
        assert described(migrated) == described(new)
        engine = create_engine(f"sqlite:///{migrated}")
        with engine.connect() as connection:
            assert compare_metadata(MigrationContext.configure(connection), schema.METADATA) == []
        engine.dispose()

    def test_a_migration_runs_when_an_older_store_is_opened(self, path, tmp_path, monkeypatch):
        """With a further revision of the test's own."""
        open_store(path).close()
        versions = tmp_path / "versions"
        shutil.copytree(Path(upgrade.__file__).parent / "migrations" / "versions", versions)
        (versions / "r5.py").write_text(
            f"from alembic import op\nimport sqlalchemy as sa\nrevision, down_revision = 'r5', '{schema.HEAD}'\n"
            "def upgrade():\n    op.add_column('audit', sa.Column('more', sa.Text()))\n"
        )
        config = upgrade._config()
        config.set_main_option("path_separator", "os")
        config.set_main_option("version_locations", str(versions))
        monkeypatch.setattr(upgrade, "_config", lambda: config)
        monkeypatch.setattr("arena.store.database.HEAD", "r5")
        for _ in range(2):  # it runs once
            open_store(path).close()
            assert "more" in [name for name, *_ in described(path)["audit"][0]]
        assert [upgrade.knows(name) for name in ("r3", "r5", "r6", "r2")] == [
            True,
            True,
            False,
            False,
        ]

    def test_a_migration_that_fails_leaves_the_old_file(self, path, monkeypatch):
        open_store(path).close()
        run_sql(path, "UPDATE alembic_version SET version_num = 'v0'")

        def half_way(connection):
            connection.exec_driver_sql("DROP TABLE comparison_requests")
            raise RuntimeError("the power is cut")

        monkeypatch.setattr(upgrade, "knows", lambda _: True)
        monkeypatch.setattr(upgrade, "to_head", half_way)
        with pytest.raises(RuntimeError):
            open_store(path)
        monkeypatch.undo()
        run_sql(path, f"UPDATE alembic_version SET version_num = '{schema.HEAD}'")
        with open_store(path) as store:
            assert store.comparison_requests().open() == ()

    def test_two_programs_may_make_the_file_at_once(self, path, monkeypatch):
        looked = []
        original = Database._revision

        def slow_to_look(self, connection):
            found = original(self, connection)
            looked.append(found)
            if len(looked) == 1:  # the other program makes it between our look and our write
                open_store(path).close()
            return found

        monkeypatch.setattr(Database, "_revision", slow_to_look)
        with open_store(path) as store:
            assert store.competitions().all() == ()

    def test_alembic_is_not_loaded_unless_a_file_is_old(self, path):
        program = (
            "import sys; from pathlib import Path; from arena.store import open_store;"
            "path = Path(sys.argv[1]); open_store(path).close(); open_store(path).close();"
            "assert 'alembic' not in sys.modules"
        )
        subprocess.run([sys.executable, "-c", program, str(path)], check=True)


def described(path):
    engine = create_engine(f"sqlite:///{path}")
    inspector = inspect(engine)
    found = {}
    for table in sorted(set(inspector.get_table_names()) - {"alembic_version"}):
        found[table] = (
            [
                (column["name"], str(column["type"]), column["nullable"])
                for column in inspector.get_columns(table)
            ],
            inspector.get_pk_constraint(table)["constrained_columns"],
            sorted(
                (key["constrained_columns"], key["referred_table"], key["referred_columns"])
                for key in inspector.get_foreign_keys(table)
            ),
            sorted(each["column_names"] for each in inspector.get_unique_constraints(table)),
            [each["sqltext"] for each in inspector.get_check_constraints(table)],
        )
    engine.dispose()
    return found
