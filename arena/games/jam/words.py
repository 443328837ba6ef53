"""What is said at a match of Jam: moves, events, and what a seat may know."""

from enum import StrEnum
from typing import TypeAlias

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.jam.scoring import Claim
from arena.games.values import value


class Phase(StrEnum):
    LEAD = "lead"
    FOLLOW = "follow"
    DRAW = "draw"
    DISCARD = "discard"
    OVER = "over"


class Source(StrEnum):
    STOCK = "stock"
    DISCARDS = "discards"


# What a seat may do.


@value(frozen=True, slots=True)
class Play:
    card: Card


@value(frozen=True, slots=True)
class Draw:
    """Take the top card of the own stock or of the own discard pile."""

    source: Source


@value(frozen=True, slots=True)
class Discard:
    card: Card


Move: TypeAlias = Play | Draw | Discard


# What is told.


@value(frozen=True, slots=True)
class Began:
    """A deal began; the dealer has the black cards, the other seat the red ones (J2)."""

    hand: int
    dealer: Seat


@value(frozen=True, slots=True)
class Dealt:
    """The hand of a seat, told to that seat."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class Played:
    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class Won:
    """The seat won the trick."""

    seat: Seat


@value(frozen=True, slots=True)
class Drawn:
    """A seat drew a card; which one is told of the discard pile's only."""

    seat: Seat
    source: Source
    card: Card | None


@value(frozen=True, slots=True)
class Received:
    """The card that a seat drew from its stock, told to that seat."""

    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class Discarded:
    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class Scored:
    """A deal was scored; all by seat. `totals` are those of the rubber or match."""

    hand: int
    claims: tuple[Claim, ...]
    points: tuple[int, ...]
    totals: tuple[int, ...]
    rubbers: tuple[int, ...]


Event: TypeAlias = Began | Dealt | Played | Won | Drawn | Received | Discarded | Scored


# What a seat may know.


@value(frozen=True, slots=True)
class View:
    """What one seat may know; a spectator's has no cards held."""

    phase: Phase
    hand: int
    dealer: Seat
    """Owns the black cards; the other seat the red ones."""
    to_act: Seat | None
    held: tuple[Card, ...]
    """The own hand."""
    hand_sizes: tuple[int, ...]
    stock_sizes: tuple[int, ...]
    discards: tuple[tuple[Card, ...], ...]
    """Both discard piles, the top last."""
    known: tuple[tuple[Card, ...], ...]
    """By seat: cards in its hand that all have seen, as they came from its discards."""
    led: Card | None
    draws_left: int
    """Draws still to make before the discard; 0 outside the draw phase."""
    played: tuple[tuple[Card, ...], ...]
    """By seat, the cards played to tricks, in order."""
    winners: tuple[int, ...]
    """The seat that won each trick of the deal."""
    totals: tuple[int, ...]
    rubbers: tuple[int, ...]
