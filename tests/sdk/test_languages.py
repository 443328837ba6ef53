"""The Go, Rust, TypeScript, Java and C++ SDKs: own tests, generated code, README and conformance kit.

The tests of an SDK are skipped without its tools.
"""

import functools
import json
import re
import shutil
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from arena.testing.conformance.cases import load
from arena.testing.conformance.play import judge
from cardarena._games import FAMILIES
from tests.programs import needs
from tests.sdk import languages, planted
from tests.sdk.kit import KIT, begun, judged, passes_every_case
from tests.sdk.languages import CLIENTS, ROOT, SAMPLE_BOTS, called, plant

pytestmark = pytest.mark.slow
GO, RUST, TYPESCRIPT, JAVA, CPP = (
    CLIENTS / name for name in ("go", "rust", "typescript", "java", "cpp")
)


@dataclass(frozen=True, eq=False)
class Sdk:
    """How an SDK is built and tested."""

    language: languages.Language
    own_tests: Callable[[], object] | None
    """None for Java: Maven runs its tests before it installs it."""
    source: Path
    """The folder that its generator writes to."""
    build_readme: Callable[[str, Path], object]
    """Builds the README's bot in a folder."""
    builder: Callable[[Callable], Callable]
    """Takes a function that makes folders, and returns one that builds a client with a planted fault."""
    faults: list
    jobs: int = 4
    """Cases of the kit that are played at a time."""

    @property
    def folder(self):
        return CLIENTS / self.language.folder

    @property
    def bots(self):
        return SAMPLE_BOTS / self.language.folder

    @property
    def client(self):
        return self.language.client()


# Go.


def go(*arguments, folder=GO):
    return called("go", *arguments, folder=folder)


def build_go_readme(source, folder):
    (folder / "main.go").write_text(source)
    go("mod", "init", "mybot", folder=folder)
    module = "cardarena.dev/cardarena"
    go("mod", "edit", f"-require={module}@v1.0.0-rc1", f"-replace={module}={GO}", folder=folder)
    shutil.copy(GO / "go.sum", folder)
    go("build", "-mod=mod", "-trimpath", "-o", "mybot", ".", folder=folder)


def go_builder(new_folder):
    def built(name, old, new):
        source = new_folder() / "source"
        shutil.copytree(GO, source)
        plant(source, name, old, new)
        # Without paths in it, the generated code compiles to the same and is not compiled again.
        client = source.parent / "client"
        go("build", "-trimpath", "-o", client, "./internal/conformance", folder=source)
        return [str(client)]

    return built


# Rust.


@functools.cache
def rust_copy():
    """A copy of the sources as a workspace of its own, always at the same path, to reuse builds."""
    copy = RUST / "target" / "copied"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(RUST, copy, ignore=shutil.ignore_patterns("target", "generate", "tests"))
    plant(copy, "Cargo.toml", 'members = ["generate", "../../sample_bots/rust"]\n', "")
    # Both builds are in one folder, so they need different names.
    (copy / "examples" / "conformance.rs").rename(copy / "examples" / "copied.rs")
    plant(copy, "Cargo.toml", 'name = "conformance"', 'name = "copied"')
    return copy


def build_example(example):
    target = RUST / "target"
    environment = ("env", f"CARGO_TARGET_DIR={target}", "CARGO_PROFILE_DEV_DEBUG=0")
    build = ("cargo", "build", "--quiet", "--offline", "--example", example)
    called(*environment, *build, folder=rust_copy())
    return f"{target}/debug/examples/{example}"


def build_rust_readme(source, _):
    example = rust_copy() / "examples" / "readme.rs"
    example.write_text(f"//! The bot of the README.\n{source}")
    build_example("readme")


def rust_builder(new_folder):
    def built(name, old, new):
        path = rust_copy() / "src" / name
        original = path.read_text("utf-8")
        plant(path.parent, name, old, new)
        try:
            return [shutil.copy(build_example("copied"), new_folder() / "client")]
        finally:
            path.write_text(original)

    return built


