"""`arena play`: one match between bots given as commands, on this machine."""

import functools
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click
import trio
from rich.table import Table

from arena.cli import series
from arena.cli.arguments import (
    GameType,
    bot_commands,
    data_option,
    game_options,
    log_to,
    match_terms,
    plain_errors,
    time_control_of,
    timed,
)
from arena.cli.jail import jailed, level_of, walled
from arena.cli.series import Exceptions, Played, Record
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import say
from arena.cli.terminal.watcher import Watcher
from arena.games.catalogue import Game
from arena.jail import Demand, Level, Wall
from arena.referee import Ending, FaultKind, Outcome
from arena.replay.read import replay_path
from arena.replay.words import FAULT_WORDS
from arena.replay.words import count as count_of
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.gate.tokens import Tokens
from arena.server.host import ServerSettings, serve
from arena.server.orders import SCHEDULED, DealSetOrder
from arena.server.tournaments.launcher import Launcher
from arena.terms import MAX_TIME_MS, MatchTerms, TimeControl


@click.command(
    epilog="""\b
Examples:
  arena play abstrac sample_bots/abstrac.py sample_bots/random_bot.py
  arena play democracy me=./my_bot "python3 sample_bots/random_bot.py" -o hands=4
  arena play abstrac bot.py bot.py --watch
  arena play abstrac bot.py bot.py --seed 7 --json
  arena play abstrac bot.py sample_bots/abstrac.py --games 20
  arena play abstrac bot.py sample_bots/abstrac.py --debug   # with breakpoint() in bot.py

\b
Exit codes:
  0  played to the end        2  called wrongly
  1  could not be played      3  played, and a bot's own code raised an exception
"""
)
@click.argument("game", type=GameType())
@click.argument("bots", nargs=-1, required=True, metavar="[NAME=]COMMAND...")
@game_options
@timed
@click.option("--seed", default="", help="Repeat the same deals; without it they are drawn afresh.")
@click.option(
    "--watch", is_flag=True, help="Draw the match as it is played, as a spectator sees it."
)
@click.option(
    "--games",
    "count",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="Play N games one after the other, the seats turning, and sum them up.",
)
@click.option(
    "--debug",
    is_flag=True,
    help="Give the first bot this terminal, as breakpoint() needs it, and every move a day.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@jailed
@data_option
def play(
    *,
    game: Game,
    bots: tuple[str, ...],
    options: tuple[str, ...],
    move: float,
    bank: float,
    increment: float,
    seed: str,
    watch: bool,
    count: int,
    debug: bool,
    as_json: bool,
    demand: str,
    read_only: tuple[Path, ...],
    data: Path,
) -> None:
    """Play a match of GAME between bots, each given as a command, in seat order.

    Bots are launched here, behind a wall where this machine can build one, and
    dial in like any other. The replay stays in the data folder.
    """
    if watch + as_json + debug > 1:
        raise click.UsageError("choose one of --watch, --json and --debug")
    commands = bot_commands(bots)
    control = time_control_of(move, bank, increment)
    if debug:
        control = TimeControl(move_ms=MAX_TIME_MS, bank_ms=0)
    with plain_errors():
        terms = match_terms(game, options, len(commands), control, seeded=bool(seed))
    players = tuple(BotId(command.name) for command in commands)
    orders = _orders(terms, players, seed, count)
    exceptions = Exceptions()

    async def main(wall: Wall | None, arena: Arena) -> list[Played]:
        games = []
        async with trio.open_nursery() as nursery:
            launcher = Launcher(
                arena,
                commands,
                data / "bots" / orders[0].deal_set,
                nursery,
                wall=wall,
                terminal=commands[0].name if debug else "",
                heard=exceptions.heard,
            )
            await launcher.require(players)
            for order in orders:
                exceptions.match_id = order.deal_set
                await launcher.ensure(players)  # one that died in the last game comes again
                if watch:
                    arena.matches.watch(order.deal_set, Watcher(PlainConsole()))
                match = arena.matches.order(order, order.deal_set, SCHEDULED)
                await match.outcome()
                assert match.played is not None
                games.append(Played(tuple(bot.name for bot in order.tables[0].bots), match.played))
                if match.played.ending is Ending.ABORTED:
                    break
            await launcher.send_home()
            nursery.cancel_scope.cancel()
        return games

    log_to(data)
    if debug:
        _say_of_terminal(demand, commands[0].name)
    with plain_errors(), walled(demand, data, read_only, commands) as wall:
        level = level_of(wall)
        settings = ServerSettings(data, play_socket=level != Level.S0, jail=level)
        games = serve(settings, Tokens(), functools.partial(main, wall))
    if games is None:
        raise click.ClickException("stopped before the match had ended")
    told = _Told(terms, data / "replays", games, exceptions, level)
    told.tell(one=count == 1, as_json=as_json)
    if games[-1].outcome.ending is Ending.ABORTED:
        log = data / "arena.log"
        raise click.ClickException(f"the arena could not finish the match; {log} says why")
    if exceptions:
        raise SystemExit(EXIT_EXCEPTION)


def _say_of_terminal(demand: str, name: str) -> None:
    """Say what is otherwise for the bot that has the terminal."""
    if demand == Demand.REQUIRE:
        raise click.UsageError("--debug gives a bot this terminal, which no jail has")
    text = f"{name} has this terminal, runs unjailed, and has a day for every move."
    click.echo(text, err=True)


EXIT_EXCEPTION: Final = 3
"""The match was played to its end, and a bot's own code raised an exception."""


def _orders(
    terms: MatchTerms, players: tuple[BotId, ...], seed: str, count: int
) -> list[DealSetOrder]:
    """Games whose seats turn; the first one is as it would be alone."""
    orders = []
    for at in range(count):
        turn = at % len(players)
        seated = players[turn:] + players[:turn]
        orders.append(
            DealSetOrder.of_match(terms, seated, seed=f"{seed}/{at}" if seed and at else seed)
        )
    return orders


class _Told:
    """What there is to tell of the games, in words and for programs."""

    def __init__(
        self,
        terms: MatchTerms,
        replays: Path,
        games: Sequence[Played],
        exceptions: Exceptions,
        level: str,
    ) -> None:
        self._game = terms.game
        self._fault_limit = terms.fault_limit
        self._replays = replays
        self._games = games
        self._exceptions = exceptions
        self._level = level

    def path(self, played: Played) -> Path:
        """The replay of a game."""
        return replay_path(self._replays, played.outcome.match_id)

    def tell(self, *, one: bool, as_json: bool) -> None:
        """Print it all."""
        if as_json:
            click.echo(json.dumps(self.as_json(one=one), indent=2))
        else:
            self.print(one=one)

    def as_json(self, *, one: bool) -> dict[str, Any]:
        """One game as its result, several with what they come to."""
        each = [
            _as_json(self._game, list(game.names), game.outcome, self.path(game))
            for game in self._games
        ]
        raised = {"exceptions": self._exceptions.as_json(), "jail": self._level}
        if one:
            return each[0] | raised
        return {
            "game": self._game.id,
            "summary": [series.as_json(record) for record in self._records()],
            "games": each,
        } | raised

    def print(self, *, one: bool) -> None:
        """The table of one game and its faults, or of what all of them come to."""
        game, records = self._games[-1], self._records()
        if one:
            _print(self._game, game, self.path(game), self._fault_limit)
        elif records:
            title = f"{self._game.title}, {count_of(len(series.complete(self._games)), 'game')}"
            PlainConsole().print(series.table(records, title))
        for line in self._exceptions.in_all():
            say(line)
        if self._exceptions.first is not None:
            match_id, bot = self._exceptions.first
            path = replay_path(self._replays, match_id)
            say(f"At which moves, and from where: arena why {path} {shlex.quote(bot)}")

    def _records(self) -> list[Record]:
        games = series.complete(self._games)
        return [Record.of(name, games) for name in self._games[0].names] if games else []


def _as_json(game: Game, names: list[str], outcome: Outcome, path: Path) -> dict[str, Any]:
    return {
        "match": outcome.match_id,
        "game": game.id,
        "bots": names,
        "ending": outcome.ending.name.lower(),
        "scores": list(outcome.scores),
        "places": list(outcome.places),
        "forfeited": [seat.forfeited for seat in outcome.conduct],
        "hand_scores": [list(scores) for scores in outcome.hand_scores],
        "faults": [
            {
                "bot": names[fault.seat],
                "seat": fault.seat,
                "kind": fault.kind.name.lower(),
                "decision": fault.decision,
                "reason": fault.reason,
            }
            for fault in outcome.faults
        ],
        "replay": str(path),
    }


def _print(game: Game, played: Played, path: Path, fault_limit: int) -> None:
    console, names, outcome = PlainConsole(), played.names, played.outcome
    if outcome.ending is Ending.ABORTED:
        return
    table = Table("place", "bot", "seat", "score", "faults", title=game.title)
    left = any(seat.forfeited for seat in outcome.conduct)
    if left:
        table.add_column("")
    rows = sorted(range(len(names)), key=lambda seat: outcome.places[seat])
    for seat in rows:
        faults = sum(fault.seat == seat for fault in outcome.faults)
        table.add_row(
            str(outcome.places[seat]),
            names[seat],
            str(seat),
            str(outcome.scores[seat]),
            str(faults) if faults else "",
            *(["forfeited" if outcome.conduct[seat].forfeited else ""] if left else []),
        )
    console.print(table)
    for seat in rows:
        if outcome.conduct[seat].forfeited:
            text = _why_forfeited(outcome, seat, fault_limit)
            console.print(f"{names[seat]} forfeited {text}", markup=False, soft_wrap=True)
    for fault in outcome.faults[:5]:
        kind = fault.kind.name.lower()
        bot = names[fault.seat]
        console.print(f"{bot}, decision {fault.decision}: {kind}: {fault.reason}", markup=False)
    if len(outcome.faults) > 5:
        console.print(f"… and {len(outcome.faults) - 5} more faults")
    if outcome.faults:
        bot = shlex.quote(names[outcome.faults[0].seat])
        console.print(f"Ask why: arena why {path} {bot}", markup=False, soft_wrap=True)
    console.print(f"Watch it: arena replay show {path}", markup=False, soft_wrap=True)


def _why_forfeited(outcome: Outcome, seat: int, fault_limit: int) -> str:
    """Where and why a bot forfeited, to follow its name, and what came of it."""
    last = [fault for fault in outcome.faults if fault.seat == seat][-1]
    why = last.reason or FAULT_WORDS[last.kind]
    if last.kind is not FaultKind.GONE and last.decision >= fault_limit:
        why = f"fault number {fault_limit}, which is the limit"
    return (
        f"at its decision {last.decision} ({why}): the fallback played its seat to the end, "
        "and it is placed behind all that stayed."
    )
