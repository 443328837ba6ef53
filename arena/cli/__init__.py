"""The `arena` command. Each of its commands is loaded when it is called."""

from collections.abc import Mapping
from typing import Any, Final

import click

from arena.cli.command_group import CommandGroup
from arena.compiled import built, outdated

#: The commands by what their readers want to do: for each its module and its line in `arena --help`.
SECTIONS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "Play": {
        "play": ("arena.cli.play", "Play a match between bots on this machine."),
        "tournament": ("arena.cli.tournament", "Play a round robin between bots on this machine."),
        "games": ("arena.cli.games", "List the games, or show the rules of one."),
    },
    "Write a bot": {
        "new": ("arena.cli.new", "Create a bot in one of seven languages."),
        "train": ("arena.cli.train", "Train a bot by self-play."),
        "check": ("arena.cli.check", "Test a bot as an arena does before it lets it play."),
        "exploit": ("arena.cli.exploit", "Measure how much a best response wins from a bot."),
        "conformance": ("arena.cli.conformance", "Test a client against the contract."),
        "replay": ("arena.cli.replay", "Show, verify and export replays."),
    },
    "Compete": {
        "bots": ("arena.cli.bots", "Submit bots, and list connected ones."),
        "compare": ("arena.cli.compare", "Test whether one bot is better than another."),
        "climb": ("arena.cli.climb", "Play upward on a ladder of frozen bots."),
        "tune": ("arena.cli.tune", "Find good values of a bot's parameters."),
        "comparisons": ("arena.cli.comparisons", "List, show and cancel comparisons at an arena."),
        "challenge": (
            "arena.cli.challenge",
            "Challenge another bot at an arena to unrated matches.",
        ),
        "webhooks": ("arena.cli.webhooks", "Send events of your bots to a URL."),
        "mcp": ("arena.cli.mcp", "Serve the arena to an agent, as tools."),
    },
    "Organise": {
        "competition": ("arena.cli.competition", "Create, play and show competitions."),
        "owners": ("arena.cli.owners", "Register, invite, list and ban owners of bots."),
    },
    "Watch": {
        "match": ("arena.cli.match", "Create, list and explain matches."),
        "export": ("arena.cli.export", "Export many matches as data."),
        "web": ("arena.cli.web", "Serve web pages, or export them to a folder."),
    },
    "Run a server": {
        "serve": ("arena.cli.serve", "Run an arena that bots connect to."),
        "worker": ("arena.cli.worker", "Play deal-sets for an arena on another machine."),
        "workers": ("arena.cli.workers", "Place workers on Dask, Ray, SLURM or Kubernetes."),
        "doctor": ("arena.cli.doctor", "Show what this machine lacks, with cures."),
        "status": ("arena.cli.status", "Show the state of a running arena."),
        "backup": ("arena.cli.backup", "Write a backup of a data folder, while it serves."),
        "restore": ("arena.cli.backup", "Make a data folder of a backup."),
        "prune": ("arena.cli.prune", "Remove old replays, logs and packages."),
        "keys": ("arena.cli.keys", "Create, list and revoke keys."),
        "runtimes": ("arena.cli.runtimes", "List, build and remove runtimes of submitted bots."),
    },
}
COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    name: entry for section in SECTIONS.values() for name, entry in section.items()
}


class SectionedGroup(CommandGroup):
    """The group of all commands, whose help has a section for each kind of reader.

    Help and completion load no command: to import them all takes a second.
    """

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, section in SECTIONS.items():
            with formatter.section(title):
                rows = [(f"{name:<11}", sentence) for name, (_, sentence) in section.items()]
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        names = [name for name in COMMANDS if name.startswith(incomplete)]
        return [CompletionItem(name, help=COMMANDS[name][1]) for name in names] + (
            super(click.Group, self).shell_complete(ctx, incomplete)
        )


@click.group(
    cls=SectionedGroup,
    lazy={name: f"{module}:{name}" for name, (module, _) in COMMANDS.items()},
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
    epilog="`arena COMMAND --help` explains a command.",
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
      arena games                        list the games
      arena play abstrac bot.py bot.py   play a match between bots in files
    """
    if changed := outdated():
        raise click.ClickException(
            f"{', '.join(changed)} changed after compilation. "
            "scripts/compile compiles again; scripts/compile --remove returns to the sources"
        )
