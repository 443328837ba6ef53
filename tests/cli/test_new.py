"""`arena new`: a folder of a bot in each language, which builds, passes its test and plays."""

import json
import os
import re
import shutil
import sys
import tomllib
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.cli import new as new_command
from arena.cli.new import CLIENTS, LANGUAGES, NOT_HERE, RUN_BY, SPELLED, start_bot
from arena.games.catalogue import GAMES, game_by_id
from cardarena import jam, local
from tests.programs import PACKAGES, require
from tests.sdk import archives, languages
from tests.sdk.languages import called

# fmt: off
BUILDS = [
    # language      tool      what its README says, to test and to build
    ("python",     "python", [(sys.executable, "-m", "pytest", "-q")]),
    ("go",         "go",     [("go", "mod", "tidy"), ("go", "vet", "./..."), ("go", "build", "-o", "my-bot", "."), ("go", "test", "./...")]),
    ("typescript", "npm",    [("npm", "install", "--ignore-scripts"), ("npm", "test"), ("npm", "run", "bundle")]),
    ("rust",       "cargo",  [("cargo", "fmt", "--check"), ("cargo", "test", "--quiet"), ("cargo", "build", "--quiet")]),  # as the tests, to compile all once
    ("java",       "mvn",    [("mvn", "-q", "-B", "-U", "package")]),
    ("cpp",        "cmake",  [("cmake", "-S", ".", "-B", "build"), ("cmake", "--build", "build", "--parallel", "4"), ("ctest", "--test-dir", "build", "--output-on-failure")]),
    ("c",          "cc",     [("cc", "-O2", "-static", "-Wall", "-Wextra", "-Werror", "-o", "my-bot", "bot.c"), ("sh", "test.sh")]),
]
AS_THE_SDK = {
    "GOFLAGS": "-trimpath",
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "CMAKE_BUILD_TYPE": "Plain",
    "MAVEN_OPTS": " ".join(languages.QUICK_START),
}
"""So that what an SDK needs is compiled once for it and for its bots, and as quickly as may be."""
# fmt: on


def new(*arguments):
    return CliRunner().invoke(main, ["new", *map(str, arguments)])


# fmt: off
ORIGINS = [
    # where the SDK was installed from             what `pip install` is given                    why
    ('{"url": "file:///srv/my%20dist/cardarena-1.whl"}', "--find-links '{folder}/my dist' 'cardarena[local]'", "a file of a release"),
    (None,                                         "'cardarena[local]'",                          "an index"),
]
# fmt: on


@pytest.mark.parametrize(("origin", "given", "why"), ORIGINS, ids=[row[-1] for row in ORIGINS])
def test_the_packages_are_installed_from_where_they_are(origin, given, why, tmp_path, monkeypatch):
    (tmp_path / "my dist").mkdir()
    monkeypatch.setattr(new_command, "CLIENTS", tmp_path / "none")
    text = origin and origin.replace("/srv", str(tmp_path))
    package = SimpleNamespace(read_text=lambda _: text)
    monkeypatch.setattr(new_command.importlib.metadata, "distribution", lambda _: package)
    assert new_command._install() == given.format(folder=tmp_path)


def test_in_a_checkout_the_sdk_and_the_engine_of_it_are_installed(tmp_path):
    start_bot(tmp_path / "my-bot", game_by_id("jam"), "python")
    readme = (tmp_path / "my-bot" / "README.md").read_text("utf-8")
    assert f"    pip install {CLIENTS / 'python'} '{CLIENTS.parent}[server]' pytest\n" in readme


def test_it_says_what_it_wrote(tmp_path):
    result = new(tmp_path / "my-bot")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == f"Next: {tmp_path / 'my-bot' / 'README.md'}"
    again = json.loads(new(tmp_path / "other", "--lang", "go", "--json").stdout)
    assert again["language"] == "go"
    assert {"main.go", "main_test.go", "go.mod", "bot.toml", "README.md"} == set(again["files"])


# fmt: off
REFUSED = [
    # name            what is said                                  why
    ("My-Bot",        "no name for a bot",                          "a capital is no name of a crate's or a package's"),
    ("1st",           "no name for a bot",                          "a digit begins no name"),
    ("a" * 41,        "40 at most",                                 "too long"),
    ("taken",         "is there already",                           "nothing is written over"),
]
# fmt: on


