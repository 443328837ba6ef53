"""A PostgreSQL of the tests' own: a cluster in a folder, reached by a socket there, gone afterwards."""

import contextlib
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

import psycopg

from tests.programs import require, server_programs

USER = "nobody"
"""Who runs it where the tests are root's: PostgreSQL refuses to."""
_FAST = ("fsync=off", "full_page_writes=off", "listen_addresses=", "max_connections=60")


def programs():
    """The newest folder of PostgreSQL's programs."""
    require("postgresql")
    folders = sorted(server_programs(), key=lambda each: int(each.parent.name))
    return folders[-1] if folders else Path(shutil.which("initdb")).parent


class Cluster:
    """Runs as long as its block; every store gets a schema of its own.

    Without PostgreSQL the test is skipped.
    """

    def __init__(self):
        self._connect = psycopg.connect
        self._bin = programs()
        self._folder = Path(tempfile.mkdtemp(prefix="pg-"))
        self._user = USER if os.geteuid() == 0 else None
        if self._user is not None:
            entry = pwd.getpwnam(self._user)
            os.chown(self._folder, entry.pw_uid, entry.pw_gid)
        self._count = itertools.count()

    def __enter__(self):
        data = self._folder / "data"
        self._run(
            "initdb", "-D", data, "-U", "arena", "-A", "trust", "--locale=C", "-E", "UTF8", "-N"
        )
        self.start()
        return self

    @property
    def pid(self):
        """The process of the server, or the one that it had; 0 without any."""
        path = self._folder / "data" / "postmaster.pid"
        return int(path.read_text().split()[0]) if path.exists() else 0

    def start(self):
        """Start the server, also after it was killed."""
        data = self._folder / "data"
        settings = [word for each in _FAST for word in ("-c", each)]
        words = ["-k", str(self._folder), *settings]
        self._run("pg_ctl", "-D", data, "-w", "-l", self._folder / "log", "-o", " ".join(
            f"'{each}'" for each in words), "start")  # fmt: skip

    def __exit__(self, *_):
        with contextlib.suppress(subprocess.CalledProcessError):
            self._run("pg_ctl", "-D", self._folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(self._folder, ignore_errors=True)

    def new_store(self):
        """The address of a store that is empty."""
        schema = f"store{next(self._count)}"
        self.execute(f"CREATE SCHEMA {schema}")
        options = quote(f"-csearch_path={schema}", safe="")
        return f"postgresql://arena@/postgres?host={quote(str(self._folder))}&options={options}"

    @property
    def folder(self):
        """The folder of its socket, by which clients connect."""
        return self._folder

    def execute(self, statement, *, user="arena"):
        """Execute a statement as a superuser, which `arena` is at first."""
        with self._connect(host=str(self._folder), user=user, dbname="postgres") as connection:
            connection.execute(statement)

    def _run(self, program, *words):
        subprocess.run(
            [str(self._bin / program), *map(str, words)],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=self._user,
            cwd=self._folder,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"},
            timeout=120,
        )
