"""The command that starts a submitted bot: that of its manifest, with the folder of its files."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from arena.bots.languages import JAVA, PYTHON, language_of
from arena.bots.manifest import GRPC, MAX_MATCHES, MODULE, PROTOCOLS, STDIO_PER_MATCH
from arena.sandbox.command import MANIFEST, RUN_MODULE, SDK_ARGV, BadCommand, BotCommand
from arena.sandbox.spawner.order import MB, ResourceLimits
from arena.validation import InvalidInput, text_of, toml_values

_HEAP_SHARE: Final = 2
"""The heap of a Java process is its memory limit divided by this; the virtual machine uses the rest."""
_OF_JAVA: Final = (
    "-XX:+UseSerialGC",
    "-XX:ReservedCodeCacheSize=64m",
    "-XX:CompressedClassSpaceSize=64m",
)
"""By default Java reserves more address space than a bot may have, and threads for every core."""


def launched_manifest(
    name: str,
    manifest: Mapping[str, Any],
    folder: Path,
    packages: Sequence[Path] = (),
    python: Path = Path(sys.executable),
) -> BotCommand:
    """Return the command of a manifest as the registry stores it, with the manifest's resource limits.

    `packages` are folders of Python packages besides those of `python`, which runs bots of Python and the bridge.

    Raises `BadCommand` if the manifest has no command, or this machine lacks its runtime.
    """
    words = manifest.get("command")
    if (
        not isinstance(words, (list, tuple))
        or not words
        or not all(isinstance(word, str) for word in words)
    ):
        raise BadCommand(f"the manifest of {name} has no command")
    memory_mb, processes = manifest.get("memory_mb"), manifest.get("processes")
    every = ResourceLimits()
    limits = ResourceLimits(
        memory_bytes=memory_mb * MB if isinstance(memory_mb, int) else every.memory_bytes,
        processes=processes if isinstance(processes, int) else every.processes,
    )
    made = submitted_command(name, words, folder, limits, python)
    argv = (*_bridge(name, manifest, python), *made.argv)
    start_s = manifest.get("start_s")
    return replace(
        made,
        argv=argv,
        packages=tuple(packages),
        start_s=start_s if isinstance(start_s, int) else None,
        publishes_notes=manifest.get("publish_notes") is True,
        files=folder,
    )


def _bridge(name: str, manifest: Mapping[str, Any], python: Path) -> tuple[str, ...]:
    """Return the words before the command of a bot that reads and writes JSON lines; none for other bots."""
    protocol, games = manifest.get("protocol", GRPC), manifest.get("games")
    if protocol == GRPC:
        return ()
    if protocol not in PROTOCOLS:
        raise BadCommand(f"the manifest of {name} has no protocol of {', '.join(PROTOCOLS)}")
    words = [
        str(python),
        *SDK_ARGV[1:],
        "bridge",
        "--max-matches",
        str(manifest.get("max_matches") or MAX_MATCHES),
    ]
    for game in games if isinstance(games, list) else ():
        words += ["--game", str(game["id"])]
    words += ["--per-match"] * (protocol == STDIO_PER_MATCH)
    return (*words, "--")


def folder_command(folder: Path) -> BotCommand | None:
    """Return the command of a bot in its author's folder, where its files are used; None if it has no manifest.

    Raises `BadCommand` if the manifest is no TOML or has no command, or this machine lacks its runtime.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        manifest = toml_values(text_of(path.read_bytes()))
    except InvalidInput as error:
        raise BadCommand(f"{path}: {error}") from None
    made = launched_manifest(str(folder), manifest, folder)
    return BotCommand(made.name, made.argv, start_s=made.start_s)


def portable_files(command: BotCommand) -> Path:
    """Return the folder with a manifest, or the single file of Python, from which other machines can start the bot of a command.

    Raises `BadCommand` if there is neither, or the manifest has another command.
    """
    folder = command.folder
    python, *words = command.own_argv
    if (of_manifest := folder_command(folder)) is not None:
        if of_manifest.own_argv == command.own_argv:
            return folder
        why = f"{folder / MANIFEST} has another command"
    elif python == sys.executable and len(words) == 1 and words[0].endswith(".py"):
        return Path(words[0])
    else:
        why = "only a folder with bot.toml, or a single file of Python, can be played on other machines"
    raise BadCommand(f"{command.name} is started by `{command.text}`: {why}")


def submitted_command(
    name: str,
    words: Sequence[str],
    folder: Path,
    limits: ResourceLimits | None = None,
    python: Path = Path(sys.executable),
) -> BotCommand:
    """Return the command of a manifest's words, with absolute paths of its files in `folder`.

    Raises `BadCommand` if this machine lacks its runtime.
    """
    program, *rest = words
    argv = [str(python) if program in PYTHON.programs else _program(name, program, folder)]
    if program in JAVA.programs and limits is not None:
        argv += [f"-Xmx{limits.memory_bytes // MB // _HEAP_SHARE}m", *_OF_JAVA]
    for word in rest:
        path = folder / word
        argv.append(str(path) if not word.startswith("-") and path.is_file() else word)
    if MODULE in rest and program in PYTHON.programs:
        at = argv.index(MODULE)
        argv[at : at + 2] = ["-c", RUN_MODULE, str(folder), rest[rest.index(MODULE) + 1]]
    return BotCommand(name, tuple(argv), limits)


def _program(name: str, program: str, folder: Path) -> str:
    language = language_of(program)
    if language is None:
        return str(folder / program)
    path = shutil.which(language.programs[0])
    if path is None:
        raise BadCommand(
            f"{name} is run by {language.name}, which is not installed; see `arena runtimes`"
        )
    return path
