"""The states of a competition, and the actions that are allowed in each."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from arena.errors import RefusalError


class State(StrEnum):
    """The state of a competition."""

    DRAFT = "draft"
    """Bots may enter; play has not begun."""
    RUNNING = "running"
    PAUSED = "paused"
    """Matches in play are finished; no new ones begin."""
    FINISHED = "finished"
    """Its last standings are official; those of a ladder are of its finals."""


class Action(StrEnum):
    """An action of an organiser."""

    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    FREEZE = "freeze"
    """Make official standings from the complete deal-sets, or begin the finals of a ladder; play continues."""
    FINISH = "finish"
    """End play, and make the last official standings, or begin the finals of a ladder."""


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
"""The state after each allowed action."""

MAKES_STANDINGS: Final = frozenset({Action.FREEZE, Action.FINISH})


class NotAllowed(RefusalError, ValueError, reason="NOT_ALLOWED"):
    """The action is not allowed in this state; the text names those that are."""


def after(state: State, action: Action) -> State:
    """Return the state after an action. Raises `NotAllowed` if it is not allowed in this state."""
    new = LEADS_TO.get((state, action))
    if new is None:
        may = ", ".join(str(action) for before, action in LEADS_TO if before is state)
        raise NotAllowed(f"it is {state} and cannot {action}, only {may}")
    return new
