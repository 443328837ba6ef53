"""`scripts/contract`: after the first tag, proto/ may break no client."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.programs import needs

ROOT = Path(__file__).parent.parent
WHO = ("-c", "user.name=t", "-c", "user.email=t@localhost")


def git(folder, *arguments):
    subprocess.run(["git", *WHO, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path):
    shutil.copytree(ROOT / "proto", tmp_path / "proto")
    (tmp_path / "scripts").mkdir()
    for name in ("buf.yaml", "scripts/contract"):
        shutil.copy(ROOT / name, tmp_path / name)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    return tmp_path


def checked(folder):
    done = subprocess.run(
        ["scripts/contract"], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode == 0, done.stdout


@pytest.mark.slow
@needs("npm")
def test_a_change_that_breaks_clients_of_the_last_tag_is_found(checkout):
    play = checkout / "proto" / "cardarena" / "v1" / "play.proto"
    broken = play.read_text("utf-8").replace("uint32 index = 2;", "sint32 index = 2;")
    assert broken != play.read_text("utf-8")
    no_tag = (True, "there is no tag yet, so proto/ was compared with nothing\n")
    assert checked(checkout) == no_tag
    git(checkout, "tag", "v1")
    assert checked(checkout) == (True, "proto/ breaks no client of v1\n")
    play.write_text(broken, "utf-8")
    passed, said = checked(checkout)
    assert not passed
    assert 'Field "2" with name "index" on message "Answer" changed type' in said
