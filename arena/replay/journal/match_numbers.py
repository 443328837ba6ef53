"""Many numbers of matches in little memory."""

from collections.abc import Iterable, Iterator
from typing import Final

_PAGE_BITS: Final = 12
_OF_PAGE: Final = (1 << _PAGE_BITS) - 1


class MatchNumbers:
    """A set of numbers most of which are near others, as those that a process has counted up are.

    Each takes a bit, where a set of Python's takes 60 to 90 bytes. What a set takes while a full
    segment's thousands of matches are sorted out is never given back to the system.
    """

    __slots__ = ("_pages",)

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        """The set of `numbers`, which are not negative."""
        self._pages: dict[int, bytearray] = {}
        self.update(numbers)

    def add(self, number: int) -> None:
        """Have it in the set."""
        page = self._pages.get(number >> _PAGE_BITS)
        if page is None:
            page = self._pages[number >> _PAGE_BITS] = bytearray(1 << _PAGE_BITS >> 3)
        at = number & _OF_PAGE
        page[at >> 3] |= 1 << (at & 7)

    def update(self, numbers: Iterable[int]) -> None:
        """Have all of them in the set."""
        for number in numbers:
            self.add(number)

    def __contains__(self, number: int) -> bool:
        """Whether it is in the set."""
        page = self._pages.get(number >> _PAGE_BITS)
        at = number & _OF_PAGE
        return page is not None and bool(page[at >> 3] >> (at & 7) & 1)

    def __iter__(self) -> Iterator[int]:
        """All of them, the least first."""
        for first, page in sorted(self._pages.items()):
            for at, bits in enumerate(page):
                if bits:
                    here = (first << _PAGE_BITS) + (at << 3)
                    yield from (here + bit for bit in range(8) if bits >> bit & 1)
