"""The winners of a match."""

from collections.abc import Sequence


def winning_seats(places: Sequence[int]) -> tuple[int, ...]:
    """The seats with the first place: several if they share it, none if all seats do.

    An aborted match has no places and no winners.
    """
    first = tuple(seat for seat, place in enumerate(places) if place == 1)
    return first if len(first) < len(places) else ()
