"""Simulates overall standings: how often intervals hold, and how well ranks follow skill, with bots that enter few games.

    python -m bench.overall --trials 400

A bot has a general skill and, in each game, another one beside it. Scores have errors that are known, as after a
ladder. `strong field` has weak bots leave the games that strong ones enter.
"""

import argparse
import math
import random
import statistics
import sys
from collections.abc import Sequence

from arena.results.overall import GameScore, overall_standings

BOTS, GAMES = 12, 8
OWN, ERROR = 0.6, 0.3
"""Standard deviations of a skill in one game and of an error, where that of general skill is 1."""


def trial(chance: random.Random, presence: float, *, strong_field: bool) -> tuple[int, int, float]:
    """Return the intervals that hold, all of them, and the rank correlation with skill in the games played."""
    general = {f"bot {at}": chance.gauss(0, 1) for at in range(BOTS)}
    games, true = {}, {}
    for game in range(GAMES):
        is_strong = strong_field and game % 2
        entered = [
            bot
            for bot in general
            if chance.random() < presence and not (is_strong and general[bot] < 0)
        ]
        skill = {bot: general[bot] + chance.gauss(0, OWN) for bot in entered}
        scores = [
            GameScore(bot, value + chance.gauss(0, ERROR), 1.96 * ERROR)
            for bot, value in skill.items()
        ]
        games[str(game)] = scores
        if len(scores) > 1:
            unit = statistics.pstdev(row.score for row in scores)
            mean = statistics.fmean(skill.values())
            true[str(game)] = {bot: (value - mean) / unit for bot, value in skill.items()}
    rows = overall_standings(games, least_games=1).placed
    held = sum(
        abs(row.score - statistics.fmean(true[game][row.bot] for game in row.by_game))
        <= (row.half_width or math.inf)
        for row in rows
    )
    by_skill = sorted((row.bot for row in rows), key=lambda bot: -general[bot])
    places = [by_skill.index(row.bot) for row in rows]
    return held, len(rows), statistics.correlation(range(len(rows)), places)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=400)
    trials = parser.parse_args(arguments).trials
    sys.stdout.write(f"{'entered':<34}{'intervals that hold':>20}{'rank correlation':>18}\n")
    for name, presence, strong in (
        ("all games", 1.0, False),
        ("half of the games", 0.5, False),
        ("a quarter of the games", 0.25, False),
        ("weak bots in half of the games", 1.0, True),
    ):
        chance = random.Random(f"overall {name}")
        made = [trial(chance, presence, strong_field=strong) for _ in range(trials)]
        held = sum(one[0] for one in made) / sum(one[1] for one in made)
        ranks = statistics.fmean(one[2] for one in made)
        sys.stdout.write(f"{name:<34}{held:>20.1%}{ranks:>18.2f}\n")


if __name__ == "__main__":
    main()
