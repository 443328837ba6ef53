"""`arena match create`: a match between connected bots, followed to its result."""

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Sequence

import click
import grpc

from arena.cli.arena_client import (
    POLL_S,
    NoAnswer,
    Server,
    ServiceClient,
    patiently,
    server_options,
    service_client,
)
from arena.cli.connected_bots import connected_bots
from arena.cli.options import (
    ChosenTerms,
    json_option,
    parse_options,
    print_json,
    terms_options,
)
from arena.cli.suggestions import nearest
from arena.cli.terminal.console import PlainConsole, print_table
from arena.cli.terminal.plain import Interrupted, program, say
from arena.records.phrases import count
from arena.referee.wire.message_json import message_json
from cardarena.v1 import game_pb2, lobby_pb2
from cardarena.v1.lobby_pb2_grpc import LobbyServiceStub

Lobby = ServiceClient[LobbyServiceStub]


@click.command(
    epilog="""\b
Examples:
  arena match create abstrac ann bob
  arena match create democracy ann bob cid -o hands=6 --move 2
  arena match create abstrac ann bob --server https://arena.example:7654 --ca arena.crt
  arena match create abstrac ann bob --json | jq .scores

\b
`arena bots list` lists connected bots. The exit code is 0 if the match has a result.
"""
)
@click.argument("game")
@click.argument("bots", nargs=-1, required=True, metavar="BOT...")
@terms_options
@click.option("--seed", help="Repeats the deals; without it they are fair.")
@click.option("--no-wait", is_flag=True, help="Print the match's id, and do not follow it.")
@json_option
@server_options
def create(
    *,
    game: str,
    bots: tuple[str, ...],
    chosen: ChosenTerms,
    seed: str | None,
    no_wait: bool,
    as_json: bool,
    server: Server,
) -> None:
    """Create a match of GAME between connected BOTs, named in seat order, and follow it.

    The arena keeps the replay in its data folder.
    """
    control = chosen.time_control
    terms = game_pb2.MatchTerms(
        game=game,
        seats=len(bots),
        # The arena converts each text to the type of its option.
        options=[
            game_pb2.Setting(name=name, text=str(value))
            for name, value in parse_options(chosen.options).items()
        ],
        time_control=game_pb2.TimeControl(
            move_ms=control.move_ms, bank_ms=control.bank_ms, increment_ms=control.increment_ms
        ),
    )
    with service_client(server, LobbyServiceStub) as lobby:
        made = _created(lobby, terms, bots, seed)
        if not no_wait:
            made = _followed(lobby, made, quiet=as_json)
    if as_json:
        print_json(message_json(made))
    elif no_wait:
        say(made.match_id)
    else:
        _print(made, server.address)
    if made.ending == game_pb2.Ending.ENDING_ABORTED:
        raise click.ClickException("the arena could not finish the match; its log says why")


def _created(
    lobby: Lobby, terms: game_pb2.MatchTerms, bots: Sequence[str], seed: str | None
) -> lobby_pb2.MatchInfo:
    """Create the match; an unknown game or bot is reported with the nearest known one."""
    request = lobby_pb2.CreateMatchRequest(
        terms=terms, bots=bots, seed=seed or "", request_id=secrets.token_hex(16)
    )
    try:
        return lobby.call(lobby.stub.CreateMatch, request).match
    except NoAnswer as error:
        if error.code is not grpc.StatusCode.NOT_FOUND:
            raise
        known = lobby.call(lobby.stub.ListGames, lobby_pb2.ListGamesRequest()).games
        games = [game.game for game in known]
        if terms.game not in games:
            text = f"there is no game {terms.game!r} there; {nearest(terms.game, games)}"
            raise click.ClickException(text) from None
        connected = [session.bot for session in connected_bots(lobby)]
        for bot in bots:
            if bot not in connected:
                text = f"no bot named {bot!r} is connected; {nearest(bot, connected)}"
                raise click.ClickException(text) from None
        raise


def follow(
    lobby: Lobby,
    match_id: str,
    *,
    now_s: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[lobby_pb2.MatchInfo]:
    """Poll a match until it has ended, also over a restart of the arena.

    Raises `NoAnswer` if a call fails, or the arena does not answer.
    """
    request = lobby_pb2.GetMatchRequest(match_id=match_id)
    while True:
        match = patiently(
            lambda: lobby.call(lobby.stub.GetMatch, request).match, now_s=now_s, sleep=sleep
        )
        yield match
        if match.status == lobby_pb2.MatchStatus.MATCH_STATUS_ENDED:
            return
        sleep(POLL_S)


def _followed(
    lobby: Lobby,
    made: lobby_pb2.MatchInfo,
    *,
    quiet: bool,
    sleep: Callable[[float], None] = time.sleep,
) -> lobby_pb2.MatchInfo:
    try:
        with _progress(made, quiet=quiet) as show:
            now = made
            for now in follow(lobby, made.match_id, sleep=sleep):
                show(now)
    except KeyboardInterrupt:
        text = f"stopped following match {made.match_id}, which continues"
        raise Interrupted(text) from None
    return now


@contextlib.contextmanager
def _progress(
    made: lobby_pb2.MatchInfo, *, quiet: bool
) -> Iterator[Callable[[lobby_pb2.MatchInfo], None]]:
    console = PlainConsole(stderr=True, quiet=quiet, highlight=False)
    console.print(f"Match {made.match_id} begins: {', '.join(made.bots)}.", markup=False)
    began_s = time.monotonic()
    with console.status("in play") as status:

        def show(now: lobby_pb2.MatchInfo) -> None:
            seconds = time.monotonic() - began_s
            status.update(f"in play for {seconds:.0f} s, {count(now.decisions, 'decision')}")

        yield show


def _print(match: lobby_pb2.MatchInfo, address: str) -> None:
    console = PlainConsole()
    if match.places:
        print_table(
            ("place", "bot", "seat", "score"),
            [
                (match.places[seat], match.bots[seat], seat, match.scores[seat])
                for seat in sorted(range(len(match.bots)), key=lambda seat: match.places[seat])
            ],
            wrapped=("bot",),
            title=match.game,
            framed=True,
            console=console,
        )
    if match.ending == game_pb2.Ending.ENDING_FORFEIT:
        say(
            "A bot with too many faults was played by fallback; on the arena's machine, "
            f"ask why: {program()} match why {match.match_id} BOT"
        )
    text = f"Watch it, on the arena's machine: {program()} replay show {match.match_id}"
    text += f"\nOn another machine, first: {program()} replay download {match.match_id} --server {address}"
    console.print(text, markup=False, soft_wrap=True)
