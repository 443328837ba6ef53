"""`arena match`: the group of the commands for matches, each of which is loaded when it is called."""

import click

from arena.cli.command_group import CommandGroup


@click.group(
    cls=CommandGroup,
    lazy={
        "create": "arena.cli.match_create:create",
        "list": "arena.cli.match_list:list_matches",
        "why": "arena.cli.match_why:why",
    },
    epilog="""\b
Examples:
  arena match create abstrac ann bob
  arena match list --bot my_bot --faulted
  arena match why last my_bot
""",
)
def match() -> None:
    """Create a match between connected bots, list matches, or explain a bot's faults."""
