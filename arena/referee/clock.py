"""The clock of a seat: time per move, a bank, and limits for a hand and the match."""

from typing import Final, NamedTuple

from arena.terms import MAX_TIME_MS, TimeControl

GRACE_S: Final = 0.05
"""Lateness of an answer that is accepted; it is never charged."""
WORK_STEP_S: Final = 100e-9
"""The charge for each step of work that a move causes: about the time of the expensive ones."""


class Spent(NamedTuple):
    """The time of a decision."""

    sent_s: float
    """When the ask was sent, on the arena's clock."""
    charged_s: float = 0.0
    refunded_s: float = 0.0
    """Lateness of the arena, which is not charged."""


class SeatClock:
    """The time of one seat at one match.

    A move first uses its own time, then the bank. An answer in time adds the increment to the bank, up to
    `MAX_TIME_MS`. The limits of hand and match bound the sum of all charges.

    Times are in whole microseconds, as in the journal, so that a clock computed from a replay is exactly equal.
    """

    __slots__ = (
        "_bank_us",
        "_free_within_move",
        "_hand_left_us",
        "_hand_us",
        "_increment_us",
        "_match_left_us",
        "_move_us",
        "_times",
        "allowance_s",
    )

    def __init__(self, control: TimeControl) -> None:
        self._move_us = control.move_ms * 1000
        self._bank_us = control.bank_ms * 1000
        self._increment_us = control.increment_ms * 1000
        self._hand_us = control.hand_ms * 1000 or _UNLIMITED_US
        self._hand_left_us = self._hand_us
        self._match_left_us = control.match_ms * 1000 or _UNLIMITED_US
        # The usual case: without limits and increment such a move does not change the bank.
        self._free_within_move = not (control.increment_ms or control.hand_ms or control.match_ms)
        self._times: tuple[int, int, int] | None = None
        self.allowance_s = 0.0
        """The longest time of the next move; 0 once a limit is used up."""
        self._changed()

    @property
    def bank_ms(self) -> int:
        """The time in the bank, in whole milliseconds."""
        return self._bank_us // 1000

    def times_ms(self, used_s: float = 0.0) -> tuple[int, int, int]:
        """The times in an ask: for the move, in the bank, and the increment.

        If a limit leaves less, move and bank together are not more than that. `used_s` has passed already.
        """
        if self._times is not None and used_s <= 0:
            return self._times
        limit_us = min(self._hand_left_us, self._match_left_us)
        move_us = min(self._move_us, limit_us)
        bank_us = min(self._bank_us, limit_us - move_us)
        increment_ms = self._increment_us // 1000
        if used_s > 0:
            used_us = round(used_s * 1e6)
            bank_us = max(0, bank_us - max(0, used_us - move_us))
            move_us = max(0, move_us - used_us)
            return move_us // 1000, bank_us // 1000, increment_ms
        self._times = move_us // 1000, bank_us // 1000, increment_ms
        return self._times

    def new_hand(self) -> None:
        """Reset the limit of the hand."""
        self._hand_left_us = self._hand_us
        self._changed()

    def charge(self, used_s: float, *, in_time: bool) -> None:
        """Charge a move of `used_s`, up to the time that the seat had."""
        used_us = round(used_s * 1e6)
        if used_us <= self._move_us and self._free_within_move:
            return
        used_us = min(max(used_us, 0), self._allowance_us())
        self._hand_left_us -= used_us
        self._match_left_us -= used_us
        if used_us > self._move_us:
            self._bank_us = max(0, self._bank_us - (used_us - self._move_us))
        if in_time:
            self._bank_us = min(self._bank_us + self._increment_us, MAX_TIME_MS * 1000)
        self._changed()

    def _changed(self) -> None:
        self._times = None
        self.allowance_s = self._allowance_us() / 1e6

    def _allowance_us(self) -> int:
        if self._free_within_move:
            return self._move_us + self._bank_us
        return min(self._move_us + self._bank_us, self._hand_left_us, self._match_left_us)


_UNLIMITED_US: Final = 1 << 62
