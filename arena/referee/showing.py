"""What a gallery is told of a match; where there is none, nothing is made for it."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from arena.games.contract import Rules, Step
from arena.referee.clock import SeatClock
from arena.referee.gallery import Gallery, OpenHands
from arena.referee.spec import Fault, MatchSpec, Outcome

_log = logging.getLogger(__name__)


class Showing:
    """Shows one match to its gallery. Whatever that does with it, the match goes on."""

    def __init__(self, gallery: Gallery | None, spec: MatchSpec) -> None:
        self._gallery = gallery
        self._hands_open = gallery is not None and gallery.hands_open
        self._spec = spec
        self._rules: Rules = spec.terms.game.rules

    def opened(self) -> None:
        """The match begins, or goes on."""
        spec = self._spec
        self._show(lambda gallery: gallery.opened(spec.match_id, spec.terms, spec.entrants))

    def stepped(self, step: Step, clocks: Iterable[SeatClock]) -> None:
        """Show what everybody was told, how to make the spectator's view, and what clocks say."""
        if self._gallery is None:
            return
        rules, events = self._rules, [event for event, seats in step.told if seats is None]
        hand = rules.hand_number(step.state)
        banks_ms = [clock.bank_ms for clock in clocks]
        hands = None
        if self._hands_open:
            hands = OpenHands(step.told, lambda seat: rules.view(step.state, seat))
        self._show(
            lambda gallery: gallery.stepped(
                hand, events, lambda: rules.view(step.state, None), banks_ms, hands
            )
        )

    def blamed(self, faults: Sequence[Fault]) -> None:
        """Show faults, but for their reasons, which are their bots'."""
        self._show(lambda gallery: gallery.blamed(_without_reasons(faults)))

    def closed(self, outcome: Outcome) -> None:
        """Show how the match ended; called once that is on disk."""
        shown = replace(outcome, faults=_without_reasons(outcome.faults))
        self._show(lambda gallery: gallery.closed(shown))

    def _show(self, tell: Callable[[Gallery], None]) -> None:
        if self._gallery is None:
            return
        try:
            tell(self._gallery)
        except Exception:
            _log.exception("the gallery of a match fails", extra={"match": self._spec.match_id})
            self._gallery = None


def _without_reasons(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    return tuple(replace(fault, reason="") for fault in faults)
