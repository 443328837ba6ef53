"""Rankings by skill: official scores with their errors, tiers, and faults."""

import contextlib
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Final, TypeAlias

from arena.results.anytime.multiple_tests import significant_among
from arena.results.deal_sets import DealSet, MatchOutcome, is_complete, lapse
from arena.results.forfeits import FALLBACK, SeatResult, forfeit_points, official, seats_played
from arena.results.margin_fit import (
    MarginFit,
    MatchScores,
    NotComparable,
    Score,
    ScoredTables,
    SkillEstimate,
    fit,
)
from arena.results.simultaneous import half_widths

WRONG_SHARE: Final = 0.02
"""The largest expected share of pairs of equal bots among the called pairs."""

Chances: TypeAlias = Sequence[Sequence[float | None]]


@dataclass(frozen=True, slots=True)
class Row:
    """The row of one bot. Scores are from complete deal-sets only, faults from all results."""

    bot: str
    score: float | None
    """The official score, see `arena.results.forfeits`; None if it is not ranked."""
    half_width: float | None
    """The ± of the 95 % interval of the score; None if the deal-sets are too few."""
    skill: float | None
    """The skill in points a match above the mean of all ranked bots, without forfeited seats; None if the bot is not ranked, or forfeited every seat."""
    forfeited: float | None
    """The share of its matches at which it forfeited the seat; None before the first match."""
    deal_sets: int
    """Complete deal-sets in which the bot played."""
    tier: int | None
    """The tier, from 1. No bot of a tier is called worse than the best of the tier."""
    matches: int
    """The number of matches with a result."""
    faults: Mapping[str, int]
    """The number of faults of each kind, in order of name."""


@dataclass(frozen=True, slots=True)
class Standings:
    """A ranking from the complete deal-sets."""

    rows: tuple[Row, ...]
    """Best first; bots of equal score by forfeits and name; bots that are not ranked last."""
    better: tuple[tuple[float | None, ...], ...]
    """`better[i][j]` is the probability that row i's bot is better than row j's.

    None on the diagonal, and where the deal-sets are too few.
    """
    called: tuple[tuple[bool, ...], ...]
    """`called[i][j]` is whether row i's bot is called better than row j's. Calls are made among all pairs together,
    by Benjamini and Hochberg's procedure at `WRONG_SHARE`."""
    needed: int | None
    """About how many more deal-sets the first call needs, if differences do not change; None after the first call, and without an estimate."""
    complete: int
    """The number of deal-sets whose matches all have results."""
    planned: int
    """The number of deal-sets in the schedule."""
    problem: str
    """Why no bot is ranked, in one sentence; empty if there is a ranking."""
    forfeit_points: float | None
    """W, the least cost of a forfeited seat, in points; None if no bot is ranked."""
    fallback_skill: float | None
    """The skill of the fallback at forfeited seats; None without any, or if it cannot be separated from the
    bots' skills."""


def standings(deal_sets: Sequence[DealSet], outcomes: Mapping[str, MatchOutcome]) -> Standings:
    """Rank the bots of a schedule; `outcomes` are by match id.

    Incomplete deal-sets do not count. The ± is for each bot alone; calls, and tiers which follow from them, allow for
    the number of pairs.
    """
    return ranked(deal_sets, outcomes).standings


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranking with its fit."""

    standings: Standings
    _ranking: "_Ranking | None"

    def simultaneous(self, *, seed: str) -> dict[str, float | None]:
        """Return the ± of each ranked bot's score for intervals that hold for all bots at once, with a probability of 95 %."""
        if self._ranking is None:
            return {}
        return self._ranking.simultaneous(seed)


