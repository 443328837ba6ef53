"""A compact set of match numbers."""

from collections.abc import Iterable, Iterator
from typing import Final

_PAGE_BITS: Final = 12
_OF_PAGE: Final = (1 << _PAGE_BITS) - 1


class MatchNumbers:
    """A set of numbers that are mostly consecutive.

    A number takes one bit, where Python's set takes 60 to 90 bytes, which the process would not
    give back to the system after a compaction.
    """

    __slots__ = ("_pages",)

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        """The set of `numbers`, which are not negative."""
        self._pages: dict[int, bytearray] = {}
        self.update(numbers)

    def add(self, number: int) -> None:
        """Add a number."""
        page = self._pages.get(number >> _PAGE_BITS)
        if page is None:
            page = self._pages[number >> _PAGE_BITS] = bytearray(1 << _PAGE_BITS >> 3)
        at = number & _OF_PAGE
        page[at >> 3] |= 1 << (at & 7)

    def update(self, numbers: Iterable[int]) -> None:
        """Add several numbers."""
        for number in numbers:
            self.add(number)

    def __contains__(self, number: int) -> bool:
        """Whether a number is in the set."""
        page = self._pages.get(number >> _PAGE_BITS)
        at = number & _OF_PAGE
        return page is not None and bool(page[at >> 3] >> (at & 7) & 1)

    def __iter__(self) -> Iterator[int]:
        """The numbers in ascending order."""
        for first, page in sorted(self._pages.items()):
            for at, bits in enumerate(page):
                if bits:
                    here = (first << _PAGE_BITS) + (at << 3)
                    yield from (here + bit for bit in range(8) if bits >> bit & 1)
