"""A bot's seats at matches over all its streams, each in one state that moves down only.

| state   | listed by `welcome` | moves down when                                             |
|---------|---------------------|-------------------------------------------------------------|
| PLAYING | yes                 | the match ends, and the bot is told so                      |
| ENDED   | yes, with its end   | the bot answers an ask that was sent after the end, which   |
|         |                     | shows that it heard of the end; or many more have ended     |

A seat that moves down from ENDED is forgotten.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from arena.server.session.seating import Seating
from arena.server.session.unheard import Unheard

REMEMBERED_ENDS: Final = 64
"""Ends of matches that are told again to a bot that may not have heard of them."""


class SeatState(Enum):
    """How far a match has come, for the bot at one of its seats."""

    PLAYING = auto()
    ENDED = auto()


@dataclass(slots=True)
class SeatEntry:
    """One seat at a match and its state."""

    seating: Seating
    state: SeatState = SeatState.PLAYING


class SeatTable:
    """All seats of one bot that are not forgotten."""

    def __init__(self) -> None:
        self._entries: dict[int, SeatEntry] = {}
        self._ended: Unheard[int] = Unheard(REMEMBERED_ENDS)
        """Ends of matches, by number."""

    def __iter__(self) -> Iterator[Seating]:
        """The seats at matches that go on."""
        return (
            entry.seating for entry in self._entries.values() if entry.state is SeatState.PLAYING
        )

    @property
    def playing(self) -> int:
        """How many matches go on."""
        return len(self._entries) - len(self._ended)

    @property
    def any_ended(self) -> bool:
        """Whether the bot may not have heard of some end."""
        return len(self._ended) > 0

    def get(self, number: int) -> Seating | None:
        """The seat at a match that goes on, by the match's number."""
        entry = self._entries.get(number)
        return entry.seating if entry is not None and entry.state is SeatState.PLAYING else None

    def add(self, seating: Seating) -> None:
        """The bot sits down."""
        self._entries[seating.number] = SeatEntry(seating)

    def ended(self, number: int, end: bytes, open_asks: frozenset[int]) -> None:
        """The match is over, and the bot was told so while these asks were open."""
        self._entries[number].state = SeatState.ENDED
        forgotten = self._ended.tell(number, end, open_asks)
        if forgotten is not None:
            del self._entries[forgotten]

    def answered(self, number: int) -> None:
        """The bot answered an ask: it has heard all that was told before this was sent."""
        for heard in self._ended.answered(number):
            del self._entries[heard]

    def tell_ends_again(self, open_asks: frozenset[int]) -> Sequence[tuple[Seating, bytes]]:
        """The ends that the bot may not have heard of, told again while these asks are open."""
        again = self._ended.again(open_asks)
        return [(self._entries[number].seating, end) for number, end in again]
