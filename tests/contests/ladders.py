"""Ladders that are played by dice: who meets whom, and whether the table's intervals hold.

`python -m tests.contests ladders` plays a thousand of them.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from arena.contests.pairing import Pairing, Waiting
from arena.results.margin_fit import MatchScores, Score, fit

NOISE = 3.0
"""Standard deviation of a bot's luck at a table; skills have one of 1."""


@dataclass(frozen=True)
class Ladder:
    """What came of one."""

    served: tuple[int, ...]
    held: float
    """The share of all pairs whose 95 % interval has the true difference."""
    tau: float
    """Kendall's rank correlation of the table with the truth."""
    own_meetings: int
    """Deal-sets at which two bots of one owner met."""


def by_uncertainty(seed, seats):
    """The pairing that is built."""
    pairing = Pairing(seed, seats)

    def draw(waiting, results):
        return pairing.draw(waiting).tables

    return draw


def by_nearest_rating(seed, seats):
    """What ladders usually do: the least served, and those rated most like it."""
    pairing = Pairing(seed, seats)

    def draw(waiting, results):
        rating = results.ratings()
        first = pairing.draw(waiting).tables[0][0]
        by_name = {each.name: each for each in waiting}
        least = min(each.served for each in waiting)
        near = sorted(by_name, key=lambda name: abs(rating[name] - rating[first]))
        group = [first]
        for limit in (least + 3, float("inf")):
            for name in near:
                owners = {by_name[each].owner for each in group}
                fair = by_name[name].served <= limit
                if len(group) < seats and by_name[name].owner not in owners and fair:
                    group.append(name)
        return tuple(tuple(group[at:] + group[:at]) for at in range(seats))

    return draw


class Results:
    """What was played so far, with ratings as they stand."""

    def __init__(self, names):
        self.names = names
        self.played = []
        self._index = {name: at for at, name in enumerate(names)}
        self._gram = np.zeros((len(names), len(names)))
        self._moment = np.zeros(len(names))
        self._ratings = None

    def add(self, group, means):
        at = [self._index[name] for name in group]
        number = len(group)
        self._gram[np.ix_(at, at)] += number * np.eye(number) - 1.0
        self._moment[at] += number * (means - means.mean())
        if len(self.played) % max(1, len(self.names) // number) == 0:
            self._ratings = None

    def ratings(self):
        if self._ratings is None:
            skills = np.linalg.pinv(self._gram, hermitian=True) @ self._moment
            self._ratings = dict(zip(self.names, skills, strict=True))
        return self._ratings


def play(seed, *, bots, seats, deal_sets_a_bot, pair, owners_with_two=0.25):
    """Plays one ladder, everybody being there all the time."""
    rng = np.random.default_rng([seed, bots, seats])
    names = [f"bot{number:03}" for number in range(bots)]
    doubled = int(bots * owners_with_two / 2)
    owner = {name: f"owner{at // 2 if at < 2 * doubled else at}" for at, name in enumerate(names)}
    skill = dict(zip(names, rng.normal(size=bots), strict=True))
    served, results, own = Counter(), Results(names), 0
    draw = pair(f"ladder {seed}", seats)
    for number in range(bots * deal_sets_a_bot // seats):
        waiting = [Waiting(name, owner[name], served[name], 1.0 + number, 1_000) for name in names]
        tables = draw(waiting, results)
        group = tables[0]
        served.update(group)
        own += any(owner[one] == owner[other] for one, other in combinations(group, 2))
        cards = rng.normal(0.0, 10.0, seats)
        scores = {
            name: skill[name] + cards + rng.normal(0.0, NOISE * seats**0.5, seats) for name in group
        }
        results.played.append(
            tuple(
                MatchScores(table, tuple(scores[bot][seat] for seat, bot in enumerate(table)))
                for table in tables
            )
        )
        results.add(group, np.array([scores[name].mean() for name in group]))
    return measured(results.played, names, skill, served, own)


def measured(played, names, skill, served, own):
    fitted = fit(played)
    held, concordant = [], []
    for at, differences in enumerate(fitted.differences([Score(name) for name in names])):
        for other, estimate in enumerate(differences, at + 1):
            truth = skill[names[at]] - skill[names[other]]
            reach = estimate.half_width  # None where nothing can be told, and nothing is claimed
            held.append(reach is None or abs(estimate.value - truth) <= reach)
            concordant.append(np.sign(truth) * np.sign(estimate.value))
    return Ladder(
        tuple(served[name] for name in names),
        float(np.mean(held)),
        float(np.mean(concordant)),
        own,
    )
