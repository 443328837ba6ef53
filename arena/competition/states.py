"""The life of a competition: what may be done with it when. What is not in the table is refused."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class State(StrEnum):
    """Where a competition stands."""

    DRAFT = "draft"
    """Bots may enter; nothing is played yet."""
    RUNNING = "running"
    PAUSED = "paused"
    """What is in play ends; nothing new begins."""
    FINISHED = "finished"
    """Its last table is official."""


class Action(StrEnum):
    """What an organiser may do."""

    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    FREEZE = "freeze"
    """Make an official table of what is complete; play goes on."""
    FINISH = "finish"
    """Play no more, and make the last table."""


LEADS_TO: Final[Mapping[tuple[State, Action], State]] = {
    (State.DRAFT, Action.START): State.RUNNING,
    (State.RUNNING, Action.PAUSE): State.PAUSED,
    (State.PAUSED, Action.RESUME): State.RUNNING,
    (State.RUNNING, Action.FREEZE): State.RUNNING,
    (State.PAUSED, Action.FREEZE): State.PAUSED,
    (State.FINISHED, Action.FREEZE): State.FINISHED,
    (State.RUNNING, Action.FINISH): State.FINISHED,
    (State.PAUSED, Action.FINISH): State.FINISHED,
}
"""The state after each action, where it is allowed."""

MAKES_TABLE: Final = frozenset({Action.FREEZE, Action.FINISH})


class NotAllowed(ValueError):
    """The action may not be taken now; the text says what may."""


def after(state: State, action: Action) -> State:
    """The state after an action.

    Raises:
      NotAllowed: if it may not be taken in this state.
    """
    found = LEADS_TO.get((state, action))
    if found is None:
        may = ", ".join(str(each) for held, each in LEADS_TO if held is state)
        raise NotAllowed(f"a competition that is {state} cannot {action}; it can: {may}")
    return found
