"""What runs is what the sources say, compiled or not."""

import ast
import dataclasses
import importlib
import os
import tomllib
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from click.testing import CliRunner
from pathspec import GitIgnoreSpec

from arena import cli, compiled
from arena.games.catalogue import GAMES

ROOT = Path(__file__).parents[1]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with one source and its compiled module; this module is compiled, too."""
    folder = tmp_path / "arena"
    folder.mkdir()
    for name in (
        "compiled.cpython-311-x86_64-linux-gnu.so",
        "table.cpython-311-x86_64-linux-gnu.so",
        "table.py",
    ):
        (folder / name).touch()
        os.utime(folder / name, (1000, 1000))
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(
        compiled, "__file__", str(folder / "compiled.cpython-311-x86_64-linux-gnu.so")
    )
    return folder


@pytest.mark.skipif(
    compiled.built() == "compiled", reason="a compiled module has no place to patch"
)
class TestAsPure:
    def test_pure_sources_are_never_outdated(self):
        assert compiled.built() == "pure"
        assert compiled.outdated() == ()

    @pytest.mark.parametrize(
        ("source_s", "outdated"),
        [(999, []), (1000, []), (1001, ["arena/table.py"])],
        ids=["older than its module", "as old", "changed since"],
    )
    def test_a_source_that_is_newer_than_its_module_is_told(self, package, source_s, outdated):
        os.utime(package / "table.py", (source_s, source_s))
        assert compiled.built() == "compiled"
        assert list(compiled.outdated()) == outdated

    def test_a_module_may_have_no_source(self, package):
        (package / "table.py").unlink()
        assert list(compiled.outdated()) == []

    def test_sources_of_an_installed_wheel_have_the_dates_of_its_installation(self, package):
        os.utime(package / "table.py", (1001, 1001))
        (package.parent / "pyproject.toml").unlink()
        assert list(compiled.outdated()) == []


def test_no_command_runs_what_the_sources_do_not_say(monkeypatch):
    monkeypatch.setattr(cli, "outdated", lambda: ["arena/referee/match_runner.py"])
    done = CliRunner().invoke(cli.main, ["games"])
    assert done.exit_code == 1
    assert "arena/referee/match_runner.py" in done.output
    assert "scripts/compile" in done.output


def classes_of(hint):
    """The dataclasses that a type is made of, and those that their fields are made of."""
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        yield hint
        for field in get_type_hints(hint).values():
            yield from classes_of(field)
    for part in get_args(hint):
        yield from classes_of(part)


def messages_of(game):
    own = game.messages
    return {*classes_of(own.View), *classes_of(own.Move), *classes_of(own.Event)}


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_a_class_whose_fields_the_codec_reads_is_not_compiled(game):
    """A compiled class does not keep which types its fields have, and no arena would start."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    hook = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["mypyc"]
    left_out = GitIgnoreSpec.from_lines(hook["exclude"])
    modules = {cls.__module__ for cls in messages_of(game)}
    assert modules
    assert [
        name for name in modules if not left_out.match_file(name.replace(".", "/") + ".py")
    ] == []


def is_compiled(source, hook):
    """Whether scripts/compile compiles a source of the arena, by its path from the root."""
    chosen, left_out = (GitIgnoreSpec.from_lines(hook[part]) for part in ("include", "exclude"))
    return chosen.match_file(source) and not left_out.match_file(source)


def bases_of(source):
    """The classes of a source, and of each base that it names where that is imported from."""
    tree = ast.parse((ROOT / source).read_text("utf-8"))
    origins = {
        each.asname or each.name: f"{node.module}.{each.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            named = [base for base in node.bases if isinstance(base, ast.Name)]
            yield node.name, [origins[base.id] for base in named if base.id in origins]


def test_no_class_that_stays_python_inherits_one_that_is_compiled():
    """mypyc refuses it when an object is made, which is when the first match begins."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    hook = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["mypyc"]
    found = []
    for path in sorted((ROOT / "arena").rglob("*.py")):
        source = path.relative_to(ROOT).as_posix()
        if is_compiled(source, hook):
            continue
        for name, bases in bases_of(source):
            for base in bases:
                module, _, cls = base.rpartition(".")
                if not module.startswith("arena."):
                    continue
                origin = getattr(importlib.import_module(module), cls)
                home = origin.__module__.replace(".", "/") + ".py"
                if is_compiled(home, hook) and not issubclass(origin, BaseException):
                    found.append(f"{source}: {name}({cls})")
    assert found == []
