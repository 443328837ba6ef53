"""Commands that launch bots, read from what a person types."""

import os
import re
import shlex
import shutil
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from arena.sandbox.content import content_of
from arena.sandbox.house_levels import STEPS
from arena.sandbox.spawner.order import ResourceLimits

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,31}")
_NAMES: Final = (
    "a name has 1 to 32 letters a to z or A to Z, digits, dots, dashes, underscores or spaces"
)
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._-]+")
_PYTHONS: Final = ("python", "python3")
_SDK: Final = "cardarena"
_BEHIND: Final = "--"
"""The word before the bot's own command in the command of the bridge."""
_MODULE: Final = "-m"
SDK_ARGV: Final = (sys.executable, "-P", _MODULE, _SDK)
"""The command `cardarena` of the SDK that the arena has. It imports no file of the bot's folder, in which it runs."""
MANIFEST: Final = "bot.toml"
"""The path of a bot's manifest in the bot's folder."""
RUN_MODULE: Final = (
    "import runpy, sys; _, folder, module, *rest = sys.argv; sys.path.insert(0, folder); "
    "sys.argv = [module, *rest]; runpy.run_module(module, run_name='__main__', alter_sys=True)"
)
"""A program with the effect of `python -m MODULE` in a folder; its arguments are the folder, the module, and its own."""
_PACKAGE: Final = Path(__file__).parents[1]
_INSTALLED: Final = _PACKAGE / "sample_bots"
SAMPLE_BOTS: Final = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent / "sample_bots"
"""The sample bots: those of the installed engine, or of its checkout."""
_HOUSE: Final = _PACKAGE / "house" / "program.py"


class BadCommand(ValueError):
    """A command cannot be launched. The text says why."""

    def __init__(self, text: str, why: str = "") -> None:
        """`why` is the reason without the command."""
        super().__init__(text)
        self.why: Final = why or text


class SharedName(BadCommand):
    """Two competitions launch different commands under one name. The text has no command."""


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
    """The one folder that it may write to. Only the arena's own programs have one; bots have none."""

    start_s: float | None = None
    """The longest time in seconds from its launch to its hello; None for the default of the arena."""
    publishes_notes: bool = False
    """Whether its notes are published with the replays, according to its manifest."""
    files: Path | None = None
    """The folder of the bot's files, of which each process gets a copy; None if they are used in place."""

    def moved(self, folder: Path) -> "BotCommand":
        """Return the same command with the bot's files in another folder."""
        old = str(self.files)
        argv = tuple(
            f"{folder}{word[len(old) :]}" if word == old or word.startswith(f"{old}/") else word
            for word in self.argv
        )
        return replace(self, argv=argv, files=folder)

    @property
    def named_paths(self) -> tuple[Path, ...]:
        """The files and folders that the words after the program name; a class path of Java names several."""
        words = self.own_argv[1:]
        parts = [part for word in words for part in dict.fromkeys((word, *word.split(":")))]
        return tuple(path for part in parts if (path := Path(part)).is_absolute() and exists(path))

    @property
    def first_file(self) -> Path:
        """The bot's first file or folder: the first one that its command names and that is no program such as Python.

        It is the program if the command names nothing else.
        """
        named, program = self.named_paths, Path(self.own_argv[0])
        return next(
            (path for path in named if not _is_in_bin(path)), named[0] if named else program
        )

    @property
    def folder(self) -> Path:
        """The bot's folder, in which it runs: that of its manifest, or otherwise that of its first file."""
        if self.files is not None:
            return self.files
        first = self.first_file
        nearest = first if first.is_dir() else first.parent
        above = (nearest, *nearest.parents)
        return next((path for path in above if (path / MANIFEST).is_file()), nearest)

    @property
    def is_house(self) -> bool:
        return self.argv[1:2] == (str(_HOUSE),)

    @property
    def text(self) -> str:
        """The command as a person types it."""
        return shlex.join(self.argv)

    @property
    def own_argv(self) -> tuple[str, ...]:
        """The bot's own program and arguments, without the bridge if it is behind one."""
        return _own_argv(self.argv)

    def content(self) -> str:
        """Return the hashes of the bot's files, to detect changes: see `arena.sandbox.content`.

        Raises `BadCommand` if a file cannot be read.
        """
        program, *words = map(Path, self.own_argv)
        named = [path for path in words if path.is_absolute() and exists(path)]
        try:
            return content_of(program, named)
        except OSError as error:
            text = f"the file {error.filename} of the bot {self.name!r} cannot be read"
            raise BadCommand(f"{text}: {error.strerror}") from error


