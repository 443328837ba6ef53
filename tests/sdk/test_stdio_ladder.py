"""A bot that is a shell script: submitted, qualified, and on a ladder in the sandbox."""

import json
import shutil
import time
from pathlib import Path

import pytest

from tests.programs import require
from tests.sdk.test_stdio_bots import FOLDER
from tests.test_demo import demo

PATIENCE_S = 120.0
DEAL_SETS = 2
"""After so many deal-sets the bot has played on the ladder."""
PLAN = """\
name = "ladder"
kind = "ladder"
game = "sixty_six"
seats = 2
seed = "stdio"
options = { hands = 2 }

[bots]
random = "RANDOM_BOT"
"""
MANIFEST = """\
command = ["bot.sh"]
protocol = "stdio"
memory_mb = 256
processes = 32

[[games]]
id = "sixty_six"
"""


def played(line):
    """The deal-sets that have been played, of a line of `arena competition show --follow --json`."""
    (game,) = json.loads(line)["games"]
    return game["complete"]


@pytest.mark.slow
def test_a_shell_script_is_submitted_qualified_and_plays_a_ladder_in_the_sandbox(tmp_path):
    require("bubblewrap")
    arena, data, bot = demo.Arena(tmp_path / "config"), tmp_path / "data", tmp_path / "shell"
    bot.mkdir()
    shutil.copy(FOLDER / "random.sh", bot / "bot.sh")
    (bot / "bot.toml").write_text(MANIFEST)
    # A copy, as tests beside this one build sample bots in their folder, and a bot whose files change is paused.
    copied = shutil.copy(demo.BOTS / "random_bot.py", tmp_path)
    (tmp_path / "ladder.toml").write_text(PLAN.replace("RANDOM_BOT", copied))
    arena("competition", "new", tmp_path / "ladder.toml", "--data", data)
    serve = (
        "-m",
        "arena",
        "serve",
        "--drain",
        "0",
        "--port",
        "0",
        "--take-all",
        "--data",
        str(data),
    )
    with arena.running(*serve, log=tmp_path / "serve.log") as process:
        line = process.stdout.readline()
        address = line.partition("listens on ")[2].partition(". ")[0]
        assert address, Path(tmp_path / "serve.log").read_text()
        level = json.loads(arena("status", "--json", "--data", data))["sandbox"]
        assert level in ("S2", "S3"), f"bubblewrap is here, and the sandbox is {level}"
        token = arena("keys", "new", "organiser", "--owner", "org", "--data", data).strip()
        code = arena("owners", "invite", "ann", "--server", address, token=token).strip()
        arena("owners", "register", address, "--code", code)
        assert "qualified for 1 of 1 game" in arena("bots", "submit", "shell", bot)
        arena("bots", "activate", "shell@1")
        arena("competition", "enter", "ladder", "shell", "--server", address)
        arena("competition", "start", "ladder", "--data", data)
        until_s = time.monotonic() + PATIENCE_S
        show = ("competition", "show", "ladder", "--data", str(data), "--json")
        with arena.running("-m", "arena", *show, "--follow", log=tmp_path / "log") as followed:
            while (sets := played(followed.stdout.readline())) < DEAL_SETS:  # a line a second
                assert time.monotonic() < until_s, sets
        (game,) = json.loads(arena(*show, show=False))["standings"]["games"]
    (row,) = [row for row in game["rows"] if row["bot"] == "shell@1"]
    assert row["deal_sets"] >= DEAL_SETS
    assert not row["faults"]
