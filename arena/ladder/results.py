"""What the ladder knows of a match that was played."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

ABORTED: Final = "aborted"
"""The ending of a match that the arena itself could not bring to a result.

Such a match counts for nothing and against nobody, and is played again. Every
other ending is a result.
"""


@dataclass(frozen=True, slots=True)
class MatchOutcome:
    """How one match ended.

    Raises:
      ValueError: if the match has a result, and scores, places, faults and
        what is told of seats that were left do not belong to the same number of seats.
    """

    match_id: str
    scores: tuple[float, ...]
    """By seat, in the game's own unit; higher is better."""
    places: tuple[int, ...]
    """By seat, 1 is first; equal bots share a place."""
    ending: str
    """Why the match ended, in the referee's words; `ABORTED` is no result."""
    faults: tuple[Mapping[str, int], ...]
    """By seat, how often the bot there committed each kind of fault."""
    left: tuple[bool, ...] = ()
    """By seat, whether it was out for good and played to the end by the fallback.

    Empty, as is `fallback_share`, in results from before this was kept."""
    fallback_share: tuple[float, ...] = ()
    """By seat, which share of its decisions the fallback played, 0 to 1."""
    hands: int = 0
    """Hands played, throw-ins included."""
    decisions: int = 0
    """Decisions of all seats together."""
    evidence: str = ""
    """What is known of an abnormal ending, for the people who run the arena."""
    journal_position: str = field(default="", compare=False)
    """Where the journal holds the match's end. Kept with the result, and no part of it."""

    def __post_init__(self) -> None:
        if self.has_result and not len(self.scores) == len(self.places) == len(self.faults):
            raise ValueError(
                f"match {self.match_id} has {len(self.scores)} scores, {len(self.places)} places "
                f"and faults of {len(self.faults)} seats"
            )
        for kept in (self.left, self.fallback_share):
            if kept and len(kept) != len(self.scores):
                raise ValueError(
                    f"match {self.match_id} has {len(self.scores)} scores, and tells of "
                    f"{len(kept)} seats whether they were left"
                )

    @property
    def has_result(self) -> bool:
        """Whether the match was brought to an end that counts."""
        return self.ending != ABORTED


def aborted(match_id: str, evidence: str = "") -> MatchOutcome:
    """The outcome of a match that the arena could not bring to a result."""
    return MatchOutcome(match_id, (), (), ABORTED, (), evidence=evidence)
