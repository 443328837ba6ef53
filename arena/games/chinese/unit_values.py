"""The value of a unit, which may differ from pair to pair of seats."""

from itertools import combinations
from math import comb
from typing import Any, TypeAlias

from arena.games.contract import BadOptions
from arena.games.options import numbers_of, numbers_setting

UnitValues: TypeAlias = tuple[tuple[int, ...], ...]
"""The value of a unit between two seats, by both seats; 0 between a seat and itself."""


def unit_values_option() -> Any:
    """Return the option `unit_values` of a game whose seats settle in pairs."""
    return numbers_setting(
        "the value of a unit between two seats, for all pairs in the order 0-1, 0-2, 1-2; 1 unless given",
        minimum=1,
        maximum=1000,
    )


def unit_values(text: str, seats: int) -> UnitValues:
    """Return the values that the option says.

    Raises `BadOptions` if there is not one number for each pair of seats.
    """
    pairs = comb(seats, 2)
    given = numbers_of(text) or (1,) * pairs
    if len(given) != pairs:
        raise BadOptions(
            f"unit_values={text} is not one number for each of {pairs} pairs of {seats} seats"
        )
    value = dict(zip(combinations(range(seats), 2), given, strict=True))
    everybody = range(seats)
    return tuple(
        tuple(value.get((min(one, two), max(one, two)), 0) for two in everybody)
        for one in everybody
    )


def most_in_a_hand(values: UnitValues, most_units: int) -> int:
    """Return how far two scores of a hand can be apart, if a pair settles at most `most_units`."""
    return 2 * most_units * max(map(sum, values))
