"""The viewer of a match, and the perspective of a viewer.

`arena.records.frames` makes a `Perspective` when a match is replayed or watched. It contains the views and
events that the rules made for the viewer. A scene is made from a perspective only, so it cannot show
anything else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

from arena.games.contract import Event, Options, Seat, View


class Viewer(StrEnum):
    """A viewer without a seat."""

    SPECTATOR = "spectator"
    ALL = "all"


AnyViewer: TypeAlias = Seat | Viewer
"""A viewer: one seat, a spectator, or all seats together."""

E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class Perspective:
    """What a viewer may know after one step of a match."""

    view: View
    """The view of the viewer's seat; without a seat that of a spectator."""
    seat_views: Mapping[Seat, View]
    """The views of seats that the viewer may see: one, all or none."""
    events: tuple[Event, ...]
    """The events of the hand so far that the viewer may see, oldest first."""
    latest_count: int
    """The number of `events`, from the end, that belong to the last step."""
    seats: int
    options: Options

    @property
    def latest_events(self) -> tuple[Event, ...]:
        return self.events[len(self.events) - self.latest_count :]

    def view_of(self, seat: int) -> Any:
        """Return the view of a seat, or None if the viewer may not see it."""
        return self.seat_views.get(Seat(seat))

    def events_of(self, kind: type[E]) -> list[E]:
        """Return the events of a class, oldest first."""
        return [event for event in self.events if isinstance(event, kind)]

    def last_event(self, kind: type[E], seat: int | None = None) -> E | None:
        """Return the latest event of a class, or None; of one seat if `seat` is given."""
        return latest(self.events, kind, seat)


def latest(
    events: Sequence[Event], kinds: type[E] | tuple[type[E], ...], seat: int | None = None
) -> E | None:
    """Return the latest event of these classes, or None; of one seat if `seat` is given."""
    for event in reversed(events):
        if isinstance(event, kinds) and seat in (None, getattr(event, "seat", None)):
            return event
    return None
