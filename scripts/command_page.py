"""Writes the reference of commands from their help: `docs/reference/commands.md`."""

import re
from collections.abc import Iterator, Sequence

import click

from arena.cli import SECTIONS, main

HEAD = """\
# Commands

<!-- Written by scripts/reference_pages.py from arena/cli: do not edit. -->

`arena --help` lists the commands, and `arena COMMAND --help` prints the text of this page. Every
`--json` prints one JSON object. [Errors](../errors.md) lists the exit codes.
"""


def page() -> str:
    """Return the page."""
    context = click.Context(main, info_name="arena", **main.context_settings)
    parts = [HEAD]
    for title, section in SECTIONS.items():
        parts.append(f"## {title}\n")
        for name in section:
            command = main.get_command(context, name)
            assert command is not None
            parts += _entries(command, context, name, 3)
    return "\n".join(parts)


def _entries(command: click.Command, parent: click.Context, name: str, level: int) -> Iterator[str]:
    """Return the entries of a command and its subcommands."""
    context = click.Context(command, parent=parent, info_name=name)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"{'#' * level} arena {context.command_path.removeprefix('arena ')}\n"
    yield f"    {usage}\n"
    yield from (f"{paragraph}\n" for paragraph in _paragraphs(command.help or ""))
    if rows := _options(command, context):
        yield "| option | meaning |\n|---|---|\n" + "\n".join(rows) + "\n"
    yield from _notes(command.epilog or "")
    if isinstance(command, click.Group):
        for name_of_command in command.list_commands(context):
            inner = command.get_command(context, name_of_command)
            assert inner is not None
            if not inner.hidden:
                yield from _entries(inner, context, name_of_command, level + 1)


def _options(command: click.Command, context: click.Context) -> Sequence[str]:
    """Return the rows of a table of options; for a group, those of its default command."""
    params = command.params
    if isinstance(command, click.Group) and not params:
        default = command.get_command(context, getattr(command, "default", ""))
        params = default.params if default is not None else []
    records = [
        param.get_help_record(context) for param in params if isinstance(param, click.Option)
    ]
    return [f"| `{_cell(record[0])}` | {_cell(record[1])} |" for record in records if record]


def _paragraphs(text: str) -> Iterator[str]:
    for part in re.split(r"\n\s*\n", text.strip()):
        yield " ".join(part.split())


def _notes(epilog: str) -> Iterator[str]:
    """Return the printed blocks after the options."""
    for block in re.split(r"\n?\x08\n", epilog.strip("\n")):
        if block.strip():
            lines = block.strip("\n").splitlines()
            yield "```text\n" + "\n".join(lines) + "\n```\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
