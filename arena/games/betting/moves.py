"""What a seat may do when it is its turn to bet (B1), and the moves of one turn."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from arena.games.values import value


@value(frozen=True, slots=True)
class Fold:
    """Give up the hand. Not allowed where checking is free."""


@value(frozen=True, slots=True)
class Check:
    """Add nothing, as nothing is to be called."""


@value(frozen=True, slots=True)
class Call:
    """Match the bet, or go all-in below it."""


@value(frozen=True, slots=True)
class Bet:
    """Be the first to put chips in, for a total of `to`."""

    to: int


@value(frozen=True, slots=True)
class Raise:
    """Go beyond what is to be matched, for a total of `to` in this round."""

    to: int


@value(frozen=True, slots=True)
class BringIn:
    """Open the first round of a stud game, as must be, with `to` chips."""

    to: int


Wager: TypeAlias = Bet | Raise | BringIn
BettingMove: TypeAlias = Fold | Check | Call | Bet | Raise

FOLD: Final = Fold()
CHECK: Final = Check()
CALL: Final = Call()
# Moves are interned: equal moves are one object, which the codec's cache likes.
bet_to: Final = lru_cache(maxsize=1 << 12)(Bet)
raise_to: Final = lru_cache(maxsize=1 << 12)(Raise)
bring_in_of: Final = lru_cache(maxsize=1 << 12)(BringIn)


class Choices:
    """The moves of one turn; the wagers are a range, of which a few sizes are offered.

    Offered are fold or check, call, and the smallest wager, half the pot, the
    pot and the largest, as far as they lie in the range.
    """

    __slots__ = ("_high", "_low", "_passive", "_wager", "complete", "offered")

    def __init__(
        self,
        passive: tuple[BettingMove, ...],
        wager: Callable[[int], Wager],
        span: tuple[int, int] | None,
        sizes: Sequence[int],
    ) -> None:
        """Moves that add no wager, and the wagers from `span[0]` to `span[1]`, if any."""
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
    """The moves of a turn that may bet or raise to a total from `low` to `high`.

    `calls` is whether there is something to call, `opens` whether the wager is
    the first; `half_to` and `pot_to` are the totals of half a pot and of a pot.
    Turns that are alike share their moves.
    """
    passive: tuple[BettingMove, ...] = (FOLD, CALL) if calls else (CHECK,)
    return Choices(passive, bet_to if opens else raise_to, (low, high), (half_to, pot_to))


CALL_OR_FOLD: Final = Choices((FOLD, CALL), raise_to, None, ())
ONLY_CHECK: Final = Choices((CHECK,), bet_to, None, ())


@lru_cache(maxsize=1 << 10)
def bring_ins_of(low: int, high: int, full: int) -> Choices:
    """All sizes of a bring-in; beside the smallest and the largest, the full bet is offered."""
    return Choices((), bring_in_of, (low, high), (full,))
