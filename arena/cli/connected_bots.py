"""`arena bots list`: the bots that are connected to an arena."""

from collections.abc import Sequence

import click

from arena.cli.arena_client import PAGE, Server, ServiceClient, server_options, service_client
from arena.cli.options import json_option, print_json
from arena.cli.suggestions import nearest
from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import say
from arena.referee.wire.message_json import message_json
from cardarena.v1 import lobby_pb2
from cardarena.v1.lobby_pb2_grpc import LobbyServiceStub


@click.command(
    "list",
    epilog="""\b
Examples:
  arena bots list
  arena bots list --game klaberjass
  arena bots list --server https://arena.example:7654 --ca arena.crt
  arena bots list --json | jq -r '.bots[].bot'
""",
)
@click.option("--game", metavar="GAME", help="Only bots that play this game.")
@json_option
@server_options
def list_bots(*, game: str | None, as_json: bool, server: Server) -> None:
    """List the bots that are connected to an arena, by name."""
    with service_client(server, LobbyServiceStub) as lobby:
        games = lobby.call(lobby.stub.ListGames, lobby_pb2.ListGamesRequest()).games
        known = [known_game.game for known_game in games]
        if game and game not in known:
            raise click.ClickException(f"there is no game {game!r} there; {nearest(game, known)}")
        connected = [
            bot
            for bot in connected_bots(lobby)
            if not game or any(played.game == game for played in bot.games)
        ]
    if as_json:
        print_json(message_json(lobby_pb2.ListBotsResponse(bots=connected)))
        return
    if not connected:
        who = f"No bot that plays {game}" if game else "No bot"
        say(f"{who} is connected to {server.address}.")
        return
    rows = [
        (bot.bot, _plays(bot, known), f"{bot.matches} of {bot.max_matches}") for bot in connected
    ]
    print_table(("bot", "plays", "matches"), rows, wrapped=("plays",))


def _plays(bot: lobby_pb2.BotInfo, known: Sequence[str]) -> str:
    games = [played.game for played in bot.games]
    return "every game" if len(games) == len(known) else ", ".join(games) or "no game of this arena"


def connected_bots(lobby: ServiceClient[LobbyServiceStub]) -> list[lobby_pb2.BotInfo]:
    """Return the bots that are connected to an arena, by name."""
    return lobby.pages(lobby.stub.ListBots, lobby_pb2.ListBotsRequest(page_size=PAGE), "bots")
