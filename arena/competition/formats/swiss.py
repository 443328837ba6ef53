"""Swiss rounds for two seats: pairs of about the same points that have not met.

Each round is the perfect matching of greatest weight. The weight of a pair is

    10⁹ - 10⁶ · times met - 10³ · (difference in points)² - difference of seeds,

and much less if both are of one owner, so that they meet only if it cannot be avoided. Lots decide between equal
weights, so that the best matching is unique.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final

import rustworkx

from arena.competition.rounds import (
    Entrant,
    Field,
    PlayedRound,
    Round,
    draw_hash,
    field_after,
    with_byes,
)
from arena.schedule.deal_sets import digest

SEATS: Final = 2

_PAIR: Final = 10**9
_MET: Final = 10**6
_HALF_POINT: Final = 250  # squared: a thousand for a point
_ONE_OWNER: Final = 10**13  # more than the other terms of a round of a thousand pairs
_LOTS: Final = 2**16


def rounds_needed(bots: int) -> int:
    """The default number of rounds for this number of bots."""
    return math.ceil(math.log2(bots)) + 2 if bots > 1 else 0


def draw_round(entrants: Iterable[Entrant], past: Sequence[PlayedRound], *, seed: str) -> Round:
    """The round after `past`, of the bots that are still in.

    Raises:
      DrawError: if there are fewer than two.
    """
    number = len(past) + 1
    still = field_after(entrants, past, SEATS)
    playing, byes = with_byes(still, SEATS)
    graph: rustworkx.PyGraph[str, int] = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(playing)
    graph.add_edges_from(
        [
            (one, other, weight(still, playing[one], playing[other], seed, number))
            for one in range(len(playing))
            for other in range(one + 1, len(playing))
        ]
    )
    matching = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    pairs = [tuple(sorted((playing[one], playing[other]))) for one, other in matching]
    pairs.sort(
        key=lambda pair: (
            -sum(still.half_points[bot] for bot in pair),
            min(still.seeds[bot] for bot in pair),
        )
    )
    return Round(number, tuple(pairs), byes, draw_hash("swiss", still, seed, number))


def weight(still: Field, one: str, other: str, seed: str, number: int) -> int:
    """The weight of a pair in round `number`."""
    difference = still.half_points[one] - still.half_points[other]
    worth = _PAIR - _MET * still.met[frozenset((one, other))] - _HALF_POINT * difference**2
    worth -= abs(still.seeds[one] - still.seeds[other])
    worth -= _ONE_OWNER * still.same_owner(one, other)
    return worth * _LOTS + int(digest(seed, number, *sorted((one, other)))[:4], 16)
