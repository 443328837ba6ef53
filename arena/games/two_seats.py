"""Functions shared by the trick games for two: Jam, Klaberjass and Sixty-Six."""

from typing import Final, TypeVar

from arena.games.cards import Card, in_order
from arena.games.contract import Seat

S = TypeVar("S")

SEATS: Final = (Seat(0), Seat(1))


def other(seat: Seat) -> Seat:
    return SEATS[1 - seat]


def dealer_of(hand: int) -> Seat:
    """Return the dealer of a hand: seat 0 deals first, then the deal alternates."""
    return SEATS[hand % 2]


def by_seat(seat: Seat, mine: S, theirs: S) -> tuple[S, S]:
    """Return both values in seat order, if `mine` belongs to `seat`."""
    return (mine, theirs) if seat == 0 else (theirs, mine)


def with_side(both: tuple[S, S], seat: Seat, side: S) -> tuple[S, S]:
    """Return both sides with the one of `seat` replaced."""
    return by_seat(seat, side, both[1 - seat])


def six_each(deck: tuple[Card, ...], dealer: Seat) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """Return the hands by seat: six cards each, dealt in batches of three, to the dealer last."""
    first, last = in_order(deck[0:3] + deck[6:9]), in_order(deck[3:6] + deck[9:12])
    return by_seat(dealer, last, first)
