"""What a match of Klaberjass consists of while it is played."""

from dataclasses import dataclass
from typing import Final

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.klaberjass.options import Options
from arena.games.klaberjass.words import Auction, Contest, Move, Phase

SEATS: Final = (Seat(0), Seat(1))
SILENCE: Final = Contest(None, 0, None, None, ("", ""), ("", ""), None, ())
"""The contest before anything was said."""


@dataclass(frozen=True, slots=True)
class Side:
    """One seat's cards and points in a hand."""

    hand: tuple[Card, ...]
    known: tuple[Card, ...]
    played: tuple[Card, ...]
    points: int
    """Of tricks, a full bela, and melds once the seat has a trick."""


@dataclass(frozen=True, slots=True)
class Talon:
    """The cards that are not dealt."""

    upcard: Card
    stock: tuple[Card, ...]
    """The next to be dealt first; 13 cards stay out of play."""


@dataclass(frozen=True, slots=True)
class Tricks:
    """How the play stands."""

    led: Card | None
    winners: tuple[Seat, ...]
    bela: Seat | None


@dataclass(frozen=True, slots=True)
class Deal:
    """One hand in play."""

    sides: tuple[Side, Side]
    talon: Talon
    auction: Auction
    contest: Contest
    tricks: Tricks
    phase: Phase
    turn: Seat


@dataclass(frozen=True, slots=True)
class Match:
    """What goes on from hand to hand."""

    options: Options
    hand: int
    dealer: Seat
    totals: tuple[int, int]
    hand_scores: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class State:
    """A match before a move."""

    match: Match
    deal: Deal
    legal: tuple[Move, ...]
    """What the seat on turn may do, made once and looked at often; empty at the end."""


def other(seat: Seat) -> Seat:
    """The seat that is not this one."""
    return SEATS[1 - seat]


def trump_of(deal: Deal) -> str:
    """The trump suit, once it is made."""
    assert deal.auction.trump is not None
    return deal.auction.trump


def by_seat(seat: Seat, mine: Side, theirs: Side) -> tuple[Side, Side]:
    """Both sides in seat order, `mine` being that of `seat`."""
    return (mine, theirs) if seat == 0 else (theirs, mine)


def without(cards: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    """The cards but this one."""
    return tuple([each for each in cards if each != card])
