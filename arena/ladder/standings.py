"""The table of a tournament: official scores with their errors, tiers, and faults beside them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from arena.ladder.margins import (
    CONFIDENCE,
    DealSet,
    Estimate,
    MarginFit,
    NotComparable,
    Score,
    Table,
    fit,
)
from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan
from arena.ladder.simultaneous import half_widths
from arena.ladder.walkover import FALLBACK, SeatPlayed, lapse, official, seats_played, walkover


@dataclass(frozen=True, slots=True)
class Row:
    """One bot's line. Scores come from complete deal-sets only, faults from every result."""

    bot: str
    score: float | None
    """The official score: the mean over its tables of the skill where it stayed, less what its
    faults cost, and of the walkover where it left; None if it is not ranked."""
    half_width: float | None
    """The ± of the 95 % interval of the score; None if the deal-sets are too few to tell."""
    skill: float | None
    """Points a match better than the mean of all ranked bots, where it stayed; None if it is not
    ranked, or left every seat."""
    left: float | None
    """The share of its tables at which it left the seat; None before the first."""
    deal_sets: int
    """Complete deal-sets in which the bot played."""
    tier: int | None
    """Counts from 1. Bots of one tier are not separated from its best."""
    matches: int
    """Matches with a result."""
    faults: Mapping[str, int]
    """How often the bot committed each kind of fault, in order of name."""

    @property
    def faults_per_match(self) -> float | None:
        """Faults of all kinds in a match, on average; None before the first result."""
        return sum(self.faults.values()) / self.matches if self.matches else None


@dataclass(frozen=True, slots=True)
class Standings:
    """A ranking, as far as the deal-sets that were completed allow one."""

    rows: tuple[Row, ...]
    """Best first; bots of equal score by seats left and by name, those not ranked at the end."""
    better: tuple[tuple[float | None, ...], ...]
    """`better[i][j]` is the chance that row i's bot is better than row j's.

    None on the diagonal and where the deal-sets do not tell.
    """
    complete: int
    """Deal-sets whose matches all have results."""
    planned: int
    """Deal-sets in the schedule."""
    problem: str
    """Why nobody is ranked, in one sentence; empty if there is a ranking."""
    walkover: float | None
    """W, the points that a seat left costs, at least; None if nobody is ranked."""
    fallback_skill: float | None
    """How well the fallback played the seats that were left, on the scale of skills; None if
    there were none, or it cannot be told from the bots."""

    @property
    def tiers(self) -> tuple[tuple[str, ...], ...]:
        """The ranked bots, tier by tier, best first."""
        last = max((row.tier or 0 for row in self.rows), default=0)
        return tuple(
            tuple(row.bot for row in self.rows if row.tier == tier) for tier in range(1, last + 1)
        )


def standings(deal_sets: Sequence[DealSetPlan], outcomes: Mapping[str, MatchOutcome]) -> Standings:
    """Rank the bots of a schedule by the outcomes, given by match id, that are there.

    Deal-sets that lack a result do not count. The ± is each bot's own, not
    widened for the number of bots; likewise for the pairs on which tiers rest.
    """
    return ranked(deal_sets, outcomes).standings


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranking, and what it was made from."""

    standings: Standings
    _ranking: "_Ranking | None"

    def simultaneous(self, *, seed: str) -> dict[str, float | None]:
        """The ± of each ranked bot's score that hold for all of them at once, with 95 %."""
        if self._ranking is None:
            return {}
        return self._ranking.simultaneous(seed)


def ranked(
    deal_sets: Sequence[DealSetPlan],
    outcomes: Mapping[str, MatchOutcome],
    *,
    apart: Collection[str] = (),
    least_deal_sets: int = 0,
) -> Ranked:
    """Rank as `standings` does.

    Bots `apart` are no opponents to be ranked, as those of the house: they are fitted, and in no row. A
    bot of fewer complete deal-sets than `least_deal_sets` is not ranked yet.
    """
    complete = [each for each in deal_sets if _is_complete(each, outcomes)]
    took_part = Counter(bot for each in complete for bot in set(each.bots))
    few = {bot for bot, number in took_part.items() if number < least_deal_sets}
    problem, ranking = "", None
    try:
        ranking = _Ranking(complete, outcomes, apart=apart, few=few)
    except NotComparable as error:
        problem = str(error)
    order = ranking.order if ranking else ()
    better = ranking.chances() if ranking else ()
    conduct = _Conduct(deal_sets, outcomes)

    def row(bot: str, tier: int | None) -> Row:
        score = ranking.estimates[bot] if ranking and tier else None
        skill = ranking.skills.get(bot) if ranking and tier else None
        return Row(
            bot=bot,
            score=score.value if score else None,
            half_width=score.half_width if score else None,
            skill=skill.value if skill else None,
            left=ranking.left[bot] if ranking and tier else None,
            deal_sets=took_part[bot],
            tier=tier,
            matches=conduct.matches[bot],
            faults=dict(sorted(conduct.faults[bot].items())),
        )

    everybody = {bot for each in deal_sets for bot in each.bots}
    unranked = sorted(everybody - set(order) - set(apart))
    blank = (None,) * len(unranked)
    fallback = ranking.skills.get(FALLBACK) if ranking else None
    found = Standings(
        rows=tuple(map(row, order, _tiers(better))) + tuple(row(bot, None) for bot in unranked),
        better=tuple(chances + blank for chances in better)
        + tuple((None,) * len(order) + blank for _ in unranked),
        complete=len(complete),
        planned=len(deal_sets),
        problem=problem,
        walkover=ranking.walkover if ranking else None,
        fallback_skill=fallback.value if fallback else None,
    )
    return Ranked(found, ranking)


