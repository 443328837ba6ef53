"""The SDKs as they are released: archives that are built from a copy of the checkout, and unpacked as their tools do."""

import importlib.util
import shutil
import subprocess
import tarfile
import zipfile

from tests.sdk.languages import CLIENTS, ROOT, called

_spec = importlib.util.spec_from_file_location("release", ROOT / "scripts" / "release.py")
release = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(release)
PART_OF = {"go": "go", "rust": "crate", "typescript": "npm", "cpp": "cpp"}
"""The part of a release that has the SDK of a language."""
WHO = ("-c", "user.name=t", "-c", "user.email=t@localhost")


def git(folder, *arguments):
    subprocess.run(["git", *WHO, *arguments], cwd=folder, check=True, capture_output=True)


def copy_of_checkout(folder):
    """A repository with the SDKs as they are here, in which tests beside this one build nothing."""
    places = ("clients", "sample_bots", "proto", "pyproject.toml", "LICENSE")
    listed = called("git", "ls-files", "-z", *places)
    for name in listed.rstrip("\0").split("\0"):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet", ".")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "copy")
    return folder


def unpacked(language, folder):
    """What stands for an SDK of the checkout in a bot's project: the folder that its archive unpacks to, or the archive."""
    checkout, out = copy_of_checkout(folder / "checkout"), folder / "out"
    release.build(checkout, out, [PART_OF[language]])
    shutil.rmtree(checkout)
    name = f"cardarena-{release.written(release.version_of(ROOT))}"
    match language:
        case "go":
            (archive,) = out.rglob("*.zip")
            with zipfile.ZipFile(archive) as module:
                module.extractall(folder / "go")
            (place,) = (folder / "go").glob("*/*@*")
            return place
        case "rust":
            with tarfile.open(out / f"{name}.crate") as package:
                package.extractall(folder / "rust", filter="data")
            return folder / "rust" / name
        case "typescript":
            return out / f"{name}.tgz"
        case "cpp":
            with tarfile.open(out / f"{name.replace('-', '-cpp-', 1)}.tar.gz") as package:
                package.extractall(folder / "cpp", filter="data")
            (place,) = (folder / "cpp").iterdir()
            return place
    raise ValueError(language)


def use(language, project, folder):
    """Have a project of `arena new` use the SDK of the archive in place of the checkout's."""
    here, place = str(CLIENTS / language), str(unpacked(language, folder))
    named = [
        path for path in project.rglob("*") if path.is_file() and here in path.read_text("utf-8")
    ]
    assert named
    for path in named:
        path.write_text(path.read_text("utf-8").replace(here, place), "utf-8")
