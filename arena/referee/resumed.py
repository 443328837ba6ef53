"""The decisions of a match that was cut short, played again before it goes on."""

from collections import deque
from collections.abc import Sequence

from arena.games.contract import Move, Rules, Seat, State
from arena.referee.ask import Said
from arena.referee.ledger import Settled
from arena.referee.place import Place
from arena.wire.codec import Codec
from cardarena.v1 import game_pb2


class ResumedDecisions:
    """Decisions as they were written down, in the order in which they were settled."""

    def __init__(self, settled: Sequence[Settled], codec: Codec) -> None:
        self._waiting = deque(settled)
        self._codec = codec
        self._last = {each.seat: each.decision for each in settled}
        self.elapsed_s = max(
            (each.sent_s + each.charged_s + each.refunded_s for each in settled), default=0.0
        )
        """From the start of the match to the end of its last known decision."""

    def __bool__(self) -> bool:
        return bool(self._waiting)

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
