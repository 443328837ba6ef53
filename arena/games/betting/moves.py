"""Betting moves (B1), and the legal moves of one turn."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from arena.games.frozen import Frozen


class Fold(Frozen):
    """Give up the hand. Not allowed where checking is free."""


class Check(Frozen):
    """Put in nothing; allowed only if there is nothing to call."""


class Call(Frozen):
    """Match the bet, or go all-in for less."""


class Bet(Frozen):
    """Open the betting of a round with a total of `to` chips."""

    to: int


class Raise(Frozen):
    """Raise the bet to a total of `to` chips in this round."""

    to: int


class BringIn(Frozen):
    """Open the first round of a stud game, which is compulsory, with `to` chips."""

    to: int


Wager: TypeAlias = Bet | Raise | BringIn
BettingMove: TypeAlias = Fold | Check | Call | Bet | Raise

FOLD: Final = Fold()
CHECK: Final = Check()
CALL: Final = Call()
# Moves are interned, as the codec finds the bytes of a move by its identity.
bet_to: Final = lru_cache(maxsize=1 << 12)(Bet)
raise_to: Final = lru_cache(maxsize=1 << 12)(Raise)
bring_in_of: Final = lru_cache(maxsize=1 << 12)(BringIn)


class Choices:
    """The legal moves of one turn. Wagers are a range of totals, of which a few are offered.

    Offered are fold or check, call, and of the wagers in the range the smallest, half the pot, the pot
    and the largest.
    """

    __slots__ = ("_high", "_low", "_passive", "_wager", "complete", "offered")

    def __init__(
        self,
        passive: tuple[BettingMove, ...],
        wager: Callable[[int], Wager],
        span: tuple[int, int] | None,
        sizes: Sequence[int],
    ) -> None:
        """Take the moves without a wager, and the range of wagers from `span[0]` to `span[1]`, if any."""
        self._passive = passive
        self._wager = wager
        self._low, self._high = span or (1, 0)
        listed = sorted({to for to in sizes if self._low <= to <= self._high} | {*(span or ())})
        self.offered = (*passive, *map(wager, listed))
        self.complete = len(listed) == self._high - self._low + 1

    def __contains__(self, move: object) -> bool:
        if isinstance(move, Wager):
            return self._low <= move.to <= self._high and self._wager(move.to) == move
        return move in self._passive

    def count(self) -> int:
        return len(self._passive) + self._high - self._low + 1

    def sample(self, below: Callable[[int], int]) -> BettingMove | BringIn:
        number = below(self.count()) - len(self._passive)
        return self._passive[number] if number < 0 else self._wager(self._low + number)


@lru_cache(maxsize=1 << 12)
def wagers(calls: bool, opens: bool, low: int, high: int, half_to: int, pot_to: int) -> Choices:
    """Return the moves of a turn that may bet or raise to a total from `low` to `high`.

    `calls` is true if there is something to call, `opens` if the wager is the first of the round.
    `half_to` and `pot_to` are the totals of half a pot and of a pot.
    """
    passive: tuple[BettingMove, ...] = (FOLD, CALL) if calls else (CHECK,)
    return Choices(passive, bet_to if opens else raise_to, (low, high), (half_to, pot_to))


CALL_OR_FOLD: Final = Choices((FOLD, CALL), raise_to, None, ())
ONLY_CHECK: Final = Choices((CHECK,), bet_to, None, ())


@lru_cache(maxsize=1 << 10)
def bring_ins_of(low: int, high: int, full: int) -> Choices:
    """Return the sizes of a bring-in; offered are the smallest, the full bet and the largest."""
    return Choices((), bring_in_of, (low, high), (full,))
