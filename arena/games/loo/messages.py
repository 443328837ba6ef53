"""Moves, events, views and options of Loo."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from arena.games.cards import PACK_52, SUITS, Card, as_named
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.options import hands_setting, setting


class Phase(StrEnum):
    """What happens next in the match."""

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
    """The pot stays for the next hand."""
    WALKOVER = "walkover"
    """The only player takes the pot."""
    FLUSH = "flush"
    """The best flush takes the pot; players without a flush or Pam are looed."""
    PLAYED = "played"
    """Each trick takes an equal share of the pot."""


class PlayHand(Frozen):
    """Play the hand; a player without a trick pays."""


class Pass(Frozen):
    """Do not play the hand."""


class RevealFlush(Frozen):
    """Reveal a flush: the best flush of all players ends the hand (R6)."""


class Hold(Frozen):
    """Reveal no flush."""


class Exchange(Frozen):
    """Discard these cards, named in any order, and draw as many."""

    cards: tuple[Card, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "cards", as_named(self.cards))

    @classmethod
    def in_order(cls, cards: tuple[Card, ...]) -> "Exchange":
        """Return the move with cards that are in canonical order already."""
        move = object.__new__(cls)
        object.__setattr__(move, "cards", cards)
        return move


class Play(Frozen):
    """Play a card. `civil`, with a lead of the ace of trump, bars Pam from the trick (R7)."""

    card: Card
    civil: bool


Move: TypeAlias = PlayHand | Pass | RevealFlush | Hold | Exchange | Play

# Moves are interned, as the codec finds the bytes of a move by its identity.
PASS: Final = Pass()
REVEAL: Final = RevealFlush()
DECLARATIONS: Final[tuple[Move, ...]] = (PlayHand(), PASS)
HOLD: Final[tuple[Move, ...]] = (Hold(),)
REVEAL_OR_HOLD: Final[tuple[Move, ...]] = (REVEAL, *HOLD)
PLAYS: Final = {card: Play(card, civil=False) for card in PACK_52}
CIVIL: Final = {suit: Play("A" + suit, civil=True) for suit in SUITS}


class Began(Frozen):
    """A hand was dealt; the suit of the upcard is trump. `pot` includes the dealer's payment."""

    hand: int
    dealer: Seat
    upcard: Card
    pot: int


class Dealt(Frozen):
    """The seat was dealt its hand. Sent to that seat only."""

    seat: Seat
    cards: tuple[Card, ...]


class Declared(Frozen):
    """The seat plays, or passes."""

    seat: Seat
    plays: bool


class Exchanged(Frozen):
    """The seat exchanged this many cards."""

    seat: Seat
    count: int


class Drawn(Frozen):
    """The cards that a seat drew for its discards. Sent to that seat only."""

    seat: Seat
    cards: tuple[Card, ...]


class Recycled(Frozen):
    """The stock was empty, so `count` dead cards were shuffled into a new stock (R4)."""

    count: int


class FlushShown(Frozen):
    """The best flush was shown; `exempt` are other players with a flush or Pam, not shown."""

    seat: Seat
    cards: tuple[Card, ...]
    exempt: tuple[int, ...]


class Played(Frozen):
    """The seat played a card; `civil` if it said "Pam be civil"."""

    seat: Seat
    card: Card
    civil: bool


class Won(Frozen):
    """The seat won the trick."""

    seat: Seat


class Scored(Frozen):
    """A hand was settled."""

    hand: int
    ending: Ending
    won: tuple[int, ...]
    """By seat, chips taken from the pot."""
    looed: tuple[int, ...]
    """Seats that paid to the next pot."""
    pot: int
    """The pot for the next hand, without its dealer's payment."""
    chips: tuple[int, ...]
    """Chips won and paid in the match, by seat."""


Event: TypeAlias = (
    Began | Dealt | Declared | Exchanged | Drawn | Recycled | FlushShown | Played | Won | Scored
)


class View(Frozen):
    """What a seat may know. For a spectator `held` and `discarded` are empty."""

    phase: Phase
    hand: int
    dealer: Seat
    to_act: Seat | None
    upcard: Card
    """Its suit is trump. If it is Pam, Pam is not in play (R9)."""
    pot: int
    chips: tuple[int, ...]
    """Chips won and paid in the match so far, by seat."""
    players: tuple[int, ...]
    """Seats that play the hand, from the dealer's left."""
    passed: tuple[int, ...]
    """Seats that passed, from the dealer's left."""
    exchanged: tuple[int, ...]
    """By seat, the number of cards it exchanged."""
    stock: int
    dead: int
    """The number of passed and discarded cards, which may be shuffled into a new stock."""
    held: tuple[Card, ...]
    """The seat's own hand; empty after a pass."""
    discarded: tuple[Card, ...]
    """The seat's own discards, or its hand if it passed."""
    leader: Seat | None
    """The seat that leads the trick; None before the first trick."""
    trick: tuple[Card, ...]
    """Cards of the trick, the leader's first."""
    civil: bool
    """Whether Pam is barred from the trick."""
    played: tuple[tuple[Card, ...], ...]
    """By seat, the cards played to tricks, in order."""
    winners: tuple[int, ...]
    """The seat that won each trick of the hand."""


MAX_HANDS: Final = 300


class HandCards(StrEnum):
    """The number of cards of a hand, which is also the number of tricks, and of chips of a payment."""

    FIVE = "five"
    THREE = "three"
    """Without Pam and without flushes. The source names this game without rules, so the rules are the arena's (R11)."""


HAND_SIZES: Final = {HandCards.FIVE.value: 5, HandCards.THREE.value: 3}


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_setting(0, "three hands dealt by each seat", maximum=MAX_HANDS)
    cards: str = setting(
        HandCards.FIVE,
        "cards of a hand; with three there are no Pam and no flushes",
        choices=tuple(HandCards),
    )

    @property
    def hand_size(self) -> int:
        """The number of cards in a hand, of tricks, and of chips of every payment (R8)."""
        return HAND_SIZES[self.cards]

    @property
    def has_pam(self) -> bool:
        """Whether there are Pam and flushes."""
        return self.cards == HandCards.FIVE
