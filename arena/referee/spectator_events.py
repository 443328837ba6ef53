"""Sends a match to its spectators; without spectators nothing is computed."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from arena.games.contract import Rules, Step
from arena.referee.clock import SeatClock
from arena.referee.spec import Fault, MatchSpec, Outcome
from arena.referee.spectators import OpenHands, SpectatorPort

_log = logging.getLogger(__name__)


class SpectatorEvents:
    """The events of one match for its spectators. An error of theirs does not stop the match."""

    def __init__(self, spectators: SpectatorPort | None, spec: MatchSpec) -> None:
        self._spectators = spectators
        self._hands_open = spectators is not None and spectators.hands_open
        self._spec = spec
        self._rules: Rules = spec.terms.game.rules

    def opened(self) -> None:
        """The match begins, or continues."""
        spec = self._spec
        self._show(lambda spectators: spectators.opened(spec.match_id, spec.terms, spec.entrants))

    def stepped(self, step: Step, clocks: Iterable[SeatClock]) -> None:
        """Send the public events of a step, a function for the spectator's view, and the banks."""
        if self._spectators is None:
            return
        rules, events = self._rules, [event for event, seats in step.events if seats is None]
        hand = rules.hand_number(step.state)
        banks_ms = [clock.bank_ms for clock in clocks]
        hands = None
        if self._hands_open:
            hands = OpenHands(step.events, lambda seat: rules.view(step.state, seat))
        self._show(
            lambda spectators: spectators.stepped(
                hand, events, lambda: rules.view(step.state, None), banks_ms, hands
            )
        )

    def blamed(self, faults: Sequence[Fault]) -> None:
        """Send faults without their reasons, which are for the bots' owners."""
        self._show(lambda spectators: spectators.blamed(_without_reasons(faults)))

    def closed(self, outcome: Outcome) -> None:
        """Send the outcome; called once it is on disk."""
        shown = replace(outcome, faults=_without_reasons(outcome.faults))
        self._show(lambda spectators: spectators.closed(shown))

    def _show(self, send: Callable[[SpectatorPort], None]) -> None:
        if self._spectators is None:
            return
        try:
            send(self._spectators)
        except Exception:
            _log.exception("the spectators of a match fail", extra={"match": self._spec.match_id})
            self._spectators = None


def _without_reasons(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    return tuple(replace(fault, reason="") for fault in faults)
