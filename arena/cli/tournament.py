"""`arena tournament`: a round robin of complete deal-sets between launched bots."""

import contextlib
import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click
import trio
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from arena.cli import standings as show
from arena.cli.arguments import (
    GameType,
    bot_commands,
    data_option,
    game_options,
    log_to,
    parse_options,
    plain_errors,
    time_control_of,
    timed,
)
from arena.games.catalogue import Game
from arena.ladder.standings import Standings, standings
from arena.ladder.tournament import Progress as Played
from arena.ladder.tournament import Report
from arena.server.arena import Arena
from arena.server.gate.tokens import Tokens
from arena.server.host import ServerSettings, serve
from arena.server.tournaments.launcher import Launcher
from arena.server.tournaments.tournament import (
    DEFAULT_MAX_MATCHES,
    TournamentPlan,
    open_tournament,
    play,
    publish_left_over,
)
from arena.store import Settings, open_store

DEFAULT_DEAL_SETS = 20


@click.command(
    epilog="""\b
Examples:
  arena tournament abstrac sample_bots/abstrac.py sample_bots/random_bot.py
  arena tournament democracy a=./a b=./b c=./c --seats 3 --deal-sets 50 --seed 7
  arena tournament abstrac bot.py other.py --json

\b
Stopped by Ctrl-C, or killed, it goes on where it stood when the same command
is run again; the results are in DATA/arena.db.
"""
)
@click.argument("game", type=GameType())
@click.argument("bots", nargs=-1, required=True, metavar="[NAME=]COMMAND...")
@click.option("--name", help="Names the tournament in the data folder.  [default: the game's id]")
@click.option("--seats", type=int, help="Seats at a table.  [default: the fewest the game has]")
@click.option(
    "--deal-sets",
    default=DEFAULT_DEAL_SETS,
    show_default=True,
    type=click.IntRange(1),
    help="Deal-sets for every group of bots at a table.",
)
@click.option(
    "--seed",
    help="Makes deals and seating repeatable.  [default: fair deals, which anyone can verify]",
)
@click.option(
    "--max-matches",
    default=DEFAULT_MAX_MATCHES,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Matches played at a time.",
)
@game_options
@timed
@click.option("--json", "as_json", is_flag=True, help="Print the standings as one JSON object.")
@data_option
def tournament(
    game: Game,
    bots: tuple[str, ...],
    name: str | None,
    seats: int | None,
    deal_sets: int,
    seed: str | None,
    max_matches: int,
    options: tuple[str, ...],
    move: float,
    bank: float,
    increment: float,
    as_json: bool,
    data: Path,
) -> None:
    """Play a round robin of GAME between bots, each given as a command.

    Every group of bots plays the same boards at as many tables as there are
    seats, once in every seat, so that the luck of the deal cancels.
    """
    name = name or game.id
    log_to(data)
    with plain_errors():
        begun = held_settings(data, name)
        plan = TournamentPlan(
            name=name,
            game=game,
            commands=bot_commands(bots),
            seats=seats or game.seats[0],
            deal_sets=deal_sets,
            seed=seed or (begun.seed if begun else secrets.token_hex(8)),
            fair=begun.fair if begun else seed is None,
            options=parse_options(options),
            time_control=time_control_of(move, bank, increment),
            max_matches=max_matches,
        )
        game.options(plan.options, plan.seats)
        ranked, report = run(plan, data, quiet=as_json)
    if as_json:
        result = {
            "tournament": name,
            "game": game.id,
            "seats": plan.seats,
            "seed": plan.seed,
            "fair_deals": plan.fair,
        }
        click.echo(json.dumps(result | show.as_json(ranked), indent=2))
    else:
        console = Console()
        console.print(show.table(ranked, f"{game.title}, {plan.seats} seats"))
        deals = f"Fair deals; seating by seed {plan.seed}." if plan.fair else f"Seed {plan.seed}."
        console.print(f"{deals} Replays: {data / 'replays'}", soft_wrap=True)
    if report.incomplete:
        count = len(report.incomplete)
        raise click.ClickException(f"the arena could not complete {count} deal-sets; run it again")


def run(plan: TournamentPlan, data: Path, *, quiet: bool) -> tuple[Standings, Report]:
    """Play a tournament with a progress bar; stopped, it says how to go on."""
    held = open_tournament(plan, data)

    with progress_bar(plan.game.title, quiet=quiet) as on_progress:

        async def main(arena: Arena) -> tuple[Standings, Report]:
            async with trio.open_nursery() as nursery:
                crew = Launcher(arena, plan.commands, data / "bots" / plan.name, nursery)
                ranked, report = await play(plan, held, arena, crew, on_progress)
                await crew.dismiss()
                nursery.cancel_scope.cancel()
            await publish_left_over(plan.schedule, report, arena)
            return ranked, report

        with contextlib.suppress(KeyboardInterrupt):
            found = serve(ServerSettings(data, sheds=True), Tokens(), main)
            if found is not None:
                return found
        done = held.outcomes()
        text = f"stopped after {len(done)} matches; run the same command to go on"
        if done and not quiet:
            Console().print(show.table(standings(plan.schedule, done), "So far"))
        raise click.ClickException(text)


@contextlib.contextmanager
def progress_bar(title: str, *, quiet: bool) -> Iterator[Callable[[Played], None]]:
    """A bar on standard error that counts matches."""
    with progress_bars((title,), quiet=quiet) as bars:
        yield bars[0]


@contextlib.contextmanager
def progress_bars(
    titles: Sequence[str], *, quiet: bool
) -> Iterator[Sequence[Callable[[Played], None]]]:
    """A bar for each tournament that is played at the same time."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("matches"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True, quiet=quiet)
    with Progress(*columns, console=console) as progress:
        yield [_bar(progress, title) for title in titles]


def _bar(progress: Progress, title: str) -> Callable[[Played], None]:
    task = progress.add_task(title, total=None)

    def on_progress(played: Played) -> None:
        progress.update(task, total=played.matches, completed=played.played)

    return on_progress


def held_settings(data: Path, name: str) -> Settings | None:
    """The settings of a tournament that the folder holds already, so that it goes on."""
    if not (data / "arena.db").exists():
        return None
    with open_store(data / "arena.db") as store:
        for each in store.tournaments():
            if each.name == name:
                return each
    return None
