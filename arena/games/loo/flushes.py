"""The flushes of Loo: which there are, and who pays when one is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from arena.cards import RANKS, Card
from arena.games.contract import Seat
from arena.games.loo.tricks import PAM


class FlushKind(IntEnum):
    """The kinds of flush, from low to high."""

    PLAIN = 1
    TRUMP = 2
    MOUCHE = 3
    """Four cards of a suit and Pam."""


@dataclass(frozen=True, slots=True, order=True)
class Flush:
    """A flush, in the order in which flushes beat each other."""

    kind: FlushKind
    heights: tuple[int, ...]
    """Of the cards but Pam, from high to low."""


def flush_of(hand: Sequence[Card], trump: str) -> Flush | None:
    """The flush that five cards make, if any."""
    suited = [card for card in hand if card != PAM]
    suit = suited[0][1]
    for card in suited:
        if card[1] != suit:
            return None
    heights = tuple(sorted([RANKS.index(card[0]) for card in suited], reverse=True))
    if len(suited) < len(hand):
        return Flush(FlushKind.MOUCHE, heights)
    return Flush(FlushKind.TRUMP if suit == trump else FlushKind.PLAIN, heights)


def loo_board(
    hands: Mapping[Seat, Sequence[Card]], trump: str
) -> tuple[Seat, tuple[Seat, ...], tuple[Seat, ...]]:
    """Compare all active hands, in the order of play, once a flush was revealed (R5, R6).

    Returns: the seat that takes the pot, the others that pay nothing for a
    flush or Pam of their own, and those that pay.
    """
    flushes = {seat: flush_of(hand, trump) for seat, hand in hands.items()}
    found = [(flush, seat) for seat, flush in flushes.items() if flush is not None]
    # Of equal flushes the first from the dealer's left: `max` keeps the first.
    winner = max(found, key=lambda each: each[0])[1]
    others = [seat for seat in hands if seat != winner]
    exempt = tuple(seat for seat in others if flushes[seat] is not None or PAM in hands[seat])
    return winner, exempt, tuple(seat for seat in others if seat not in exempt)
