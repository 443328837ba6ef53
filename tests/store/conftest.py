"""Every test of the store is run with a file of SQLite, and with a PostgreSQL of the tests' own; that is slow."""

import pytest

from arena.store import open_store
from arena.store.database import URL_FILE
from tests.store.clusters import Cluster

POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.slow)
OF_FILES = {
    "test_blobs",
    "test_large_competitions",
    "test_migrations",
    "test_names",
    "test_postgresql",
    "test_same_tables",
    "test_store_file",
}
"""Modules about the file itself, about both at once, or about no store."""


@pytest.fixture(scope="session")
def cluster():
    with Cluster() as running:
        yield running


def pytest_generate_tests(metafunc):
    if metafunc.module.__name__.rpartition(".")[2] not in OF_FILES:
        metafunc.fixturenames.append("database")
        metafunc.parametrize("database", ["sqlite", POSTGRESQL], indirect=True)


@pytest.fixture
def database(request):
    """Which of the two; in a folder whose `store-url` says so, a store is in PostgreSQL."""
    if request.param == "postgresql":
        cluster = request.getfixturevalue("cluster")
        folder = request.getfixturevalue("tmp_path")
        (folder / URL_FILE).write_text(cluster.new_store())
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arena.db"


@pytest.fixture
def store(path):
    """An empty store."""
    with open_store(path) as opened:
        yield opened
