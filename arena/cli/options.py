"""Options that several commands take, in the order in which `--help` shows them."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

Option = Callable[[Any], Any]
"""What `click.option` gives."""


def with_options(command: F, *options: Option) -> F:
    """The command with these options, the first of them shown first."""
    made: Any = command
    for option in reversed(options):
        made = option(made)
    return made  # type: ignore[no-any-return]


def dial_options(command: F) -> F:
    """Adds how an arena is dialled: `--ca`, `--client-cert`, `--client-key` and `--insecure`."""
    return with_options(
        command,
        click.option(
            "--ca",
            metavar="FILE",
            help="The arena's root certificates in PEM.  [env var: CARDARENA_CA]",
        ),
        click.option(
            "--client-cert",
            metavar="FILE",
            help="A certificate of one's own, if the arena wants one.",
        ),
        click.option("--client-key", metavar="FILE", help="Its private key."),
        click.option(
            "--insecure", is_flag=True, help="Let the token leave this machine in plain text."
        ),
    )
