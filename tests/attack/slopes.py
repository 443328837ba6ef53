"""Whether something grows: a line through what was measured, and how sure it is."""

import itertools
import math
from dataclasses import dataclass

NORMAL_95 = 1.96


@dataclass(frozen=True)
class Slope:
    """By how much something grows."""

    per_unit: float
    """Growth for one unit of the first axis."""
    margin: float
    """Half of the 95 % interval."""

    @property
    def low(self):
        """What it grows by at least, with 97.5 % confidence."""
        return self.per_unit - self.margin

    @property
    def high(self):
        """What it grows by at most, with 97.5 % confidence."""
        return self.per_unit + self.margin


def slope(points):
    """The least-squares line through points (x, y).

    Measurements of memory follow one another closely, so that they count for
    fewer than there are: by the lag-1 correlation r of the residuals, for
    n (1 - r) / (1 + r), and at least 3.
    """
    n = len(points)
    mean_x = sum(x for x, _ in points) / n
    mean_y = sum(y for _, y in points) / n
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    per_unit = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    residuals = [y - mean_y - per_unit * (x - mean_x) for x, y in points]
    squares = sum(each**2 for each in residuals)
    if squares == 0:
        return Slope(per_unit, 0.0)
    neighbours = sum(a * b for a, b in itertools.pairwise(residuals))
    r = min(0.99, max(0.0, neighbours / squares))
    worth = max(3.0, n * (1 - r) / (1 + r))
    variance = squares / (worth - 2) if worth > 2 else math.inf
    return Slope(per_unit, NORMAL_95 * math.sqrt(variance / spread))
