"""What a deal-set will tell of whom, whatever its result: the part of the margin fit that is known before.

The fit's normal equations are sums over deal-sets. What a deal-set adds to their matrix follows from
who sits where alone. So the variance that the table will have can be reckoned, and made small where it
is large, without a look at a result.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Tables: TypeAlias = Sequence[Sequence[str]]
"""Who sits where, a table after the other."""


def rotations(group: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The tables of a deal-set at which each of the group has every seat once."""
    group = tuple(group)
    return tuple(group[at:] + group[:at] for at in range(len(group)))


def gram(tables: Tables) -> tuple[list[str], Array]:
    """Who plays at these tables, and (players, players): what that adds to the fit's matrix.

    Of each seat's score the table's mean and the mean of the same seat at all tables are taken. For
    the n rotations of n bots it is n times the identity, less a matrix of ones.
    """
    players = sorted({bot for table in tables for bot in table})
    index = {bot: number for number, bot in enumerate(players)}
    seated = np.zeros((len(tables), len(tables[0]), len(players)))
    for number, table in enumerate(tables):
        for seat, bot in enumerate(table):
            seated[number, seat, index[bot]] = 1.0
    seated -= seated.mean(axis=1, keepdims=True)
    seated -= seated.mean(axis=0, keepdims=True)
    rows = seated.reshape(-1, len(players))
    added: Array = rows.T @ rows
    return players, added
