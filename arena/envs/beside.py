"""Numbers that follow from what a seat sees, such as the strength of a hand: a code beside that of the view."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from arena.envs.codes import Numbers, Part, Rename, ValueCode


class Beside(ValueCode):
    """A value, and behind it what follows from it, so that a learner need not find it out; that is not read back.

    The numbers, from 0 to 1, must not depend on the names of suits.
    """

    def __init__(
        self,
        code: ValueCode,
        name: str,
        meaning: str,
        size: int,
        follows: Callable[[Any, int], Sequence[float]],
    ) -> None:
        """Take the code of the value, and what returns the `size` further numbers of a value as a seat sees it."""
        self._code = code
        self._name, self._text, self._follows = name, meaning, follows
        self._further = size
        self.size = code.size + size
        self.low, self.high = (*code.low, *(0,) * size), (*code.high, *(1,) * size)

    def write(self, value: Any, seat: int, numbers: Numbers, at: int) -> None:
        self._code.write(value, seat, numbers, at)
        start = at + self._code.size
        for place, number in enumerate(self._follows(value, seat)):
            numbers[start + place] = number

    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        return self._code.read(seat, numbers, at)

    def renamed(self, rename: Rename) -> list[int]:
        return [*self._code.renamed(rename), *range(self._code.size, self.size)]

    def parts(self, name: str, start: int) -> Iterator[Part]:
        yield from self._code.parts(name, start)
        yield Part(self._name, start + self._code.size, self._further, self._text)

    def meaning(self) -> str:
        return f"{self._code.meaning()}; {self._name}: {self._text}"
