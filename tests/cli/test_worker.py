"""`arena worker`: processes on other machines play for an arena, here by a socket file."""

import contextlib
import signal
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from arena.app.worker import host_name
from arena.bots.archive import read_archive
from arena.bots.blobs import Blobs
from arena.cli import main
from arena.contests.competition_service import CompetitionService
from arena.contests.entrants import launched_entries
from arena.contests.plan import read_plan
from arena.contests.standings import official_bytes, official_standings
from arena.records.read import Replay
from arena.records.signing import arena_key
from arena.results.states import Action, State
from arena.results.versions import VersionEvent
from arena.sandbox.command import SAMPLE_BOTS
from arena.sandbox.sandbox import UPLOADS_AT, SandboxDemand, raise_sandbox
from arena.store import BotKind, keep_in, open_store, schema
from arena.store.data_folder import store_path
from tests.bots.test_archive import zipped
from tests.cli.killed_competitions import BOT, HEAD, arena, complete, is_finished
from tests.store.test_registry import enter

NOW = datetime(2026, 11, 25, tzinfo=UTC)
LONGEST_S = 240
"""For one step of a test: a busy machine takes long to start a dozen bots."""
NAMES = ("ann", "bob", "cid")
PLAN = (
    HEAD.format(name="swiss", kind="tournament")
    + 'format = "round_robin"\ndeal_sets = 4\nmax_bots_per_owner = 9\n'
)


@pytest.fixture(scope="module", autouse=True)
def _sandbox(tmp_path_factory):
    with raise_sandbox(SandboxDemand.AUTO, data=tmp_path_factory.mktemp("s"), read_only=()) as box:
        if box.level not in UPLOADS_AT:
            pytest.skip(f"needs a sandbox of S2 for uploaded bots: {box.why_not_better}")


def made(data, plan, url="", *, start=True):
    """A competition of uploaded bots, with its store in a database if there is an address."""
    data.mkdir()
    if url:
        keep_in(url, store_path(data))
    terms = read_plan(plan).games[0].terms
    games = [{"id": terms.game.id, "seats": [2], "rules": terms.game.rules_version}]
    with open_store(store_path(data)) as store:
        registry = store.registry()
        enter(registry, "olaf")
        service = CompetitionService(store.competitions(), arena_key(data))
        service.create(plan, who="organiser", bots=launched_entries(read_plan(plan)))
        for name in NAMES:
            registry.create_bot(name, "olaf", BotKind.UPLOADED, now=NOW)
            code = BOT.read_text("utf-8").replace("sys.argv[-1]", repr(name))
            archive = read_archive(
                zipped(data / "new.zip", {"bot.toml": b"", "bot.py": code.encode()})
            )
            sha256, _ = Blobs(data).keep(archive)
            manifest = {"command": ["python", "bot.py"], "games": games}
            registry.submit(name, sha256=sha256, manifest=manifest, now=NOW)
            for event in (VersionEvent.CHECKED, VersionEvent.QUALIFIED, VersionEvent.ACTIVE):
                registry.record(name, 1, event, who="olaf", now=NOW)
            service.enter("swiss", service.entry_of("swiss", name, store), who="olaf")
        if start:
            service.control("swiss", Action.START, who="organiser")


@contextlib.contextmanager
def running(data, *words):
    """A program, which is killed after the block."""
    with (data / "told").open("ab") as told:
        process = subprocess.Popen(arena(data, *map(str, words)), stdout=told, stderr=told)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def serving(data):
    socket = data / "s"
    with running(data, "serve", "--host", f"unix:{socket}", "--no-metrics") as process:
        yield process


@contextlib.contextmanager
def working(folder, data, *more):
    """A worker of speed class 0 with a folder of its own."""
    folder.mkdir(exist_ok=True)
    at = ("--server", f"unix:{data / 's'}", "--token-file", data / "token")
    with running(folder, "worker", *at, "--speed-class", 0, *more) as process:
        yield process


def keyed(data):
    outcome = CliRunner().invoke(main, ["keys", "new", "worker", "m1", "--data", str(data)])
    assert outcome.exit_code == 0, outcome.output
    (data / "token").write_text(outcome.stdout)


def until(happened, *folders):
    end_s = time.monotonic() + LONGEST_S
    while not happened():
        told = [(each / "told").read_text("utf-8", "replace")[-2000:] for each in folders]
        assert time.monotonic() < end_s, told
        time.sleep(0.1)


