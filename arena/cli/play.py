"""`arena play`: one match between bots given as commands, on this machine."""

import json
import shlex
from pathlib import Path
from typing import Any

import click
import trio
from rich.console import Console
from rich.table import Table

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
from arena.cli.terminal.watcher import Watcher
from arena.games.catalogue import Game
from arena.referee import Ending, FaultKind, Outcome
from arena.replay.words import FAULT_WORDS
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.gate.tokens import Tokens
from arena.server.host import ServerSettings, serve
from arena.server.orders import SCHEDULED, DealSetOrder
from arena.server.tournaments.launcher import Launcher


@click.command(
    epilog="""\b
Examples:
  arena play abstrac sample_bots/abstrac.py sample_bots/random_bot.py
  arena play democracy me=./my_bot "python3 sample_bots/random_bot.py" -o hands=4
  arena play abstrac bot.py bot.py --watch
  arena play abstrac bot.py bot.py --seed 7 --json
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
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
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
    as_json: bool,
    data: Path,
) -> None:
    """Play one match of GAME between bots, each given as a command, in seat order.

    Bots are launched here and dial in like any other. The replay stays in the
    data folder.
    """
    if watch and as_json:
        raise click.UsageError("choose one of --watch and --json")
    commands = bot_commands(bots)
    control = time_control_of(move, bank, increment)
    with plain_errors():
        terms = match_terms(game, options, len(commands), control, seeded=bool(seed))
    players = tuple(BotId(command.name) for command in commands)
    order = DealSetOrder.of_match(terms, players, seed=seed)
    match_id = order.deal_set
    names = [command.name for command in commands]

    async def main(arena: Arena) -> Outcome:
        async with trio.open_nursery() as nursery:
            launcher = Launcher(arena, commands, data / "bots" / match_id, nursery)
            await launcher.require(players)
            if watch:
                arena.matches.watch(match_id, Watcher(Console()))
            match = arena.matches.order(order, match_id, SCHEDULED)
            await match.outcome()
            await launcher.send_home()
            nursery.cancel_scope.cancel()
        assert match.played is not None
        return match.played

    log_to(data)
    with plain_errors():
        outcome = serve(ServerSettings(data), Tokens(), main)
    if outcome is None:
        raise click.ClickException("stopped before the match had ended")
    path = data / "replays" / f"{match_id}.replay"
    if as_json:
        click.echo(json.dumps(_as_json(game, names, outcome, path), indent=2))
    else:
        _print(game, names, outcome, path, terms.fault_limit)
    if outcome.ending is Ending.ABORTED:
        log = data / "arena.log"
        raise click.ClickException(f"the arena could not finish the match; {log} says why")


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


def _print(game: Game, names: list[str], outcome: Outcome, path: Path, fault_limit: int) -> None:
    console = Console()
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
