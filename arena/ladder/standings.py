"""The table of a tournament: skills with their errors, tiers, and faults beside them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from arena.ladder.margins import CONFIDENCE, DealSet, MarginFit, NotComparable, Score, Table, fit
from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan


@dataclass(frozen=True, slots=True)
class Row:
    """One bot's line. Skill comes from complete deal-sets only, faults from every result."""

    bot: str
    skill: float | None
    """Points a match better than the mean of all ranked bots; None if it is not ranked."""
    half_width: float | None
    """The ± of the 95 % interval of the skill; None if the deal-sets are too few to tell."""
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
    """Best first; bots of equal skill by name, those not ranked at the end."""
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
    complete = [each for each in deal_sets if _is_complete(each, outcomes)]
    problem, ranked = "", None
    try:
        ranked = fit(_scored(each, outcomes) for each in complete)
    except NotComparable as error:
        problem = str(error)
    order = _order(ranked) if ranked else ()
    better = _chances(ranked, order) if ranked else ()
    tiers = _tiers(better)
    conduct = _Conduct(deal_sets, outcomes)
    took_part = Counter(bot for each in complete for bot in each.bots)

    def row(bot: str, tier: int | None) -> Row:
        skill = ranked.skill(bot) if ranked and tier else None
        return Row(
            bot=bot,
            skill=skill.value if skill else None,
            half_width=skill.half_width if skill else None,
            deal_sets=took_part[bot],
            tier=tier,
            matches=conduct.matches[bot],
            faults=dict(sorted(conduct.faults[bot].items())),
        )

    unranked = sorted({bot for each in deal_sets for bot in each.bots} - set(order))
    blank = (None,) * len(unranked)
    return Standings(
        rows=tuple(map(row, order, tiers)) + tuple(row(bot, None) for bot in unranked),
        better=tuple(chances + blank for chances in better)
        + tuple((None,) * len(order) + blank for _ in unranked),
        complete=len(complete),
        planned=len(deal_sets),
        problem=problem,
    )


def _is_complete(deal_set: DealSetPlan, outcomes: Mapping[str, MatchOutcome]) -> bool:
    return all(match.id in outcomes and outcomes[match.id].has_result for match in deal_set.matches)


def _scored(deal_set: DealSetPlan, outcomes: Mapping[str, MatchOutcome]) -> DealSet:
    return DealSet(
        tuple(Table(match.bots, outcomes[match.id].scores) for match in deal_set.matches)
    )


def _order(ranked: MarginFit) -> tuple[str, ...]:
    return tuple(sorted(ranked.bots, key=lambda bot: (-ranked.skill(bot).value, bot)))


def _chances(ranked: MarginFit, order: Sequence[str]) -> tuple[tuple[float | None, ...], ...]:
    chances: list[list[float | None]] = [[None] * len(order) for _ in order]
    for i, differences in enumerate(ranked.differences([Score(bot) for bot in order])):
        for j, difference in enumerate(differences, i + 1):
            chance = difference.chance_positive
            if chance is not None:
                chances[i][j], chances[j][i] = chance, 1.0 - chance
    return tuple(map(tuple, chances))


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
