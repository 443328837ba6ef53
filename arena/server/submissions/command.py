"""How a submitted bot is started: its manifest's command, in the folder of its files."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from arena.competition.manifest import MODULE
from arena.competition.runtimes import JAVA, PYTHON, language_of
from arena.jail import BadCommand, BotCommand, Limits
from arena.jailer.cell import MB

_HEAP_SHARE: Final = 2
"""A Java may fill its memory by one part in so many with objects; its own structures take the rest."""
_OF_JAVA: Final = (
    "-XX:+UseSerialGC",
    "-XX:ReservedCodeCacheSize=64m",
    "-XX:CompressedClassSpaceSize=64m",
)
"""By itself a Java reserves more addresses than a bot has, and threads for every core."""


def launched_manifest(
    name: str, manifest: Mapping[str, Any], folder: Path, packages: Sequence[Path] = ()
) -> BotCommand:
    """The command of a manifest as the registry keeps it, bounded by what the manifest asks for.

    `packages` are the folders of Python packages that it has beside the SDK.

    Raises:
      BadCommand: if it has none, or this machine does not have what it is run by.
    """
    words = manifest.get("command")
    if (
        not isinstance(words, (list, tuple))
        or not words
        or not all(isinstance(each, str) for each in words)
    ):
        raise BadCommand(f"the manifest of {name} has no command")
    memory_mb, processes = manifest.get("memory_mb"), manifest.get("processes")
    every = Limits()
    limits = Limits(
        memory_bytes=memory_mb * MB if isinstance(memory_mb, int) else every.memory_bytes,
        processes=processes if isinstance(processes, int) else every.processes,
    )
    made = submitted_command(name, words, folder, limits)
    return replace(made, packages=tuple(packages))


def submitted_command(
    name: str, words: Sequence[str], folder: Path, limits: Limits | None = None
) -> BotCommand:
    """The words of a manifest, its files found in `folder`, wherever the bot runs.

    Raises:
      BadCommand: if this machine does not have what it is run by.
    """
    program, *rest = words
    argv = [_program(name, program, folder)]
    if program in JAVA.programs and limits is not None:
        argv += [f"-Xmx{limits.memory_bytes // MB // _HEAP_SHARE}m", *_OF_JAVA]
    for word in rest:
        path = folder / word
        argv.append(str(path) if not word.startswith("-") and path.is_file() else word)
    if MODULE in rest and program in PYTHON.programs:
        # The module is beside the manifest, which is not where the bot runs.
        at = argv.index(MODULE)
        argv[at : at + 2] = ["-c", _RUN_MODULE, str(folder), rest[rest.index(MODULE) + 1]]
    return BotCommand(name, tuple(argv), limits)


def _program(name: str, program: str, folder: Path) -> str:
    language = language_of(program)
    if language is None:
        return str(folder / program)
    if language is PYTHON:
        return sys.executable
    found = shutil.which(language.programs[0])
    if found is None:
        raise BadCommand(
            f"{name} is run by {language.name}, which is not here: `arena runtimes` tells more"
        )
    return found


_RUN_MODULE = (
    "import runpy, sys; _, folder, module, *rest = sys.argv; sys.path.insert(0, folder); "
    "sys.argv = [module, *rest]; runpy.run_module(module, run_name='__main__', alter_sys=True)"
)
