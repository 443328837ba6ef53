"""Finds good values of a bot's parameters from margins of deal-sets: a race over candidates, then SPSA from its winner.

The race plays all candidates against the start on the same deal-sets, and drops one when the anytime test decides that
the leader is better. SPSA (Spall, *Multivariate stochastic approximation using a simultaneous perturbation gradient
approximation*, IEEE Transactions on Automatic Control 1992) moves all parameters at once: it lets two points on both
sides of the present one play each other, and steps towards the better. Its result is the mean of the later half of its
points; the interval is that of the means of batches of these, and is approximate. This module plays no deal-sets.
"""

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from arena.results.anytime.bet import ALPHA
from arena.results.anytime.verdict import Decision, Verdict, verdict
from arena.results.student_t import quantile

Point: TypeAlias = tuple[float, ...]
"""A value of each parameter, from 0 for its lowest to 1 for its highest."""

BLOCK: Final = 16
"""The number of deal-sets of a trial."""
BATCHES: Final = 5
"""The number of batches of the later half of the points of SPSA, for the interval."""
_FEWEST_STEPS: Final = 20
"""The number of steps before SPSA may stop early, and between two checks of the interval."""
_REACH: Final = 0.15
"""The distance of the two points of a first step from the present one."""
_GAIN: Final = 0.15
"""The length of a first step if the margin is one standard deviation for a difference of 1."""


class Chance(Protocol):
    """Draws at random, as `random.Random`."""

    def random(self) -> float: ...
    def shuffle(self, x: list[float], /) -> None: ...
    def choice(self, seq: tuple[float, float], /) -> float: ...


class BadParameter(ValueError):
    """A parameter is not given as NAME=LOW..HIGH. The text says why."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that a bot reads from its command, and the range in which a good value is sought."""

    name: str
    low: float
    high: float
    is_whole: bool
    """Whether its values are whole numbers."""

    @classmethod
    def of(cls, text: str) -> "Parameter":
        """Read a parameter, as `depth=1..8` or `weight=0.1..2.0`; two whole ends make it whole.

        Raises `BadParameter` if it is not written so.
        """
        name, _, ends = text.partition("=")
        low, dots, high = ends.partition("..")
        try:
            numbers = float(low), float(high)
        except ValueError:
            numbers = math.nan, math.nan
        is_name = name.replace("-", "").replace("_", "").isalnum() and not name.startswith("-")
        if not (is_name and dots and numbers[0] < numbers[1] and all(map(math.isfinite, numbers))):
            raise BadParameter(f"{text!r} is no parameter: write NAME=LOW..HIGH, as in a=0.1..2.0")
        return cls(name, *numbers, is_whole=low.lstrip("+-").isdigit() and high.isdigit())

    def value(self, place: float) -> float:
        """Return the value at a place from 0 to 1."""
        value = self.low + place * (self.high - self.low)
        return round(value) if self.is_whole else float(f"{value:.4g}")

    def word(self, place: float) -> str:
        """Return the word of a command that gives a bot the value at a place."""
        return f"--{self.name}={self.value(place)}"


@dataclass(frozen=True, slots=True)
class Trial:
    """Deal-sets to play, for the margins of the first point over the second."""

    first: Point
    second: Point
    numbers: range
    """The numbers of the deal-sets. A number stands for the same cards in all trials."""


@dataclass(frozen=True, slots=True)
class TuningLimits:
    """The limits of the number of deal-sets."""

    candidates: int
    """The number of candidates of the race, including the start."""
    race: int
    """The number of deal-sets of each candidate in the race."""
    steps: int
    """The number of steps of SPSA, of `BLOCK` deal-sets each."""
    check: int
    """The number of deal-sets in which the result plays against the start."""
    precision: float = 0.05
    """SPSA stops when the interval of each parameter reaches so far to both sides, as a share of its range."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """The result of tuning."""

    best: Point
    low: Point
    high: Point
    """The upper ends of the approximate 95 % intervals of the parameters; `low` has the lower ends."""
    winner: Point
    """The winner of the race, from which SPSA began."""
    in_race: int
    """The number of candidates that the race did not drop."""
    steps: int
    deal_sets: int
    """The number of all deal-sets that were played."""
    verdict: Verdict
    """The verdict on the best point against the start."""


Tuning: TypeAlias = Generator[list[Trial], Sequence[Sequence[float]], Tuned]
"""Yields trials to be played, receives the margins of each, and returns the result.

