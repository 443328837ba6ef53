"""What is said at a match of Loo: moves, events, and what a seat may know."""

from enum import StrEnum
from typing import Final, TypeAlias

from arena.cards import PACK_52, SUITS, Card, as_named
from arena.games.contract import Seat
from arena.games.values import value


class Phase(StrEnum):
    """What the match is doing."""

    DECLARE = "declare"
    """A seat plays or passes."""
    FIRST_FLUSH = "first_flush"
    """A seat may reveal a flush it was dealt."""
    EXCHANGE = "exchange"
    """A seat exchanges cards."""
    SECOND_FLUSH = "second_flush"
    """A seat may reveal a flush once more."""
    LEAD = "lead"
    FOLLOW = "follow"
    OVER = "over"


class Ending(StrEnum):
    """How a hand ended."""

    ALL_PASSED = "all_passed"
    """The pot stays."""
    WALKOVER = "walkover"
    """The only seat that plays takes the pot."""
    FLUSH = "flush"
    """The best flush takes the pot and loos the board."""
    PLAYED = "played"
    """Every trick takes a fifth of the pot."""


# What a seat may do.


@value(frozen=True, slots=True)
class PlayHand:
    """Play for the pot; without a trick that costs five chips."""


@value(frozen=True, slots=True)
class Pass:
    """Stay out of the hand."""


@value(frozen=True, slots=True)
class RevealFlush:
    """Show a flush: the best flush among all players ends the hand (R6)."""


@value(frozen=True, slots=True)
class Hold:
    """Show nothing."""


@value(frozen=True, slots=True)
class Exchange:
    """Discard these cards, named in any order, and draw as many."""

    cards: tuple[Card, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "cards", as_named(self.cards))

    @classmethod
    def in_order(cls, cards: tuple[Card, ...]) -> "Exchange":
        """The move with cards in canonical order already, as those of a hand are."""
        move = object.__new__(cls)
        object.__setattr__(move, "cards", cards)
        return move


@value(frozen=True, slots=True)
class Play:
    """Play a card; `civil` with the ace of trump led keeps Pam out of the trick (R7)."""

    card: Card
    civil: bool


Move: TypeAlias = PlayHand | Pass | RevealFlush | Hold | Exchange | Play

# Moves are interned: equal moves are one object, which the codec's cache likes.
PASS: Final = Pass()
REVEAL: Final = RevealFlush()
DECLARATIONS: Final[tuple[Move, ...]] = (PlayHand(), PASS)
HOLD: Final[tuple[Move, ...]] = (Hold(),)
REVEAL_OR_HOLD: Final[tuple[Move, ...]] = (REVEAL, *HOLD)
PLAYS: Final = {card: Play(card, civil=False) for card in PACK_52}
CIVIL: Final = {suit: Play("A" + suit, civil=True) for suit in SUITS}


# What is told.


@value(frozen=True, slots=True)
class Began:
    """A hand was dealt; the suit of the upcard is trump, and the dealer's five are in the pot."""

    hand: int
    dealer: Seat
    upcard: Card
    pot: int


@value(frozen=True, slots=True)
class Dealt:
    """The hand of a seat, told to that seat."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class Declared:
    """The seat plays, or passes."""

    seat: Seat
    plays: bool


@value(frozen=True, slots=True)
class Exchanged:
    """The seat exchanged this many cards."""

    seat: Seat
    count: int


@value(frozen=True, slots=True)
class Drawn:
    """The cards that a seat drew for its discards, told to that seat."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class Recycled:
    """The stock was empty, so that many dead cards were shuffled into a new one (R4)."""

    count: int


@value(frozen=True, slots=True)
class FlushShown:
    """The best flush; `exempt` are other players with a flush or Pam, which they do not show."""

    seat: Seat
    cards: tuple[Card, ...]
    exempt: tuple[int, ...]


@value(frozen=True, slots=True)
class Played:
    """The seat played a card, and said "Pam be civil" with it if so."""

    seat: Seat
    card: Card
    civil: bool


@value(frozen=True, slots=True)
class Won:
    """The seat won the trick."""

    seat: Seat


@value(frozen=True, slots=True)
class Scored:
    """A hand was settled."""

    hand: int
    ending: Ending
    won: tuple[int, ...]
    """By seat, chips taken from the pot."""
    looed: tuple[int, ...]
    """Seats that paid five chips to the next pot."""
    pot: int
    """Left for the next hand, without its dealer's five."""
    chips: tuple[int, ...]
    """By seat, in the match."""


Event: TypeAlias = (
    Began | Dealt | Declared | Exchanged | Drawn | Recycled | FlushShown | Played | Won | Scored
)


@value(frozen=True, slots=True)
class View:
    """What one seat may know; a spectator's has no cards held or discarded."""

    phase: Phase
    hand: int
    dealer: Seat
    to_act: Seat | None
    upcard: Card
    """Its suit is trump; if it is Pam, there is none in play (R9)."""
    pot: int
    chips: tuple[int, ...]
    """By seat, won and paid in the match so far."""
    players: tuple[int, ...]
    """Seats that play the hand, from the dealer's left."""
    passed: tuple[int, ...]
    """Seats that passed, from the dealer's left."""
    exchanged: tuple[int, ...]
    """By seat, the number of cards it exchanged."""
    stock: int
    dead: int
    """Cards that were passed or discarded and may be shuffled for a new stock."""
    held: tuple[Card, ...]
    """The own hand; empty after a pass."""
    discarded: tuple[Card, ...]
    """The own discards, or the hand that was passed."""
    leader: Seat | None
    """Who led or leads the trick; None before the play."""
    trick: tuple[Card, ...]
    """Cards of the trick, the leader's first."""
    civil: bool
    """Whether Pam is barred from the trick."""
    played: tuple[tuple[Card, ...], ...]
    """By seat, the cards played to tricks, in order."""
    winners: tuple[int, ...]
    """The seat that won each trick of the hand."""
