"""Who gets the prize where points are equal. Ranks are not touched: there a tie stays a tie."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Tied:
    """One of several bots of equal points, and what tells them apart, first things first."""

    bot: str
    skill: float
    """Of the margin fit."""
    mutual: float
    """Points a deal-set over the others that are tied, in the deal-sets in which they met."""
    left: int
    """Seats that it left; fewer are better."""
    entered: int
    """Its seed, or when it entered; earlier is better."""


def prize_order(tied: Collection[Tied]) -> tuple[tuple[str, ...], ...]:
    """The bots, the first to be paid first; who cannot be told apart at all stands together."""

    def key(each: Tied) -> tuple[float, float, int, int]:
        return -each.skill, -each.mutual, each.left, each.entered

    ordered = sorted(tied, key=lambda each: (key(each), each.bot))
    return tuple(tuple(each.bot for each in group) for _, group in groupby(ordered, key))


def mutual_margin(
    bot: str, others: Collection[str], margins: Mapping[Pair, Sequence[float]]
) -> float:
    """Points a deal-set of `bot` over `others`, from the margins of pairs in order of name.

    0 where it met none of them.
    """
    own: list[float] = []
    for other in others:
        own += margins.get((bot, other), ())
        own += [-each for each in margins.get((other, bot), ())]
    return math.fsum(own) / len(own) if own else 0.0
