"""The SDKs that are programs to Python: how they are built, once for all tests, and what is tried of each."""

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.programs import needs

ROOT = Path(__file__).resolve().parents[2]
CLIENTS = ROOT / "clients"
SAMPLE_BOTS = ROOT / "sample_bots"
RANDOM = SAMPLE_BOTS / "random_bot.py"
PATIENCE_S = 600


@dataclass(frozen=True)
class Programs:
    """Commands of what was built of one SDK."""

    client: tuple[str, ...]
    """The kit's client; in C++ it is built apart (`Language.client`)."""
    random: tuple[str, ...]
    """The random bot."""
    real: tuple[str, ...]
    """The bot that plays one game well."""


def called(*command, folder=ROOT):
    """What a command prints; it must end well."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def played(data, game, *bots, folder=ROOT, sandbox="auto"):
    """A match on a real arena between bots that are started in the folder, its result as told."""
    told = called(
        *(sys.executable, "-c", "from arena.cli import main; main()", "play", game.id, *bots),
        *("-o", f"hands={game.seats[0]}", "--data", data, "--json", "--sandbox", sandbox),
        folder=folder,
    )
    return json.loads(told)


def plant(source, name, old, new):
    """Changes one place of a copy of the sources."""
    text = (source / name).read_text("utf-8")
    assert text.count(old) == 1, f"expected {old!r} once in {name}"
    (source / name).write_text(text.replace(old, new))


@functools.cache
def python():
    """Nothing has to be built."""
    client = CLIENTS / "conformance" / "python" / "client.py"
    given = (sys.executable, f"{client}"), (sys.executable, f"{RANDOM}")
    return Programs(*given, (sys.executable, f"{SAMPLE_BOTS}/jam.py"))


MADE = ("target", "node_modules", "dist", "bin", "build")
"""Folders of what is made, which is no source."""


@contextlib.contextmanager
def alone_with(tool):
    """One process of this machine at a time, in any checkout; yields what the last one has built.

    A tool's store is the user's, as Maven's: who installs while another looks there breaks that one.
    """
    place = Path(tempfile.gettempdir()) / f"cardarena-{os.getuid()}-{tool}.built"
    with place.open("a+") as stamp:
        fcntl.flock(stamp, fcntl.LOCK_EX)
        yield stamp


def built_once(tool, *builds, products):
    """Runs commands in folders, unless just that was built last: by any process, round or run of tests.

    Args:
      tool: Names what builds.
      builds: Of each the folder and the command.
      products: Files that are there when all is built.
    """
    with alone_with(tool) as stamp:
        stamp.seek(0)
        wanted = f"{ROOT} {sources_of(*(folder for folder, _ in builds))}"
        if stamp.read() == wanted and all(Path(product).exists() for product in products):
            return
        stamp.truncate(0)  # until all is built, nothing is
        for folder, command in builds:
            called("nice", *command, folder=folder)  # other tests have deadlines
        stamp.write(wanted)


def sources_of(*folders):
    """A hash of all that programs are built of: files of the folders, and proto/."""
    found = hashlib.sha256()
    for top in sorted({*folders, ROOT / "proto"}):
        for folder, names, files in os.walk(top):
            names[:] = sorted(set(names) - set(MADE))
            for name in sorted(files):
                path = Path(folder) / name
                found.update(f"{path}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return found.hexdigest()


@functools.cache
def go():
    """Paths are left out of programs, so that what is generated is built once for all copies."""
    folder = SAMPLE_BOTS / "go" / "bin"
    build = ("go", "build", "-trimpath", "-o")
    programs = [f"{folder}/{name}" for name in ("conformance", "random", "jam")]
    built_once(
        "go",
        (CLIENTS / "go", (*build, folder / "conformance", "./internal/conformance")),
        (SAMPLE_BOTS / "go", (*build, f"{folder}/", "./random", "./jam")),
        products=programs,
    )
    return Programs(*((program,) for program in programs))


@functools.cache
def rust():
    """All builds are in one folder, so that dependencies are built once."""
    folder = CLIENTS / "rust" / "target" / "debug"
    programs = [f"{folder}/{name}" for name in ("examples/conformance", "random", "jam")]
    built_once(
        "cargo",
        (CLIENTS / "rust", ("cargo", "build", "--locked", "--example", "conformance")),
        (SAMPLE_BOTS / "rust", ("cargo", "build", "--locked")),
        products=programs,
    )
    return Programs(*((program,) for program in programs))


@functools.cache
def typescript():
    """Installed by its locks, unless it is, and built."""
    builds = []
    for folder in (CLIENTS / "typescript", SAMPLE_BOTS / "typescript"):
        lock, installed = folder / "package-lock.json", folder / "node_modules/.package-lock.json"
        if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
            builds.append((folder, ("npm", "ci", "--ignore-scripts")))
        builds.append((folder, ("npm", "run", "build")))
    dist = SAMPLE_BOTS / "typescript" / "dist"
    programs = [f"{CLIENTS}/typescript/dist/conformance/client.js"]
    programs += [f"{dist}/random.js", f"{dist}/sixty_six.js"]
    installed = [folder / "node_modules" for folder, _ in builds]
    built_once("npm", *builds, products=[*programs, *installed])
    return Programs(*(("node", program) for program in programs))


MAVEN = ("mvn", "-q", "-B")
QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
"""A client of the kit lives for seconds, and some cases are about how fast it comes back."""


@functools.cache
def java():
    """The SDK's own tests passed, as Maven installs nothing else; the bots are in one archive."""
    sdk, bots = CLIENTS / "java", SAMPLE_BOTS / "java"
    classpath = ("dependency:build-classpath", f"-Dmdep.outputFile={sdk}/target/classpath")
    jar = f"{bots}/target/sample-bots.jar"
    built_once(
        "mvn",
        (sdk, (*MAVEN, "install", *classpath)),
        (bots, (*MAVEN, "package")),
        products=[jar, f"{sdk}/target/classpath"],
    )
    command = ("java", *QUICK_START, "-cp", jar)
    return Programs(java_client(java_classes()), (*command, "RandomBot"), (*command, "JamBot"))


