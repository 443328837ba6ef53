"""`arena workers`, and tournaments as tasks of an engine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.app.placement.placement import ENGINES
from arena.app.submission import packed_command
from arena.bots.blobs import Blobs
from arena.cli import main
from arena.live.players import launched_command
from arena.sandbox.command import SAMPLE_BOTS, BadCommand, BotCommand

ROOT = Path(__file__).parents[2]


def said(*words):
    done = CliRunner().invoke(main, words)
    return done.exit_code, done.stderr.strip().splitlines()[-1]


# fmt: off
MISTAKES = [
    # words                                                       what is said
    (("up",),                                                     "Missing option '--on'. Choose from:"),
    (("status", "--on", "ray", "--scheduler", "tls://a:1"),       "Error: --scheduler is for --on dask"),
    (("status", "--on", "slurm", "--resource", "a=1"),            "Error: --resource is for --on dask and --on ray"),
    (("status", "--on", "dask", "--setting", "hosts"),            "Error: Invalid value for '--setting': 'hosts' is not like KEY=VALUE"),
    (("status", "--on", "dask", "--cluster", "local"),            "Error: --cluster starts another cluster; give the --scheduler that"),
    (("down", "--on", "ray", "--address", "local"),               "Error: --address local starts another cluster; give the --address that"),
    (("status", "--on", "slurm"),                                 "Error: give --script, a batch script like deploy/slurm/workers.sbatch"),
]
# fmt: on


@pytest.mark.parametrize(("words", "what"), MISTAKES, ids=[" ".join(row[0]) for row in MISTAKES])
def test_a_mistake_is_said(words, what):
    code, line = said("workers", *words)
    assert code
    assert what in line or words == ("up",)


# fmt: off
PLACES = [
    # a glob or file                        what it has           why
    ("arena/app/placement/{}_engine.py",    "def connect(",       "it is connected to"),
    ("docs/more-machines.md",               "--on {}",            "organisers read how"),
    ("tests/app/placement/test_*.py",       "{}",                 "workers are placed on it"),
]
# fmt: on


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("file", "named", "why"), PLACES, ids=[row[-1] for row in PLACES])
def test_an_engine_stands_in_every_place(engine, file, named, why):
    texts = [path.read_text("utf-8") for path in ROOT.glob(file.format(engine))]
    assert any(named.format(engine) in text for text in texts), (
        f"{why}: {file.format(engine)} needs {named.format(engine)!r}"
    )


def test_every_module_of_an_engine_is_offered():
    modules = {path.stem for path in (ROOT / "arena/app/placement").glob("*_engine.py")}
    assert modules == {f"{engine}_engine" for engine in ENGINES}, "ENGINES in placement.py"


def test_bounds_that_contradict_each_other_are_said(tmp_path):
    token = tmp_path / "token"
    token.write_text("t")
    words = ("--on", "slurm", "--server", "localhost:1", "--token-file", str(token))
    code, line = said("workers", "up", *words, "--min", "5", "--max", "4")
    assert (code, line) == (2, "Error: --min 5 is more than --max 4")


def test_fair_deals_and_bots_without_a_sandbox_are_not_played_on_an_engine(tmp_path):
    bots = ("sample_bots/first_bot.py", "sample_bots/random_bot.py")
    words = ("tournament", "sixty_six", *bots, "--on", "dask:local", "--data", str(tmp_path))
    code, line = said(*words)
    assert code == 2
    assert line.startswith("Error: --on needs --seed")
    code, line = said(*words, "--seed", "s", "--sandbox", "off")
    assert code == 2
    assert line.startswith("Error: --on and --sandbox off exclude each other")


# What travels.


def test_a_folder_with_a_manifest_is_packed_whole(tmp_path):
    folder = tmp_path / "mine"
    (folder / "part").mkdir(parents=True)
    (folder / "part" / "more.py").write_text("x = 1\n")
    (folder / "bot.py").write_text("import part.more\n")
    (folder / "bot.toml").write_text(
        'command = ["python", "bot.py"]\nruntime = "python"\n[[games]]\nid = "loo"\n'
    )
    packed = packed_command(tmp_path, launched_command("ann", str(folder)), ["sixty_six"])
    archive = Blobs(tmp_path).archive(packed.sha256)
    assert archive.paths == {"bot.py", "bot.toml", "part/more.py"}
    assert [game["id"] for game in packed.manifest["games"]] == ["loo"]


def test_a_single_file_gets_a_manifest_of_the_games_that_are_played(tmp_path):
    command = launched_command("ann", str(SAMPLE_BOTS / "first_bot.py"))
    packed = packed_command(tmp_path, command, ["sixty_six", "loo"])
    assert packed.manifest["command"] == ["python", "bot.py"]
    assert [game["id"] for game in packed.manifest["games"]] == ["sixty_six", "loo"]


@pytest.mark.parametrize("argv", [("/bin/true",), (sys.executable, "bot.py", "--level", "3")])
def test_another_command_cannot_travel(argv, tmp_path):
    with pytest.raises(BadCommand, match="or a single file of Python, can be played"):
        packed_command(tmp_path, BotCommand("ann", argv), ["loo"])


def test_options_beside_those_of_a_manifest_cannot_travel(tmp_path):
    (tmp_path / "bot.py").touch()
    (tmp_path / "bot.toml").write_text('command = ["python", "bot.py"]\n[[games]]\nid = "loo"\n')
    command = launched_command("ann", f"{tmp_path}/bot.py --level 3")
    with pytest.raises(BadCommand, match=r"bot\.toml has another command"):
        packed_command(tmp_path, command, ["loo"])


# Whole tournaments.


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Plays a tournament with these further words, and returns its standings without what is the arena's own."""

    def standings(*words):
        data = tmp_path_factory.mktemp("data")
        bots = ("sample_bots/sixty_six.py", "sample_bots/random_bot.py", "house:sample")
        options = ("--seed", "7", "--deal-sets", "2", "-o", "hands=2", "--json")
        command = [sys.executable, "-m", "arena", "tournament", "sixty_six", *bots, *options]
        done = subprocess.run(
            [*command, "--sandbox", "require", "--data", str(data), *words],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        return {key: found[key] for key in found.keys() - {"public_key", "signature"}}, data

    return standings


@pytest.mark.slow
@pytest.mark.deep("engines")
@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_a_tournament_on_an_engine_has_the_same_standings(engine, played, monkeypatch, tmp_path):
    module = {"dask": "distributed"}.get(engine, engine)
    pytest.importorskip(module, reason=f"needs cardarena-engine[{engine}]")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "120")
    here, _ = played()
    there, data = played("--on", f"{engine}:local")
    assert there == here
    verified = CliRunner().invoke(main, ["replay", "verify", str(data / "replays")])
    assert verified.exit_code == 0, verified.output
