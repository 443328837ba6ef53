"""Pairs of bots: verdicts on their margins, cycles, and the share of differences that skills do not explain.

Standings rank bots on one scale. If three bots win against each other in a cycle, no scale is right. So the
standings show the cycles in which every difference is decided, and the share of the differences between pairs
that skills leave unexplained.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from arena.results.anytime.multiple_tests import holds_among
from arena.results.anytime.verdict import Decision, PairVerdict, pair_verdicts

Pair: TypeAlias = tuple[str, str]
"""Two bots in order of name; margins are of the first over the second."""


def verdicts(
    margins: Mapping[Pair, Sequence[float]], bound: float | None
) -> dict[Pair, PairVerdict]:
    """Return the verdict on each pair, decided if it holds among all pairs by the present evidence.

    Raises `BeyondBound` if a margin is larger than `bound`.
    """
    alone = pair_verdicts([*margins.values()], bound)
    held = holds_among([one.e_value for one in alone])
    return {
        pair: judged if holds else replace(judged, decision=Decision.OPEN)
        for pair, judged, holds in zip(margins, alone, held, strict=True)
    }


def cycles(decided: Mapping[Pair, PairVerdict]) -> tuple[tuple[str, str, str], ...]:
    """Return all cycles of three bots in which each is decided to be better than the next, first name first."""
    worse_than: dict[str, set[str]] = defaultdict(set)
    for (one, other), judged in decided.items():
        if judged.decision is Decision.BETTER:
            worse_than[one].add(other)
        elif judged.decision is Decision.WORSE:
            worse_than[other].add(one)
    return tuple(
        sorted(
            (one, other, third)
            for one, worse in list(worse_than.items())
            for other in worse
            for third in worse_than.get(other, set())
            if one in worse_than.get(third, set()) and one < min(other, third)
        )
    )


def unexplained_share(margins: Mapping[Pair, Sequence[float]]) -> float | None:
    """Return the share of the variance between pairs that no scale of skills explains, 0 to 1.

    The skills are those that explain most of the pairs' mean margins, by least squares. The expected contribution
    of chance is subtracted from the variance of the means and from that of their residuals; for the residuals it is
    smaller, because the skills were fitted to them. None if there are no more pairs than the skills need, or if
    chance explains all variance.
    """
    repeated = {pair: of_pair for pair, of_pair in margins.items() if len(of_pair) > 1}
    names = sorted({bot for pair in repeated for bot in pair})
    roots = np.sqrt([len(of_pair) for of_pair in repeated.values()])
    design = np.zeros((len(repeated), len(names)))
    for row, (one, other) in enumerate(repeated):
        design[row, names.index(one)], design[row, names.index(other)] = roots[row], -roots[row]
    means = np.array([math.fsum(of_pair) / len(of_pair) for of_pair in repeated.values()])
    skills, _, needed, _ = np.linalg.lstsq(design, roots * means)
    spare = len(repeated) - int(needed)
    if spare < 1:
        return None
    noise = math.fsum(float(np.var(of_pair, ddof=1)) for of_pair in repeated.values())
    left = float(np.sum((roots * means - design @ skills) ** 2))
    real = float(np.sum((roots * means) ** 2)) - noise
    if real <= 0.0:
        return None
    return min(1.0, max(0.0, left - noise * spare / len(repeated)) / real)
