"""Bounds that follow from the length of a match."""

from dataclasses import replace
from typing import Final

from arena.envs.codes import Number
from arena.games.contract import Options, Rules

_UNBOUNDED: Final = 100_000
"""A bound of totals if the rules have none."""


def hands_of(options: Options) -> int:
    """Return the most hands of a match that has `hands` or is a race of at most `max_hands`."""
    return int(options.hands or options.max_hands)


def totals_code(rules: Rules, options: Options, seats: int) -> Number:
    """Return the code of the totals of a seat; those of a race are scaled by its target."""
    bound = rules.margin_bound(options, seats)
    if bound is None and hasattr(options, "max_hands"):
        hand = rules.margin_bound(replace(options, hands=1), seats) or 0
        bound = hands_of(options) * hand
        return Number(-bound, bound, options.target)
    return Number(-_UNBOUNDED, _UNBOUNDED, 100) if bound is None else Number(-bound, bound)
