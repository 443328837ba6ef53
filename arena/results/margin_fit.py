"""The margin fit: the skill of each bot, in points a match, from complete deal-sets.

The model, for the bot at one seat of one table:

    score - table mean = skill - mean skill of the table + effect of (board, seat) + noise

with one effect for each seat of each deal-set, so that skills follow only from differences between bots that
had the same cards at the same seat. It is fitted by least squares; skills sum to zero.

*Winsorised.* One extreme match must not decide the standings. Residuals are clipped at a limit, and the fit is
repeated until it converges (Huber's M-estimate by modified residuals; Huber, *Robust Statistics*, 1981, 7.8). The
limit is the larger of the 99th percentile and three times the 90th percentile of the absolute margins, without
zeros. So at most about one match in a hundred is clipped. Below a hundred deal-sets there is no limit, as
outliers cannot be recognised yet.

*Clustered by deal-set.* Matches over the same boards are not independent, so the deal-set is the unit of
observation. Variances are the bias-reduced CR2 of Bell and McCaffrey (2002), with their Satterthwaite degrees of
freedom for each quantity. CR1 with (deal-sets - 1) degrees is too narrow for a bot that played in few of the
deal-sets. Effects of board and seat lie within one deal-set, so they may be projected out first (Pustejovsky
and Tipton 2018, theorem 2). For two bots the result is the t interval of the mean of paired differences, with
deal-sets - 1 degrees.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.results import student_t
from arena.results.variances import Cluster, Variances

CONFIDENCE: Final = 0.95

_Array: TypeAlias = npt.NDArray[np.float64]

_MIN_WINSORISED: Final = 100  # deal-sets
_TAIL: Final = 0.99  # quantile of absolute margins; only larger ones may be clipped
_BULK: Final = 0.90
_BULK_MULTIPLE: Final = 3.0  # 4.9 standard deviations of normal margins
_MAX_ROUNDS: Final = 200
_SETTLED: Final = 1e-10  # a smaller step, relative to the limit, ends the iteration
_ZERO: Final = 1e-9  # eigenvalues and sizes below this are rounding errors


class NotComparable(ValueError):
    """The deal-sets do not connect all bots, so they have no common scale."""


@dataclass(frozen=True, slots=True)
class MatchScores:
    """One match with its bots and scores."""

    bots: tuple[str, ...]
    """Names in seat order."""
    scores: tuple[float, ...]


ScoredTables: TypeAlias = tuple[MatchScores, ...]
"""All tables at which one list of boards was played."""


@dataclass(frozen=True, slots=True)
class SkillEstimate:
    """An estimate in points a match, with its error."""

    value: float
    standard_error: float | None
    """None if the deal-sets are too few to estimate it."""
    freedom: float | None
    """Degrees of freedom of the t distribution; None without an error, or if nothing varied."""

    @property
    def half_width(self) -> float | None:
        """The ± of the 95 % interval; None if it is unbounded."""
        return self.half_width_at((1 + CONFIDENCE) / 2)

    def half_width_at(self, probability: float) -> float | None:
        """Return the ± of the interval to this quantile of the t distribution; None if it is unbounded."""
        if self.standard_error is None or self.freedom is None:
            return self.standard_error
        return self.standard_error * student_t.quantile(probability, self.freedom)

    @property
    def chance_positive(self) -> float | None:
        """The probability that the true value is above zero, with a flat prior."""
        if self.standard_error is None:
            return None
        if self.standard_error == 0.0 or self.freedom is None:
            return float(self.value > 0) if self.value else 0.5
        return student_t.cdf(self.value / self.standard_error, self.freedom)


@dataclass(frozen=True, slots=True)
class Score:
    """A linear function of a bot's skill: `weight` times the skill, plus `points`.

    The default is the skill itself.
    """

    bot: str
    """The bot; it need not be in the fit if the weight is 0."""
    weight: float = 1.0
    points: float = 0.0


class MarginFit:
    """The fitted skills with their errors; made by `fit`."""

    def __init__(
        self, bots: tuple[str, ...], excluded: Collection[str], skills: _Array, variances: Variances
    ) -> None:
        self.bots: Final = tuple(bot for bot in bots if bot not in excluded)
        """In order of name, without the excluded ones."""
        self.excluded: Final = tuple(bot for bot in bots if bot in excluded)
        self._index = {bot: number for number, bot in enumerate(bots)}
        self._mean = np.zeros(len(bots))
        if self.bots:
            self._mean[[self._index[bot] for bot in self.bots]] = 1.0 / len(self.bots)
        self._skills = skills
        self._variances = variances

    def skill(self, bot: str) -> SkillEstimate:
        """Return the skill of `bot` in points a match, where the mean of all `bots` is 0."""
        (estimate,) = self.scores([Score(bot)])
        return estimate

    def scores(self, scores: Sequence[Score]) -> list[SkillEstimate]:
        if not scores:
            return []
        points = np.array([score.points for score in scores])
        return self._estimates(self._contrasts(scores), points)

    def values(self, scores: Sequence[Score]) -> npt.NDArray[np.float64]:
        """Return the values of the scores, without errors, which take longer."""
        points: _Array = np.array([score.points for score in scores])
        points += self._values(self._contrasts(scores))
        return points

    def difference(self, bot: str, other: str) -> SkillEstimate:
        """Return the skill of `bot` minus that of `other`, in points a match."""
        contrasts = self._contrasts([Score(bot), Score(other)])
        (estimate,) = self._estimates(contrasts[:, :1] - contrasts[:, 1:], np.zeros(1))
        return estimate

    def differences(self, scores: Sequence[Score]) -> list[list[SkillEstimate]]:
        """Return in list i score i minus each score after it."""
        contrasts = self._contrasts(scores)
        points = np.array([score.points for score in scores])
        return [
            [
                SkillEstimate(float(value), *sureness)
                for value, sureness in zip(
                    self._values(contrasts[:, at : at + 1] - contrasts[:, at + 1 :])
                    + (points[at] - points[at + 1 :]),
                    sure,
                    strict=True,
                )
            ]
            for at, sure in enumerate(self._variances.of_differences(contrasts))
        ]

    def covariance(self, scores: Sequence[Score]) -> npt.NDArray[np.float64]:
        """(scores, scores): the covariance of the scores' errors."""
        return self._variances.covariance(self._contrasts(scores))

    def _contrasts(self, scores: Sequence[Score]) -> _Array:
        """(skills, scores): the coefficients of the skills in each score."""
        contrasts = np.zeros((len(self._index), len(scores)))
        for at, score in enumerate(scores):
            if score.weight:
                contrasts[self._index[score.bot], at] = score.weight
                contrasts[:, at] -= score.weight * self._mean
        return contrasts

    def _estimates(self, contrasts: _Array, points: _Array) -> list[SkillEstimate]:
        return [
            SkillEstimate(float(value), *sureness)
            for value, sureness in zip(
                self._values(contrasts) + points, self._variances.of(contrasts), strict=True
            )
        ]

    def _values(self, contrasts: _Array) -> _Array:
        values: _Array = contrasts.T @ self._skills
        return values


