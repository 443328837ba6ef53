"""The end of a match: its outcome, and its last record."""

import contextlib
import logging
from collections.abc import Sequence

from arena.durable_files import Unwritten
from arena.games.contract import Result
from arena.referee.ledger import Ledger
from arena.referee.seat import SeatRecord
from arena.referee.spec import AbortCause, Ending, Fault, Outcome, final_places

_log = logging.getLogger(__name__)


def completed(
    match_id: str,
    result: Result,
    records: Sequence[SeatRecord],
    faults: tuple[Fault, ...],
    decisions: int,
) -> Outcome:
    """Return the outcome of a match that was played to its end."""
    forfeited = [record.forfeited for record in records]
    return Outcome(
        match_id,
        Ending.FORFEIT if any(forfeited) else Ending.COMPLETED,
        result.scores,
        final_places(result, forfeited),
        result.hand_scores,
        faults,
        decisions,
        conduct=tuple(record.conduct for record in records),
        ended_by_limit=result.ended_by_limit,
    )


def aborted(
    match_id: str, cause: AbortCause, incident: str, faults: tuple[Fault, ...], decisions: int
) -> Outcome:
    """Return the outcome of a match that the arena has stopped."""
    return Outcome(match_id, Ending.ABORTED, (), (), (), faults, decisions, cause, incident)


def written(ledger: Ledger, outcome: Outcome, end_s: float) -> Outcome | None:
    """Write an outcome to the ledger; return the written one, or None if writing has ended."""
    try:
        ledger.closed(outcome, end_s)
    except Unwritten:
        return None
    except Exception:
        fields = {"match": outcome.match_id}
        _log.exception("a match could not be closed in the journal", extra=fields)
        outcome = outcome.voided()
        # The error is logged above; an abort may still be written.
        with contextlib.suppress(Exception):
            ledger.closed(outcome, end_s)
    return outcome
