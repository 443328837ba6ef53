"""Codes: the conversion of values to numbers with names, and back.

A layout consists of codes, as a view consists of fields:

    Fields(View, seats, held=CardCounts(PACK_32), totals=BySeat(Number(0, 9000, 501), seats))

Its size, its description and its inverse follow from it. A code writes into zeros, and writes only what is not zero.
Seats are counted from the seat that looks: it is the first and the seat at its left the second, so that all seats see
the same game.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import fields
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias, get_args, get_type_hints

from arena.envs.writers import DIGEST_SIZE, At, Numbers, Places, Source, Writer, write_digest
from arena.games.cards import CANONICAL, Card
from arena.games.contract import Seat

Rename: TypeAlias = Callable[[Any], Any]
"""Returns a value with its suits renamed, such as a card; it also renames the words `clubs`, `diamonds`, `hearts`, `spades`."""

_LISTED: Final = 14
"""The number of values that the page of layouts lists."""


class Shortened(ValueError):
    """The value cannot be read back, because only a digest of a part of it was written."""


class Part(NamedTuple):
    """A named slice of an observation."""

    name: str
    """The path of the field in the view, such as `auction.trump`."""
    start: int
    size: int
    meaning: str


class ValueCode(ABC):
    """The code of a value: it is written as `size` numbers, between the numbers of `low` and `high`."""

    low: Sequence[float]
    high: Sequence[float]
    size: int
    is_certain = False
    """Whether every value writes a number that is not 0, so that zeros mean that there is none."""

    def write(self, value: Any, seat: int, numbers: Numbers) -> None:
        """Write a value into zeros, as `seat` sees it."""
        self.writer(value, seat, numbers)

    @cached_property
    def writer(self) -> Writer:
        """What `write` calls."""
        source = Source()
        return source.compiled(self.source("value", At(), source))

    def source(self, value: str, at: At, source: Source) -> Iterator[str]:
        """Yield lines of Python that write a variable. A code has these, or a `write` of its own that they call."""
        yield f"{source.constant(self.write)}({value}, seat, numbers[{at}:])"

    @abstractmethod
    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        """Return the value that was written. Raises `Shortened` if only a digest of a part was written."""

    @abstractmethod
    def meaning(self) -> str:
        """Return what the numbers mean, for the page of layouts."""

    def renamed(self, rename: Rename) -> list[int]:
        """Return for each number its index if the suits of the value are renamed."""
        del rename
        return list(range(self.size))

    def parts(self, name: str, start: int) -> Iterator[Part]:
        """Yield the named slices of a value that starts at an index."""
        yield Part(name, start, self.size, self.meaning())

    def _bounded(self, low: float, high: float, size: int) -> None:
        self.low, self.high, self.size = (low,) * size, (high,) * size, size


class Placed(ValueCode):
    """A value that has a place: 1 at its place, 0 at all others."""

    is_certain = True
    tables: Sequence[Places]
    """The places of the values by the seat that looks; one table is that of all seats."""

    def source(self, value: str, at: At, source: Source) -> Iterator[str]:
        place = f"{source.table(self.tables, at)}[{value}]"
        yield f"numbers[{at.plus(place)}] = 1.0"


class OneOf(Placed):
    """One of a few values."""

    def __init__(self, values: Iterable[Hashable]) -> None:
        self._values = tuple(values)
        self._place = {value: at for at, value in enumerate(self._values)}
        self.tables = (self._place,)
        self._bounded(0, 1, len(self._values))

    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        return self._values[_first(numbers, at, self.size)]

    def renamed(self, rename: Rename) -> list[int]:
        return [self._place[rename(value)] for value in self._values]

    def meaning(self) -> str:
        return f"one of {_listed(self._values)}"


class SeatOf(Placed):
    """A seat, counted from the seat that looks; or one of a few other values."""

    def __init__(self, seats: int, *others: Hashable) -> None:
        self._seats = seats
        self._others = others
        self.tables = tuple(
            {other: seats + at for at, other in enumerate(others)}
            | {value: (value - seat) % seats for value in range(seats)}
            for seat in range(seats)
        )
        self._bounded(0, 1, seats + len(others))

    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        place = _first(numbers, at, self.size)
        if place >= self._seats:
            return self._others[place - self._seats]
        return Seat((place + seat) % self._seats)

    def meaning(self) -> str:
        words = ["none" if value is None else f"`{value}`" for value in self._others]
        return " or ".join(["seat, the observer first", *words])


class Number(ValueCode):
    """A whole number from `low` to `high`, divided by `scale`."""

    def __init__(self, low: int, high: int, scale: int | None = None) -> None:
        self._scale = float(scale or max(abs(low), abs(high), 1))
        self._text = f"{low} to {high}, divided by {self._scale:g}"
        self._bounded(low / self._scale, high / self._scale, 1)

    def source(self, value: str, at: At, source: Source) -> Iterator[str]:
        yield f"if {value}: numbers[{at}] = {value} / {self._scale}"

    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        return round(numbers[at] * self._scale)

    def meaning(self) -> str:
        return self._text


class Flag(ValueCode):
    """Yes or no: 1 or 0."""

    def __init__(self) -> None:
        self._bounded(0, 1, 1)

    def source(self, value: str, at: At, source: Source) -> Iterator[str]:
        yield f"if {value}: numbers[{at}] = 1.0"

    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        return numbers[at] == 1

    def meaning(self) -> str:
        return "1 for yes"


class Maybe(ValueCode):
    """A value or None: 1 and the value, or zeros."""

    def __init__(self, code: ValueCode) -> None:
        self._code = code
        self.size = 1 + code.size
        self.low, self.high = (0, *_with_zero(code.low, min)), (1, *_with_zero(code.high, max))

    def source(self, value: str, at: At, source: Source) -> Iterator[str]:
        yield f"if {value} is not None:"
        yield f"    numbers[{at}] = 1.0"
        yield from source.block(self._code.source(value, at.after(1), source))

    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        return self._code.read(seat, numbers, at + 1) if numbers[at] else None

    def renamed(self, rename: Rename) -> list[int]:
        return [0, *_moved(1, self._code.renamed(rename))]

    def meaning(self) -> str:
        return f"1 if there is one, then: {self._code.meaning()}"


class CardCounts(ValueCode):
    """Cards whose order has no information: for each card its number, divided by `copies`.

    They are read back in the order of `cards`.
    """

    def __init__(self, cards: Iterable[Card], copies: int = 1) -> None:
        self._cards = tuple(dict.fromkeys(cards))
        self._place = {card: at for at, card in enumerate(self._cards)}
        self._copies = copies
        self._bounded(0, 1, len(self._cards))

    def source(self, value: str, at: At, source: Source) -> Iterator[str]:
        card, table = source.variable(), source.table([self._place], at)
        writes = "=" if self._copies == 1 else "+="
        yield f"for {card} in {value}: numbers[{at.plus(f'{table}[{card}]')}] {writes} {1 / self._copies}"

    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        counts = numbers[at : at + self.size]
        copies = self._copies
        return tuple(
            card
            for card, count in zip(self._cards, counts, strict=True)
            for _ in range(round(count * copies))
        )

    def renamed(self, rename: Rename) -> list[int]:
        return [self._place[rename(card)] for card in self._cards]

    def meaning(self) -> str:
        share = "1 for each of" if self._copies == 1 else f"copies ÷ {self._copies} of each of"
        return f"{share} {_listed(self._cards)}"


class CardOrder(ValueCode):
    """Cards in an order: for each card its place from 1, divided by the number of all cards.

    A card that occurs several times in `cards` has as many places.
    """

    def __init__(self, cards: Iterable[Card]) -> None:
        self._cards = tuple(sorted(cards, key=CANONICAL.__getitem__))
        self._place: dict[Card, int] = {}
        for at, card in enumerate(self._cards):
            self._place.setdefault(card, at)
        self._has_twins = len(self._place) < len(self._cards)
        self._bounded(0, 1, len(self._cards))

    def source(self, value: str, at: At, source: Source) -> Iterator[str]:
        card, number, here = source.variable(), source.variable(), source.variable()
        numbers = source.constant([number / self.size for number in range(1, self.size + 1)])
        yield f"for {number}, {card} in zip({numbers}, {value}):"
        yield f"    {here} = {at.plus(f'{source.table([self._place], at)}[{card}]')}"
        if self._has_twins:
            yield f"    while numbers[{here}]: {here} += 1"
        yield f"    numbers[{here}] = {number}"

    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        placed = zip(numbers[at : at + self.size], self._cards, strict=True)
        return tuple(card for number, card in sorted(placed) if number)

    def renamed(self, rename: Rename) -> list[int]:
        twin = [at - self._place[card] for at, card in enumerate(self._cards)]
        return [self._place[rename(card)] + at for card, at in zip(self._cards, twin, strict=True)]

    def meaning(self) -> str:
        return f"place from 1, divided by {self.size}, of each of {_listed(self._cards)}"


class SeveralOf(ValueCode):
    """Up to `most` values in order. Those of a code that is not certain have a 1 before them."""

    def __init__(self, code: ValueCode, most: int) -> None:
        self._code = code
        self._most = most
        self._mark = 0 if code.is_certain else 1
        self._stride = code.size + self._mark
        self.size = most * self._stride
        self.low = (*(0,) * self._mark, *_with_zero(code.low, min)) * most
        self.high = (*(1,) * self._mark, *_with_zero(code.high, max)) * most

    def source(self, value: str, at: At, source: Source) -> Iterator[str]:
        place, one = source.variable(), source.variable()
        yield f"if len({value}) > {self._most}: {source.constant(self._refuse)}({value})"
        places = range(at.offset, at.offset + self.size, self._stride)
        if isinstance(self._code, Placed) and not at.variable:
            tables = source.tables(self._code.tables, places)
            yield f"for {place}, {one} in zip({tables}, {value}): numbers[{place}[{one}]] = 1.0"
            return
        yield f"for {place}, {one} in zip({source.constant(places)}, {value}):"
        if at.variable:
            yield f"    {place} += {at.variable}"
        if self._mark:
            yield f"    numbers[{place}] = 1.0"
        yield from source.block(self._code.source(one, At(place, self._mark), source))

    def _refuse(self, value: Sequence[Any]) -> None:
        raise ValueError(f"{len(value)} values do not fit into a list of {self._most}")

    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        values = []
        for start in range(at, at + self.size, self._stride):
            if not any(numbers[start : start + self._stride]):
                break
            values.append(self._code.read(seat, numbers, start + self._mark))
        return tuple(values)

    def renamed(self, rename: Rename) -> list[int]:
        one = [*range(self._mark), *_moved(self._mark, self._code.renamed(rename))]
        return [at for start in range(0, self.size, self._stride) for at in _moved(start, one)]

    def meaning(self) -> str:
        mark = "1, then " if self._mark else ""
        return f"up to {self._most} times, in order: {mark}{self._code.meaning()}"


class LatestOf(ValueCode):
    """The latest `most` values, the last one first, then the number and a digest of all earlier ones.

    So lists without a limit have a fixed size, and different lists have different numbers.
    """

    def __init__(self, code: ValueCode, most: int, all_of_them: int = 1 << 12) -> None:
        self._code = code
        self._most = most
        self._listed = SeveralOf(code, most)
        self._count = Number(0, all_of_them, most)
        self._start = 1 + DIGEST_SIZE
        self.size = self._start + self._listed.size
        self.low = (0, *(0,) * DIGEST_SIZE, *self._listed.low)
        self.high = (*self._count.high, *(1,) * DIGEST_SIZE, *self._listed.high)

    def write(self, value: Any, seat: int, numbers: Numbers) -> None:
        early = value[: -self._most]
        self._count.write(len(value), seat, numbers)
        if early:
            write_digest(early, numbers, 1)
        self._listed.write(value[::-1][: self._most], seat, numbers[self._start :])

    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        if self._count.read(seat, numbers, at) > self._most:
            raise Shortened(
                f"only the latest {self._most} were written, and a digest of the others"
            )
        return self._listed.read(seat, numbers, at + self._start)[::-1]

    def renamed(self, rename: Rename) -> list[int]:
        return [*range(self._start), *_moved(self._start, self._listed.renamed(rename))]

    def meaning(self) -> str:
        return (
            f"how many, divided by {self._most}; {DIGEST_SIZE} numbers of a digest of all but the latest {self._most}; "
            f"the latest, the last one first: {self._listed.meaning()}"
        )


class TextDigest(ValueCode):
    """A text: 1 for one that is not empty, and a digest. None is written as an empty text."""

    def __init__(self, empty: str | None = "") -> None:
        self._empty = empty
        self._bounded(0, 1, 1 + DIGEST_SIZE)

    def write(self, value: Any, seat: int, numbers: Numbers) -> None:
        if value:
            numbers[0] = 1.0
            write_digest(value, numbers, 1)

    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        if numbers[at]:
            raise Shortened("only a digest of the text was written")
        return self._empty

    def meaning(self) -> str:
        return f"1 for a text, then {DIGEST_SIZE} numbers of its digest"


class BySeat(ValueCode):
    """A value for each seat, that of the seat that looks first."""

    def __init__(self, code: ValueCode, seats: int) -> None:
        self._code = code
        self._seats = seats
        self.size = code.size * seats
        self.low, self.high = (*code.low,) * seats, (*code.high,) * seats
        self.is_certain = code.is_certain

    def source(self, value: str, at: At, source: Source) -> Iterator[str]:
        for left in range(self._seats):
            one = source.variable()
            behind = f" - {self._seats - left}" if left else ""
            yield f"{one} = {value}[seat{behind}]"
            yield from self._code.source(one, at.after(left * self._code.size), source)

    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        size = self._code.size
        values = [
            self._code.read(seat, numbers, start) for start in range(at, at + self.size, size)
        ]
        first = self._seats - seat
        return (*values[first:], *values[:first])

    def renamed(self, rename: Rename) -> list[int]:
        one = self._code.renamed(rename)
        return [at for start in range(0, self.size, len(one)) for at in _moved(start, one)]

    def parts(self, name: str, start: int) -> Iterator[Part]:
        if not isinstance(self._code, Fields):
            yield from super().parts(name, start)
            return
        for number in range(self._seats):
            yield from self._code.parts(f"{name}[{number}]", start + number * self._code.size)

    def meaning(self) -> str:
        return f"for each of {self._seats} seats, the observer first: {self._code.meaning()}"


class Fields(ValueCode):
    """A value of a class by its fields.

    The codes of seats, enumerations and flags follow from the types of the fields; the codes of all other fields are
    given.
    """

    def __init__(self, kind: type, seats: int, /, **codes: ValueCode) -> None:
        self._kind = kind
        self._codes: list[tuple[str, ValueCode, int]] = []
        hints = get_type_hints(kind)
        size = 0
        for field in fields(kind):
            code = codes.pop(field.name, None) or _code_of(hints[field.name], field.name, seats)
            self._codes.append((field.name, code, size))
            size += code.size
        if codes:
            raise TypeError(f"{kind.__name__} has no field {', '.join(codes)}")
        self.size = size
        self.low = tuple(low for _, code, _ in self._codes for low in code.low)
        self.high = tuple(high for _, code, _ in self._codes for high in code.high)
        self.is_certain = any(code.is_certain for _, code, _ in self._codes)

    def source(self, value: str, at: At, source: Source) -> Iterator[str]:
        for name, code, start in self._codes:
            field = source.variable()
            yield f"{field} = {value}.{name}"
            yield from code.source(field, at.after(start), source)

    def read(self, seat: int, numbers: Sequence[float], at: int) -> Any:
        return self._kind(
            **{name: code.read(seat, numbers, at + start) for name, code, start in self._codes}
        )

    def renamed(self, rename: Rename) -> list[int]:
        starts = {name: start for name, _, start in self._codes}
        return [
            at
            for name, code, _ in self._codes
            for at in _moved(starts[rename(name)], code.renamed(rename))
        ]

    def parts(self, name: str, start: int) -> Iterator[Part]:
        for field, code, offset in self._codes:
            yield from code.parts(f"{name}.{field}" if name else field, start + offset)

    def meaning(self) -> str:
        return "; ".join(f"{name}: {code.meaning()}" for name, code, _ in self._codes)


def _code_of(hint: Any, name: str, seats: int) -> ValueCode:
    types = [one for one in get_args(hint) or (hint,) if one is not type(None)]
    others = () if len(types) == len(get_args(hint) or (hint,)) else (None,)
    if len(types) == 1:
        if types[0] is Seat:
            return SeatOf(seats, *others)
        if types[0] is bool:
            return Flag()
        if isinstance(types[0], type) and issubclass(types[0], StrEnum):
            return OneOf((*types[0], *others))
    raise TypeError(f"the field {name} needs a code")


def _moved(start: int, places: Iterable[int]) -> list[int]:
    return [start + at for at in places]


def _listed(values: Sequence[Any]) -> str:
    """Return values as text; if there are more than `_LISTED`, only the first ones and the last."""
    words = ["none" if value is None else f"`{value or '-'}`" for value in values]
    if len(words) <= _LISTED:
        return " ".join(words)
    return f"{len(words)}: {' '.join(words[:5])} … {' '.join(words[-2:])}"


def _first(numbers: Sequence[float], at: int, size: int) -> int:
    return next(place for place in range(size) if numbers[at + place])


def _with_zero(bounds: Iterable[float], least_or_most: Any) -> list[float]:
    """Return bounds that include 0, which is written for a missing value."""
    return [least_or_most(0, bound) for bound in bounds]
