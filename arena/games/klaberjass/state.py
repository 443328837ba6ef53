"""The state of a match of Klaberjass."""

from dataclasses import dataclass
from typing import Final

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.klaberjass.messages import Auction, Contest, Move, Phase
from arena.games.klaberjass.options import Options

SILENCE: Final = Contest(None, 0, None, None, ("", ""), ("", ""), None, ())
"""The contest before the first announcement."""


@dataclass(frozen=True, slots=True)
class Side:
    """One seat's cards and points in a hand."""

    hand: tuple[Card, ...]
    known: tuple[Card, ...]
    played: tuple[Card, ...]
    points: int
    """Points for tricks, a complete bela, and melds once the seat has a trick."""


@dataclass(frozen=True, slots=True)
class Talon:
    """The undealt cards."""

    upcard: Card
    stock: tuple[Card, ...]
    """The next card to deal first; 13 cards stay out of play."""


@dataclass(frozen=True, slots=True)
class Tricks:
    """The tricks of a hand."""

    led: Card | None
    winners: tuple[Seat, ...]
    bela: Seat | None


@dataclass(frozen=True, slots=True)
class Deal:
    """The current hand."""

    sides: tuple[Side, Side]
    talon: Talon
    auction: Auction
    contest: Contest
    tricks: Tricks
    phase: Phase
    turn: Seat


@dataclass(frozen=True, slots=True)
class Match:
    """What continues from hand to hand."""

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
    """The legal moves of the seat to act, computed once; empty when the match is over."""


def trump_of(deal: Deal) -> str:
    """Return the trump suit, which must have been made."""
    assert deal.auction.trump is not None
    return deal.auction.trump
