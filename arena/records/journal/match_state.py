"""Reads the state of one match from journals, while other processes write them.

A match has no replay while it is in play, while it is suspended after a crash, and while its
deal-set is open.
"""

import mmap
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from arena.records.journal.attempts import replaces
from arena.records.journal.match_log import SeatedAt
from arena.records.journal.segments import alive, head_of, runs
from arena.records.read import read_body
from arena.records.records import JOURNAL_MAGIC, Damaged, read_records
from arena.referee.wire.fields import tag_varint, varint
from cardarena.v1 import journal_pb2

_MATCH: Final = tag_varint(1)
_TRIES: Final = 20
"""The number of attempts at reading if files are removed at the same time."""


class JournaledState(Enum):
    """The state of a match."""

    IN_PLAY = "in play"
    SUSPENDED = "suspended"
    """The match was suspended; it continues when the arena is started again."""
    ENDED = "ended"


@dataclass(slots=True)
class JournaledMatch:
    """A match in the journals."""

    opened: journal_pb2.Opened
    live: bool
    """Whether a process is writing this journal."""
    decided: list[journal_pb2.Decided] = field(default_factory=list)
    closed: journal_pb2.Closed | None = None
    seated: tuple[SeatedAt, ...] = ()
    """The process of each bot, by seat; empty if it is unknown."""
    worker: int = 0
    """The number of the worker that launched the bots; 0 is the arena itself."""
    ordered_again: bool = False
    """Whether it waits for a new order after a restart of the arena."""
    written_unix_s: float = 0.0
    """The time of the last write to its journal, in Unix seconds."""

    def take(self, body: object) -> None:
        if isinstance(body, journal_pb2.Decided):
            self.decided.append(body)
        elif isinstance(body, journal_pb2.Closed):
            self.closed = body
        elif isinstance(body, journal_pb2.Seated):
            self.seated = tuple(SeatedAt(bot.bot, bot.instance, bot.match) for bot in body.bots)
            self.worker = body.worker

    @property
    def state(self) -> JournaledState:
        if self.closed is not None:
            return JournaledState.ENDED
        return JournaledState.IN_PLAY if self.live else JournaledState.SUSPENDED

    @property
    def names(self) -> tuple[str, ...]:
        """The bots by seat."""
        return tuple(entrant.name for entrant in self.opened.entrants)


def journaled_match(journal_folder: Path, match_id: str) -> JournaledMatch | None:
    """Return the state of a match; None if no journal has it.

    Damaged parts of journals are skipped.

    Raises `OSError` if a journal cannot be read.
    """
    for tries_left in reversed(range(_TRIES)):
        try:
            before = _files(journal_folder)
            found = _found(journal_folder, match_id)
            if not tries_left or _files(journal_folder) == before:
                return found
        except FileNotFoundError:
            if not tries_left:
                raise
    raise AssertionError


def _files(folder: Path) -> list[tuple[str, int]]:
    """Return the files of all journals, to notice if an arena adds, rewrites or removes some."""
    return [(segment.name, segment.stat().st_ino) for run in runs(folder) for segment in run]


def _found(journal_folder: Path, match_id: str) -> JournaledMatch | None:
    found: JournaledMatch | None = None
    for run in runs(journal_folder):
        attempt = _in_run(run, match_id)
        if attempt is None:
            continue
        both_cut_short = (
            attempt.state is JournaledState.SUSPENDED and (found and found.closed) is None
        )
        if found is None or not both_cut_short or replaces(attempt.decided, found.decided):
            found = attempt
    return found


def _in_run(segments: list[Path], match_id: str) -> JournaledMatch | None:
    """Return the last attempt at the match in the journal of one process."""
    attempt: JournaledMatch | None = None
    head, ordered_again = b"", False
    live = alive(segments[-1])
    replaced = {name for segment in segments for name in head_of(segment).replaces}
    for segment in segments:
        if segment.name in replaced:
            continue
        with segment.open("rb") as file:
            wanted = match_id.encode()
            if attempt is None and not _holds(file.fileno(), wanted):
                continue
            try:
                for record in read_records(file, JOURNAL_MAGIC):
                    body = record.body
                    if wanted in body and (found := _named(body, match_id)) is not None:
                        if isinstance(found[1], journal_pb2.Ordered):
                            ordered_again = found[1].ordered_again
                        else:
                            head = _MATCH + varint(found[0])
                            attempt = JournaledMatch(found[1], live, ordered_again=ordered_again)
                    elif attempt is not None and body.startswith(head):
                        attempt.take(read_body(record)[1])
            except Damaged:
                pass  # the torn end of a killed process, or a record that is being written
        if attempt is not None:
            attempt.written_unix_s = segment.stat().st_mtime
    return attempt


def _named(
    body: bytes, match_id: str
) -> tuple[int, journal_pb2.Opened | journal_pb2.Ordered] | None:
    """Return the record that orders or opens the match, with the match's number; None if it does not."""
    record = journal_pb2.Record.FromString(body)
    if record.ordered.match_id == match_id:
        return record.match, record.ordered
    return (record.match, record.opened) if record.opened.match_id == match_id else None


def _holds(fd: int, wanted: bytes) -> bool:
    """Return whether a file contains these bytes; most journals do not have the match."""
    try:
        with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as data:
            return data.find(wanted) >= 0
    except ValueError:  # an empty file
        return False
