"""The table of baselines: trains a bot for each of six games, and measures it against the sample bot and the house bot's search.

Below the rows of a trained bot is one of the house bot's search with as many steps: what the search gains without a network.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click
import numpy as np

import cardarena
from arena.envs.training import POLICY
from arena.local.engines import Engine
from arena.local.play import play
from arena.sandbox.house_levels import STEPS
from bench.strength import CountedBot, Trial, bot_of, played

SEARCH: Final = "house:search-20ms"
BOT_STEPS: Final = STEPS["search-200ms"]
"""Of the search of trained bots on top of their policies."""
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
    """Deal-sets; as many show the search without a network."""


BASELINES: Final = (
    Baseline("sixty_six", 2, 4, 20, 80),
    Baseline("klaberjass", 2, 4, 20, 40),
    Baseline("jam", 2, 2, 10, 20),
    Baseline("loo", 5, 5, 20, 20),
    Baseline("democracy", 2, 2, 20, 80),
    Baseline("pineapple", 2, 6, 200, 200),
)


@click.command(
    epilog="""\b
Examples:
  scripts/baselines runs/baselines --minutes 60
  scripts/baselines runs/baselines --game jam --share 0.2
  scripts/baselines runs/baselines --game klaberjass --share 6 --deals klaberjass-long
"""
)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--minutes", type=click.FloatRange(0), default=0, show_default=True,
              help="Train each bot for so long, or go on with it; 0 measures those that are there.")  # fmt: skip
@click.option("--game", "games", multiple=True, type=click.Choice([one.game for one in BASELINES]),
              help="Only this game.")  # fmt: skip
@click.option("--share", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True,
              help="Play this part of the deal-sets.")  # fmt: skip
@click.option("--deals", default="baselines", show_default=True,
              help="The seed of the deal-sets: another one measures with other cards.")  # fmt: skip
def main(folder: Path, minutes: float, games: Sequence[str], share: float, deals: str) -> None:
    """Print the table of baselines; bots are trained in FOLDER, in a folder for each game."""
    heads = "game | seats | bot | steps | ms a move | against | points a match | deal-sets"
    print(f"| {heads} | p | date |\n|{'---|' * 10}")
    for one in BASELINES:
        if games and one.game not in games:
            continue
        policy = folder / one.game / POLICY
        if minutes:
            _train(one, policy.parent, minutes)
        _measure(one, str(policy), share, deals)


def _measure(one: Baseline, policy: str, share: float, deals: str) -> None:
    """Print the rows of a game."""
    rows = [(policy, "sample", one.against_sample), (policy, SEARCH, one.against_search)]
    rows.append(("house:search-200ms", SEARCH, one.against_search))
    for bot, against, deal_sets in rows:
        number = max(2, round(share * deal_sets))
        with closing(Engine()) as engine:
            found = played(_trial(one), bot, against, engine, number, seed=deals, steps=BOT_STEPS)
        margin, p = found.cells
        name, ms = bot, ""
        if bot == policy:
            about = json.loads(np.load(policy)["about"].tobytes())
            name = f"trained by {about['decisions']:,} decisions"
            ms = f"{_ms_a_move(one, bot, deals):.0f}"
        cells = (
            *(one.game, one.seats, name, BOT_STEPS, ms, f"`{against}`"),
            *(margin, found.deal_sets, p or "0.5000", f"{datetime.now(UTC):%Y-%m-%d}"),
        )
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


class _TimedBot(CountedBot):
    """Keeps the processor time of its decisions with a choice, in seconds."""

    times_s: Final[list[float]] = []

    def move(self, ask: cardarena.AnyAsk) -> cardarena.Choice:
        begun_s = time.process_time()
        choice = super().move(ask)
        if not ask.forced:
            self.times_s.append(time.process_time() - begun_s)
        return choice


def _ms_a_move(one: Baseline, policy: str, deals: str) -> float:
    """Return the mean processor time of a decision in a match, without the first decision, before which the policy is read."""
    _TimedBot.times_s.clear()
    bot = _TimedBot(policy)
    bot.steps = BOT_STEPS
    others = [bot_of("sample", _trial(one)) for _ in range(1, one.seats)]
    play(one.game, [bot, *others], seed=deals, options={"hands": one.hands})
    return 1000 * sum(bot.times_s[1:]) / len(bot.times_s[1:])


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


def _trial(one: Baseline) -> Trial:
    return Trial(one.game, f"{one.game}.py", one.seats, options={"hands": one.hands})


if __name__ == "__main__":
    main(prog_name="scripts/baselines")
