"""One game of a tournament with its rounds so far; a format defines its draws, places and results."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from arena.contests.plan import CompetitionPlan, GamePlan
from arena.results.deal_sets import DealSet, Group, digest, planned
from arena.results.ranking import standings
from arena.results.record import Candidate, Round, RoundRecord

Past: TypeAlias = Sequence[RoundRecord]


@dataclass(frozen=True, slots=True)
class FinalPlace:
    """The place of a bot by points, or in the bracket. Formats that rank by skill have none."""

    bot: str
    place: int
    """From 1; bots of equal points share one."""
    points: float | None
    """Points in Swiss and groups; None in a bracket."""
    note: str
    """For example the round in which it went out."""


@dataclass(frozen=True, slots=True)
class GroupResult:
    """The bots of a group in a round, with the result so far."""

    stage: str
    """For example `round 2`, `losers' round 1`, `group 3` or `finals`."""
    bots: tuple[str | None, ...]
    """The best first if the stage is ranked; None for a bot that is not known yet. A single bot has a bye."""
    scores: tuple[float | None, ...] = ()
    """By bot: points of the round in a Swiss, of all deal-sets in a group; margin a deal-set in a knockout of two,
    skill at larger tables. Empty before the first complete deal-set."""
    going_on: tuple[str, ...] = ()
    """The bots that advance, or have won the last stage; empty while that is not known."""
    deal_sets: int = 0
    note: str = ""
    """How a knockout's game was decided."""


class TournamentFormat(ABC):
    """One game of a tournament by a format, with its bots and its rounds so far."""

    def __init__(
        self, plan: CompetitionPlan, number: int, candidates: Iterable[Candidate], past: Past
    ) -> None:
        self.plan, self.number, self.past = plan, number, past
        entered = (candidate for candidate in candidates if candidate.enters(number))
        self.candidates = tuple(sorted(entered, key=lambda candidate: candidate.seed))
        self.game: GamePlan = plan.games[number]
        self.seats = self.game.terms.seats
        self.seed = plan.seed_of(number)
        self.round_number = len(past) + 1

    def names(self, round_number: int | None = None) -> Group:
        """Return the bots in the draw of a round, by default the next one, in order of seed."""
        return tuple(candidate.name for candidate in self.entrants(round_number))

    def entrants(self, round_number: int | None = None) -> list[Candidate]:
        number = self.round_number if round_number is None else round_number
        return [candidate for candidate in self.candidates if candidate.is_in(self.number, number)]

    def plans(self, groups: Iterable[Group]) -> tuple[DealSet, ...]:
        """Return a deal-set for each of the groups, numbered after those before."""
        first = 1 + max((played.last_number for played in self.past), default=0)
        name = self.plan.part(self.number)
        return tuple(
            replace(planned(number, group, self.seed, name), round=self.round_number)
            for number, group in enumerate(groups, first)
        )

    def drawn(
        self, groups: Sequence[Group], byes: Group, plays: Iterable[Group], *of: object
    ) -> RoundRecord:
        entered = [
            (candidate.name, candidate.owner, candidate.seed) for candidate in self.entrants()
        ]
        inputs = digest(str(self.plan.format), self.seed, self.round_number, entered, *of)
        return RoundRecord(Round(self.round_number, tuple(groups), byes, inputs), self.plans(plays))

    def repeated(self, groups: Iterable[Group]) -> list[Group]:
        """Return the groups, once for each deal-set that a group plays."""
        return list(groups) * self.game.deal_sets

    def ranking(self, played: RoundRecord, group: Sequence[str]) -> list[str]:
        """Return a group in order of its standings; bots that were out before the next draw are last."""
        out = set(group) - set(self.names(played.round.number + 1))
        ranking = standings(played.of_group(group), played.outcomes)
        seeds = {candidate.name: candidate.seed for candidate in self.candidates}
        order = [row.bot for row in ranking.rows if row.tier is not None]
        order += sorted(set(group) - set(order), key=seeds.__getitem__)
        return sorted(order, key=lambda bot: bot in out)

    def group_result(
        self, stage: str, played: RoundRecord, group: Group, going_on: Sequence[str]
    ) -> GroupResult:
        """Return a group in order of its standings, with those of `going_on` that are in it."""
        deal_sets = played.of_group(group)
        if not deal_sets:
            return GroupResult(stage, group)
        ranked = self.ranking(played, group)
        scores = {row.bot: row.score for row in standings(deal_sets, played.outcomes).rows}
        return GroupResult(
            stage,
            tuple(ranked),
            tuple(scores.get(bot) for bot in ranked),
            tuple(bot for bot in ranked if bot in set(going_on)),
            len(deal_sets),
        )

    @abstractmethod
    def draw(self) -> RoundRecord | None:
        """Return the next round; None when the tournament is over."""

    def places(self) -> tuple[FinalPlace, ...]:
        """Return the places so far; none where bots are ranked by skill."""
        return ()

    def results(self) -> tuple[GroupResult, ...]:
        """Return the groups of all rounds with their results; none where there are no rounds."""
        return ()
