"""`arena serve --processes`: other processes play, and a person sees one arena."""

import json
import os
import signal
import time

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.server.data_folder import playing_folders, read_notice
from tests.cli.killed_competitions import BOTS, HEAD, is_finished
from tests.cli.serving import ended, served
from tests.doubles.streams import PATIENCE_S

PLAN = HEAD.format(name="swiss", kind="tournament").replace("fair = false", "fair = true")


def said(*words):
    outcome = CliRunner().invoke(main, [*map(str, words)])
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_two_processes_play_a_tournament_that_anybody_can_verify(tmp_path):
    data, plan = tmp_path / "data", tmp_path / "plan.toml"
    plan.write_text(f'{PLAN}format = "swiss"\ndeal_sets = 4\n{BOTS}')
    said("competition", "new", plan, "--data", data)
    with served(data, "--processes", 2, "--metrics-port", 0) as (_, process):
        children = [read_notice(folder).pid for folder in playing_folders(data)]
        assert {os.getsid(pid) for pid in children} == set(children), "Ctrl-C is for the arena"
        said("competition", "start", "swiss", "--data", data)
        end_s = time.monotonic() + PATIENCE_S
        while not is_finished("swiss", data):
            assert time.monotonic() < end_s
            time.sleep(0.1)
        status = json.loads(said("status", "--data", data, "--json"))
        process.send_signal(signal.SIGTERM)
        assert ended(process) == ("Drained.\n", "")
    assert process.returncode == 0
    assert not any(map(is_alive, children))

    logs = [word for folder in playing_folders(data) for word in ("--log", folder / "commitments")]
    verdicts = json.loads(said("replay", "verify", data / "replays", *logs, "--json"))["replays"]
    assert len(verdicts) >= 8
    assert [each["number"] for each in status["playing"]] == [1, 2]
    assert all(each["decisions"] > 0 for each in status["playing"]), "both played"
    assert status["decisions"] == {}, "and the arena did not"

    match, bot = verdicts[0]["match_id"], verdicts[0]["bots"][0]
    account = json.loads(said("why", match, bot, "--data", data, "--json"))
    assert (account["match"], account["bot"]) == (match, bot)
