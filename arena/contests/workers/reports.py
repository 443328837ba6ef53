"""Prepares reports of workers, in processes beside the event loop.

What workers on other machines report is verified: the packs are the arena's own, so states, faults and the result
follow from the moves and times. The records of a match get its number in the journal, and its replay is written to the
disk under a temporary name until the report counts.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from typing import Final

from google.protobuf.message import DecodeError

from arena import durable_files
from arena.contests.workers.messages import BadMessage
from arena.live.matches.recording import PlayedMatch, Recording, ReportedMatch
from arena.live.matches.results import match_outcome
from arena.live.orders import SCHEDULED, ordered_message
from arena.live.shared_transactions import SharedTransactions
from arena.process_pool import ProcessPool
from arena.records.bot_notes import without_notes
from arena.records.deal_book import Opening
from arena.records.journal.match_log import renumbered, reported
from arena.records.playback import Discrepancy
from arena.records.read import Replay, Unplayable
from arena.records.records import Damaged, Framed
from arena.records.verify import verify
from arena.records.write import stage_replay, with_revealed
from arena.results.deal_sets import MatchOutcome
from cardarena.v1 import journal_pb2

PROCESSES: Final = max(2, min((os.cpu_count() or 1) - 1, 16))
"""The maximal number of processes, which start when reports wait for them.

One core is left to the arena's process, which can occupy no more processes.
"""
MOST_TOGETHER: Final = 16
"""The maximal number of reports that a process prepares in one call."""
FEW: Final = 4
"""If fewer reports of local workers wait, the arena's process prepares them, so that no other process starts for them."""


@dataclass(frozen=True, slots=True)
class ReportedDealSet:
    """The matches that a worker has reported of a deal-set, as it was assigned."""

    played: Sequence[PlayedMatch]
    opening: Opening
    played_at: bytes
    """The machine, as `PlayedAt`, whose report is verified; empty for a local worker."""
    recording: Recording | None
    """None if it is not recorded."""


PrepareReport = Callable[[ReportedDealSet], Awaitable[Sequence[ReportedMatch]]]
"""Prepares a report for its record; a report of another machine is verified first.

Raises:
  BadMessage: if its records are false or incomplete.
"""


async def prepared_here(report: ReportedDealSet) -> Sequence[ReportedMatch]:
    """Return a `PrepareReport` in this process, which it blocks."""
    try:
        (prepared,) = prepare_all([report])
    except OSError:
        (prepared,) = prepare_all([unstaged(report)])
    return _true(prepared)


class ReportProcesses:
    """A `PrepareReport` in processes of lower priority, which start when they are first needed. Used in trio."""

    def __init__(self) -> None:
        self._pool = ProcessPool(PROCESSES)
        # Reports that wait use no threads, because the store and the journal need them.
        self._calls = SharedTransactions(self._prepare_all, at_once=PROCESSES, most=MOST_TOGETHER)

    async def __call__(self, report: ReportedDealSet) -> Sequence[ReportedMatch]:
        try:
            try:
                return _true(await self._calls.write(report))
            except OSError:
                return _true(await self._calls.write(unstaged(report)))
        except BrokenProcessPool:
            raise BadMessage("the process that verified it has died") from None

    def _prepare_all(
        self, reports: Sequence[ReportedDealSet]
    ) -> Sequence[Sequence[ReportedMatch] | str]:
        if len(reports) < FEW and not any(report.played_at for report in reports):
            return prepare_all(reports)
        return self._pool.submit(prepare_all, reports).result()

    def close(self) -> None:
        self._pool.close()


def prepare_all(reports: Sequence[ReportedDealSet]) -> Sequence[Sequence[ReportedMatch] | str]:
    """Prepare reports; return the matches of each, or the error because of which it does not count. Blocks.

    Raises `OSError` if replays cannot be written.
    """
    prepared: list[Sequence[ReportedMatch] | str] = []
    matches: list[ReportedMatch] = []
    try:
        for report in reports:
            reported_matches = _prepared(report)
            prepared.append(reported_matches)
            matches += [] if isinstance(reported_matches, str) else reported_matches
        durable_files.sync_all([file for match in matches for file in match.staged])
    except OSError:
        discard(matches)
        raise
    return prepared


def unstaged(report: ReportedDealSet) -> ReportedDealSet:
    """Return the report without its replays: the arena writes them when it publishes them, and logs its errors."""
    recording = report.recording and replace(report.recording, replays=None)
    return replace(report, recording=recording)


def discard(reported_matches: Sequence[ReportedMatch]) -> None:
    """Remove the files of a report that does not count."""
    for match in reported_matches:
        durable_files.discard(match.staged)


def _true(matches: Sequence[ReportedMatch] | str) -> Sequence[ReportedMatch]:
    if isinstance(matches, str):
        raise BadMessage(matches)
    return matches


def _prepared(report: ReportedDealSet) -> Sequence[ReportedMatch] | str:
    matches: list[ReportedMatch] = []
    try:
        if report.played_at:
            for match in report.played:
                if _outcome(match.records, report.opening) != match.outcome:
                    return f"{match.outcome.match_id} has another result by its records"
        if report.recording is None:
            return [ReportedMatch(match.outcome) for match in report.played]
        order = journal_pb2.OrderedDealSet.FromString(report.recording.order)
        for match, number in zip(report.played, report.recording.numbers, strict=True):
            matches.append(_reported(match, number, order, report, report.recording))
    except (Damaged, Discrepancy, Unplayable) as error:
        why = f"a replay is not true: {error}"
    except (ValueError, DecodeError) as error:
        why = f"no report: {error}"
    except OSError:
        discard(matches)
        raise
    except Exception as error:  # hostile records must not end the arena
        why = f"a replay cannot be verified: {type(error).__name__}"
    else:
        return matches
    discard(matches)
    return why


def _outcome(records: Sequence[bytes], opening: Opening) -> MatchOutcome:
    public, _ = without_notes(records)
    bodies = with_revealed(public, opening)
    return match_outcome(verify(Replay.of_records(Framed(0, body) for body in bodies)).outcome)


def _reported(
    match: PlayedMatch,
    number: int,
    order: journal_pb2.OrderedDealSet,
    report: ReportedDealSet,
    recording: Recording,
) -> ReportedMatch:
    records, match_id = match.records, match.outcome.match_id
    if report.played_at:
        first = journal_pb2.Record.FromString(records[0])
        first.opened.played_at.MergeFromString(report.played_at)
        records = (first.SerializeToString(), *records[1:])
    bodies = renumbered(records, number)
    ordered = ordered_message(order, match_id, SCHEDULED)
    journaled = reported(ordered, bodies, match.seated, recording.worker)
    folder, signer = recording.replays, recording.signer
    if folder is None:
        return ReportedMatch(match.outcome, journaled, records=bodies)
    staged = stage_replay(folder, match_id, bodies, report.opening, signer)
    return ReportedMatch(match.outcome, journaled, staged)
