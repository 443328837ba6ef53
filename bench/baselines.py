"""The table of baselines: trains a bot for each of six games, and measures it against the sample bot and the house bot's search."""

import resource
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from arena.envs.training import KEPT, POLICY, Training, TrainingTerms
from arena.games.catalogue import game_by_id
from arena.local.engines import Engine
from arena.local.many import play_many
from bench.strength import Finding, Trial, bot_of, finding

SEARCH: Final = "house:search-20ms"
SEED: Final = "1"


@dataclass(frozen=True, slots=True)
class Baseline:
    """A training, and the matches in which its bot is measured."""

    game: str
    seats: int
    hands: int
    """Of a match, in training and in measurements."""
    against_sample: int
    """Deal-sets."""
    against_search: int


BASELINES: Final = (
    Baseline("sixty_six", 2, 4, 150, 300),
    Baseline("klaberjass", 2, 4, 400, 200),
    Baseline("jam", 2, 4, 100, 60),
    Baseline("loo", 5, 5, 300, 40),
    Baseline("democracy", 2, 2, 100, 200),
    Baseline("pineapple", 2, 6, 400, 400),
)


@click.command(
    epilog="""\b
Examples:
  scripts/baselines runs/baselines --minutes 60
  scripts/baselines runs/baselines --game jam --steps 240
"""
)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--minutes", type=click.FloatRange(0), default=0, show_default=True,
              help="Train each bot for so long, or go on with it; 0 measures those that are there.")  # fmt: skip
@click.option("--game", "games", multiple=True, type=click.Choice([one.game for one in BASELINES]),
              help="Only this game.")  # fmt: skip
@click.option("--steps", type=click.IntRange(0), default=0, show_default=True,
              help="Of the bots' search on top of their policies.")  # fmt: skip
@click.option("--share", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True,
              help="Play this part of the deal-sets.")  # fmt: skip
@click.option("--measure/--no-measure", default=True)
def main(
    folder: Path, minutes: float, games: Sequence[str], steps: int, share: float, *, measure: bool
) -> None:
    """Print the table of baselines; bots are trained in FOLDER, in a folder for each game."""
    if measure:
        print(
            "| game | seats | decisions | against `sample` | p | against `house:search-20ms` | p |"
        )
        print("|---|---|---|---|---|---|---|")
    for one in BASELINES:
        if games and one.game not in games:
            continue
        policy = folder / one.game / POLICY
        if minutes:
            _train(one, policy.parent, minutes)
        if not measure:
            continue
        training = _training(one, policy.parent / KEPT)
        cells = []
        for against, deal_sets in (("sample", one.against_sample), (SEARCH, one.against_search)):
            played = _played(one, policy, against, max(2, round(share * deal_sets)), steps)
            p = played.p if played.p is not None else 0.5
            cells += [
                f"{played.margin:+.2f} ± {played.half_width_95:.2f}, {played.deal_sets} deal-sets",
                "< .0001" if p < 0.0001 else f"{p:.4f}",
            ]
        print(
            f"| {one.game} | {one.seats} | {training.decisions:,} | {' | '.join(cells)} |",
            flush=True,
        )


def _train(one: Baseline, folder: Path, minutes: float) -> None:
    command = (
        f"arena train {one.game} {folder} --seats {one.seats} -o hands={one.hands} --seed {SEED}"
    )
    print(f"$ {command} --minutes {minutes:g}", file=sys.stderr)
    subprocess.run(
        [sys.executable, "-m", *command.split(), "--minutes", str(minutes)],
        check=True,
        stdout=sys.stderr,
    )
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"processor: {(used.ru_utime + used.ru_stime) / 60:.0f} min so far", file=sys.stderr)


def _training(one: Baseline, kept: Path) -> Training:
    game = game_by_id(one.game)
    options = game.values(game.options({"hands": one.hands}, one.seats))
    return Training.kept(kept, TrainingTerms(game.id, one.seats, options, SEED))


def _played(one: Baseline, policy: Path, against: str, deal_sets: int, steps: int) -> Finding:
    trial = Trial(one.game, f"{one.game}.py", one.seats, options={"hands": one.hands})
    table = [
        bot_of(str(policy), trial, steps),
        *(bot_of(against, trial) for _ in range(1, one.seats)),
    ]
    with closing(Engine()) as engine:
        results = play_many(
            one.game,
            [table],
            deal_sets=deal_sets,
            seed="baselines",
            options={"hands": one.hands},
            client=engine,
            raising=False,
        )
        return finding(trial, list(results))


if __name__ == "__main__":
    main(prog_name="scripts/baselines")
