"""The bot of a program, to be played in this process."""

import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from arena.local.place import AnyBot, object_of
from cardarena._run import WANTED, AnyProgram


class NoBot(Exception):
    """The program does not pass a bot. The text says why."""


def bot_of(argv: Sequence[str]) -> AnyBot:
    """Run a Python program with its arguments, and return the bot that it passes to `cardarena.run`.

    Modules beside the program are imported for this program only, so that two versions of a bot may have modules of
    equal names. A module that a bot imports later, within a method, is therefore not found.

    Raises `NoBot` if the program fails, or does not call `run` or `play`.
    """
    bots: list[AnyProgram] = []
    token = WANTED.set(bots)
    try:
        with _program(argv):
            runpy.run_path(argv[0], run_name="__main__")
    except SystemExit as exited:
        if not bots:
            raise NoBot(
                f"it ended with exit code {exited.code} before it called cardarena.run"
            ) from None
    except Exception as error:
        raise NoBot(f"it raised {type(error).__name__}: {error}") from error
    finally:
        WANTED.reset(token)
    if not bots:
        raise NoBot("it does not call cardarena.run")
    try:
        object_of(bots[0])
    except Exception as error:
        raise NoBot(f"its bot cannot be made: {type(error).__name__}: {error}") from error
    return bots[0]


@contextmanager
def _program(argv: Sequence[str]) -> Iterator[None]:
    """Set the arguments and the import path of a program within the block; afterwards remove its own modules."""
    folder, own_argv, before = Path(argv[0]).resolve().parent, sys.argv[:], set(sys.modules)
    sys.argv[:] = argv
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        sys.argv[:] = own_argv
        for name in set(sys.modules) - before:
            if _is_beside(name, folder):
                del sys.modules[name]


def _is_beside(name: str, folder: Path) -> bool:
    """Return whether an imported module is a file of the folder, or in a package there; files of a virtual environment do not count."""
    file, top = getattr(sys.modules[name], "__file__", None), name.partition(".")[0]
    if file is None:
        return False
    path = Path(file).resolve()
    return path == folder / f"{top}.py" or folder / top in path.parents
