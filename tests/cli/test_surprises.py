"""What surprises an organiser is noticed, and told in a sentence."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
import trio

from arena.app.arena_process import ServerSettings, serve
from arena.bots.tokens import Tokens
from arena.cli.options import bot_commands
from arena.durable_files import Unwritten
from arena.live.self_probe import SelfProbe
from arena.sandbox import content
from arena.sandbox.command import SAMPLE_BOTS, BadCommand, parse_commands
from arena.sandbox.content import changed_files
from arena.store.data_folder import FolderMonitor
from tests.cli.test_expected_errors import BOT, arena

PATIENCE_S = 60
FIRST = str(Path(BOT).with_name("first_bot.py"))


def tournament(data, *bots, **options):
    given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    return arena("tournament", "abstrac", *bots, "-o", "hands=2", "--data", data, *given)


# A sample bot by the path that it has in a checkout.

# fmt: off
SAMPLES = [
    ("sample_bots/loo.py",    None,     "that of the engine, where the folder has none"),
    ("sample_bots/loo.py",    "loo.py", "the folder's own, where it has one"),
]
# fmt: on


@pytest.mark.parametrize(("text", "own", "why"), SAMPLES, ids=[row[-1] for row in SAMPLES])
def test_a_sample_bot_is_found_in_any_folder(text, own, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if own:
        Path("sample_bots").mkdir()
        Path("sample_bots", own).touch()
    (bot,) = parse_commands([text])
    assert Path(bot.argv[-1]).parent == (tmp_path / "sample_bots" if own else SAMPLE_BOTS)
    assert bot.name == "loo"


def test_a_sample_bot_that_there_is_not_is_a_file_that_does_not_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadCommand, match="does not exist"):
        parse_commands(["sample_bots/whist.py"])


# A bot's file that changes.


@pytest.fixture
def edited(tmp_path):
    """A folder with a tournament that was played, one of whose bots was then edited."""
    bot, data = tmp_path / "mine.py", tmp_path / "data"
    shutil.copy(FIRST, bot)
    assert tournament(data, bot, BOT, deal_sets=1).exit_code == 0
    with bot.open("a") as file:
        file.write("# better\n")
    return data, bot


@pytest.mark.slow
def test_a_bot_that_was_edited_is_noticed_and_may_be_accepted(edited):
    data, bot = edited
    refused = tournament(data, bot, BOT, deal_sets=2)
    assert refused.exit_code == 1
    said = " ".join(refused.output.split())
    assert "files of bots have changed: mine (in mine.py) since 'abstrac' began" in said
    assert "give --name for a new one, or --accept-changed to continue this one" in said
    assert tournament(data, bot, BOT, name="new", deal_sets=1).exit_code == 0
    accepted = arena(
        "tournament", "abstrac", bot, BOT, "-o", "hands=2", "--deal-sets", 2, "--data", data,
        "--accept-changed", "--json",
    )  # fmt: skip
    assert json.loads(accepted.stdout)["games"][0]["deal_sets"] == {
        "complete": 2,
        "planned": 2,
        "within_teams": 0,
    }
    assert tournament(data, bot, BOT, deal_sets=2).exit_code == 0, "it is known now"


# fmt: off
CONTENTS = [
    # what is run        the file that changes   noticed   why
    ("a.py",             "a.py",                 True,     "a Python file"),
    ("./prog",           "prog",                 True,     "a program"),
    ("python a.py w.bin", "w.bin",               True,     "a file that it is given"),
    ("python a.py w.bin", "other",               False,    "a file that it is not given"),
    ("./prog a.py",      "prog",                 False,    "what runs the file it is given"),
    ("cardarena bridge -- ./prog", "prog",       True,     "a program behind the bridge"),
    ("cardarena bridge -- sh prog", "prog",      True,     "a script behind the bridge"),
    ("cardarena bridge -- sh prog", "other",     False,    "a file beside a script behind the bridge"),
]
# fmt: on


@pytest.mark.parametrize(
    ("command", "file", "noticed", "why"), CONTENTS, ids=[row[-1] for row in CONTENTS]
)
def test_what_counts_as_the_bot_is(command, file, noticed, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "prog", "w.bin", "other"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    (bot,) = parse_commands([command])
    before = bot.content()
    (tmp_path / file).write_text("#!/bin/sh\n# changed\n")
    assert (bot.content() != before) is noticed


# fmt: off
BEHIND = [
    # command                                       name     its own program and arguments     why
    ("cardarena bridge -- ./prog",                  "prog",  ("prog",),                        "a program"),
    ("cardarena bridge --per-match -- sh w.sh 7",   "w",     ("sh", "w.sh", "7"),              "a script"),
    ("cardarena bridge -- a.py",                    "a",     ("python", "a.py"),               "a Python file"),
]
# fmt: on


@pytest.mark.parametrize(("command", "name", "own", "why"), BEHIND, ids=[row[-1] for row in BEHIND])
def test_a_command_behind_the_bridge_is_read_like_any_other(
    command, name, own, why, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for file in ("a.py", "prog", "w.sh"):
        (tmp_path / file).write_text("#!/bin/sh\n")
        (tmp_path / file).chmod(0o755)
    (bot,) = parse_commands([command])
    assert bot.name == name
    found = {"sh": shutil.which("sh"), "python": sys.executable, "7": "7"}
    assert bot.own_argv == tuple(found.get(word, str(tmp_path / word)) for word in own)


def test_a_program_behind_the_bridge_must_exist():
    with pytest.raises(BadCommand, match="nobody' of the bot"):
        parse_commands(["cardarena bridge -- ./nobody"])


# fmt: off
BESIDE = [
    # the file of the bot's folder       what becomes of it  what is said    why
    ("helper.py",                        "edited",  "(in helper.py)",        "a module beside it"),
    ("pack/deep/table.py",               "edited",  "(in pack/deep/table.py)", "a module of a package"),
    ("new.py",                           "made",    "(in new.py (new))",     "a module that is new"),
    ("helper.py",                        "removed", "(in helper.py (gone))", "a module that is gone"),
    ("fast.so",                          "edited",  "(in fast.so)",          "a library that it may load"),
    ("link.py",                          "edited",  "(in link.py)",          "a link to a module elsewhere"),
    ("weights.bin",                      "edited",  "",                      "data, which is not code"),
    (".hidden.py",                       "edited",  "",                      "a hidden file, as an editor's"),
    (".git/hooks.py",                    "edited",  "",                      "a hidden folder"),
    ("__pycache__/helper.py",            "edited",  "",                      "a cache"),
    ("env/lib/site.py",                  "edited",  "",                      "an environment that it runs in"),
    ("node_modules/x/index.js",          "edited",  "",                      "packages that were installed"),
    ("CMakeFiles/x/compiler_depend.ts",  "edited",  "",                      "what CMake notes of a build"),
    ("../elsewhere.py",                  "edited",  "",                      "a file beside its folder"),
]
# fmt: on


@pytest.mark.parametrize(("file", "deed", "said", "why"), BESIDE, ids=[row[-1] for row in BESIDE])
def test_what_the_bots_folder_has_of_code_counts(file, deed, said, why, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "linked.py").write_text("as it was")
    (folder / "link.py").symlink_to(tmp_path / "elsewhere" / "linked.py")
    for name, *_ in BESIDE:
        if name not in ("new.py", "link.py"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("as it was")
    (folder / "env" / "pyvenv.cfg").touch()
    (folder / "mine.py").write_text("import helper")

    (bot,) = parse_commands([f"mine={folder / 'mine.py'}"])
    before = bot.content()
    if deed == "removed":
        (folder / file).unlink()
    else:
        (folder / file).write_text("otherwise")
    now = bot.content()
    assert (before == now) == (not said)
    assert changed_files(before, now) == (f" {said}" if said else "")


def test_a_few_of_many_changed_files_are_named(tmp_path):
    before = "\n".join(f"{at:x} {at}.py" for at in range(9))
    now = "\n".join(f"{at + 1:x} {at}.py" for at in range(9))
    assert changed_files(before, now) == " (in 0.py, 1.py, 2.py and 6 more)"


def test_a_bots_folder_is_looked_at_within_bounds(tmp_path, monkeypatch):
    """What is nearest to the bot comes first, so that a change there is never overlooked."""
    for at in range(40):
        (tmp_path / f"{at:02}.py").write_text("x" * 100)
        (tmp_path / "far").mkdir(exist_ok=True)
        (tmp_path / "far" / f"{at:02}.py").write_text("x" * 100)
    (bot,) = parse_commands([str(tmp_path / "39.py")])
    assert len(bot.content().splitlines()) == 80
    monkeypatch.setattr(content, "MAX_FILES", 41)
    assert [line.rpartition(" ")[2] for line in bot.content().splitlines()][-2:] == [
        "39.py",
        "far/00.py",
    ]
    monkeypatch.setattr(content, "MAX_BYTES", 1_000)
    assert len(bot.content().splitlines()) == 11


# A line-up that never played.


@pytest.mark.slow
def test_a_line_up_that_never_played_does_not_hold_its_name(tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit('no model')")
    data = tmp_path / "data"
    assert tournament(data, broken, BOT, deal_sets=1).exit_code == 1
    assert tournament(data, FIRST, BOT, deal_sets=1).exit_code == 0


# A folder that is deleted.


@pytest.mark.parametrize("part", [".", "replays", "journal", "arena.db", "lock"])
def test_a_folder_that_is_removed_is_noticed(part, tmp_path):
    for name in ("replays", "journal"):
        (tmp_path / name).mkdir()
    # As an arena has them open, their places on the disk are not given to others.
    held = [(tmp_path / name).open("w") for name in ("lock", "arena.db")]
    watch = FolderMonitor(tmp_path, tmp_path / "arena.db", tmp_path / "replays")
    assert watch.is_whole()
    (tmp_path / "replays" / "m1.replay").touch()
    assert watch.is_whole()
    gone = tmp_path / part
    if gone.is_dir():
        shutil.rmtree(gone)
    else:
        gone.unlink()
    assert not watch.is_whole()
    gone.mkdir()
    assert not watch.is_whole(), "another in its place is not the same"
    watch.close()
    for file in held:
        file.close()


@pytest.mark.parametrize("error", [None, LookupError("x")], ids=["in order", "in an error"])
def test_an_arena_that_ends_without_its_folder_says_so(error, tmp_path):
    """Also if it ends before it looks again."""
    data = tmp_path / "data"

    async def main(_):
        shutil.rmtree(data)
        if error is not None:
            raise error

    with pytest.raises(Unwritten, match="was removed, in whole or in part"):
        serve(ServerSettings(data), Tokens(), main)


# fmt: off
AT_THE_START = [
    (RuntimeError("of gRPC"), RuntimeError, "of gRPC",                        "an unexpected error"),
    (OSError(24, "files"),    OSError,      "files",                          "one of the system"),
]
# fmt: on


@pytest.mark.parametrize(
    ("error", "kind", "says", "why"), AT_THE_START, ids=[row[-1] for row in AT_THE_START]
)
def test_an_arena_that_cannot_listen_ends_with_the_error(
    error, kind, says, why, tmp_path, monkeypatch
):
    """The program waits for the servers, which never come."""

    def fails(*_):
        raise error

    monkeypatch.setattr(SelfProbe, "listen", fails)
    with pytest.raises(kind, match=says):
        serve(ServerSettings(tmp_path / "data"), Tokens(), trio.sleep_forever)


@pytest.mark.slow
def test_a_tournament_whose_folder_is_deleted_fails(tmp_path):
    data = tmp_path / "data"
    command = [sys.executable, "-m", "arena", "tournament", "democracy", f"a={BOT}", f"b={BOT}"]
    process = subprocess.Popen(
        [*command, "--deal-sets", "400", "--data", data],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + PATIENCE_S
    while not any((data / "replays").glob("*.replay")):  # a real process: no clock to mock
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    shutil.rmtree(data, ignore_errors=True)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, out
    assert f"the folder {data} was removed, in whole or in part" in err
    assert "Traceback" not in err


# Where to serve.

# fmt: off
SERVE = [
    (("--port", "99999"),                         "99999 is not in the range 0<=x<=65535",  "a port that there is not"),
    (("--port", "-1"),                            "-1 is not in the range 0<=x<=65535",     "a negative port"),
    (("--metrics-port", "99999"),                 "99999 is not in the range 0<=x<=65535",  "another port"),
    (("--host", "192.0.2.1", "--insecure"),       "192.0.2.1 is no address of this machine", "somebody else's address"),
    (("--host", "no.such.host.invalid", "--insecure"), "there is no host 'no.such.host.invalid'", "a name that nobody has"),
    (("--drain", "-1"),                           "-1.0 is not in the range x>=0",          "a time before now"),
]
# fmt: on


@pytest.mark.parametrize(("arguments", "words", "why"), SERVE, ids=[row[-1] for row in SERVE])
def test_where_an_arena_cannot_listen_is_said(arguments, words, why, tmp_path):
    result = arena("serve", *arguments, "--data", tmp_path)
    assert result.exit_code != 0
    assert words in " ".join(result.output.split())
    assert "Traceback" not in result.output


# What is no bot.


@pytest.fixture
def oddities(tmp_path, monkeypatch):
    """A folder with what people name by mistake."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("# My bot\n")
    (tmp_path / "bot.sh").write_text("#!/bin/sh\n")
    (tmp_path / "made").write_text("#!/bin/sh\n")
    (tmp_path / "made").chmod(0o755)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "main.py").touch()
    (tmp_path / "folder.py").mkdir()
    return tmp_path


