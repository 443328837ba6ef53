"""The state of a match of Klaberjass, and the legal moves in it."""

from typing import Final

from arena.games.cards import Card
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.klaberjass.messages import (
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
    Play,
)
from arena.games.klaberjass.scoring import Sequence, best_sequence
from arena.games.klaberjass.tricks import legal_replies

SILENCE: Final = Contest(None, 0, None, None, ("", ""), ("", ""), None, ())
"""The contest before the first announcement."""


class Side(Frozen):
    """One seat's cards and points in a hand."""

    hand: tuple[Card, ...]
    known: tuple[Card, ...]
    played: tuple[Card, ...]
    points: int
    """The points for tricks, a complete bela, and melds once the seat has a trick."""


class Talon(Frozen):
    upcard: Card
    stock: tuple[Card, ...]
    """The next card to deal first; 13 cards stay out of play."""


class Tricks(Frozen):
    led: Card | None
    winners: tuple[Seat, ...]
    bela: Seat | None


class Deal(Frozen):
    """The current hand."""

    sides: tuple[Side, Side]
    talon: Talon
    auction: Auction
    contest: Contest
    tricks: Tricks
    phase: Phase
    turn: Seat


class Match(Frozen):
    options: Options
    hand: int
    dealer: Seat
    totals: tuple[int, int]
    hand_scores: tuple[tuple[int, int], ...]


class State(Frozen):
    match: Match
    deal: Deal
    legal: tuple[Move, ...]
    """The legal moves of the seat to act, computed once; empty when the match is over."""


def trump_of(deal: Deal) -> str:
    """Return the trump suit, which must have been made."""
    assert deal.auction.trump is not None
    return deal.auction.trump


def before(match: Match, deal: Deal) -> State:
    """Return a state with the legal moves of the seat to act."""
    return State(match, deal, legal_moves(deal))


def legal_moves(deal: Deal) -> tuple[Move, ...]:
    """Return the legal moves of the seat to act, in a fixed order."""
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


def answers(announced: int, own: Sequence | None) -> tuple[Move, ...]:
    """Return the dealer's legal answers with `own` as its best sequence (R6)."""
    if own is None or own.value < announced:
        return (GOOD,)
    return GOOD, HOW_HIGH if own.value == announced else NOT_GOOD


def _plays(cards: tuple[Card, ...], deal: Deal) -> tuple[Move, ...]:
    """Return plays of these cards; cards that can call the bela also with the call."""
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


def why_illegal(deal: Deal, move: Move) -> str:
    if not isinstance(move, Play) or deal.phase not in (Phase.LEAD, Phase.FOLLOW):
        return f"this is the time to {deal.phase.replace('_', ' ')}"
    if move.card not in deal.sides[deal.turn].hand:
        return "play a card of your hand"
    if PLAYS[move.card] in legal_moves(deal):
        return "the bela takes king and queen of trump in hand"
    return "follow suit, with a higher trump to a trump; or else play a trump"
