"""The `arena` command."""

import click

from arena.cli.demo import demo
from arena.cli.games import games
from arena.cli.keys import keys
from arena.cli.matches import matches
from arena.cli.play import play
from arena.cli.replay import replay
from arena.cli.serve import serve
from arena.cli.status import status
from arena.cli.tournament import tournament
from arena.cli.why import why


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Every command explains itself: arena COMMAND --help",
)
@click.version_option(package_name="cardarena-engine", prog_name="arena")
def main() -> None:
    """Card Arena: bots play card games against each other.

    \b
    Begin with:
      arena demo                         watch the sample bots play a tournament
      arena games                        the games there are
      arena play abstrac bot.py bot.py   one match between bots given as commands
    """


for command in (serve, status, play, tournament, matches, games, replay, why, keys, demo):
    main.add_command(command)
