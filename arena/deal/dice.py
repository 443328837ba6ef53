"""Dice: the secret bytes from which a bot takes its random numbers.

They follow from the key of the deal-set, as the cards do, under a label of their own. Bots that have the same dice at
every table of a deal-set differ there by what they decide only, so that comparing them takes fewer deal-sets.
"""

from dataclasses import dataclass
from typing import Final

from arena.deal.streams import derived

DICE_BYTES: Final = 16
COMMON: Final = 0
"""The table that stands for all tables of a deal-set."""


@dataclass(frozen=True, slots=True)
class Dice:
    """The dice of a match."""

    table: int
    """The number of the table in the plan, from 1; `COMMON` if all tables of the deal-set have the same."""
    seats: tuple[bytes, ...]
    """By seat. Each is secret to the other seats until the deal-set is over."""


def dice_of(key: bytes, table: int, seats: int) -> Dice:
    """Return the dice of a table with so many seats, by the key of its deal-set."""
    at_table = (derived(key, b"dice", table, seat) for seat in range(seats))
    return Dice(table, tuple(each[:DICE_BYTES] for each in at_table))
