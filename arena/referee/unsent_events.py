"""Events and faults that were not sent to a seat yet, for its next ask or for the end of the match."""

import logging

from arena.games.contract import Moves, Seat, View
from arena.referee.spec import Fault
from arena.wire import asks
from arena.wire.codec import Codec

_log = logging.getLogger(__name__)


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
        """Add an event for the seat."""
        self._encoded.append(encoded)
        self.events.append(event)

    def fault(self, fault: Fault) -> None:
        """Add a fault."""
        self._faults.append((fault, len(self._encoded)))

    def ask(self, seat: Seat, view: View, moves: Moves) -> bytes:
        """The body of an ask with all of them, as encoded fields."""
        body = self._codec.ask(view, self._encoded, moves)
        head = asks.seat_field(seat)
        if self._faults:
            head += b"".join(
                asks.played_for(fault, at, own=fault.seat == seat) for fault, at in self._faults
            )
        return head + body

    def trailing(self, match_id: str) -> tuple[bytes, ...]:
        """The events as `cardarena.v1.GameEvent`s, for the end of the match."""
        try:
            return tuple(self._codec.game_event(event) for event in self.events)
        except Exception:
            # The error that aborted the match may occur again; the other seats still get the end.
            fields = {"match": match_id}
            _log.exception("the last events of a match are not sent", extra=fields)
            return ()

    def forget(self) -> None:
        """Clear them, as they were sent."""
        self._encoded = []
        self._faults = []
        self.events = []
