"""Phrases about matches and faults that several outputs share."""

from collections.abc import Iterable
from typing import Final

from arena.errors import fault_reason
from arena.errors.faults import ABORTS, DEAL
from arena.records.read import Replay
from arena.referee.spec import AbortCause, Ending, FaultKind

PLAYED_FOR: Final = "the fallback is played for it"
BY_FALLBACK: Final = (
    "From there on the fallback of the rules played its seat, and it is placed behind all that "
    "stayed."
)
"""The meaning of a forfeit."""
ENDED_BY_LIMIT: Final = (
    "The match ended at its limit of hands, before its goal was reached: the scores so far count."
)
"""The meaning of `Result.ended_by_limit`."""


def deed(kind: FaultKind, reason: str = "", *, before_deal: bool = False) -> str:
    """Return what a bot did, with the fault's code, as the continuation of `it` or the bot's name.

    With a `reason`, which is for the bot's owner alone, its code and text are in it too.
    """
    row = DEAL if before_deal else kind.entry
    about = f"{reason_code(kind, reason)}: {reason}" if reason else row.code
    return f"{row.predicate} ({about})"


def because(kind: FaultKind, reason: str) -> str:
    """Return the reason of a fault with its code; empty if there is none."""
    return f"{reason} ({reason_code(kind, reason)})" if reason else ""


def reason_code(kind: FaultKind, reason: str) -> str:
    """Return the code of a fault's reason, or that of its kind if the reason is not known."""
    row = fault_reason(kind.name, reason)
    return kind.entry.code if row is None else row.code


def aborted(cause: AbortCause | None, incident: str) -> str:
    """Return why a match was aborted, and that no bot is at fault, in two sentences."""
    row = ABORTS[0] if cause is None else cause.entry
    where = f"incident {incident} in the arena's log" if incident else ""
    return f"Aborted: {row.message(where)}. No bot is at fault, and nothing of the match counts."


def result_line(replay: Replay) -> str:
    """Return how a match ended, in a line. Raises `Damaged` if the ending is unknown."""
    if replay.ending is Ending.ABORTED:
        return "aborted by the arena"
    scores = ", ".join(
        f"{name} {score:+d}" for name, score in zip(replay.names, replay.closed.scores, strict=True)
    )
    return f"result: {scores}" + (", with a forfeit" if replay.ending is Ending.FORFEIT else "")


def count(number: int, what: str) -> str:
    """Return a number of things: `1 fault`, `2 matches`, `1,200 hands`."""
    ending = "" if number == 1 else "es" if what.endswith("ch") else "s"
    return f"{number:,} {what}{ending}"


def seconds(microseconds: int) -> str:
    """Return a time to the millisecond."""
    return f"{microseconds / 1e6:.3f} s"


def listed(items: Iterable[str]) -> str:
    """Several things in a sentence: `a, b and c`."""
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last
