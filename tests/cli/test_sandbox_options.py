"""Commands sandbox the bots that they launch, and say so where they do not."""

import functools
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import arena.cli.sandbox_options
from arena.cli import main
from arena.cli.sandbox_options import SandboxChoice
from arena.cli.worker_process import worker_command
from arena.sandbox.sandbox import MissingLevel, Sandbox, SandboxDemand, SandboxTrial
from arena.sandbox.spawner.order import Level
from arena.store.data_folder import RunningNotice, read_notice
from tests.cli.serving import served
from tests.programs import require

BOT = str(Path(__file__).parents[2] / "sample_bots" / "abstrac.py")
NO_WALL = SandboxTrial(
    Level.S0,
    (MissingLevel(Level.S2, "bubblewrap is not installed: apt install bubblewrap"),),
    "",
)
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
    require("bubblewrap")
    with Sandbox(data=tmp_path_factory.mktemp("data")) as sandbox:
        if sandbox.level not in {Level.S2, Level.S3}:
            pytest.skip(sandbox.why_not_better)
        return sandbox.level


def levels_in_logs(folder):
    texts = [path.read_text() for path in (folder / "data" / "bots").rglob("*.log")]
    assert texts
    return {
        line.rpartition(" ")[2]
        for text in texts
        for line in text.splitlines()
        if "sandboxed at" in line
    }


def test_a_match_is_sandboxed_unless_said_otherwise_and_says_nothing_of_it(tmp_path, level):
    done = ordered(tmp_path, "play", "abstrac", f"a={BOT}", f"b={BOT}", "--json", "-o", "hands=2")
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    assert json.loads(done.stdout)["sandbox"] == level
    assert levels_in_logs(tmp_path) == {level}


@pytest.mark.slow
def test_a_tournament_is_sandboxed_unless_said_otherwise(tmp_path, level):
    order = ("tournament", "abstrac", f"a={BOT}", f"b={BOT}", "--deal-sets", 1, "-o", "hands=2")
    done = ordered(tmp_path, *order)
    assert done.exit_code == 0, done.output
    assert "unsandboxed" not in done.output
    assert levels_in_logs(tmp_path) == {level}


