"""Collusion: whether scores of the bots of two owners at shared tables differ from the prediction by their skills.

Bots that help each other gain together at the tables where both sit, at the cost of the others there. A bot that
dumps loses to its partner what no other bot would win from it. So two statistics are tested for each two owners: the
joint score of their bots, and the difference between them, each minus the prediction by their skills, which come
from the deal-sets in which the two do not meet.

A statistic is divided by its standard error, which includes that of the prediction, and by how far the statistics of
all pairs spread beyond theirs. So if styles suit each other, or scores have wide tails, every pair needs more evidence.
A person decides on the evidence.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.results.margin_fit import MarginFit, MatchScores, NotComparable, Score, ScoredTables, fit

ALPHA: Final = 0.01
"""The probability of a false alarm in an honest competition, among all statistics of all pairs."""
_THRESHOLD: Final = 0.5 * ALPHA
"""The largest p, times the number of statistics, of a pair that stands out.

If styles suit each other, about twice as many stand out as by chance (docs/statistics.md).
"""

LEAST_SEATS: Final = 3
"""The fewest seats of a table for a joint score: at tables of two, one bot's gain is the other's loss."""

LEAST_DEAL_SETS: Final = 8
"""Shared deal-sets from which a pair may stand out: the mean of fewer is not nearly normal."""

_WIDEST: Final = 3.0
"""The number of standard deviations at which the score of a deal-set is clipped, so that a single one does not decide."""

_NORMAL: Final = NormalDist()
_MEDIAN: Final = _NORMAL.inv_cdf(0.75)
"""The median size of a standard normal variable."""

Owners: TypeAlias = tuple[str, str]
_Array: TypeAlias = npt.NDArray[np.float64]
_Weights: TypeAlias = Callable[[_Array, _Array], _Array | None]
"""Makes the weights of the scores of a table from the seats of each owner."""
_Spreads: TypeAlias = Mapping[_Weights, float]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of one statistic."""

    points: float
    """Mean points a table beyond the prediction: of each of the two, or of the first owner over the second."""
    p_value: float
    """The probability of so large a statistic without help, for this statistic alone."""
    stands: bool = False
    """Whether it is accepted among all statistics of all pairs."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The evidence about two owners."""

    owners: Owners
    """In order of name."""
    deal_sets: int
    """The number of deal-sets of all competitions in which both sat at one table."""
    joint: Evidence | None
    """The evidence of the joint gain; None at tables of two."""
    difference: Evidence
    """The evidence of the first owner's gain over the second; the gain is negative if the second gains."""

    @property
    def p_value(self) -> float:
        """The smaller p-value."""
        return min(self.difference.p_value, self.joint.p_value if self.joint else 1.0)

    @property
    def stands(self) -> bool:
        return self.difference.stands or (self.joint is not None and self.joint.stands)


class Skills:
    """Skills fitted to deal-sets, from which others are predicted."""

    def __init__(self, fitted: MarginFit) -> None:
        scores = [Score(bot) for bot in fitted.bots]
        self._index = {bot: at for at, bot in enumerate(fitted.bots)}
        self._values = fitted.values(scores)
        self._covariance = fitted.covariance(scores)

    def include(self, bots: Iterable[str]) -> bool:
        return all(bot in self._index for bot in bots)

    def contrast(self, table: MatchScores, weights: _Array) -> _Array:
        contrast = np.zeros(len(self._index))
        np.add.at(contrast, [self._index[bot] for bot in table.bots], weights)
        return contrast

    def residual(self, table: MatchScores, weights: _Array) -> float:
        """Return a weighted sum of the scores of a table minus its prediction."""
        prediction = float(self.contrast(table, weights) @ self._values)
        return float(weights @ np.array(table.scores)) - prediction

    def variance(self, contrast: _Array) -> float:
        return max(0.0, float(contrast @ self._covariance @ contrast))


