"""The runtimes that this machine has for submitted bots.

Python is the arena's own, with the SDK. Node and Java are those of the machine, without an SDK: their bots submit it
with their own files.
"""

import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from arena.bots.languages import JAVA, LANGUAGES, PYTHON, Language

TRIAL_S: Final = 20.0
"""The time limit in seconds for a program to print its version."""
_VERSION_FLAGS: Final[Mapping[str, str]] = {JAVA.name: "-version"}
_INSTALL: Final[Mapping[str, str]] = {
    "node": "apt install nodejs",
    "java": "apt install default-jre-headless",
}
_VERSION: Final = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime, installed or not."""

    language: Language
    program: str = ""
    """Its path."""
    version: str = ""
    lacks: str = ""
    """Why it cannot run bots, and how to fix that; empty if it can."""

    @property
    def name(self) -> str:
        return self.language.name

    @property
    def is_here(self) -> bool:
        return not self.lacks


def runtimes(which: Callable[[str], str | None] = shutil.which) -> tuple[Runtime, ...]:
    """Return all supported runtimes. Blocks until programs have printed their versions."""
    return tuple(_detected(language, which(language.programs[0]) or "") for language in LANGUAGES)


def offered() -> tuple[str, ...]:
    """Return the names of the runtimes that can run bots. Blocks as `runtimes` does."""
    return tuple(runtime.name for runtime in runtimes() if runtime.is_here)


def _detected(language: Language, program: str) -> Runtime:
    if language is PYTHON:
        return Runtime(PYTHON, sys.executable, ".".join(map(str, sys.version_info[:3])))
    mend = _INSTALL[language.name]
    if not program:
        return Runtime(language, lacks=f"{language.name} is not installed: {mend}")
    printed = _printed_version(program, _VERSION_FLAGS.get(language.name, "--version"))
    match = _VERSION.search(printed)
    if match is None:
        return Runtime(language, program, lacks=f"{program} does not print its version: {mend}")
    version = match[0]
    if tuple(map(int, version.split("."))) < language.least:
        least = ".".join(map(str, language.least))
        lacks = f"{program} is {version}, and bots need {least} or newer: {mend}"
        return Runtime(language, program, version, lacks)
    return Runtime(language, program, version)


@functools.lru_cache(maxsize=8)
def _printed_version(program: str, flag: str) -> str:
    """Return the version text that a program prints; empty if it does not run."""
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
