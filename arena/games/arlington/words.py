"""What is said at a match of Arlington: moves, events, and what a seat may know.

The digest's section on information: all that was shown is public, also where
it went. The own hand is private, and no one is sent the undealt cards.
"""

from enum import StrEnum
from typing import Final, TypeAlias

from arena.cards import JOKER, PACK_52, Card
from arena.games.arlington.sets import Spectrum, is_set, set_of, spectra_of
from arena.games.contract import Seat
from arena.games.values import value


class Phase(StrEnum):
    """What the match is doing."""

    LEAD = "lead"
    TRICK = "trick"
    RESPOND = "respond"
    OVER = "over"


# What a seat may do.


@value(frozen=True, slots=True)
class LeadCard:
    """Lead a card to a trick (R9)."""

    card: Card


@value(frozen=True, slots=True)
class LeadSet:
    """Lead a set onto the own table, in a spectrum that it fits (R10).

    Cards come in any order. Without a spectrum a set is read in the first that
    it fits, and a single card is a card led to a trick (R12, ruling 8).
    """

    cards: tuple[Card, ...]
    spectrum: Spectrum | None

    def __post_init__(self) -> None:
        _put_in_order(self)
        if self.spectrum is None and len(self.cards) > 1:
            object.__setattr__(self, "spectrum", next(iter(spectra_of(self.cards)), None))


@value(frozen=True, slots=True)
class PlayS2:
    """Bury a set on any table, the 2s with it (R15)."""

    seat: Seat
    """Whose table."""
    index: int
    """The set's place on that table, from 0."""


@value(frozen=True, slots=True)
class Add:
    """Add a card of the hand to a set on any table (R16)."""

    seat: Seat
    index: int
    card: Card


@value(frozen=True, slots=True)
class TakeJoker:
    """Take a joker out of a set on any table, a suit card for it (R17)."""

    seat: Seat
    index: int
    card: Card


@value(frozen=True, slots=True)
class PlayCard:
    """Play a card, any card, to the trick."""

    card: Card


@value(frozen=True, slots=True)
class Pass:
    """Let the active set be."""


@value(frozen=True, slots=True)
class Overplay:
    """Beat the active set with a higher one of its spectrum, cards in any order (R11)."""

    cards: tuple[Card, ...]

    def __post_init__(self) -> None:
        _put_in_order(self)


@value(frozen=True, slots=True)
class Kill:
    """Bury the active set with the 2s and take the lead (R14)."""


def _put_in_order(move: LeadSet | Overplay) -> None:
    """Make equal sets equal moves, however they were written down."""
    if not is_set(move.cards):  # what is known as a set is in order
        object.__setattr__(move, "cards", set_of(move.cards))


Move: TypeAlias = LeadCard | LeadSet | PlayS2 | Add | TakeJoker | PlayCard | Pass | Overplay | Kill

# Moves that come again are interned: equal moves are one object.
LEAD_CARDS: Final = {card: LeadCard(card) for card in (*PACK_52, JOKER)}
PLAY_CARDS: Final = {card: PlayCard(card) for card in (*PACK_52, JOKER)}
PASS: Final = Pass()
KILL: Final = Kill()


# What is told.


@value(frozen=True, slots=True)
class Began:
    """A hand was dealt; the seat after the dealer has the lead."""

    hand: int
    dealer: Seat


@value(frozen=True, slots=True)
class Dealt:
    """The hand of a seat, told to that seat."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class CardLed:
    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class CardPlayed:
    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class TrickTaken:
    """The seat's card is buried; the others of the trick are in its hand."""

    seat: Seat


@value(frozen=True, slots=True)
class SetLed:
    seat: Seat
    cards: tuple[Card, ...]
    spectrum: Spectrum


@value(frozen=True, slots=True)
class Passed:
    seat: Seat


@value(frozen=True, slots=True)
class Overplayed:
    """The seat's set is active now; the one before it is buried."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class Killed:
    """The active set is buried, and the 2s with it; the seat has the lead."""

    seat: Seat


@value(frozen=True, slots=True)
class SetKept:
    """All have answered: the seat keeps the active set and has the lead."""

    seat: Seat


@value(frozen=True, slots=True)
class S2Played:
    """The seat buried a set on the owner's table, and the 2s with it."""

    seat: Seat
    owner: Seat
    index: int


@value(frozen=True, slots=True)
class CardAdded:
    """The seat added a card to a set on the owner's table."""

    seat: Seat
    owner: Seat
    index: int
    card: Card


@value(frozen=True, slots=True)
class JokerTaken:
    """The seat has a joker of a set on the owner's table, the set the card."""

    seat: Seat
    owner: Seat
    index: int
    card: Card


@value(frozen=True, slots=True)
class Scored:
    """The hand was scored; by seat, `points` of this hand alone."""

    hand: int
    points: tuple[int, ...]
    totals: tuple[int, ...]


Event: TypeAlias = (
    Began
    | Dealt
    | CardLed
    | CardPlayed
    | TrickTaken
    | SetLed
    | Passed
    | Overplayed
    | Killed
    | SetKept
    | S2Played
    | CardAdded
    | JokerTaken
    | Scored
)


@value(frozen=True, slots=True)
class Active:
    """The set that the others may beat, the last on its owner's table."""

    owner: Seat
    index: int
    """Its place on the owner's table."""
    spectrum: Spectrum
    """The one it was led in, which an overplay has to follow."""


@value(frozen=True, slots=True)
class Table:
    """The sets in front of a seat."""

    sets: tuple[tuple[Card, ...], ...]
    """In the order placed; where one goes, those after it close up."""
    points: tuple[int, ...]
    """What each set would score now."""


@value(frozen=True, slots=True)
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
