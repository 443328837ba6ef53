"""`scripts/release`: one version everywhere, what it refuses, and packages that work and are the same twice."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.version import Version

from arena.bots.archive import read_archive
from arena.envs import trained_bot
from arena.envs.training import KEPT, POLICY, Training, TrainingTerms
from tests.programs import needs
from tests.sdk.archives import copy_of_checkout, git, release
from tests.sdk.languages import QUICK_START

ROOT = Path(__file__).resolve().parents[1]
VERSION = release.version_of(ROOT)
SDKS = ["go", "java", "python", "rust", "typescript"]


def read(name):
    return (ROOT / name).read_text("utf-8")


@pytest.mark.parametrize("name", release.PLACES)
def test_each_place_has_the_version_of_the_engine(name):
    text = read(name)
    assert release.with_version(name, text, VERSION) == text, "run scripts/release --set"


@pytest.mark.parametrize("name", release.PLACES)
def test_a_new_version_is_written_to_each_place(name):
    text = read(name)
    new = Version("23.4.5rc6")
    changed = release.with_version(name, text, new)
    assert changed != text
    assert release.with_version(name, changed, VERSION) == text


def test_a_file_without_the_version_is_refused():
    with pytest.raises(release.CannotRelease, match=r"go\.mod has no version"):
        release.with_version("sample_bots/go/go.mod", "module samplebots", VERSION)


# fmt: off
SPELLED = [
    ("1.0.0",    "1.0.0",     "a release"),
    ("1.0.0rc1", "1.0.0-rc1", "a candidate, as Python spells it"),
    ("1.2-rc.3", "1.2-rc3",   "a candidate, as others do"),
]
# fmt: on


@pytest.mark.parametrize(("version", "text", "why"), SPELLED, ids=[row[-1] for row in SPELLED])
def test_a_version_is_spelled_as_semantic_versioning_does(version, text, why):
    assert release.written(Version(version)) == text


# fmt: off
CHANGELOGS = [
    ("## [1.0.0]\n- A game.\n\n## [0.9.0]\n- Another.\n",  ["- A game."],  "an entry"),
    ("## [1.0.0] - 2026-11-25\n### Games\n- A game.\n",    ["- A game."],  "an entry below a heading, with a date"),
    ("## [1.0.0]\n\n## [0.9.0]\n- Another.\n",             [],             "an entry of another version"),
    ("## [1.0.0]\nThe first release.\n",                   [],             "a sentence alone"),
    ("- A game.\n",                                        [],             "no version"),
]
# fmt: on


@pytest.mark.parametrize(
    ("text", "expected", "why"), CHANGELOGS, ids=[row[-1] for row in CHANGELOGS]
)
def test_the_entries_of_a_version_are_found(text, expected, why):
    assert release.entries(text, "1.0.0") == expected


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository with all that is checked, without node to read proto/."""
    folder = tmp_path / "checkout"
    for name in ("pyproject.toml", "CHANGELOG.md", "clients/go/CHANGELOG.md", *release.PLACES):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    git(folder.parent, "init", "--quiet", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "first")
    monkeypatch.setattr(release.shutil, "which", lambda _: None)
    return folder