def begun(data):
    """How often deal-sets have begun at workers."""
    with open_store(store_path(data)) as store, store._database.reading() as connection:
        return sum(connection.execute(select(schema.deal_sets.c.begin)).scalars())


def standings(data, plan_of):
    """The official standings of a folder, with the plan of another, as plans differ in the speed class."""
    with open_store(store_path(data)) as store, open_store(store_path(plan_of)) as other:
        assert store.violations() == ()
        games = store.competitions().record("swiss").games
        record = replace(other.competitions().record("swiss"), games=games)
        return official_bytes(official_standings(record, 1))


@pytest.mark.slow
def test_machines_and_the_arena_are_killed_and_the_standings_are_those_of_one_process(tmp_path):
    alone, data = tmp_path / "alone", tmp_path / "data"
    made(alone, PLAN)
    with serving(alone):
        until(lambda: is_finished("swiss", alone), alone)

    made(data, f"{PLAN}speed_class = 0\n")
    keyed(data)
    first, second = tmp_path / "m1", tmp_path / "m2"
    with working(second, data, "--workers", 2):
        with serving(data), working(first, data) as worker:
            until(lambda: begun(data) >= 4, data, first, second)
            worker.kill()
            worker.wait()
            until(lambda: complete("swiss", data) >= 1, data, first, second)
        with serving(data):  # it was killed
            until(lambda: is_finished("swiss", data), data, first, second)
    assert standings(data, alone) == standings(alone, alone)
    replays = [Replay.open(path) for path in (data / "replays").glob("*.replay")]
    assert len(replays) == 2 * 4 * 3
    assert {each.opened.played_at.worker for each in replays} == {f"m1@{host_name()}"}
    words = ["replay", "verify", str(data / "replays"), "--arena", arena_key(data).public_key.hex()]
    outcome = CliRunner().invoke(main, words)
    assert outcome.exit_code == 0, outcome.output


@pytest.mark.slow
def test_sigterm_drains_a_worker(tmp_path):
    data, folder = tmp_path / "data", tmp_path / "m1"
    # More deal-sets than a worker has at a time.
    made(data, PLAN.replace("deal_sets = 4", "deal_sets = 400") + "speed_class = 0\n")
    keyed(data)
    with serving(data), working(folder, data) as worker:
        until(lambda: complete("swiss", data) >= 1, data, folder)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(LONGEST_S) == 0, (folder / "told").read_text()
        with open_store(store_path(data)) as store:
            assert store.competitions().get("swiss").state is State.RUNNING
    assert "Stopped." in (folder / "told").read_text()
    assert not [*(folder / "workers").iterdir()]


@pytest.mark.slow
def test_a_worker_plays_bots_of_all_kinds_and_stops_when_nothing_is_left(tmp_path):
    data, folder = tmp_path / "data", tmp_path / "m1"
    bots = f'[bots]\ndan = "{SAMPLE_BOTS / "random_bot.py"}"\neve = "house:sample"\n'
    made(data, f"{PLAN}speed_class = 0\n{bots}")
    keyed(data)
    with serving(data), working(folder, data, "--exit-when-idle", 20) as worker:
        assert worker.wait(LONGEST_S) == 0, (folder / "told").read_text()
        assert is_finished("swiss", data)
    assert "Stopped." in (folder / "told").read_text()
    assert not [*(data / "bots").glob("*/*")], "the arena launched no bot"


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--exit-when-idle", "--for"])
def test_a_worker_that_reaches_no_arena_stops_with_an_error(option, tmp_path):
    (tmp_path / "token").write_text("no token")
    with working(tmp_path / "m1", tmp_path, option, 3) as worker:
        assert worker.wait(LONGEST_S) == 1
    assert "no worker has reached the arena" in (tmp_path / "m1" / "told").read_text()


@pytest.mark.slow
def test_a_worker_that_is_refused_says_why(tmp_path):
    data, folder = tmp_path / "data", tmp_path / "m1"
    data.mkdir()
    keyed(data)
    with serving(data):
        until((data / "s").exists, data)
        with working(folder, data, "--sandbox", "off") as worker:
            assert worker.wait(LONGEST_S) == 1
        assert "its sandbox is S0, and uploaded bots need S2" in (folder / "told").read_text()
        owner = CliRunner().invoke(
            main, ["keys", "new", "organiser", "--owner", "olga", "--data", str(data)]
        )
        (data / "token").write_text(owner.stdout)
        with working(folder, data) as worker:
            assert worker.wait(LONGEST_S) == 1
        assert "a worker's is needed" in (folder / "told").read_text()
