"""The information of a deal-set in the margin fit, which does not depend on its result.

The fit's normal equations are sums over deal-sets. The matrix of a deal-set follows from its seating alone. So
the variance of the standings can be computed, and reduced where it is large, without using any result.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Tables: TypeAlias = Sequence[Sequence[str]]
"""The bots in seat order, by table."""


def rotations(group: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The tables of a deal-set in which each bot of the group has every seat once."""
    group = tuple(group)
    return tuple(group[at:] + group[:at] for at in range(len(group)))


def gram(tables: Tables) -> tuple[list[str], Array]:
    """The players of these tables, and (players, players): their term in the fit's matrix.

    The mean of the table and the mean of the seat over all tables are subtracted. For the n rotations of n bots
    it is n times the identity minus a matrix of ones.
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