def fit(deal_sets: Iterable[ScoredTables], *, excluded: Collection[str] = ()) -> MarginFit:
    """Fit the skills of all bots in `deal_sets`, which must be complete.

    The `excluded` bots are fitted, but are not part of the mean that is skill 0.

    Raises `NotComparable` if some bots cannot be compared with others, or there are none.
    """
    played = tuple(deal_sets)
    bots = tuple(sorted({bot for tables in played for table in tables for bot in table.bots}))
    if not bots:
        raise NotComparable("no deal-set is complete yet")
    designs = _designs(played, {bot: number for number, bot in enumerate(bots)})
    gram = _gram(designs, len(bots))
    _require_comparable(gram, bots)
    inverse = _pseudo_inverse(gram)
    limit = _limit(designs)
    skills = _winsorised(designs, inverse, limit)
    skills -= skills.mean()  # exactly zero, where least squares leaves a rounding error
    clusters, rows, within = [], 0, 0
    for design in designs:
        residuals = design.residuals(skills, limit)
        clusters.append(Cluster(design.members, design.gram, residuals @ design.rows))
        rows += residuals.size
        within += int((abs(residuals) < limit).sum())
    # Huber's correction, as a clipped residual has no information about the slope.
    variances = Variances(inverse, clusters, (rows / within) ** 2 if within else 1.0)
    return MarginFit(bots, excluded, skills, variances)


@dataclass(frozen=True, slots=True)
class _Design:
    """The deal-sets with the same seating, up to the names of the bots.

    The bots of a deal-set are numbered in the order in which they appear. So there are few designs, and none has
    more columns than a deal-set has bots.
    """

    rows: _Array
    """(tables x seats, own bots): the coefficients of the skills in each margin."""
    members: npt.NDArray[np.intp]
    """(deal-sets, own bots): the index of each bot among all bots."""
    margins: _Array
    """(deal-sets, tables x seats): scores minus the mean of the table and the effect of the seat."""

    @property
    def gram(self) -> _Array:
        """(own bots, own bots): rows, transposed, times rows."""
        return self.rows.T @ self.rows

    def residuals(self, skills: _Array, limit: float) -> _Array:
        """Return the residuals of the margins, clipped at the limit."""
        residuals: _Array = (self.margins - skills[self.members] @ self.rows.T).clip(-limit, limit)
        return residuals


