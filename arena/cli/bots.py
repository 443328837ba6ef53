"""`arena bots`: who is there to play with."""

import json
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from arena.cli.lobby import Server, lobby_of, server_options
from arena.cli.near import nearest
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import plain, say
from cardarena.v1 import lobby_pb2


@click.command(
    epilog="""\b
Examples:
  arena bots
  arena bots --game klaberjass
  arena bots --server https://arena.example:7654 --ca arena.crt
  arena bots --json | jq -r '.bots[].bot'
"""
)
@click.option("--game", default="", metavar="GAME", help="Only bots that play this game.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@server_options
def bots(*, game: str, as_json: bool, server: Server) -> None:
    """List the bots that are connected to an arena, by name."""
    with lobby_of(server) as lobby:
        known = [each.game for each in lobby.games()]
        if game and game not in known:
            raise click.ClickException(f"there is no game {game!r} there; {nearest(game, known)}")
        found = [
            bot
            for bot in lobby.bots()
            if not game or any(played.game == game for played in bot.games)
        ]
    if as_json:
        click.echo(json.dumps({"bots": [_as_json(bot) for bot in found]}, indent=2))
        return
    if not found:
        who = f"No bot that plays {game}" if game else "No bot"
        say(f"{who} is connected to {server.address}.")
        return
    console = PlainConsole()
    table = Table(box=None, pad_edge=False)
    for name in ("bot", "plays", "matches"):
        table.add_column(name, no_wrap=name != "plays")
    for bot in found:
        matches = f"{bot.matches} of {bot.max_matches}"
        table.add_row(Text(plain(bot.bot)), _games(bot, len(known)), matches)
    console.print(table)


def _games(bot: lobby_pb2.BotInfo, known: int) -> str:
    games = [played.game for played in bot.games]
    if len(games) == known:
        return "every game"
    return ", ".join(games) or "no game of this arena"


def _as_json(bot: lobby_pb2.BotInfo) -> dict[str, Any]:
    return {
        "bot": bot.bot,
        "games": [{"game": each.game, "seats": list(each.seats) or None} for each in bot.games],
        "matches": bot.matches,
        "max_matches": bot.max_matches,
    }
