"""Commands of bots: the words that a bot gets, its name, its folder, and what is said of a wrong one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.sandbox.command import BadCommand, BotCommand, parse_commands
from arena.sandbox.visible_files import visible_to

TELLS = "import sys; print(*sys.argv[1:]); print(__name__, __package__)"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of an author, in which commands are typed."""
    monkeypatch.chdir(tmp_path)
    for name in ("bot.py", "fast", "v/bin/python", "mybot/__main__.py", "mybot/__init__.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    for name in ("my bots/bot.py", "Jörg/bot.py", "müller.py", "a=b.py", "bot.js", "lib/x.jar"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    (tmp_path / "v" / "bin" / "python").unlink()
    (tmp_path / "v" / "bin" / "python").symlink_to(sys.executable)
    return tmp_path


# fmt: off
WORDS = [
    # typed                               the words after the program                     why
    ("bot.py fast",                       ("{here}/bot.py", "fast"),                      "a word stays, although a file has its name"),
    ("bot.py mybot",                      ("{here}/bot.py", "mybot"),                     "or a folder"),
    ("bot.py ./fast",                     ("{here}/bot.py", "{here}/fast"),               "a word with a slash is a path, as the bot runs in its own folder"),
    ("v/bin/python bot.js",               ("{here}/bot.js",),                             "a word with a suffix is one too"),
    ("sh fast fast",                      ("{here}/fast", "fast"),                      "what a program is to run is one"),
    ("v/bin/python -cp lib/x.jar:nothing", ("-cp", "lib/x.jar:nothing"),                  "a word that is no path stays"),
    ("nice -n 1 v/bin/python bot.py",     ("-n", "1", "{here}/v/bin/python", "{here}/bot.py"), "a link stays, by which a Python knows its environment"),
    ("nice v/../v/bin/python bot.py",     ("{here}/v/bin/python", "{here}/bot.py"),       "also behind two dots"),
]
# fmt: on


@pytest.mark.parametrize(("typed", "words", "why"), WORDS, ids=[row[-1] for row in WORDS])
def test_a_bot_gets_the_words_that_were_typed(typed, words, why, folder):
    (command,) = parse_commands([typed])
    assert command.argv[1:] == tuple(word.format(here=folder) for word in words)


# fmt: off
MODELS = [
    ("env cardarena llm",                     "env",   "no model is named"),
    ("v/cardarena llm --model qwen3",         "qwen3", "its model"),
    ("v/cardarena llm --model meta/llama-3",  "llama-3", "a model of an organisation"),
]
# fmt: on


@pytest.mark.parametrize(("typed", "name", "_why"), MODELS, ids=[row[-1] for row in MODELS])
def test_a_language_model_is_called_after_its_model(typed, name, _why, folder):
    (folder / "v" / "cardarena").touch(0o755)
    (command,) = parse_commands([typed])
    assert command.name == name


@pytest.mark.parametrize("python", ["python3", "v/bin/python"])
def test_a_module_of_the_folder_is_started_wherever_the_bot_runs(python, folder):
    (folder / "mybot" / "__main__.py").write_text(TELLS)
    (command,) = parse_commands([f"{python} -m mybot fast mybot"])
    done = subprocess.run(command.argv, cwd="/", capture_output=True, text=True, check=True)
    assert done.stdout == "fast mybot\n__main__ mybot\n"
    assert command.name == "mybot"
    assert command.folder == folder
    assert visible_to(command, folder.parent / "data").holds(folder / "mybot" / "__init__.py")
    again = parse_commands([command.text])[0]
    assert again.argv == command.argv, "a competition reads its text again"


def test_a_module_that_is_installed_is_left_to_python(folder):
    assert parse_commands(["python3 -m timeit"])[0].argv[1:] == ("-m", "timeit")


# fmt: off
NAMES = [
    # typed                      name       words                      why
    ("my bots/bot.py",           "my-bots", ("{here}/my bots/bot.py",), "a path with a space is one word"),
    ("Jörg/bot.py",              "Jorg",    ("{here}/Jörg/bot.py",),    "letters without their marks"),
    ("müller.py",                "muller",  ("{here}/müller.py",),      "also of a file"),
    ("a=b.py",                   "a-b",     ("{here}/a=b.py",),         "a file that has an equals sign in its name"),
    ("me too=bot.py",            "me too",  ("{here}/bot.py",),         "a name with a space"),
    ("python bot.py --depth=3",  None,      ("{here}/bot.py", "--depth=3"), "an option of the bot is no name"),
    ("bot.py depth=3",           None,      ("{here}/bot.py", "depth=3"),   "nor is an argument"),
    ("./bot.py --depth=3",       None,      ("./bot.py", "--depth=3"),  "nor is a path"),
]
# fmt: on


@pytest.mark.parametrize(("typed", "name", "words", "why"), NAMES, ids=[row[-1] for row in NAMES])
def test_a_bot_is_named_or_called_after_its_file(typed, name, words, why, folder):
    (command,) = parse_commands([typed])
    assert command.name == (name or command.name)
    expected = tuple(word.format(here=folder) for word in words)
    assert command.argv[1:] == tuple(
        str(folder / word[2:]) if word.startswith("./") else word for word in expected
    )


# fmt: off
WRONG = [
    ("Jörg=bot.py",          "the name 'Jörg' of the bot 'Jörg=bot.py' is not allowed: a name has 1 to 32 letters a to z", "a name with another letter"),
    ("=bot.py",              "the name '' of the bot '=bot.py' is not allowed",                        "no name"),
    ("my bots/bot.py --fast", "quote a path with spaces, as in \"'my bots/bot.py'\"",                  "a path with a space, and arguments"),
    ("python my bots/bot.py", "quote a path with spaces, as in \"'my bots/bot.py'\"",                  "behind its Python"),
    ("A=1 bot.py",           "; to set a variable, write: env A=1 python bot.py",                      "a variable, as in a shell"),
]
# fmt: on


@pytest.mark.parametrize(("typed", "says", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_a_wrong_command_is_told_with_its_cure(typed, says, why, folder):
    with pytest.raises(BadCommand) as error:
        parse_commands([typed])
    assert says in str(error.value)


# fmt: off
FOLDERS = [
    # files of the bot                  its command's words     its folder   why
    (("bot.py",),                       ("bot.py",),            ".",         "the folder of its file"),
    (("src/bot.py", "bot.toml"),        ("src/bot.py",),        ".",         "that of its manifest"),
    (("env/bin/python", "in/bot.py"),   ("env/bin/python", "in/bot.py"), "in", "a Python that it names is not the bot"),
    (("deep/bot.py",),                  ("deep",),              "deep",      "a folder that it names"),
]
# fmt: on


@pytest.mark.parametrize(
    ("files", "words", "runs_in", "why"), FOLDERS, ids=[row[-1] for row in FOLDERS]
)
def test_a_bot_runs_in_its_folder_and_sees_it(files, words, runs_in, why, tmp_path):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o755)
    command = BotCommand("bot", ("/usr/bin/nice", *(str(tmp_path / word) for word in words)))
    own = Path(os.path.normpath(tmp_path / runs_in))
    assert command.folder == own
    assert visible_to(command, tmp_path.parent / "data").holds(own / "weights.txt")