def java_classes():
    """What the kit's client runs by, once it was built."""
    target = CLIENTS / "java" / "target"
    return f"{target}/classes:{target}/test-classes:{(target / 'classpath').read_text('utf-8')}"


def java_client(classes):
    """The kit's client by any classes."""
    return ("java", *QUICK_START, "-cp", classes, "cardarena.ConformanceClient")


SANITIZED = ("-DCMAKE_CXX_FLAGS=-g1", "-DCARDARENA_SANITIZERS=address,undefined")
"""Findings name lines; what else a debugger needs is left out, to compile faster."""
TESTED = ("-DCARDARENA_TESTS=ON", "-DCARDARENA_INSTALL=jam")
SINGLE_OBJECTS = ("-DCMAKE_BUILD_TYPE=Plain", "-DCMAKE_UNITY_BUILD=OFF")
"""An object for each source, of which a planted fault replaces one. A build type that CMake does not know has no flags."""


def made_by_cmake(tool, folder, options, products):
    """Build a folder of C++ once."""
    configure = ("cmake", "-S", ".", "-B", "build", *options)
    make = ("cmake", "--build", "build", "--parallel", "2")
    programs = [f"{folder}/build/{name}" for name in products]
    built_once(tool, (folder, configure), (folder, make), products=programs)
    return programs


@functools.cache
def cpp_client():
    """The kit's client, built with the SDK's own tests: with sanitizers, which takes longer than all bots."""
    names = ("conformance", "unit_tests")
    client, _ = made_by_cmake("cmake-sdk", CLIENTS / "cpp", (*TESTED, *SANITIZED), names)
    return (client,)


@functools.cache
def cpp():
    """The bots are built without sanitizers, and not the client."""
    bots = made_by_cmake("cmake", SAMPLE_BOTS / "cpp", SINGLE_OBJECTS, ("random", "jam"))
    return Programs((), *((program,) for program in bots))


@dataclass(frozen=True)
class Language:
    """An SDK, and the tool that builds it, if any."""

    name: str
    tool: str
    programs: Callable[[], Programs]

    @property
    def folder(self):
        """Its folder below clients/ and sample_bots/."""
        return {"C++": "cpp"}.get(self.name, self.name.lower())

    def client(self):
        """The command of the kit's client."""
        return self.programs().client or cpp_client()

    @property
    def deep(self):
        """Of the tests of this SDK that run if it changed, or the kit."""
        return pytest.mark.deep(f"the SDK for {self.name}")

    @property
    def marks(self):
        """Skips where the tool is missing, except in CI."""
        return (needs(self.tool),) if self.tool else ()

    def __str__(self):
        return self.name


LANGUAGES = (
    Language("Python", "", python),
    Language("Go", "go", go),
    Language("Rust", "cargo", rust),
    Language("TypeScript", "npm", typescript),
    Language("Java", "mvn", java),
    Language("C++", "cmake", cpp),
)


def each_language(*left_out, deep=False, but=""):
    """The SDKs as parameters of a test, which is deep or not, but for one."""
    return [
        pytest.param(
            each,
            id=each.name,
            marks=[each.deep, *each.marks] if deep and each.name != but else each.marks,
        )
        for each in LANGUAGES
        if each.name not in left_out
    ]
