"""The outcomes of matches in schedules, standings and the store."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from arena.schedule.deal_sets import DealSetPlan

ABORTED: Final = "aborted"
"""The ending of a match that the arena itself could not finish.

Such a match does not count, and is played again. Every other ending is a result.
"""


@dataclass(frozen=True, slots=True)
class MatchOutcome:
    """The outcome of one match.

    Raises:
      ValueError: if the match has a result, but scores, places, faults and forfeits have different
        numbers of seats.
    """

    match_id: str
    scores: tuple[float, ...]
    """By seat, in the game's own unit; higher is better."""
    places: tuple[int, ...]
    """By seat, 1 is first; equal bots share a place."""
    ending: str
    """Why the match ended, as the referee names it; `ABORTED` is not a result."""
    faults: tuple[Mapping[str, int], ...]
    """By seat, how often the bot there committed each kind of fault."""
    forfeited: tuple[bool, ...] = ()
    """By seat, whether its bot forfeited and the fallback played to the end. Empty if unknown."""
    fallback_share: tuple[float, ...] = ()
    """By seat, the share of its decisions that the fallback played, 0 to 1. Empty if unknown."""
    hands: int = 0
    """Hands played, including throw-ins."""
    decisions: int = 0
    """The number of decisions of all seats."""
    evidence: str = ""
    """Details of an abnormal ending, for the operator of the arena."""
    journal_position: str = field(default="", compare=False)
    """Where the journal has the match's end; not part of the result."""

    def __post_init__(self) -> None:
        if self.has_result and not len(self.scores) == len(self.places) == len(self.faults):
            raise ValueError(
                f"match {self.match_id} has {len(self.scores)} scores, {len(self.places)} places "
                f"and faults of {len(self.faults)} seats"
            )
        for each in (self.forfeited, self.fallback_share):
            if each and len(each) != len(self.scores):
                raise ValueError(
                    f"match {self.match_id} has {len(self.scores)} scores, and forfeits of "
                    f"{len(each)} seats"
                )

    @property
    def has_result(self) -> bool:
        """Whether the match counts."""
        return self.ending != ABORTED


def aborted(match_id: str, evidence: str = "") -> MatchOutcome:
    """The outcome of a match that the arena could not finish."""
    return MatchOutcome(match_id, (), (), ABORTED, (), evidence=evidence)


def is_complete(deal_set: DealSetPlan, outcomes: Mapping[str, MatchOutcome]) -> bool:
    """Whether every match of a deal-set has a result."""
    return all(match.id in outcomes and outcomes[match.id].has_result for match in deal_set.matches)
