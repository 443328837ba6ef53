"""Runtimes are built of wheels alone, once for the same, wholly or not at all; versions keep theirs."""

import signal
import subprocess
import sys
import textwrap
from datetime import UTC, datetime

import pytest
from packaging.requirements import Requirement

from arena.bots import built_runtimes
from arena.bots.blobs import remove_unpacked
from arena.bots.built_runtimes import BuiltRuntimes, site_of
from arena.bots.intake import SubmissionIntake
from arena.bots.runtime_build import NotBuilt, build, of_the_sdk
from arena.live.players import command_of
from arena.results.versions import VersionEvent
from arena.sandbox.command import BadCommand
from arena.store import BotKind, open_store
from tests.bots.test_archive import BOT, zipped
from tests.doubles.wheels import wheel
from tests.store.test_registry import enter

NOW = datetime(2026, 11, 23, tzinfo=UTC)
ML = 'name = "ml"\npackages = ["tiny"]\n'


def silent(what, done=0, size=0):
    """Nobody looks."""


class House:
    """A data folder, wheels in a folder beside, and a TOML."""

    def __init__(self, folder):
        self.folder, self.data, self.wheels = folder, folder / "data", folder / "made"
        self.toml = folder / "ml.toml"
        self.toml.write_text(ML)
        self.lock = folder / "ml.lock"
        self.runtimes = BuiltRuntimes(self.data)
        wheel(self.wheels, needs=["other"])
        wheel(self.wheels, {"other.py": b""}, name="other")

    def build(self, **settings):
        return build(self.toml, self.data, silent, found_in=self.wheels, **settings)

    @property
    def left(self):
        """What is in the folder of runtimes."""
        return sorted(each.name for each in self.runtimes.folder.glob("*") if each.name != ".lock")


@pytest.fixture
def house(tmp_path):
    made = House(tmp_path)
    yield made
    for each in (tmp_path / "data" / "runtimes").glob("*"):
        if not each.is_symlink():
            remove_unpacked(each)


@pytest.mark.slow
def test_a_runtime_has_what_was_asked_for_and_what_that_needs(house):
    built, new = house.build()
    assert new
    assert built.packages == ("other==1.0", "tiny==1.0")
    assert (built.site / "tiny/__init__.py").is_file()
    assert house.runtimes.all() == (built,)
    assert house.left == ["ml", f"ml-{built.sha256[:16]}"]
    assert {each.stat().st_mode & 0o222 for each in built.folder.rglob("*")} == {0}
    assert len(house.lock.read_text().splitlines()) == 4


@pytest.mark.slow
def test_the_same_is_built_once(house):
    built, _ = house.build()
    house.lock.unlink()
    assert house.build() == (built, False), "found anew"
    nothing = house.folder / "empty"
    nothing.mkdir()
    house.wheels = nothing
    assert house.build() == (built, False), "by the lock nothing is even fetched"


@pytest.mark.slow
def test_the_lock_makes_the_same_elsewhere_though_there_is_a_newer_wheel(house):
    built, _ = house.build()
    wheel(house.wheels, version="2.0")
    workers, new = build(house.toml, house.folder / "else", silent, found_in=house.wheels)
    try:
        assert (workers.sha256, new) == (built.sha256, True)
    finally:
        remove_unpacked(workers.folder)


@pytest.mark.slow
def test_a_wheel_that_is_not_the_locked_one_is_refused(house):
    house.build()
    wheel(house.wheels, {"tiny/__init__.py": b"evil"}, needs=["other"])
    with pytest.raises(NotBuilt, match=r"(?i)hash"):
        build(house.toml, house.folder / "else", silent, found_in=house.wheels)
    assert BuiltRuntimes(house.folder / "else").all() == ()


@pytest.mark.slow
def test_other_packages_are_another_runtime_and_the_name_leads_to_the_last_one(house):
    first, _ = house.build()
    house.toml.write_text('name = "ml"\npackages = ["other"]\n')
    second, new = house.build()
    assert new
    assert house.runtimes.named("ml") == second
    assert house.runtimes.of(first.sha256) == first
    house.toml.write_text(ML)
    assert house.build() == (first, False)
    assert house.runtimes.named("ml") == first


