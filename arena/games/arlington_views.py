"""What an Arlington seat may know, and what it is told.

The digest's section on information: all that was shown is public, also where
it went. The own hand is private, and no one is sent the undealt cards.
"""

from dataclasses import dataclass
from enum import StrEnum

from arena.cards import Card
from arena.games.arlington_layout import Table
from arena.games.arlington_sets import Spectrum
from arena.games.contract import Seat


class Phase(StrEnum):
    """What the match is doing."""

    LEAD = "lead"
    TRICK = "trick"
    RESPOND = "respond"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Active:
    """The set that the others may beat, the last on its owner's table."""

    owner: Seat
    index: int
    """Its place on the owner's table."""
    spectrum: Spectrum
    """The one it was led in, which an overplay has to follow."""


@dataclass(frozen=True, slots=True)
class View:
    """The public part of the match and the own hand."""

    phase: Phase
    hand: int
    """From 0."""
    dealer: Seat
    lead: Seat
    """The seat that has the lead, or that led what is being answered."""
    to_act: Seat | None
    """None when the match is over."""
    held: tuple[Card, ...]
    """The own hand; empty for the spectator."""
    hand_sizes: tuple[int, ...]
    known: tuple[tuple[Card, ...], ...]
    """By seat: cards in its hand that all have seen, from tricks and sets."""
    tables: tuple[Table, ...]
    """By seat."""
    trick_seats: tuple[Seat, ...]
    """Who played to the trick so far, the leader first."""
    trick_cards: tuple[Card, ...]
    """The card of each of `trick_seats`."""
    active: Active | None
    graveyard: int
    """Cards in the graveyard, seen or not."""
    buried: tuple[Card, ...]
    """Those of them that all have seen, in the order buried."""
    totals: tuple[int, ...]
    """Points of the completed hands, by seat."""


# What seats are told.


@dataclass(frozen=True, slots=True)
class Began:
    """A hand was dealt; the seat after the dealer has the lead."""

    hand: int
    dealer: Seat


@dataclass(frozen=True, slots=True)
class Dealt:
    """The hand of a seat, told to that seat."""

    seat: Seat
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class CardLed:
    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True)
class CardPlayed:
    seat: Seat
    card: Card


@dataclass(frozen=True, slots=True)
class TrickTaken:
    """The seat's card is buried; the others of the trick are in its hand."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class SetLed:
    seat: Seat
    cards: tuple[Card, ...]
    spectrum: Spectrum


@dataclass(frozen=True, slots=True)
class Passed:
    seat: Seat


@dataclass(frozen=True, slots=True)
class Overplayed:
    """The seat's set is active now; the one before it is buried."""

    seat: Seat
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Killed:
    """The active set is buried, and the 2s with it; the seat has the lead."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class SetKept:
    """All have answered: the seat keeps the active set and has the lead."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class S2Played:
    """The seat buried a set on the owner's table, and the 2s with it."""

    seat: Seat
    owner: Seat
    index: int


@dataclass(frozen=True, slots=True)
class CardAdded:
    """The seat added a card to a set on the owner's table."""

    seat: Seat
    owner: Seat
    index: int
    card: Card


@dataclass(frozen=True, slots=True)
class JokerTaken:
    """The seat has a joker of a set on the owner's table, the set the card."""

    seat: Seat
    owner: Seat
    index: int
    card: Card


@dataclass(frozen=True, slots=True)
class Scored:
    """The hand was scored; by seat, `points` of this hand alone."""

    hand: int
    points: tuple[int, ...]
    totals: tuple[int, ...]