# TypeScript.


def typescript_tests():
    called("node", "--test", *sorted((TYPESCRIPT / "dist").glob("*.test.js")), folder=TYPESCRIPT)


def only_the_setup(_folder, names):
    return [name for name in names if name in {"node_modules", "src", "dist"}]


def build_typescript_readme(source, folder):
    bots = SAMPLE_BOTS / "typescript"
    shutil.copytree(bots, folder, symlinks=True, dirs_exist_ok=True, ignore=only_the_setup)
    (folder / "node_modules").symlink_to(bots / "node_modules")
    (folder / "src").mkdir()
    (folder / "src" / "bot.ts").write_text(source)
    called("npm", "run", "build", folder=folder)


def typescript_builder(new_folder):
    """Builds without checking types."""

    def built(name, old, new):
        copy = new_folder()
        shutil.copytree(TYPESCRIPT / "src", copy / "src")
        for each in ("package.json", "tsconfig.json"):
            shutil.copy(TYPESCRIPT / each, copy)
        (copy / "node_modules").symlink_to(TYPESCRIPT / "node_modules")
        plant(copy / "src", name, old, new)
        called("node_modules/.bin/tsc", "--noCheck", "--declaration", "false", folder=copy)
        return ["node", f"{copy}/dist/conformance/client.js"]

    return built


# Java.


def build_java_readme(source, folder):
    (folder / "MyBot.java").write_text(source)
    called("javac", "-cp", languages.java_classes(), "-d", folder, folder / "MyBot.java")


def java_builder(new_folder):
    """Compiles only the file with the fault."""
    classes = languages.java_classes()

    def built(name, old, new):
        folder = new_folder()
        shutil.copy(JAVA / "src" / "main" / "java" / "cardarena" / name, folder)
        plant(folder, name, old, new)
        quick = [f"-J{option}" for option in languages.QUICK_START]
        called("javac", *quick, "-nowarn", "-cp", classes, "-d", folder, folder / name)
        return languages.java_client(f"{folder}:{classes}")

    return built


# C++.


@functools.cache
def of_bots():
    """The flags of a bot of Jam, by the build of the sample bots."""
    languages.cpp()
    build = SAMPLE_BOTS / "cpp" / "build" / "_deps" / "cardarena-build"
    libraries = [build / f"libcardarena{name}.a" for name in ("_jam", "_cards", "")]
    found = called("pkg-config", "--cflags", "--libs", "grpc++", "protobuf", "openssl")
    generated = CPP / "build" / "generated"  # of all games
    return [f"-I{CPP}/include", f"-I{generated}", *libraries, *found.split(), "-pthread"]


def build_cpp_readme(source, folder):
    (folder / "bot.cc").write_text(source)
    called("c++", "-std=c++20", "-o", folder / "bot", folder / "bot.cc", *of_bots())


@functools.cache
def cpp_client():
    """The object of the kit's client, without the SDK."""
    client = CPP / "build" / "client.o"
    called("c++", "-std=c++20", "-c", "-o", client, CPP / "conformance" / "main.cc", *of_bots())
    return client


def cpp_builder(new_folder):
    def built(name, old, new):
        folder = new_folder()
        shutil.copy(CPP / "src" / name, folder)
        plant(folder, name, old, new)
        # The linker takes what this file defines from here, and the rest from the library.
        sources = (folder / name, cpp_client())
        called("c++", "-std=c++20", f"-I{CPP}/src", "-o", folder / "client", *sources, *of_bots())
        return [f"{folder}/client"]

    return built


