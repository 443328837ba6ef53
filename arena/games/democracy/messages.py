"""Moves, events, views and options of Democracy."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from arena.games.cards import JOKER, SUITS, Card
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.options import hands_setting, max_hands_setting, target_setting

RANKING: Final = "6789TJQKA345"
"""Ranks of the pack from low to high."""

TIE: Final = -1
"""The winner of a tied trick, in events and views."""

HAND_ORDER: Final = {
    card: at
    for at, card in enumerate((*(rank + suit for rank in RANKING for suit in SUITS), JOKER))
}


class Phase(StrEnum):
    """What happens next in the match."""

    PLAY = "play"
    """Every seat plays a card to the upcard."""
    OVER = "over"


class PlayCard(Frozen):
    """Play any card; it is shown after all seats have played."""

    card: Card


Move: TypeAlias = PlayCard


# Moves are interned, as the codec finds the bytes of a move by its identity.
PLAYS: Final = {card: PlayCard(card) for card in HAND_ORDER}


class SuitPoints(Frozen):
    """Captured points of one seat, by suit; a suit has 25 points."""

    clubs: int = 0
    diamonds: int = 0
    hearts: int = 0
    spades: int = 0


NO_POINTS: Final = SuitPoints()


class Island(Frozen):
    """The tricks of an island, which are public."""

    upcards: tuple[Card, ...]
    """One for each trick."""
    plays: tuple[Card, ...]
    """The cards of all tricks in order, those of each trick by seat."""
    winners: tuple[int, ...]
    """The capturing seat of each trick, or `TIE`."""
    captured: tuple[tuple[Card, ...], ...]
    """By seat, the captured cards in order."""
    points: tuple[SuitPoints, ...]
    """By seat, the points of `captured`."""
    discarded: tuple[Card, ...]
    """Upcards of tied tricks, which no seat captured."""


class View(Frozen):
    """What a seat may know: the public part of the match and its own hand."""

    phase: Phase
    hand: int
    """The island, from 0."""
    day: int
    dealer: Seat
    upcard: Card | None
    """Its suit is trump for this trick; None when the match is over."""
    held: tuple[Card, ...]
    """The seat's own hand from low to high; empty for a spectator."""
    hand_size: int
    """The number of cards in each hand; all hands have the same size."""
    pool: int
    """The number of face-down cards under the upcard."""
    undealt: int
    """The number of cards for day 2."""
    island: Island
    totals: tuple[int, ...]
    """Tribes won on completed islands, by seat."""


class DayBegan(Frozen):
    """A day was dealt."""

    hand: int
    day: int
    dealer: Seat
    hand_size: int
    """The number of cards dealt to each seat and to the pool."""


class Dealt(Frozen):
    """The seat was dealt its cards for the day, from low to high. Sent to that seat only."""

    seat: Seat
    cards: tuple[Card, ...]


class TurnedUp(Frozen):
    """The top card of the pool was turned, for the next trick."""

    upcard: Card


class Shown(Frozen):
    """The cards of a trick were shown, by seat; `winner` captured them unless it is `TIE`."""

    upcard: Card
    cards: tuple[Card, ...]
    winner: int


class Scored(Frozen):
    """An island was scored. Lists are by seat; `tribes` are those of this island."""

    hand: int
    points: tuple[SuitPoints, ...]
    tribes: tuple[int, ...]
    totals: tuple[int, ...]


Event: TypeAlias = DayBegan | Dealt | TurnedUp | Shown | Scored


class Sizes(NamedTuple):
    """The cards dealt on an island, for one number of seats."""

    jokers: int
    first_day: int
    """Cards dealt to each seat and to the pool on day 1."""
    second_day: int
    """Cards dealt to each seat and to the pool on day 2."""


# The numbers of the source cannot hold for both days: day 2 gets the cards that are left (R1).
SIZES: Final = {
    2: Sizes(jokers=0, first_day=12, second_day=4),
    3: Sizes(jokers=0, first_day=8, second_day=4),
    4: Sizes(jokers=2, first_day=6, second_day=4),
    5: Sizes(jokers=0, first_day=4, second_day=4),
    6: Sizes(jokers=1, first_day=4, second_day=3),
}


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_setting(0, "a race to `target`", maximum=40)
    target: int = target_setting(5, "tribes that win the race, for a single leader", maximum=100)
    max_hands: int = max_hands_setting(40)  # R9