def ranked(
    deal_sets: Sequence[DealSet],
    outcomes: Mapping[str, MatchOutcome],
    *,
    excluded: Collection[str] = (),
    below: Collection[str] = (),
) -> Ranked:
    """Rank as `standings` does.

    The `excluded` bots, such as the arena's own, are fitted and have no rows. The bots `below` the line are fitted too
    and have rows, but are not ranked. If the others cannot be ranked because of them, as after the first deal-set of a
    newcomer, those with the fewest deal-sets are left out of the fit.
    """
    complete = [deal_set for deal_set in deal_sets if is_complete(deal_set, outcomes)]
    took_part = Counter(bot for deal_set in complete for bot in set(deal_set.bots))
    problem, ranking = "", None
    try:
        ranking = _ranking(complete, outcomes, excluded, sorted(below, key=took_part.__getitem__))
    except NotComparable as error:
        problem = str(error)
    order = ranking.order if ranking else ()
    better = ranking.chances() if ranking else ()
    called = _called(better)
    conduct = _Conduct(deal_sets, outcomes)

    def row(bot: str, tier: int | None) -> Row:
        score = ranking.estimates[bot] if ranking and tier else None
        skill = ranking.skills.get(bot) if ranking and tier else None
        return Row(
            bot=bot,
            score=score.value if score else None,
            half_width=score.half_width if score else None,
            skill=skill.value if skill else None,
            forfeited=ranking.forfeited[bot] if ranking and tier else None,
            deal_sets=took_part[bot],
            tier=tier,
            matches=conduct.matches[bot],
            faults=dict(sorted(conduct.faults[bot].items())),
        )

    everybody = {bot for deal_set in deal_sets for bot in deal_set.bots}
    unranked = sorted(everybody - set(order) - set(excluded))
    blank, uncalled = (None,) * len(unranked), (False,) * len(unranked)
    fallback = ranking.skills.get(FALLBACK) if ranking else None
    found = Standings(
        rows=tuple(map(row, order, _tiers(called))) + tuple(row(bot, None) for bot in unranked),
        better=tuple(chances + blank for chances in better)
        + tuple((None,) * len(order) + blank for _ in unranked),
        called=tuple(calls + uncalled for calls in called)
        + tuple((False,) * len(order) + uncalled for _ in unranked),
        needed=None if any(map(any, called)) else _needed(better, len(complete)),
        complete=len(complete),
        planned=len(deal_sets),
        problem=problem,
        forfeit_points=ranking.forfeit_points if ranking else None,
        fallback_skill=fallback.value if fallback else None,
    )
    return Ranked(found, ranking)


def _ranking(
    complete: Sequence[DealSet],
    outcomes: Mapping[str, MatchOutcome],
    excluded: Collection[str],
    below: Sequence[str],
) -> "_Ranking":
    """Return the ranking of all complete deal-sets, or otherwise without those of the first bots of `below`.

    Raises `NotComparable` if the bots cannot be ranked together even without all of `below`.
    """
    try:
        return _Ranking(complete, outcomes, excluded=excluded, below=below)
    except NotComparable:
        for bot in below:
            complete = [deal_set for deal_set in complete if bot not in deal_set.bots]
            with contextlib.suppress(NotComparable):
                return _Ranking(complete, outcomes, excluded=excluded, below=below)
        raise


class _Ranking:
    """The fit of complete deal-sets, and the official scores.

    Raises `NotComparable` if the bots cannot be ranked together.
    """

    def __init__(
        self,
        complete: Sequence[DealSet],
        outcomes: Mapping[str, MatchOutcome],
        *,
        excluded: Collection[str],
        below: Collection[str],
    ) -> None:
        fitted = _fit(complete, outcomes, excluded, below)
        played: dict[str, list[SeatResult]] = defaultdict(list)
        for deal_set in complete:
            for match in deal_set.matches:
                for result in seats_played(match.bots, outcomes[match.id]):
                    played[result.bot].append(result)
        every = [result for of_bot in played.values() for result in of_bot]
        self.forfeit_points = forfeit_points(every, fitted)
        scores = {
            bot: official(bot, of_bot, self.forfeit_points)
            for bot, of_bot in played.items()
            if bot not in excluded
        }
        self.forfeited = {bot: 1.0 - score.weight for bot, score in scores.items()}
        players = (*fitted.bots, *fitted.excluded)
        skills = fitted.scores([Score(bot) for bot in players])
        self.skills: dict[str, SkillEstimate] = dict(zip(players, skills, strict=True))
        lapsed = {bot: score for bot, score in scores.items() if score != Score(bot)}
        estimates = fitted.scores(list(lapsed.values()))
        self.estimates = self.skills | dict(zip(lapsed, estimates, strict=True))
        self.order = tuple(
            sorted(
                (bot for bot in scores if bot not in below),
                key=lambda bot: (-self.estimates[bot].value, self.forfeited[bot], bot),
            )
        )
        self._fitted, self._scores = fitted, scores

    def simultaneous(self, seed: str) -> dict[str, float | None]:
        """Return the ± of each score for intervals that hold for all bots at once."""
        scores = [self._scores[bot] for bot in self.order]
        return dict(zip(self.order, half_widths(self._fitted, scores, seed=seed), strict=True))

    def chances(self) -> tuple[tuple[float | None, ...], ...]:
        """Return for each bot, in order, the probabilities that its score is above that of each other bot."""
        order = [self._scores[bot] for bot in self.order]
        chances: list[list[float | None]] = [[None] * len(order) for _ in order]
        for i, differences in enumerate(self._fitted.differences(order)):
            for j, difference in enumerate(differences, i + 1):
                chance = difference.chance_positive
                if chance is not None:
                    chances[i][j], chances[j][i] = chance, 1.0 - chance
        return tuple(map(tuple, chances))


