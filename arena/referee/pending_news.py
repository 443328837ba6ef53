"""What a seat has not been told yet, for its next ask or for the end of the match."""

import logging

from arena.games.contract import Moves, Seat, View
from arena.referee.spec import Fault
from arena.wire import asks
from arena.wire.codec import Codec

_log = logging.getLogger(__name__)


class PendingNews:
    """Events and faults since a seat's last ask."""

    __slots__ = ("_codec", "_encoded", "_faults", "events")

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._encoded: list[bytes] = []
        self._faults: list[tuple[Fault, int]] = []
        self.events: list[object] = []
        """The events themselves, oldest first."""

    def event(self, event: object, encoded: bytes) -> None:
        """Something happened that the seat may know of."""
        self._encoded.append(encoded)
        self.events.append(event)

    def fault(self, fault: Fault) -> None:
        """A move was played for a bot."""
        self._faults.append((fault, len(self._encoded)))

    def ask(self, seat: Seat, view: View, moves: Moves) -> bytes:
        """The body of an ask that tells the seat all of it, as encoded fields."""
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
            # What aborted the match may do so again here, and all are still to be told.
            fields = {"match": match_id}
            _log.exception("the last events of a match are not told", extra=fields)
            return ()

    def forget(self) -> None:
        """The seat was told."""
        self._encoded = []
        self._faults = []
        self.events = []
