"""A new game is ten files: what else it needs follows from them, and what is missing is said.

`game` has the files of a twentieth game, Kuhn Poker. They are laid over a copy of this checkout,
where everything is generated and the game is played.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GAME = Path(__file__).parent / "game"
COPIED = ("arena", "bench", "clients", "docs", "proto", "sample_bots", "scripts", "tests")
NOT_COPIED = ("__pycache__", "build", "dist", "node_modules", "target")
NEEDS_OTHER_TOOLS = re.compile(r": run scripts/proto where \w+ is installed$")


class Copy:
    """A copy of the checkout, whose programs import from it alone."""

    def __init__(self, folder):
        self.folder = folder
        for name in COPIED:
            ignored = shutil.ignore_patterns(*NOT_COPIED)
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        for name in ("pyproject.toml", "mkdocs.yml", "README.md"):
            shutil.copy(ROOT / name, folder / name)

    def python(self, *arguments):
        path = os.pathsep.join((str(self.folder), str(self.folder / "clients" / "python")))
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def new_game(self, *arguments):
        return self.python("scripts/new_game.py", *arguments)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy with the twentieth game, and all that follows from it in Python."""
    copy = Copy(tmp_path_factory.mktemp("newgame") / "checkout")
    shutil.copytree(GAME, copy.folder, dirs_exist_ok=True)
    copy.made = copy.new_game("kuhn_poker", "--python")
    return copy


@pytest.mark.slow
def test_every_game_has_all_that_it_needs():
    """If not, the output names the game, the file and the command that mends it."""
    checked = subprocess.run(
        [sys.executable, ROOT / "scripts" / "new_game.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.stdout == "every game has all that it needs\n", checked.stderr


def test_a_game_is_ten_files():
    assert len([path for path in GAME.rglob("*.*") if path.suffix != ".pyc"]) <= 10


@pytest.mark.deep("new games")
def test_all_else_follows_from_them_but_for_other_languages(copy):
    assert "Traceback" not in copy.made.stderr, copy.made.stderr
    left = copy.made.stdout.splitlines()
    assert [line for line in left if not NEEDS_OTHER_TOOLS.search(line)] == []
    assert {line.partition(":")[0] for line in left} == {"kuhn_poker"}


@pytest.mark.deep("new games")
def test_the_wire_of_other_games_stays(copy):
    for path in (ROOT / "proto").rglob("*.proto"):
        fresh = (copy.folder / path.relative_to(ROOT)).read_text("utf-8")
        lines = iter(fresh.splitlines())
        assert all(line in lines for line in path.read_text("utf-8").splitlines()), path.name
    assert (copy.folder / "proto/cardarena/games/v1/kuhn_poker.proto").exists()


@pytest.mark.deep("new games")
def test_its_tests_pass(copy):
    """Rules, codec, scenes, vectors, leaks, goldens and the kit: the rows of the game."""
    done = copy.python(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "kuhn"),
        *(
            "tests/games",
            "tests/referee/wire/test_codec.py",
            "tests/pictures/test_scenes.py",
            "tests/pictures/test_choices.py",
        ),
        *("tests/test_vectors.py", "tests/test_vector_adapters.py", "tests/leaks/test_leaks.py"),
        "tests/envs/test_layouts.py",
        *("tests/goldens", "tests/testing/conformance/test_kit.py", "tests/test_sample_bots.py"),
    )
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 50


@pytest.mark.deep("new games")
def test_bots_play_it_and_its_replays_are_verified(copy, tmp_path):
    played = copy.python(
        *("-m", "arena", "play", "kuhn_poker", "sample_bots/kuhn_poker.py"),
        *("sample_bots/random_bot.py", "--data", str(tmp_path)),
    )
    assert played.returncode == 0, played.stdout + played.stderr
    verified = copy.python("-m", "arena", "replay", "verify", str(tmp_path / "replays"))
    assert verified.returncode == 0, verified.stdout + verified.stderr


def damaged(folder, name, old, new):
    path = folder / name
    text = path.read_text("utf-8")
    assert old in text

    def write(text):
        path.write_text(text, "utf-8")
        # Python knows a changed module by its size and the second of the change.
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)

    write(text.replace(old, new, 1))
    return lambda: write(text)


# fmt: off
DAMAGE = [
    # file,                                             its text,              what becomes of it,     what is said
    ("arena/games/kuhn_poker/messages.py",              "    bet: bool\n",     "    bet: bool\n    all_in: bool\n",
     "kuhn_poker: proto/cardarena/games/v1/kuhn_poker.proto is out of date: run scripts/proto"),
    ("arena/games/kuhn_poker/messages.py",              "    bet: bool\n",     "    bet: Card\n",
     "KuhnPokerEvent.bet is `bool`, and the class says `string`"),
    ("clients/go/games.go",                             '"kuhn_poker"',        '"kuhn"',
     "all games: clients/go/games.go is out of date: run scripts/proto"),
    ("tests/goldens/matches.toml",                      "kuhn_poker = [",      "kuhn = [",
     "kuhn_poker: tests/goldens/matches.toml has no matches of it: run scripts/new-game kuhn_poker"),
    ("clients/conformance/cases/1-stream.json",         '"kuhn_poker"',        '"kuhn"',
     "clients/conformance/cases/1-stream.json is out of date: run python -m tests.testing.conformance.recorded"),
    ("clients/browser/verify.html",                     "  kuhn_poker: ",      "  kuhn: ",
     "clients/browser/verify.html is out of date: run python -m tests.browser"),
    ("tests/vector_adapters/kuhn_poker.py",             "def hidden(",         "def shown(",
     "tests/vector_adapters/kuhn_poker.py has no function hidden: write it"),
]
# fmt: on


@pytest.mark.deep("new games")
@pytest.mark.parametrize(("name", "old", "new", "said"), DAMAGE, ids=[row[3] for row in DAMAGE])
def test_what_is_out_of_date_is_said(copy, name, old, new, said):
    mend = damaged(copy.folder, name, old, new)
    try:
        assert said in copy.new_game("--check").stdout
    finally:
        mend()


@pytest.mark.deep("new games")
def test_a_new_game_begins_as_a_copy_that_plays(copy):
    begun = copy.new_game("coin_duel", "--title", "The Coin Duel")
    assert begun.returncode == 0, begun.stderr
    assert begun.stdout.count("coin_duel") == 11  # ten files, and the command
    made = copy.new_game("coin_duel", "--python")
    assert "Traceback" not in made.stderr, made.stderr
    assert [line for line in made.stdout.splitlines() if not NEEDS_OTHER_TOOLS.search(line)] == []
    done = copy.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "coin", "tests/games")
    assert done.returncode == 0, done.stdout
