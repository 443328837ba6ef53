"""What the games of three rows draw alike: Chinese Poker and Open-Face."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from math import comb
from typing import Final

from arena import poker
from arena.cards import Card as Code
from arena.games.chinese.hands import BACK_SIZE, FRONT_SIZE, MIDDLE_SIZE
from arena.games.contract import Seat
from arena.scenes.sentences import line, names
from arena.scenes.vocabulary import Card, Gap, Group, Kind, Line, Name, Tone, Zone

SIZES: Final = (FRONT_SIZE, MIDDLE_SIZE, BACK_SIZE)
NAMES: Final = ("front", "middle", "back")


def hand_name(row: Sequence[Code], size: int) -> str:
    """What a complete row is called, as `two pair`; nothing of one that is not complete."""
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
    """Front, middle and back below each other, with gaps; `say` adds to a row's name."""
    groups = []
    for at, (row, size) in enumerate(zip(rows, SIZES, strict=True)):
        drawn: tuple[Card | Gap, ...] = tuple(
            Card(code, Tone.MARKED if code in marked else tone) for code in row
        )
        gaps = (Gap(),) * (size - len(row))
        called = hand_name(row, size)
        label: Line = (f"{NAMES[at]}{f': {called}' if called else ''}", *say(at))
        groups.append(Group((*drawn, *gaps), label))
    return Zone("rows", Kind.GRID, tuple(groups))


def settled(
    seats: Iterable[Seat], units: Callable[[Seat, Seat], int], how: Callable[[Seat, Seat], Line]
) -> tuple[Line, ...]:
    """What all pairs of seats settle: who pays whom, how much, and by what.

    `units` is what the first gets from the second, and `how` says why, to follow the sum. Those who pay
    one seat alike share a sentence, and so do those who all pay each other nothing.
    """
    paid: dict[tuple[Seat, int, Line], list[Seat]] = {}
    even: dict[Line, list[tuple[Seat, Seat]]] = {}
    for pair in combinations(seats, 2):
        won = units(*pair)
        if won:
            gets, pays = pair if won > 0 else pair[::-1]
            paid.setdefault((gets, abs(won), how(gets, pays)), []).append(pays)
        else:
            even.setdefault(how(*pair), []).append(pair)
    made = []
    for (gets, won, why), payers in paid.items():
        verb, each = ("pays", "") if len(payers) == 1 else ("pay", " each")
        made.append(line(*names(payers), f" {verb} ", Name(gets), f" {won}{each}", *why, "."))
    for why, pairs in even.items():
        among = sorted({seat for pair in pairs for seat in pair})
        alike = [among] if len(pairs) == comb(len(among), 2) else pairs
        made += [line(*names(each), " pay each other nothing", *why, ".") for each in alike]
    return tuple(made)


def signed_rows(units: Sequence[int]) -> str:
    """What three rows come to, as in a reckoning: front +1, middle 0, back -1."""
    return ", ".join(f"{name} {each:+}" for name, each in zip(NAMES, units, strict=True))
