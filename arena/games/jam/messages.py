"""Moves, events, views and options of Jam."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from arena.games.cards import PACK_52, Card
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.jam.scoring import Claim
from arena.games.options import hands_setting, max_hands_setting, setting, target_setting


class Phase(StrEnum):
    LEAD = "lead"
    FOLLOW = "follow"
    DRAW = "draw"
    DISCARD = "discard"
    OVER = "over"


class Source(StrEnum):
    STOCK = "stock"
    DISCARDS = "discards"


class Play(Frozen):
    card: Card


class Draw(Frozen):
    """Draw the top card of one's own stock or discard pile."""

    source: Source


class Discard(Frozen):
    card: Card


Move: TypeAlias = Play | Draw | Discard

# Moves are interned, as the codec finds the bytes of a move by its identity.
DRAWS: Final = {source: Draw(source) for source in Source}
PLAYS: Final = {card: Play(card) for card in PACK_52}
DISCARDS: Final = {card: Discard(card) for card in PACK_52}


class Began(Frozen):
    """A hand began; the dealer has the black cards, the other seat the red ones (J2)."""

    hand: int
    dealer: Seat


class Dealt(Frozen):
    """The seat was dealt its hand. Sent to that seat only."""

    seat: Seat
    cards: tuple[Card, ...]


class Played(Frozen):
    seat: Seat
    card: Card


class Won(Frozen):
    """The seat won the trick."""

    seat: Seat


class Drawn(Frozen):
    """A seat drew a card; `card` is None if it came from the stock."""

    seat: Seat
    source: Source
    card: Card | None


class Received(Frozen):
    """The card that a seat drew from its stock. Sent to that seat only."""

    seat: Seat
    card: Card


class Discarded(Frozen):
    seat: Seat
    card: Card


class Scored(Frozen):
    """A hand was scored. Lists are by seat; `totals` are those of the rubber or match."""

    hand: int
    claims: tuple[Claim, ...]
    points: tuple[int, ...]
    totals: tuple[int, ...]
    rubbers: tuple[int, ...]


Event: TypeAlias = Began | Dealt | Played | Won | Drawn | Received | Discarded | Scored


class View(Frozen):
    """What a seat may know. For a spectator `held` is empty."""

    phase: Phase
    hand: int
    dealer: Seat
    """The seat with the black cards; the other seat has the red ones."""
    to_act: Seat | None
    held: tuple[Card, ...]
    """The seat's own hand."""
    hand_sizes: tuple[int, ...]
    stock_sizes: tuple[int, ...]
    discards: tuple[tuple[Card, ...], ...]
    """By seat, its discard pile, the top card last."""
    known: tuple[tuple[Card, ...], ...]
    """By seat, the cards in its hand that it drew from its discard pile, which everybody has seen."""
    led: Card | None
    draws_left: int
    """Draws still to make before the discard; 0 outside the draw phase."""
    played: tuple[tuple[Card, ...], ...]
    """By seat, the cards played to tricks, in order."""
    winners: tuple[int, ...]
    """The seat that won each trick of the hand."""
    totals: tuple[int, ...]
    rubbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Options:
    hands: int = hands_setting(0, "rubbers, as `rubbers` says", maximum=200)
    target: int = target_setting(5, "points that win a rubber", maximum=100)
    rubbers: int = setting(1, "rubbers to win", minimum=1, maximum=3, needs={"hands": (0,)})
    max_hands: int = max_hands_setting(50, "a rubber")  # ruling 13
