"""The margin fit as it was first written, each deal-set a matrix as wide as there are bots.

It is slow, and says the same thing plainly: `arena.results.margin_fit` must agree with it.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.results.margin_fit import NotComparable, ScoredTables, SkillEstimate, _require_comparable

_Array: TypeAlias = npt.NDArray[np.float64]

_MIN_WINSORISED: Final = 100  # deal-sets
_TAIL: Final = 0.99  # of the sizes: what is larger may be pulled in
_BULK: Final = 0.90
_BULK_MULTIPLE: Final = 3.0  # 4.9 standard deviations, were margins normal
_MAX_ROUNDS: Final = 200
_SETTLED: Final = 1e-10  # a step so small, relative to the limit, ends the rounds
_ZERO: Final = 1e-9  # eigenvalues and shares below this are rounding errors


class MarginFit:
    """The fitted skills and what follows from them; made by `fit`."""

    def __init__(self, bots: tuple[str, ...], skills: _Array, errors: "_Errors") -> None:
        self.bots: Final = bots
        """In order of name."""
        self._index = {bot: number for number, bot in enumerate(bots)}
        self._skills = skills
        self._errors = errors

    def skill(self, bot: str) -> SkillEstimate:
        """The skill of `bot` in points a match, where all the bots' mean is 0."""
        contrast = np.full(len(self.bots), -1.0 / len(self.bots))
        contrast[self._index[bot]] += 1.0
        return self._estimate(contrast)

    def difference(self, bot: str, other: str) -> SkillEstimate:
        """By how many points a match `bot` is better than `other`."""
        contrast = np.zeros(len(self.bots))
        contrast[self._index[bot]] += 1.0
        contrast[self._index[other]] -= 1.0
        return self._estimate(contrast)

    def _estimate(self, contrast: _Array) -> SkillEstimate:
        return SkillEstimate(float(contrast @ self._skills), *self._errors.of(contrast))


def fit(deal_sets: Iterable[ScoredTables]) -> MarginFit:
    """Fit the skills of all the bots that played in `deal_sets`, which must be complete.

    Raises:
      NotComparable: if some bots cannot be compared with others, or there are none.
    """
    played = tuple(deal_sets)
    bots = tuple(sorted({bot for each in played for table in each for bot in table.bots}))
    if not bots:
        raise NotComparable("no deal-set is complete yet")
    designs = _designs(played, {bot: number for number, bot in enumerate(bots)})
    gram = sum((d.count * d.gram for d in designs), start=np.zeros((len(bots), len(bots))))
    _require_comparable(gram, bots)
    root = _inverse_root(gram)
    limit = _limit(designs)
    skills = _winsorised(designs, root, limit)
    skills -= skills.mean()  # exactly zero, where least squares leaves a rounding error
    return MarginFit(bots, skills, _Errors(designs, root, skills, limit))


@dataclass(frozen=True, slots=True)
class _Design:
    """The deal-sets in which the same bots sat at the same places."""

    rows: _Array
    """(tables x seats, bots): each row says whose skills its margin compares."""
    margins: _Array
    """(deal-sets, tables x seats), less the mean of the table and the effect of the seat."""
    gram: _Array
    """(bots, bots): rows, transposed, times rows."""

    @property
    def count(self) -> int:
        return len(self.margins)


def _designs(played: Sequence[ScoredTables], index: Mapping[str, int]) -> tuple[_Design, ...]:
    seatings: dict[tuple[tuple[str, ...], ...], list[list[tuple[float, ...]]]] = defaultdict(list)
    for each in played:
        # The order of tables means nothing; sorted, more deal-sets share a design.
        tables = sorted(each, key=lambda table: table.bots)
        seatings[tuple(table.bots for table in tables)].append([table.scores for table in tables])
    designs = []
    for seating, scores in seatings.items():
        who = np.zeros((1, len(seating), len(seating[0]), len(index)))
        for table, bots in enumerate(seating):
            for seat, bot in enumerate(bots):
                who[0, table, seat, index[bot]] = 1.0
        rows = _adjusted(who).reshape(-1, len(index))
        margins = _adjusted(np.array(scores, dtype=np.float64)[..., np.newaxis])
        designs.append(_Design(rows, margins.reshape(len(scores), -1), rows.T @ rows))
    return tuple(designs)


def _adjusted(values: _Array) -> _Array:
    """Take from (deal-sets, tables, seats, …) the means of each table and each seat."""
    within = values - values.mean(axis=2, keepdims=True)
    adjusted: _Array = within - within.mean(axis=1, keepdims=True)
    return adjusted


