"""The state of a match of Sixty-Six, and the legal moves in it."""

from arena.games.cards import SUITS, Card
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.sixty_six.messages import (
    CLAIM,
    CLOSE,
    EXCHANGE,
    MARRIAGES,
    PLAYS,
    Move,
    Options,
    Phase,
    Play,
)
from arena.games.sixty_six.scoring import legal_replies


class Side(Frozen):
    """One seat's cards and points in a hand."""

    hand: tuple[Card, ...]
    known: tuple[Card, ...]
    played: tuple[Card, ...]
    points: int
    pending: int


class Stock(Frozen):
    cards: tuple[Card, ...]
    """Face down, the next card to draw first."""
    upcard: Card | None
    """The last card to draw; None after it was drawn."""
    closer: Seat | None
    tricks_at_close: int
    """The tricks of the closer's opponent when the stock was closed."""

    @property
    def is_open(self) -> bool:
        """Whether cards are drawn after a trick, and suit need not be followed."""
        return self.upcard is not None and self.closer is None


class Deal(Frozen):
    """The current hand."""

    sides: tuple[Side, Side]
    stock: Stock
    trump: str
    phase: Phase
    turn: Seat
    led: Card | None
    declared: str | None
    winners: tuple[Seat, ...]


class Match(Frozen):
    options: Options
    hand: int
    carry: int
    totals: tuple[int, int]
    hand_scores: tuple[tuple[int, int], ...]


class State(Frozen):
    match: Match
    deal: Deal
    legal: tuple[Move, ...]
    """The legal moves of the seat to act, computed once; empty when the match is over."""


def before(match: Match, deal: Deal) -> State:
    """Return a state with the legal moves of the seat to act."""
    return State(match, deal, legal_moves(deal))


def legal_moves(deal: Deal) -> tuple[Move, ...]:
    """Return the legal moves of the seat to act, in a fixed order."""
    if deal.declared is not None:
        return CLAIM, PLAYS["Q" + deal.declared], PLAYS["K" + deal.declared]
    hand = deal.sides[deal.turn].hand
    is_open = deal.stock.is_open
    legal: list[Move] = [CLAIM, CLOSE] if is_open else [CLAIM]
    if deal.led is not None:
        legal += [PLAYS[card] for card in legal_replies(hand, deal.led, not is_open)]
        return tuple(legal)
    if is_open and "9" + deal.trump in hand:
        legal.append(EXCHANGE)
    legal += [MARRIAGES[suit] for suit in SUITS if "K" + suit in hand and "Q" + suit in hand]
    legal += [PLAYS[card] for card in hand]
    return tuple(legal)


def why_illegal(deal: Deal, move: Move) -> str:
    if not isinstance(move, Play):
        return f"{type(move).__name__.lower()} is not possible now"
    if move.card not in deal.sides[deal.turn].hand:
        return "play a card of your hand"
    return "lead a card of the marriage" if deal.declared else "follow the suit that was led"
