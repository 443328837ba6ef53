"""How often the calls of standings are wrong: `python -m tests.results.calls`.

Round robins of sixteen bots whose skills are known are played by dice, and looked at again and again. A call is
wrong if the bot that is called better is the worse one. Pairs of equal bots are wrong in half of the calls of them,
whichever is called better, so a share of 2 % false calls is one of 1 % wrong ones.
"""

import argparse
import sys

import numpy as np

from arena.results.margin_fit import MatchScores, Score, fit
from arena.results.ranking import _called
from tests.results.anytime.simulated import contaminated, heavy, normal

BOTS = 16
LOOKS = (4, 8, 16, 32, 64)
"""Deal-sets of each pair."""
NOISE = {"normal": normal, "1 % ten times wider": contaminated, "t, 2.1 d.f.": heavy}
FIELDS = ("graded", "close", "equal but one", "cyclic")


def differences(field, rng):
    """By how many standard deviations of a margin each bot is better than each other, and the true skills."""
    spread = {"graded": 0.5, "close": 0.05, "equal but one": 0.0, "cyclic": 0.05}[field]
    skills = np.sort(rng.normal(0.0, 1.0, BOTS)) * spread
    skills[-1] += 1.0 if field == "equal but one" else 0.0
    true = skills[:, None] - skills[None, :]
    if field == "cyclic":  # each beats the next half and loses to the other
        ahead = np.sign(np.sin(2 * np.pi * (np.arange(BOTS)[:, None] - np.arange(BOTS)) / BOTS))
        true = true + 0.3 * np.where(abs(ahead) > 0.5, ahead, 0.0)
        skills = true.mean(axis=1)
    return true, skills


def looked_at(field, noise, seed, looks=LOOKS):
    """At each look the pairs, the calls among them, and those that are wrong."""
    rng = np.random.default_rng([seed, FIELDS.index(field)])
    true, skills = differences(field, rng)
    names = [f"bot{number:02}" for number in range(BOTS)]
    pairs = [(one, other) for one in range(BOTS) for other in range(one + 1, BOTS)]
    played, found = [], []
    for number in range(1, looks[-1] + 1):
        for one, other in pairs:
            played.append(deal_set(names[one], names[other], true[one, other], noise, rng))
        if number in looks:
            found.append((len(pairs), *called(played, names, skills)))
    return found


def deal_set(one, other, lead, noise, rng):
    """Two tables with turned seats, whose mean margin has a standard deviation of 1."""
    margins = lead + 2**0.5 * noise(rng, (2,))
    seat = rng.normal(0.0, 5.0)
    return (
        MatchScores((one, other), (margins[0] / 2 + seat, -margins[0] / 2 - seat)),
        MatchScores((other, one), (-margins[1] / 2 + seat, margins[1] / 2 - seat)),
    )


def called(played, names, skills):
    fitted = fit(played)
    values = [each.value for each in fitted.scores([Score(name) for name in names])]
    order = sorted(range(BOTS), key=lambda at: -values[at])
    chances = [[None] * BOTS for _ in order]
    for i, own in enumerate(fitted.differences([Score(names[at]) for at in order])):
        for j, difference in enumerate(own, i + 1):
            if (chance := difference.chance_positive) is not None:
                chances[i][j], chances[j][i] = chance, 1.0 - chance
    calls = [
        skills[order[i]] - skills[order[j]]
        for i, row in enumerate(_called(chances))
        for j, is_called in enumerate(row)
        if is_called
    ]
    # A call between equals is wrong by half: nothing says which half.
    return len(calls), sum(1.0 if lead < 0 else 0.5 if lead == 0 else 0.0 for lead in calls)


def shares(field, noise, runs, looks=LOOKS):
    """For each look the share of pairs that are called, and the share of calls that are wrong."""
    totals = np.sum([looked_at(field, noise, seed, looks) for seed in range(runs)], axis=0)
    return [(calls / pairs, wrong / max(calls, 1)) for pairs, calls, wrong in totals]


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.results.calls", description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    given = parser.parse_args(argv)
    write = sys.stdout.write
    write(f"|field |margins |{' |'.join(f'{look} a pair' for look in LOOKS)} |\n")
    write(f"|---|---|{'---|' * len(LOOKS)}\n")
    for field in FIELDS:
        for name, noise in NOISE.items():
            cells = [
                f"{100 * share:.0f} %, {100 * wrong:.2f} % wrong"
                for share, wrong in shares(field, noise, given.runs)
            ]
            write(f"|{field} |{name} |{' |'.join(cells)} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
