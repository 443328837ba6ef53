"""Wheels of a submission are installed in the sandbox, by pip without a network, and their bot imports them."""

import os
import secrets
import sys

import pytest
import trio

from arena.bots import installed_wheels
from arena.bots.archive import read_archive
from arena.bots.blobs import Blobs
from arena.bots.installed_wheels import INSTALLED, NotInstalled, clear, folder_of, install
from arena.bots.wheels import wheels_in
from arena.live.players import command_of
from arena.results.versions import VersionEvent
from arena.sandbox.command import BadCommand, BotCommand
from arena.sandbox.output import read_output
from arena.sandbox.process import launch
from arena.sandbox.sandbox import UPLOADS_AT, Sandbox, SandboxDemand, raise_sandbox
from arena.sandbox.spawner.order import Level
from arena.store import Version
from tests.bots.test_archive import BOT, zipped
from tests.doubles.wheels import TINY, wheel
from tests.programs import require


@pytest.fixture
def sandbox(tmp_path):
    """A sandbox that uploads may be launched behind."""
    require("bubblewrap")
    with raise_sandbox(SandboxDemand.AUTO, data=tmp_path / "secret") as raised:
        if raised.level not in UPLOADS_AT:
            if os.environ.get("CI"):
                pytest.fail(f"no sandbox here: {raised.why_not_better}")
            pytest.skip(f"no sandbox here: {raised.why_not_better}")
        yield raised


def unpacked(tmp_path, *made, bot=b"import tiny; print(tiny.WORTH)"):
    """The folder of a bot with these wheels, and its hash."""
    files = BOT | {"bot.py": bot} | {f"wheels/{each.name}": each.read_bytes() for each in made}
    sha256, _ = Blobs(tmp_path / "data").keep(read_archive(zipped(tmp_path / "bot.zip", files)))
    return Blobs(tmp_path / "data").unpacked(sha256), sha256


def put(tmp_path, folder, sandbox):
    root = tmp_path / "data" / INSTALLED
    return trio.run(install, wheels_in(folder), folder, root, sandbox)


def printed(command, tmp_path, sandbox):
    """What a bot prints that is started as for play."""

    async def main():
        folder = tmp_path / "bots" / secrets.token_hex(4)
        process = await launch(command, folder, {}, sandbox=sandbox)
        await process.watch()
        return process

    process = trio.run(main)
    return [line.text for line in read_output(process.output) if not line.by_arena]


@pytest.fixture(params=["sandboxed", "S1", "unsandboxed"])
def any_sandbox(request, tmp_path):
    if request.param == "unsandboxed":
        yield None
        return
    most = Level.S1 if request.param == "S1" else Level.S3
    if most is Level.S3:
        require("bubblewrap")
    with Sandbox(data=tmp_path / "secret", most=most) as raised:
        if raised.level is Level.S0 or (most is Level.S3 and raised.level not in UPLOADS_AT):
            pytest.skip(f"no such sandbox here: {raised.why_not(most)}")
        yield raised


@pytest.mark.slow
def test_the_same_wheels_are_installed_once(tmp_path, any_sandbox):
    folder, _ = unpacked(tmp_path, wheel(tmp_path / "made"))
    found = put(tmp_path, folder, any_sandbox)
    assert found == folder_of(wheels_in(folder), tmp_path / "data" / INSTALLED)
    assert (found / "tiny/__init__.py").read_bytes() == TINY["tiny/__init__.py"]
    assert {each.stat().st_mode & 0o777 for each in found.rglob("*")} <= {0o444, 0o555}
    assert {each.stat().st_uid for each in (found, *found.rglob("*"))} == {os.getuid()}
    assert [each.name for each in found.parent.iterdir()] == [found.name], "nothing is left beside"
    assert put(tmp_path, folder, "no sandbox that could start anything") == found


@pytest.mark.slow
def test_a_version_is_launched_with_its_wheels_which_are_installed_again_if_they_are_gone(
    tmp_path, sandbox
):
    _, sha256 = unpacked(tmp_path, wheel(tmp_path / "made"))
    version = Version(
        "ann", 7, sha256, {"command": ["python", "bot.py"]}, "", None, VersionEvent.ACTIVE
    )

    async def main():
        return await trio.to_thread.run_sync(command_of, version, tmp_path / "data", sandbox)

    command = trio.run(main)
    assert printed(command, tmp_path, sandbox) == ["7"]


