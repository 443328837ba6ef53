"""Who looks at a table, and what they may use.

An eye is built where a state or a feed is at hand (`arena.replay.beats`), and
holds views and events that were made for it by the rules. A scene is made of an
eye alone: what is not in it cannot be drawn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

from arena.games.contract import Event, Options, Seat, View


class Viewer(StrEnum):
    """Eyes that belong to no seat."""

    SPECTATOR = "spectator"
    ALL = "all"


Eyes: TypeAlias = Seat | Viewer
"""A seat's, the spectator's, or all seats' together."""

E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class Eye:
    """What one viewer may use at one moment of a hand."""

    view: View
    """The seat's own view; for those without a seat the spectator's."""
    own: Mapping[Seat, View]
    """The views of seats that it may use: its own, or all."""
    told: tuple[Event, ...]
    """What it was told of the hand so far, in order."""
    fresh: int
    """How many of `told`, from the end, are of the last step."""
    seats: int
    """Seats at the table."""
    options: Options
    """How the match is played, which everybody knows."""

    @property
    def news(self) -> tuple[Event, ...]:
        """What the last step told."""
        return self.told[len(self.told) - self.fresh :]

    def own_view(self, seat: int) -> Any:
        """The seat's own view, or None if this eye may not use it."""
        return self.own.get(Seat(seat))

    def all_told(self, kind: type[E]) -> list[E]:
        """The events of a class, in order."""
        return [each for each in self.told if isinstance(each, kind)]

    def last_told(self, kind: type[E]) -> E | None:
        """The latest event of a class, if there is one."""
        return next((each for each in reversed(self.told) if isinstance(each, kind)), None)


def last_by(seat: int, told: Sequence[Event], kinds: tuple[type, ...]) -> Event | None:
    """The latest event of these classes that is of this seat, if there is one."""
    for each in reversed(told):
        if isinstance(each, kinds) and getattr(each, "seat", None) == seat:
            return each
    return None
