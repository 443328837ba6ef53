"""Commands that launch bots, read from what a person types."""

import os
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from arena.house.levels import STEPS
from arena.sandbox.content import content_of
from arena.spawner.order import ResourceLimits

_NAMED: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9 ._-]{0,31})=(.+)", re.DOTALL)
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._-]+")
_PYTHONS: Final = ("python", "python3")
_SDK: Final = "cardarena"
_BEHIND: Final = "--"
"""The word before the bot's own command in that of the bridge."""
SDK_ARGV: Final = (sys.executable, "-m", _SDK)
"""The command `cardarena` of the SDK that the arena has."""
_PACKAGE: Final = Path(__file__).parents[1]
_INSTALLED: Final = _PACKAGE / "sample_bots"
SAMPLE_BOTS: Final = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent / "sample_bots"
"""The sample bots: those of the installed engine, or of its checkout."""
_HOUSE: Final = _PACKAGE / "house" / "bot.py"


class BadCommand(ValueError):
    """A command cannot be launched. The text says why."""

    def __init__(self, text: str, why: str = "") -> None:
        """`why` is the reason without the command."""
        super().__init__(text)
        self.why: Final = why or text


@dataclass(frozen=True, slots=True)
class BotCommand:
    """A bot as a command to launch."""

    name: str
    argv: tuple[str, ...]
    """Program and arguments; paths to files are absolute."""
    limits: ResourceLimits | None = None
    """Its own limits in a sandbox; those of all bots still apply."""
    packages: tuple[Path, ...] = ()
    """Folders of Python packages that it may read; they come first on its import path."""
    writes: Path | None = None
    """The one folder that it may write to. Only the arena's own programs have one, bots none."""

    files: Path | None = None
    """The folder of the bot's files, of which each process gets a copy; None if they are used where they are."""

    def moved(self, folder: Path) -> "BotCommand":
        """The same command with the bot's files in another folder."""
        old = str(self.files)
        argv = tuple(
            f"{folder}{word[len(old) :]}" if word == old or word.startswith(f"{old}/") else word
            for word in self.argv
        )
        return replace(self, argv=argv, files=folder)

    @property
    def text(self) -> str:
        """The command as a person types it."""
        return shlex.join(self.argv)

    @property
    def own_argv(self) -> tuple[str, ...]:
        """The bot's own program and arguments, without the bridge if it is behind one."""
        return _own_argv(self.argv)

    def content(self) -> str:
        """The hashes of the bot's files, to detect changes: see `arena.sandbox.content`.

        Raises:
          BadCommand: if a file cannot be read.
        """
        program, *words = map(Path, self.own_argv)
        named = [path for path in words if path.is_absolute() and path.exists()]
        try:
            return content_of(program, named)
        except OSError as error:
            text = f"the file {error.filename} of the bot {self.name!r} cannot be read"
            raise BadCommand(f"{text}: {error.strerror}") from error


def parse_commands(
    texts: Sequence[str], of_folder: Callable[[Path], tuple[str, ...] | None] = lambda _: None
) -> tuple[BotCommand, ...]:
    """Read commands, each `COMMAND` or `NAME=COMMAND`; `house:LEVEL` is the arena's own bot.

    The default name is the file name of the program, or that of its folder for a `bot.py`; equal default names get
    a number. A Python file without a program is run by this Python. `sample_bots/FILE` is a sample bot in any
    folder. `of_folder` gives the program and arguments of a bot whose folder is named instead of a command, and
    None for other folders.

    Raises:
      BadCommand: if a command is empty or its program does not exist.
    """
    named = [_split_name(text) for text in texts]
    taken = Counter(name.casefold() for name, _ in named if name)
    commands = []
    for name, text in named:
        folder = Path(text).resolve() if text and exists(Path(text)) else None
        if folder and folder.is_dir() and (argv := of_folder(folder)):
            called = name or _name_from(folder.name)
        else:
            argv = _argv(text)
            called = name or _called_after(argv)
        if not name:
            folded = called.casefold()
            taken[folded] += 1
            if taken[folded] > 1:
                called = f"{called}-{taken[folded]}"
        commands.append(BotCommand(called, argv))
    # Names that differ in upper and lower case only are equal, as for keys.
    for name, count in Counter(command.name.casefold() for command in commands).items():
        if count > 1:
            raise BadCommand(f"two bots are named {name!r}; name one, as in NAME=COMMAND")
    return tuple(commands)


