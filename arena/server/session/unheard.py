"""What a bot was told and may not have heard: told again until an answer shows that it has."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True)
class _Told:
    frame: bytes
    open_before: frozenset[int]
    """Asks that were open when it was told. The answer to any later one shows that the bot
    heard of it."""


class Unheard(Generic[Key]):
    """Messages of one kind that the bot may not have heard, oldest first."""

    def __init__(self, most: int) -> None:
        """Remembers as many at `most`."""
        self._most = most
        self._told: dict[Key, _Told] = {}

    def __len__(self) -> int:
        return len(self._told)

    def tell(self, key: Key, frame: bytes, open_asks: frozenset[int]) -> Key | None:
        """Something is told while these asks are open; gives what is forgotten for it."""
        self._told[key] = _Told(frame, open_asks)
        if len(self._told) <= self._most:
            return None
        oldest = next(iter(self._told))
        del self._told[oldest]
        return oldest

    def answered(self, number: int) -> Sequence[Key]:
        """The bot answered an ask: gives what it has heard, as all that was told before the ask."""
        heard = [key for key, told in self._told.items() if number not in told.open_before]
        for key in heard:
            del self._told[key]
        return heard

    def again(self, open_asks: frozenset[int]) -> Sequence[tuple[Key, bytes]]:
        """All of it, told again while these asks are open."""
        for told in self._told.values():
            told.open_before = open_asks
        return [(key, told.frame) for key, told in self._told.items()]
