"""What an organiser asks for in a runtime: a TOML with a name and Python packages, and its lock.

    name = "ml"
    packages = ["numpy==2.1.3", "torch"]

The lock beside it has the wheels that were found for it, with their hashes, as pip reads them. It is
for one Python on one kind of machine, and says which.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from packaging.requirements import InvalidRequirement, Requirement

from arena.competition.runtimes import BY_NAME, OWN
from arena.competition.toml_checks import Check, problems_of
from arena.ladder.draws import digest

MAX_PACKAGES: Final = 200
HASH_CHARS: Final = 16
"""Of its hash, in the name of a runtime's folder."""

_NAME: Final = re.compile(r"[a-z][a-z0-9._-]{0,31}")
_LIKE_A_FOLDER: Final = re.compile(rf".*-[0-9a-f]{{{HASH_CHARS}}}")
_HASHES: Final = re.compile(r"(\s+--hash=sha256:[0-9a-f]{64})*\s*")
_TAKEN: Final = (*BY_NAME, OWN)
_LOCKED: Final = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;@]+) --hash=sha256:(?P<sha256>[0-9a-f]{64})"
)
_MARK: Final = "# of "


class BadRuntime(ValueError):
    """The file is not right; each problem is a sentence."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems: Final = tuple(problems)


@dataclass(frozen=True, slots=True)
class RuntimeFile:
    """What an organiser asks for."""

    name: str
    packages: tuple[str, ...]
    """As pip takes them; each may have hashes."""


@dataclass(frozen=True, slots=True)
class LockedWheel:
    """A wheel that was found for it."""

    name: str
    """Of the package."""
    version: str
    sha256: str

    @property
    def pin(self) -> str:
        """The package in just this version."""
        return f"{self.name}=={self.version}"


def read_runtime(toml: str) -> RuntimeFile:
    """What a TOML asks for.

    Raises:
      BadRuntime: with all that is wrong with it.
    """
    try:
        given = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise BadRuntime([f"this is not TOML: {error}"]) from error
    problems = problems_of(given, _KEYS)
    problems += [f"{name} is missing" for name in _KEYS if name not in given]
    if not problems:
        problems = [text for each in given["packages"] if (text := _problem(each))]
    if problems:
        raise BadRuntime(problems)
    return RuntimeFile(given["name"], tuple(given["packages"]))


def is_name(text: str) -> bool:
    """Whether a runtime can have this name: those that need not be built have theirs."""
    return (
        _NAME.fullmatch(text) is not None
        and text not in _TAKEN
        and not _LIKE_A_FOLDER.fullmatch(text)
    )


def runtime_sha256(python: str, wheels: Sequence[LockedWheel]) -> str:
    """Of a runtime: of the Python that it is for, and of all its wheels in whatever order."""
    rows = sorted((each.name, each.version, each.sha256) for each in wheels)
    return digest("runtime", python, rows)


def lock_text(asked: RuntimeFile, python: str, wheels: Sequence[LockedWheel]) -> str:
    """The lock of what was found, as a file of requirements that pip reads."""
    rows = sorted(f"{each.pin} --hash=sha256:{each.sha256}\n" for each in wheels)
    head = f"# Written by `arena runtimes build`, for {python}.\n{_MARK}{_asked(asked, python)}\n"
    return head + "".join(rows)


def read_lock(text: str, asked: RuntimeFile, python: str) -> tuple[LockedWheel, ...] | None:
    """The wheels of a lock; None if it is of other packages than are asked for, or for another Python.

    Raises:
      BadRuntime: if somebody has written other things in it.
    """
    lines = text.splitlines()
    if f"{_MARK}{_asked(asked, python)}" not in lines:
        return None
    found = []
    for line in lines:
        if line.startswith("#") or not line.strip():
            continue
        match = _LOCKED.fullmatch(line.strip())
        if match is None:
            text = (
                f"the lock has the line {line[:60]!r}, which `arena runtimes build` did not write"
            )
            raise BadRuntime([f"{text}: remove the lock, and it is made anew"])
        found.append(LockedWheel(match["name"], match["version"], match["sha256"]))
    return tuple(found)


def _asked(asked: RuntimeFile, python: str) -> str:
    return digest("lock", python, sorted(asked.packages))


def _name(value: Any) -> str:
    fits = isinstance(value, str) and is_name(value)
    wanted = f"a name of up to 32 of a-z, 0-9, '.', '_' and '-', and none of {', '.join(_TAKEN)}"
    return "" if fits else wanted


def _packages(value: Any) -> str:
    fits = (
        isinstance(value, list)
        and 0 < len(value) <= MAX_PACKAGES
        and all(isinstance(each, str) and each.strip() for each in value)
    )
    return "" if fits else 'a list of packages, such as ["numpy==2.1.3"]'


_KEYS: Final[Mapping[str, Check]] = {"name": _name, "packages": _packages}


def _problem(package: str) -> str:
    """Why a package cannot be asked for so; empty if it can."""
    wanted, mark, hashes = package.partition(" --hash")
    try:
        parsed = Requirement(wanted)
    except InvalidRequirement:
        return f"packages: {package!r} is not written as in 'numpy==2.1.3'"
    if parsed.url is not None:
        return (
            f"packages: {package!r} is an address; what is not found by its name is put into --from"
        )
    if not _HASHES.fullmatch(mark + hashes):
        return f"packages: {package!r} has something else behind it than --hash=sha256:…"
    return ""