def _designs(played: Sequence[ScoredTables], index: Mapping[str, int]) -> tuple[_Design, ...]:
    alike: dict[tuple[tuple[int, ...], ...], tuple[list[list[int]], list[list[float]]]]
    alike = defaultdict(lambda: ([], []))
    for tables in played:
        numbers: dict[str, int] = {}
        # Tables are sorted, so that more deal-sets share a design.
        seated = [
            (tuple(numbers.setdefault(bot, len(numbers)) for bot in table.bots), table.scores)
            for table in sorted(tables, key=lambda table: table.bots)
        ]
        seated.sort(key=lambda table: table[0])
        members, scores = alike[tuple(seating for seating, _ in seated)]
        members.append([index[bot] for bot in numbers])
        scores.append([score for _, row in seated for score in row])
    designs = []
    for seating, (members, scores) in alike.items():
        shape = len(seating), len(seating[0])
        who = np.zeros((1, *shape, 1 + max(map(max, seating))))
        for table, bots in enumerate(seating):
            for seat, bot in enumerate(bots):
                who[0, table, seat, bot] = 1.0
        margins = _adjusted(np.array(scores, dtype=np.float64).reshape(-1, *shape, 1))
        designs.append(
            _Design(
                _adjusted(who).reshape(shape[0] * shape[1], -1),
                np.array(members, dtype=np.intp),
                margins.reshape(len(scores), -1),
            )
        )
    return tuple(designs)


def _adjusted(values: _Array) -> _Array:
    """Subtract from (deal-sets, tables, seats, …) the means of each table and of each seat."""
    within = values - values.mean(axis=2, keepdims=True)
    adjusted: _Array = within - within.mean(axis=1, keepdims=True)
    return adjusted


def _gram(designs: Sequence[_Design], bots: int) -> _Array:
    gram = np.zeros((bots, bots))
    for design in designs:
        np.add.at(gram, (design.members[:, :, None], design.members[:, None, :]), design.gram)
    return gram


def _require_comparable(gram: _Array, bots: tuple[str, ...]) -> None:
    linked = abs(gram) > _ZERO
    groups: list[list[str]] = []
    waiting = np.full(len(bots), fill_value=True)
    while waiting.any():
        group = np.arange(len(bots)) == waiting.argmax()
        while (wider := linked[group].any(axis=0) | group).sum() > group.sum():
            group = wider
        waiting &= ~group
        groups.append([bots[number] for number in np.flatnonzero(group)])
    if len(groups) > 1:
        first, *rest = (" and ".join(group) for group in groups)
        raise NotComparable(
            f"{first} did not meet {', or '.join(rest)}, directly or through others, "
            "over the same boards: they cannot be ranked together"
        )
    if (
        np.linalg.matrix_rank(gram, tol=_ZERO * float(np.trace(gram)), hermitian=True)
        < len(bots) - 1
    ):
        raise NotComparable("the deal-sets played do not tell all the bots' skills apart")


def _pseudo_inverse(gram: _Array) -> _Array:
    values, vectors = np.linalg.eigh(gram)
    kept = values > _ZERO * max(values[-1], 1.0)
    inverse: _Array = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return inverse


def _limit(designs: Sequence[_Design]) -> float:
    """Return the limit at which residuals are clipped; infinite for none."""
    if sum(len(design.margins) for design in designs) < _MIN_WINSORISED:
        return math.inf
    sizes = abs(np.concatenate([design.margins.ravel() for design in designs]))
    sizes = sizes[sizes > _ZERO * sizes.max()]
    if not len(sizes):  # all matches were tied
        return math.inf
    tail, bulk = np.quantile(sizes, (_TAIL, _BULK), method="higher")
    return float(max(tail, _BULK_MULTIPLE * bulk))


def _winsorised(designs: Sequence[_Design], inverse: _Array, limit: float) -> _Array:
    """Least squares, repeated with clipped residuals until it converges; one round without a limit."""
    skills = np.zeros(len(inverse))
    for _ in range(_MAX_ROUNDS):
        moment = np.zeros(len(inverse))
        for design in designs:
            np.add.at(moment, design.members, design.residuals(skills, limit) @ design.rows)
        step = inverse @ moment
        skills = skills + step
        if math.isinf(limit) or abs(step).max() <= _SETTLED * limit:
            break
    return skills