@pytest.mark.slow
def test_hashes_may_be_said_in_the_file(house):
    house.build()
    pins = [line for line in house.lock.read_text().splitlines() if not line.startswith("#")]
    house.toml.write_text(f'name = "ml"\npackages = {pins}\n')
    assert house.build()[0].packages == ("other==1.0", "tiny==1.0")
    false = [pin[:-8] + "00000000" for pin in pins]
    house.toml.write_text(f'name = "ml"\npackages = {false}\n')
    with pytest.raises(NotBuilt, match=r"(?i)hash|No matching"):
        house.build()


# fmt: off
NOT_HAD = [
    ('["absent"]',              "No matching distribution found for absent",  "nothing of the name"),
    ('["tiny==7"]',             "No matching distribution found for tiny==7", "no such version"),
    ('["tiny", "other==2"]',    "No matching distribution found for other",   "one of two"),
    ('["sdist"]',               "No matching distribution found for sdist",   "what would have to be built"),
    ('["elsewhere"]',           "No matching distribution found for elsewhere", "a wheel of another system"),
    ('["old-sdk"]',             "(?i)conflict|resolutionimpossible",          "the SDK would not run with it"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(("packages", "sentence", "_why"), NOT_HAD, ids=[r[-1] for r in NOT_HAD])
def test_what_cannot_be_had_is_said_and_nothing_is_left(house, packages, sentence, _why):
    (house.wheels / "sdist-1.0.tar.gz").write_bytes(b"setup.py")
    wheel(house.wheels, {"e.py": b""}, name="elsewhere", tag="cp26-cp26-linux_x86_64")
    wheel(house.wheels, {"protobuf.py": b""}, name="protobuf", version="3.0")
    wheel(house.wheels, {"o.py": b""}, name="old_sdk", needs=["protobuf<4"])
    house.toml.write_text(f'name = "ml"\npackages = {packages}\n')
    with pytest.raises(NotBuilt, match=sentence):
        house.build()
    assert house.left == []
    assert not house.lock.exists()


def test_a_runtime_is_held_to_what_the_sdk_needs():
    assert {Requirement(each).name for each in of_the_sdk()} == {
        "grpcio",
        "protobuf",
        "typing-extensions",
    }


BUILDS = """
import sys, time
from pathlib import Path
from arena.bots import runtime_build as building
folder = Path(sys.argv[1])
run = building._run_pip
def stops(words):
    yield from run(words)
    if words[0] == sys.argv[2]:
        print("there", flush=True)
        time.sleep(600)
building.build(folder / "ml.toml", folder / "data", lambda *_: None, found_in=folder / "made", run=stops)
"""


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["download", "install"])
def test_a_build_that_is_killed_leaves_nothing_to_be_seen(house, stage):
    command = [sys.executable, "-c", textwrap.dedent(BUILDS), str(house.folder), stage]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "there\n"
        process.send_signal(signal.SIGKILL)
    assert house.runtimes.all() == ()
    (left,) = house.left
    assert left.startswith("."), "hidden"
    assert not house.lock.exists()
    built, new = house.build()
    assert new
    assert house.left == ["ml", f"ml-{built.sha256[:16]}"], "the next one clears it away"


@pytest.mark.slow
def test_who_builds_is_waited_for(house):
    with house.runtimes.changing():
        code = (
            "import sys; from pathlib import Path\n"
            "from arena.bots.built_runtimes import BuiltRuntimes\n"
            "def waits(): print('waits', flush=True); raise SystemExit(3)\n"
            "with BuiltRuntimes(Path(sys.argv[1])).changing(waits): print('in')\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(house.data)],
            check=False,
            capture_output=True,
            text=True,
        )
    assert (done.returncode, done.stdout) == (3, "waits\n")


@pytest.mark.slow
def test_a_runtime_for_another_python_runs_nothing(house, monkeypatch):
    built, _ = house.build()
    monkeypatch.setattr(built_runtimes, "python_here", lambda: "cpython-399 linux-x86_64")
    (there,) = house.runtimes.all()
    assert "was built for cpython-3" in there.lacks
    assert house.runtimes.names() == ()
    with pytest.raises(BadCommand, match="ann@7 cannot be run: ml was built for"):
        site_of(built.sha256, house.data, "ann@7")


# fmt: off
DAMAGED = [
    (lambda folder: (folder / "runtime.json").unlink(),            "what it is was removed"),
    (lambda folder: (folder / "runtime.json").write_text("{"),     "what it is cannot be read"),
    (lambda folder: (folder / "runtime.json").write_text("[]"),    "it is something else"),
    (lambda folder: folder.rename(folder.parent / "ml-0"),         "it has another name"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(("harm", "_why"), DAMAGED, ids=[row[-1] for row in DAMAGED])
def test_a_damaged_runtime_is_none(house, harm, _why):
    built, _ = house.build()
    built.folder.chmod(0o755)
    (built.folder / "runtime.json").chmod(0o644)
    harm(built.folder)
    assert house.runtimes.all() == ()
    assert house.runtimes.of(built.sha256) is None


# Versions.


@pytest.fixture
def intake(house):
    house.data.mkdir()
    with open_store(house.data / "arena.db") as store:
        registry = store.registry()
        enter(registry, "ann")
        registry.create_bot("a", "ann", BotKind.UPLOADED, now=NOW)
        yield SubmissionIntake(house.data, registry, store.keys(), lambda: NOW)


def submit(intake, mark, runtime="ml"):
    manifest = BOT["bot.toml"].replace(b"\n", f'\nruntime = "{runtime}"\n'.encode(), 1)
    path = intake.begin()
    zipped(path, BOT | {"bot.toml": manifest, "mark": mark})
    return intake.submit("a", path)


@pytest.mark.slow
def test_a_version_keeps_the_runtime_that_it_was_submitted_for(house, intake):
    first, _ = house.build()
    old = submit(intake, b"1")
    house.toml.write_text('name = "ml"\npackages = ["other"]\n')
    second, _ = house.build()
    new = submit(intake, b"2")
    assert [each.runtime_sha256 for each in (old, new)] == [first.sha256, second.sha256]
    assert [each.manifest["runtime"] for each in (old, new)] == ["ml", "ml"]
    assert command_of(old, house.data).packages == (first.site,)
    assert command_of(new, house.data).packages == (second.site,)


@pytest.mark.slow
def test_a_bot_of_plain_python_has_no_runtime_of_ours(house, intake):
    house.build()
    version = submit(intake, b"1", "python")
    assert version.runtime_sha256 == ""
    assert command_of(version, house.data).packages == ()


@pytest.mark.slow
def test_a_runtime_that_is_removed_stays_for_those_who_may_still_play(house, intake):
    first, _ = house.build()
    old = submit(intake, b"1")
    house.toml.write_text('name = "ml"\npackages = ["other"]\n')
    second, _ = house.build()
    assert [*intake.registry.run_by()] == [first.sha256]
    with house.runtimes.changing():
        stay = house.runtimes.remove("ml", intake.registry.run_by())
    assert (stay, house.left) == ([first], [first.folder.name])
    assert house.runtimes.of(second.sha256) is None
    with pytest.raises(ValueError, match="runtime: should be a runtime of the arena"):
        submit(intake, b"2")
    assert command_of(old, house.data).packages == (first.site,)
    intake.registry.record("a", 1, VersionEvent.RETIRED, who="ann", now=NOW)
    assert intake.registry.run_by() == {}
    with house.runtimes.changing():
        house.runtimes.remove("ml", intake.registry.run_by())
    assert house.left == []
    with pytest.raises(BadCommand, match="which was removed: `arena runtimes build`"):
        command_of(old, house.data)
