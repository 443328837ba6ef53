"""`arena tournament`: a round robin between launched bots, as a competition of one command."""

from pathlib import Path
from typing import Final

import click

from arena.app.programs import MAX_MATCHES, round_robin_plan
from arena.cli.arena_client import NoAnswer
from arena.cli.competition_client import CompetitionClient
from arena.cli.competition_play import play_here, print_result
from arena.cli.options import (
    ChosenTerms,
    GameType,
    bot_commands,
    data_option,
    require_no_faults,
    start_option,
    strict_option,
    terms_options,
    time_odds_option,
    with_time_odds,
)
from arena.cli.sandbox_options import SandboxChoice, competition_sandbox_options
from arena.cli.services import local_services
from arena.games.game import Game
from arena.results.deal_sets import require_schedulable
from arena.sandbox.sandbox import SandboxDemand
from cardarena.v1 import competitions_pb2 as messages

DEFAULT_DEAL_SETS: Final = 20
_BEGINS: Final = {
    messages.COMPETITION_STATE_DRAFT: messages.COMPETITION_ACTION_START,
    messages.COMPETITION_STATE_PAUSED: messages.COMPETITION_ACTION_RESUME,
}
"""The action that starts play, by the state of the competition."""


@click.command(
    epilog="""\b
Examples:
  arena tournament abstrac sample_bots/abstrac.py sample_bots/random_bot.py
  arena tournament democracy a=./a b=./b c=./c --seats 3 --deal-sets 50 --seed 7
  arena tournament loo ./my-bot ./other --seed 7 --deal-sets 1000 --on dask:tls://10.0.0.5:8786
  arena tournament abstrac bot.py other.py --json
  arena tournament abstrac bot.py other.py --csv > abstrac.csv

\b
If the command is stopped or killed, run it again to continue. The tournament is a
competition like any other: `arena competition show` prints its standings later.
"""
)
@click.argument("game", type=GameType())
@click.argument("bots", nargs=-1, required=True, metavar="[NAME=]COMMAND...")
@click.option("--name", help="Name of the competition.  [default: the game's id]")
@click.option("--seats", type=int, help="Seats at a table.  [default: the fewest of the game]")
@click.option(
    "--deal-sets",
    default=DEFAULT_DEAL_SETS,
    type=click.IntRange(1),
    help="Deal-sets for each group of bots that meets at a table.",
)
@click.option(
    "--seed",
    help="Makes deals and seating repeatable.  [default: fair deals, which anyone can verify]",
)
@click.option(
    "--max-matches",
    default=MAX_MATCHES,
    type=click.IntRange(1, 256),
    help="Number of matches played at a time.",
)
@click.option(
    "--accept-changed",
    is_flag=True,
    help="Continue although a bot's file has changed since the start.",
)
@start_option
@click.option(
    "--on",
    "engine",
    metavar="ENGINE",
    help="Play on a cluster, with --seed: dask:tls://HOST:PORT, dask:local, ray:auto or ray:local.",
)
@terms_options
@time_odds_option
@strict_option
@click.option("--json", "as_json", is_flag=True, help="Print the standings as one JSON object.")
@click.option(
    "--csv", "as_csv", is_flag=True, help="Print the standings as comma-separated values."
)
@competition_sandbox_options
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
    engine: str | None,
    start_s: int | None,
    chosen: ChosenTerms,
    odds: tuple[str, ...],
    strict: bool,
    as_json: bool,
    as_csv: bool,
    confinement: SandboxChoice,
    data: Path,
) -> None:
    """Play a round robin of GAME between bots, each given as a command.

    Each group of bots plays the same boards at as many tables as there are seats, with each bot once
    in each seat, so that the luck of the deal cancels.
    """
    if as_json and as_csv:
        raise click.UsageError("choose one of --json and --csv")
    if engine and seed is None:
        raise click.UsageError(
            "--on needs --seed: for fair deals the bots and the arena would talk before each deal-set"
        )
    if engine and confinement.demand is SandboxDemand.OFF:
        raise click.UsageError(
            "--on and --sandbox off exclude each other: the bots travel as archives, which run in a sandbox alone"
        )
    name = name or game.id
    commands = bot_commands(bots, start_s)
    terms = chosen.of(game, seats, seeded=seed is not None)
    terms = with_time_odds(terms, odds, [command.name for command in commands])
    with local_services(data, CompetitionClient) as client:
        require_schedulable([command.name for command in commands], terms.seats, deal_sets)
        request = messages.CreateCompetitionRequest(
            config=round_robin_plan(name, terms, commands, deal_sets, seed),
            or_continue=True,
            accept_changed=accept_changed,
        )
        try:
            state = client.call("CreateCompetition", request).competition.state
        except NoAnswer as refused:
            if refused.reason != "BOTS_CHANGED":
                raise
            text = f"{refused.message}; give --name for a new one, or --accept-changed to continue this one"
            raise click.ClickException(text) from None
        if state in _BEGINS:
            client.control(name, _BEGINS[state])
        if state != messages.COMPETITION_STATE_FINISHED:
            play_here(
                client,
                [name],
                confinement,
                again="run the same command to continue",
                quiet=as_json or as_csv,
                max_matches=max_matches,
                engine=engine or "",
            )
        standings = client.standings(name)
    print_result(standings, as_json=as_json, as_csv=as_csv)
    if not (as_json or as_csv):
        click.echo(f"Replays: {data / 'replays'}")
    rows = (row for played in standings["games"] for row in played["rows"])
    faults = {row["bot"]: sum(row["faults"].values()) for row in rows}
    require_no_faults(faults, strict=strict)
