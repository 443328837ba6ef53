"""`arena tournament`: a round robin between launched bots, as a competition of one command."""

import secrets
from pathlib import Path
from typing import Any, Final

import click

from arena.cli.competition_client import LocalCompetitions, local_competitions
from arena.cli.competition_play import play_here, print_result
from arena.cli.options import (
    ChosenTerms,
    GameType,
    bot_commands,
    data_option,
    terms_options,
)
from arena.cli.sandbox_options import SandboxChoice, sandbox_options
from arena.competition.plan import CompetitionKind, CompetitionPlan, Format, read_plan
from arena.competition.plan_text import toml
from arena.competition.states import Action, State
from arena.games.game import Game
from arena.sandbox import BotCommand
from arena.schedule.deal_sets import require_schedulable
from arena.server.competition_service import BotsChanged
from arena.server.competitions.arena_player import MAX_MATCHES
from arena.store import NoCompetition
from arena.terms import MatchTerms
from arena.wire.terms import terms_json

DEFAULT_DEAL_SETS: Final = 20
_BEGINS: Final = {State.DRAFT: Action.START, State.PAUSED: Action.RESUME}
"""The action after which a competition is played, by its state."""


@click.command(
    epilog="""\b
Examples:
  arena tournament abstrac sample_bots/abstrac.py sample_bots/random_bot.py
  arena tournament democracy a=./a b=./b c=./c --seats 3 --deal-sets 50 --seed 7
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
@terms_options
@click.option("--json", "as_json", is_flag=True, help="Print the standings as one JSON object.")
@click.option(
    "--csv", "as_csv", is_flag=True, help="Print the standings as comma-separated values."
)
@sandbox_options
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
    chosen: ChosenTerms,
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
    name = name or game.id
    commands = bot_commands(bots)
    with local_competitions(data) as client:
        before = _plan_of(client, name)
        seeded = before.games[0].terms.seeded if before else seed is not None
        seed = seed or (before.seed if before else secrets.token_hex(8))
        terms = chosen.of(game, seats, seeded=seeded)
        require_schedulable([each.name for each in commands], terms.seats, deal_sets)
        config = round_robin_config(name, terms, commands, deal_sets, seed)
        try:
            client.create_or_continue(config, accept_changed=accept_changed)
        except BotsChanged as changed:
            text = f"{changed}; give --name for a new one, or --accept-changed to continue this one"
            raise click.ClickException(text) from None
        state = State(client.show(name)["state"])
        if state in _BEGINS:
            client.control(name, _BEGINS[state], None)
        if state is not State.FINISHED:
            play_here(
                client,
                [name],
                confinement,
                again="run the same command to continue",
                quiet=as_json or as_csv,
                max_matches=max_matches,
            )
        print_result(client.standings(name), as_json=as_json, as_csv=as_csv)
    if not (as_json or as_csv):
        click.echo(f"Replays: {data / 'replays'}")


def _plan_of(client: LocalCompetitions, name: str) -> CompetitionPlan | None:
    """The plan of the competition of this name; None if there is none."""
    try:
        return read_plan(client.store.competitions().get(name).config)
    except NoCompetition:
        return None


def round_robin_config(
    name: str, terms: MatchTerms, commands: tuple[BotCommand, ...], deal_sets: int, seed: str
) -> str:
    """The plan of a round robin between launched bots, as TOML."""
    values: dict[str, Any] = terms_json(terms)
    return toml(
        {
            "name": name,
            "kind": str(CompetitionKind.TOURNAMENT),
            "format": str(Format.ROUND_ROBIN),
            "game": values["game"],
            "seats": values["seats"],
            "options": {k: v for k, v in values["options"].items() if v is not None},
            "time_control": values["time_control"],
            "fair": not terms.seeded,
            "deal_sets": deal_sets,
            "seed": seed,
            "bots": {each.name: each.text for each in commands},
        }
    )
