"""The sandbox level that a container allows by its settings, and what `deploy/seccomp.json` refuses.

Containers of podman, whose files are `/usr` of this machine, and which run nothing but the trial of the levels.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
import yaml

from arena.sandbox.spawner import landlock
from arena.sandbox.spawner.seccomp import REFUSED as REFUSED_TO_BOTS
from tests.programs import require

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROFILE = ROOT / "deploy/seccomp.json"
PYTHON = "/usr/bin/python3"
PODMAN = ("podman", "--runtime=runc", "--cgroup-manager=cgroupfs")
TRIAL = f"""
from arena.sandbox.spawner.order import Level, SpawnOrder
from arena.sandbox.spawner.trial import try_levels
order = SpawnOrder(("{PYTHON}",), {{}}, (), folder="/tmp")
print(try_levels(order, user=-1, most=Level.S2).level)
"""
CALLS = """
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
def error(number):
    ctypes.set_errno(0)
    return ctypes.get_errno() if libc.syscall(number, 0, 0, 0, 0, 0, 0) == -1 else 0
print(json.dumps({name: error(number) for name, number in json.loads(sys.argv[1]).items()}))
"""


@pytest.fixture(scope="module")
def run():
    """Runs Python with arguments in a container with these settings, and returns what it prints."""
    require("podman")
    require("bubblewrap")
    if os.geteuid() or not Path(PYTHON).exists():
        pytest.skip(f"needs root, and Python in {PYTHON}")
    # podman wants a short name, and users of a namespace must be able to enter it.
    opened = tempfile.TemporaryDirectory()
    folder = Path(opened.name)
    folder.chmod(0o755)
    files, code = folder / "files", folder / "code"
    for name in ("usr", "tmp", "var/tmp", "proc", "dev", "sys", "run", "etc", "code"):
        (files / name).mkdir(parents=True)
    (files / "etc" / "passwd").write_text("bot:x:7654:7654::/tmp:/bin/sh\n")
    # podman mounts these; in a user namespace its runtime may not make the files below them.
    for name in ("etc/group", "etc/hostname", "etc/hosts", "etc/resolv.conf", "run/.containerenv"):
        (files / name).touch()
    for name in ("bin", "lib", "lib64", "sbin"):
        (files / name).symlink_to(f"usr/{name}")
    shutil.copytree(ROOT / "arena/sandbox/spawner", code / "arena/sandbox/spawner")

    def ran(settings, *arguments):
        command = (
            *PODMAN,
            *("--root", folder / "storage", "--runroot", folder / "runs", "--storage-driver=vfs"),
            *("run", "--rm", "--network=none", "--user=7654:7654", "--tmpfs=/tmp"),
            *("--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024", "--volume=/usr:/usr:ro"),
            *(
                f"--volume={code}:/code:ro",
                "--env=PYTHONPATH=/code",
                "--env=PYTHONDONTWRITEBYTECODE=1",
            ),
            *(*settings, "--rootfs", files, PYTHON, *arguments),
        )
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    with opened:
        yield ran


UNMASKED = "--security-opt=unmask=ALL"
OURS = f"--security-opt=seccomp={PROFILE}"
UNCONFINED = "--security-opt=seccomp=unconfined"
CONFINED = ("--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges")
OWN_USERS = ("--uidmap=0:100000:65536", "--gidmap=0:100000:65536")
# fmt: off
SETTINGS = [
    # settings                      level  reason
    ((),                            "S1",  "the settings of podman"),
    ((UNMASKED,),                   "S1",  "the seccomp profile of podman"),
    ((OURS,),                       "S1",  "parts of proc are covered, so that no namespace may mount its own"),
    ((OURS, UNMASKED),              "S2",  "our profile, and nothing of proc is covered"),
    ((OURS, UNMASKED, *CONFINED),   "S2",  "also without capabilities, as compose.yaml has it"),
    ((UNCONFINED, UNMASKED),        "S2",  "no profile"),
    ((UNCONFINED, UNMASKED, *CONFINED, *OWN_USERS), "S2", "in a user namespace, as deploy/kubernetes has it"),
    ((UNCONFINED, *CONFINED, *OWN_USERS), "S1", "in a user namespace parts of proc are covered too"),
]
# fmt: on


@pytest.mark.parametrize(
    ("settings", "level", "reason"), SETTINGS, ids=[row[-1] for row in SETTINGS]
)
def test_the_level_that_a_container_allows(settings, level, reason, run):
    if level == "S1" and landlock.version() < landlock.LEAST_VERSION:
        level = "S0"
    assert run(settings, "-c", TRIAL) == level


def test_the_profile_refuses_its_calls(run):
    """Of the calls whose numbers we know, `syslog` and the like are refused to this user anyway."""
    profile = json.loads(PROFILE.read_text("utf-8"))
    refused = {name for each in profile["syscalls"] for name in each["names"]}
    numbers = {name: REFUSED_TO_BOTS[name][0] for name in refused & {*REFUSED_TO_BOTS}}
    assert len(numbers) > 30
    found = json.loads(run((OURS, UNMASKED), "-c", CALLS, json.dumps(numbers)))
    assert found == dict.fromkeys(numbers, 1)
    without = json.loads(run((UNCONFINED, UNMASKED), "-c", CALLS, json.dumps(numbers)))
    assert sum(error != 1 for error in without.values()) > 15


def test_compose_uses_the_profile():
    compose = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))
    options = compose["services"]["arena"]["security_opt"]
    assert set(options) == {
        f"seccomp=./{PROFILE.name}",
        "systempaths=unconfined",
        "apparmor=unconfined",
        "no-new-privileges:true",
    }
