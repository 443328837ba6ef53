"""Commands that launch bots, as a person writes them."""

import os
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.jail.content import content_of
from arena.jailer.cell import Limits

_NAMED: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9 ._-]{0,31})=(.+)", re.DOTALL)
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._-]+")
_PYTHONS: Final = ("python", "python3")


class BadCommand(ValueError):
    """A command cannot be launched. The text says why."""


@dataclass(frozen=True, slots=True)
class BotCommand:
    """A bot as a command to launch."""

    name: str
    argv: tuple[str, ...]
    """Program and arguments; paths to files are absolute."""
    limits: Limits | None = None
    """What it may use behind a wall, if less than every bot."""
    packages: tuple[Path, ...] = ()
    """Folders of Python packages that it reads, and imports from before all others."""
    writes: Path | None = None
    """The one folder of this machine that it may write in. The arena's own programs have one, bots none."""

    @property
    def text(self) -> str:
        """The command as one would type it."""
        return shlex.join(self.argv)

    def content(self) -> str:
        """Tells whether what is run has changed, and in which file: see `arena.jail.content`.

        Raises:
          BadCommand: if a file cannot be read.
        """
        program, *words = map(Path, self.argv)
        named = [path for path in words if path.is_absolute() and path.exists()]
        try:
            return content_of(program, named)
        except OSError as error:
            text = f"the file {error.filename} of the bot {self.name!r} cannot be read"
            raise BadCommand(f"{text}: {error.strerror}") from error


def parse_commands(texts: Sequence[str]) -> tuple[BotCommand, ...]:
    """Read commands, each `COMMAND` or `NAME=COMMAND`.

    A name that is not given is made of the program's file name; equal names
    get a number. A Python file alone is run by this Python.

    Raises:
      BadCommand: if a command is empty or its program does not exist.
    """
    named = [_split_name(text) for text in texts]
    taken = Counter(name.casefold() for name, _ in named if name)
    commands = []
    for name, text in named:
        argv = _argv(text)
        called = name or _called_after(argv)
        if not name:
            folded = called.casefold()
            taken[folded] += 1
            if taken[folded] > 1:
                called = f"{called}-{taken[folded]}"
        commands.append(BotCommand(called, argv))
    # Upper and lower case are the same, as for keys: nobody is to be taken for another.
    for name, count in Counter(command.name.casefold() for command in commands).items():
        if count > 1:
            raise BadCommand(f"two bots are named {name!r}; name them apart, as in NAME=COMMAND")
    return tuple(commands)


def _split_name(text: str) -> tuple[str, str]:
    match = _NAMED.fullmatch(text.strip())
    # `FOO=1 ./bot` is not offered: a name never holds a space before a program.
    return (match[1], match[2]) if match else ("", text.strip())


def _argv(text: str) -> tuple[str, ...]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadCommand(f"the command {text!r} is not well quoted: {error}") from None
    if not words:
        raise BadCommand("a bot's command is empty")
    if words[0].endswith(".py"):
        words.insert(0, sys.executable)
    elif words[0] in _PYTHONS:
        words[0] = sys.executable  # the Python that has the SDK
    program = shutil.which(words[0])
    if program is None:
        raise BadCommand(_why_no_program(words[0], text))
    for word in words[1:]:
        if word.endswith(".py") and not _exists(word):
            raise BadCommand(f"the file {word!r} of the bot {text!r} does not exist")
        if word.endswith(".py") and Path(word).is_dir():
            raise BadCommand(f"{word!r} of the bot {text!r} is a folder, not a file")
    # The bot runs in a folder of its own, so relative paths must be resolved here.
    rest = (str(Path(word).resolve()) if _exists(word) else word for word in words[1:])
    return (str(Path(program).absolute()), *rest)


def _why_no_program(word: str, text: str) -> str:
    """Why a word is no program, in one sentence."""
    path = Path(word)
    if not _exists(word):
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
    """What a person can do with a file that is not executable."""
    try:
        with path.open("rb") as file:
            script = file.read(2) == b"#!"
    except OSError:
        script = False
    if script:
        return f"chmod +x {shlex.quote(str(path))} makes it so"
    return "give a program, or say what runs it, as in 'node bot.js'; a Python file ends in .py"


def _exists(word: str) -> bool:
    try:
        return Path(word).exists()
    except OSError:
        return False  # no name of a file, as it is too long


def _called_after(argv: tuple[str, ...]) -> str:
    program = next((word for word in argv if word.endswith(".py")), argv[0])
    stem = _NOT_IN_NAMES.sub("-", Path(program).stem.removesuffix("_bot")).strip("-._")[:24]
    return stem or "bot"
