"""The flushes of Loo, and the payments after a flush is revealed."""

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
    """A flush; a higher one compares as greater."""

    kind: FlushKind
    heights: tuple[int, ...]
    """The ranks of its cards except Pam, from high to low."""


def flush_of(hand: Sequence[Card], trump: str) -> Flush | None:
    """Return the flush of five cards, or None."""
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
    """Compare the hands of all players, in order of play, after a flush was revealed (R5, R6).

    Returns the seat that takes the pot, the other seats that are exempt because of a flush or Pam, and
    the seats that pay.
    """
    flushes = {seat: flush_of(hand, trump) for seat, hand in hands.items()}
    found = [(flush, seat) for seat, flush in flushes.items() if flush is not None]
    # Of equal flushes the first from the dealer's left wins, as `max` returns the first.
    winner = max(found, key=lambda each: each[0])[1]
    others = [seat for seat in hands if seat != winner]
    exempt = tuple(seat for seat in others if flushes[seat] is not None or PAM in hands[seat])
    return winner, exempt, tuple(seat for seat in others if seat not in exempt)
