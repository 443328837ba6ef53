"""Multiple tests: the selection of verdicts that hold together.

At α = 0.05, one in twenty comparisons of equal bots finds a difference. Both procedures here bound the expected
share of false verdicts among those that they accept: e-BH for e-values, whatever the dependence between the tests
(Wang and Ramdas, *False discovery rate control with e-values*, JRSS-B 2022), and Benjamini and Hochberg's for
p-values (*Controlling the false discovery rate*, JRSS-B 1995), which holds for independent tests and, in the
simulations of `python -m tests.results.calls`, for all pairs of a field.
"""

import math
from collections.abc import Sequence

from arena.results.anytime.bet import ALPHA


def holds_among(e_values: Sequence[float], *, alpha: float = ALPHA) -> tuple[bool, ...]:
    """Return which of the tests are accepted; `e_values` are those of all tests that were made.

    The k tests of largest E are accepted, for the largest k at which the k-th E is at least m / (k α), where m
    is the number of tests.
    """
    found = [
        0.0 if math.isinf(e_value) else 1.0 / e_value if e_value else math.inf
        for e_value in e_values
    ]
    return _accepted(found, alpha)


def significant_among(p_values: Sequence[float], *, share: float) -> tuple[bool, ...]:
    """Return which of the tests are accepted; `p_values` are those of all tests that were made.

    The k tests of smallest p are accepted, for the largest k at which the k-th p is at most k `share` / m, where m
    is the number of tests.
    """
    return _accepted(p_values, share)


def _accepted(p_values: Sequence[float], share: float) -> tuple[bool, ...]:
    order = sorted(range(len(p_values)), key=lambda at: (p_values[at], at))
    accepted = 0
    for rank, at in enumerate(order, 1):
        if p_values[at] * len(p_values) <= rank * share:
            accepted = rank
    holding = set(order[:accepted])
    return tuple(at in holding for at in range(len(p_values)))
