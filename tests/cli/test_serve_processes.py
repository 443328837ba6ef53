"""`arena serve --workers`: workers play, and a person sees one arena."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.records.deal_book import DEALS_NAME, read_deals, read_log
from arena.records.fairness import context_of
from arena.records.read import Replay
from arena.records.signing import arena_key
from arena.store.data_folder import is_running, read_notice, worker_folders
from tests.cli.killed_competitions import BOTS, HEAD, is_finished
from tests.cli.serving import LONGEST_S, children_of, ended, is_alive, served

PLAN = HEAD.format(name="swiss", kind="tournament").replace("fair = false", "fair = true")


def said(*words):
    outcome = CliRunner().invoke(main, [*map(str, words)])
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


def until(happened):
    end_s = time.monotonic() + LONGEST_S
    while not happened():
        assert time.monotonic() < end_s
        time.sleep(0.1)


SLOW = """
import time
import cardarena


class Slow(cardarena.Bot):
    max_matches = 64

    def move(self, ask):
        time.sleep(0.1)
        return ask.moves[-1]


cardarena.run(Slow, argv=[])
"""


def workers_of(data):
    return sorted(worker_folders(data).glob("*"))


@pytest.mark.slow
def test_workers_of_an_arena_that_is_killed_end_and_what_they_played_begins_again(tmp_path):
    data, plan, bot = tmp_path / "data", tmp_path / "plan.toml", tmp_path / "slow.py"
    bot.write_text(SLOW)
    bots = "".join(f'{name} = "{sys.executable} {bot}"\n' for name in ("ann", "bob"))
    plan.write_text(f'{PLAN}format = "round_robin"\ndeal_sets = 4\n[bots]\n{bots}')
    said("competition", "new", plan, "--data", data)
    with served(data, "--workers", 2, "--metrics-port", 0) as (_, process):
        said("competition", "start", "swiss", "--data", data)

        def play():
            told = json.loads(said("status", "--data", data, "--json"))["workers"]
            return len(told) == 2 and all(
                each["matches"] and each["decisions"] >= 2 for each in told
            )

        until(play)
        fixed = read_deals(data / "journal" / DEALS_NAME)
        before = {each.fair_deal.deal_set: each.context for each in fixed.deals() if each.entropies}
        process.kill()
    until(lambda: not any(map(is_running, workers_of(data))))
    with served(data, "--workers", 2, "--metrics-port", 0) as (_, process):
        until(lambda: is_finished("swiss", data))
        process.send_signal(signal.SIGTERM)
        assert ended(process) == ("Drained.\n", "")
    assert workers_of(data) == []
    log = read_log(data / "commitments")
    contexts = {replay.opened.deal_set: context_of(replay.opened) for replay in replays_of(data)}
    assert len(before) >= 2
    assert contexts.items() >= before.items(), "the same packs"
    played = {context for context, entry in log.opened.items() if not entry.void_reason}
    assert played == set(contexts.values()), "one live commitment for each deal-set"
    assert set(log.opened) == set(log.committed)
    assert not [each for replay in replays_of(data) for each in replay.decided if each.fault]


@pytest.mark.slow
def test_a_worker_without_its_spawner_is_started_again_and_fails_no_deal_set(tmp_path):
    """It would fail each deal-set at once, and so have all of them given up."""
    data, plan = tmp_path / "data", tmp_path / "plan.toml"
    plan.write_text(f'{PLAN}format = "round_robin"\ndeal_sets = 12\n{BOTS}')
    said("competition", "new", plan, "--data", data)
    with served(data, "--workers", 2, "--metrics-port", 0):
        said("competition", "start", "swiss", "--data", data)

        def workers():
            return json.loads(said("status", "--data", data, "--json"))["workers"]

        until(lambda: workers() and workers()[0]["decisions"])
        worker = workers()[0]["pid"]
        (spawner,) = (pid for pid in children_of(worker) if is_spawner(pid))
        os.kill(spawner, signal.SIGKILL)
        until(lambda: is_finished("swiss", data))
        until(lambda: workers()[0]["starts"] == 2)
    assert not [each for replay in replays_of(data) for each in replay.decided if each.fault]


@pytest.mark.slow
def test_an_arena_without_its_spawner_ends_and_goes_on_when_it_is_started_again(tmp_path):
    data, plan = tmp_path / "data", tmp_path / "plan.toml"
    plan.write_text(f'{PLAN}format = "round_robin"\ndeal_sets = 10\n{BOTS}')
    said("competition", "new", plan, "--data", data)
    with served(data, "--metrics-port", 0) as (_, process):
        said("competition", "start", "swiss", "--data", data)
        until(lambda: has_decided(data))
        (spawner,) = (pid for pid in children_of(process.pid) if is_spawner(pid))
        os.kill(spawner, signal.SIGKILL)
        _, errors = ended(process)
    assert process.returncode == 1
    assert "the process that starts sandboxed bots has ended" in errors
    assert "Traceback" not in errors
    with served(data):
        until(lambda: is_finished("swiss", data))
    assert not [each for replay in replays_of(data) for each in replay.decided if each.fault]


def has_decided(data):
    """Whether an arena says that it has had decisions; on a busy machine it may answer late, which is no."""
    asked = CliRunner().invoke(main, ["status", "--data", str(data), "--json"])
    return asked.exit_code == 0 and bool(json.loads(asked.output)["decisions"])


def is_spawner(pid):
    """Whether a process is a spawner of sandboxed bots."""
    return b"arena.sandbox.spawner" in Path(f"/proc/{pid}/cmdline").read_bytes()


def replays_of(data):
    return [Replay.open(path) for path in sorted((data / "replays").glob("*.replay"))]


@pytest.mark.slow
def test_two_workers_play_a_tournament_that_anybody_can_verify(tmp_path):
    data, plan = tmp_path / "data", tmp_path / "plan.toml"
    plan.write_text(f'{PLAN}format = "swiss"\ndeal_sets = 4\n{BOTS}')
    said("competition", "new", plan, "--data", data)
    with served(data, "--workers", 2, "--metrics-port", 0) as (_, process):
        until(lambda: len([*filter(None, map(read_notice, workers_of(data)))]) == 2)
        children = [read_notice(folder).pid for folder in workers_of(data)]
        assert {os.getsid(pid) for pid in children} == set(children), "Ctrl-C is for the arena"
        said("competition", "start", "swiss", "--data", data)
        until(lambda: is_finished("swiss", data))
        status = json.loads(said("status", "--data", data, "--json"))
        process.send_signal(signal.SIGTERM)
        assert ended(process) == ("Drained.\n", "")
    assert process.returncode == 0
    assert not any(map(is_alive, children))

    words = ("replay", "verify", data / "replays", "--log", data / "commitments", "--json")
    verdicts = json.loads(said(*words))["replays"]
    assert len(verdicts) >= 8
    assert {each.revealed.public_key for each in replays_of(data)} == {arena_key(data).public_key}
    assert [each["number"] for each in status["workers"]] == [1, 2]
    assert all(each["decisions"] > 0 for each in status["workers"]), "both played"
    assert status["decisions"] == {}, "and the arena did not"

    match, bot = verdicts[0]["match_id"], verdicts[0]["bots"][0]
    account = json.loads(said("match", "why", match, bot, "--data", data, "--json"))
    assert (account["match"], account["bot"]) == (match, bot)
    (log,) = account["logs"]
    assert "/bots/worker-" in log
