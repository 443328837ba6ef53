"""What the games of three rows draw alike: Chinese Poker and Open-Face."""

from collections.abc import Callable, Sequence
from typing import Final

from arena import poker
from arena.cards import Card as Code
from arena.games.chinese.hands import BACK_SIZE, FRONT_SIZE, MIDDLE_SIZE
from arena.scenes.vocabulary import Card, Gap, Group, Kind, Line, Tone, Zone

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


def signed_rows(units: Sequence[int]) -> str:
    """What three rows come to, as in a reckoning: front +1, middle 0, back -1."""
    return ", ".join(f"{name} {each:+}" for name, each in zip(NAMES, units, strict=True))
