"""Simulates workers that fail deal-sets, and what it gains and whether it is found.

    python -m tests.results.failing_workers --runs 100

A round robin of six bots whose margins have a standard deviation of 1 a deal-set, and skills one of 0.25. Four workers
play as many deal-sets each. One of them fails what its favourite, the weakest bot, has lost by the most; another worker
plays it then. Two plays of the same cards are correlated, and wholly so where bots always choose alike. Others fail a share by chance.
"""

import argparse
import sys

import numpy as np

from arena.results.deal_sets import round_robin
from arena.results.failed_begins import failing_suspicions
from arena.results.margin_fit import MatchScores, Score, fit
from arena.results.record import WorkerBegins

BOTS = [f"bot{number}" for number in range(6)]
WORKERS = ["m1@a", "m2@a", "m3@a", "m3@b"]
FAILING, FAVOURITE = "m1@a", "bot5"


def simulated(seed, *, deal_sets=20, fails=0.0, correlation=0.5, by_chance=0.05):
    """Complete deal-sets by id, where they began, and skills.

    Args:
      seed: Of all chance.
      deal_sets: Of each two bots.
      fails: Share of its deal-sets with the favourite that the failing worker fails: those lost by the most.
      correlation: Of two plays of the same cards.
      by_chance: Share of deal-sets that each worker fails without looking.
    """
    rng = np.random.default_rng(seed)
    skill = dict(zip(BOTS, sorted(rng.normal(0, 0.25, len(BOTS)), reverse=True), strict=True))
    cut = float(np.quantile(rng.normal(0, 1, 20_000), fails)) if fails else -np.inf
    complete, at, failed = {}, {}, {}
    for plan in round_robin(BOTS, seats=2, deal_sets=deal_sets, seed=str(seed), tournament="t"):
        first, second = plan.matches[0].bots
        cards = rng.normal()

        def margin(cards=cards, first=first, second=second):
            noise = np.sqrt(correlation) * cards + np.sqrt(1 - correlation) * rng.normal()
            return skill[first] - skill[second] + noise

        worker = str(rng.choice(WORKERS))
        found = margin()
        own = found if first == FAVOURITE else -found
        expected = skill[FAVOURITE] - skill[second if first == FAVOURITE else first]
        has_lost = FAVOURITE in plan.bots and own - expected < cut
        if (worker == FAILING and has_lost) or rng.random() < by_chance:
            failed[plan.id] = (worker,)
            worker = str(rng.choice([other for other in WORKERS if other != worker]))
            found = margin()
        at[plan.id] = worker
        scores = {first: found / 2, second: -found / 2}
        complete[plan.id] = tuple(
            MatchScores(match.bots, tuple(scores[bot] for bot in match.bots))
            for match in plan.matches
        )
    return complete, WorkerBegins(at, failed), skill


def gain(complete, skill):
    """What the favourite has in the fit beyond its skill, in standard deviations of a deal-set."""
    fitted = fit(complete.values())
    value = dict(zip(fitted.bots, fitted.values([Score(bot) for bot in fitted.bots]), strict=True))
    bias = {bot: value[bot] - skill[bot] for bot in BOTS}
    return bias[FAVOURITE] - np.mean([*bias.values()])


def measured(runs, **how):
    """Of so many runs: the mean gain, the share in which it is found, and the number of false suspicions."""
    gains, found, false = [], 0, 0
    for seed in range(runs):
        complete, begins, skill = simulated(seed, **how)
        gains.append(gain(complete, skill))
        stand = [each for each in failing_suspicions(complete, begins) if each.stands]
        ours = [each for each in stand if each.worker in ("m1", FAILING) and how.get("fails")]
        found += any(each.bot == FAVOURITE for each in ours)
        # Those that its favourite met have a mirror of it.
        false += any(each not in ours for each in stand)
    return np.mean(gains), np.std(gains) / np.sqrt(runs), found / runs, false / runs


def main(argv=None):
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--runs", type=int, default=100)
    runs = arguments.parse_args(argv).runs
    sys.stdout.write(
        "| fails | deal-sets a bot | correlation | gain | found | others listed |" + "\n"
    )
    sys.stdout.write("|---|---:|---:|---:|---:|---:|" + "\n")
    for fails, each, correlation in (
        (0.0, 20, 0.5), (0.0, 60, 0.5), (0.1, 60, 0.5), (0.3, 20, 0.5), (0.3, 60, 0.5), (0.5, 20, 0.5),
        (0.5, 60, 0.0), (0.5, 60, 0.5), (0.5, 60, 1.0),
    ):  # fmt: skip
        mean, error, found, false = measured(
            runs, fails=fails, deal_sets=each, correlation=correlation
        )
        sys.stdout.write(
            f"| {fails:.0%} | {5 * each} | {correlation} | {mean:+.3f} ± {error:.3f} "
            f"| {found:.0%} | {false:.0%} |\n"
        )


if __name__ == "__main__":
    main()
