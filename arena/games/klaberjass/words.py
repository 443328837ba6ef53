"""What is said at a match of Klaberjass: moves, events, and what a seat may know."""

from enum import StrEnum
from typing import Final, TypeAlias

from arena.cards import SUITS, Card
from arena.games.contract import Seat
from arena.games.klaberjass.scoring import FIFTY, PACK_32, TWENTY, Split
from arena.games.values import value


class Phase(StrEnum):
    """What the match is doing."""

    FIRST_BID = "first_bid"
    """A seat takes the suit of the upcard for trump, or does not."""
    SECOND_BID = "second_bid"
    """A seat names another suit, or does not."""
    REPLY = "reply"
    """A seat accepts or refuses the other's schmeiss."""
    NAME = "name"
    """A seat whose schmeiss was refused in the second round must name trump."""
    DIX = "dix"
    """A seat may exchange the seven of trump for the upcard."""
    ANNOUNCE = "announce"
    """A seat announces its best sequence, or does not."""
    ANSWER = "answer"
    """The dealer answers the other's announcement."""
    LEAD = "lead"
    FOLLOW = "follow"
    OVER = "over"


class Call(StrEnum):
    """What is said in the bidding without making trump."""

    PASS = "pass"  # noqa: S105 - a word of the bidding
    SCHMEISS = "schmeiss"
    YES = "yes"
    NO = "no"


class Word(StrEnum):
    """What the dealer answers to an announcement."""

    GOOD = "good"
    """The announcement stands."""
    NOT_GOOD = "not_good"
    """The dealer's own sequence is better."""
    HOW_HIGH = "how_high"
    """It is of the same value; the top cards decide."""
    ALSO = "also"
    """The top cards are equal as well; a trump sequence decides."""


# What a seat may do.


@value(frozen=True, slots=True)
class Take:
    """Make the suit of the upcard trump."""


@value(frozen=True, slots=True)
class Pass:
    """Let the other seat bid."""


@value(frozen=True, slots=True)
class Schmeiss:
    """Offer to throw the hand in; if that is refused, one makes trump oneself (R4)."""


@value(frozen=True, slots=True)
class Yes:
    """Accept the schmeiss: the hand is thrown in."""


@value(frozen=True, slots=True)
class No:
    """Refuse the schmeiss: the seat that called it makes trump."""


@value(frozen=True, slots=True)
class Name:
    """Make this suit trump."""

    suit: str


@value(frozen=True, slots=True)
class Keep:
    """Leave the upcard where it is."""


@value(frozen=True, slots=True)
class Exchange:
    """Take the upcard for the seven of trump (the dix, R5)."""


@value(frozen=True, slots=True)
class NoMeld:
    """Announce no sequence."""


@value(frozen=True, slots=True)
class Announce:
    """Announce the value of the own best sequence; nothing else may be said (R6)."""

    value: int


@value(frozen=True, slots=True)
class Good:
    """Let the other's announcement stand."""


@value(frozen=True, slots=True)
class NotGood:
    """Answer a twenty with a fifty."""


@value(frozen=True, slots=True)
class HowHigh:
    """Answer with the same value and ask for the top card."""


@value(frozen=True, slots=True)
class Play:
    """Play a card; with `bela`, the first of king and queen of trump (R10)."""

    card: Card
    bela: bool


Move: TypeAlias = (
    Take
    | Pass
    | Schmeiss
    | Yes
    | No
    | Name
    | Keep
    | Exchange
    | NoMeld
    | Announce
    | Good
    | NotGood
    | HowHigh
    | Play
)

# Moves are interned: equal moves are one object, which the codec's cache likes.
PASS: Final = Pass()


SCHMEISS: Final = Schmeiss()


NO_MELD: Final = NoMeld()


GOOD: Final = Good()


NOT_GOOD: Final = NotGood()


HOW_HIGH: Final = HowHigh()


PLAYS: Final = {card: Play(card, bela=False) for card in PACK_32}


BELAS: Final = {card: Play(card, bela=True) for card in PACK_32 if card[0] in "KQ"}


ANNOUNCEMENTS: Final = {value: Announce(value) for value in (TWENTY, FIFTY)}


_NAMES: Final = {suit: Name(suit) for suit in SUITS}

FIRST_BIDS: Final[tuple[Move, ...]] = (Take(), PASS, SCHMEISS)


REPLIES: Final[tuple[Move, ...]] = (Yes(), No())


KEEP: Final[tuple[Move, ...]] = (Keep(),)


KEEP_OR_EXCHANGE: Final[tuple[Move, ...]] = (*KEEP, Exchange())


NAMES: Final[dict[str, tuple[Move, ...]]] = {
    upcard: tuple(_NAMES[suit] for suit in SUITS if suit != upcard) for upcard in SUITS
}
"""By the suit of the upcard: the suits that may be named."""


