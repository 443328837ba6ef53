"""A tournament survives what happens to its bots and to its server. Real processes, real kills."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.ladder.schedule import round_robin
from arena.replay.read import Replay
from arena.replay.signing import kept_key
from arena.replay.verify import verify_file
from arena.server.data_folder import store_path
from arena.store import open_store
from tests.rows import slow_unless

ROOT = Path(__file__).parents[2]
BOT = ROOT / "sample_bots" / "random_bot.py"
PATIENCE_S = 60


def command(data, *bots, deal_sets):
    bots = [f"{name}={path}" for name, path in bots]
    arena = [sys.executable, "-c", "from arena.cli import main; main()"]
    game = ["tournament", "democracy", *bots, "--seed", "go on", "-o", "hands=2"]
    return [*arena, *game, "--deal-sets", str(deal_sets), "--data", str(data), "--json"]


def wait_until(true, process):
    """Look at real files of a real process: there is no clock to mock."""
    end = time.monotonic() + PATIENCE_S
    while not true():
        assert process.poll() is None, "the tournament ended too soon for this test"
        assert time.monotonic() < end
        time.sleep(0.02)


def ended(arguments):
    """A command's end; what it said if that was not a good one."""
    done = subprocess.run(arguments, capture_output=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, f"it ended with {done.returncode}: {done.stderr.decode()}"
    return done


def journalled(data):
    return sum(path.stat().st_size for path in (data / "journal").glob("*.journal"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "said"),
    [(signal.SIGKILL, ""), (signal.SIGINT, "to go on"), (signal.SIGTERM, "to go on")],
    ids=["killed", "Ctrl-C", "drained"],
)
def test_a_server_that_is_stopped_loses_no_finished_match(number, said, tmp_path):
    arguments = command(tmp_path, ("a", BOT), ("b", BOT), deal_sets=24)
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: journalled(tmp_path) > 20_000, process)
    os.kill(process.pid, number)
    _, words = process.communicate(timeout=PATIENCE_S)
    assert process.returncode != 0
    assert said in words.decode()
    assert "Traceback" not in words.decode()

    again = ended(arguments)
    standings = json.loads(again.stdout)
    assert standings["deal_sets"] == {"complete": 24, "planned": 24}
    assert [row["faults"] for row in standings["standings"]] == [{}, {}]
    replays = list((tmp_path / "replays").glob("*.replay"))
    assert len(replays) == 48
    key = kept_key(tmp_path).public_key
    assert all(verify_file(path, arena=key).ok for path in replays)


def revealed(data):
    """The seeds that the replays name, by deal-set."""
    found = [Replay.open(path) for path in (data / "replays").glob("*.replay")]
    return {each.opened.deal_set: each.revealed.seed for each in found}


def test_a_replay_names_the_seed_of_its_deal_set_alone(tmp_path):
    arguments = command(tmp_path, ("a", BOT), ("b", BOT), deal_sets=1)
    ended(arguments)
    with open_store(store_path(tmp_path)) as store:
        settings = store.tournaments()[0]
        names = [each.name for each in settings.entrants]
        first, second = round_robin(
            names, seats=2, deal_sets=2, seed=settings.seed, tournament=settings.name
        )
        assert settings.seed == "go on"
        assert revealed(tmp_path) == {first.id: first.seed}
        for path in (tmp_path / "replays").glob("*.replay"):
            assert b"go on" not in path.read_bytes(), "others' seeds would follow from it"
        # The second was planned by an arena that derived seeds in another way.
        older = replace(second, seed="go on/2")
        store.open_tournament(settings, (first, older), now=datetime.now(UTC))
    arguments = command(tmp_path, ("a", BOT), ("b", BOT), deal_sets=2)
    ended(arguments)
    assert revealed(tmp_path)[second.id] == "go on/2", "it keeps what it was begun with"


DYING_BOT = """
import os, cardarena

class Dying(cardarena.Bot):
    decisions = 0
    def move(self, ask):
        Dying.decisions += 1
        if Dying.decisions == {last}:
            os._exit(9)
        return 0

cardarena.run(Dying)
"""


@pytest.mark.parametrize("last", slow_unless(lambda last: last == 1, [1, 7, 40]))
def test_a_bot_that_dies_costs_nobody_else_anything(last, tmp_path):
    dying = tmp_path / "dying.py"
    dying.write_text(DYING_BOT.format(last=last))
    arguments = command(tmp_path / "data", ("a", BOT), ("dying", dying), deal_sets=3)
    done = ended(arguments)
    standings = json.loads(done.stdout)
    assert standings["deal_sets"] == {"complete": 3, "planned": 3}
    faults = {row["bot"]: row["faults"] for row in standings["standings"]}
    assert faults["a"] == {}
    assert set(faults["dying"]) == {"gone"}
