"""Backups of competitions in play: the restored one ends in the table of a twin that nobody copied."""

import contextlib
import json
import random
import shutil
import stat
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from arena.bots.bot_python import BOT_PYTHON
from arena.cli import main
from arena.sandbox.sandbox import UPLOADS_AT, SandboxDemand, raise_sandbox
from arena.store.database import URL_FILE
from tests.cli import test_worker as uploaded
from tests.cli.killed_competitions import (
    PATIENCE_S,
    POLL_S,
    arena,
    complete,
    is_finished,
    is_over,
    made,
    run,
    said,
    started,
    table,
)
from tests.store.clusters import Cluster

KIND = "swiss"


def done(*words):
    finished = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def played(kind, data, until):
    """Play until a condition holds, within the block."""

    @contextlib.contextmanager
    def block():
        process = started(kind, data, 0)
        end = time.monotonic() + PATIENCE_S
        try:
            while not until() and process.poll() is None:
                assert time.monotonic() < end, said(data)
                time.sleep(POLL_S)
            assert until() or process.poll() == 0, said(data)
            yield process
        finally:
            process.kill()
            process.wait()

    return block()


def backed_up_and_played_on(kind, tmp_path, first="", target=""):
    """The table of a competition that was copied in play, and continued from the copy twice as far."""
    data, again, file = tmp_path / "first", tmp_path / "again", tmp_path / "file.backup"
    made(kind, data, start=kind == "ladder", url=first)
    with played(kind, data, lambda: complete(kind, data) >= 1) as process:
        told = done(*arena(data, "backup", str(file), "--json"))
        assert process.poll() is None, said(data)
    assert told["files"] > 3
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    shutil.rmtree(data)
    words = ("--store", target) if target else ()
    done(*arena(again, "restore", str(file), "--json", *words))
    assert stat.S_IMODE(again.stat().st_mode) == 0o700
    with played(kind, again, lambda: is_over(kind, again, 0)):
        pass
    return table(kind, again)


@pytest.mark.deep("backups")
def test_a_ladder_that_is_restored_ends_in_the_table_of_its_twin(tmp_path):
    alone, _ = run("ladder", tmp_path / "alone", 0, random.Random(1))
    assert backed_up_and_played_on("ladder", tmp_path) == alone


@pytest.mark.deep("backups")
def test_so_does_a_swiss_in_postgresql(tmp_path):
    alone, _ = run(KIND, tmp_path / "alone", 0, random.Random(1))
    with Cluster() as cluster, Cluster() as elsewhere:
        first, target = cluster.new_store(), elsewhere.new_store()
        assert backed_up_and_played_on(KIND, tmp_path, first, target) == alone
    assert (tmp_path / "again" / URL_FILE).read_text().strip() == target


@pytest.mark.deep("backups")
def test_uploaded_python_bots_play_on_in_a_restored_arena(tmp_path):
    """`DATA/python` has absolute links to this machine's Python: it is left out, and made again."""
    with raise_sandbox(SandboxDemand.AUTO, data=tmp_path / "s", read_only=()) as sandbox:
        if sandbox.level not in UPLOADS_AT:
            pytest.skip(f"needs a sandbox of S2 for uploaded bots: {sandbox.why_not_better}")
    alone, data, again = tmp_path / "alone", tmp_path / "data", tmp_path / "again"
    plan = uploaded.PLAN.replace("deal_sets = 4", "deal_sets = 80")
    uploaded.made(alone, plan)
    with uploaded.serving(alone):
        uploaded.until(lambda: is_finished("swiss", alone), alone)

    file = tmp_path / "file.backup"
    uploaded.made(data, plan)
    with uploaded.serving(data) as process:
        uploaded.until(lambda: complete("swiss", data) >= 1, data)
        # Not by a process, as its start takes most of the time that the bots play.
        backed_up = CliRunner().invoke(main, ["backup", str(file), "--data", str(data)])
        assert backed_up.exit_code == 0, backed_up.output
        assert process.poll() is None, said(data)
    assert list((data / BOT_PYTHON).glob("*/bin/python")), "no Python bot was launched"
    shutil.rmtree(data)
    done(*arena(again, "restore", str(file), "--json"))
    assert not (again / BOT_PYTHON).exists()
    played = complete("swiss", again)
    with uploaded.serving(again):
        uploaded.until(lambda: is_finished("swiss", again), again)
    assert 1 <= played < complete("swiss", again)
    assert uploaded.standings(again, alone) == uploaded.standings(alone, alone)
    assert list((again / BOT_PYTHON).glob("*/bin/python"))

    deals = tmp_path / "swiss.jsonl"
    with deals.open("wb") as written:
        exported = arena(again, "competition", "export", "swiss", "--as", "deals")
        subprocess.run(exported, stdout=written, check=True)
    verified = done(sys.executable, "-m", "arena", "competition", "verify", str(deals), "--json")
    assert verified["verified"]
