"""Swiss rounds for larger tables: groups of about the same points, with few repeated pairs.

The bots fill the groups in order of points. Then two bots of different groups are swapped as long as that lowers
the cost, the sum over all pairs within groups of

    (difference in points)² + 1000 · times met + 10⁶ if both are of one owner.

Swaps of neighbouring groups are tried first, because they change points least. With swaps of neighbouring groups alone,
nine bots would repeat pairs in the third round, which can be avoided.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Final

from arena.results.deal_sets import digest
from arena.results.record import Candidate, Round
from arena.results.rounds import Field, Pair, RoundPoints, draw_hash, field_after, with_byes

_MET: Final = 4 * 1_000  # differences are of half points, so their squares are four times as large
_ONE_OWNER: Final = 4 * 10**6


def rounds_needed(bots: int, seats: int) -> int:
    """Return the default number of rounds for this number of bots."""
    tables, rounds = 1, 0
    while tables < bots:  # in integers, as logarithms of powers may be rounded up
        tables, rounds = tables * seats, rounds + 1
    return rounds + 3 if bots > 1 else 0


def draw_round(
    entrants: Iterable[Candidate], past: Sequence[RoundPoints], *, seats: int, seed: str
) -> Round:
    """Return the round after `past`, of the bots that are still in. Raises `DrawError` if they do not fill one table."""
    number = len(past) + 1
    still = field_after(entrants, past, seats)
    playing, byes = with_byes(still, seats)
    order = sorted(playing, key=lambda bot: (-still.half_points[bot], digest(seed, number, bot)))
    groups = [order[at : at + seats] for at in range(0, len(order), seats)]
    costs = {frozenset(pair): cost(pair, still) for pair in combinations(playing, 2)}
    while any(
        _swap(groups[at], groups[at + distance], costs)
        for distance in range(1, len(groups))
        for at in range(len(groups) - distance)
    ):
        pass
    return Round(
        number,
        tuple(tuple(sorted(group)) for group in groups),
        byes,
        draw_hash(f"swiss of {seats}", still, seed, number),
    )


def cost(group: Iterable[str], still: Field) -> int:
    """Return the cost of a group, times four to be an integer."""
    return sum(
        (still.half_points[one] - still.half_points[other]) ** 2
        + _MET * still.met[frozenset((one, other))]
        + _ONE_OWNER * still.same_owner(one, other)
        for one, other in combinations(group, 2)
    )


def _swap(upper: list[str], lower: list[str], costs: Mapping[Pair, int]) -> bool:
    """Swap the two bots that lower the cost most; return False if no swap lowers it."""

    def of(bot: str, group: Sequence[str], without: str) -> int:
        return sum(costs[frozenset((bot, other))] for other in group if other != without)

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
