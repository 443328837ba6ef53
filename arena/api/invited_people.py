"""The file of people whom an organiser invites: comma-separated values with the name first, from a command or a form."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.validation import InvalidInput

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""The first characters of a cell that a spreadsheet would compute."""


@dataclass(frozen=True, slots=True)
class InvitedPeople:
    """The content of a file."""

    heading: list[str]
    """The cells of a first line `name,…`; empty without one."""
    people: list[tuple[int, list[str]]]
    """For each person the number of the line, from 1, and its cells, the name first."""
    delimiter: str
    """The comma, or the semicolon or tab that Excel writes in many languages."""


def read_people(text: str) -> InvitedPeople:
    """Read a file.

    Raises:
      InvalidInput: with a problem for each bad line. The caller must then make no invitation.
    """
    lines = text.splitlines()
    delimiter = max(",;\t", key=lines[0].count) if lines else ","
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    people: list[tuple[int, list[str]]] = []
    try:
        for line in reader:
            cells = [cell.strip() for cell in line]
            if cells and cells[0]:
                people.append((reader.line_num, cells))
    except csv.Error as error:
        raise InvalidInput(
            [f"line {reader.line_num}: these are no comma-separated values: {error}"]
        ) from None
    has_heading = bool(people) and people[0][1][0].casefold() in ("name", "owner")
    heading = people.pop(0)[1] if has_heading else []
    first: dict[str, int] = {}
    problems = []
    for number, cells in people:
        earlier = first.setdefault(cells[0].casefold(), number)
        if earlier != number:
            problems.append(f"line {number}: {cells[0]!r} is on line {earlier} already")
    if not people:
        problems = ["the file has no names"]
    if problems:
        raise InvalidInput(problems)
    return InvitedPeople(heading, people, delimiter)


def without_formulas(row: Sequence[str]) -> list[str]:
    """Return the cells of a line so that a spreadsheet does not compute any of them."""
    return [f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in row]
