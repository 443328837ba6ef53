"""Moves, events, views and options of Klaberjass."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from arena.games.cards import SUITS, Card
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.klaberjass.scoring import FIFTY, PACK_32, TWENTY, Split
from arena.games.options import hands_setting, max_hands_setting, target_setting


class Phase(StrEnum):
    """What happens next in the match."""

    FIRST_BID = "first_bid"
    """A seat takes the suit of the upcard as trump, passes, or calls a schmeiss."""
    SECOND_BID = "second_bid"
    """A seat names another suit as trump, passes, or calls a schmeiss."""
    REPLY = "reply"
    """A seat accepts or refuses a schmeiss."""
    NAME = "name"
    """A seat whose schmeiss was refused in the second round must name trump."""
    DIX = "dix"
    """A seat may exchange the seven of trump for the upcard."""
    ANNOUNCE = "announce"
    """A seat announces its best sequence, or none."""
    ANSWER = "answer"
    """The dealer answers an announcement."""
    LEAD = "lead"
    FOLLOW = "follow"
    OVER = "over"


class Call(StrEnum):
    """A call in the bidding that does not name trump."""

    PASS = "pass"  # noqa: S105 - a word of the bidding
    SCHMEISS = "schmeiss"
    YES = "yes"
    NO = "no"


class Word(StrEnum):
    """The dealer's answer to an announcement."""

    GOOD = "good"
    """The announced sequence wins."""
    NOT_GOOD = "not_good"
    """The dealer's own sequence is better."""
    HOW_HIGH = "how_high"
    """The dealer's own sequence has the same value; the top cards decide."""
    ALSO = "also"
    """The top cards are equal too; a trump sequence wins."""


class Take(Frozen):
    """Make the suit of the upcard trump."""


class Pass(Frozen):
    """Let the other seat bid."""


class Schmeiss(Frozen):
    """Offer to throw the hand in; if the other seat refuses, one becomes the maker (R4)."""


class Yes(Frozen):
    """Accept the schmeiss: the hand is thrown in."""


class No(Frozen):
    """Refuse the schmeiss: the seat that called it becomes the maker."""


class Name(Frozen):
    """Make this suit trump."""

    suit: str


class Keep(Frozen):
    """Do not exchange the upcard."""


class Exchange(Frozen):
    """Exchange the seven of trump (the dix) for the upcard (R5)."""


class NoMeld(Frozen):
    """Announce no sequence."""


class Announce(Frozen):
    """Announce the value of one's best sequence, which must be true (R6)."""

    value: int


class Good(Frozen):
    """Concede that the announced sequence is better."""


class NotGood(Frozen):
    """Answer that one has a fifty against a twenty."""


class HowHigh(Frozen):
    """Answer that one's own sequence has the same value, and ask for the top card."""


class Play(Frozen):
    """Play a card. `bela` is called with the first of king and queen of trump (R10)."""

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

# Moves are interned, as the codec finds the bytes of a move by its identity.
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
"""By suit of the upcard, the suits that may be named."""
SECOND_BIDS: Final[dict[str, tuple[Move, ...]]] = {
    upcard: (*names, PASS, SCHMEISS) for upcard, names in NAMES.items()
}


class Began(Frozen):
    """A hand was dealt, six cards to each seat."""

    hand: int
    dealer: Seat
    upcard: Card


class Dealt(Frozen):
    """The seat was dealt cards, first six and later three. Sent to that seat only."""

    seat: Seat
    cards: tuple[Card, ...]


class Called(Frozen):
    """The seat made a call in the bidding."""

    seat: Seat
    call: Call


class Made(Frozen):
    """The seat became the maker of trump."""

    seat: Seat
    trump: str


class ThrownIn(Frozen):
    """The hand was thrown in: no seat scores, and the same seat deals again (R3)."""

    hand: int


class Kept(Frozen):
    """The seat did not exchange the upcard."""

    seat: Seat


class Exchanged(Frozen):
    """The seat took this upcard in exchange for the seven of trump."""

    seat: Seat
    card: Card


class Announced(Frozen):
    """The seat announced a sequence of this value; 0 means none."""

    seat: Seat
    value: int


class Answered(Frozen):
    """The dealer answered an announcement."""

    seat: Seat
    word: Word


class NamedTop(Frozen):
    """The seat named the rank of the top card of its best sequence, as it must (R7)."""

    seat: Seat
    rank: str


class NamedSuit(Frozen):
    """The seat named the suit of its best sequence, as it must (R7)."""

    seat: Seat
    suit: str


class Played(Frozen):
    """The seat played a card, with or without calling the bela."""

    seat: Seat
    card: Card
    bela: bool


class Won(Frozen):
    """The seat won the trick; `value` includes the ten points for the last trick."""

    seat: Seat
    value: int


class Shown(Frozen):
    """The seat that won the contest showed its sequences, worth `value` (R8)."""

    seat: Seat
    melds: tuple[tuple[Card, ...], ...]
    value: int


class Scored(Frozen):
    """A hand was scored; lists are by seat."""

    hand: int
    maker: Seat
    points: tuple[int, ...]
    """Points made in the hand, for tricks, melds and bela."""
    splits: tuple[Split, ...]
    """The parts of `points`."""
    winner: Seat
    """The seat that won the hand and deals the next one (R12, R13)."""
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


class Auction(Frozen):
    """The bidding, which is public."""

    passes: int
    """The number of passes so far; the seat that does not deal begins."""
    schmeisser: Seat | None
    """The seat that called a schmeiss."""
    maker: Seat | None
    trump: str | None
    exchanger: Seat | None
    """The seat that exchanged the seven of trump for the upcard."""


class Contest(Frozen):
    """The contest of sequences, which is public."""

    announcer: Seat | None
    value: int
    """The announced value; 0 if none was announced."""
    answer: Word | None
    """The dealer's answer."""
    verdict: Word | None
    """The dealer's second answer, after the top card was named."""
    tops: tuple[str, ...]
    """By seat, the rank of the top card that it named, or an empty string."""
    suits: tuple[str, ...]
    """By seat, the suit that it named, or an empty string."""
    winner: Seat | None
    """The seat whose sequences count; None without a contest or after a tie."""
    shown: tuple[tuple[Card, ...], ...]
    """The winner's sequences, which it shows after the first trick."""


class View(Frozen):
    """What a seat may know. For a spectator `held` is empty."""

    phase: Phase
    hand: int
    dealer: Seat
    to_act: Seat | None
    upcard: Card
    """The card turned up; after an exchange the seven of trump."""
    stock: int
    auction: Auction
    contest: Contest
    held: tuple[Card, ...]
    """The seat's own hand."""
    hand_sizes: tuple[int, ...]
    known: tuple[tuple[Card, ...], ...]
    """By seat, the cards in its hand that everybody has seen."""
    led: Card | None
    bela: Seat | None
    """The seat that called the bela."""
    points: tuple[int, ...]
    """By seat, points made in this hand: for tricks, a complete bela, and melds once it has a trick."""
    played: tuple[tuple[Card, ...], ...]
    """By seat, the cards played, in order."""
    winners: tuple[int, ...]
    """The seat that won each trick of the hand."""
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_setting(0, "a race to `target`", maximum=100)
    target: int = target_setting(501, "points that win the race", maximum=10_000)
    max_hands: int = max_hands_setting(100)  # thrown-in ones included (R15)
