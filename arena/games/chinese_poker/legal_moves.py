"""Which moves there are in Chinese Poker: far too many settings to list, and two answers."""

from collections.abc import Callable
from typing import Final

from arena.cards import Card
from arena.games.chinese.hands import Rows
from arena.games.chinese.naturals import Natural
from arena.games.chinese.settings import SETTINGS, by_rank, candidates, numbered
from arena.games.chinese_poker.state import State
from arena.games.chinese_poker.words import DECLARE_NATURAL, PLAY, SURRENDER, Move, Set
from arena.games.contract import Listed, Seat

OFFERED_SETTINGS: Final = 8
"""Good settings offered to a bot that does not search for its own."""
PLAY_OR_SURRENDER: Final = Listed((PLAY, SURRENDER))


def set_of(rows: Rows) -> Set:
    """The move that sets these rows."""
    return Set(rows.front, rows.middle, rows.back)


class Settings:
    """All moves of a seat that has thirteen cards to set; far too many to list.

    Offered are the natural, good settings that do not foul, best first, and the
    setting that is played for a seat that does not answer.
    """

    __slots__ = ("_held", "_natural", "_offered")

    def __init__(self, held: tuple[Card, ...], natural: Natural | None) -> None:
        self._held = held
        self._natural = natural
        self._offered: tuple[Move, ...] | None = None

    @property
    def offered(self) -> tuple[Move, ...]:
        """Some of the moves. Found when first asked for, in about a millisecond."""
        if self._offered is None:
            settings = (*candidates(self._held, OFFERED_SETTINGS), by_rank(self._held))
            found = dict.fromkeys(map(set_of, settings))
            natural = () if self._natural is None else (DECLARE_NATURAL,)
            self._offered = (*natural, *found)
        return self._offered

    @property
    def complete(self) -> bool:
        return False

    def __contains__(self, move: object) -> bool:
        if isinstance(move, Set):
            sizes = len(move.front), len(move.middle), len(move.back)
            cards = (*move.front, *move.middle, *move.back)
            return sizes == (3, 5, 5) and set(cards) == set(self._held)
        return move == DECLARE_NATURAL and self._natural is not None

    def count(self) -> int:
        return SETTINGS if self._natural is None else SETTINGS + 1

    def sample(self, below: Callable[[int], int]) -> Move:
        number = below(self.count())
        return DECLARE_NATURAL if number == SETTINGS else set_of(numbered(self._held, number))


def why_illegal(state: State, seat: Seat, move: Move) -> str:
    """What to say of a move that is not legal."""
    if state.committed is not None:
        return "play or surrender"
    if move == DECLARE_NATURAL:
        return "there is no natural in your hand"
    return "set your thirteen cards: 3 in front, 5 in the middle, 5 in the back"
