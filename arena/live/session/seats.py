"""The seats of one bot at matches, and the messages that the bot may not have received.

| state   | listed by `welcome` | changes when                                                |
|---------|---------------------|-------------------------------------------------------------|
| PLAYING | yes                 | the match ends, and the end is sent to the bot              |
| ENDED   | yes, with its end   | the bot answers an ask that was sent after the end, which   |
|         |                     | shows that it received the end; or many more have ended     |

After ENDED a seat is forgotten.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from arena.live.session.asks import Seating

REMEMBERED_ENDS: Final = 64
"""The number of ends of matches that are sent again to a bot that may not have received them."""
REMEMBERED_CLOSES: Final = 64
"""The number of deal-sets whose opening is sent again on later streams."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True)
class _SentMessage:
    frame: bytes
    open_before: frozenset[int]
    """The asks that were open when it was sent. The answer to any later one acknowledges it."""


class UnacknowledgedMessages(Generic[Key]):
    """Messages of one kind that the bot may not have received, oldest first."""

    def __init__(self, most: int) -> None:
        """Keep at most `most` messages; a further one replaces the oldest."""
        self._most = most
        self.messages: Final[dict[Key, _SentMessage]] = {}
        """The messages by key; read at every answer."""

    def sent(self, key: Key, frame: bytes, open_asks: frozenset[int]) -> None:
        """Add a message that was sent while these asks were open."""
        self.messages[key] = _SentMessage(frame, open_asks)
        if len(self.messages) > self._most:
            del self.messages[next(iter(self.messages))]

    def clear(self) -> None:
        self.messages.clear()

    def answered(self, number: int) -> None:
        """Note that the bot answered an ask: it has received everything that was sent before the ask."""
        for key in [key for key, sent in self.messages.items() if number not in sent.open_before]:
            del self.messages[key]

    def sent_again(self, open_asks: frozenset[int]) -> Sequence[tuple[Key, bytes]]:
        """Return all messages, which are sent again while these asks are open."""
        for sent in self.messages.values():
            sent.open_before = open_asks
        return [(key, sent.frame) for key, sent in self.messages.items()]


class SeatTable:
    """All remembered seats of one bot."""

    def __init__(self, numbered: int = 0) -> None:
        """Begin without seats; the bot's earlier matches had numbers up to `numbered`."""
        self.numbered = numbered
        """The highest number of a match so far."""
        self._playing: dict[int, Seating] = {}
        self.ends: Final[UnacknowledgedMessages[Seating]] = UnacknowledgedMessages(REMEMBERED_ENDS)
        """Ends of matches that the bot may not have received."""
        self.closes: Final[UnacknowledgedMessages[bytes]] = UnacknowledgedMessages(
            REMEMBERED_CLOSES
        )
        """How deal-sets were opened that the bot may not have received, by context."""

    def __iter__(self) -> Iterator[Seating]:
        return iter(list(self._playing.values()))

    @property
    def playing(self) -> int:
        return len(self._playing)

    def get(self, number: int) -> Seating | None:
        """Return the seat at a match in play, by the match's number."""
        return self._playing.get(number)

    def add(self, seating: Seating) -> None:
        self._playing[seating.number] = seating
        self.numbered = max(self.numbered, seating.number)

    def attend(self, *, here: bool) -> None:
        """Note whether the bot can be reached at its matches from now on."""
        for seating in self:
            seating.attend(here=here)

    def leave(self) -> None:
        """Settle the open asks of its matches, because the bot will not answer."""
        for seating in self:
            seating.left()

    def ended(self, number: int, end: bytes, open_asks: frozenset[int]) -> None:
        """Note that a match is over, and that its end was sent while these asks were open."""
        self.ends.sent(self._playing.pop(number), end, open_asks)
