"""Text of others, made harmless where it is shown: nothing in it moves a cursor or reorders text.

All output passes here. What `rich` draws goes through `PlainConsole`; lines by
themselves go through `say`; errors of the command line go through `PlainErrors`.
"""

from __future__ import annotations

from typing import Any

import click


def plain(text: str) -> str:
    """Text that others wrote, with all that is not printable made harmless."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def plain_lines(text: str) -> str:
    """The same of text that has lines."""
    return "\n".join(plain(line) for line in text.split("\n"))


def say(text: str, *, err: bool = False) -> None:
    """Print lines that may hold text of others."""
    click.echo(plain_lines(text), err=err)


class PlainErrors(click.Group):
    """A group of commands whose errors are printed by `plain_lines`."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            error.message = plain_lines(error.message)  # type: ignore[misc]
            raise
