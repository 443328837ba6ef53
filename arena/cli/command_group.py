"""The groups of the command `arena`: commands that load when they are called, and hints for mistyped ones."""

import contextlib
import gc
import importlib
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import click

from arena.cli.terminal.plain import PlainErrors


class CommandGroup(PlainErrors):
    """A group that lists its commands in order and proposes the nearest one for a mistyped name.

    Groups inside it are of this class too.
    """

    group_class = type

    def __init__(
        self, *args: Any, lazy: Mapping[str, str] | None = None, default: str = "", **kwargs: Any
    ) -> None:
        """`lazy` has `module:function` of commands that are imported when they are called.

        Without the name of a command, the one that `default` names runs.
        """
        super().__init__(*args, **kwargs)
        self._lazy = lazy or {}
        self.default = default

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [*self._lazy, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._lazy:
            return super().get_command(ctx, cmd_name)
        module, _, function = self._lazy[cmd_name].partition(":")
        command: click.Command = getattr(_module(module), function)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = args and (not args[0].startswith("-") or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named or not self.default else [self.default, *args])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            from arena.cli.suggestions import nearest

            ctx.fail(f"there is no command {args[0]!r}; {nearest(args[0], known)}")
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of the group, and those of the command that runs by default."""
        command = self.get_command(ctx, self.default)
        if command is None:
            super().format_options(ctx, formatter)
            return
        params = [*command.params, *self.get_params(ctx)]
        with formatter.section("Options"):
            formatter.write_dl([row for param in params if (row := param.get_help_record(ctx))])
        self.format_commands(ctx, formatter)


def _module(name: str) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    with loading():
        return importlib.import_module(name)


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """Import modules within the block.

    Loaded modules stay, so the garbage collector does not examine them, neither within the block nor at the end of the
    process.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
