"""Swiss rounds for two seats: everybody meets somebody of about the same points, and nobody twice.

Each round is one matching of greatest weight among all that leave nobody out. The weight of a pair is

    10⁹ - 10⁶ · times met - 10³ · (difference in points)² - difference of seeds,

and far less where both are of one owner, who meet only if it cannot be helped. What then is equal is
decided by lot, so that there is one best matching, whoever finds it.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final

import rustworkx

from arena.competition.rounds import (
    Entrant,
    Field,
    Played,
    Round,
    draw_hash,
    field_after,
    with_byes,
)
from arena.ladder.draws import digest

SEATS: Final = 2

_PAIR: Final = 10**9
_MET: Final = 10**6
_HALF_POINT: Final = 250  # squared: a thousand for a point
_ONE_OWNER: Final = 10**13  # more than all that a round of a thousand pairs can otherwise lose
_LOTS: Final = 2**16


def rounds_needed(bots: int) -> int:
    """Rounds that a field of so many plays, unless the organiser says otherwise."""
    return math.ceil(math.log2(bots)) + 2 if bots > 1 else 0


def draw_round(entrants: Iterable[Entrant], past: Sequence[Played], *, seed: str) -> Round:
    """The round after `past`, of those who are still in.

    Raises:
      DrawError: if fewer than two are.
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
    """What it is worth that these two meet in round `number`."""
    apart = still.half_points[one] - still.half_points[other]
    worth = _PAIR - _MET * still.met[frozenset((one, other))] - _HALF_POINT * apart**2
    worth -= abs(still.seeds[one] - still.seeds[other])
    worth -= _ONE_OWNER * still.same_owner(one, other)
    return worth * _LOTS + int(digest(seed, number, *sorted((one, other)))[:4], 16)
