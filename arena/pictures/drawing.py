"""Parts of scenes that several games share."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from arena.games.cards import CANONICAL, without
from arena.games.cards import Card as Code
from arena.games.contract import Event, Seat, with_entry
from arena.pictures.sentences import Sentences, counted, line, minus, sentence, with_sign
from arena.pictures.viewer import latest
from arena.pictures.vocabulary import (
    Badge,
    Card,
    Fact,
    Item,
    Line,
    Name,
    Pile,
    SeatScene,
    Tone,
    Word,
    Zone,
    ZoneKind,
)

MOST_BACKS: Final = 8
"""The maximal number of hidden cards that are drawn one by one; more are drawn as a pile."""

DEALER: Final = Badge(("dealer",))
_HELD: Final = "shcdk"  # "k" is the second letter of a joker


def fact(label: str, *value: object, tone: Tone = Tone.PLAIN) -> Fact:
    """Return a figure with its label."""
    return Fact(label, line(*value), tone)


def cards(codes: Iterable[Code | None], tone: Tone = Tone.PLAIN) -> tuple[Card, ...]:
    """Return cards of one tone."""
    return tuple(Card(code, tone) for code in codes)


def gain(label: str, amount: int) -> Fact:
    """Return a marked figure with its sign, such as the points of a hand."""
    return fact(label, with_sign(amount), tone=Tone.MARKED)


def seat_scene(
    view: Any,
    seat: Seat,
    score: str,
    badges: Sequence[Badge] = (),
    facts: Sequence[Fact] = (),
    zones: Iterable[Zone] = (),
    *,
    dealer: Badge = DEALER,
    out: bool = False,
) -> SeatScene:
    """Return the scene of a seat without empty zones; the view has the fields `dealer` and `to_act`."""
    to_act = view.to_act
    return SeatScene(
        seat,
        minus(score),
        (dealer, *badges) if seat == view.dealer else tuple(badges),
        tuple(facts),
        shown_zones(*zones),
        active=seat in to_act if isinstance(to_act, tuple) else seat == to_act,
        out=out,
    )


def by_suit(codes: Iterable[Code]) -> list[Code]:
    """Return cards sorted by suit, with alternating colours, and from high to low."""
    return sorted(codes, key=lambda code: (_HELD.find(code[1]), -CANONICAL[code]))


def goal(options: Any, hand: int) -> Fact:
    """Return the progress of a match: the hand of how many, or the target of a race."""
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
    """Return the hand of a seat: its cards in `held` if they are visible, else `known` cards and backs."""
    items: tuple[Item, ...]
    if held is not None:
        items = cards(held, tone)
    else:
        hidden = max(0, size - len(known))
        backs: tuple[Item, ...] = (Card(None),) * hidden
        if hidden > MOST_BACKS:
            backs = (Pile(hidden, label),)
        items = (*cards(known), *backs)
    return Zone("hand", ZoneKind.FAN, items)


def said(text: Line, tone: Tone = Tone.PLAIN) -> Zone:
    """Return a bubble with the latest words of a seat; an empty zone if there are none."""
    return Zone("said", ZoneKind.SAID, (Word(text, tone),) if text else ())


def latest_words(seat: Seat, events: Sequence[Event], words: Sentences) -> Zone:
    """Return the words for the latest event of a seat that has words."""
    event: Event | None = latest(events, tuple(words), seat)
    return said(() if event is None else sentence(event, words))


def pile(key: str, count: int, label: str, top: Code | None = None) -> Zone:
    """Return a pile with its label."""
    return Zone(key, ZoneKind.PILE, (Pile(count, label, top),) if count else ())


def tricks(won: int) -> Zone:
    """Return the tricks that a seat has taken."""
    label = counted(won, "trick").partition(" ")[2]
    return pile("tricks", won, label)


def named(seat: int) -> Line:
    """Return a caption with the name of a seat."""
    return (Name(Seat(seat)),)


def trick(
    played: Iterable[tuple[int, Code | None]], winner: int | None = None, title: Line = ()
) -> Zone:
    """Return the cards of a trick in the order played; None is a card still to come."""
    from_seats: list[Item] = []
    for player, code in played:
        if code is not None:
            tone = Tone.MARKED if player == winner else Tone.PLAIN
            from_seats.append(Card(code, tone, named(player)))
    return Zone("trick", ZoneKind.TRICK, tuple(from_seats), title if from_seats else ())


def shown_zones(*zones: Zone) -> tuple[Zone, ...]:
    """Return the zones that are not empty."""
    return tuple(zone for zone in zones if zone.items)


V = TypeVar("V")


def spent(view: V, seat: Seat, gone: Sequence[Code], own: Seat | None) -> V:
    """Return the view after cards left the hand of a seat; `own` is the seat whose view it is.

    The view has the fields `held`, `hand_sizes` and `known`.
    """
    seen: Any = view
    left: V = replace(
        seen,
        held=without(seen.held, gone) if seat == own else seen.held,
        hand_sizes=with_entry(seen.hand_sizes, seat, seen.hand_sizes[seat] - len(gone)),
        known=with_entry(seen.known, seat, without(seen.known[seat], gone)),
    )
    return left
