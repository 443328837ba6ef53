"""The Swiss. Its rounds for two seats are drawn here: pairs of about the same points that have not met.

Each round is the perfect matching of greatest weight. The weight of a pair is

    10⁹ - 10⁶ · times met - 10³ · (difference in points)² - difference of seeds,

and much less if both are of one owner, so that they meet only if it cannot be avoided. Lots decide between equal
weights, so that the best matching is unique. A small field takes the best matching after which the next round needs no
rematch either: six bots could otherwise be left as two triangles that have not met.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final, TypeAlias

import rustworkx

from arena.contests.formats import group_swiss
from arena.contests.formats.tournament_format import FinalPlace, GroupResult, Past, TournamentFormat
from arena.contests.pair_margins import mean_scores
from arena.contests.plan import CompetitionPlan
from arena.results.deal_sets import Group, digest
from arena.results.record import Candidate, Round, RoundRecord
from arena.results.rounds import (
    Field,
    RoundPoints,
    bye_half_points,
    draw_hash,
    field_after,
    half_points_of,
    with_byes,
)

SEATS: Final = 2
_Two: TypeAlias = tuple[str, str]

_PAIR: Final = 10**9
_MET: Final = 10**6
_HALF_POINT: Final = 250  # squared: a thousand for a point
_ONE_OWNER: Final = 10**13  # more than the other terms of a round of a thousand pairs
_LOTS: Final = 2**16
_AHEAD: Final = 8
"""The largest field whose draw considers the next round; it has 105 divisions into pairs."""
_BYE: Final = ""
"""Stands for the opponent of a bot with a bye."""


def rounds_needed(bots: int) -> int:
    """Return the default number of rounds for this number of bots: at most as many as there are without a rematch."""
    return min(math.ceil(math.log2(bots)) + 2, most_rounds(bots)) if bots > 1 else 0


def most_rounds(bots: int) -> int:
    """Return the largest number of rounds in which no two bots meet twice, and every bot meets all others."""
    return bots - 1 + bots % 2


def draw_round(entrants: Iterable[Candidate], past: Sequence[RoundPoints], *, seed: str) -> Round:
    """Return the round after `past`, of the bots that are still in. Raises `DrawError` if there are fewer than two."""
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
    best = [(playing[one], playing[other]) for one, other in matching]
    pairs = [tuple(sorted(pair)) for pair in _looking_ahead(still, best, byes, seed, number)]
    pairs.sort(
        key=lambda pair: (
            -sum(still.half_points[bot] for bot in pair),
            min(still.seeds[bot] for bot in pair),
        )
    )
    return Round(number, tuple(pairs), byes, draw_hash("swiss", still, seed, number))


def weight(still: Field, one: str, other: str, seed: str, number: int) -> int:
    """Return the weight of a pair in round `number`."""
    difference = still.half_points[one] - still.half_points[other]
    worth = _PAIR - _MET * still.met[frozenset((one, other))] - _HALF_POINT * difference**2
    worth -= abs(still.seeds[one] - still.seeds[other])
    worth -= _ONE_OWNER * still.same_owner(one, other)
    return worth * _LOTS + int(digest(seed, number, *sorted((one, other)))[:4], 16)


def _looking_ahead(
    still: Field, best: list[_Two], byes: Group, seed: str, number: int
) -> list[_Two]:
    """Return the best pairs of a small field after which the next round needs no rematch; without such pairs, the best ones.

    In larger fields the best pairs leave enough bots that have not met.
    """
    playing = [bot for pair in best for bot in pair]
    if len(playing) > _AHEAD or _faults(still, best)[0] or _goes_on(still, best, byes):
        return best
    others = [
        pairs for pairs in _matchings(playing) if _faults(still, pairs) == _faults(still, best)
    ]

    def worth(pairs: list[_Two]) -> int:
        return sum(weight(still, one, other, seed, number) for one, other in pairs)

    others.sort(key=worth, reverse=True)
    return next((pairs for pairs in others if _goes_on(still, pairs, byes)), best)


def _faults(still: Field, pairs: list[_Two]) -> tuple[int, int]:
    """Return how many of the pairs have met, and how many have one owner."""
    met = sum(still.met[frozenset(pair)] > 0 for pair in pairs)
    return met, sum(still.same_owner(*pair) for pair in pairs)


def _goes_on(still: Field, pairs: list[_Two], byes: Group) -> bool:
    """Return whether the round after these pairs and byes can be drawn without a rematch and a second bye."""
    met = {frozenset(pair) for pair in (*still.met, *pairs)}
    met |= {frozenset((bot, _BYE)) for bot in (*still.byes, *byes)}
    bots = [*still.seeds, *[_BYE] * (len(still.seeds) % 2)]
    if all(frozenset(pair) in met for pair in combinations(bots, 2)):
        return True  # this may be the last round
    return any(met.isdisjoint(map(frozenset, after)) for after in _matchings(bots))


def _matchings(bots: Sequence[str]) -> Iterator[list[_Two]]:
    """Yield all divisions of an even number of bots into pairs."""
    if not bots:
        yield []
        return
    first, *rest = bots
    for other in rest:
        for pairs in _matchings([bot for bot in rest if bot != other]):
            yield [(first, other), *pairs]


class Swiss(TournamentFormat):
    """Rounds between bots of about the same points."""

    def __init__(
        self, plan: CompetitionPlan, number: int, candidates: Iterable[Candidate], past: Past
    ) -> None:
        super().__init__(plan, number, candidates, past)
        self._played = [self._points(played) for played in self.past]

    def draw(self) -> RoundRecord | None:
        most = self.plan.swiss.rounds
        if self.past and self.round_number > (most or self._needed()):
            return None
        entrants = self.entrants()
        if self.past and len(entrants) < self.seats:
            return None  # too few bots are left
        if self.seats == 2:
            round_ = draw_round(entrants, self._played, seed=self.seed)
        else:
            round_ = group_swiss.draw_round(
                entrants, self._played, seats=self.seats, seed=self.seed
            )
        return RoundRecord(round_, self.plans(self.repeated(round_.groups)))

    def places(self) -> tuple[FinalPlace, ...]:
        half = {candidate.name: 0 for candidate in self.candidates}
        for played in self._played:
            for bot, points in played.half_points.items():
                half[bot] += points
            for bot in played.byes:
                half[bot] += bye_half_points(self.seats)
        return tuple(
            FinalPlace(bot, 1 + sum(more > points for more in half.values()), points / 2, "")
            for bot, points in sorted(half.items(), key=lambda row: (-row[1], row[0]))
        )

    def results(self) -> tuple[GroupResult, ...]:
        results: list[GroupResult] = []
        for past, played in zip(self.past, self._played, strict=True):
            stage, half = f"round {past.round.number}", played.half_points
            for group in played.groups:
                scores = tuple(half[bot] / 2 if bot in half else None for bot in group)
                known = scores if group[0] in half else ()
                results.append(
                    GroupResult(stage, group, known, deal_sets=len(past.of_group(group)))
                )
            bye = bye_half_points(self.seats) / 2
            results += [GroupResult(stage, (bot,), (bye,), note="bye") for bot in played.byes]
        return tuple(results)

    def _needed(self) -> int:
        entered = len(self.names(1))  # later withdrawals do not change the number of rounds
        if self.seats == 2:
            return rounds_needed(entered)
        return group_swiss.rounds_needed(entered, self.seats)

    def _points(self, played: RoundRecord) -> RoundPoints:
        points: dict[str, int] = {}
        # Use the bots as they were when the next round was drawn, so that the draw stays the same.
        still = set(self.names(played.round.number + 1))
        for group in played.round.groups:
            deal_sets = played.of_group(group)
            if deal_sets:
                points |= half_points_of(mean_scores(group, deal_sets, played.outcomes))
            else:  # a bot was withdrawn before the first card: the others get a bye
                points |= dict.fromkeys(set(group) & still, bye_half_points(self.seats))
        return RoundPoints(played.round.groups, played.round.byes, points)
