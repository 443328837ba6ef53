"""What runs submitted bots is looked for, tried, and said clearly where it is missing."""

import json
import sys

import pytest
from click.testing import CliRunner

from arena.bots import command
from arena.bots.command import launched_manifest
from arena.bots.languages import BY_NAME
from arena.bots.runtimes import runtimes
from arena.cli import main
from arena.sandbox.command import SDK_ARGV, BadCommand
from arena.sandbox.spawner.order import MB


def script(path, *lines):
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(0o755)
    return str(path)


# fmt: off
FOUND = [
    # it prints                              version    what is lacking                     why
    ("echo v20.20.2",                        "20.20.2", "",                                 "as Node tells it"),
    ('echo \'openjdk version "21.0.2"\' >&2', "21.0.2", "",                                 "as Java tells it, among its errors"),
    ("echo v18.1.0",                         "18.1.0",  "is 18.1.0, and bots need 20",      "too old"),
    ("echo hello",                           "",        "does not print its version",       "something else of that name"),
    ("exit 3",                               "",        "does not print its version",       "it does not run"),
]
# fmt: on


@pytest.mark.parametrize(("line", "version", "lacks", "_why"), FOUND, ids=[r[-1] for r in FOUND])
def test_a_program_is_tried_before_it_is_offered(tmp_path, line, version, lacks, _why):
    program = script(tmp_path / "node", line)
    found = next(each for each in runtimes(lambda _: program) if each.name == "node")
    assert (found.version, found.is_here) == (version, not lacks)
    assert lacks in found.lacks


def test_a_missing_runtime_is_reported_with_its_package():
    python, node, java = runtimes(lambda _: None)
    assert (python.is_here, python.program) == (True, sys.executable)
    assert node.lacks == "node is not installed: apt install nodejs"
    assert java.lacks == "java is not installed: apt install default-jre-headless"


def test_the_command_lists_them_all():
    told = CliRunner().invoke(main, ["runtimes", "--json"])
    assert told.exit_code == 0
    found = json.loads(told.stdout)["runtimes"]
    assert [each["runtime"] for each in found] == list(BY_NAME)
    assert found[0]["here"]


def test_a_bot_whose_runtime_is_gone_is_not_launched(tmp_path, monkeypatch):
    monkeypatch.setattr(command.shutil, "which", lambda _: None)
    with pytest.raises(BadCommand, match="ann@7 is run by node, which is not installed"):
        launched_manifest("ann@7", {"command": ["node", "bot.js"]}, tmp_path)


@pytest.mark.parametrize(
    "manifest",
    [
        pytest.param({}, id="none"),
        pytest.param({"command": []}, id="an empty one"),
        pytest.param({"command": [1]}, id="a number"),
    ],
)
def test_a_manifest_without_a_command_is_launched_by_nobody(tmp_path, manifest):
    with pytest.raises(BadCommand, match="the manifest of ann@7 has no command"):
        launched_manifest("ann@7", manifest, tmp_path)


# fmt: off
BEHIND_THE_BRIDGE = [
    # protocol         before the bot's own command                                  why
    ("grpc",            (),                                                          "the bot speaks gRPC itself"),
    ("stdio",           ("bridge", "--max-matches", "4", "--game", "soko", "--"),    "one process for all matches"),
    ("stdio-per-match", ("bridge", "--max-matches", "4", "--game", "soko", "--per-match", "--"), "a process for each match"),
]
# fmt: on


@pytest.mark.parametrize(
    ("protocol", "before", "why"), BEHIND_THE_BRIDGE, ids=[row[-1] for row in BEHIND_THE_BRIDGE]
)
def test_a_manifest_says_whether_a_bot_is_behind_the_bridge(tmp_path, protocol, before, why):
    manifest = {
        "command": ["bot.sh", "x"],
        "games": [{"id": "soko"}],
        "max_matches": 4,
        "protocol": protocol,
    }
    found = launched_manifest("ann@7", manifest, tmp_path)
    assert found.argv == ((*SDK_ARGV, *before) if before else ()) + (f"{tmp_path}/bot.sh", "x")
    assert found.own_argv == (f"{tmp_path}/bot.sh", "x")


def test_a_manifest_without_a_protocol_is_of_a_bot_that_speaks_grpc(tmp_path):
    found = launched_manifest("ann@7", {"command": ["bot.sh"]}, tmp_path)
    assert found.argv == found.own_argv


def test_a_manifest_with_another_protocol_is_launched_by_nobody(tmp_path):
    with pytest.raises(BadCommand, match="ann@7 has no protocol of grpc, stdio"):
        launched_manifest("ann@7", {"command": ["bot.sh"], "protocol": "uci"}, tmp_path)


def test_a_java_fills_half_of_what_its_manifest_asks_for(tmp_path, monkeypatch):
    monkeypatch.setattr(command.shutil, "which", lambda name: f"/usr/bin/{name}")
    (tmp_path / "bot.jar").write_text("")
    manifest = {"command": ["java", "-jar", "bot.jar"], "memory_mb": 512, "processes": 32}
    found = launched_manifest("ann@7", manifest, tmp_path)
    assert found.argv[:2] == ("/usr/bin/java", "-Xmx256m")
    assert found.argv[-2:] == ("-jar", str(tmp_path / "bot.jar"))
    assert (found.limits.memory_bytes, found.limits.processes) == (512 * MB, 32)


@pytest.mark.parametrize("publishes", [True, False])
def test_a_manifest_says_whether_notes_are_published(tmp_path, publishes):
    manifest = {"command": ["bot.sh"], "publish_notes": publishes}
    assert launched_manifest("ann@7", manifest, tmp_path).publishes_notes is publishes
