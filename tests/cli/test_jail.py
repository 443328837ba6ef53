"""Commands jail the bots that they launch, and say so where they do not."""

import functools
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import arena.cli.jail
from arena.cli import main
from arena.jail import Level, Missing, Wall
from arena.server.data_folder import Notice, read_notice
from tests.cli.serving import served

BOT = str(Path(__file__).parents[2] / "sample_bots" / "abstrac.py")
NO_WALL = (Level.S0, (Missing(Level.S2, "bubblewrap is not installed: apt install bubblewrap"),))
PEEKS = """
import sys
try:
    print("read", open({data!r}).read())
except OSError as error:
    print("hidden", error.strerror)
sys.exit("no more")
"""


def ordered(folder, *arguments):
    return CliRunner().invoke(main, [*map(str, arguments), "--data", str(folder / "data")])


@pytest.fixture(scope="module")
def level(tmp_path_factory):
    with Wall(data=tmp_path_factory.mktemp("data")) as wall:
        if wall.level not in {Level.S2, Level.S3}:
            pytest.skip(wall.why_not_better)
        return wall.level


def levels_in_logs(folder):
    texts = [path.read_text() for path in (folder / "data" / "bots").rglob("*.log")]
    assert texts
    return {
        line.rpartition(" ")[2]
        for text in texts
        for line in text.splitlines()
        if "jailed at" in line
    }


def test_a_match_is_jailed_unless_said_otherwise_and_says_nothing_of_it(tmp_path, level):
    done = ordered(tmp_path, "play", "abstrac", f"a={BOT}", f"b={BOT}", "--json", "-o", "hands=2")
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    assert json.loads(done.stdout)["jail"] == level
    assert levels_in_logs(tmp_path) == {level}


def test_a_tournament_is_jailed_unless_said_otherwise(tmp_path, level):
    order = ("tournament", "abstrac", f"a={BOT}", f"b={BOT}", "--deal-sets", 1, "-o", "hands=2")
    done = ordered(tmp_path, *order)
    assert done.exit_code == 0, done.output
    assert "unjailed" not in done.output
    assert levels_in_logs(tmp_path) == {level}


# fmt: off
UNJAILED = [
    # --jail  without a wall   said on standard error
    ("off",   False,           "bots run unjailed: --jail off was said\n"),
    ("auto",  True,            "bots run unjailed: bubblewrap is not installed: apt install bubblewrap\n"),
]
# fmt: on


@pytest.mark.parametrize(("demand", "none", "said"), UNJAILED, ids=[row[0] for row in UNJAILED])
def test_what_is_not_jailed_is_told_in_one_line(demand, none, said, tmp_path, monkeypatch):
    if none:
        monkeypatch.setattr(Wall, "_found", lambda self: NO_WALL)
    order = ("play", "abstrac", f"a={BOT}", f"b={BOT}", "--json", "-o", "hands=2")
    done = ordered(tmp_path, *order, "--jail", demand)
    assert done.exit_code == 0, done.output
    assert done.stderr == said
    assert json.loads(done.stdout)["jail"] == "S0"
    assert levels_in_logs(tmp_path) == set()


def test_without_namespaces_bots_are_confined_and_it_is_told(tmp_path, monkeypatch):
    at_s1 = functools.partial(arena.cli.jail.raise_wall, most=Level.S1)
    monkeypatch.setattr(arena.cli.jail, "raise_wall", at_s1)
    order = ("play", "abstrac", f"a={BOT}", f"b={BOT}", "--json", "-o", "hands=2")
    done = ordered(tmp_path, *order)
    assert done.exit_code == 0, done.output
    if json.loads(done.stdout)["jail"] == Level.S0:
        pytest.skip(done.stderr)
    assert json.loads(done.stdout)["jail"] == Level.S1
    assert done.stderr == "bots are jailed at S1 only: it was not asked for\n"
    assert levels_in_logs(tmp_path) == {Level.S1}


@pytest.mark.parametrize("command", ["play", "tournament"])
def test_without_a_wall_that_is_required_nothing_is_played(command, tmp_path, monkeypatch):
    monkeypatch.setattr(Wall, "_found", lambda self: NO_WALL)
    done = ordered(tmp_path, command, "abstrac", BOT, BOT, "--jail", "require")
    assert done.exit_code == 1
    assert "bots cannot be jailed as --jail require asks: bubblewrap is not inst" in done.output
    assert not (tmp_path / "data" / "replays").exists()


def test_a_bot_at_the_terminal_is_in_no_jail(tmp_path):
    done = ordered(tmp_path, "play", "abstrac", BOT, BOT, "--debug", "--jail", "require")
    assert done.exit_code == 2
    assert "--debug gives a bot this terminal, which no jail has" in done.output


# fmt: off
READS = [
    ("off",  "read secret",   "without a jail: so the test can fail"),
    ("auto", "hidden No such file or directory", "with one"),
]
# fmt: on


@pytest.mark.parametrize(("demand", "said", "why"), READS, ids=[row[-1] for row in READS])
def test_a_launched_bot_does_not_read_the_arenas_data(demand, said, why, tmp_path, level):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "arena-secret").write_text("secret")
    bot = tmp_path / "bots" / "peeks.py"
    bot.parent.mkdir()
    bot.write_text(PEEKS.format(data=str(tmp_path / "data" / "arena-secret")))
    done = ordered(tmp_path, "play", "abstrac", bot, BOT, "--jail", demand)
    assert said in done.output


def test_a_bot_that_needs_what_is_hidden_is_told_how_to_be_given_it(tmp_path, level):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "net.pt").write_text("weights")
    bot = tmp_path / "bots" / "my.py"
    bot.parent.mkdir()
    code = f"print(open({str(tmp_path / 'models' / 'net.pt')!r}).read())\nraise SystemExit(7)\n"
    bot.write_text(code)
    order = ("play", "abstrac", bot, BOT)
    assert (
        f"the jail hides {tmp_path}/models: add --ro {tmp_path}/models"
        in ordered(tmp_path, *order).output
    )
    given = ordered(tmp_path, *order, "--ro", tmp_path / "models")
    assert "weights" in given.output
    assert "the jail hides" not in given.output


def test_nobody_is_given_the_arenas_data_to_read(tmp_path):
    (tmp_path / "data").mkdir()
    for path in (tmp_path / "data", tmp_path):
        done = ordered(tmp_path, "play", "abstrac", BOT, BOT, "--ro", path)
        assert done.exit_code == 2
        assert f"--ro {path}: it holds the arena's data" in done.output


def test_bots_beside_the_data_are_alone_and_told_so(tmp_path, level):
    for name in ("my.py", "helper.py"):
        (tmp_path / name).write_text("import helper\n")
    done = ordered(tmp_path, "play", "abstrac", tmp_path / "my.py", BOT)
    assert "my sees my.py alone, as its folder holds the arena's data" in done.stderr
    assert f"the jail hides {tmp_path}/helper.py: add --ro {tmp_path}/helper.py" in done.output


def test_an_arena_tells_its_level(tmp_path, level):
    with served(tmp_path):
        told = read_notice(tmp_path)
        assert told.jail == level
        done = CliRunner().invoke(main, ["status", "--data", str(tmp_path)])
    assert f"  jail        {level}: launched bots are behind a wall" in done.output


def test_a_notice_of_an_older_arena_has_no_level(tmp_path):
    (tmp_path / "server.json").write_text(
        '{"pid": 1, "address": "a", "metrics": "", "started_unix_s": 1.0, "version": "0"}'
    )
    assert read_notice(tmp_path) == Notice(1, "a", "", 1.0, "0", "")
