"""The recorded decisions of an interrupted match, which are replayed before the match continues."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from arena.games.contract import Move, Rules, Seat, State
from arena.referee.ledger import Settled, UsedTime
from arena.referee.seat import Said, SeatRecord
from arena.referee.wire.codec import Codec
from cardarena.v1 import game_pb2

LEAST_S: Final = 1.0
"""The fewest seconds for an ask that was open, because its answer may have been in transit."""
REPLAYED_AT_ONCE: Final = 32
"""The number of decisions that are replayed before other matches run, in 1 to 3 ms."""


class ResumedDecisions:
    """Recorded decisions, in the order in which they were settled."""

    def __init__(
        self,
        settled: Sequence[Settled],
        codec: Codec,
        used: Sequence[UsedTime] = (),
        replay_later: Callable[[], None] | None = None,
    ) -> None:
        """Keep decisions that are to be replayed.

        Args:
          used: Time that seats used before their next decisions, at most one record for each seat.
          replay_later: Schedules the next part; without it, all are replayed at once.
        """
        self.waiting: Final = deque(settled)
        """Decisions that are still to be played again; read at every decision of a match."""
        self._codec = codec
        self._replay_later = replay_later
        self._since_pause = 0
        self._last = {decision.seat: decision.decision for decision in settled}
        self.elapsed_s = max(
            (decision.sent_s + decision.charged_s + decision.refunded_s for decision in settled),
            default=0.0,
        )
        """Seconds from the start of the match to its last recorded moment."""
        self.carried_s = {
            Seat(time.seat): time.used_s
            for time in used
            if time.decision == self._last.get(time.seat, 0) + 1
        }
        """Seconds that seats had used of open asks that were not asked again yet."""
        self.elapsed_s += max(self.carried_s.values(), default=0.0)

    @property
    def at_once(self) -> bool:
        """Whether decisions are left that are replayed without a pause."""
        return bool(self.waiting) and self._replay_later is None

    def pauses(self) -> bool:
        """Return whether the match pauses now, so that others run."""
        if self._replay_later is None or not self.waiting:
            return False
        if self._since_pause < REPLAYED_AT_ONCE:
            return False
        self._since_pause = 0
        self._replay_later()
        return True

    def take_carried_s(self, seat: Seat, allowance_s: float) -> float:
        """Remove and return the seconds that a seat had used of its next ask; 0 if it was not asked before.

        At least `LEAST_S` of `allowance_s` remains.
        """
        return max(0.0, min(self.carried_s.pop(seat, 0.0), allowance_s - LEAST_S))

    def take(
        self, rules: Rules, state: State, acting: Sequence[Seat], records: Sequence[SeatRecord]
    ) -> tuple[Settled, Move]:
        """Remove the next decision, and add it to the record of its seat, which is one of `acting`.

        Raises `ValueError` if the seat is not to act.
        """
        settled = self.waiting.popleft()
        self._since_pause += 1
        seat, record = Seat(settled.seat), records[settled.seat]
        if seat not in acting:
            raise ValueError(f"decision {settled.decision} of seat {seat} was not to be made")
        record.resume(settled)
        move = self._codec.read_move(game_pb2.GameMove.FromString(settled.game_move))
        if self._last[seat] == settled.decision and not settled.unasked:
            said = None
            if settled.fault is None:
                said = Said.among(rules.moves(state, seat), move)
            record.port.asked_before(settled.decision, said)
        return settled, move
