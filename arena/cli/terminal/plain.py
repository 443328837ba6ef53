"""Replaces unprintable characters in text of others, so that it cannot control the terminal.

All output uses this module: `PlainConsole` for what `rich` draws, `say` for lines, and `PlainErrors` for errors of the
command line.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from arena.errors import exits


def plain(text: str) -> str:
    """Replace the unprintable characters of a text without lines."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def plain_lines(text: str) -> str:
    """Replace the unprintable characters of a text that has lines."""
    return "\n".join(plain(line) for line in text.split("\n"))


def say(text: str, *, err: bool = False) -> None:
    """Print lines that may hold text of others."""
    click.echo(plain_lines(text), err=err)


def program() -> str:
    """Return the name of this program for proposed commands: `arena`, or its path if it is not on PATH."""
    called = sys.argv[0]
    is_away = Path(called).name == "arena" and shutil.which("arena") is None
    return shlex.quote(called) if is_away else "arena"


class Interrupted(click.ClickException):
    """A command was interrupted before its work was done."""

    exit_code = exits.INTERRUPTED


class PlainErrors(click.Group):
    """A group of commands whose errors are printed by `plain_lines`."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(exits.INTERRUPTED) from None
        except click.ClickException as error:
            error.message = plain_lines(error.message)  # type: ignore[misc]
            raise