@dataclass(frozen=True, slots=True)
class _Statistic:
    """The scores of two owners' bots beyond the prediction."""

    residuals: _Array
    """The residual of each shared deal-set."""
    predicted: float
    """The variance of the mean prediction."""

    @property
    def variance(self) -> float:
        """The variance of the residuals; 0 for a single one."""
        return float(np.var(self.residuals, ddof=1)) if len(self.residuals) > 1 else 0.0

    def z(self, usual: float) -> float:
        """Return the mean in standard errors; `usual` replaces the variance of a residual if the pair's own is smaller."""
        variance = max(usual, self.variance)
        if variance <= 0.0:
            return 0.0
        widest = _WIDEST * math.sqrt(usual)
        mean = float(np.clip(self.residuals, -widest, widest).mean())
        return mean / math.sqrt(variance / len(self.residuals) + self.predicted)


def _joint(first: _Array, second: _Array) -> _Array | None:
    """Weights of the scores: the mean of the two owners' bots above the mean of the table."""
    if len(first) < LEAST_SEATS:
        return None
    both = first + second
    weights: _Array = both / both.sum() - 1.0 / len(both)
    return weights


def _difference(first: _Array, second: _Array) -> _Array | None:
    """Weights of the scores: the mean of the first owner's bots above that of the second's."""
    weights: _Array = first / first.sum() - second / second.sum()
    return weights


_AS_EXPECTED: Final[_Spreads] = {_joint: 1.0, _difference: 1.0}


class _Tested:
    """The statistics of all pairs of owners in some competitions, in standard errors."""

    def __init__(
        self, competitions: Sequence[Sequence[ScoredTables]], owner_of: Mapping[str, str]
    ) -> None:
        self._deal_sets: Counter[Owners] = Counter()
        self._z: dict[_Weights, dict[Owners, float]] = {}
        self._points: dict[_Weights, dict[Owners, float]] = {}
        by_competition = [_statistics(deal_sets, owner_of) for deal_sets in competitions]
        for weights_of in _AS_EXPECTED:
            sums: dict[Owners, float] = defaultdict(float)
            points: dict[Owners, float] = defaultdict(float)
            numbers = Counter[Owners]()
            for statistics in by_competition:
                z_values = _z_values(statistics[weights_of])
                for owners, one in statistics[weights_of].items():
                    number = len(one.residuals)
                    # The limit depends on the number of deal-sets, because the same help has the same effect in each.
                    sums[owners] += math.sqrt(number) * z_values[owners]
                    points[owners] += float(one.residuals.sum())
                    numbers[owners] += number
            self._z[weights_of] = {
                owners: total / math.sqrt(numbers[owners])
                if numbers[owners] >= LEAST_DEAL_SETS
                else 0.0
                for owners, total in sums.items()
            }
            self._points[weights_of] = {
                owners: total / numbers[owners] for owners, total in points.items()
            }
            if weights_of is _difference:
                self._deal_sets = numbers
        self.spreads = {weights_of: _spread(z) for weights_of, z in self._z.items()}
        self.owners = tuple(self._z[_difference])
        """The pairs that can be tested."""
        self.count = sum(map(len, self._z.values()))
        """The number of statistics."""

    def suspicion(self, owners: Owners, spreads: _Spreads) -> Suspicion:
        """Return the evidence about a pair, given the spreads of the statistics of honest pairs."""
        joint = None
        if owners in self._z[_joint]:
            joint = self._evidence(_joint, owners, spreads)
        difference = self._evidence(_difference, owners, spreads)
        return Suspicion(owners, self._deal_sets[owners], joint, difference)

    def _evidence(self, weights_of: _Weights, owners: Owners, spreads: _Spreads) -> Evidence:
        z = self._z[weights_of][owners] / spreads[weights_of]
        one_sided = weights_of is _joint  # a joint loss helps neither
        p_value = _NORMAL.cdf(-z) if one_sided else 2.0 * _NORMAL.cdf(-abs(z))
        points = self._points[weights_of][owners]
        return Evidence(points, p_value, stands=p_value * self.count <= _THRESHOLD)