def parse_commands(
    texts: Sequence[str], of_folder: Callable[[Path], BotCommand | None] = lambda _: None
) -> tuple[BotCommand, ...]:
    """Read commands, each `COMMAND` or `NAME=COMMAND`; `house:LEVEL` is the arena's own bot.

    The default name is the file name of the program, or that of its folder for a `bot.py`; equal default names get
    a number. A Python file without a program is run by this Python. `sample_bots/FILE` is a sample bot in any
    folder. `of_folder` gives the command of a bot whose folder is named instead of a command, and None for other folders.

    Raises `BadCommand` if a command is empty or its program does not exist.
    """
    named = [_split_name(text) for text in texts]
    taken = Counter(name.casefold() for name, _ in named if name)
    commands = []
    for name, text in named:
        folder = Path(text).resolve() if text and exists(Path(text)) else None
        if folder and folder.is_dir() and (of_manifest := of_folder(folder)):
            command = of_manifest
            called = name or _name_from(folder.name)
        else:
            command = BotCommand("", _argv(text))
            called = name or _called_after(command.argv)
        if not name:
            folded = called.casefold()
            taken[folded] += 1
            if taken[folded] > 1:
                called = f"{called}-{taken[folded]}"
        commands.append(replace(command, name=called))
    # Names that differ in upper and lower case only are equal, as for keys.
    for name, count in Counter(command.name.casefold() for command in commands).items():
        if count > 1:
            raise BadCommand(f"two bots are named {name!r}; name one, as in NAME=COMMAND")
    return tuple(commands)


def exists(path: Path) -> bool:
    """Return whether a path exists; false for text that is too long to be one."""
    try:
        return path.exists()
    except OSError:
        return False


def _split_name(text: str) -> tuple[str, str]:
    """Return the name, which may be empty, and the command.

    Raises `BadCommand` if the text has a name that is not allowed.
    """
    text = text.strip()
    name, equals, command = text.partition("=")
    if not equals or exists(Path(text)) or _is_command(name):
        return "", text
    if not _NAME.fullmatch(name):
        raise BadCommand(f"the name {name!r} of the bot {text!r} is not allowed: {_NAMES}")
    value, _, rest = command.partition(" ")
    is_program = value == _SDK or exists(Path(value)) or _runs(value)
    if rest and not is_program and _runs(rest.split()[0]):
        python = "python " if rest.split()[0].endswith(".py") else ""
        cure = f"to set a variable, write: env {name}={value} {python}{rest}"
        raise BadCommand(f"the program {value!r} of the bot {text!r} does not exist; {cure}")
    return name, command


def _is_command(text: str) -> bool:
    """Return whether the text before the first `=` is part of a command, as in `python bot.py --depth=3`."""
    words = text.split()
    if len(words) < 2:
        return "/" in text or text.startswith(("'", '"'))
    return "/" in words[0] or any(word.startswith("-") for word in words) or _runs(words[0])


def _runs(word: str) -> bool:
    return word.endswith(".py") or shutil.which(word) is not None


def house_argv(level: str) -> tuple[str, ...]:
    """Return the program of the arena's own bot at a level of `arena.sandbox.house_levels`."""
    return (sys.executable, str(_HOUSE), level)


def _argv(text: str) -> tuple[str, ...]:
    house, colon, level = text.partition(":")
    if house == "house" and colon:
        if level not in STEPS:
            raise BadCommand(f"there is no {text!r}; the levels are: {', '.join(STEPS)}")
        return house_argv(level)
    try:
        # A path with spaces is one word, as it is to the shell that passed it on.
        is_path = bool(text) and exists(Path(text)) and not Path(text).is_dir()
        words = [_shipped(word) for word in ([text] if is_path else shlex.split(text))]
    except ValueError as error:
        raise BadCommand(f"the command {text!r} is not well quoted: {error}") from None
    if not words:
        raise BadCommand("a bot's command is empty")
    if words[0] == _SDK and _BEHIND in words[:-1]:
        begin = words.index(_BEHIND) + 1
        return (*SDK_ARGV, *words[1:begin], *_resolved(words[begin:], text))
    return _resolved(words, text)


def _resolved(words: list[str], text: str) -> tuple[str, ...]:
    if words[0].endswith(".py"):
        words.insert(0, sys.executable)
    elif words[0] in _PYTHONS:
        words[0] = sys.executable  # the Python that has the SDK
    program = shutil.which(words[0])
    if program is None:
        raise BadCommand(_why_no_program(words[0], text) + _spaces(words))
    for word in words[1:]:
        if word.endswith(".py") and not exists(Path(word)):
            missing = f"the file {word!r} of the bot {text!r} does not exist"
            raise BadCommand(missing + _spaces(words[1:]))
        if word.endswith(".py") and Path(word).is_dir():
            raise BadCommand(f"{word!r} of the bot {text!r} is a folder, not a file")
    return (str(Path(program).absolute()), *_with_module(Path(program), words[1:]))