def _fit(
    complete: Sequence[DealSet],
    outcomes: Mapping[str, MatchOutcome],
    excluded: Collection[str],
    below: Collection[str],
) -> MarginFit:
    """Return the fit in which all forfeited seats are one player, and skill 0 is the mean of the ranked bots.

    If the fallback player's skill cannot be separated from the forfeiting bot's (as when a bot forfeits one
    seat of every deal-set), forfeited seats count as their bots' own.
    """
    try:
        pooled = (_scored(deal_set, outcomes, excluded, pooled=True) for deal_set in complete)
        return fit(pooled, excluded=[FALLBACK, *excluded, *below])
    except NotComparable:
        unpooled = (_scored(deal_set, outcomes, excluded, pooled=False) for deal_set in complete)
        return fit(unpooled, excluded=[*excluded, *below])


def _scored(
    deal_set: DealSet,
    outcomes: Mapping[str, MatchOutcome],
    excluded: Collection[str],
    *,
    pooled: bool,
) -> ScoredTables:
    tables = []
    for match in deal_set.matches:
        outcome = outcomes[match.id]
        players = tuple(
            FALLBACK if pooled and lapse(outcome, seat) >= 1.0 else bot
            for seat, bot in enumerate(par_players(match.bots, deal_set.bots, excluded))
        )
        tables.append(MatchScores(players, outcome.scores))
    return tuple(tables)


def par_players(
    table: Sequence[str], bots: Sequence[str], excluded: Collection[str]
) -> tuple[str, ...]:
    """Return the players of a table for the fit.

    A table of excluded bots only has no information about skills, only about the effects of its seats. It is
    assigned to one bot of the deal-set, against itself. Otherwise the excluded bots could be players who met
    no other.
    """
    if all(bot in excluded for bot in table):
        return (next((bot for bot in bots if bot not in excluded), table[0]),) * len(table)
    return tuple(table)


def _called(better: Chances) -> tuple[tuple[bool, ...], ...]:
    """Return for each two bots, in order of score, whether the first is called better."""
    pairs = [
        (one, other, chance)
        for one, other in combinations(range(len(better)), 2)
        if (chance := better[one][other]) is not None
    ]
    p_values = [2.0 * min(chance, 1.0 - chance) for *_, chance in pairs]
    accepted_pairs = {
        (one, other) if chance > 0.5 else (other, one)
        for (one, other, chance), accepted in zip(
            pairs, significant_among(p_values, share=WRONG_SHARE), strict=True
        )
        if accepted
    }
    numbers = range(len(better))
    return tuple(tuple((one, other) in accepted_pairs for other in numbers) for one in numbers)


def _tiers(called: Sequence[Sequence[bool]]) -> tuple[int, ...]:
    """Return the tier of each bot. A tier ends before the first bot that is called worse than the best of the tier."""
    tiers: list[int] = []
    best = 0
    for number in range(len(called)):
        if number and called[best][number]:
            best = number
            tiers.append(tiers[-1] + 1)
        else:
            tiers.append(tiers[-1] if tiers else 1)
    return tuple(tiers)


def _needed(better: Chances, complete: int) -> int | None:
    """Return the number of deal-sets until the clearest pair alone is called: errors fall with the root of their number."""
    chances = [chance for row in better for chance in row if chance is not None]
    clearest = max(chances, default=0.5)
    if not 0.5 < clearest < 1.0:
        return None
    pairs = len(chances) / 2
    normal = NormalDist()
    ratio = normal.inv_cdf(1.0 - WRONG_SHARE / pairs / 2.0) / normal.inv_cdf(clearest)
    return max(1, math.ceil(complete * (ratio**2 - 1.0)))


class _Conduct:
    def __init__(self, deal_sets: Iterable[DealSet], outcomes: Mapping[str, MatchOutcome]) -> None:
        self.matches: Counter[str] = Counter()
        self.faults: dict[str, Counter[str]] = {}
        for deal_set in deal_sets:
            for match in deal_set.matches:
                for bot in match.bots:
                    self.faults.setdefault(bot, Counter())
                outcome = outcomes.get(match.id)
                if outcome is None or not outcome.has_result:
                    continue
                for bot, faults in zip(match.bots, outcome.faults, strict=True):
                    self.matches[bot] += 1
                    self.faults[bot].update(faults)
