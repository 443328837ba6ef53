"""The port of a match to its spectators, who see what is public.

A match without spectators has no cost for them. Otherwise each step is sent after it was sent to the bots, with the
spectator's view. Views of seats are included only if hands are open.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from arena.games.contract import Event, Seat, SentEvent, View
from arena.referee.spec import Fault, Outcome, SeatedBot
from arena.terms import MatchTerms


@dataclass(frozen=True, slots=True)
class OpenHands:
    """What the seats know after a step, for spectators who see open hands."""

    events: Sequence[SentEvent]
    """All events of the step with their receivers, oldest first."""
    view: Callable[[Seat], View]
    """Computes a seat's view, also later."""


class SpectatorPort(Protocol):
    """The spectators of one match. Calls do not block; an error that they raise is only logged."""

    @property
    def hands_open(self) -> bool:
        """Whether spectators see what seats know. Read once, before the match begins."""
        ...

    def opened(self, match_id: str, terms: MatchTerms, entrants: Sequence[SeatedBot]) -> None:
        """The match begins, or continues. `entrants` are by seat."""
        ...

    def stepped(
        self,
        hand: int,
        events: Sequence[Event],
        view: Callable[[], View],
        banks_ms: Sequence[int],
        hands: OpenHands | None,
    ) -> None:
        """A step was played.

        `hand` is the hand in play, from 0. `events` are the public ones, oldest first. `view` computes the
        spectator's view, also later, so that it is only computed if it is used. `banks_ms` is the time in each
        seat's bank; it changes only with a step, so it does not show which seat has answered. `hands` is None
        unless hands are open.
        """
        ...

    def blamed(self, faults: Sequence[Fault]) -> None:
        """The fallback was played for bots. Reasons are left out, as they are for the bots' owners."""
        ...

    def closed(self, outcome: Outcome) -> None:
        """The match is over, and its outcome is on disk. Its faults have no reasons."""
        ...
