"""What is installed of a checkout: all that an arena needs by the line of the README, and by uv or pip in `scripts/setup`."""

import os
import shlex
import shutil
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


@pytest.mark.deep("packages")
def test_the_line_of_the_readme_installs_the_command(strangers):
    done = pip(strangers, *documented())
    assert done.returncode == 0, done.stderr
    listed = subprocess.run(
        [strangers / "bin" / "arena", "games"], capture_output=True, text=True, check=False, cwd="/"
    )
    assert (listed.returncode, "abstrac" in listed.stdout) == (0, True), listed.stderr


@pytest.mark.deep("packages")
def test_the_engine_alone_does_not_find_the_sdk(strangers):
    """Which is why the line names both: no index has them."""
    done = pip(strangers, ".[server]")
    assert done.returncode != 0
    assert "cardarena" in done.stderr


@pytest.mark.deep("packages")
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


# Which installer `scripts/setup` takes.

RECORDS = """#!/bin/sh
case "{name} $*" in
    "uv "*|"python -m pip --version"*) ;;
    "python -m pip "*) ;;
    *) exec {python} "$@" ;;
esac
echo {name} "$@" >>"$CALLS"
exit {code}
"""


# fmt: off
INSTALLERS = [
    # uv ends with  installs                     it says                          reason
    (0,             ["uv", "uv"],                "",                              "uv is there"),
    (2,             ["uv", "python", "python"],  "uv could not install",          "uv cannot: pip is asked once and for all"),
    (None,          ["python", "python"],        "",                              "a bare machine has pip alone"),
]
# fmt: on


@pytest.mark.parametrize(
    ("code", "installers", "text", "why"), INSTALLERS, ids=[row[-1] for row in INSTALLERS]
)
def test_setup_installs_the_lock_by_its_hashes_with(code, installers, text, why, tmp_path):
    checkout, programs, calls = tmp_path / "checkout", tmp_path / "programs", tmp_path / "calls"
    for file in ("scripts/setup", "pyproject.toml", "clients/python/pyproject.toml"):
        (checkout / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, checkout / file)
    (checkout / "requirements").mkdir()
    (checkout / "requirements/run.lock").write_text("click==8.1.8 --hash=sha256:00\n")
    programs.mkdir()
    for name, ends in {"python": 0, "uv": code}.items():
        if ends is not None:
            path = programs / name
            path.write_text(RECORDS.format(name=name, python=sys.executable, code=ends))
            path.chmod(0o755)
    done = subprocess.run(
        [checkout / "scripts/setup", "run"],
        env={**os.environ, "PATH": f"{programs}:/usr/bin:/bin", "PYTHON": str(programs / "python"), "CALLS": str(calls)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert text in done.stderr
    installs = [line.split() for line in calls.read_text().splitlines() if " install " in line]
    assert [words[0] for words in installs] == installers
    hashed, ours = installs[-2:]
    assert {"--require-hashes", "--no-deps", "requirements/run.lock"} <= set(hashed)
    assert {"--no-index", "--no-deps", "clients/python"} <= set(ours)
