"""The words for what can go wrong at a match, the same wherever they are read."""

from collections.abc import Iterable
from typing import Final

from arena.referee.spec import AbortCause, Ending, FaultKind
from arena.replay.read import Replay

FAULT_WORDS: Final = {
    FaultKind.TIMEOUT: "did not answer in time",
    FaultKind.ILLEGAL: "made an illegal move",
    FaultKind.MALFORMED: "made no sense",
    FaultKind.GONE: "was gone",
}
"""What a bot did, to follow `it`."""
BEFORE_THE_DEAL: Final = "did wrong before the deal"
"""As above, of a bot that forfeited while the deals were agreed."""

_CAUSES: Final = {
    None: "the arena stopped it",
    AbortCause.ERROR: "an error of the arena's own stopped it",
    AbortCause.STOPPED: "the arena was stopped",
    AbortCause.DISK: "its result could not be written to the arena's disk",
    AbortCause.UNPLAYABLE: "it was begun by rules or options that the arena does not have any more",
    AbortCause.JOURNAL: "the arena's journal of it was damaged, so that moves may be missing",
}


def aborted_words(cause: AbortCause | None, incident: str) -> str:
    """Why a match was aborted, and that no bot is to blame, in two sentences."""
    where = f" (incident {incident} in the arena's log)" if incident else ""
    blame = "That is the arena's fault and no bot's; nothing of the match counts."
    return f"Aborted: {_CAUSES[cause]}{where}. {blame}"


def result_words(replay: Replay) -> str:
    """How a match ended, in a line.

    Raises:
      Damaged: if it is no known ending.
    """
    if replay.ending is Ending.ABORTED:
        return "aborted by the arena"
    scores = ", ".join(
        f"{name} {score:+d}" for name, score in zip(replay.names, replay.closed.scores, strict=True)
    )
    return f"result: {scores}" + (", with a forfeit" if replay.ending is Ending.FORFEIT else "")


def count(number: int, what: str) -> str:
    """A number of things: `1 fault`, `2 faults`."""
    return f"{number} {what}" + ("" if number == 1 else "s")


def seconds(microseconds: int) -> str:
    """A time to the millisecond."""
    return f"{microseconds / 1e6:.3f} s"


def listed(words: Iterable[str]) -> str:
    """Several things in a sentence: `a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
