"""A function that `close` of several games uses for the hands of a view."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from arena.cards import Card, without
from arena.games.contract import Seat, with_entry

V = TypeVar("V")


def spent(view: V, seat: Seat, gone: Sequence[Card], own: Seat | None) -> V:
    """Return the view after cards left the hand of a seat; `own` is the seat whose view it is.

    The view has the fields `held`, `hand_sizes` and `known`.
    """
    seen: Any = view
    left: V = replace(
        seen,
        held=without(seen.held, gone) if seat == own else seen.held,
        hand_sizes=with_entry(seen.hand_sizes, seat, seen.hand_sizes[seat] - len(gone)),
        known=with_entry(seen.known, seat, without(seen.known[seat], gone)),
    )
    return left
