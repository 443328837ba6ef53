"""`arena match list`: the matches that have ended, with their results and replays."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import click
from rich.console import Console

from arena.cli.arena_client import PAGE, ServiceClient
from arena.cli.competition_client import CompetitionClient, read_options
from arena.cli.lookup import meant
from arena.cli.options import GameType, json_option, print_json
from arena.cli.suggestions import nearest
from arena.cli.terminal.console import PlainConsole, print_table
from arena.cli.terminal.plain import program
from arena.games.game import Game
from arena.records.phrases import count
from arena.referee.wire.enums import enum_number, enum_word, word_of
from arena.referee.wire.message_json import message_json
from cardarena.v1 import game_pb2, lobby_pb2
from cardarena.v1.lobby_pb2_grpc import LobbyServiceStub

Lobby = ServiceClient[LobbyServiceStub]
ENDINGS: Final = tuple(
    enum_word(game_pb2.Ending, number) for number in game_pb2.Ending.values()[1:]
)
_UNBROKEN: Final = 10_000
"""The width of lines that are not written to a terminal, in characters."""


@click.command(
    "list",
    epilog="""\b
Examples:
  arena match list
  arena match list --bot my_bot --game klaberjass --faulted
  arena match list --competition autumn --ending forfeit --limit 500
  arena match list --published --json | jq -r '.matches[].match_id'
""",
)
@click.option("--game", type=GameType(), help="Only this game.")
@click.option(
    "--bot", "bots", multiple=True, metavar="NAME", help="Only with this bot; repeatable."
)
@click.option("--competition", metavar="NAME", help="Only of this competition.")
@click.option("--ending", type=click.Choice(ENDINGS), help="Only with this ending.")
@click.option("--faulted", is_flag=True, help="Only with a fault of some bot.")
@click.option("--published", is_flag=True, help="Only with a published replay.")
@click.option("--limit", default=20, type=click.IntRange(1, 500), help="Matches shown.")
@json_option
@read_options
def list_matches(
    *,
    game: Game | None,
    bots: tuple[str, ...],
    competition: str | None,
    ending: str | None,
    faulted: bool,
    published: bool,
    limit: int,
    as_json: bool,
    client: CompetitionClient,
) -> None:
    """List matches that have ended, newest first, and which of them have a replay.

    `arena replay show MATCH` shows a replay. Replays of a competition are published when their
    deal-set is complete.
    """
    lobby = client.of(LobbyServiceStub)
    if competition:
        client.show(competition)  # an error suggests the nearest name
    wanted = lobby_pb2.MatchFilter(
        game=game.id if game else "",
        bots=_played(bots, lobby),
        competition=competition or "",
        ending=enum_number(game_pb2.Ending, ending or ""),
        faulted=faulted,
        published=published,
    )
    listed = _found(wanted, limit, lobby)
    if as_json:
        print_json(message_json(listed))
        return
    if not listed.matches:
        is_all = wanted == lobby_pb2.MatchFilter()
        click.echo("No match has ended yet." if is_all else "No match fits.")
        return
    console = PlainConsole()
    if not console.is_terminal:
        console.width = _UNBROKEN  # one match a line, for grep
    _print(listed.matches, console)
    if listed.next_page_token:
        click.echo(f"There are more; --limit shows up to 500, and {limit} are shown.")
    if any(match.published for match in listed.matches):
        verb = "show" if client.data else "download"
        words = f"Watch one: {program()} replay {verb} MATCH{client.option}"
        console.print(words, markup=False, soft_wrap=True, highlight=False)


def _found(
    wanted: lobby_pb2.MatchFilter, limit: int, lobby: Lobby
) -> lobby_pb2.ListMatchesResponse:
    """Return at most this many matches, from as many pages as are needed, and the token of the rest."""
    listed = lobby_pb2.ListMatchesResponse()
    while True:
        request = lobby_pb2.ListMatchesRequest(
            ended=wanted,
            page_size=min(limit - len(listed.matches), PAGE),
            page_token=listed.next_page_token,
        )
        page = lobby.call(lobby.stub.ListMatches, request)
        listed.matches.extend(page.matches)
        listed.next_page_token = page.next_page_token
        if not page.next_page_token or len(listed.matches) >= limit:
            return listed


def _played(bots: Sequence[str], lobby: Lobby) -> Sequence[str]:
    """Return the names of bots that have played, from typed names.

    Raises `click.ClickException` if there is no such bot.
    """
    if not bots:
        return ()
    request = lobby_pb2.ListPlayedBotsRequest(page_size=PAGE)
    known = lobby.pages(lobby.stub.ListPlayedBots, request, "bots")
    named = []
    for bot in bots:
        names = meant(bot, known)
        if len(names) > 1:
            raise click.ClickException(f"{bot!r} may be {' or '.join(names)}: give the name")
        if not names:
            raise click.ClickException(f"no bot named {bot!r} has played; {nearest(bot, known)}")
        named += names
    return named


def _print(matches: Sequence[lobby_pb2.MatchInfo], console: Console) -> None:
    of_competitions = any(match.competition for match in matches)
    optional = ["competition"] if of_competitions else []
    wrapped = ("bots and scores", "ending", "replay", *optional)
    rows = []
    for match in matches:
        faults = sum(kind.count for counted in match.faults for kind in counted.counts)
        ending = word_of(match, "ending")
        ending += f", {count(faults, 'fault')}" if faults else ""
        when = datetime.fromtimestamp(match.ended_unix_ms / 1000, UTC)
        ended = f"{when:%Y-%m-%d %H:%M:%S}" if match.ended_unix_ms else ""
        replay = "yes" if match.published else "no"
        cells = [ended, match.match_id, match.game, _bots_and_scores(match), ending, replay]
        rows.append([*cells, match.competition] if of_competitions else cells)
    heads = ("ended (UTC)", "match", "game", *wrapped)
    print_table(heads, rows, wrapped=wrapped, console=console)


def _bots_and_scores(match: lobby_pb2.MatchInfo) -> str:
    if not match.scores:
        return ", ".join(match.bots)
    scored = zip(match.bots, match.scores, strict=True)
    return ", ".join(f"{bot} {score:+g}" for bot, score in scored)