# fmt: off
UNSANDBOXED = [
    # --sandbox  without a sandbox   said on standard error
    ("off",   False,           "bots run unsandboxed: --sandbox off was said\n"),
    ("auto",  True,            "bots run unsandboxed: bubblewrap is not installed: apt install bubblewrap\n"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(
    ("demand", "none", "said"),
    UNSANDBOXED,
    ids=[row[0] for row in UNSANDBOXED],
)
def test_what_is_not_sandboxed_is_told_in_one_line(demand, none, said, tmp_path, monkeypatch):
    if none:
        monkeypatch.setattr(Sandbox, "_found", lambda self: NO_WALL)
    order = ("play", "abstrac", f"a={BOT}", f"b={BOT}", "--json", "-o", "hands=2")
    done = ordered(tmp_path, *order, "--sandbox", demand)
    assert done.exit_code == 0, done.output
    # On a busy machine a line says for whom the match waits.
    lines = [line for line in done.stderr.splitlines(keepends=True) if "to move" not in line]
    assert lines == [said]
    assert json.loads(done.stdout)["sandbox"] == "S0"
    assert levels_in_logs(tmp_path) == set()


@pytest.mark.slow
def test_without_namespaces_bots_are_confined_and_it_is_told(tmp_path, monkeypatch):
    at_s1 = functools.partial(arena.cli.sandbox_options.raise_sandbox, most=Level.S1)
    monkeypatch.setattr(arena.cli.sandbox_options, "raise_sandbox", at_s1)
    order = ("play", "abstrac", f"a={BOT}", f"b={BOT}", "--json", "-o", "hands=2")
    done = ordered(tmp_path, *order)
    assert done.exit_code == 0, done.output
    if json.loads(done.stdout)["sandbox"] == Level.S0:
        pytest.skip(done.stderr)
    assert json.loads(done.stdout)["sandbox"] == Level.S1
    assert done.stderr == "bots are sandboxed at S1 only: it was not requested\n"
    assert levels_in_logs(tmp_path) == {Level.S1}


@pytest.mark.parametrize("command", ["play", "tournament"])
def test_without_a_sandbox_that_is_required_nothing_is_played(command, tmp_path, monkeypatch):
    monkeypatch.setattr(Sandbox, "_found", lambda self: NO_WALL)
    done = ordered(tmp_path, command, "abstrac", BOT, BOT, "--sandbox", "require")
    assert done.exit_code == 1
    assert (
        "bots cannot be sandboxed as --sandbox require asks: bubblewrap is not inst" in done.output
    )
    assert not (tmp_path / "data" / "replays").exists()


def test_a_bot_at_the_terminal_is_in_no_sandbox(tmp_path):
    done = ordered(tmp_path, "play", "abstrac", BOT, BOT, "--debug", "--sandbox", "require")
    assert done.exit_code == 2
    assert "--debug gives a bot this terminal, which no sandbox allows" in done.output


# fmt: off
READS = [
    ("off",  "read secret",   "without a sandbox: so the test can fail"),
    ("auto", "hidden No such file or directory", "with one"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(("demand", "said", "why"), READS, ids=[row[-1] for row in READS])
def test_a_launched_bot_does_not_read_the_arenas_data(demand, said, why, tmp_path, level):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "arena-secret").write_text("secret")
    bot = tmp_path / "bots" / "peeks.py"
    bot.parent.mkdir()
    bot.write_text(PEEKS.format(data=str(tmp_path / "data" / "arena-secret")))
    done = ordered(tmp_path, "play", "abstrac", bot, BOT, "--sandbox", demand)
    assert said in done.output


@pytest.mark.slow
def test_a_bot_that_needs_what_is_hidden_is_told_how_to_be_given_it(tmp_path, level):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "net.pt").write_text("weights")
    bot = tmp_path / "bots" / "my.py"
    bot.parent.mkdir()
    code = f"print(open({str(tmp_path / 'models' / 'net.pt')!r}).read())\nraise SystemExit(7)\n"
    bot.write_text(code)
    order = ("play", "abstrac", bot, BOT)
    assert (
        f"the sandbox hides {tmp_path}/models: add --ro {tmp_path}/models"
        in ordered(tmp_path, *order).output
    )
    given = ordered(tmp_path, *order, "--ro", tmp_path / "models")
    assert "weights" in given.output
    assert "the sandbox hides" not in given.output


def test_nobody_is_given_the_arenas_data_to_read(tmp_path):
    (tmp_path / "data").mkdir()
    for path in (tmp_path / "data", tmp_path):
        done = ordered(tmp_path, "play", "abstrac", BOT, BOT, "--ro", path)
        assert done.exit_code == 2
        assert f"--ro {path}: it holds the arena's data" in done.output


@pytest.mark.slow
@pytest.mark.usefixtures("level")
def test_a_bot_beside_the_data_imports_its_modules_and_sees_no_data(tmp_path):
    mine, data = tmp_path / "my.py", str(tmp_path / "data")
    (tmp_path / "helper.py").write_text(f"import os; SEES_DATA = os.path.exists({data!r})\n")
    mine.write_text(f"import helper\nassert not helper.SEES_DATA\n{Path(BOT).read_text()}")
    done = ordered(tmp_path, "play", "abstrac", mine, BOT)
    assert (done.exit_code, done.stderr) == (0, ""), done.output


@pytest.mark.usefixtures("level")
def test_a_bot_in_a_home_folder_is_alone_and_told_so(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("my.py", "helper.py"):
        (tmp_path / name).write_text("import helper\n")
    done = CliRunner().invoke(
        main, ["play", "abstrac", f"{tmp_path}/my.py", BOT, "--data", f"{tmp_path}/x/data"]
    )
    assert "my sees my.py alone, as its folder is your home folder" in done.stderr
    assert "the sandbox hides ~/helper.py: add --ro ~/helper.py" in done.output


@pytest.mark.slow
def test_an_arena_tells_its_level(tmp_path, level):
    with served(tmp_path):
        notice = read_notice(tmp_path)
        assert notice.sandbox == level
        done = CliRunner().invoke(main, ["status", "--data", str(tmp_path)])
    assert f"  sandbox     {level}: launched bots are sandboxed" in done.output


def test_a_notice_of_an_older_arena_has_no_level(tmp_path):
    (tmp_path / "server.json").write_text(
        '{"pid": 1, "address": "a", "metrics": "", "started_unix_s": 1.0, "version": "0"}'
    )
    assert read_notice(tmp_path) == RunningNotice(1, "a", "", 1.0, "0", "")


def choice_of(words, monkeypatch, folder):
    """The sandbox that a command would build."""

    class Stop(Exception):
        pass

    def stop(_, **chosen):
        raise Stop(chosen)

    monkeypatch.setattr(arena.cli.sandbox_options, "raise_sandbox", stop)
    done = ordered(folder, *words)
    assert isinstance(done.exception, Stop), done.output
    return done.exception.args[0]


# fmt: off
OF_SEVERAL_OWNERS = [
    # command                                            in memory?
    (("serve", "--port", "0"),                           True),
    (("serve", "--port", "0", "--bot-files", "disk"),    False),
    (("tournament", "abstrac", BOT, BOT),                True),
    (("play", "abstrac", BOT, BOT),                      False),
    (("compare", BOT, BOT, "--game", "abstrac"),         False),
]
# fmt: on


@pytest.mark.parametrize(
    ("words", "in_memory"),
    OF_SEVERAL_OWNERS,
    ids=["serve", "serve from the disk", "tournament", "play", "compare"],
)
def test_where_bots_of_several_owners_play_their_files_are_in_memory(
    words, in_memory, tmp_path, monkeypatch
):
    assert choice_of(words, monkeypatch, tmp_path)["in_memory"] is in_memory


def test_a_worker_of_an_arena_keeps_files_as_the_arena_does(tmp_path):
    for in_memory, word in ((True, "memory"), (False, "disk")):
        choice = SandboxChoice(SandboxDemand.AUTO, (), in_memory)
        command = worker_command(tmp_path, confinement=choice, take_all=False)
        words = command(0, tmp_path)
        assert words[words.index("--bot-files") + 1] == word


@pytest.mark.usefixtures("level")
def test_an_organiser_reads_why_files_stay_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("arena.sandbox.sandbox.MAX_COMMAND_BYTES", 1 << 20)
    words = ("abstrac", f"a={BOT}", f"b={BOT}", "--deal-sets", 1, "-o", "hands=2")
    said = r"bots can tell by time which files other bots have read: [ab] may read \d+ MB, and at most 1 MB"
    assert re.search(said, ordered(tmp_path / "one", "tournament", *words).stderr)
    quiet = ordered(tmp_path / "two", "tournament", *words, "--bot-files", "disk")
    assert quiet.exit_code == 0
    assert "bots can tell" not in quiet.stderr