def _with_module(program: Path, words: list[str]) -> Sequence[str]:
    """Return the words after a program, with absolute paths, and with the module of this folder that Python will run."""
    at = words.index(_MODULE) if _MODULE in words[:-1] else len(words)
    flags = all(word.startswith("-") for word in words[:at])
    if program.name.startswith(_PYTHONS) and at < len(words) and flags:
        module, rest = words[at + 1], words[at + 2 :]
        top = module.partition(".")[0]
        if exists(Path(f"{top}.py")) or exists(Path(top)):
            return (*words[:at], "-c", RUN_MODULE, str(Path.cwd()), module, *map(_absolute, rest))
    script = next((word for word in words if not word.startswith("-")), "")
    if script and exists(Path(script)) and Path(script).is_file():
        words[words.index(script)] = str(Path.cwd() / script)
    return tuple(map(_absolute, words))


def _absolute(word: str) -> str:
    """Return a word with an absolute path if it names a file or folder by a slash or a suffix; other words stay.

    The bot runs in its own folder. A link stays a link: a Python knows its virtual environment by the link.
    """
    path = Path(word)
    if not ("/" in word or "." in word) or not exists(path):
        return word
    if ".." not in path.parts:
        return str(path.absolute())
    return str(path.resolve() if path.name == ".." else path.parent.resolve() / path.name)


def _spaces(words: Sequence[str]) -> str:
    """Return the cure if the first words together are a path with spaces; empty if not."""
    for count in range(len(words), 1, -1):
        path = " ".join(words[:count])
        if exists(Path(path)):
            return f"; quote a path with spaces, as in {shlex.quote(path)!r}"
    return ""


def _is_in_bin(path: Path) -> bool:
    """Return whether a file is an installed program, such as the Python of a virtual environment."""
    return path.parent.name == "bin" and path.is_file() and os.access(path, os.X_OK)


def _shipped(word: str) -> str:
    """Return the word, or the sample bot that it names if the present folder has no such file."""
    shipped = SAMPLE_BOTS.parent / word
    if word.startswith("sample_bots/") and not exists(Path(word)) and exists(shipped):
        return str(shipped)
    return word


def _why_no_program(word: str, text: str) -> str:
    path = Path(word)
    if not exists(path):
        return f"the program {word!r} of the bot {text!r} does not exist"
    if path.is_dir():
        inside = sorted(file.name for file in path.glob("*.py"))[:3]
        hint = f"; name a file in it, such as {path / inside[0]}" if inside else ""
        return f"{word!r} of the bot {text!r} is a folder, not a program{hint}"
    if os.sep not in word and not os.access(word, os.X_OK):
        return f"{word!r} of the bot {text!r} is a file, but not a program: {_how_to_run(path)}"
    if os.access(word, os.X_OK):
        return f"the program {word!r} of the bot {text!r} is here: call it as ./{word}"
    return f"the file {word!r} of the bot {text!r} is not executable: {_how_to_run(path)}"


def _how_to_run(path: Path) -> str:
    """Return the cure for a file that is not executable."""
    try:
        with path.open("rb") as file:
            script = file.read(2) == b"#!"
    except OSError:
        script = False
    if script:
        return f"chmod +x {shlex.quote(str(path))} makes it so"
    return "give a program, or say what runs it, as in 'node bot.js'; a Python file ends in .py"


def _own_argv(argv: tuple[str, ...]) -> tuple[str, ...]:
    # The Python before these words is the arena's, or that of submitted bots.
    behind = argv[1 : len(SDK_ARGV)] == SDK_ARGV[1:] and _BEHIND in argv[:-1]
    return argv[argv.index(_BEHIND) + 1 :] if behind else argv


def _called_after(argv: tuple[str, ...]) -> str:
    if argv[1:2] == (str(_HOUSE),):
        return f"house-{argv[2]}"
    if Path(argv[0]).name == _SDK and "--model" in argv[1:-1]:  # of `cardarena llm`
        return _name_from(argv[argv.index("--model") + 1].rpartition("/")[2])
    if RUN_MODULE in argv:
        return _name_from(argv[argv.index(RUN_MODULE) + 2].rpartition(".")[2])
    if (own := _own_argv(argv)) != argv:
        program = Path(next((word for word in own[1:] if Path(word).is_file()), own[0]))
    else:
        program = Path(next((word for word in argv if word.endswith(".py")), argv[0]))
    stem = program.parent.name if program.stem == "bot" else program.stem.removesuffix("_bot")
    return _name_from(stem)


def _name_from(text: str) -> str:
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return _NOT_IN_NAMES.sub("-", text).strip("-._")[:24] or "bot"
