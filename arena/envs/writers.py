"""Functions that write values as numbers, made from the source that codes give: one function for all of a view.

A call for each field and each seat took more than half of the time that an observation takes.
"""

from collections.abc import Callable, Iterable, Iterator, MutableSequence
from typing import Any, NamedTuple, TypeAlias, cast

Numbers: TypeAlias = MutableSequence[float]
"""Zeros of 32-bit floats that a code writes into."""
Writer: TypeAlias = Callable[[Any, int, Numbers, int], None]
"""Writes a value into zeros from an index, as a seat sees it: of `value`, `seat`, `numbers` and `at`."""


class At(NamedTuple):
    """A place among the numbers, in the source of a writer."""

    variable: str
    offset: int = 0

    def after(self, count: int) -> "At":
        """Return the place behind so many numbers."""
        return At(self.variable, self.offset + count)

    def __str__(self) -> str:
        return f"{self.variable} + {self.offset}" if self.offset else self.variable


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


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines as those of a block."""
    return (f"    {line}" for line in lines)


def compiled(lines: Iterable[str], source: Source) -> Writer:
    """Return the writer with these lines, which have the names of its arguments and those of `source`."""
    text = "\n".join(["def write(value, seat, numbers, at):", *indented(lines)])
    exec(compile(text, "<writer of a layout>", "exec"), source.values)  # noqa: S102 - codes alone give source
    return cast("Writer", source.values["write"])
