"""What pip makes of a checkout: the line of the README installs all that an arena needs."""

import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def documented():
    """What follows `pip install` in the README's line."""
    (line,) = [
        line for line in (ROOT / "README.md").read_text("utf-8").splitlines()
        if line.startswith("    pip install ./")
    ]  # fmt: skip
    return shlex.split(line)[2:]


def pip(environment, *arguments):
    """Install into an environment with a pip from outside, and no index."""
    base = Path(sys.base_prefix) / "bin" / "python3"
    return subprocess.run(
        [base, "-m", "pip", "--python", environment / "bin" / "python", "install", "--no-index",
         "--no-build-isolation", "--disable-pip-version-check", *arguments],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip


@pytest.mark.slow
def test_the_line_of_the_readme_installs_the_command(strangers):
    done = pip(strangers, *documented())
    assert done.returncode == 0, done.stderr
    listed = subprocess.run(
        [strangers / "bin" / "arena", "games"], capture_output=True, text=True, check=False, cwd="/"
    )
    assert (listed.returncode, "abstrac" in listed.stdout) == (0, True), listed.stderr


@pytest.mark.slow
def test_the_engine_alone_does_not_find_the_sdk(strangers):
    """Which is why the line names both: no index has them."""
    done = pip(strangers, ".[server]")
    assert done.returncode != 0
    assert "cardarena" in done.stderr


@pytest.mark.slow
def test_the_rules_alone_say_what_the_command_needs(tmp_path):
    folder = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    build = Path(sysconfig.get_path("purelib"))
    needed = ("hatchling", "packaging", "pathspec", "pluggy", "trove_classifiers", "editables")
    links = [packages / path.name for path in build.iterdir() if path.name.startswith(needed)]
    for link in links:
        link.symlink_to(build / link.name)
    done = pip(folder, ".")
    for link in links:
        link.unlink()
    assert done.returncode == 0, done.stderr
    told = subprocess.run(
        [folder / "bin" / "arena"], capture_output=True, text=True, check=False, cwd="/"
    )
    assert told.returncode == 1
    assert "pip install 'cardarena-engine[server]'" in told.stderr
    assert "Traceback" not in told.stderr
