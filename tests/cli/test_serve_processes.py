"""`arena serve --processes`: other processes play, and a person sees one arena."""

import json
import os
import signal
import sys
import time

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.replay.journal.standing import State, standing_of
from arena.server.data_folder import is_running, playing_folders, read_notice, store_path
from arena.store import open_store
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


def until(happened):
    end_s = time.monotonic() + 2 * PATIENCE_S
    while not happened():
        assert time.monotonic() < end_s
        time.sleep(0.1)


SLOW = """
import time
import cardarena


class Slow(cardarena.Bot):
    max_matches = 64

    def move(self, ask):
        time.sleep(0.05)
        return ask.moves[-1]


cardarena.run(Slow, argv=[])
"""


@pytest.mark.slow
def test_who_plays_for_an_arena_that_is_killed_ends_and_no_bot_loses_its_seat(tmp_path):
    data, plan, bot = tmp_path / "data", tmp_path / "plan.toml", tmp_path / "slow.py"
    bot.write_text(SLOW)
    bots = "".join(f'{name} = "{sys.executable} {bot}"\n' for name in ("ann", "bob"))
    long = PLAN.replace("hands = 2", "hands = 40")
    plan.write_text(f'{long}format = "round_robin"\ndeal_sets = 4\n[bots]\n{bots}')
    said("competition", "new", plan, "--data", data)
    with served(data, "--processes", 2, "--metrics-port", 0) as (_, process):
        said("competition", "start", "swiss", "--data", data)

        def play():
            told = json.loads(said("status", "--data", data, "--json"))["playing"]
            return len(told) == 2 and all(
                each["matches"] and each["decisions"] >= 2 for each in told
            )

        until(play)
        process.kill()
    until(lambda: not any(map(is_running, playing_folders(data))))
    with open_store(store_path(data)) as store:
        (game,) = store.competitions().record("swiss").games
    played = [each.id for deal_set in game.open for each in deal_set.matches]
    found = [
        standing_of(folder / "journal", match)
        for folder in playing_folders(data)
        for match in played
    ]
    cut_short = [each for each in found if each is not None and each.state is State.SUSPENDED]
    assert len(cut_short) >= 2
    assert not [each for each in found if each is not None and any(d.fault for d in each.decided)]


@pytest.mark.slow
def test_two_processes_play_a_tournament_that_anybody_can_verify(tmp_path):
    data, plan = tmp_path / "data", tmp_path / "plan.toml"
    plan.write_text(f'{PLAN}format = "swiss"\ndeal_sets = 4\n{BOTS}')
    said("competition", "new", plan, "--data", data)
    with served(data, "--processes", 2, "--metrics-port", 0) as (_, process):
        children = [read_notice(folder).pid for folder in playing_folders(data)]
        assert {os.getsid(pid) for pid in children} == set(children), "Ctrl-C is for the arena"
        said("competition", "start", "swiss", "--data", data)
        until(lambda: is_finished("swiss", data))
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
