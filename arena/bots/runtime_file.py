"""The TOML file of a runtime, with a name and Python packages, and its lock file.

    name = "ml"
    packages = ["numpy==2.1.3", "torch"]

The lock file lists the wheels with their hashes, in pip's format. It is valid for one Python on one kind
of machine, which it names.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from packaging.requirements import InvalidRequirement, Requirement

from arena.bots.languages import BY_NAME, OWN
from arena.results.deal_sets import digest
from arena.validation import (
    NOT_EMPTY,
    STRICT,
    Constraint,
    InvalidInput,
    Limits,
    toml_values,
    validated,
)

MAX_PACKAGES: Final = 200
HASH_CHARS: Final = 16
"""The length of the hash in the name of a runtime's folder."""

_NAME: Final = re.compile(r"[a-z][a-z0-9._-]{0,31}")
_LIKE_A_FOLDER: Final = re.compile(rf".*-[0-9a-f]{{{HASH_CHARS}}}")
_HASHES: Final = re.compile(r"(\s+--hash=sha256:[0-9a-f]{64})*\s*")
_TAKEN: Final = (*BY_NAME, OWN)
_LOCKED: Final = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;@]+) --hash=sha256:(?P<sha256>[0-9a-f]{64})"
)
_MARK: Final = "# of "


class BadRuntime(InvalidInput):
    """The file of a runtime or its lock is not valid."""


def _runtime_name(name: str, _: object) -> str:
    if not is_name(name):
        raise ValueError(
            f"should have up to 32 of a-z, 0-9, '.', '_' and '-', and not be {', '.join(_TAKEN)}"
        )
    return name


def _package(package: str, _: object) -> str:
    wanted, mark, hashes = package.partition(" --hash")
    try:
        parsed = Requirement(wanted)
    except InvalidRequirement:
        raise ValueError(f"{package!r} is not written as in 'numpy==2.1.3'") from None
    if parsed.url is not None:
        raise ValueError(f"{package!r} is an address; for packages of no index use --from")
    if not _HASHES.fullmatch(mark + hashes):
        raise ValueError(f"{package!r} has an option other than --hash=sha256:…")
    return package


@dataclass(frozen=True, slots=True)
class RuntimeFile:
    """The content of a runtime's TOML file."""

    __pydantic_config__: ClassVar = STRICT

    name: Annotated[str, Constraint(_runtime_name)]
    packages: Annotated[
        tuple[Annotated[str, Constraint(_package)], ...], Limits(max_length=MAX_PACKAGES), NOT_EMPTY
    ]
    """Requirements in pip's format, with or without hashes."""


@dataclass(frozen=True, slots=True)
class LockedWheel:
    """A wheel of a lock file."""

    name: str
    version: str
    sha256: str

    @property
    def pin(self) -> str:
        """The package and its exact version, in pip's format."""
        return f"{self.name}=={self.version}"


def read_runtime(toml: str) -> RuntimeFile:
    """Read the TOML file of a runtime. Raises `BadRuntime` with all problems of the file."""
    return validated(RuntimeFile, toml_values(toml, BadRuntime), BadRuntime)


def is_name(text: str) -> bool:
    """Return whether a built runtime may have this name, which no language and not `OWN` has."""
    return (
        _NAME.fullmatch(text) is not None
        and text not in _TAKEN
        and not _LIKE_A_FOLDER.fullmatch(text)
    )


def runtime_sha256(python: str, wheels: Sequence[LockedWheel]) -> str:
    """Return the hash of a runtime: its Python and its wheels, in any order."""
    rows = sorted((wheel.name, wheel.version, wheel.sha256) for wheel in wheels)
    return digest("runtime", python, rows)


def lock_text(asked: RuntimeFile, python: str, wheels: Sequence[LockedWheel]) -> str:
    """Return the text of a lock file for these wheels, in pip's format of requirements."""
    rows = sorted(f"{wheel.pin} --hash=sha256:{wheel.sha256}\n" for wheel in wheels)
    head = f"# Written by `arena runtimes build`, for {python}.\n{_MARK}{_asked(asked, python)}\n"
    return head + "".join(rows)


def read_lock(text: str, asked: RuntimeFile, python: str) -> tuple[LockedWheel, ...] | None:
    """Return the wheels of a lock file; None if it was made for other packages or another Python.

    Raises `BadRuntime` if a line was not written by `lock_text`.
    """
    lines = text.splitlines()
    if f"{_MARK}{_asked(asked, python)}" not in lines:
        return None
    wheels = []
    for line in lines:
        if line.startswith("#") or not line.strip():
            continue
        match = _LOCKED.fullmatch(line.strip())
        if match is None:
            text = f"the lock file has a line that the arena did not write, {line[:60]!r}"
            raise BadRuntime([f"{text}: delete the file to have it written again"])
        wheels.append(LockedWheel(match["name"], match["version"], match["sha256"]))
    return tuple(wheels)


def _asked(asked: RuntimeFile, python: str) -> str:
    return digest("lock", python, sorted(asked.packages))
