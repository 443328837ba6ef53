"""`arena runtimes`: an organiser builds, lists and removes what submitted bots are run by."""

import json

import pytest
from click.testing import CliRunner

from arena.cli import main
from tests.doubles.wheels import wheel

ML = 'name = "ml"\npackages = ["tiny"]\n'
BOT = 'command = ["python", "bot.py"]\nruntime = "{}"\n[[games]]\nid = "klaberjass"\n'


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ml.toml").write_text(ML)
    wheel(tmp_path / "made")
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "bot.py").write_text("")
    (tmp_path / "bot" / "bot.toml").write_text(BOT.format("ml"))
    return tmp_path


def said(*words):
    done = CliRunner().invoke(main, words)
    return done.exit_code, done.stdout, done.stderr


def build(*words):
    return said("runtimes", "build", "ml.toml", "--from", "made", *words)


def listed():
    _, out, _ = said("runtimes", "--json")
    return {each["runtime"]: each for each in json.loads(out)["runtimes"]}


@pytest.mark.slow
def test_a_runtime_is_built_listed_and_removed(here):
    code, out, err = build()
    assert code == 0, err
    assert "is built: tiny==1.0" in out
    assert 'runtime = "ml"' in out
    assert "installing" in err
    assert listed()["ml"]["packages"] == ["tiny==1.0"]
    assert listed()["ml"]["here"]
    assert "tiny==1.0" in said("runtimes")[1]
    code, out, _ = said("runtimes", "remove", "ml")
    assert (code, out) == (0, "ml is removed: no new version can name it.\n")
    assert "ml" not in listed()


@pytest.mark.slow
def test_building_as_json(here):
    code, out, err = build("--json")
    first = json.loads(out)
    assert (code, err, first["new"], first["runtime"]) == (0, "", True, "ml")
    assert json.loads(build("--json")[1]) == first | {"new": False}
    removed = json.loads(said("runtimes", "remove", "ml", "--json")[1])
    assert removed == {"removed": "ml", "kept": [], "versions": []}


MISTAKES = [
    (
        "name = 7",
        ("build", "ml.toml"),
        "ml.toml cannot be built:\n  name: should be a valid string, not 7",
        "a bad name",
    ),
    (
        'name = "ml"\npackages = ["absent"]',
        ("build", "ml.toml", "--from", "made"),
        "ml.toml is not built: pip has no wheels of it for cpython-",
        "no such package",
    ),
    (ML, ("remove", "lm"), "there is no runtime 'lm' that was built", "nothing to remove"),
    (ML, ("remove", "../x"), "there is no runtime '../x' that was built", "a path"),
]


@pytest.mark.parametrize(("toml", "words", "text", "_why"), MISTAKES, ids=[r[-1] for r in MISTAKES])
def test_a_mistake_is_one_sentence(here, toml, words, text, _why):
    (here / "ml.toml").write_text(toml)
    code, _, err = said("runtimes", *words)
    assert code == 1
    assert err.startswith(f"Error: {text}")


def test_a_laptop_without_the_runtime_is_told_what_to_do(here):
    code, _, err = said("check", "bot")
    assert code == 1
    assert err == (
        "Error: the bot is run by the runtime ml, which was not built here: get ml.toml and ml.lock "
        "from the arena's organiser, and `arena runtimes build ml.toml`\n"
    )


def test_a_file_that_is_no_text_is_said(here):
    (here / "ml.toml").write_bytes(b"\xff")
    assert said("runtimes", "build", "ml.toml") == (
        1,
        "",
        "Error: ml.toml cannot be built:\n  this is not text in UTF-8, at line 1; save it as UTF-8\n",
    )
