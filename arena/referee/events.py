"""The events and faults of a match: seats receive them with their next ask, spectators at once.

Spectators receive public events through a port. A match without spectators has no cost for them. Otherwise each step is
sent to spectators after it was sent to the bots, with the spectator's view. Views of seats are included only if hands
are open.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from arena.games.contract import Event, Moves, Rules, Seat, SentEvent, Step, View
from arena.referee.clock import SeatClock
from arena.referee.spec import Fault, MatchSpec, Outcome, SeatedBot
from arena.referee.terms import MatchTerms
from arena.referee.wire.codec import Codec
from arena.referee.wire.fields import played_for, seat_field

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpenHands:
    """The knowledge of the seats after a step, for spectators who see open hands."""

    events: Sequence[SentEvent]
    """All events of the step with their receivers, oldest first."""
    view: Callable[[Seat], View]
    """Computes a seat's view; it may be called later."""


class UnsentEvents:
    """Events and faults since a seat's last ask."""

    __slots__ = ("_codec", "_encoded", "_faults", "events")

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._encoded: list[bytes] = []
        self._faults: list[tuple[Fault, int]] = []
        self.events: list[object] = []
        """The events themselves, oldest first."""

    def event(self, event: object, encoded: bytes) -> None:
        self._encoded.append(encoded)
        self.events.append(event)

    def fault(self, fault: Fault) -> None:
        self._faults.append((fault, len(self._encoded)))

    def ask(self, seat: Seat, view: View, moves: Moves) -> bytes:
        """Return the body of an ask with all of them, as encoded fields."""
        body = self._codec.ask(view, self._encoded, moves)
        head = seat_field(seat)
        if self._faults:
            head += b"".join(
                played_for(fault, at, own=fault.seat == seat) for fault, at in self._faults
            )
        return head + body

    def trailing(self, match_id: str) -> tuple[bytes, ...]:
        """Return the events as `cardarena.v1.GameEvent`s, for the end of the match."""
        try:
            return tuple(self._codec.game_event(event) for event in self.events)
        except Exception:
            # The error that aborted the match may occur again; the other seats still get the end.
            fields = {"match": match_id}
            _log.exception("the last events of a match are not sent", extra=fields)
            return ()

    def forget(self) -> None:
        self._encoded = []
        self._faults = []
        self.events = []


class MatchFaults:
    """All faults of one match: charged at once, and shown after the step, so that they reveal no open decision."""

    __slots__ = ("_shown", "unshown")

    def __init__(self) -> None:
        self.unshown: list[Fault] = []
        """Faults of the step in play, which are not shown yet."""
        self._shown: list[Fault] = []

    @property
    def all(self) -> tuple[Fault, ...]:
        """Every fault of the match, shown or not, oldest first."""
        return (*self._shown, *self.unshown)

    def add(self, fault: Fault) -> None:
        self.unshown.append(fault)

    def show(self, seats: Iterable[UnsentEvents]) -> Sequence[Fault]:
        """Send the faults of the step to all seats; return them."""
        shown, self.unshown = self.unshown, []
        for unsent in seats:
            for fault in shown:
                unsent.fault(fault)
        self._shown += shown
        return shown


class SpectatorPort(Protocol):
    """The spectators of one match. Calls do not block; an error that they raise is only logged."""

    @property
    def hands_open(self) -> bool:
        """Return whether spectators see the hands of seats. Called once, before the match begins."""
        ...

    def opened(self, match_id: str, terms: MatchTerms, entrants: Sequence[SeatedBot]) -> None:
        """Begin or continue a match. `entrants` are by seat."""
        ...

    def stepped(
        self,
        hand: int,
        events: Sequence[Event],
        view: Callable[[], View],
        banks_ms: Sequence[int],
        hands: OpenHands | None,
    ) -> None:
        """Receive a step that was played.

        `hand` is the hand in play, from 0. `events` are the public ones, oldest first. `view` computes the spectator's
        view and may be called later, so that it is only computed if it is used. `banks_ms` is the time in each seat's
        bank; it changes only with a step, so it does not show which seat has answered. `hands` is None unless hands are
        open.
        """
        ...

    def blamed(self, faults: Sequence[Fault]) -> None:
        """Receive faults for which the fallback was played. Reasons are left out, because they are for the bots' owners."""
        ...

    def closed(self, outcome: Outcome) -> None:
        """Receive the outcome of the match, which is on disk. Its faults have no reasons."""
        ...


class SpectatorEvents:
    """The events of one match for its spectators. An error of theirs does not stop the match."""

    def __init__(self, spectators: SpectatorPort | None, spec: MatchSpec) -> None:
        self._spectators = spectators
        self._hands_open = spectators is not None and spectators.hands_open
        self._spec = spec
        self._rules: Rules = spec.terms.game.rules

    def opened(self) -> None:
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