@pytest.mark.parametrize(("name", "said", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_it_refuses(tmp_path, name, said, why):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "bot.py").write_text("mine")
    result = new(tmp_path / name)
    assert result.exit_code == 1, why
    assert said in result.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["taken", "bot.py"]
    assert (tmp_path / "taken" / "bot.py").read_text() == "mine"


def test_an_empty_folder_may_be_there(tmp_path):
    (tmp_path / "my-bot").mkdir()
    assert new(tmp_path / "my-bot").exit_code == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_word_is_left_to_fill_in_and_the_manifest_names_the_game(tmp_path, language):
    folder = tmp_path / "my-bot"
    for path in start_bot(folder, game_by_id("sixty_six"), language):
        text = (folder / path).read_text("utf-8")
        assert "{{" not in text, path
        assert NOT_HERE not in text, "in a checkout the SDK is found"
    manifest = tomllib.loads((folder / "bot.toml").read_text("utf-8"))
    assert manifest["games"] == [{"id": "sixty_six"}]
    assert manifest["command"]
    assert len((folder / "README.md").read_text("utf-8").splitlines()) <= 20


# fmt: off
GENERATED = [
    # language     the bot        what protoc generated for Jam                        its view                        a field
    ("python",     "bot.py",      "python/cardarena/games/v1/jam_pb2.pyi",             r"class JamView\(.*?(?=^class )", r"\b{}[(:]"),
    ("go",         "main.go",     "go/cardarenagamesv1/jam.pb.go",                     r"type JamView struct .*?^}",   r"^\t{} "),
    ("typescript", "src/bot.ts",  "typescript/src/gen/cardarena/games/v1/jam_pb.ts",   r"type JamView = .*?^}",        r"^  {}\??: "),
    ("rust",       "src/main.rs", "rust/src/games/v1.rs",                              r"pub struct JamView .*?^}",    r"pub {}: "),
]
# fmt: on


@pytest.mark.parametrize(
    ("language", "file", "generated", "message", "declared"),
    GENERATED,
    ids=[row[0] for row in GENERATED],
)
def test_the_bot_lists_the_fields_of_the_view_as_its_language_names_them(
    tmp_path, language, file, generated, message, declared
):
    start_bot(tmp_path / "my-bot", game_by_id("jam"), language)
    source = (tmp_path / "my-bot" / file).read_text("utf-8")
    code = (CLIENTS / generated).read_text("utf-8")
    view = re.search(message, code, re.DOTALL | re.MULTILINE)[0]
    for field in jam.View.DESCRIPTOR.fields:
        name = SPELLED[language](field)
        assert re.search(rf"\b{name}\b", source), name
        assert re.search(declared.format(name), view, re.MULTILINE), name


@pytest.mark.parametrize("language", ["python", "go", "typescript", "rust", "java", "cpp", "c"])
def test_the_bot_says_what_the_fields_of_the_view_mean(tmp_path, language):
    files = start_bot(tmp_path / "my-bot", game_by_id("soko"), language)
    text = " ".join((tmp_path / "my-bot" / file).read_text("utf-8") for file in files)
    bare = " ".join(re.sub(r"^\s*(?://+|\*|///)?\s*", "", text, flags=re.MULTILINE).split())
    for meaning in game_by_id("soko").view_fields().values():
        assert meaning in bare, meaning


def test_the_bot_in_c_lists_the_fields_of_the_view_as_lines_name_them(tmp_path):
    start_bot(tmp_path / "my-bot", game_by_id("jam"), "c")
    source = (tmp_path / "my-bot" / "bot.c").read_text("utf-8")
    names = [field.name for field in jam.View.DESCRIPTOR.fields]
    assert [name for name in names if not re.search(rf"\b{name}\b", source)] == []


def test_the_bot_in_java_lists_the_methods_of_the_view(tmp_path):
    """Its classes are generated when they are built, and not kept."""
    start_bot(tmp_path / "my-bot", game_by_id("jam"), "java")
    source = (tmp_path / "my-bot" / "src/main/java/MyBot.java").read_text("utf-8")
    assert re.search(r"getToAct\(\): The seat .*getHeldList\(\): ", source, re.DOTALL)


def test_the_bot_in_cpp_lists_the_methods_of_the_view(tmp_path):
    """Its classes are generated when they are built, and not kept."""
    start_bot(tmp_path / "my-bot", game_by_id("jam"), "cpp")
    source = (tmp_path / "my-bot" / "bot.hpp").read_text("utf-8")
    assert re.search(r"to_act\(\): The seat .*held\(\): ", source, re.DOTALL)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_the_bot_of_every_game_passes_its_test(tmp_path, game):
    """In Python, in this process; the others are built of the same words."""
    start_bot(tmp_path / "my-bot", game, "python")
    source = (tmp_path / "my-bot" / "bot.py").read_text("utf-8")
    scope = {"__name__": "bot"}
    exec(compile(source, "bot.py", "exec"), scope)
    options = {"hands": game.seats[0]}
    result = local.play(game.id, [scope["Bot"]] * game.seats[0], seed=7, options=options)
    assert not result.faults


# fmt: off
FORMATTERS = [
    # language  tool     what prints nothing of formatted sources
    ("go",      "go",    ("gofmt", "-l", ".")),
    ("rust",    "cargo", ("cargo", "fmt", "--check")),
]
# fmt: on


@pytest.mark.parametrize(
    ("language", "tool", "formatter"), FORMATTERS, ids=[row[0] for row in FORMATTERS]
)
def test_the_bot_of_every_game_is_formatted(tmp_path, language, tool, formatter):
    """By its longest name: only names make lines longer."""
    require(tool)
    for game in {game.family: game for game in GAMES}.values():
        folder = tmp_path / game.id / ("a" * 40)
        start_bot(folder, game, language)
        assert called(*formatter, folder=folder) == "", game.id


@pytest.mark.deep("scaffolds")
@pytest.mark.parametrize(
    ("language", "tool", "builds"), BUILDS, ids=[language for language, *_ in BUILDS]
)
def test_what_its_readme_says_works(tmp_path, monkeypatch, language, tool, builds):
    """The SDK is that of its archive; in Java that of Maven's store. Tests find the engine in PATH, and play a match by it."""
    if tool in PACKAGES:
        require(tool)
    engine, calls = tmp_path / "bin" / "arena", tmp_path / "calls"
    engine.parent.mkdir()
    engine.write_text(f'#!/bin/sh\necho "$@" >> {calls}\nexec {sys.executable} -m arena "$@"\n')
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", f"{engine.parent}{os.pathsep}{os.environ['PATH']}")
    game = game_by_id("sixty_six")
    folder = tmp_path / "my-bot"
    for name, value in AS_THE_SDK.items():
        monkeypatch.setenv(name, value)
    start_bot(folder, game, language)
    if language == "java":
        languages.java()  # Maven installs the SDK, from where the project gets it
    with languages.alone_with(tool):
        if language in archives.PART_OF:
            archives.use(language, folder, tmp_path / "archive")
        if language == "rust":
            shared = CLIENTS / "rust" / "target"
            shared.mkdir(exist_ok=True)
            (folder / "target").symlink_to(shared)
            shutil.copy(CLIENTS / "rust" / "Cargo.lock", folder)
        for command in builds:
            called(*command, folder=folder)
    if language not in (
        "python",
        "c",
    ):  # a test in Python plays in its own process, one in C has recorded asks
        assert calls.read_text("utf-8").startswith("play sixty_six ")
    run = RUN_BY[language].replace("{{name}}", "my-bot")
    readme = (folder / "README.md").read_text("utf-8")
    assert run in readme
    assert "arena check ." in readme
    if language == "rust":  # its README builds a release, which takes twice as long
        (folder / "target").unlink()
        (folder / "target" / "release").mkdir(parents=True)
        shutil.copy(CLIENTS / "rust" / "target" / "debug" / "my-bot", folder / "target" / "release")
    checked = (sys.executable, "-m", "arena", "check", ".", "--sandbox", "off", "--json")
    assert json.loads(called(*checked, folder=folder))["qualified"]