def exists(path: Path) -> bool:
    """Whether a path exists; false for text that is too long to be one."""
    try:
        return path.exists()
    except OSError:
        return False


def _split_name(text: str) -> tuple[str, str]:
    match = _NAMED.fullmatch(text.strip())
    return (match[1], match[2]) if match else ("", text.strip())


def house_argv(level: str) -> tuple[str, ...]:
    """The program of the arena's own bot at a level of `arena.house.levels`."""
    return (sys.executable, str(_HOUSE), level)


def _argv(text: str) -> tuple[str, ...]:
    house, colon, level = text.partition(":")
    if house == "house" and colon:
        if level not in STEPS:
            raise BadCommand(f"there is no {text!r}; the levels are: {', '.join(STEPS)}")
        return house_argv(level)
    try:
        words = [_shipped(word) for word in shlex.split(text)]
    except ValueError as error:
        raise BadCommand(f"the command {text!r} is not well quoted: {error}") from None
    if not words:
        raise BadCommand("a bot's command is empty")
    if words[0] == _SDK and _BEHIND in words[:-1]:
        own = words.index(_BEHIND) + 1
        return (*SDK_ARGV, *words[1:own], *_resolved(words[own:], text))
    return _resolved(words, text)


def _resolved(words: list[str], text: str) -> tuple[str, ...]:
    """The words of a command with absolute paths."""
    if words[0].endswith(".py"):
        words.insert(0, sys.executable)
    elif words[0] in _PYTHONS:
        words[0] = sys.executable  # the Python that has the SDK
    program = shutil.which(words[0])
    if program is None:
        raise BadCommand(_why_no_program(words[0], text))
    for word in words[1:]:
        if word.endswith(".py") and not exists(Path(word)):
            raise BadCommand(f"the file {word!r} of the bot {text!r} does not exist")
        if word.endswith(".py") and Path(word).is_dir():
            raise BadCommand(f"{word!r} of the bot {text!r} is a folder, not a file")
    # The bot runs in another folder, so relative paths are resolved here.
    rest = (str(Path(word).resolve()) if exists(Path(word)) else word for word in words[1:])
    return (str(Path(program).absolute()), *rest)


def _shipped(word: str) -> str:
    """The word, or the sample bot that it names if the present folder has no such file."""
    shipped = SAMPLE_BOTS.parent / word
    if word.startswith("sample_bots/") and not exists(Path(word)) and exists(shipped):
        return str(shipped)
    return word


def _why_no_program(word: str, text: str) -> str:
    """Why a word is not a program, in one sentence."""
    path = Path(word)
    if not exists(path):
        return f"the program {word!r} of the bot {text!r} does not exist"
    if path.is_dir():
        inside = sorted(each.name for each in path.glob("*.py"))[:3]
        hint = f"; name a file in it, such as {path / inside[0]}" if inside else ""
        return f"{word!r} of the bot {text!r} is a folder, not a program{hint}"
    if os.sep not in word and not os.access(word, os.X_OK):
        return f"{word!r} of the bot {text!r} is a file, but not a program: {_how_to_run(path)}"
    if os.access(word, os.X_OK):
        return f"the program {word!r} of the bot {text!r} is here: call it as ./{word}"
    return f"the file {word!r} of the bot {text!r} is not executable: {_how_to_run(path)}"


def _how_to_run(path: Path) -> str:
    """The cure for a file that is not executable."""
    try:
        with path.open("rb") as file:
            script = file.read(2) == b"#!"
    except OSError:
        script = False
    if script:
        return f"chmod +x {shlex.quote(str(path))} makes it so"
    return "give a program, or say what runs it, as in 'node bot.js'; a Python file ends in .py"


def _own_argv(argv: tuple[str, ...]) -> tuple[str, ...]:
    behind = argv[: len(SDK_ARGV)] == SDK_ARGV and _BEHIND in argv[:-1]
    return argv[argv.index(_BEHIND) + 1 :] if behind else argv


def _called_after(argv: tuple[str, ...]) -> str:
    if argv[1:2] == (str(_HOUSE),):
        return f"house-{argv[2]}"
    if (own := _own_argv(argv)) != argv:
        program = Path(next((word for word in own[1:] if Path(word).is_file()), own[0]))
    else:
        program = Path(next((word for word in argv if word.endswith(".py")), argv[0]))
    stem = program.parent.name if program.stem == "bot" else program.stem.removesuffix("_bot")
    return _name_from(stem)


def _name_from(text: str) -> str:
    return _NOT_IN_NAMES.sub("-", text).strip("-._")[:24] or "bot"