# fmt: off
NO_BOTS = [
    ("./bot.sh",    "the file './bot.sh' of the bot './bot.sh' is not executable: chmod +x bot.sh makes it so", "a script without the right to run"),
    ("./README.md", "is not executable: give a program, or say what runs it, as in 'node bot.js'", "a README"),
    ("README.md",   "'README.md' of the bot 'README.md' is a file, but not a program",             "a README without its folder"),
    ("made",        "the program 'made' of the bot 'made' is here: call it as ./made",             "a program here, not on the path"),
    ("./folder",    "'./folder' of the bot './folder' is a folder, not a program; name a file in it, such as folder/main.py", "a folder"),
    ("folder.py",   "'folder.py' of the bot 'folder.py' is a folder, not a file",                  "a folder that is called as a file"),
    ("nosuch",      "the program 'nosuch' of the bot 'nosuch' does not exist",                     "nothing"),
]
# fmt: on


@pytest.mark.parametrize(("bot", "words", "why"), NO_BOTS, ids=[row[-1] for row in NO_BOTS])
def test_what_is_no_bot_is_said_to_be(bot, words, why, oddities):
    with pytest.raises(BadCommand) as error:
        parse_commands([bot])
    assert words in str(error.value)


# fmt: off
FOLDERS = [
    ("./new",     "new", "a folder goes by its name"),
    ("old=./new", "old", "or by the one that it is given"),
]
BAD_FOLDERS = [
    ("command = [",         "bot.toml: this is not TOML", "a broken manifest"),
    ("memory_mb = 16",      "has no command",             "one that starts nothing"),
]
# fmt: on


