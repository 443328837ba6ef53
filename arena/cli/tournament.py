"""`arena tournament`: a round robin of complete deal-sets between launched bots."""

import contextlib
import json
import secrets
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from arena.cli import standings as show
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
from arena.cli.jail import jailed, walled
from arena.cli.terminal.console import PlainConsole
from arena.games.catalogue import Game
from arena.jail import Wall
from arena.ladder.head_to_head import Records, records
from arena.ladder.standings import Standings, standings
from arena.ladder.tournament import Progress
from arena.server.tournaments.tournament import (
    DEFAULT_MAX_MATCHES,
    OnProgress,
    Played,
    Stopped,
    TournamentPlan,
    held_settings,
    play_tournaments,
)
from arena.store import EntrantsChanged

DEFAULT_DEAL_SETS = 20


@click.command(
    epilog="""\b
Examples:
  arena tournament abstrac sample_bots/abstrac.py sample_bots/random_bot.py
  arena tournament democracy a=./a b=./b c=./c --seats 3 --deal-sets 50 --seed 7
  arena tournament abstrac bot.py other.py --json
  arena tournament abstrac bot.py other.py --csv > abstrac.csv

\b
Stopped by Ctrl-C, or killed, it goes on where it stood when the same command
is run again; the results are in DATA/arena.db. `arena standings` shows them
without playing.
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
@click.option(
    "--accept-changed",
    is_flag=True,
    help="Go on although a bot's file has changed since it began.",
)
@game_options
@timed
@click.option("--json", "as_json", is_flag=True, help="Print the standings as one JSON object.")
@click.option(
    "--csv", "as_csv", is_flag=True, help="Print the standings as comma-separated values."
)
@jailed
@data_option
def tournament(
    *,
    game: Game,
    bots: tuple[str, ...],
    name: str | None,
    seats: int | None,
    deal_sets: int,
    seed: str | None,
    max_matches: int,
    accept_changed: bool,
    options: tuple[str, ...],
    move: float,
    bank: float,
    increment: float,
    as_json: bool,
    as_csv: bool,
    demand: str,
    read_only: tuple[Path, ...],
    data: Path,
) -> None:
    """Play a round robin of GAME between bots, each given as a command.

    Every group of bots plays the same boards at as many tables as there are
    seats, once in every seat, so that the luck of the deal cancels.
    """
    if as_json and as_csv:
        raise click.UsageError("choose one of --json and --csv")
    name = name or game.id
    log_to(data)
    with plain_errors():
        begun = held_settings(data, name)
        plan = TournamentPlan(
            name=name,
            terms=match_terms(
                game,
                options,
                seats or game.seats[0],
                time_control_of(move, bank, increment),
                seeded=begun.terms["seeded"] if begun else seed is not None,
            ),
            commands=bot_commands(bots),
            deal_sets=deal_sets,
            seed=seed or (begun.seed if begun else secrets.token_hex(8)),
            max_matches=max_matches,
        )
        with walled(demand, data, read_only, plan.commands) as wall:
            quiet = as_json or as_csv
            played = _run(plan, data, quiet=quiet, accept_changed=accept_changed, wall=wall)
    report = played.report
    told = Told(
        name=name,
        game=game.id,
        title=game.title,
        seats=plan.terms.seats,
        seed=plan.seed,
        fair=not plan.terms.seeded,
        standings=played.standings,
        records=records(plan.schedule, report.outcomes),
    )
    if as_json:
        click.echo(json.dumps(told.as_json(), indent=2))
    elif as_csv:
        click.echo(show.as_csv(told.standings, told.records), nl=False)
    else:
        told.print(PlainConsole())
        click.echo(f"Replays: {data / 'replays'}")
    if report.incomplete:
        count = len(report.incomplete)
        raise click.ClickException(f"the arena could not complete {count} deal-sets; run it again")


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of a tournament, played just now or long ago."""

    name: str
    game: str
    title: str
    """The game's, for people."""
    seats: int
    seed: str
    fair: bool
    standings: Standings
    records: Records

    def as_json(self) -> dict[str, Any]:
        """All of it, for a program."""
        about = {
            "tournament": self.name,
            "game": self.game,
            "seats": self.seats,
            "seed": None if self.fair else self.seed,
            "fair_deals": self.fair,
        }
        return about | show.as_json(self.standings, self.records)

    def print(self, console: PlainConsole) -> None:
        """The table, for people, and who won against whom."""
        title = f"{self.title}, {self.seats} seats"
        console.print(show.table(self.standings, title, records=self.records))
        if 2 < len(self.standings.rows) <= show.MOST_SIDE_BY_SIDE:
            console.print(show.head_to_head(self.standings, self.records))
        elif len(self.standings.rows) > show.MOST_SIDE_BY_SIDE:
            pairs = f"arena standings {shlex.quote(self.name)} --head-to-head --csv"
            console.print(f"Each two bots: {pairs}", soft_wrap=True, highlight=False)
        # Of fair deals it is secret: the ids of matches follow from it, if the tournament goes on.
        deals = "Fair deals." if self.fair else f"Seed {self.seed}."
        console.print(deals, soft_wrap=True)


def _run(
    plan: TournamentPlan, data: Path, *, quiet: bool, accept_changed: bool, wall: Wall | None
) -> Played:
    """Play a tournament with a progress bar; stopped, it says how to go on."""
    try:
        with progress_bars([plan], quiet=quiet) as on_progress:
            (played,) = play_tournaments(
                [plan],
                data,
                bots=data / "bots" / plan.name,
                on_progress=on_progress,
                accept_changed=accept_changed,
                wall=wall,
            )
    except EntrantsChanged as changed:
        text = f"{changed}; give --name for a new one, or --accept-changed to go on with this one"
        raise click.ClickException(text) from None
    except Stopped as stopped:
        done = stopped.so_far[plan.name]
        if done and not quiet:
            PlainConsole().print(show.table(standings(plan.schedule, done), "So far"))
        text = f"stopped after {len(done)} matches; run the same command to go on"
        raise click.ClickException(text) from None
    return played


@contextlib.contextmanager
def progress_bars(plans: Sequence[TournamentPlan], *, quiet: bool) -> Iterator[OnProgress]:
    """A bar on standard error for each tournament, which counts its matches."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("matches"),
        TimeRemainingColumn(),
    )
    width = max(len(plan.game.title) for plan in plans)
    with RichProgress(*columns, console=PlainConsole(stderr=True, quiet=quiet)) as bars:
        tasks = {
            plan.name: bars.add_task(f"{plan.game.title:{width}}", total=None) for plan in plans
        }

        def on_progress(plan: TournamentPlan, progress: Progress) -> None:
            bars.update(tasks[plan.name], total=progress.matches, completed=progress.played)

        yield on_progress
