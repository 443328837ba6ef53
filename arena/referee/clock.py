"""How much time a seat has: a budget per move, a bank, and ceilings."""

from typing import Final

from arena.referee.spec import MAX_TIME_MS, TimeControl

GRACE_S: Final = 0.05
"""Lateness that is forgiven: it is never charged and never makes time negative."""


class SeatClock:
    """The time of one seat at one match. All amounts in seconds.

    A move first uses its own budget; what it takes beyond that comes out of
    the bank; an answer in time adds the increment, up to `MAX_TIME_MS`. The ceilings of hand and
    match bound the sum of everything charged.
    """

    __slots__ = (
        "_free_within_move",
        "_hand",
        "_hand_left_s",
        "_increment_s",
        "_match_left_s",
        "_move_s",
        "_told",
        "bank_s",
    )
    _UNLIMITED: Final = float("inf")

    def __init__(self, control: TimeControl) -> None:
        self._move_s = control.move_ms / 1000
        self._increment_s = control.increment_ms / 1000
        self._hand = control.hand_ms / 1000 or self._UNLIMITED
        self._hand_left_s = self._hand
        self._match_left_s = control.match_ms / 1000 or self._UNLIMITED
        self.bank_s = control.bank_ms / 1000
        # What most moves do: with no ceiling and no increment, the bank stays as it is.
        self._free_within_move = not (
            control.increment_ms or control.hand_ms or control.match_ms
        )
        self._told: tuple[int, int, int] | None = None

    @property
    def bank_ms(self) -> int:
        """What is left in the bank, in whole milliseconds."""
        return int(self.bank_s * 1000)

    def told_ms(self, used_s: float = 0.0) -> tuple[int, int, int]:
        """What an ask says: time for the move, in the bank, and per answer in time.

        Where a ceiling leaves less, move and bank together are no more than that.
        `used_s` of the move's time has passed already.
        """
        if self._told is not None and used_s <= 0:
            return self._told
        ceiling_s = min(self._hand_left_s, self._match_left_s)
        move_s = min(self._move_s, ceiling_s)
        bank_s = min(self.bank_s, ceiling_s - move_s)
        if used_s > 0:
            bank_s = max(0.0, bank_s - max(0.0, used_s - move_s))
            move_s = max(0.0, move_s - used_s)
        told = int(move_s * 1000), int(bank_s * 1000), int(self._increment_s * 1000)
        if used_s <= 0:
            self._told = told
        return told

    def new_hand(self) -> None:
        """Start the hand's ceiling afresh."""
        self._told = None
        self._hand_left_s = self._hand

    def allowance_s(self) -> float:
        """Most that the next move may take; 0 once a ceiling is used up."""
        if self._free_within_move:
            return self._move_s + self.bank_s
        return min(self._move_s + self.bank_s, self._hand_left_s, self._match_left_s)

    def charge(self, used_s: float, *, in_time: bool) -> None:
        """Charge a move that took `used_s`; it never takes more than there was."""
        if used_s <= self._move_s and self._free_within_move:
            return
        # In whole microseconds, as the journal holds them: a clock that is fed
        # from a replay so shows exactly the same.
        used_s = min(max(round(used_s * 1e6) / 1e6, 0.0), self.allowance_s())
        self._told = None
        self._hand_left_s -= used_s
        self._match_left_s -= used_s
        if used_s > self._move_s:
            self.bank_s = max(0.0, self.bank_s - (used_s - self._move_s))
        if in_time:
            self.bank_s = min(self.bank_s + self._increment_s, MAX_TIME_MS / 1000)