def change(folder, name, old, new):
    text = (folder / name).read_text("utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new), "utf-8")


def test_a_clean_checkout_with_an_entry_can_be_released(checkout):
    release.check(checkout)


# fmt: off
REFUSED = [
    ("LICENSE",              "",                       "new",            False, "has 1 changes; commit them",     "a file that is not committed"),
    ("CHANGELOG.md",         "## [1.0.0-rc1]",         "## [0.9.0]",     True,  "no entry below `## ",            "a changelog without an entry"),
    ("clients/go/CHANGELOG.md", "## [1.0.0-rc1]",      "## [0.9.0]",     True,  "clients/go/CHANGELOG.md has no entry below `## ", "an SDK's changelog without an entry"),
    ("clients/go/run.go",    release.written(VERSION), "0.9.0",          True,  "run.go has another version",     "a version that differs"),
]
# fmt: on


@pytest.mark.parametrize(
    ("name", "old", "new", "committed", "said", "why"), REFUSED, ids=[row[-1] for row in REFUSED]
)
def test_a_checkout_is_refused(name, old, new, committed, said, why, checkout):
    if old:
        change(checkout, name, old, new)
    else:
        (checkout / name).write_text(new)
    if committed:
        git(checkout, "commit", "--quiet", "--all", "--message", "second")
    with pytest.raises(release.CannotRelease, match=re.escape(said)):
        release.check(checkout)


def test_a_proto_that_breaks_clients_is_refused(checkout, monkeypatch):
    """What breaks them, tests/test_contract.py holds."""
    monkeypatch.setattr(release.shutil, "which", lambda _: "npx")
    script = checkout / "scripts" / "contract"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho field 2 changed type\nexit 1\n")
    script.chmod(0o755)
    git(checkout, "add", ".")
    git(checkout, "commit", "--quiet", "--message", "second")
    with pytest.raises(release.CannotRelease, match="field 2 changed type"):
        release.check(checkout)


def test_all_metadata_has_the_same_address():
    """One to replace, once the project has an address."""
    for name in ("pyproject.toml", "clients/python/pyproject.toml", "clients/rust/Cargo.toml",
                 "clients/typescript/package.json", "clients/java/pom.xml"):  # fmt: skip
        found = set(re.findall(r"https://example\.org/\w+", read(name)))
        assert found == {release.PLACEHOLDER}, name


@pytest.mark.parametrize("sdk", SDKS)
def test_the_licence_travels_with_each_sdk(sdk):
    assert read(f"clients/{sdk}/LICENSE") == read("LICENSE")
    assert "Apache License" in read("LICENSE")


def test_the_first_bot_of_the_sdk_is_that_of_the_readme():
    """Whose commands tests/test_readme.py runs."""
    bots = [re.findall(r"```python\n.*?```", read(name), re.DOTALL)
            for name in ("README.md", "clients/python/README.md")]  # fmt: skip
    assert bots[0] == bots[1] != []


# What is built.


def built(folder, *parts, root=ROOT):
    """The SHA-256 of each file of a folder in which these parts are built."""
    release.build(root, folder, list(parts))
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def travelling(package):
    """The licence and the changelog of a package, by name."""
    if package.suffix in {".jar", ".whl", ".zip"}:
        with zipfile.ZipFile(package) as archive:
            names = archive.namelist()
    else:
        with tarfile.open(package) as archive:
            names = archive.getnames()
    return {Path(name).name for name in names} & {"LICENSE", "CHANGELOG.md"}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    return folder, built(folder, "python", "go", "cpp", "sbom")


@pytest.mark.deep("packages")
def test_packages_are_the_same_bytes_when_built_again(packages, tmp_path):
    assert built(tmp_path / "again", "python", "go", "cpp", "sbom") == packages[1]


@pytest.mark.deep("packages")
@needs("cargo")
@needs("mvn")
@needs("npm")
def test_packages_of_other_languages_are_the_same_bytes_when_built_again(tmp_path, monkeypatch):
    # Maven starts javadoc, and both live for seconds.
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", " ".join(QUICK_START))
    root, parts = copy_of_checkout(tmp_path / "checkout"), ("npm", "crate", "maven")
    first = built(tmp_path / "first", *parts, root=root)
    assert first == built(tmp_path / "again", *parts, root=root)
    name = f"cardarena-{release.written(VERSION)}"
    endings = (".tgz", ".crate", ".jar", "-sources.jar", "-javadoc.jar", ".pom")
    assert set(first) == {*(f"{name}{each}" for each in endings), "SHA256SUMS"}
    for ending in endings[:3]:
        assert len(travelling(tmp_path / "first" / f"{name}{ending}")) == 2, ending


@pytest.mark.deep("packages")
@pytest.mark.parametrize(
    "pattern",
    ["cardarena-1*.tar.gz", "cardarena-cpp-*.tar.gz", "go/**/*.zip", "cardarena_engine-*.tar.gz"],
)
def test_the_licence_and_the_changelog_are_in_each_package(packages, pattern):
    (package,) = packages[0].glob(pattern)
    assert len(travelling(package)) == 2


@pytest.mark.deep("packages")
def test_the_checksums_are_those_of_all_files(packages):
    folder, files = packages
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    assert {line[66:]: line[:64] for line in lines} == {
        name: sha256 for name, sha256 in files.items() if name != "SHA256SUMS"
    }


@pytest.mark.deep("packages")
def test_the_list_of_parts_has_all_that_an_arena_runs_with(packages):
    found = json.loads((packages[0] / "sbom.cdx.json").read_text())
    assert found["bomFormat"] == "CycloneDX"
    assert found["metadata"]["component"]["name"] == "cardarena-engine"
    pins = re.findall(r"^([a-z0-9.-]+)==(\S+)", read("requirements/run.lock"), re.MULTILINE)
    assert {(each["name"].lower(), each["version"]) for each in found["components"]} >= set(pins)


@pytest.mark.deep("packages")
@needs("go")
def test_go_finds_its_module(packages, tmp_path, monkeypatch):
    source = tmp_path / "source" / "clients" / "go"
    shutil.copytree(ROOT / "clients/go", source)
    (source.parents[1] / "pyproject.toml").write_text(read("pyproject.toml"))
    path = "cardarena.example.org/sdk"  # Go asks proxies only for paths with a host
    text = re.sub(r"^module .*", f"module {path}", read("clients/go/go.mod"))
    (source / "go.mod").write_text(text)
    git(tmp_path, "init", "--quiet", "source")
    git(source, "add", ".")
    release.build_go(source.parents[1], tmp_path / "out")
    version = f"v{release.written(VERSION)}"
    done = subprocess.run(
        ["go", "mod", "download", "-json", f"{path}@{version}"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "GOPROXY": f"file://{tmp_path / 'out/go'}", "GONOSUMDB": "*",
             "GOMODCACHE": str(tmp_path / "cache"), "GOFLAGS": "-modcacherw"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    module = Path(json.loads(done.stdout)["Dir"])
    assert {"LICENSE", "README.md", "run.go", "soko"} <= {each.name for each in module.iterdir()}


@pytest.mark.deep("packages")
def test_the_wheel_has_what_the_sdist_has(packages):
    """They are built one from the other; so what a checkout adds to its own wheel is in both."""
    name = f"cardarena_engine-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(packages[0] / name) as wheel:
        names = set(wheel.namelist())
    force_included = tomllib.loads(read("pyproject.toml"))["tool"]["hatch"]["build"]["targets"][
        "wheel"
    ]["force-include"]
    for place in force_included.values():
        assert any(each == place or each.startswith(f"{place}/") for each in names), place


# Trained bots that a release carries.


@pytest.fixture
def trained(tmp_path):
    """A folder as `scripts/baselines` leaves it, with a bot that has learned nothing."""
    bot = tmp_path / "trained" / "sixty_six"
    bot.mkdir(parents=True)
    Training(TrainingTerms("sixty_six", 2, {"hands": 4}, "1")).export(bot / POLICY)
    (bot / KEPT).write_bytes(b"of the training alone")
    (bot / "bot.py").write_text("from cardarena.envs import TrainedBot")
    manifest = 'command = ["python", "bot.py"]\n[[games]]\nid = "sixty_six"\n'
    (bot / "bot.toml").write_text(manifest)
    return bot.parent


def test_a_baseline_is_a_zip_that_can_be_submitted(trained, tmp_path):
    files = []
    for name in ("first", "again"):
        release.build(ROOT, tmp_path / name, [], trained)
        files.append((tmp_path / name / "cardarena-baseline-sixty_six.zip").read_bytes())
        os.utime(trained / "sixty_six" / POLICY, (0, 0))
    assert files[0] == files[1]
    sums = (tmp_path / "first" / "SHA256SUMS").read_text()
    assert sums.startswith(hashlib.sha256(files[0]).hexdigest())
    archive = read_archive(tmp_path / "first" / "cardarena-baseline-sixty_six.zip")
    assert archive.paths == {"bot.py", "bot.toml", POLICY}


# fmt: off
NO_BASELINES = [
    ("sixty_six",        "has no bot",                             "a folder without bots"),
    ("sixty_six/bot.py", "bot.py",                                 "a bot without its program"),
    (None,               "was trained for another layout",         "a bot for other rules"),
]
# fmt: on


@pytest.mark.parametrize(
    ("removed", "text", "why"), NO_BASELINES, ids=[row[-1] for row in NO_BASELINES]
)
def test_baselines_that_cannot_play_are_refused(removed, text, why, trained, tmp_path, monkeypatch):
    if removed is None:
        monkeypatch.setattr(trained_bot, "layout_digest", lambda layout: "another")
    else:
        (trained / removed).rename(tmp_path / "removed")
    with pytest.raises(release.CannotRelease, match=text):
        release.build(ROOT, tmp_path / "out", [], trained)


# What is installed, in environments that have our packages from the folder alone.


def run(folder, *command, code=0):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def environment(strangers, packages):
    """Installs requirements from the folder of packages; returns the folder of programs."""

    def install(*requirements):
        pip = (Path(sys.base_prefix) / "bin" / "python3", "-m", "pip")
        python = strangers / "bin" / "python"
        run("/", *pip, "--python", python, "install", "--no-index", "--find-links", packages[0],
            "--disable-pip-version-check", *requirements)  # fmt: skip
        return strangers / "bin"

    return install


@pytest.mark.deep("packages")
def test_an_installed_arena_plays_outside_a_checkout(environment, tmp_path):
    programs = environment("cardarena-engine[server,web]")
    arena = programs / "arena"
    assert f"version {VERSION}" in run(tmp_path, arena, "--version")
    run(tmp_path, arena, "new", "my-bot")
    # Other people's packages are links to here, which the sandbox has to show.
    shown = ("--ro", sysconfig.get_path("purelib"))
    bots = ("my-bot", "house:sample")
    played = json.loads(run(tmp_path, arena, "play", "abstrac", *bots, "--json", *shown))
    assert played["ending"] == "completed"
    bots = ("first=sample_bots/first_bot.py", "sample_bots/democracy.py", "house:random")
    table = run(tmp_path, arena, "tournament", "democracy", *bots, "--seats", "3", "-o", "hands=3",
                "--deal-sets", "1", "--seed", "7", *shown)  # fmt: skip
    assert "first" in table
    run(tmp_path, arena, "check", "my-bot", *shown)
    run(tmp_path, arena, "web", "export", "democracy", "site")
    assert (tmp_path / "site" / "index.html").is_file()


@pytest.mark.deep("packages")
def test_an_installed_sdk_plays_with_the_engine_that_it_names(environment, tmp_path):
    programs = environment("cardarena[local]")
    (bot,) = re.findall(r"```python\n(.*?)```", read("clients/python/README.md"), re.DOTALL)
    (tmp_path / "my_bot.py").write_text(bot)
    code = ("import my_bot; from cardarena import local; "
            "print(len(local.play('abstrac', [my_bot.MyBot] * 2, seed=7).scores))")  # fmt: skip
    assert run(tmp_path, programs / "python", "-c", code) == "2\n"


@pytest.mark.deep("packages")
def test_an_installed_sdk_needs_no_engine_to_connect(environment, tmp_path):
    programs = environment("cardarena")
    (bot,) = re.findall(r"```python\n(.*?)```", read("clients/python/README.md"), re.DOTALL)
    (tmp_path / "my_bot.py").write_text(bot)
    assert "--address" in run(tmp_path, programs / "python", "my_bot.py", "--help")
