"""The decisions of a match that was cut short, played again before it goes on."""

from collections import deque
from collections.abc import Sequence
from typing import Final

from arena.games.contract import Move, Rules, Seat, State
from arena.referee.ask import Said
from arena.referee.ledger import Settled, UsedTime
from arena.referee.place import Place
from arena.wire.codec import Codec
from cardarena.v1 import game_pb2

LEAST_S: Final = 1.0
"""What is left at least of the time of an ask that was open: its answer may have been on the way."""


class ResumedDecisions:
    """Decisions as they were written down, in the order in which they were settled."""

    def __init__(
        self, settled: Sequence[Settled], codec: Codec, used: Sequence[UsedTime] = ()
    ) -> None:
        """`used` is the time that no decision tells, at most one for each seat."""
        self._waiting = deque(settled)
        self._codec = codec
        self._last = {each.seat: each.decision for each in settled}
        self.elapsed_s = max(
            (each.sent_s + each.charged_s + each.refunded_s for each in settled), default=0.0
        )
        """From the start of the match to the last that is known of it."""
        self.carried_s = {
            Seat(each.seat): each.used_s
            for each in used
            if each.decision == self._last.get(each.seat, 0) + 1
        }
        """What seats had used of the asks that were open, as long as they are not asked again."""
        self.elapsed_s += max(self.carried_s.values(), default=0.0)

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def take_carried_s(self, seat: Seat, allowance_s: float) -> float:
        """What a seat had used of its open ask, which is made now; 0 if it had none.

        At least a second is left of `allowance_s`.
        """
        return max(0.0, min(self.carried_s.pop(seat, 0.0), allowance_s - LEAST_S))

    def take(
        self, rules: Rules, state: State, acting: Sequence[Seat], places: Sequence[Place]
    ) -> tuple[Settled, Move]:
        """The next decision, one of a seat in `acting`. Its place and its port are told.

        Raises:
          ValueError: if the seat was not to act.
        """
        settled = self._waiting.popleft()
        seat, place = Seat(settled.seat), places[settled.seat]
        if seat not in acting or settled.decision != place.decisions + 1:
            raise ValueError(f"decision {settled.decision} of seat {seat} was not to be made")
        place.decisions += 1
        place.fallbacks += settled.unasked or settled.fault is not None
        place.refunded_s += settled.refunded_s
        place.count_move(settled.game_move)
        move = self._codec.read_move(game_pb2.GameMove.FromString(settled.game_move))
        if not settled.unasked:
            place.news.forget()
            in_time = settled.fault is None or settled.fault.in_time
            place.clock.charge(settled.charged_s, in_time=in_time)
            place.faults += settled.fault is not None
        if settled.fault is not None:
            place.out = None
        place.forfeited = settled.forfeited
        if self._last[seat] == settled.decision and not settled.unasked:
            said = None
            if settled.fault is None:
                said = Said.among(rules.moves(state, seat), move)
            place.port.asked_before(settled.decision, said)
        return settled, move
