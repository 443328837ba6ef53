"""Functions that write values as numbers, made from the source that codes give: one function for all of a view.

A call for each field and each seat took more than half of the time that an observation takes.
"""

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple, TypeAlias, cast

DIGEST_SIZE: Final = 3
"""The number of numbers of a digest, of 16 bits each: two values have the same digest with a probability of 1 in 2**48."""

Numbers: TypeAlias = "memoryview[float]"
"""Zeros of 32-bit floats that a code writes into, from the first. A number is written in half the time that an array takes."""
Writer: TypeAlias = Callable[[Any, int, Numbers], None]
"""Writes a value into zeros as a seat sees it: of `value`, `seat` and `numbers`."""
Places: TypeAlias = Mapping[Any, int]
"""The place of each value among the numbers of a code."""


def zeros(count: int) -> "array[float]":
    """Return so many zeros."""
    return array("f", bytes(4 * count))


def rows_of(numbers: "array[float]", width: int) -> list[Numbers]:
    """Return the rows of an array, of `width` numbers each, to write into."""
    whole = memoryview(numbers).cast("B").cast("f")
    return [whole[start : start + width] for start in range(0, len(numbers), width)]


class At(NamedTuple):
    """A place among the numbers, in the source of a writer."""

    variable: str = ""
    """A variable with a place to which the offset is added, if there is one."""
    offset: int = 0

    def after(self, count: int) -> "At":
        """Return the place behind so many numbers."""
        return At(self.variable, self.offset + count)

    def plus(self, place: str) -> str:
        """Return the source of a place behind this one; `place` has the offset already."""
        return f"{self.variable} + {place}" if self.variable else place

    def __str__(self) -> str:
        return self.plus(str(self.offset))


class Source:
    """The names in the source of a writer: of its variables, and of values that it uses."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._variables = 0

    def variable(self) -> str:
        """Return the name of a variable that is not used yet."""
        self._variables += 1
        return f"v{self._variables}"

    def constant(self, value: Any) -> str:
        """Return a name for a value."""
        name = f"c{len(self.values)}"
        self.values[name] = value
        return name

    def table(self, tables: Sequence[Places], at: At) -> str:
        """Return the source of the places of the seat, with the offset of `at`; one table is that of all seats."""
        return self._by_seat([_moved(places, at.offset) for places in tables])

    def tables(self, tables: Sequence[Places], starts: Iterable[int]) -> str:
        """Return the source of the places of the seat from each of these starts on."""
        return self._by_seat([[_moved(places, start) for start in starts] for places in tables])

    def block(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield lines as those of a block."""
        return (f"    {line}" for line in lines)

    def compiled(self, lines: Iterable[str]) -> Writer:
        """Return the writer with these lines, which have the names of its arguments and those of this source."""
        text = "\n".join(["def write(value, seat, numbers):", *self.block(lines)])
        exec(compile(text, "<writer of a layout>", "exec"), self.values)  # noqa: S102 - codes alone give source
        return cast("Writer", self.values["write"])

    def _by_seat(self, values: Sequence[Any]) -> str:
        return self.constant(values[0]) if len(values) == 1 else f"{self.constant(values)}[seat]"


def _moved(places: Places, count: int) -> dict[Hashable, int]:
    return {value: place + count for value, place in places.items()}


def write_digest(value: object, numbers: Any, at: int) -> None:
    """Write the digest of a value from index `at`; values are equal if their texts are."""
    digest = blake2b(repr(value).encode(), digest_size=2 * DIGEST_SIZE).digest()
    for place in range(DIGEST_SIZE):
        numbers[at + place] = int.from_bytes(digest[2 * place : 2 * place + 2], "big") / 65_536
