"""The gallery of a match: a port that shows spectators, as it happens, what everybody may know.

It stands beside the ledger. A table without a gallery pays nothing for it; one with
a gallery tells it each step once all have been told, from the spectator's view alone.
What a seat knows never comes here, unless the gallery says that hands are open.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from arena.games.contract import Event, Seat, Told, View
from arena.referee.spec import Entrant, Fault, Outcome
from arena.terms import MatchTerms


@dataclass(frozen=True, slots=True)
class OpenHands:
    """What the seats know after a step. Made for none but a gallery whose hands are open."""

    told: Sequence[Told]
    """All events of the step, oldest first, and who was told."""
    view: Callable[[Seat], View]
    """Makes a seat's view, also later."""


class Gallery(Protocol):
    """The spectators of one match. Calls do not block; an error that they raise is only logged."""

    @property
    def hands_open(self) -> bool:
        """Whether it is shown what seats know as well. Asked once, before the match begins."""
        ...

    def opened(self, match_id: str, terms: MatchTerms, entrants: Sequence[Entrant]) -> None:
        """The match begins, or goes on. `entrants` are by seat."""
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

        `hand` is the hand that goes on, counted from 0; `events` are those that
        everybody was told, oldest first; `view` makes the spectator's, also later, so that
        none is made where nobody looks. `banks_ms` is what each seat has left in its bank now:
        it changes only with a step, so it does not tell who of several has answered. `hands` is
        None unless hands are open.
        """
        ...

    def blamed(self, faults: Sequence[Fault]) -> None:
        """Moves were played for bots. The reasons are left out: they are for the bots' owners."""
        ...

    def closed(self, outcome: Outcome) -> None:
        """The match is over, and its end is on disk. Its faults have no reasons here either."""
        ...