def suspicions(
    competitions: Sequence[Sequence[ScoredTables]], owner_of: Mapping[str, str]
) -> tuple[Suspicion, ...]:
    """Return the evidence about all pairs of owners whose bots met at a table, largest first.

    A pair whose bots help each other distorts the skills from which others are predicted. So the pair of the largest
    evidence is compared with the spread of the others without the deal-sets that it shared. If it stands out, the
    others are tested again without these. A pair is left out if the other deal-sets do not determine the skills.

    Args:
      competitions: The complete deal-sets of each competition in one game; each has skills of its own.
      owner_of: The owner of each bot; a bot without an owner is not tested.
    """
    found: list[Suspicion] = []
    left = [list(deal_sets) for deal_sets in competitions]
    tested = _Tested(left, owner_of)
    while tested.owners:
        first, *_ = _in_order(tested.suspicion(pair, tested.spreads) for pair in tested.owners)
        if not tested.suspicion(first.owners, _AS_EXPECTED).stands:
            break  # the pair does not stand out with the larger spread of the others either
        left = [
            [deal_set for deal_set in of_one if first.owners not in _met(deal_set, owner_of)]
            for of_one in left
        ]
        others = _Tested(left, owner_of)
        first = tested.suspicion(first.owners, others.spreads)
        if not first.stands:
            break
        found.append(first)
        tested = others
    honest = (tested.suspicion(pair, tested.spreads) for pair in tested.owners)
    return _in_order([*found, *map(_not_standing, honest)])


def _not_standing(suspicion: Suspicion) -> Suspicion:
    joint, difference = suspicion.joint, suspicion.difference
    return replace(
        suspicion,
        joint=joint and replace(joint, stands=False),
        difference=replace(difference, stands=False),
    )


def _in_order(suspicions: Iterable[Suspicion]) -> tuple[Suspicion, ...]:
    return tuple(sorted(suspicions, key=lambda suspicion: (suspicion.p_value, suspicion.owners)))


def _met(deal_set: ScoredTables, owner_of: Mapping[str, str]) -> set[Owners]:
    return {
        pair
        for table in deal_set
        for pair in itertools.combinations(
            sorted({owner_of[bot] for bot in table.bots if bot in owner_of}), 2
        )
    }


def _statistics(
    deal_sets: Sequence[ScoredTables], owner_of: Mapping[str, str]
) -> dict[_Weights, dict[Owners, _Statistic]]:
    """Both statistics of all pairs that can be tested in a competition."""
    met: dict[Owners, list[int]] = defaultdict(list)
    for at, deal_set in enumerate(deal_sets):
        for owners in _met(deal_set, owner_of):
            met[owners].append(at)
    statistics: dict[_Weights, dict[Owners, _Statistic]] = {_joint: {}, _difference: {}}
    for owners, together in sorted(met.items()):
        inside = set(together)
        try:
            skills = Skills(
                fit(deal_set for at, deal_set in enumerate(deal_sets) if at not in inside)
            )
        except NotComparable:
            continue
        shared = [deal_sets[at] for at in together]
        for weights_of, of_pairs in statistics.items():
            statistic = _statistic(shared, owners, owner_of, skills, weights_of)
            if statistic is not None:
                of_pairs[owners] = statistic
    return statistics


def _statistic(
    deal_sets: Sequence[ScoredTables],
    owners: Owners,
    owner_of: Mapping[str, str],
    skills: Skills,
    weights_of: _Weights,
) -> _Statistic | None:
    """Return a statistic of the deal-sets in which both owners sat; None without any."""
    residuals, contrasts = [], []
    for deal_set in deal_sets:
        of_tables = []
        for table in deal_set:
            seats = [owner_of.get(bot) for bot in table.bots]
            if not set(owners) <= set(seats) or not skills.include(table.bots):
                continue
            first, second = (np.array([float(s == owner) for s in seats]) for owner in owners)
            weights = weights_of(first, second)
            if weights is not None:
                of_tables.append(skills.residual(table, weights))
                contrasts.append(skills.contrast(table, weights))
        if of_tables:
            residuals.append(float(np.mean(of_tables)))
    if not residuals:
        return None
    return _Statistic(np.array(residuals), skills.variance(np.mean(contrasts, axis=0)))


def _z_values(statistics: Mapping[Owners, _Statistic]) -> dict[Owners, float]:
    variances = [one.variance for one in statistics.values() if len(one.residuals) > 1]
    usual = float(np.median(variances)) if variances else 0.0
    return {owners: one.z(usual) for owners, one in statistics.items()}


def _spread(z_values: Mapping[Owners, float]) -> float:
    """Return the spread of the statistics of pairs in units of their standard errors; at least 1."""
    sizes = [abs(z) for z in z_values.values() if z]
    return max(1.0, float(np.median(sizes)) / _MEDIAN) if sizes else 1.0
