"""Measures whether a bot is stronger than the others at its table, in every game: `scripts/strength`.

The bot is the sample bot of the game, the house bot of a level, or a policy of `arena train`; the others are sample bots, house bots of a level, pick any
of the offered moves, or always the first.

Each trial is played by `arena.local.many`: without clocks, in complete deal-sets, so that the luck of the deal cancels,
and equal on all machines. The margin is what the bot scores in a match ahead of the mean of the others at its table,
with its 95 % interval.
"""

import importlib
import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import click

import cardarena
from arena.envs.trained_bot import TrainedBot
from arena.games.catalogue import GAMES
from arena.games.game import Game
from arena.house.bot import HouseBot
from arena.house.search import never
from arena.local.engines import Engine, EngineError
from arena.local.many import DealSetResult, play_many
from arena.local.place import AnyBot
from arena.results import student_t
from arena.sandbox.house_levels import STEPS
from cardarena.v1.game_pb2 import FaultKind

SAMPLE = "sample"
"""The sample bot of the game."""
OTHERS = {"random": "random_bot", "first": "first_bot"}
"""Who may sit in all other seats, beside the sample bot."""
HOUSE = tuple(f"house:{level}" for level in STEPS)

_POLICY = ".npz"
BETTER = "better"


@dataclass(frozen=True, slots=True)
class Trial:
    """One sample bot at one game, against the same bot in all other seats."""

    game: str
    bot: str
    """A file of sample_bots."""
    seats: int = 2
    options: Mapping[str, object] = field(default_factory=dict)


_CHOSEN = {
    "democracy": (3, 3),
    "chinese_poker": (2, 4),
    "arlington": (3, 3),
    "jam": (2, 2),
    "open_face_chinese_poker": (2, 2),
    "klaberjass": (2, 6),
    "loo": (5, 5),
    "eleusis": (4, 4),
    "eleusis_express": (4, 4),
    "soko": (2, 10),
    "pineapple": (2, 6),
    "crazy_pineapple": (2, 6),
    "crazy_pineapple_hi_lo": (2, 6),
}
"""Seats, and hands of a match, where they are not the fewest seats and two deals by each."""


def _trial(game: Game) -> Trial:
    seats, hands = _CHOSEN.get(game.id, (game.seats[0], 2 * game.seats[0]))
    options = {} if game.family == "abstrac" else {"hands": hands}
    return Trial(game.id, f"{game.family}.py", seats, options=options)


TRIALS = tuple(map(_trial, GAMES))


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a trial."""

    margin: float
    """Points a match ahead of the mean of the others."""
    half_width_95: float
    p: float | None
    """The chance of such a margin, by a t test of one side, if the bot were as strong as the others; None if all are equal."""
    deal_sets: int
    faults: Mapping[str, int]
    verdict: str
    """`better`, or what is wrong."""

    @property
    def cells(self) -> tuple[str, str]:
        """The margin and p, for a table."""
        p = "" if self.p is None else "< .0001" if self.p < 0.0001 else f"{self.p:.4f}"
        return f"{self.margin:+.2f} ± {self.half_width_95:.2f}", p


def finding(trial: Trial, results: Sequence[DealSetResult]) -> Finding:
    """Return the margin and verdict of a trial, of which the first bot is measured."""
    margins, faults = [], Counter[str]()
    for result in results:
        measured, *others = (score / trial.seats for score in result.scores)
        margins.append(measured - statistics.fmean(others))
        for rotation, match in enumerate(result.matches):
            faults.update(
                FaultKind.Name(fault.kind) for fault in match.faults if fault.seat == rotation
            )
    margin, freedom = statistics.fmean(margins), len(margins) - 1
    error = statistics.stdev(margins) / math.sqrt(len(margins))
    half_width = student_t.quantile(0.975, freedom) * error
    return Finding(
        margin=margin,
        half_width_95=half_width,
        p=p_of(margin, error, freedom),
        deal_sets=len(results),
        faults=faults,
        verdict=_verdict(margin, half_width, faults),
    )


def p_of(margin: float, error: float, freedom: int) -> float | None:
    """Return the chance of such a margin with this standard error, or None if all margins are equal."""
    return 1 - student_t.cdf(margin / error, freedom) if error else None


def _verdict(margin: float, half_width: float, faults: Mapping[str, int]) -> str:
    if margin + half_width < 0:
        return "worse"
    if margin - half_width <= 0:
        return "not told apart"
    return "commits faults" if faults else BETTER


class CountedBot(TrainedBot):
    """A trained bot that takes all its steps on a busy machine too, as its matches have no clocks."""

    def time_is_up(self, ask: cardarena.AnyAsk) -> Callable[[], bool]:  # noqa: ARG002
        return never


def bot_of(name: str, trial: Trial, steps: int | None = None) -> AnyBot:
    """Return the bot of a name: `sample`, `random`, `first`, `house:LEVEL` or the file of a policy, which searches `steps`."""
    if name.endswith(_POLICY):
        trained = CountedBot(name)
        trained.steps = trained.steps if steps is None else steps
        return trained
    if name in HOUSE:
        house = HouseBot()
        house.level = name.partition(":")[2]
        return house
    module = importlib.import_module(f"sample_bots.{OTHERS.get(name, Path(trial.bot).stem)}")
    return next(
        kind
        for kind in vars(module).values()
        if isinstance(kind, type)
        and issubclass(kind, cardarena.Bot)
        and kind.__module__ == module.__name__
    )


def played(
    trial: Trial,
    bot: str,
    against: str,
    client: Engine,
    deal_sets: int,
    *,
    seed: str,
    steps: int | None = None,
) -> Finding:
    """Play a trial with a bot against another one in all other seats, see `bot_of`."""
    others = [bot_of(against, trial) for _ in range(1, trial.seats)]
    results = play_many(
        trial.game,
        [[bot_of(bot, trial, steps), *others]],
        deal_sets=deal_sets,
        seed=seed,
        options=trial.options,
        client=client,
        raising=False,
    )
    return finding(trial, list(results))


def _measured(_context: object, _option: object, name: str) -> str:
    if name in {SAMPLE, *HOUSE} or (name.endswith(_POLICY) and Path(name).is_file()):
        return name
    raise click.BadParameter(
        f"there is no bot {name!r}: choose {', '.join([SAMPLE, *HOUSE])} or a file{_POLICY}"
    )


def _engine(_context: object, _option: object, name: str) -> Engine:
    try:
        return Engine.named(name)
    except EngineError as error:
        raise click.BadParameter(str(error)) from None


@click.command(
    epilog="""\b