def test_older_submissions_without_wheels_still_work(tmp_path):
    files = BOT | {"wheels/README": b""}
    sha256, _ = Blobs(tmp_path).keep(read_archive(zipped(tmp_path / "bot.zip", files)))
    version = Version(
        "ann", 7, sha256, {"command": ["python", "bot.py"]}, "", None, VersionEvent.ACTIVE
    )
    with pytest.raises(BadCommand, match="the wheels of ann@7 are not installed: this is no wheel"):
        command_of(version, tmp_path)


@pytest.mark.slow
def test_files_of_killed_processes_are_removed(tmp_path, sandbox):
    folder, _ = unpacked(tmp_path, wheel(tmp_path / "made"))
    found = put(tmp_path, folder, sandbox)
    (found.parent / ".0123" / "work").mkdir(parents=True)
    clear(found.parent)
    assert [each.name for each in found.parent.iterdir()] == [found.name]


@pytest.mark.slow
def test_what_a_wheel_runs_when_python_starts_runs_behind_the_sandbox_alone(tmp_path, sandbox):
    """Neither pip nor the arena starts it; `.pth` files are not read, and `sitecustomize` is the bot's."""
    mark = tmp_path / "secret" / "mark"
    mark.parent.mkdir()
    write = f"import os\ntry: open({str(mark)!r}, 'w')\nexcept OSError: pass\nprint('started')\n"
    files = TINY | {
        "evil.pth": b"import sys; print('pth')\n",
        "sitecustomize.py": write.encode(),
    }
    _, sha256 = unpacked(tmp_path, wheel(tmp_path / "made", files))
    version = Version(
        "ann", 7, sha256, {"command": ["python", "bot.py"]}, "", None, VersionEvent.ACTIVE
    )

    async def main():
        return await trio.to_thread.run_sync(command_of, version, tmp_path / "data", sandbox)

    command = trio.run(main)
    assert not mark.exists(), "while it was installed"
    assert printed(command, tmp_path, sandbox) == ["started", "7"]
    assert not mark.exists(), "while it played"
    assert printed(command, tmp_path, None)[0] == "started"
    assert mark.exists(), "without the sandbox it would have got there"


REFUSED = [
    ({"tag": "cp26-cp26-linux_x86_64"}, "is not a supported wheel on this platform", "another Python"),
    ({"files": {"tiny-1.0.data/evil/x": b""}}, "Unknown scheme key used in wheels/tiny-1.0-py3-none-any.whl", "data for nowhere"),
    ({"about": lambda held: {k: v for k, v in held.items() if "METADATA" not in k}}, "Bad metadata", "no name"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "sentence", "_why"), REFUSED, ids=[r[-1] for r in REFUSED])
def test_an_error_of_pip_is_reported_and_nothing_is_stored(
    tmp_path, sandbox, settings, sentence, _why
):
    folder, _ = unpacked(tmp_path, wheel(tmp_path / "made", **settings))
    with pytest.raises(NotInstalled, match=sentence):
        put(tmp_path, folder, sandbox)
    assert not [*(tmp_path / "data" / INSTALLED).iterdir()]


@pytest.mark.slow
def test_a_wheel_that_was_exchanged_is_not_installed(tmp_path, sandbox):
    folder, _ = unpacked(tmp_path, wheel(tmp_path / "made"))
    wheels = wheels_in(folder)
    (path,) = (folder / "wheels").iterdir()
    path.chmod(0o644)
    path.write_bytes(wheel(tmp_path / "other", {"tiny.py": b"evil"}).read_bytes())
    with pytest.raises(NotInstalled, match=r"(?i)hash"):
        trio.run(install, wheels, folder, tmp_path / "data" / INSTALLED, sandbox)


@pytest.mark.slow
def test_what_a_wheel_needs_and_does_not_bring_is_not_fetched(tmp_path, sandbox):
    folder, _ = unpacked(tmp_path, wheel(tmp_path / "made", needs=["numpy"]))
    found = put(tmp_path, folder, sandbox)
    assert not (found / "numpy").exists()


