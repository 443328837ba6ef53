"""The state of a Klaberjass match, and what the seat on turn may do."""

from dataclasses import dataclass
from typing import Final

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.klaberjass_scoring import Sequence, best_sequence, legal_replies
from arena.games.klaberjass_table import (
    ANNOUNCEMENTS,
    BELAS,
    FIRST_BIDS,
    GOOD,
    HOW_HIGH,
    KEEP,
    KEEP_OR_EXCHANGE,
    NAMES,
    NO_MELD,
    NOT_GOOD,
    PLAYS,
    REPLIES,
    SECOND_BIDS,
    Auction,
    Contest,
    Move,
    Options,
    Phase,
)

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


def answers(announced: int, own: Sequence | None) -> tuple[Move, ...]:
    """What the dealer may answer with `own` as its best sequence (R6)."""
    if own is None or own.value < announced:
        return (GOOD,)
    return GOOD, HOW_HIGH if own.value == announced else NOT_GOOD


def before(match: Match, deal: Deal) -> State:
    """The state before a move of the seat on turn."""
    return State(match, deal, legal_moves(deal))


def legal_moves(deal: Deal) -> tuple[Move, ...]:
    """What the seat on turn may do, in a fixed order."""
    hand = deal.sides[deal.turn].hand
    match deal.phase:
        case Phase.LEAD:
            return _plays(hand, deal)
        case Phase.FOLLOW:
            assert deal.tricks.led is not None
            return _plays(legal_replies(hand, deal.tricks.led, trump_of(deal)), deal)
        case Phase.FIRST_BID:
            return FIRST_BIDS
        case Phase.SECOND_BID:
            return SECOND_BIDS[deal.talon.upcard[1]]
        case Phase.REPLY:
            return REPLIES
        case Phase.NAME:
            return NAMES[deal.talon.upcard[1]]
        case Phase.DIX:
            return KEEP_OR_EXCHANGE if "7" + trump_of(deal) in hand else KEEP
        case Phase.ANNOUNCE:
            best = best_sequence(hand, trump_of(deal))
            return (NO_MELD,) if best is None else (NO_MELD, ANNOUNCEMENTS[best.value])
        case Phase.ANSWER:
            return answers(deal.contest.value, best_sequence(hand, trump_of(deal)))
        case Phase.OVER:
            return ()


def _plays(cards: tuple[Card, ...], deal: Deal) -> tuple[Move, ...]:
    """The cards; one that can call the bela comes a second time, with the call."""
    hand, trump = deal.sides[deal.turn].hand, trump_of(deal)
    king, queen = "K" + trump, "Q" + trump
    if king not in hand or queen not in hand:
        return tuple([PLAYS[card] for card in cards])
    legal = []
    for card in cards:
        legal.append(PLAYS[card])
        if card in (king, queen):
            legal.append(BELAS[card])
    return tuple(legal)


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
