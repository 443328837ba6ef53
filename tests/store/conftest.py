"""Every test of the store is run twice: with a file of SQLite, and with a PostgreSQL of the tests' own."""

import pytest

from arena.store.database import URL_FILE
from tests.store.clusters import Cluster, NoCluster

OF_FILES = {
    "test_blobs",
    "test_migrations",
    "test_postgresql",
    "test_same_tables",
    "test_store_file",
}
"""Modules about the file itself, about both at once, or about no store."""


@pytest.fixture(scope="session")
def cluster():
    try:
        running = Cluster()
    except NoCluster as why:
        pytest.skip(str(why))
    with running:
        yield running


def pytest_generate_tests(metafunc):
    if metafunc.module.__name__.rpartition(".")[2] not in OF_FILES:
        metafunc.fixturenames.append("database")
        metafunc.parametrize("database", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def database(request):
    """Which of the two; in a folder whose `store-url` says so, a store is in PostgreSQL."""
    if request.param == "postgresql":
        cluster = request.getfixturevalue("cluster")
        folder = request.getfixturevalue("tmp_path")
        (folder / URL_FILE).write_text(cluster.new_store())
    return request.param