# The flag of the other builds, to reuse what they compiled.
GO_TESTS = functools.partial(go, "test", "-trimpath", "./...")
RUST_TESTS = functools.partial(called, "cargo", "test", "--locked", folder=RUST)
CPP_TESTS = functools.partial(called, CPP / "build" / "unit_tests")
_, OF_GO, OF_RUST, OF_TYPESCRIPT, OF_JAVA, OF_CPP = languages.LANGUAGES
# fmt: off
SDKS = [
    # language         own tests         generated into README's bot             client with a fault faults
    Sdk(OF_GO,         GO_TESTS,         GO,            build_go_readme,         go_builder,         planted.GO),
    Sdk(OF_RUST,       RUST_TESTS,       RUST / "src",  build_rust_readme,       rust_builder,       planted.RUST),
    Sdk(OF_TYPESCRIPT, typescript_tests, TYPESCRIPT,    build_typescript_readme, typescript_builder, planted.TYPESCRIPT),
    # A Java virtual machine uses a core for a second when it starts.
    Sdk(OF_JAVA,       None,             JAVA,          build_java_readme,       java_builder,       planted.JAVA, jobs=3),
    Sdk(OF_CPP,        CPP_TESTS,        CPP,           build_cpp_readme,        cpp_builder,        planted.CPP),
]
# fmt: on


def row(sdk, *values, name=""):
    """A row of a table. One process runs all rows of an SDK, and builds it once: `tests/conftest.py`."""
    language = sdk.language
    marks = (language.deep, *language.marks)
    return pytest.param(sdk, *values, id=f"{language.name}{name}", marks=marks)


EACH_SDK = [row(sdk) for sdk in SDKS]
EACH_FAULT = [row(sdk, each[-1], name=f"-{each[-1]}") for sdk in SDKS for each in sdk.faults]


@pytest.fixture(scope="module")
def long(beside):
    """Starts the cases that watch an idle stream, so that they run beside the other tests."""
    return functools.cache(lambda sdk: begun(sdk.client, beside))


@pytest.fixture(scope="module")
def verdicts(long, beside, tmp_path_factory):
    """The verdicts on the planted faults of an SDK."""

    @functools.cache
    def of(sdk):
        long(sdk)
        built = sdk.builder(lambda: tmp_path_factory.mktemp("faulty"))
        return judged(sdk.faults, built, beside)

    return of


@pytest.mark.parametrize("sdk", EACH_SDK)
def test_its_own_tests_pass(sdk, long):
    long(sdk)
    if sdk.own_tests is not None:
        sdk.own_tests()


GENERATED = re.compile(
    r"^// (Code generated by |Generated from proto/|@generated by )", re.MULTILINE
)


def generated(folder):
    suffixes = {".go", ".rs", ".ts", ".java", ".hpp", ".proto"}
    folders = ("target", "node_modules", "dist", "build")
    found = {}
    for path in folder.rglob("*.*"):
        name = path.relative_to(folder)
        if path.suffix in suffixes and not set(folders) & set(name.parts):
            text = path.read_text("utf-8")
            if GENERATED.search(text):
                found[name.as_posix()] = text
    return found


@pytest.mark.parametrize("sdk", EACH_SDK)
def test_generated_code_is_up_to_date(sdk, tmp_path):
    name = sdk.language.folder
    called(sys.executable, ROOT / "scripts" / f"generate_{name}.py", tmp_path)
    fresh, kept = generated(tmp_path), generated(sdk.source)
    assert len(fresh) >= len(FAMILIES)
    assert sorted(fresh) == sorted(kept), "run scripts/proto"
    assert [name for name in fresh if fresh[name] != kept[name]] == [], "run scripts/proto"


def test_rust_supports_the_games_of_the_python_sdk():
    text = (RUST / "src" / "families.rs").read_text("utf-8")
    rows = re.findall(r"\(\w+,\s*\w+,\s*\d+,\s*(\w+),\s*\[(.*?)\]\)", text, re.DOTALL)
    families = {name: tuple(re.findall(r'"(\w+)"', games)) for name, games in rows}
    assert families == FAMILIES


def test_each_family_has_a_module_that_bots_in_typescript_can_import():
    exports = json.loads((TYPESCRIPT / "package.json").read_text("utf-8"))["exports"]
    modules = {path.stem for path in (TYPESCRIPT / "src" / "games").glob("*.ts")}
    assert exports["./*"] == "./dist/games/*.js"
    assert modules == {*FAMILIES}


