"""Swiss rounds for larger tables: groups of about the same points, who met as seldom as can be.

In order of points the bots fill group after group. Then two of different groups change places as
long as that lowers the cost, the sum over all pairs of a group of

    (difference in points)² + 1000 · times met + 10⁶ if both are of one owner.

Neighbouring groups go first, as the nearest swap changes points least; but with swaps of neighbours
alone bots met again in the third round of nine where it could be helped.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Final

from arena.competition.rounds import (
    Entrant,
    Field,
    Pair,
    Played,
    Round,
    draw_hash,
    field_after,
    with_byes,
)
from arena.ladder.draws import digest

_MET: Final = 4 * 1_000  # differences are of half points, so their squares are four times as large
_ONE_OWNER: Final = 4 * 10**6


def rounds_needed(bots: int, seats: int) -> int:
    """Rounds that a field of so many plays, unless the organiser says otherwise."""
    tables, rounds = 1, 0
    while tables < bots:  # in whole numbers: the logarithm of a power of `seats` may come out above
        tables, rounds = tables * seats, rounds + 1
    return rounds + 3 if bots > 1 else 0


def draw_round(
    entrants: Iterable[Entrant], past: Sequence[Played], *, seats: int, seed: str
) -> Round:
    """The round after `past`, of those who are still in.

    Raises:
      DrawError: if they do not fill one table.
    """
    number = len(past) + 1
    still = field_after(entrants, past, seats)
    playing, byes = with_byes(still, seats)
    order = sorted(playing, key=lambda bot: (-still.half_points[bot], digest(seed, number, bot)))
    groups = [order[at : at + seats] for at in range(0, len(order), seats)]
    costs = {frozenset(pair): cost(pair, still) for pair in combinations(playing, 2)}
    while any(
        _swap(groups[at], groups[at + apart], costs)
        for apart in range(1, len(groups))
        for at in range(len(groups) - apart)
    ):
        pass
    return Round(
        number,
        tuple(tuple(sorted(group)) for group in groups),
        byes,
        draw_hash(f"swiss of {seats}", still, seed, number),
    )


def cost(group: Iterable[str], still: Field) -> int:
    """What it costs that these meet; times four, to stay whole."""
    return sum(
        (still.half_points[one] - still.half_points[other]) ** 2
        + _MET * still.met[frozenset((one, other))]
        + _ONE_OWNER * still.same_owner(one, other)
        for one, other in combinations(group, 2)
    )


def _swap(upper: list[str], lower: list[str], costs: Mapping[Pair, int]) -> bool:
    """Make the swap of two bots that lowers the cost most; False if none does."""

    def of(bot: str, group: Sequence[str], without: str) -> int:
        return sum(costs[frozenset((bot, each))] for each in group if each != without)

    saved, one, other = max(
        (
            of(one, upper, one)
            + of(other, lower, other)
            - of(other, upper, one)
            - of(one, lower, other),
            one,
            other,
        )
        for one, other in product(upper, lower)
    )
    if saved <= 0:
        return False
    upper[upper.index(one)], lower[lower.index(other)] = other, one
    return True
