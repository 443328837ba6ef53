"""Moves, events, views and options of Sixty-Six."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from arena.games.cards import SUITS, Card
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.options import hands_setting, max_hands_setting, target_setting
from arena.games.sixty_six.scoring import PACK_24, Reason


class Phase(StrEnum):
    """What happens next in the match."""

    LEAD = "lead"
    FOLLOW = "follow"
    OVER = "over"


class Claim(Frozen):
    """Claim to have 66 points or more, which ends the hand (R5)."""


class Close(Frozen):
    """Close the stock: no more cards are drawn, and suit must be followed (R2)."""


class Exchange(Frozen):
    """Exchange the nine of trump for the upcard (R4)."""


class Marriage(Frozen):
    """Show king and queen of a suit, of which one must be led next (R10)."""

    suit: str


class Play(Frozen):
    """Play a card to a trick."""

    card: Card


Move: TypeAlias = Claim | Close | Exchange | Marriage | Play

# Moves are interned, as the codec finds the bytes of a move by its identity.
CLAIM: Final = Claim()
CLOSE: Final = Close()
EXCHANGE: Final = Exchange()
MARRIAGES: Final = {suit: Marriage(suit) for suit in SUITS}
PLAYS: Final = {card: Play(card) for card in PACK_24}


class Began(Frozen):
    """A hand was dealt; the suit of the upcard is trump."""

    hand: int
    dealer: Seat
    upcard: Card


class Dealt(Frozen):
    """The seat was dealt its hand. Sent to that seat only."""

    seat: Seat
    cards: tuple[Card, ...]


class Claimed(Frozen):
    """The seat claimed 66 points."""

    seat: Seat


class Closed(Frozen):
    """The seat closed the stock."""

    seat: Seat


class Exchanged(Frozen):
    """The seat took this upcard in exchange for the nine of trump."""

    seat: Seat
    card: Card


class Married(Frozen):
    """The seat showed a marriage; if `pending`, it counts with the first trick of the seat."""

    seat: Seat
    suit: str
    value: int
    pending: bool


class Played(Frozen):
    """The seat played a card."""

    seat: Seat
    card: Card


class Won(Frozen):
    """The seat won the trick; `value` includes a pending marriage and the bonus for the last trick."""

    seat: Seat
    value: int


class Drawn(Frozen):
    """The seat drew this card. Sent to that seat only, except the upcard, which is drawn last."""

    seat: Seat
    card: Card


class Scored(Frozen):
    """A hand was scored; lists are by seat."""

    hand: int
    points: tuple[int, ...]
    tricks: tuple[int, ...]
    reason: Reason
    gained: tuple[int, ...]
    """Victory points of the hand, including carried ones."""
    carry: int
    """Victory points carried to the next hand that has a winner (R8)."""
    totals: tuple[int, ...]


Event: TypeAlias = (
    Began | Dealt | Claimed | Closed | Exchanged | Married | Played | Won | Drawn | Scored
)


class View(Frozen):
    """What a seat may know. For a spectator `held` is empty."""

    phase: Phase
    hand: int
    dealer: Seat
    to_act: Seat | None
    trump: str
    upcard: Card | None
    """None after it was turned down or drawn."""
    stock: int
    """The number of cards face down, without the upcard."""
    closer: Seat | None
    """The seat that closed the stock."""
    strict: bool
    """Whether suit must be followed."""
    held: tuple[Card, ...]
    """The seat's own hand."""
    hand_sizes: tuple[int, ...]
    known: tuple[tuple[Card, ...], ...]
    """By seat, the cards in its hand that everybody has seen."""
    led: Card | None
    declared: str | None
    """The suit of the marriage just shown, of which a card must be led."""
    points: tuple[int, ...]
    pending: tuple[int, ...]
    """By seat, points of a marriage that count with its first trick."""
    played: tuple[tuple[Card, ...], ...]
    """By seat, the cards played, in order."""
    winners: tuple[int, ...]
    """The seat that won each trick of the hand."""
    carry: int
    """Victory points carried to the next hand that has a winner."""
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_setting(0, "a race to `target`", maximum=60)
    target: int = target_setting(7, "victory points that win the race", maximum=100)
    max_hands: int = max_hands_setting(60)  # R12
