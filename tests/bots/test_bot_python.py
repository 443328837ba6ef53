"""Submitted bots of Python have the SDK and the rules, and nothing that the arena or an author has besides."""

import importlib.util
import subprocess
import sys

import pytest

from arena.bots.bot_python import bot_python, site_of_python


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    return bot_python(tmp_path_factory.mktemp("python"))


def run(python, code):
    return subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=False, env={}, timeout=60
    )


# fmt: off
IMPORTS = [
    # what                                   there  why
    ("cardarena",                            True,  "the SDK"),
    ("cardarena.v1.play_pb2_grpc",           True,  "what the SDK needs: messages and calls"),
    ("typing_extensions",                    True,  "what the SDK needs: a single file"),
    ("arena.games.catalogue",                True,  "the rules, for bots that search"),
    ("zoneinfo",                             True,  "the standard library"),
    ("numpy",                                False, "the arena's own, for statistics"),
    ("trio",                                 False, "the arena's own, for the referee"),
    ("google.rpc.status_pb2",                False, "the arena's own, in the name space of a package of the SDK"),
    ("pytest",                               False, "an author's own"),
    ("pip",                                  False, "no bot installs packages"),
]
# fmt: on


@pytest.mark.parametrize(("module", "there", "_why"), IMPORTS, ids=[row[-1] for row in IMPORTS])
def test_a_bot_can_import(python, module, there, _why):
    assert importlib.util.find_spec(module), "this environment has it, or the row shows nothing"
    done = run(python, f"import {module}")
    assert (done.returncode == 0) is there, done.stderr
    assert there or "No module named" in done.stderr


def test_it_is_made_once(tmp_path):
    first = bot_python(tmp_path)
    made = first.stat(follow_symlinks=False).st_mtime_ns
    assert bot_python(tmp_path) == first
    assert first.stat(follow_symlinks=False).st_mtime_ns == made
    assert [each.name for each in tmp_path.iterdir()] == [first.parents[1].name]


def test_it_has_what_python_shows_of_an_environment(python):
    done = run(python, "import sys; print(sys.prefix, sys.version_info[:2]); exit()")
    assert done.stdout == f"{python.parents[1]} {sys.version_info[:2]}\n"
    assert site_of_python(python.parents[1]).is_dir()
