"""The Python that runs submitted bots: the arena's own, in a virtual environment with the SDK and the rules.

It has no packages that only the arena needs or that only the author's machine has: a bot imports others from its wheels
and its runtime. An arena and `arena check` make the same environment.
"""

import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import secrets
import sys
import sysconfig
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from packaging.requirements import Requirement

from arena.bots.blobs import remove_unpacked

BOT_PYTHON: Final = "python"
"""The folder of the environments in the data folder."""
_SDK: Final[Mapping[str, str]] = {"cardarena": "cardarena", "cardarena-engine": "arena"}
"""The distributions with their packages, which a checkout has in other folders."""
_HASH_CHARS: Final = 16


def bot_python(root: Path) -> Path:
    """Return the program of the environment, which is made below `root` unless it is there.

    It consists of links to the installed packages, so each installation of the arena has its own.

    Raises `OSError` if it cannot be stored.
    """
    links = _links()
    identity = "\n".join([sys.version, sys.base_prefix, *(f"{a} {b}" for a, b in links.items())])
    folder = root.absolute() / hashlib.sha256(identity.encode()).hexdigest()[:_HASH_CHARS]
    program = folder / "bin" / "python"
    if program.exists():
        return program
    partial = folder.with_name(f".{secrets.token_hex(8)}")
    try:
        venv.EnvBuilder(symlinks=True).create(partial)
        for name, target in links.items():
            link = site_of_python(partial) / name
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(target)
        with contextlib.suppress(FileExistsError, NotADirectoryError):
            partial.rename(folder)
    except OSError:  # another process may have made it
        if not program.exists():
            raise
    finally:
        remove_unpacked(partial)
    return program


def site_of_python(environment: Path) -> Path:
    """Return the folder of packages of a virtual environment."""
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(environment)}))


@functools.cache
def _links() -> Mapping[str, str]:
    """Return the files and folders that are linked into the environment, and their targets."""
    links: dict[str, str] = {}
    names, wanted = set(_SDK), list(_SDK)
    while wanted:
        name = wanted.pop()
        distribution = importlib.metadata.distribution(name)
        for requirement in map(Requirement, distribution.requires or []):
            if requirement.name not in names and (
                requirement.marker is None or requirement.marker.evaluate()
            ):
                names.add(requirement.name)
                wanted.append(requirement.name)
        links |= {entry: str(distribution.locate_file(entry)) for entry in _entries(distribution)}
    for package in _SDK.values():
        spec = importlib.util.find_spec(package)
        assert spec is not None, "it is running"
        assert spec.origin is not None, "it is no name space"
        folder = Path(spec.origin).parent
        # In a checkout, compiled modules have one library beside the package.
        beside = folder.parent.glob("*__mypyc.*") if package not in links else ()
        links = {name: path for name, path in links.items() if not name.startswith(f"{package}/")}
        links |= {path.name: str(path) for path in (folder, *beside)}
    # A sandbox shows the files themselves, and no further links on the way to them.
    return {name: os.path.realpath(links[name]) for name in sorted(links)}


def _entries(distribution: importlib.metadata.Distribution) -> Iterator[str]:
    """Yield the files and folders of a distribution in its folder of packages; of a namespace, yield those below it."""
    paths = [PurePosixPath(file) for file in distribution.files or []]
    packages = {path.parts[0] for path in paths if path.parts[1:] == ("__init__.py",)}
    for path in paths:
        first, *below = path.parts
        if first == ".." or path.suffix == ".pth":
            continue
        is_namespace = below and "." not in first and first not in packages
        yield f"{first}/{below[0]}" if is_namespace else first