Examples:
  scripts/strength abstrac democracy --deal-sets 50
  scripts/strength loo --bot house:search-200ms --against house:search-20ms
""",
)
@click.argument("games", nargs=-1, metavar="[GAME]...",
                type=click.Choice([trial.game for trial in TRIALS]))  # fmt: skip
@click.option("--bot", callback=_measured, default=SAMPLE, show_default=True,
              metavar=f"[{'|'.join([SAMPLE, *HOUSE])}|FILE{_POLICY}]",
              help="The bot that is measured; a file is a policy of `arena train`.")  # fmt: skip
@click.option("--against", type=click.Choice([*OTHERS, SAMPLE, *HOUSE]), default="random",
              show_default=True, help="The bot in the other seats.")  # fmt: skip
@click.option("--deal-sets", type=click.IntRange(min=2), default=20, show_default=True,
              help="Of each game.")  # fmt: skip
@click.option("--steps", type=click.IntRange(min=0),
              help="Of the search on top of a policy of a file; by default those of its bot.")  # fmt: skip
@click.option("--seed", default="strength", show_default=True, help="Fixes the deals.")
@click.option("--on", "engine", callback=_engine, default="processes", show_default=True,
              metavar="ENGINE",
              help="What plays: dask:ADDRESS, ray:ADDRESS (an address may be local) or processes.")  # fmt: skip
def main(
    games: tuple[str, ...],
    bot: str,
    against: str,
    deal_sets: int,
    steps: int | None,
    seed: str,
    engine: Engine,
) -> None:
    """Play the sample bot of each game, or the house bot, against others over complete deal-sets.

    Ends with 1 unless the 95 % interval of each margin lies above zero.
    """
    click.echo(f"{'sample bots' if bot == SAMPLE else bot} against {against}\n")
    click.echo(f"| game | seats | margin ± 95 % | p | deal-sets | verdict |\n|{'---|' * 6}")
    verdicts = set()
    with closing(engine) as client:
        for trial in TRIALS:
            if games and trial.game not in games:
                continue
            found = played(trial, bot, against, client, deal_sets, seed=seed, steps=steps)
            verdicts.add(found.verdict)
            cells = (trial.game, trial.seats, *found.cells, found.deal_sets, found.verdict)
            click.echo(f"| {' | '.join(map(str, cells))} |")
    raise SystemExit(verdicts != {BETTER})


if __name__ == "__main__":
    main(prog_name="scripts/strength")
