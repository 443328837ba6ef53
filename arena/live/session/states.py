"""The states of a session, which say whether its bot can be reached, and the events that change them.

| state     | stream | its clocks run | asks                        | matches seat it     |
|-----------|--------|----------------|-----------------------------|---------------------|
| AWAY      | none   | yes            | opened; `welcome` lists them| yes                 |
| EXPECTED  | none   | no             | wait for its return         | yes                 |
| CONNECTED | open   | yes            | sent                        | yes                 |
| LEAVING   | open   | yes            | none: the fallback plays    | played by fallback  |
| GONE      | none   | yes            | none: the fallback plays    | played by fallback  |

A session is EXPECTED after a restart of the arena only, until its bot reconnects or the arena
stops waiting for it. LEAVING and GONE are sessions of processes that have ended; while the stream
is still open the state is LEAVING.
"""

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final


class SessionState(Enum):
    """Whether the bot of a session can be reached."""

    AWAY = auto()
    EXPECTED = auto()
    CONNECTED = auto()
    LEAVING = auto()
    GONE = auto()


class SessionEvent(Enum):
    """An event that may change the state of a session."""

    ATTACHED = auto()
    """A stream has begun with a hello."""
    DETACHED = auto()
    """The newest stream has ended."""
    EXPECTED_BACK = auto()
    """The arena was restarted, and a match of the bot is resumed."""
    RELEASED = auto()
    """The arena stops waiting for bots that have not reconnected."""
    LEFT = auto()
    """The bot's process has ended, or no process is expected."""


_STATE, _EVENT = SessionState, SessionEvent

TRANSITIONS: Final[Mapping[tuple[SessionState, SessionEvent], SessionState]] = {
    (_STATE.AWAY, _EVENT.ATTACHED): _STATE.CONNECTED,
    (_STATE.AWAY, _EVENT.EXPECTED_BACK): _STATE.EXPECTED,
    (_STATE.AWAY, _EVENT.RELEASED): _STATE.AWAY,
    (_STATE.AWAY, _EVENT.LEFT): _STATE.GONE,
    (_STATE.EXPECTED, _EVENT.ATTACHED): _STATE.CONNECTED,
    (_STATE.EXPECTED, _EVENT.EXPECTED_BACK): _STATE.EXPECTED,
    (_STATE.EXPECTED, _EVENT.RELEASED): _STATE.AWAY,
    (_STATE.EXPECTED, _EVENT.LEFT): _STATE.GONE,
    (_STATE.CONNECTED, _EVENT.ATTACHED): _STATE.CONNECTED,
    (_STATE.CONNECTED, _EVENT.DETACHED): _STATE.AWAY,
    (_STATE.CONNECTED, _EVENT.EXPECTED_BACK): _STATE.CONNECTED,
    (_STATE.CONNECTED, _EVENT.RELEASED): _STATE.CONNECTED,
    (_STATE.CONNECTED, _EVENT.LEFT): _STATE.LEAVING,
    (_STATE.LEAVING, _EVENT.ATTACHED): _STATE.CONNECTED,
    (_STATE.LEAVING, _EVENT.DETACHED): _STATE.GONE,
    (_STATE.LEAVING, _EVENT.EXPECTED_BACK): _STATE.LEAVING,
    (_STATE.LEAVING, _EVENT.RELEASED): _STATE.LEAVING,
    (_STATE.LEAVING, _EVENT.LEFT): _STATE.LEAVING,
    (_STATE.GONE, _EVENT.ATTACHED): _STATE.CONNECTED,
    (_STATE.GONE, _EVENT.EXPECTED_BACK): _STATE.EXPECTED,
    (_STATE.GONE, _EVENT.RELEASED): _STATE.GONE,
    (_STATE.GONE, _EVENT.LEFT): _STATE.GONE,
}
"""The state that follows; only a session with a stream can be DETACHED."""
