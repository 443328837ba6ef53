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

from arena.contests.draws import next_round
from arena.contests.plan import read_plan
from arena.contests.plan_text import public_text
from arena.records.read import Replay
from arena.records.signing import kept_key
from arena.records.verify import verify_file
from arena.store import CompetitionTexts, open_store
from arena.store.data_folder import store_path
from tests.rows import slow_unless

ROOT = Path(__file__).parents[2]
BOT = ROOT / "tests" / "live" / "any_move.py"
"""In a folder in which nothing is built: a tournament does not go on when its bots' files change."""
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
    [(signal.SIGKILL, ""), (signal.SIGINT, "to continue"), (signal.SIGTERM, "to continue")],
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
    (game,) = json.loads(again.stdout)["games"]
    assert game["deal_sets"] == {"complete": 24, "planned": 24, "within_teams": 0}
    assert [row["faults"] for row in game["rows"]] == [{}, {}]
    replays = list((tmp_path / "replays").glob("*.replay"))
    assert len(replays) == 48
    key = kept_key(tmp_path).public_key
    assert all(verify_file(path, arena=key).ok for path in replays)


def revealed(data):
    """The seeds that the replays name, by deal-set."""
    found = [Replay.open(path) for path in (data / "replays").glob("*.replay")]
    return {each.opened.deal_set: each.revealed.seed for each in found}


@pytest.mark.slow
def test_a_replay_names_the_seed_of_its_deal_set_alone(tmp_path):
    arguments = command(tmp_path, ("a", BOT), ("b", BOT), deal_sets=1)
    ended(arguments)
    with open_store(store_path(tmp_path)) as store:
        record = store.competitions().record("democracy")
        config = record.config.replace("deal_sets = 1", "deal_sets = 2")
        plan = read_plan(config)
        assert plan.seed == "go on"
        drawn = next_round(plan, 0, record.candidates, ())
        first, second = drawn.deal_sets
        assert revealed(tmp_path) == {first.id: first.seed}
        for path in (tmp_path / "replays").glob("*.replay"):
            assert b"go on" not in path.read_bytes(), "others' seeds would follow from it"
        # The second was planned by an arena that derived seeds in another way.
        older = replace(second, seed="go on/2")
        texts = CompetitionTexts(config, public_text(config))
        store.competitions().extend(
            "democracy", texts, drawn.round, (first, older), who="org", now=datetime.now(UTC)
        )
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


@pytest.mark.slow
@pytest.mark.parametrize("last", slow_unless(lambda last: last == 1, [1, 7, 40]))
def test_a_bot_that_dies_costs_nobody_else_anything(last, tmp_path):
    dying = tmp_path / "dying.py"
    dying.write_text(DYING_BOT.format(last=last))
    arguments = command(tmp_path / "data", ("a", BOT), ("dying", dying), deal_sets=3)
    done = ended(arguments)
    (game,) = json.loads(done.stdout)["games"]
    assert game["deal_sets"] == {"complete": 3, "planned": 3, "within_teams": 0}
    faults = {row["bot"]: row["faults"] for row in game["rows"]}
    assert faults["a"] == {}
    assert set(faults["dying"]) == {"gone"}


RAISING_BOT = """
import cardarena

class Raising(cardarena.Bot):
    def move(self, ask):
        raise KeyError("row")

cardarena.run(Raising)
"""


@pytest.mark.slow
def test_a_bot_that_raises_at_every_move_has_errors_and_forfeits(tmp_path):
    raising = tmp_path / "raising.py"
    raising.write_text(RAISING_BOT)
    arguments = command(tmp_path / "data", ("a", BOT), ("raising", raising), deal_sets=2)
    (game,) = json.loads(ended(arguments).stdout)["games"]
    good, bad = game["rows"]
    assert (good["bot"], good["faults"], good["forfeited"]) == ("a", {}, 0)
    assert (bad["bot"], set(bad["faults"]), bad["forfeited"]) == ("raising", {"error"}, 1)
