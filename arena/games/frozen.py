"""Base class of immutable values that are quick to make: moves, events, views and their parts."""

from dataclasses import dataclass
from typing import Any, dataclass_transform


@dataclass_transform(frozen_default=True)
class _FrozenClass(type):
    """Makes every subclass of `Frozen` a dataclass with slots."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        made = super().__new__(cls, name, bases, namespace)
        if "__slots__" in namespace:  # `Frozen`, or the copy of a class with slots
            return made
        return dataclass(slots=True, unsafe_hash=True)(made)


class Frozen(metaclass=_FrozenClass):
    """A frozen dataclass with slots.

        class Played(Frozen):
            seat: Seat
            card: Card

    Values are compared and hashed by their fields. Type checkers report an assignment to a field. At run time nothing
    prevents it: `dataclass(frozen=True)` would call a function for each field of every view and event, which more than
    doubles the time of making one.
    """

    __slots__ = ()