# fmt: off
LOCKS = [
    # file                                 addresses that nothing is fetched from
    ("clients/go/go.sum",                    ()),
    ("clients/go/go.mod",                    ()),
    ("sample_bots/go/go.sum",                ()),
    ("sample_bots/go/go.mod",                ()),
    ("clients/java/pom.xml",                 ("http://maven.apache.org/POM/4.0.0",
                                              "https://www.apache.org/licenses/LICENSE-2.0.txt",
                                              "https://example.org/cardarena")),
    ("sample_bots/java/pom.xml",             ("http://maven.apache.org/POM/4.0.0",)),
]
# fmt: on


@pytest.mark.parametrize(("name", "names"), LOCKS, ids=[row[0] for row in LOCKS])
def test_a_lock_holds_no_address(name, names):
    text = (ROOT / name).read_text("utf-8")
    assert text.count("://") == sum(text.count(each) for each in names)
    assert "<repositor" not in text


def test_the_lock_of_rust_names_the_public_registry_only():
    packages = tomllib.loads((RUST / "Cargo.lock").read_text("utf-8"))["package"]
    assert len(packages) > 50
    public = "registry+https://github.com/rust-lang/crates.io-index"
    assert {package.get("source", public) for package in packages} == {public}
    assert not (SAMPLE_BOTS / "rust" / "Cargo.lock").exists()


@pytest.mark.parametrize("folder", ["clients", "sample_bots"])
def test_the_locks_of_typescript_hold_no_address(folder):
    lock = ROOT / folder / "typescript" / "package-lock.json"
    packages = json.loads(lock.read_text("utf-8"))["packages"]
    assert len(packages) > 5
    addresses = [entry.get("resolved", "") for entry in packages.values()]
    assert [address for address in addresses if "://" in address] == []


def readme_bot(sdk):
    readme = (sdk.folder / "README.md").read_text("utf-8")
    return re.search(r"```(?:go|rust|ts|java|cpp)\n(.*?)```", readme, re.DOTALL)[1]


@pytest.mark.parametrize("sdk", EACH_SDK)
def test_the_bot_of_the_readme_builds(sdk, tmp_path):
    sdk.language.client()
    source = readme_bot(sdk)
    assert 5 < len(source.splitlines()) <= 22
    sdk.build_readme(source, tmp_path)


INSTALLED = """
cmake_minimum_required(VERSION 3.20)
project(mybot LANGUAGES CXX)
find_package(cardarena REQUIRED)
add_executable(mybot mybot.cc)
target_link_libraries(mybot PRIVATE cardarena::jam)
"""


@pytest.mark.parametrize("sdk", [row(SDKS[-1])])
def test_cmake_finds_an_installed_sdk(sdk, tmp_path):
    sdk.language.client()
    called("cmake", "--install", CPP / "build", "--prefix", tmp_path / "installed")
    (tmp_path / "CMakeLists.txt").write_text(INSTALLED)
    (tmp_path / "mybot.cc").write_text(readme_bot(sdk))
    prefix = f"-DCMAKE_PREFIX_PATH={tmp_path / 'installed'}"
    called("cmake", "-S", tmp_path, "-B", tmp_path / "build", prefix)
    called("cmake", "--build", tmp_path / "build")
    assert "--address" in called(tmp_path / "build" / "mybot", "--help")