def _inverse_root(gram: _Array) -> _Array:
    """The symmetric square root of the pseudo-inverse."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > _ZERO * max(values[-1], 1.0)
    scales = np.zeros_like(values)
    scales[kept] = values[kept] ** -0.5
    root: _Array = (vectors * scales) @ vectors.T
    return root


def _limit(designs: Sequence[_Design]) -> float:
    """The largest size of a residual that is left as it is; infinite if all are."""
    if sum(design.count for design in designs) < _MIN_WINSORISED:
        return math.inf
    sizes = abs(np.concatenate([design.margins.ravel() for design in designs]))
    sizes = sizes[sizes > _ZERO * sizes.max()]
    if not len(sizes):  # everybody always tied
        return math.inf
    tail, bulk = np.quantile(sizes, (_TAIL, _BULK), method="higher")
    return float(max(tail, _BULK_MULTIPLE * bulk))


def _residuals(design: _Design, skills: _Array, limit: float) -> _Array:
    residuals: _Array = (design.margins - design.rows @ skills).clip(-limit, limit)
    return residuals


def _winsorised(designs: Sequence[_Design], root: _Array, limit: float) -> _Array:
    """Least squares, repeated on residuals within the limit; without one, the first is it."""
    skills = np.zeros(len(root))
    for _ in range(_MAX_ROUNDS):
        moment = sum(
            (d.rows.T @ _residuals(d, skills, limit).sum(axis=0) for d in designs),
            start=np.zeros(len(root)),
        )
        step = root @ (root @ moment)
        skills = skills + step
        if math.isinf(limit) or abs(step).max() <= _SETTLED * limit:
            break
    return skills


class _Errors:
    """The CR2 variances of a fit and their degrees of freedom.

    Everything is in coordinates in which the skills' least-squares covariance
    is the identity: a contrast c of skills becomes `root @ c`.
    """

    def __init__(
        self, designs: Sequence[_Design], root: _Array, skills: _Array, limit: float
    ) -> None:
        bots = len(root)
        self._root = root
        shares: list[tuple[int, _Array, _Array]] = []
        self._blind = np.zeros((bots, 0))
        self._variance = np.zeros((bots, bots))
        rows = within = 0
        for alike in _by_gram(designs):
            leverages, vectors = np.linalg.eigh(root @ alike[0].gram @ root)
            # A direction of leverage 1 is known from this deal-set alone: no error can be told.
            blind = leverages > 1.0 - _ZERO
            self._blind = np.hstack([self._blind, vectors[:, blind]])
            seen = ~blind & (leverages > _ZERO)
            leverages, vectors = leverages[seen], vectors[:, seen]
            shares.append((sum(design.count for design in alike), leverages, vectors))
            for design in alike:
                residuals = _residuals(design, skills, limit)
                scores = residuals @ design.rows @ root @ vectors * (1.0 - leverages) ** -0.5
                self._variance += vectors @ (scores.T @ scores) @ vectors.T
                rows += residuals.size
                within += int((abs(residuals) < limit).sum())
        # Side by side in arrays, as wide as the widest; what is missing has no leverage.
        width = max(len(leverages) for _, leverages, _ in shares)
        self._counts = np.array([count for count, _, _ in shares], dtype=np.float64)
        self._leverages = np.zeros((len(shares), width))
        self._vectors = np.zeros((len(shares), bots, width))
        for number, (_, leverages, vectors) in enumerate(shares):
            self._leverages[number, : len(leverages)] = leverages
            self._vectors[number, :, : len(leverages)] = vectors
        # A pulled-in residual tells nothing of the slope: Huber's correction.
        self._variance *= (rows / within) ** 2

    def of(self, contrast: _Array) -> tuple[float | None, float | None]:
        """The standard error and the degrees of freedom of a contrast of skills."""
        direction = self._root @ contrast
        scale = float(direction @ direction)
        if ((direction @ self._blind) ** 2 > _ZERO * scale).any():
            return None, None
        # What never varied comes out a hair above or below zero.
        variance = max(float(direction @ self._variance @ direction), 0.0)
        return math.sqrt(variance), self._freedom(direction)

    def _freedom(self, direction: _Array) -> float | None:
        # Bell and McCaffrey's: 2 mean² / variance of the estimated variance, were the noise
        # independent and normal. `own` and `shared` are the parts of that quadratic form within
        # a deal-set and between two of them.
        along = np.einsum("b,dbw->dw", direction, self._vectors)
        own = (along**2 * self._leverages / (1.0 - self._leverages)).sum(axis=1)
        weights = along * self._leverages * (1.0 - self._leverages) ** -0.5
        reach = np.einsum("dbw,dw->db", self._vectors, weights)
        overlap = (reach**2).sum(axis=1)
        shared = (reach.T * self._counts) @ reach
        mean = float(self._counts @ (own - overlap))
        squares = float(self._counts @ (own**2 - 2 * own * overlap) + (shared**2).sum())
        return mean**2 / squares if squares > 0 else None


def _by_gram(designs: Sequence[_Design]) -> Iterable[list[_Design]]:
    """Designs grouped by their Gram matrix: their leverages, the dear part, are the same."""
    alike: dict[bytes, list[_Design]] = defaultdict(list)
    for design in designs:
        # Adding 0 makes a negative zero positive.
        alike[(design.gram.round(9) + 0.0).tobytes()].append(design)
    return alike.values()
