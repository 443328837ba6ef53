"""The states of a bot's version, and the table of allowed transitions.

The files of a version never change. Its history is a list of events, and its state is the last one.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from arena.errors import RefusalError


class VersionEvent(StrEnum):
    """An event of a version, and the state that it leads to."""

    SUBMITTED = "submitted"
    CHECKED = "checked"
    """Archive and manifest are valid, and it started."""
    QUALIFIED = "qualified"
    """It passed all robustness cases, and at least one game."""
    REJECTED = "rejected"
    ACTIVE = "active"
    """It is the version of its bot that plays. A bot has at most one."""
    INACTIVE = "inactive"
    RETIRED = "retired"
    """Its owner withdrew it for good."""
    BANNED = "banned"
    """An organiser withdrew it for good."""
    UNVERIFIED = "not verified"
    """A remote bot declared this version; its files are not known."""


_OUT: Final = frozenset({VersionEvent.RETIRED, VersionEvent.BANNED})
FOLLOWS: Final[Mapping[VersionEvent, frozenset[VersionEvent]]] = {
    VersionEvent.SUBMITTED: _OUT | {VersionEvent.CHECKED, VersionEvent.REJECTED},
    VersionEvent.CHECKED: _OUT | {VersionEvent.QUALIFIED, VersionEvent.REJECTED},
    VersionEvent.QUALIFIED: _OUT | {VersionEvent.ACTIVE},
    VersionEvent.REJECTED: _OUT,
    VersionEvent.ACTIVE: _OUT | {VersionEvent.INACTIVE},
    VersionEvent.INACTIVE: _OUT | {VersionEvent.ACTIVE},
    VersionEvent.RETIRED: frozenset({VersionEvent.BANNED}),
    VersionEvent.BANNED: frozenset(),
    VersionEvent.UNVERIFIED: _OUT | {VersionEvent.ACTIVE},
}
"""The events that may follow each state."""
BEGINNINGS: Final = frozenset({VersionEvent.SUBMITTED, VersionEvent.UNVERIFIED})
"""The first events of a version: of an uploaded bot, and of a remote bot."""


_REPORT: Final = "; `arena bots report` says how far it is"
_CURES: Final[Mapping[VersionEvent | None, str]] = {
    VersionEvent.SUBMITTED: _REPORT,
    VersionEvent.CHECKED: _REPORT,
    VersionEvent.REJECTED: "; `arena bots report` says why, and a corrected one is the next version",
    VersionEvent.RETIRED: "; submit its files again, as the next version",
}
"""The advice for each state in which a version cannot be activated."""


class NotNow(RefusalError, ValueError, reason="NOT_NOW"):
    """The event may not follow the version's state; the text lists those that may."""


def require_follows(state: VersionEvent | None, event: VersionEvent) -> None:
    """Require that `event` may follow `state`, which is None before the first event.

    Raises `NotNow` if it may not.
    """
    allowed = BEGINNINGS if state is None else FOLLOWS[state]
    if event in allowed:
        return
    may = ", ".join(sorted(allowed)) or "nothing"
    cure = _CURES.get(state, "") if event is VersionEvent.ACTIVE else ""
    raise NotNow(f"it is {state or 'new'} and cannot become {event}, only {may}{cure}")
