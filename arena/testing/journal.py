"""A journal in memory: a double for the record of all matches of one process."""

from collections.abc import Sequence
from pathlib import Path

import trio

from arena.referee import MatchSpec, UsedTime
from arena.replay.journal.match_log import MatchLog, Room, SeatedAt
from arena.replay.records import check_match_id
from cardarena.v1 import journal_pb2


class MemoryJournal:
    """Keeps its records: `arena.replay.journal.journal.Journal`, without folder or disk.

    It is also `arena.replay.journal.match_log.Appendable`, which is all that a
    `MatchLog` needs of a journal. What was added is flushed or not, as in a
    file: a process that is killed leaves `flushed` of `bodies`.
    """

    def __init__(self, *, matches: int = 0) -> None:
        """`matches` is the highest number of a match in the journals before this one."""
        self.bodies: list[bytes] = []
        """The records so far, encoded, in order."""
        self.flushed = 0
        """How many of them were written before something that follows from them was sent."""
        self._matches = matches

    @property
    def records(self) -> tuple[journal_pb2.Record, ...]:
        """The records so far, in order."""
        return tuple(map(journal_pb2.Record.FromString, self.bodies))

    def match(
        self, spec: MatchSpec, seated: Sequence[SeatedAt] = (), room: Room | None = None
    ) -> MatchLog:
        """The ledger of a match that begins.

        Raises:
          ValueError: if the match's id could not be part of a file's name.
        """
        check_match_id(spec.match_id)
        self._matches += 1
        return MatchLog(self, self._matches, seated, room=room)

    def match_again(
        self,
        bodies: Sequence[bytes],
        seated: Sequence[SeatedAt] = (),
        used: Sequence[UsedTime] = (),
        room: Room | None = None,
    ) -> MatchLog:
        """The ledger of a match that goes on: its records, of an earlier journal, come first."""
        number = journal_pb2.Record.FromString(bodies[0]).match
        log = MatchLog(self, number, seated, room=room)
        log.go_on(bodies, used)
        return log

    def append(self, body: bytes) -> None:
        """Add a record."""
        self.bodies.append(body)

    @property
    def full_segments(self) -> tuple[Path, ...]:
        """None: it has no files."""
        return ()

    @property
    def position(self) -> str:
        """Where the next record will stand."""
        return f"memory:{len(self.bodies)}"

    @property
    def written_bytes(self) -> int:
        """Bytes of the records that were flushed."""
        return sum(map(len, self.bodies[: self.flushed]))

    @property
    def unsynced_bytes(self) -> int:
        """None: what is flushed is as safe as it will be."""
        return 0

    def flush(self) -> None:
        """All records added so far survive the process."""
        self.flushed = len(self.bodies)

    async def synced(self) -> None:
        """All records added so far are safe, at once."""
        self.flush()
        await trio.lowlevel.checkpoint()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Do nothing until cancelled."""
        task_status.started()
        await trio.sleep_forever()
