"""`arena match`: a match between bots that have dialled in, made and followed."""

import contextlib
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

import click
import grpc
from rich.table import Table
from rich.text import Text

from arena.cli.arguments import game_options, parse_options, time_control_of, timed
from arena.cli.lobby import Lobby, NoLobby, Server, lobby_of, server_options
from arena.cli.near import nearest
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import plain, say
from arena.replay.words import count
from cardarena.v1 import game_pb2, lobby_pb2


@click.command(
    epilog="""\b
Examples:
  arena match abstrac ann bob
  arena match democracy ann bob cid -o hands=6 --move 2
  arena match abstrac ann bob --server https://arena.example:7654 --ca arena.crt
  arena match abstrac ann bob --json | jq .scores

\b
`arena bots` lists who is there. The exit code is 0 if the match came to a result.
"""
)
@click.argument("game")
@click.argument("bots", nargs=-1, required=True, metavar="BOT...")
@game_options
@timed
@click.option("--seed", default="", help="Repeat the same deals; without it they are fair.")
@click.option("--no-wait", is_flag=True, help="Print the match's id, and do not follow it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@server_options
def match(
    *,
    game: str,
    bots: tuple[str, ...],
    options: tuple[str, ...],
    move: float,
    bank: float,
    increment: float,
    seed: str,
    no_wait: bool,
    as_json: bool,
    server: Server,
) -> None:
    """Make a match of GAME between connected BOTs, named in seat order, and follow it.

    The bots have dialled in to the arena, from wherever they run. The replay
    stays in the arena's data folder.
    """
    control = time_control_of(move, bank, increment)
    terms = game_pb2.MatchTerms(
        game=game,
        seats=len(bots),
        # Text is read by the arena as each option wants it.
        options=[
            game_pb2.Setting(name=name, text=str(value))
            for name, value in parse_options(options).items()
        ],
        time_control=game_pb2.TimeControl(
            move_ms=control.move_ms, bank_ms=control.bank_ms, increment_ms=control.increment_ms
        ),
    )
    with lobby_of(server) as lobby:
        made = _made(lobby, terms, bots, seed)
        if not no_wait:
            made = _followed(lobby, made, quiet=as_json)
    if as_json:
        click.echo(json.dumps(_as_json(made), indent=2))
    elif no_wait:
        say(made.match_id)
    else:
        _print(made)
    if made.ending == game_pb2.Ending.ENDING_ABORTED:
        raise click.ClickException("the arena could not finish the match; its log says why")


def _made(
    lobby: Lobby, terms: game_pb2.MatchTerms, bots: Sequence[str], seed: str
) -> lobby_pb2.MatchInfo:
    """The match, or a sentence that says who or what is near to what was asked for."""
    try:
        return lobby.make(terms, bots, seed)
    except NoLobby as error:
        if error.code is not grpc.StatusCode.NOT_FOUND:
            raise
        games = [each.game for each in lobby.games()]
        if terms.game not in games:
            text = f"there is no game {terms.game!r} there; {nearest(terms.game, games)}"
            raise click.ClickException(text) from None
        here = [each.bot for each in lobby.bots()]
        for bot in bots:
            if bot not in here:
                text = f"no bot named {bot!r} is connected; {nearest(bot, here)}"
                raise click.ClickException(text) from None
        raise


def _followed(lobby: Lobby, made: lobby_pb2.MatchInfo, *, quiet: bool) -> lobby_pb2.MatchInfo:
    """The match at its end, its progress told on standard error."""
    try:
        with _progress(made, quiet=quiet) as tell:
            now = made
            for now in lobby.follow(made.match_id):
                tell(now)
    except KeyboardInterrupt:
        text = f"match {made.match_id} goes on without you; stopped following it"
        raise click.ClickException(text) from None
    return now


@contextlib.contextmanager
def _progress(made: lobby_pb2.MatchInfo, *, quiet: bool) -> Iterator[Any]:
    console = PlainConsole(stderr=True, quiet=quiet, highlight=False)
    console.print(f"Match {made.match_id} begins: {', '.join(made.bots)}.", markup=False)
    began_s = time.monotonic()
    with console.status("in play") as status:

        def tell(now: lobby_pb2.MatchInfo) -> None:
            seconds = time.monotonic() - began_s
            status.update(f"in play for {seconds:.0f} s, {count(now.decisions, 'decision')}")

        yield tell


def _print(match: lobby_pb2.MatchInfo) -> None:
    console = PlainConsole()
    if match.places:
        table = Table("place", "bot", "seat", "score", title=match.game)
        for seat in sorted(range(len(match.bots)), key=lambda seat: match.places[seat]):
            name = Text(plain(match.bots[seat]))
            table.add_row(str(match.places[seat]), name, str(seat), str(match.scores[seat]))
        console.print(table)
    if match.ending == game_pb2.Ending.ENDING_FORFEIT:
        say(
            "A bot with too many faults was played by fallback; where the arena's data are, "
            f"ask why: arena why {match.match_id} BOT"
        )
    where = f"arena replay show {match.match_id}"
    console.print(f"Watch it, where the arena's data are: {where}", markup=False, soft_wrap=True)


def _as_json(match: lobby_pb2.MatchInfo) -> dict[str, Any]:
    return {
        "match": match.match_id,
        "game": match.game,
        "bots": list(match.bots),
        "ended": match.status == lobby_pb2.MatchStatus.MATCH_STATUS_ENDED,
        "ending": game_pb2.Ending.Name(match.ending).removeprefix("ENDING_").lower()
        if match.ending
        else None,
        "scores": list(match.scores),
        "places": list(match.places),
        "decisions": match.decisions,
    }
