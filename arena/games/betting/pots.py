"""The pots of a hand, and how they are shared out (B10, B11)."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.games.contract import Seat


@dataclass(frozen=True, slots=True)
class Pot:
    """Chips that some of the seats play for."""

    amount: int
    eligible: tuple[Seat, ...]


def pots_of(paid: Sequence[int], live: Sequence[Seat]) -> tuple[Pot, ...]:
    """The main pot first, then the side pots (B10).

    `paid` is what each seat has put in, uncalled chips left out; `live` are the
    seats that have not folded. Their totals are the levels; what folded seats
    have put in fills the levels it reaches.
    """
    levels = sorted({paid[seat] for seat in live} - {0})
    pots, below = [], 0
    for level in levels:
        amount = sum([min(part, level) - min(part, below) for part in paid])
        pots.append(Pot(amount, tuple([seat for seat in live if paid[seat] >= level])))
        below = level
    return tuple(pots)


def best_of(seats: Sequence[Seat], value: Sequence[int | None]) -> list[Seat]:
    """The seats with the highest value by seat; none if all their values are None."""
    highest = max([found for seat in seats if (found := value[seat]) is not None], default=None)
    return [] if highest is None else [seat for seat in seats if value[seat] == highest]


def share_out(amount: int, winners: Sequence[Seat], seats: int) -> tuple[int, ...]:
    """Equal parts of `amount` for the winners, nothing for the others; by seat.

    Odd chips go one each to the first of the winners, so their order is the
    game's rule for odd chips (B11).
    """
    shares = [0] * seats
    each, odd = divmod(amount, len(winners))
    for place, seat in enumerate(winners):
        shares[seat] = each + (place < odd)
    return tuple(shares)
