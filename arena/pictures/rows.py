"""Parts of the scenes of Chinese Poker and Open-Face Chinese Poker: three rows."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import comb

from arena.games import poker
from arena.games.cards import Card as Code
from arena.games.chinese.hands import FRONT_SIZE, SIZES
from arena.games.chinese.unit_values import UnitValues
from arena.games.contract import Seat
from arena.pictures.choices import ROWS
from arena.pictures.sentences import line, names, with_sign
from arena.pictures.vocabulary import Card, Gap, Group, Line, Name, Tone, Zone, ZoneKind


def hand_name(row: Sequence[Code], size: int) -> str:
    """Return the name of a complete row, such as `two pair`; other rows have an empty string."""
    if len(row) < size:
        return ""
    value = poker.front(row) if size == FRONT_SIZE else poker.standard(row)
    return poker.hand_class(value).label


def grid(
    rows: Sequence[Sequence[Code]],
    say: Callable[[int], Line],
    *,
    marked: Sequence[Code] = (),
    tone: Tone = Tone.PLAIN,
) -> Zone:
    """Return front, middle and back as rows with gaps; `say` returns the text after a row's name."""
    groups = []
    for at, (row, size) in enumerate(zip(rows, SIZES, strict=True)):
        drawn: tuple[Card | Gap, ...] = tuple(
            Card(code, Tone.MARKED if code in marked else tone) for code in row
        )
        gaps = (Gap(),) * (size - len(row))
        called = hand_name(row, size)
        label: Line = (f"{ROWS[at]}{f': {called}' if called else ''}", *say(at))
        groups.append(Group((*drawn, *gaps), label))
    return Zone("rows", ZoneKind.GRID, tuple(groups))


def settled(
    seats: Iterable[Seat],
    units: Callable[[Seat, Seat], int],
    how: Callable[[Seat, Seat], Line],
    values: UnitValues,
) -> tuple[Line, ...]:
    """Describe the settlement of all pairs of seats: payer, receiver, amount and reason.

    `units` returns the units that the second seat pays to the first, and `how` the reason, which follows the number;
    `values` are the values of a unit. Seats that pay the same for the same reason share a sentence, as do those that
    pay nothing.
    """
    paid: dict[tuple[Seat, int, Line], list[Seat]] = {}
    even: dict[Line, list[tuple[Seat, Seat]]] = {}
    for pair in combinations(seats, 2):
        won = units(*pair)
        if won:
            gets, pays = pair if won > 0 else pair[::-1]
            value = values[gets][pays]
            why = (*how(gets, pays), *((f", times {value}",) if value > 1 else ()))
            paid.setdefault((gets, value * abs(won), why), []).append(pays)
        else:
            even.setdefault(how(*pair), []).append(pair)
    made = []
    for (gets, won, why), payers in paid.items():
        verb, apiece = ("pays", "") if len(payers) == 1 else ("pay", " each")
        made.append(line(*names(payers), f" {verb} ", Name(gets), f" {won}{apiece}", *why, "."))
    for why, pairs in even.items():
        among = sorted({player for pair in pairs for player in pair})
        alike = [among] if len(pairs) == comb(len(among), 2) else pairs
        made += [line(*names(group), " pay each other nothing", *why, ".") for group in alike]
    return tuple(made)


def signed_rows(units: Sequence[int]) -> str:
    """Return the units of three rows as text: front +1, middle 0, back -1."""
    return ", ".join(
        f"{name} {with_sign(amount)}" for name, amount in zip(ROWS, units, strict=True)
    )
