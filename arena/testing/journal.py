"""A test double for the journal of a process, in memory."""

from collections.abc import Sequence
from pathlib import Path

import trio

from arena.records.journal.disk_budget import Grant
from arena.records.journal.match_log import MatchLog, SeatedAt
from arena.records.records import check_match_id
from arena.referee.ledger import UsedTime
from arena.referee.spec import MatchSpec
from cardarena.v1 import journal_pb2


class MemoryJournal:
    """Keeps records in memory: `arena.records.journal.journal.Journal` without a folder.

    It is also `arena.records.journal.match_log.Appendable`, the part that a `MatchLog` uses. A killed
    process would leave the first `flushed` of its `bodies`.
    """

    def __init__(self, *, matches: int = 0) -> None:
        """`matches` is the highest number of a match in earlier journals."""
        self.bodies: list[bytes] = []
        """The encoded records so far, in order."""
        self.flushed = 0
        """The number of flushed records."""
        self._matches = matches

    @property
    def records(self) -> tuple[journal_pb2.Record, ...]:
        return tuple(map(journal_pb2.Record.FromString, self.bodies))

    def match(
        self, spec: MatchSpec, seated: Sequence[SeatedAt] = (), room: Grant | None = None
    ) -> MatchLog:
        """Return the ledger of a new match. Raises `ValueError` if the match's id cannot be part of a file name."""
        check_match_id(spec.match_id)
        self._matches += 1
        return MatchLog(self, self._matches, seated, room=room)

    def match_again(
        self,
        bodies: Sequence[bytes],
        seated: Sequence[SeatedAt] = (),
        used: Sequence[UsedTime] = (),
        room: Grant | None = None,
    ) -> MatchLog:
        """Return the ledger of a restored match; `bodies` are its records in an earlier journal."""
        return MatchLog.continued(self, bodies, seated, used, room=room)

    def append(self, body: bytes) -> None:
        self.bodies.append(body)

    @property
    def full_segments(self) -> tuple[Path, ...]:
        """Return no segments, because there are no files."""
        return ()

    @property
    def position(self) -> str:
        return f"memory:{len(self.bodies)}"

    @property
    def written_bytes(self) -> int:
        return sum(map(len, self.bodies[: self.flushed]))

    @property
    def unsynced_bytes(self) -> int:
        """The unsynced bytes, which are 0 because flushed records are safe."""
        return 0

    def flush(self) -> None:
        """Make all records so far survive the process."""
        self.flushed = len(self.bodies)

    async def synced(self) -> None:
        """Make all records so far safe, at once."""
        self.flush()
        await trio.lowlevel.checkpoint()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Do nothing until cancelled."""
        task_status.started()
        await trio.sleep_forever()
