"""The pots of a hand, and how they are divided (B10, B11)."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.games.contract import Seat


@dataclass(frozen=True, slots=True)
class Pot:
    """A pot and the seats that can win it."""

    amount: int
    eligible: tuple[Seat, ...]


def pots_of(paid: Sequence[int], live: Sequence[Seat]) -> tuple[Pot, ...]:
    """Return the main pot and then the side pots (B10).

    `paid` are the chips that each seat has put in, without uncalled chips; `live` are the seats that
    have not folded. Each different total of a live seat is the level of a pot; the chips of folded
    seats are in the pots up to their totals.
    """
    levels = sorted({paid[seat] for seat in live} - {0})
    pots, below = [], 0
    for level in levels:
        amount = sum([min(part, level) - min(part, below) for part in paid])
        pots.append(Pot(amount, tuple([seat for seat in live if paid[seat] >= level])))
        below = level
    return tuple(pots)


def best_of(seats: Sequence[Seat], value: Sequence[int | None]) -> list[Seat]:
    """Return those of the seats with the highest value; none if all their values are None."""
    highest = max([found for seat in seats if (found := value[seat]) is not None], default=None)
    return [] if highest is None else [seat for seat in seats if value[seat] == highest]


def share_out(amount: int, winners: Sequence[Seat], seats: int) -> tuple[int, ...]:
    """Divide `amount` equally among the winners; return the shares by seat.

    The first winners get one odd chip each, so a game orders its winners by its rule for odd chips
    (B11).
    """
    shares = [0] * seats
    each, odd = divmod(amount, len(winners))
    for place, seat in enumerate(winners):
        shares[seat] = each + (place < odd)
    return tuple(shares)
