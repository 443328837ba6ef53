"""What a seat may do, may know and is told at Democracy."""

from enum import StrEnum
from typing import Final, TypeAlias

from arena.cards import JOKER, SUITS, Card
from arena.games.contract import Seat
from arena.games.values import value

RANKING: Final = "6789TJQKA345"
"""Ranks of the pack from low to high."""

TIE: Final = -1
"""Stands for the winner of a tied trick in all that is told."""

HAND_ORDER: Final = {
    card: at
    for at, card in enumerate((*(rank + suit for rank in RANKING for suit in SUITS), JOKER))
}


class Phase(StrEnum):
    """What the match is doing."""

    PLAY = "play"
    """Every seat plays a card to the upcard."""
    OVER = "over"


@value(frozen=True, slots=True)
class PlayCard:
    """Play a card of the own hand, any card; it is shown when all have played."""

    card: Card


Move: TypeAlias = PlayCard


# Moves are interned: equal moves are one object, which the codec's cache likes.
PLAYS: Final = {card: PlayCard(card) for card in HAND_ORDER}


@value(frozen=True, slots=True)
class SuitPoints:
    """Captured points of one seat, by suit; a whole suit is 25."""

    clubs: int = 0
    diamonds: int = 0
    hearts: int = 0
    spades: int = 0


NO_POINTS: Final = SuitPoints()


@value(frozen=True, slots=True)
class Island:
    """The tricks of an island that were shown. All of it is public."""

    upcards: tuple[Card, ...]
    """One for each trick."""
    plays: tuple[Card, ...]
    """The cards of the first trick in seat order, then of the second, and so on."""
    winners: tuple[int, ...]
    """The capturing seat of each trick, or `TIE`."""
    captured: tuple[tuple[Card, ...], ...]
    """By seat, in the order captured."""
    points: tuple[SuitPoints, ...]
    """Of `captured`, by seat."""
    discarded: tuple[Card, ...]
    """Upcards of tied tricks, which nobody captured."""


@value(frozen=True, slots=True)
class View:
    """The public part of the match and the own hand."""

    phase: Phase
    hand: int
    """The island, from 0."""
    day: int
    dealer: Seat
    upcard: Card | None
    """Its suit is trump for this trick; None when the match is over."""
    held: tuple[Card, ...]
    """The own hand from low to high; empty for the spectator."""
    hand_size: int
    """Cards in the hand of each seat: all hold equally many."""
    pool: int
    """Face-down cards under the upcard."""
    undealt: int
    """Cards set aside for day 2."""
    island: Island
    totals: tuple[int, ...]
    """Tribes of the completed islands, by seat."""


@value(frozen=True, slots=True)
class DayBegan:
    """A day was dealt."""

    hand: int
    day: int
    dealer: Seat
    hand_size: int
    """Cards dealt to each seat, and as many to the pool."""


@value(frozen=True, slots=True)
class Dealt:
    """The seat's cards for the day, from low to high; for that seat alone."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class TurnedUp:
    """The top card of the pool was turned, for the next trick."""

    upcard: Card


@value(frozen=True, slots=True)
class Shown:
    """The cards of a trick, by seat; `winner` captured, or it was a `TIE`."""

    upcard: Card
    cards: tuple[Card, ...]
    winner: int


@value(frozen=True, slots=True)
class Scored:
    """An island was scored; all by seat, `tribes` of this island alone."""

    hand: int
    points: tuple[SuitPoints, ...]
    tribes: tuple[int, ...]
    totals: tuple[int, ...]


Event: TypeAlias = DayBegan | Dealt | TurnedUp | Shown | Scored
