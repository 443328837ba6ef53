"""Many questions at once: which of the answers hold together.

Each verdict errs in one of twenty questions between equals. Who asks forty of them finds two winners
that are none. The e-BH procedure keeps the share of false ones among those it lets stand at α, on
average, however the questions hang together (Wang and Ramdas, *False discovery rate control with
e-values*, JRSS-B 2022).
"""

import math
from collections.abc import Sequence

from arena.anytime.bet import ALPHA


def holds_among(e_values: Sequence[float], *, alpha: float = ALPHA) -> tuple[bool, ...]:
    """Which of the questions stand, all of those that were asked being given.

    The k questions of largest E stand, for the largest k at which the k-th E is at least m / (k α),
    m being all of them.
    """
    order = sorted(range(len(e_values)), key=lambda at: (-e_values[at], at))
    standing = 0
    for rank, at in enumerate(order, 1):
        if e_values[at] * rank * alpha >= len(e_values) or math.isinf(e_values[at]):
            standing = rank
    stands = set(order[:standing])
    return tuple(at in stands for at in range(len(e_values)))
