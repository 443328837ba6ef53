"""Moves, events, views and options of Arlington.

A card that was shown is public, and so is every place that it moves to. A seat sees its own hand. No seat is sent the
undealt cards.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from arena.games.arlington.sets import Spectrum, is_set, set_of, spectra_of
from arena.games.cards import JOKER, PACK_52, Card
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.options import hands_setting, max_hands_setting, target_setting


class Phase(StrEnum):
    """What happens next in the match."""

    LEAD = "lead"
    TRICK = "trick"
    RESPOND = "respond"
    OVER = "over"


class LeadCard(Frozen):
    """Lead a card to a trick (R9)."""

    card: Card


class LeadSet(Frozen):
    """Lead a set onto one's own table, in a spectrum that it fits (R10).

    Cards may be in any order. Without a spectrum the first one that the set fits is used, and a single
    card is led to a trick (R12, ruling 8).
    """

    cards: tuple[Card, ...]
    spectrum: Spectrum | None

    def __post_init__(self) -> None:
        _put_in_order(self)
        if self.spectrum is None and len(self.cards) > 1:
            object.__setattr__(self, "spectrum", next(iter(spectra_of(self.cards)), None))


class PlayS2(Frozen):
    """Bury a set on any table together with the two of spades (R15)."""

    seat: Seat
    """The owner of the table."""
    index: int
    """The index of the set on that table."""


class Add(Frozen):
    """Add a card to a set on any table (R16)."""

    seat: Seat
    index: int
    card: Card


class TakeJoker(Frozen):
    """Replace a joker in a set on any table by a suit card, and take the joker (R17)."""

    seat: Seat
    index: int
    card: Card


class PlayCard(Frozen):
    """Play any card to the trick."""

    card: Card


class Pass(Frozen):
    """Do not beat the active set."""


class Overplay(Frozen):
    """Beat the active set with a higher set of its spectrum; cards may be in any order (R11)."""

    cards: tuple[Card, ...]

    def __post_init__(self) -> None:
        _put_in_order(self)


class Kill(Frozen):
    """Bury the active set together with the two of spades, and take the lead (R14)."""


def _put_in_order(move: LeadSet | Overplay) -> None:
    if not is_set(move.cards):  # a set that is known is sorted
        object.__setattr__(move, "cards", set_of(move.cards))


Move: TypeAlias = LeadCard | LeadSet | PlayS2 | Add | TakeJoker | PlayCard | Pass | Overplay | Kill

# Moves are interned, as the codec finds the bytes of a move by its identity.
LEAD_CARDS: Final = {card: LeadCard(card) for card in (*PACK_52, JOKER)}
PLAY_CARDS: Final = {card: PlayCard(card) for card in (*PACK_52, JOKER)}
PASS: Final = Pass()
KILL: Final = Kill()


class Began(Frozen):
    """A hand was dealt; the seat after the dealer has the lead."""

    hand: int
    dealer: Seat


class Dealt(Frozen):
    """The seat was dealt its hand. Sent to that seat only."""

    seat: Seat
    cards: tuple[Card, ...]


class CardLed(Frozen):
    seat: Seat
    card: Card


class CardPlayed(Frozen):
    seat: Seat
    card: Card


class TrickTaken(Frozen):
    """The seat won the trick: its card is buried, and it took the others into its hand."""

    seat: Seat


class SetLed(Frozen):
    seat: Seat
    cards: tuple[Card, ...]
    spectrum: Spectrum


class Passed(Frozen):
    seat: Seat


class Overplayed(Frozen):
    """The seat's set is active now; the previous active set is buried."""

    seat: Seat
    cards: tuple[Card, ...]


class Killed(Frozen):
    """The active set and the two of spades are buried; the seat has the lead."""

    seat: Seat


class SetKept(Frozen):
    """All seats have answered: the seat keeps the active set and has the lead."""

    seat: Seat


class S2Played(Frozen):
    """The seat buried a set on the owner's table together with the two of spades."""

    seat: Seat
    owner: Seat
    index: int


class CardAdded(Frozen):
    """The seat added a card to a set on the owner's table."""

    seat: Seat
    owner: Seat
    index: int
    card: Card


class JokerTaken(Frozen):
    """The seat replaced a joker in a set on the owner's table by a card, and has the joker."""

    seat: Seat
    owner: Seat
    index: int
    card: Card


class Scored(Frozen):
    """The hand was scored; `points` are those of this hand. Both lists are by seat."""

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


class Active(Frozen):
    """The active set, which others may beat; it is the last on its owner's table."""

    owner: Seat
    index: int
    """The index of the set on the owner's table."""
    spectrum: Spectrum
    """The spectrum in which it was led, which an overplay must follow."""


class Table(Frozen):
    """The sets in front of a seat."""

    sets: tuple[tuple[Card, ...], ...]
    """In the order placed; when a set is removed, later ones move up."""
    points: tuple[int, ...]
    """The points that each set would score now."""


class View(Frozen):
    """What a seat may know: the public part of the match and its own hand."""

    phase: Phase
    hand: int
    """The number of the hand, from 0."""
    dealer: Seat
    lead: Seat
    """The seat with the lead, or the seat that led the current trick or set."""
    to_act: Seat | None
    """None when the match is over."""
    held: tuple[Card, ...]
    """The seat's own hand; empty for a spectator."""
    hand_sizes: tuple[int, ...]
    known: tuple[tuple[Card, ...], ...]
    """By seat, the cards in its hand that everybody has seen."""
    tables: tuple[Table, ...]
    """By seat."""
    trick_seats: tuple[Seat, ...]
    """The seats that have played to the trick, the leader first."""
    trick_cards: tuple[Card, ...]
    """The card of each of `trick_seats`."""
    active: Active | None
    graveyard: int
    """The number of cards in the graveyard, public or not."""
    buried: tuple[Card, ...]
    """The public cards of the graveyard, in the order buried."""
    totals: tuple[int, ...]
    """Points of completed hands, by seat."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_setting(0, "a match to `target`", maximum=60)
    target: int = target_setting(32, "total that ends the match; the highest wins", maximum=1000)
    max_hands: int = max_hands_setting(60)  # ruling 4
