"""`arena tune`: good values of a bot's parameters."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from arena.app.tuning import tune as tune_bot
from arena.app.tuning import with_values
from arena.cli.comparison_place import opened_engine, printed_exceptions, waiting_for_bots
from arena.cli.options import (
    ChosenTerms,
    GameType,
    Option,
    bot_commands,
    data_option,
    json_option,
    make_folder,
    plain_errors,
    print_json,
    terms_options,
)
from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import Interrupted, say
from arena.errors import exits
from arena.games.game import Game
from arena.results.anytime.verdict import Decision
from arena.results.tuning import BLOCK, BadParameter, Parameter, Trial, Tuned, TuningLimits

CANDIDATES: Final = 8
RACE: Final = 64
STEPS: Final = 60
CHECK: Final = 400


class ParameterType(click.ParamType[Parameter]):
    """A parameter, as `a=0.1..2.0`."""

    name = "NAME=LOW..HIGH"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Parameter:
        if isinstance(value, Parameter):
            return value
        try:
            return Parameter.of(value)
        except BadParameter as error:
            self.fail(str(error), param, ctx)


def _most(name: str, default: int, least: int, meaning: str) -> Option:
    return click.option(name, default=default, type=click.IntRange(least), help=meaning)


@click.command(
    epilog="""\b
Examples:
  arena tune my_bot.py --game jam --param caution=0.1..2.0
  arena tune my_bot.py --game loo --param a=0..1.5 --param depth=1..6 --on dask:tls://10.0.0.5:8786
  arena tune my_bot.py --game jam --param a=0.1..2.0 --json > values.json

\b
The bot gets a value as a word of its command, such as --caution=0.53. The same command goes
on where it was stopped or killed. The exit code is 0 if the result is better than the middle
of the ranges, by the test of `arena compare`, and 4 if that is not decided or it is not.
"""
)
@click.argument("bot", metavar="BOT")
@click.option("--game", required=True, type=GameType(), help="The game that it plays.")
@click.option(
    "--param",
    "parameters",
    multiple=True,
    required=True,
    type=ParameterType(),
    help="A parameter and its range; repeatable. It is whole if both ends are written so.",
)
@click.option("--seats", type=int, help="Seats at a table.  [default: the fewest of the game]")
@click.option(
    "--against",
    multiple=True,
    metavar="COMMAND",
    help="Opponents; without them two values play each other, at three seats or more with house bots.",
)
@_most("--candidates", CANDIDATES, 1, "Candidates of the race, with the middle of the ranges.")
@_most("--race", RACE, BLOCK, "Largest number of deal-sets of each candidate.")
@_most("--steps", STEPS, 0, f"Largest number of steps of SPSA, of {BLOCK} deal-sets each.")
@_most("--check", CHECK, 0, "Largest number of deal-sets of the result against the middle.")
@click.option("--seed", default="1", show_default=True, help="Draws deals and candidates.")
@click.option(
    "--on",
    "engine",
    default="processes",
    show_default=True,
    metavar="ENGINE",
    help="What plays: processes (one for each core), dask:tls://HOST:PORT, dask:local, ray:auto or ray:local.",
)
@terms_options
@json_option
@data_option
def tune(
    *,
    bot: str,
    game: Game,
    parameters: tuple[Parameter, ...],
    seats: int | None,
    against: tuple[str, ...],
    candidates: int,
    race: int,
    steps: int,
    check: int,
    seed: str,
    engine: str,
    chosen: ChosenTerms,
    as_json: bool,
    data: Path,
) -> None:
    """Find good values of the parameters of BOT, a Python program, without a sandbox or clocks.

    A race plays candidates on the same boards and drops those that are worse by the anytime test. From
    its winner SPSA moves all values at once, and stops early when they settle. Then the result plays
    against the middle of the ranges. The result is a manifest: values, with approximate 95 % intervals.
    """
    names = [parameter.name for parameter in parameters]
    if len(set(names)) < len(names):
        raise click.UsageError("a parameter is given twice")
    mine, *opponents = bot_commands([bot, *against])
    terms = chosen.of(game, seats, seeded=True, shortest=True)
    limits = TuningLimits(candidates, race, steps, check)
    make_folder(data)
    with (
        plain_errors(),
        printed_exceptions() as on_exception,
        opened_engine(engine) as tasks,
        waiting_for_bots(quiet=as_json) as tell,
    ):

        def on_played(deal_sets: int, trials: Sequence[Trial]) -> None:
            places = "; ".join(_values(parameters, trial.first) for trial in trials[:2])
            more = f" and {len(trials) - 2} more" if len(trials) > 2 else ""
            tell(f"{deal_sets} deal-sets; now {places}{more}")

        try:
            tuned, path = tune_bot(
                mine,
                opponents,
                parameters,
                terms,
                tasks,
                data,
                limits=limits,
                seed=seed,
                on_played=on_played,
                on_exception=on_exception,
            )
        except KeyboardInterrupt:
            raise Interrupted("stopped; run the same command to continue") from None
    manifest = path.with_suffix(".json")
    best = with_values(mine, parameters, tuned.best)
    values = _manifest(game, tuned, parameters, best.text)
    manifest.write_text(json.dumps(values, indent=2) + "\n")
    if as_json:
        print_json(values)
    else:
        _print(values, tuned, manifest)
    if tuned.verdict.decision is not Decision.BETTER:
        raise click.exceptions.Exit(exits.UNDECIDED)


def _values(parameters: Sequence[Parameter], point: Sequence[float]) -> str:
    pairs = zip(parameters, point, strict=True)
    return ", ".join(f"{parameter.name} {parameter.value(place)}" for parameter, place in pairs)


def _manifest(
    game: Game, tuned: Tuned, parameters: Sequence[Parameter], command: str
) -> dict[str, Any]:
    places = (tuned.best, tuned.low, tuned.high, tuned.winner)
    rows = {
        parameter.name: {
            name: parameter.value(place)
            for name, place in zip(("value", "low", "high", "race_winner"), at, strict=True)
        }
        for parameter, *at in zip(parameters, *places, strict=True)
    }
    against = tuned.verdict
    return {
        "game": game.id,
        "command": command,
        "parameters": rows,
        "deal_sets": tuned.deal_sets,
        "candidates_left": tuned.in_race,
        "steps": tuned.steps,
        "against_middle": {
            "decision": against.decision.value,
            "mean": against.mean,
            "low": against.low,
            "high": against.high,
            "deal_sets": against.deal_sets,
        },
    }


def _print(values: dict[str, Any], tuned: Tuned, manifest: Path) -> None:
    rows = [
        (name, row["value"], f"{row['low']} … {row['high']}", row["race_winner"])
        for name, row in values["parameters"].items()
    ]
    heads = ("parameter", "value", "95 %, approximate", "winner of the race")
    print_table(heads, rows, numbers=("value", "winner of the race"))
    against = tuned.verdict
    say(
        f"{tuned.deal_sets} deal-sets, {tuned.steps} steps, {tuned.in_race} of the race's candidates left"
    )
    say(
        f"Against the middle of the ranges: {against.decision.value}, {against.mean:+.2f} points\n"
        f"  (anytime 95 %: {against.low:+.2f} … {against.high:+.2f}), {against.deal_sets} deal-sets"
    )
    say(f"The bot with these values:\n  {values['command']}")
    say(f"The manifest of values: {shlex.quote(str(manifest))}")