def _is_complete(deal_set: DealSetPlan, outcomes: Mapping[str, MatchOutcome]) -> bool:
    return all(match.id in outcomes and outcomes[match.id].has_result for match in deal_set.matches)


class _Ranking:
    """The fit of complete deal-sets, and the official scores that follow from it.

    Raises:
      NotComparable: if the bots cannot be ranked together.
    """

    def __init__(
        self,
        complete: Sequence[DealSetPlan],
        outcomes: Mapping[str, MatchOutcome],
        *,
        apart: Collection[str],
        few: Collection[str],
    ) -> None:
        fitted = _fit(complete, outcomes, apart)
        played: dict[str, list[SeatPlayed]] = defaultdict(list)
        for deal_set in complete:
            for match in deal_set.matches:
                for seat in seats_played(match.bots, outcomes[match.id]):
                    played[seat.bot].append(seat)
        every = [seat for own in played.values() for seat in own]
        self.walkover = walkover(every, fitted)
        scores = {
            bot: official(bot, own, self.walkover)
            for bot, own in played.items()
            if bot not in apart
        }
        self.left = {bot: 1.0 - score.weight for bot, score in scores.items()}
        players = (*fitted.bots, *fitted.apart)
        skills = fitted.scores([Score(bot) for bot in players])
        self.skills: dict[str, Estimate] = dict(zip(players, skills, strict=True))
        lapsed = {bot: score for bot, score in scores.items() if score != Score(bot)}
        estimates = fitted.scores(list(lapsed.values()))
        self.estimates = self.skills | dict(zip(lapsed, estimates, strict=True))
        self.order = tuple(
            sorted(
                (bot for bot in scores if bot not in few),
                key=lambda bot: (-self.estimates[bot].value, self.left[bot], bot),
            )
        )
        self._fitted, self._scores = fitted, scores

    def simultaneous(self, seed: str) -> dict[str, float | None]:
        """The ± of each score that hold for all at once."""
        scores = [self._scores[bot] for bot in self.order]
        return dict(zip(self.order, half_widths(self._fitted, scores, seed=seed), strict=True))

    def chances(self) -> tuple[tuple[float | None, ...], ...]:
        """The chance of each bot that its score is above that of each other, in order."""
        order = [self._scores[bot] for bot in self.order]
        chances: list[list[float | None]] = [[None] * len(order) for _ in order]
        for i, differences in enumerate(self._fitted.differences(order)):
            for j, difference in enumerate(differences, i + 1):
                chance = difference.chance_positive
                if chance is not None:
                    chances[i][j], chances[j][i] = chance, 1.0 - chance
        return tuple(map(tuple, chances))


def _fit(
    complete: Sequence[DealSetPlan],
    outcomes: Mapping[str, MatchOutcome],
    apart: Collection[str],
) -> MarginFit:
    """The fit in which all seats left are one player.

    Where that tells the fallback not from who left (as by a bot that leaves one seat of every
    deal-set), seats left count as their bots' own: one who leaves must not undo the table.
    """
    try:
        pooled = (_scored(each, outcomes, apart, pooled=True) for each in complete)
        return fit(pooled, apart=[FALLBACK, *apart])
    except NotComparable:
        own = (_scored(each, outcomes, apart, pooled=False) for each in complete)
        return fit(own, apart=apart)


def _scored(
    deal_set: DealSetPlan,
    outcomes: Mapping[str, MatchOutcome],
    apart: Collection[str],
    *,
    pooled: bool,
) -> DealSet:
    tables = []
    for match in deal_set.matches:
        outcome = outcomes[match.id]
        players = tuple(
            FALLBACK if pooled and lapse(outcome, seat) >= 1.0 else bot
            for seat, bot in enumerate(par_players(match.bots, deal_set.bots, apart))
        )
        tables.append(Table(players, outcome.scores))
    return DealSet(tuple(tables))


def par_players(
    table: Sequence[str], bots: Sequence[str], apart: Collection[str]
) -> tuple[str, ...]:
    """Who plays at a table, as the fit takes it.

    A table of none but those apart tells nothing of anybody, and what its seats were worth: whoever
    plays there against itself. So it is given to a bot of the deal-set, lest those apart be a player
    who met nobody.
    """
    if all(bot in apart for bot in table):
        return (next((bot for bot in bots if bot not in apart), table[0]),) * len(table)
    return tuple(table)


def _tiers(better: Sequence[Sequence[float | None]]) -> tuple[int, ...]:
    """A tier ends before the first bot that is separated from the tier's best."""
    tiers: list[int] = []
    best = 0
    for number in range(len(better)):
        if number and _separated(better[best][number]):
            best = number
            tiers.append(tiers[-1] + 1)
        else:
            tiers.append(tiers[-1] if tiers else 1)
    return tuple(tiers)


def _separated(chance: float | None) -> bool:
    """Whether the 95 % interval of the difference excludes zero."""
    return chance is not None and chance > (1 + CONFIDENCE) / 2


class _Conduct:
    """What each bot did wrong in all matches that have a result."""

    def __init__(
        self, deal_sets: Iterable[DealSetPlan], outcomes: Mapping[str, MatchOutcome]
    ) -> None:
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