SECOND_BIDS: Final[dict[str, tuple[Move, ...]]] = {
    upcard: (*names, PASS, SCHMEISS) for upcard, names in NAMES.items()
}


# What is told.


@value(frozen=True, slots=True)
class Began:
    """A hand was dealt, six cards to each seat."""

    hand: int
    dealer: Seat
    upcard: Card


@value(frozen=True, slots=True)
class Dealt:
    """Cards dealt to a seat, first six and later three; told to that seat."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class Called:
    """The seat said this in the bidding."""

    seat: Seat
    call: Call


@value(frozen=True, slots=True)
class Made:
    """The seat became the maker."""

    seat: Seat
    trump: str


@value(frozen=True, slots=True)
class ThrownIn:
    """The hand was thrown in; nobody scores, and the same seat deals (R3)."""

    hand: int


@value(frozen=True, slots=True)
class Kept:
    """The seat left the upcard where it is."""

    seat: Seat


@value(frozen=True, slots=True)
class Exchanged:
    """The seat took this upcard; the seven of trump lies in its place."""

    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class Announced:
    """The seat announced a sequence of this value, or none if it is 0."""

    seat: Seat
    value: int


@value(frozen=True, slots=True)
class Answered:
    """The dealer answered an announcement."""

    seat: Seat
    word: Word


@value(frozen=True, slots=True)
class NamedTop:
    """The seat had to name the rank of its best sequence's top card (R7)."""

    seat: Seat
    rank: str


@value(frozen=True, slots=True)
class NamedSuit:
    """The seat had to name the suit of its best sequence (R7)."""

    seat: Seat
    suit: str


@value(frozen=True, slots=True)
class Played:
    """The seat played a card, and called the bela with it if so."""

    seat: Seat
    card: Card
    bela: bool


@value(frozen=True, slots=True)
class Won:
    """The seat won the trick; `value` with the last trick's ten."""

    seat: Seat
    value: int


@value(frozen=True, slots=True)
class Shown:
    """The seat that won the contest showed its sequences, worth `value` (R8)."""

    seat: Seat
    melds: tuple[tuple[Card, ...], ...]
    value: int


@value(frozen=True, slots=True)
class Scored:
    """A hand was scored; lists are by seat."""

    hand: int
    maker: Seat
    points: tuple[int, ...]
    """Made in the hand: tricks, melds and bela."""
    splits: tuple[Split, ...]
    """What `points` came from."""
    winner: Seat
    """Who won the hand and deals the next (R12, R13)."""
    gained: tuple[int, ...]
    totals: tuple[int, ...]


Event: TypeAlias = (
    Began
    | Dealt
    | Called
    | Made
    | ThrownIn
    | Kept
    | Exchanged
    | Announced
    | Answered
    | NamedTop
    | NamedSuit
    | Played
    | Won
    | Shown
    | Scored
)


@value(frozen=True, slots=True)
class Auction:
    """How trump was made. All of it is public."""

    passes: int
    """Passes so far, by the seat that does not deal and the dealer in turn."""
    schmeisser: Seat | None
    """Who called a schmeiss."""
    maker: Seat | None
    trump: str | None
    exchanger: Seat | None
    """Who took the upcard for the seven of trump."""


@value(frozen=True, slots=True)
class Contest:
    """What was said of sequences. All of it is public."""

    announcer: Seat | None
    value: int
    """Announced; 0 if nothing was."""
    answer: Word | None
    """What the dealer chose to answer."""
    verdict: Word | None
    """What the dealer had to say once the top card was named."""
    tops: tuple[str, ...]
    """By seat, the top rank it named; empty if it named none."""
    suits: tuple[str, ...]
    """By seat, the suit it named; empty if it named none."""
    winner: Seat | None
    """Whose sequences count; None without a contest or after a tie."""
    shown: tuple[tuple[Card, ...], ...]
    """The winner's sequences, from the end of the first trick."""


@value(frozen=True, slots=True)
class View:
    """What one seat may know; a spectator's has no cards held."""

    phase: Phase
    hand: int
    dealer: Seat
    to_act: Seat | None
    upcard: Card
    """The seven of trump once it was exchanged."""
    stock: int
    auction: Auction
    contest: Contest
    held: tuple[Card, ...]
    """The own hand."""
    hand_sizes: tuple[int, ...]
    known: tuple[tuple[Card, ...], ...]
    """By seat: cards in its hand that all have seen."""
    led: Card | None
    bela: Seat | None
    """Who called the bela."""
    points: tuple[int, ...]
    """By seat, made in this hand: tricks, a full bela, and melds shown by one with a trick."""
    played: tuple[tuple[Card, ...], ...]
    """By seat, the cards played, in order."""
    winners: tuple[int, ...]
    """The seat that won each trick of the hand."""
    totals: tuple[int, ...]
