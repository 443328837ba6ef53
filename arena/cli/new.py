"""`arena new`: the folder of a new bot."""

import json
from pathlib import Path

import click

from arena.cli.arguments import GameType
from arena.cli.starting import LANGUAGES, CannotStart, start_bot
from arena.cli.terminal.plain import say
from arena.games.catalogue import Game


@click.command(
    epilog="\b\nExamples:\n"
    "  arena new my-bot\n"
    "  arena new bots/my-bot --lang go --game jam\n"
    "  arena new my-bot --lang typescript --json",
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--lang",
    "language",
    type=click.Choice(LANGUAGES),
    default="python",
    show_default=True,
    help="The language it is written in.",
)
@click.option(
    "--game", type=GameType(), default="abstrac", show_default=True, help="The game it plays."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def new(folder: Path, language: str, game: Game, as_json: bool) -> None:
    """Make the folder of a new bot, with manifest, test and README.

    FOLDER is made; its name is the bot's. What stands there plays first moves without a
    fault, so that you can begin at once. Its README says how to run and test it.
    """
    try:
        files = [path.as_posix() for path in start_bot(folder, game, language)]
    except (CannotStart, OSError) as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps({"folder": str(folder), "language": language, "files": files}))
        return
    for file in files:
        say(f"{folder / file}")
    say(f"Next: {folder / 'README.md'}")
