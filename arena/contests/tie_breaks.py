"""Tie-breaks: the order of prizes between bots that share a place. They do not change places."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Tied:
    """One of several bots that share a place, with its tie-breaks in order."""

    bot: str
    skill: float
    mutual: float
    """Mean margin over the other tied bots, in the deal-sets in which they met."""
    forfeited: int
    """The number of forfeited seats; fewer are better."""
    entered: int
    """Its seed; lower is better."""


def prize_order(tied: Collection[Tied]) -> tuple[tuple[str, ...], ...]:
    """Return the bots in order of prizes; bots with equal tie-breaks are in one group."""

    def key(bot: Tied) -> tuple[float, float, int, int]:
        return -bot.skill, -bot.mutual, bot.forfeited, bot.entered

    ordered = sorted(tied, key=lambda bot: (key(bot), bot.bot))
    return tuple(tuple(bot.bot for bot in group) for _, group in groupby(ordered, key))


def mutual_margin(
    bot: str, others: Collection[str], margins: Mapping[Pair, Sequence[float]]
) -> float:
    """Mean margin a deal-set of `bot` over `others`, from the margins of pairs in order of name.

    It is 0 if the bot met none of them.
    """
    mutual: list[float] = []
    for other in others:
        mutual += margins.get((bot, other), ())
        mutual += [-margin for margin in margins.get((other, bot), ())]
    return math.fsum(mutual) / len(mutual) if mutual else 0.0
