"""Zones that several games draw alike."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from arena.cards import CANONICAL
from arena.cards import Card as Code
from arena.games.contract import Seat
from arena.scenes.sentences import counted, line
from arena.scenes.vocabulary import (
    Badge,
    Card,
    Fact,
    Item,
    Kind,
    Line,
    Name,
    Pile,
    Tone,
    Word,
    Zone,
)

MOST_BACKS: Final = 8
"""Hidden cards that are drawn one by one; more are a pile and a number."""

DEALER: Final = Badge(("dealer",))
_HELD: Final = "shcdk"  # "k" is the second letter of a joker


def fact(label: str, *value: object, tone: Tone = Tone.PLAIN) -> Fact:
    """A figure with its name."""
    return Fact(label, line(*value), tone)


def cards(codes: Iterable[Code | None], tone: Tone = Tone.PLAIN) -> tuple[Card, ...]:
    """Cards of one tone."""
    return tuple(Card(code, tone) for code in codes)


def by_suit(codes: Iterable[Code]) -> list[Code]:
    """Cards as they are held: suit by suit, black and red in turn, high ones first."""
    return sorted(codes, key=lambda code: (_HELD.find(code[1]), -CANONICAL[code]))


def goal(options: Any, hand: int) -> Fact:
    """How far the match is: the hand of how many, or what wins a race."""
    if options.hands:
        return fact("hand", f"{hand + 1} of {options.hands}")
    if hasattr(options, "target"):
        return fact("first to", options.target)
    return fact("hand", hand + 1)


def hand(
    size: int,
    held: Sequence[Code] | None,
    known: Sequence[Code] = (),
    *,
    label: str = "in hand",
    tone: Tone = Tone.PLAIN,
) -> Zone:
    """A seat's hand: its cards if the eye may see them, else backs and what all have seen."""
    items: tuple[Item, ...]
    if held is not None:
        items = cards(held, tone)
    else:
        hidden = max(0, size - len(known))
        backs: tuple[Item, ...] = (Card(None),) * hidden
        if hidden > MOST_BACKS:
            backs = (Pile(hidden, label),)
        items = (*cards(known), *backs)
    return Zone("hand", Kind.FAN, items)


def said(text: Line, tone: Tone = Tone.PLAIN) -> Zone:
    """A seat's latest words."""
    return Zone("said", Kind.SAID, (Word(text, tone),) if text else ())


def pile(key: str, count: int, label: str, top: Code | None = None) -> Zone:
    """A pile, with what it is."""
    return Zone(key, Kind.PILE, (Pile(count, label, top),) if count else ())


def tricks(won: int) -> Zone:
    """The tricks that a seat has taken."""
    label = counted(won, "trick").partition(" ")[2]
    return pile("tricks", won, label)


def named(seat: int) -> Line:
    """A caption with a seat's name."""
    return (Name(Seat(seat)),)


def trick(
    played: Iterable[tuple[int, Code | None]], winner: int | None = None, title: Line = ()
) -> Zone:
    """The cards of a trick in the order played; None is a card still to come."""
    from_seats: list[Item] = []
    for seat, code in played:
        if code is not None:
            tone = Tone.MARKED if seat == winner else Tone.PLAIN
            from_seats.append(Card(code, tone, named(seat)))
    return Zone("trick", Kind.TRICK, tuple(from_seats), title if from_seats else ())


def shown_zones(*zones: Zone) -> tuple[Zone, ...]:
    """The zones in which anything lies."""
    return tuple(zone for zone in zones if zone.items)
