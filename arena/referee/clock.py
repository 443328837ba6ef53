"""How much time a seat has: a budget per move, a bank, and ceilings."""

from typing import Final, NamedTuple

from arena.terms import MAX_TIME_MS, TimeControl

GRACE_S: Final = 0.05
"""Lateness that is forgiven: it is never charged and never makes time negative."""
WORK_STEP_S: Final = 250e-9
"""What a seat is charged for each step of work that it makes: about what the dear ones take."""


class Spent(NamedTuple):
    """What a decision cost."""

    sent_s: float
    """When the ask was sent, on the arena's clock."""
    charged_s: float = 0.0
    refunded_s: float = 0.0
    """What the arena was late itself, which is not charged."""


class SeatClock:
    """The time of one seat at one match.

    A move first uses its own budget; what it takes beyond that comes out of
    the bank; an answer in time adds the increment, up to `MAX_TIME_MS`. The
    ceilings of hand and match bound the sum of everything charged.

    Kept in whole microseconds, as the journal holds them: a clock that is fed
    from a replay shows exactly the same, and no sum is off by a rounding.
    """

    __slots__ = (
        "_bank_us",
        "_free_within_move",
        "_hand_left_us",
        "_hand_us",
        "_increment_us",
        "_match_left_us",
        "_move_us",
        "_told",
        "allowance_s",
    )

    def __init__(self, control: TimeControl) -> None:
        self._move_us = control.move_ms * 1000
        self._bank_us = control.bank_ms * 1000
        self._increment_us = control.increment_ms * 1000
        self._hand_us = control.hand_ms * 1000 or _UNLIMITED_US
        self._hand_left_us = self._hand_us
        self._match_left_us = control.match_ms * 1000 or _UNLIMITED_US
        # What most moves do: with no ceiling and no increment, the bank stays as it is.
        self._free_within_move = not (control.increment_ms or control.hand_ms or control.match_ms)
        self._told: tuple[int, int, int] | None = None
        self.allowance_s = 0.0
        """Most that the next move may take; 0 once a ceiling is used up."""
        self._changed()

    @property
    def bank_ms(self) -> int:
        """What is left in the bank, in whole milliseconds."""
        return self._bank_us // 1000

    def told_ms(self, used_s: float = 0.0) -> tuple[int, int, int]:
        """What an ask says: time for the move, in the bank, and per answer in time.

        Where a ceiling leaves less, move and bank together are no more than that.
        `used_s` of the move's time has passed already.
        """
        if self._told is not None and used_s <= 0:
            return self._told
        ceiling_us = min(self._hand_left_us, self._match_left_us)
        move_us = min(self._move_us, ceiling_us)
        bank_us = min(self._bank_us, ceiling_us - move_us)
        increment_ms = self._increment_us // 1000
        if used_s > 0:
            used_us = round(used_s * 1e6)
            bank_us = max(0, bank_us - max(0, used_us - move_us))
            move_us = max(0, move_us - used_us)
            return move_us // 1000, bank_us // 1000, increment_ms
        self._told = move_us // 1000, bank_us // 1000, increment_ms
        return self._told

    def new_hand(self) -> None:
        """Start the hand's ceiling afresh."""
        self._hand_left_us = self._hand_us
        self._changed()

    def charge(self, used_s: float, *, in_time: bool) -> None:
        """Charge a move that took `used_s`; it never takes more than there was."""
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
        self._told = None
        self.allowance_s = self._allowance_us() / 1e6

    def _allowance_us(self) -> int:
        if self._free_within_move:
            return self._move_us + self._bank_us
        return min(self._move_us + self._bank_us, self._hand_left_us, self._match_left_us)


_UNLIMITED_US: Final = 1 << 62
