"""The runtimes that this arena has for bots that are submitted: looked for, and tried.

Python is the arena's own, with the SDK. Node and Java are those of the machine, and bring nothing: a
bot of theirs has the SDK in what it submits.
"""

import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from arena.competition.runtimes import JAVA, LANGUAGES, PYTHON, Language

TRIAL_S: Final = 20.0
"""Longest that a program may take to tell its version."""
_ASKED: Final[Mapping[str, str]] = {JAVA.name: "-version"}
_INSTALL: Final[Mapping[str, str]] = {
    "node": "apt install nodejs",
    "java": "apt install default-jre-headless",
}
_VERSION: Final = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime, whether it is here or not."""

    language: Language
    program: str = ""
    """Its path."""
    version: str = ""
    lacks: str = ""
    """Why bots cannot be run by it, with what mends it; empty if they can."""

    @property
    def name(self) -> str:
        return self.language.name

    @property
    def is_here(self) -> bool:
        """Whether bots can be run by it."""
        return not self.lacks


def runtimes(which: Callable[[str], str | None] = shutil.which) -> tuple[Runtime, ...]:
    """Every runtime there could be. Blocks until programs have told their versions."""
    return tuple(_looked_for(each, which(each.programs[0]) or "") for each in LANGUAGES)


def offered() -> tuple[str, ...]:
    """The names of those that are here. Blocks as `runtimes` does."""
    return tuple(each.name for each in runtimes() if each.is_here)


def _looked_for(language: Language, program: str) -> Runtime:
    if language is PYTHON:
        return Runtime(PYTHON, sys.executable, ".".join(map(str, sys.version_info[:3])))
    mend = _INSTALL[language.name]
    if not program:
        return Runtime(language, lacks=f"{language.name} is not installed: {mend}")
    told = _told_version(program, _ASKED.get(language.name, "--version"))
    found = _VERSION.search(told)
    if found is None:
        return Runtime(language, program, lacks=f"{program} does not tell its version: {mend}")
    version = found[0]
    if tuple(map(int, version.split("."))) < language.least:
        least = ".".join(map(str, language.least))
        lacks = f"{program} is {version}, and bots need {least} or newer: {mend}"
        return Runtime(language, program, version, lacks)
    return Runtime(language, program, version)


@functools.lru_cache(maxsize=8)
def _told_version(program: str, flag: str) -> str:
    """What a program prints of itself; empty if it does not run."""
    try:
        done = subprocess.run(
            [program, flag],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=TRIAL_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout or done.stderr if done.returncode == 0 else ""
