"""The life of a bot's version: which event may follow which. What is not in the table is refused.

A version is never changed. What happens to it is a list of events, and its state is the last of them.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Event(StrEnum):
    """What happens to a version, and the state that it is in from then on."""

    SUBMITTED = "submitted"
    CHECKED = "checked"
    """Archive and manifest are in order, and it started."""
    QUALIFIED = "qualified"
    """It played every game that it declares without a fault."""
    REJECTED = "rejected"
    ACTIVE = "active"
    """It plays for its bot; one version of a bot does at a time."""
    INACTIVE = "inactive"
    RETIRED = "retired"
    """Its owner withdrew it for good."""
    BANNED = "banned"
    """An organiser did."""
    UNVERIFIED = "not verified"
    """A remote bot says that it is this version; nobody has seen its files."""


FOLLOWS: Final[Mapping[Event, frozenset[Event]]] = {
    Event.SUBMITTED: frozenset({Event.CHECKED, Event.REJECTED, Event.RETIRED, Event.BANNED}),
    Event.CHECKED: frozenset({Event.QUALIFIED, Event.REJECTED, Event.RETIRED, Event.BANNED}),
    Event.QUALIFIED: frozenset({Event.ACTIVE, Event.RETIRED, Event.BANNED}),
    Event.REJECTED: frozenset({Event.RETIRED, Event.BANNED}),
    Event.ACTIVE: frozenset({Event.INACTIVE, Event.RETIRED, Event.BANNED}),
    Event.INACTIVE: frozenset({Event.ACTIVE, Event.RETIRED, Event.BANNED}),
    Event.RETIRED: frozenset({Event.BANNED}),
    Event.BANNED: frozenset(),
    Event.UNVERIFIED: frozenset({Event.ACTIVE, Event.RETIRED, Event.BANNED}),
}
"""What may come after each."""
BEGINNINGS: Final = frozenset({Event.SUBMITTED, Event.UNVERIFIED})
"""What a version begins with: the first for those that were uploaded, the other for remote bots'."""


class NotNow(ValueError):
    """The event may not follow the version's state; the text says what may."""


def require_follows(state: Event | None, event: Event) -> None:
    """Require that `event` may come now; `state` is None before the first.

    Raises:
      NotNow: if it may not.
    """
    allowed = BEGINNINGS if state is None else FOLLOWS[state]
    if event in allowed:
        return
    may = ", ".join(sorted(allowed)) or "nothing"
    raise NotNow(
        f"a version that is {state or 'new'} does not become {event}; what may come: {may}"
    )