The same margins give the same trials, so a run can be continued by sending it its margins again.
"""


def tuning(dimensions: int, limits: TuningLimits, bound: float | None, chance: Chance) -> Tuning:
    """Find the best values of parameters, beginning in the middle of their ranges.

    Args:
      bound: The largest margin that the rules allow; None if there is no limit.
    """
    start = (0.5,) * dimensions
    candidates = [start, *_spread(limits.candidates - 1, dimensions, chance)]
    racing, raced, played = yield from _race(candidates, start, limits.race, bound)
    points = yield from _spsa(candidates[racing[0]], limits, chance, raced)
    steps = len(points) - 1
    best, reach = _mean_of_later(points)
    low = tuple(max(0.0, place - each) for place, each in zip(best, reach, strict=True))
    high = tuple(min(1.0, place + each) for place, each in zip(best, reach, strict=True))
    margins: list[float] = []
    first = raced + steps * BLOCK + 1
    so_far = verdict(margins, bound)
    while len(margins) < limits.check and so_far.decision is Decision.OPEN:
        numbers = range(first + len(margins), first + len(margins) + BLOCK)
        (new,) = yield [Trial(best, start, numbers)]
        margins += new
        so_far = verdict(margins, bound)
    played += steps * BLOCK + len(margins)
    return Tuned(best, low, high, candidates[racing[0]], len(racing), steps, played, so_far)


def _spread(count: int, dimensions: int, chance: Chance) -> list[Point]:
    """Points that cover each parameter's range evenly: a Latin hypercube."""
    columns = [[(row + chance.random()) / count for row in range(count)] for _ in range(dimensions)]
    for column in columns:
        chance.shuffle(column)
    return [*zip(*columns, strict=True)]


def _race(
    candidates: Sequence[Point], start: Point, most: int, bound: float | None
) -> Generator[list[Trial], Sequence[Sequence[float]], tuple[list[int], int, int]]:
    """Yield trials; return the candidates that are left, the leader first, the number of deal-sets of each of these, and the number of all."""
    margins: list[list[float]] = [[] for _ in candidates]
    racing, number, played = [*range(len(candidates))], 0, 0
    alpha = ALPHA / max(1, len(candidates) - 1)
    while len(racing) > 1 and number < most:
        numbers = range(number + 1, number + BLOCK + 1)
        rivals = [at for at in racing if candidates[at] != start]
        new = yield [Trial(candidates[at], start, numbers) for at in rivals]
        played += BLOCK * len(rivals)
        number += BLOCK
        for at, more in zip(rivals, new, strict=True):
            margins[at] += more
        margins[0] = [0.0] * number  # the margins of the start against itself
        racing.sort(key=lambda at: -math.fsum(margins[at]))
        ahead = margins[racing[0]]

        def is_near(at: int, ahead: Sequence[float] = ahead) -> bool:
            leads = [one - other for one, other in zip(ahead, margins[at], strict=True)]
            widest = None if bound is None else 2 * bound
            return verdict(leads, widest, alpha=alpha).decision is not Decision.BETTER

        racing = [at for at in racing if at == racing[0] or is_near(at)]
    return racing, number, played


def _spsa(
    start: Point, limits: TuningLimits, chance: Chance, after: int
) -> Generator[list[Trial], Sequence[Sequence[float]], list[Point]]:
    """Yield trials; return the points of SPSA, the start first. Its deal-sets have the numbers after `after`."""
    points, squares, count = [start], 0.0, 0
    for step in range(limits.steps):
        reach = _REACH / (step + 1) ** 0.101
        gain = _GAIN * ((1 + 0.1 * limits.steps) / (step + 1 + 0.1 * limits.steps)) ** 0.602
        signs = [chance.choice((-1.0, 1.0)) for _ in start]
        here = points[-1]
        first, second = (
            tuple(_within(x + side * reach * sign) for x, sign in zip(here, signs, strict=True))
            for side in (1, -1)
        )
        numbers = range(after + step * BLOCK + 1, after + (step + 1) * BLOCK + 1)
        (margins,) = yield [Trial(first, second, numbers)]
        squares += math.fsum(margin**2 for margin in margins)
        count += len(margins)
        lead = math.fsum(margins) / len(margins) / (math.sqrt(squares / count) or 1.0)
        apart = [one - other for one, other in zip(first, second, strict=True)]
        points.append(
            tuple(_within(x + gain * lead / gap) for x, gap in zip(here, apart, strict=True))
        )
        if step + 1 >= _FEWEST_STEPS and (step + 1) % _FEWEST_STEPS == 0:
            _, reaches = _mean_of_later(points)
            if max(reaches) <= limits.precision:
                break
    return points


def _within(place: float) -> float:
    return min(1.0, max(0.0, place))


def _mean_of_later(points: Sequence[Point]) -> tuple[Point, Point]:
    """Return the mean of the later half of the points, and the ± of its 95 % interval, from means of batches."""
    later = points[len(points) // 2 :]
    best = tuple(math.fsum(column) / len(later) for column in zip(*later, strict=True))
    size = len(later) // BATCHES
    if not size:
        return best, (1.0,) * len(best)
    used = later[-size * BATCHES :]
    reaches = []
    for column in zip(*used, strict=True):
        means = [math.fsum(column[at : at + size]) / size for at in range(0, len(used), size)]
        mean = math.fsum(means) / BATCHES
        variance = math.fsum((each - mean) ** 2 for each in means) / (BATCHES - 1)
        reaches.append(quantile(0.975, BATCHES - 1) * math.sqrt(variance / BATCHES))
    return best, tuple(reaches)
