"""The `arena` command. Each of its commands is loaded when it is called, and no sooner."""

import importlib
from collections.abc import Mapping
from typing import Any, Final

import click

from arena.cli.terminal.plain import PlainErrors
from arena.compiled import built, outdated

#: What each command is for and where it is; its own first sentence says the same at more length.
COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "bots": ("arena.cli.bots", "Your bots, and those that are connected to an arena."),
    "compare": ("arena.cli.compare", "Whether one bot is better than another."),
    "competition": (
        "arena.cli.competition",
        "Tournaments of every format and ladders, from a TOML.",
    ),
    "conformance": ("arena.cli.conformance", "Whether a client keeps the contract."),
    "demo": ("arena.cli.demo", "The sample bots play a short tournament of every game."),
    "export-site": ("arena.cli.export_site", "A tournament as pages that open from a disk."),
    "games": ("arena.cli.games", "The games there are, or one of them."),
    "keys": ("arena.cli.keys", "Who may play, and who may make matches."),
    "match": ("arena.cli.match", "A match between bots that have dialled in."),
    "matches": ("arena.cli.matches", "The matches that were played."),
    "new": ("arena.cli.new", "The folder of a new bot, in one of five languages."),
    "owners": ("arena.cli.owners", "Who may have bots at an arena."),
    "play": ("arena.cli.play", "One match between bots given as commands."),
    "register": ("arena.cli.register", "Become an owner of bots, by invitation."),
    "replay": ("arena.cli.replay", "Watch, verify and export replays."),
    "runtimes": ("arena.cli.runtimes", "What runs the bots that are submitted."),
    "serve": ("arena.cli.serve", "An arena that bots dial in to."),
    "standings": ("arena.cli.stored_standings", "The table of a tournament, without playing."),
    "status": ("arena.cli.status", "Whether an arena is up, and how it fares."),
    "table": (
        "arena.cli.competition_table",
        "The table of a competition, and whether one is true.",
    ),
    "tournament": ("arena.cli.tournament", "A rated round robin between launched bots."),
    "web": ("arena.cli.web", "Pages of what is played and was played."),
    "why": ("arena.cli.why", "What went wrong for a bot at a match."),
}


class LazyGroup(PlainErrors):
    """A group whose commands are imported when they are called.

    To import them all takes a second, of which `arena --help` needs nothing.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(
            importlib.import_module(module), cmd_name.replace("-", "_")
        )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from arena.cli.near import nearest

            ctx.fail(f"there is no command {args[0]!r}; {nearest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        names = [name for name in COMMANDS if name.startswith(incomplete)]
        return [CompletionItem(name, help=COMMANDS[name][1]) for name in names] + (
            super(click.Group, self).shell_complete(ctx, incomplete)
        )


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Every command explains itself: arena COMMAND --help",
)
@click.version_option(
    package_name="cardarena-engine",
    prog_name="arena",
    message=f"%(prog)s, version %(version)s, {built()}",
)
def main() -> None:
    """Card Arena: bots play card games against each other.

    \b
    Begin with:
      arena demo                         watch the sample bots play a tournament
      arena games                        the games there are
      arena play abstrac bot.py bot.py   one match between bots given as commands
    """
    if changed := outdated():
        raise click.ClickException(
            f"changed since it was compiled, so that another program would run: {', '.join(changed)}. "
            "scripts/compile compiles again, scripts/compile --remove goes back to the sources"
        )
