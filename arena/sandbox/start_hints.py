"""What kept a bot's program from connecting, where its output alone does not tell its author."""

import re
import sys
from typing import Final

from arena.sandbox.command import BotCommand

_SDK: Final = frozenset({"arena", "cardarena", "google", "grpc", "numpy"})
_IMPORTS: Final = re.compile(
    r"ImportError|ModuleNotFoundError|AttributeError: (?:partially initialized )?module"
)


def why_not_started(command: BotCommand, printed: str, returncode: int | None) -> str:
    """Why a process ended before it connected, as a part of a sentence; empty if that is not known."""
    if hiding := _hiding(command, printed):
        return f"its file {hiding} hides Python's module of that name, so give it another one"
    if returncode == 0:
        return "its program ended by itself; a bot of Python ends with `cardarena.run(MyBot)`"
    return ""


def _hiding(command: BotCommand, printed: str) -> str:
    """The file of the bot that is imported in place of a module of Python or the SDK; empty if there is none."""
    if not _IMPORTS.search(printed):
        return ""
    files = {path.stem: path for path in command.folder.glob("*.py")}
    hidden = sorted(files.keys() & (sys.stdlib_module_names | _SDK))
    named = [name for name in hidden if re.search(rf"\b{name}\b", printed)]
    return files[named[0]].name if named else ""
