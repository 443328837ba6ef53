"""The state of a match of Loo, and the legal moves in it."""

from itertools import combinations
from typing import TypeAlias

from arena.games.cards import Card, in_order
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.loo.messages import (
    CIVIL,
    DECLARATIONS,
    HOLD,
    PLAYS,
    REVEAL_OR_HOLD,
    Exchange,
    Move,
    Options,
    Phase,
    Play,
)
from arena.games.loo.tricks import flush_of, legal_replies

Rows: TypeAlias = tuple[tuple[Card, ...], ...]
"""Cards by seat."""


class Cards(Frozen):
    hands: Rows
    stock: tuple[Card, ...]
    """The next card to draw first."""
    dead: tuple[Card, ...]
    """Passed and discarded cards, in that order."""
    discarded: Rows
    """By seat, the cards that it passed or discarded; they may be in play again."""


class Line(Frozen):
    """Players in order of play, seats that passed, and cards exchanged by seat."""

    players: tuple[Seat, ...]
    passed: tuple[Seat, ...]
    exchanged: tuple[int, ...]


class Tricks(Frozen):
    leader: Seat | None
    cards: tuple[Card, ...]
    played: Rows
    winners: tuple[Seat, ...]
    civil: bool


class Deal(Frozen):
    """The current hand."""

    upcard: Card
    cards: Cards
    line: Line
    tricks: Tricks
    phase: Phase
    turn: Seat


class Match(Frozen):
    options: Options
    hand: int
    pot: int
    chips: tuple[int, ...]
    before: tuple[int, ...]
    """Chips before the dealer of this hand paid."""
    hand_scores: tuple[tuple[int, ...], ...]


class State(Frozen):
    match: Match
    deal: Deal
    legal: tuple[Move, ...]
    """The legal moves of the seat to act, computed once; empty when the match is over."""


def before(match: Match, deal: Deal) -> State:
    """Return a state with the legal moves of the seat to act."""
    return State(match, deal, legal_moves(match.options, deal))


def legal_moves(options: Options, deal: Deal) -> tuple[Move, ...]:
    """Return the legal moves of the seat to act, in a fixed order."""
    hand, trump = deal.cards.hands[deal.turn], deal.upcard[1]
    match deal.phase:
        case Phase.FOLLOW:
            tricks = deal.tricks
            replies = legal_replies(
                hand, tricks.cards, trump, civil=tricks.civil, pam=options.has_pam
            )
            return tuple([PLAYS[card] for card in replies])
        case Phase.LEAD:
            leads: list[Move] = [PLAYS[card] for card in hand]
            ace = PLAYS["A" + trump]
            if options.has_pam and ace in leads:
                leads.insert(leads.index(ace) + 1, CIVIL[trump])
            return tuple(leads)
        case Phase.DECLARE:
            return DECLARATIONS
        case Phase.EXCHANGE:
            most = most_exchanged(options, deal)
            # Hands are sorted, so their combinations need not be sorted again.
            exchange = Exchange.in_order if hand == in_order(hand) else Exchange
            return tuple(
                [exchange(cards) for k in range(most + 1) for cards in combinations(hand, k)]
            )
        case Phase.OVER:
            return ()
        case _:
            return HOLD if flush_of(hand, trump) is None else REVEAL_OR_HOLD


def most_exchanged(options: Options, deal: Deal) -> int:
    """Return the most cards that a seat may exchange (R4)."""
    return min(options.hand_size, len(deal.cards.stock) + len(deal.cards.dead))


def why_illegal(state: State, move: Move) -> str:
    deal = state.deal
    phase, hand = deal.phase, deal.cards.hands[deal.turn]
    if isinstance(move, Exchange) and phase is Phase.EXCHANGE:
        most = most_exchanged(state.match.options, deal)
        return f"exchange up to {most} cards of your hand"
    if not isinstance(move, Play) or phase not in (Phase.LEAD, Phase.FOLLOW):
        return f"this is the time to {phase.replace('_', ' ')}"
    if move.card not in hand:
        return "play a card of your hand"
    if move.civil:
        return "Pam is asked to be civil with the lead of the ace of trump alone"
    return "follow suit and beat the best card if you can; or else play a trump"