# fmt: off
OTHER_GAMES_MOVE = {
    # SDK          the bot's move in Jam                         a move of Soko             what has it
    OF_GO:         ("jam.Moves.Draw(jam.SourceStock)",           "soko.Moves.Fold()",       ("import (\n", 'import (\n"cardarena.dev/cardarena/soko"\n')),
    OF_RUST:       ("Move::draw(Source::Stock)",                 "soko::Move::fold()",      ("use cardarena::{", "use cardarena::{soko, ")),
    OF_TYPESCRIPT: ("moves.draw(Source.STOCK)",                  "soko.fold()",             ("import {", 'import { moves as soko } from "cardarena/soko";\nimport {')),
    OF_JAVA:       ("Jam.Moves.draw(JamSource.JAM_SOURCE_STOCK)", "Soko.Moves.fold()",      ()),
    OF_CPP:        ("jam::moves::Draw(jam::source_stock)",       "cardarena::soko::moves::Fold()", ("#include <cardarena/jam.hpp>", "#include <cardarena/jam.hpp>\n#include <cardarena/soko.hpp>")),
}
# fmt: on


@pytest.mark.parametrize("sdk", EACH_SDK)
def test_another_games_move_does_not_compile(sdk, tmp_path):
    """The bot is that of the README, which builds."""
    sdk.language.client()
    own, other, imported = OTHER_GAMES_MOVE[sdk.language]
    source = readme_bot(sdk)
    assert source.count(own) == 1
    source = source.replace(own, other)
    if imported:
        source = source.replace(*imported, 1)
    with pytest.raises(AssertionError, match=r"[Ss]oko(\.|::)?[Mm]ove"):
        sdk.build_readme(source, tmp_path)


BUSY = """
import { run } from "SDK";
const forever = new Int32Array(new SharedArrayBuffer(4));
const move = () => (Atomics.wait(forever, 0, 0, 4000), 0);
await run({ name: "busy", askForced: true, bot: () => ({ move }) });
"""
WHILE_IT_COMPUTES = {
    "id": "B1",
    "title": "the bot computes for four seconds, and awaits nothing",
    "must": "process other messages of the arena meanwhile",
    "source": "play.proto, DealOpen",
    "streams": [
        {
            "steps": [
                {"welcome": {}},
                {"match_start": 1},
                {"ask": [7]},
                {"wait_ms": 500},
                {"deal": "open"},
                {"expect": {"deal_commit": {}}},
                {"answers": {"7": 0}},
                {"match_end": 1},
                {"drain": 1000},
                {"end": "OK"},
            ]
        }
    ],
    "most_ms": 2000,
}


@needs("npm")
@OF_TYPESCRIPT.deep
def test_a_bot_in_typescript_that_computes_does_not_hold_up_its_stream(tmp_path):
    """The case fails at the bot's answer, which is late, and not at the commitment before it."""
    OF_TYPESCRIPT.programs()
    shutil.copytree(KIT, tmp_path / "kit")
    for path in (tmp_path / "kit" / "cases").iterdir():
        path.unlink()
    (tmp_path / "kit" / "cases" / "busy.json").write_text(json.dumps([WHILE_IT_COMPUTES]))
    bot = tmp_path / "busy.mjs"
    bot.write_text(BUSY.replace("SDK", (TYPESCRIPT / "dist" / "index.js").as_uri()))
    (case,) = load(tmp_path / "kit")
    verdict = judge(case, ["node", f"{bot}"], tmp_path / "kit")
    assert not verdict.passed
    assert "answer" in verdict.sentence, verdict.sentence


@pytest.mark.parametrize(("sdk", "found_by"), EACH_FAULT)
def test_a_planted_fault_is_found(sdk, found_by, verdicts):
    assert not verdicts(sdk)[found_by].result().passed


@pytest.mark.parametrize("sdk", [row(SDKS[-1])])
def test_a_client_that_is_linked_like_the_faulty_ones_passes(sdk, beside, tmp_path):
    """Only in C++ faulty clients are built in another way than the client of the kit."""
    name, old, _, _ = sdk.faults[0]
    verdicts = judged([(name, old, old, "C5")], sdk.builder(lambda: tmp_path), beside)
    assert verdicts["C5"].result().passed


@pytest.mark.parametrize("sdk", EACH_SDK)
def test_it_passes_every_case_of_the_kit(sdk, long):
    passes_every_case(sdk.client, long(sdk), sdk.jobs)
