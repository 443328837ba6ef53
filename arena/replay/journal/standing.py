"""What the journals know of one match, read without writing anything or disturbing who writes.

A match has no replay while it is in play, while it waits to go on after a
crash, and while its deal-set is open. Who asks for it is told how it stands.
"""

import mmap
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from arena.replay.journal.match_log import SeatedAt
from arena.replay.journal.segments import alive, runs
from arena.replay.read import read_body
from arena.replay.records import JOURNAL_MAGIC, Damaged, read_records
from arena.wire.fields import tag_varint, varint
from cardarena.v1 import journal_pb2

_MATCH: Final = tag_varint(1)


class State(Enum):
    """How far a match has come."""

    IN_PLAY = "in play"
    SUSPENDED = "suspended"
    """Cut short: it goes on when the arena is back."""
    ENDED = "ended"


@dataclass(slots=True)
class Standing:
    """A match, as the journals have it."""

    opened: journal_pb2.Opened
    live: bool
    """A process is writing this journal."""
    decided: list[journal_pb2.Decided] = field(default_factory=list)
    closed: journal_pb2.Closed | None = None
    seated: tuple[SeatedAt, ...] = ()
    """Which process of which bot sits where, by seat; empty if that is not known."""
    leased: bool = False
    """Somebody waits for its result and starts it again."""
    written_unix_s: float = 0.0
    """When its journal was last written."""

    @property
    def state(self) -> State:
        """How far the match has come."""
        if self.closed is not None:
            return State.ENDED
        return State.IN_PLAY if self.live else State.SUSPENDED

    @property
    def names(self) -> tuple[str, ...]:
        """The bots by seat."""
        return tuple(entrant.name for entrant in self.opened.entrants)


def standing_of(journal_folder: Path, match_id: str) -> Standing | None:
    """How a match stands; None if no journal has it.

    Damaged parts of journals are passed over.

    Raises:
      OSError: if a journal cannot be read.
    """
    found: Standing | None = None
    for run in runs(journal_folder):
        try:
            standing = _in_run(run, match_id)
        except FileNotFoundError:
            continue  # an arena has just removed a journal that nobody needs any more
        if standing is None:
            continue
        if found is None or not _was_cut_short_again(found, standing):
            found = standing
    return found


def _was_cut_short_again(earlier: Standing, later: Standing) -> bool:
    """Whether a process was killed while it wrote a match down again: then it has less of it."""
    both_cut_short = State.SUSPENDED is later.state and earlier.closed is None
    return both_cut_short and len(later.decided) < len(earlier.decided)


def _in_run(segments: list[Path], match_id: str) -> Standing | None:
    """The match in the journal of one process, as it was last played there."""
    standing: Standing | None = None
    head = b""
    live = alive(segments[-1])
    for segment in segments:
        with segment.open("rb") as file:
            wanted = match_id.encode()
            if standing is None and not _holds(file.fileno(), wanted):
                continue
            try:
                for record in read_records(file, JOURNAL_MAGIC):
                    body = record.body
                    if wanted in body and (opened := _opened(body)) is not None:
                        if opened[1].match_id == match_id:
                            head = _MATCH + varint(opened[0])
                            standing = Standing(opened[1], live)
                    elif standing is not None and body.startswith(head):
                        _take(standing, read_body(record)[1])
            except Damaged:
                pass  # the torn end of a killed process, or a record that is just being written
        if standing is not None:
            standing.written_unix_s = segment.stat().st_mtime
    return standing


def _opened(body: bytes) -> tuple[int, journal_pb2.Opened] | None:
    record = journal_pb2.Record.FromString(body)
    return (record.match, record.opened) if record.HasField("opened") else None


def _take(standing: Standing, body: object) -> None:
    if isinstance(body, journal_pb2.Decided):
        standing.decided.append(body)
    elif isinstance(body, journal_pb2.Closed):
        standing.closed = body
    elif isinstance(body, journal_pb2.Seated):
        standing.seated = tuple(SeatedAt(each.bot, each.instance, each.match) for each in body.bots)
        standing.leased = body.leased


def _holds(fd: int, wanted: bytes) -> bool:
    """Whether a file has these bytes anywhere; most journals do not have the match."""
    try:
        with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as data:
            return data.find(wanted) >= 0
    except ValueError:  # an empty file
        return False
