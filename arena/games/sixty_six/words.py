"""What is said at a match of Sixty-Six: moves, events, and what a seat may know."""

from enum import StrEnum
from typing import Final, TypeAlias

from arena.cards import SUITS, Card
from arena.games.contract import Seat
from arena.games.sixty_six.scoring import Reason
from arena.games.sixty_six.tricks import PACK_24
from arena.games.values import value


class Phase(StrEnum):
    """What the match is doing."""

    LEAD = "lead"
    FOLLOW = "follow"
    OVER = "over"


# What a seat may do.


@value(frozen=True, slots=True)
class Claim:
    """Say that the own points are 66 or more; the hand ends, right or wrong (R5)."""


@value(frozen=True, slots=True)
class Close:
    """Turn the upcard down: nobody draws any more, and suit must be followed (R2)."""


@value(frozen=True, slots=True)
class Exchange:
    """Take the upcard for the nine of trump (R4)."""


@value(frozen=True, slots=True)
class Marriage:
    """Show king and queen of a suit; one of the two must then be led (R10)."""

    suit: str


@value(frozen=True, slots=True)
class Play:
    """Lead a card, or play one to the card led."""

    card: Card


Move: TypeAlias = Claim | Close | Exchange | Marriage | Play

# Moves are interned: equal moves are one object, which the codec's cache likes.
CLAIM: Final = Claim()
CLOSE: Final = Close()
EXCHANGE: Final = Exchange()
MARRIAGES: Final = {suit: Marriage(suit) for suit in SUITS}
PLAYS: Final = {card: Play(card) for card in PACK_24}


# What is told.


@value(frozen=True, slots=True)
class Began:
    """A hand was dealt; the suit of the upcard is trump."""

    hand: int
    dealer: Seat
    upcard: Card


@value(frozen=True, slots=True)
class Dealt:
    """The hand of a seat, told to that seat."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class Claimed:
    """The seat said that it has 66 points."""

    seat: Seat


@value(frozen=True, slots=True)
class Closed:
    """The seat closed the stock."""

    seat: Seat


@value(frozen=True, slots=True)
class Exchanged:
    """The seat took this upcard; the nine of trump lies in its place."""

    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class Married:
    """The seat showed a marriage; its points wait for a trick if `pending`."""

    seat: Seat
    suit: str
    value: int
    pending: bool


@value(frozen=True, slots=True)
class Played:
    """The seat played a card."""

    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class Won:
    """The seat won the trick; `value` with the last trick's and a marriage that waited."""

    seat: Seat
    value: int


@value(frozen=True, slots=True)
class Drawn:
    """The seat drew this card, told to that seat; the upcard, drawn last, is told to all."""

    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class Scored:
    """A hand was scored; lists are by seat."""

    hand: int
    points: tuple[int, ...]
    tricks: tuple[int, ...]
    reason: Reason
    gained: tuple[int, ...]
    """Victory points of the hand, any carried ones among them."""
    carry: int
    """Victory points carried on to whoever gains next (R8)."""
    totals: tuple[int, ...]


Event: TypeAlias = (
    Began | Dealt | Claimed | Closed | Exchanged | Married | Played | Won | Drawn | Scored
)


@value(frozen=True, slots=True)
class View:
    """What one seat may know; a spectator's has no cards held."""

    phase: Phase
    hand: int
    dealer: Seat
    to_act: Seat | None
    trump: str
    upcard: Card | None
    """None once it was turned down or drawn."""
    stock: int
    """Cards that lie face down, the upcard apart."""
    closer: Seat | None
    """Who closed the stock."""
    strict: bool
    """Whether suit must be followed."""
    held: tuple[Card, ...]
    """The own hand."""
    hand_sizes: tuple[int, ...]
    known: tuple[tuple[Card, ...], ...]
    """By seat: cards in its hand that all have seen."""
    led: Card | None
    declared: str | None
    """The suit of the marriage just shown, one of which must be led."""
    points: tuple[int, ...]
    pending: tuple[int, ...]
    """By seat, points of a marriage that waits for its first trick."""
    played: tuple[tuple[Card, ...], ...]
    """By seat, the cards played, in order."""
    winners: tuple[int, ...]
    """The seat that won each trick of the hand."""
    carry: int
    """Victory points that go to whoever gains next."""
    totals: tuple[int, ...]