@pytest.fixture
def manifest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "bot.py").touch()
    (tmp_path / "new" / "bot.toml").write_text('command = ["python", "bot.py"]')
    return tmp_path / "new" / "bot.toml"


@pytest.mark.parametrize(("text", "name", "why"), FOLDERS, ids=[row[-1] for row in FOLDERS])
def test_a_folder_with_a_manifest_is_a_bot(manifest, text, name, why):
    (command,) = bot_commands([text])
    assert (command.name, command.argv[1:]) == (name, (str(manifest.with_name("bot.py")),))


@pytest.mark.parametrize(
    ("toml", "words", "why"), BAD_FOLDERS, ids=[row[-1] for row in BAD_FOLDERS]
)
def test_a_folder_whose_manifest_is_wrong_is_told_so(manifest, toml, words, why):
    manifest.write_text(toml)
    with pytest.raises(click.ClickException, match=words):
        bot_commands(["./new"])


def test_a_readme_that_is_executable_is_no_program(oddities):
    (oddities / "README.md").chmod(0o755)
    result = arena("play", "abstrac", "./README.md", BOT, "--data", oddities / "data")
    assert result.exit_code == 1
    assert "it is no program, nor a script with #!" in " ".join(result.output.split())


# A folder of data that is not there.

# fmt: off
READING = [
    ("match", "list"), ("replay", "show", "last"), ("match", "why", "last", "a"), ("competition", "list"),
    ("keys", "list"), ("keys", "revoke", "Xy3kPq9A"), ("keys", "arena-key"), ("status",),
]
# fmt: on


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_who_only_reads_a_folder_makes_none_and_says_that_it_is_not_there(command, tmp_path):
    result = arena(*command, "--data", tmp_path / "nosuch")
    assert result.exit_code == 1
    words = f"there is no folder {tmp_path}/nosuch: name an arena's data with --data"
    assert words in " ".join(result.output.split())
    assert not (tmp_path / "nosuch").exists()