# fmt: off
LEFT = [
    ("os.symlink('/etc/passwd', site + '/x')",      "x is no plain file",           "a link"),
    ("os.mkfifo(site + '/x')",                      "x is no plain file",           "a pipe"),
    ("[open(f'{site}/{n}', 'w') for n in range(20)]", "which is too much",          "many files"),
    ("open(site + '/x', 'w').truncate(9_000)",      "which is too much",            "much of it"),
    ("sys.exit('ERROR: no')",                       "no",                           "an exit code"),
    ("os.kill(os.getpid(), 9)",                     "ended by signal 9", "a kill"),
    ("__import__('time').sleep(60)",                "did not end within 1 s",       "no end"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(("code", "sentence", "_why"), LEFT, ids=[row[-1] for row in LEFT])
def test_installed_files_are_checked(tmp_path, sandbox, monkeypatch, code, sentence, _why):
    """Whatever runs there, and were it not pip any more."""
    program = f"import os, sys; site = sys.argv[-1]; os.mkdir(site); {code}"
    monkeypatch.setattr(
        installed_wheels, "_words", lambda work: (sys.executable, "-c", program, str(work / "site"))
    )
    monkeypatch.setattr(installed_wheels, "INSTALL_S", 1.0 if "sleep" in code else 60.0)
    monkeypatch.setattr(installed_wheels, "MAX_INSTALLED_FILES", 10)
    monkeypatch.setattr(installed_wheels, "MAX_INSTALLED_BYTES", 8_000)
    folder, _ = unpacked(tmp_path, wheel(tmp_path / "made"))
    with pytest.raises(NotInstalled, match=sentence):
        put(tmp_path, folder, sandbox)
    assert not [*(tmp_path / "data" / INSTALLED).iterdir()]


def test_an_installation_writes_to_one_folder_and_has_no_network(tmp_path, sandbox, monkeypatch):
    """Were pip itself taken over by what it installs."""
    mark = tmp_path / "mark"
    program = (
        f"import os, socket, sys; os.mkdir(sys.argv[-1])\ntry: open({str(mark)!r}, 'w')\n"
        "except OSError: pass\nsocket.socket(socket.AF_INET)\n"
    )
    monkeypatch.setattr(
        installed_wheels, "_words", lambda work: (sys.executable, "-c", program, str(work / "site"))
    )
    folder, _ = unpacked(tmp_path, wheel(tmp_path / "made"))
    with pytest.raises(NotInstalled, match=r"Address family not supported|Permission denied"):
        put(tmp_path, folder, sandbox)
    assert not mark.exists()
    put(tmp_path, folder, None)
    assert mark.exists(), "without the sandbox it would have got there"


WRITES = """
import os, sys
folder, beside, bot = sys.argv[1:]
for path in (folder, beside, bot, "/usr", "/"):
    try:
        open(path + "/written", "w")
        print("wrote in", path)
    except OSError:
        print("kept from", path)
"""


@pytest.mark.parametrize("most", [Level.S3, Level.S1])
def test_a_program_of_the_arenas_writes_in_one_folder_and_a_bot_in_none(tmp_path, most):
    if most is Level.S3:
        require("bubblewrap")
    folder, beside, bot = (tmp_path / name for name in ("one", "two", "bot"))
    for each in (folder, beside, bot):
        each.mkdir()
    (bot / "bot.py").write_text(WRITES)
    argv = (sys.executable, str(bot / "bot.py"), *map(str, (folder, beside, bot)))
    with Sandbox(data=tmp_path / "secret", most=most) as raised:
        if raised.level is Level.S0 or (most is Level.S3 and raised.level is Level.S1):
            pytest.skip(f"no such sandbox here: {raised.why_not(most)}")
        others = [f"kept from {path}" for path in (beside, bot, "/usr", "/")]
        told = printed(BotCommand("bot", argv, writes=folder), tmp_path, raised)
        assert told == [f"wrote in {folder}", *others]
        told = printed(BotCommand("bot", argv), tmp_path, raised)
        assert told == [f"kept from {folder}", *others]
