"""Estimate the units that three rows win from a good opponent.

Each row counts by itself: the probability that it beats the same row of the opponent, and the units
that it then wins. The probability of a scoop is added.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from arena.games.chinese.hands import SCOOP_UNITS, back_units, front_units, middle_units
from arena.games.poker import HandClass, least

# Quantiles of poker values: a row of the best setting of a random hand is equally likely between any
# two neighbours. They were fitted to the best settings in games against each other;
# tests/games/test_chinese_settings.py measures them.
FRONT_STEPS: Final = (
    least(HandClass.HIGH_CARD, "Q"),
    least(HandClass.HIGH_CARD, "KJ"),
    least(HandClass.HIGH_CARD, "AT"),
    least(HandClass.HIGH_CARD, "AQ"),
    least(HandClass.HIGH_CARD, "AKJ"),
    least(HandClass.PAIR, "5"),
    least(HandClass.PAIR, "8"),
    least(HandClass.PAIR, "T"),
    least(HandClass.PAIR, "JK"),
    least(HandClass.PAIR, "QA"),
    least(HandClass.PAIR, "KQ"),
)
MIDDLE_STEPS: Final = (
    least(HandClass.PAIR, "9"),
    least(HandClass.PAIR, "Q"),
    least(HandClass.PAIR, "KJ"),
    least(HandClass.PAIR, "AJ"),
    least(HandClass.TWO_PAIR, "6"),
    least(HandClass.TWO_PAIR, "96"),
    least(HandClass.TWO_PAIR, "J7"),
    least(HandClass.TRIPS, "3"),
    least(HandClass.TRIPS, "Q"),
    least(HandClass.STRAIGHT, "8"),
    least(HandClass.STRAIGHT, "K"),
)
BACK_STEPS: Final = (
    least(HandClass.TWO_PAIR, "9"),
    least(HandClass.TRIPS, "T"),
    least(HandClass.STRAIGHT, "9"),
    least(HandClass.STRAIGHT, "K"),
    least(HandClass.FLUSH, "JT"),
    least(HandClass.FLUSH, "KJ"),
    least(HandClass.FLUSH, "AJ"),
    least(HandClass.FLUSH, "AK"),
    least(HandClass.FULL_HOUSE, "5"),
    least(HandClass.FULL_HOUSE, "9"),
    least(HandClass.FULL_HOUSE, "K"),
)


class _Row(dict[int, tuple[float, float]]):
    """By value of a row: the probability that it beats the opponent's, and the expected units."""

    def __init__(self, steps: Sequence[int], units: Callable[[int], int]) -> None:
        self._steps = (_LOWEST, *steps, _HIGHEST)
        self._units = units

    def __missing__(self, value: int) -> tuple[float, float]:
        at = bisect_right(self._steps, value)
        below, above = self._steps[at - 1 : at + 1]
        beaten = (at - 1 + (value - below) / (above - below)) / (len(self._steps) - 1)
        made = self[value] = beaten, beaten * self._units(value) - (1 - beaten)
        return made


_LOWEST: Final = least(HandClass.HIGH_CARD)
_HIGHEST: Final = least(HandClass.ROYAL_FLUSH, "A") + 1
FRONT: Final = _Row(FRONT_STEPS, front_units)
MIDDLE: Final = _Row(MIDDLE_STEPS, middle_units)
BACK: Final = _Row(BACK_STEPS, back_units)


def expected_units(front: int, middle: int, back: int) -> float:
    """Return the expected units from one opponent, as if the three rows were independent."""
    wins_front, front_makes = FRONT[front]
    wins_middle, middle_makes = MIDDLE[middle]
    wins_back, back_makes = BACK[back]
    scoops = wins_front * wins_middle * wins_back
    scooped = (1 - wins_front) * (1 - wins_middle) * (1 - wins_back)
    return front_makes + middle_makes + back_makes + SCOOP_UNITS * (scoops - scooped)
