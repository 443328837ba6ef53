"""Records: their framing in journal segments, replays and notes files, and logs to which they are appended.

A file is a line of magic, then records: a little-endian u32 length, the
CRC-32 of the body as u32, and the body, one `cardarena.v1.Record`. The bodies
of a match form a hash chain, see `chained`.

Records of an `AppendLog` are collected in memory (`append`), written together (`flush`: then they survive the
process), and brought to the disk together (`synced`: then they survive a power cut). Callers
that wait for the disk at the same time share one sync. The owner of the log opens the file. The first write or
sync that fails ends all writing.
"""

import hashlib
import logging
import os
import re
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, NoReturn, TypeVar

from google.protobuf.message import DecodeError, Message

from arena import durable_files
from arena.durable_files import Unwritten

if TYPE_CHECKING:
    import trio

M = TypeVar("M", bound=Message)

JOURNAL_MAGIC: Final = b"cardarena journal 1\n"
REPLAY_MAGIC: Final = b"cardarena replay 1\n"
NOTES_MAGIC: Final = b"cardarena notes-file 1\n"
CHAIN_START: Final = bytes(32)
MAX_RECORD_BYTES: Final = 1 << 20
"""The longest record; a longer or an empty one is damage."""
MAX_REPLAY_BYTES: Final = 1 << 26
"""The largest replay; a thousand hands take a tenth of it."""
MAX_REPLAY_RECORDS: Final = 1 << 19
"""The largest number of records of a replay, as each takes some hundred bytes of memory."""

_log = logging.getLogger(__name__)

_HEADER: Final = struct.Struct("<II")
_MATCH_ID: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")


class Damaged(Exception):
    """A file is damaged. The text says where and how."""


class CutOff(Damaged):
    """A file ends within a record, for example because its writer was killed."""


def framed(body: bytes) -> bytes:
    """Return a record with its frame, as in a file."""
    return _HEADER.pack(len(body), zlib.crc32(body)) + body


def chained(chain: bytes, body: bytes) -> bytes:
    """Return the hash chain of a match after a record with this body."""
    return hashlib.sha256(chain + body).digest()


def read_strictly(kind: type[M], body: bytes) -> M:
    """Parse a message that has exactly the bytes that the arena would write.

    Protocol Buffers allow several encodings of a message: fields out of order or twice, numbers
    with padding, unknown fields. Hashed and signed messages must have one encoding.

    Raises `Damaged` if the bytes differ. The text continues a sentence about the record.
    """
    try:
        message = kind.FromString(body)
    except DecodeError:
        raise Damaged("cannot be read") from None
    message.DiscardUnknownFields()  # type: ignore[attr-defined]  # missing in its stubs
    if message.SerializeToString(deterministic=True) != body:
        raise Damaged(
            "is not encoded as the arena does it: it has padding, or a field that is unknown, "
            "repeated or out of order"
        )
    return message


@dataclass(frozen=True, slots=True)
class Framed:
    """The body of a record and its place in the file."""

    offset: int
    body: bytes


def read_records(file: BinaryIO, magic: bytes) -> Iterator[Framed]:
    """Yield the records of a file in order, from its first line on.

    Raises `Damaged` at the first damage: another kind of file, a newer format, a cut tail, an impossible
    length, or a body that does not match its checksum.
    """
    begins = file.read(len(magic))
    if begins != magic:
        raise Damaged(_why_not(magic, begins))
    yield from records_from(file, len(magic))


def records_from(file: BinaryIO, offset: int) -> Iterator[Framed]:
    """Yield the records of a file from its position, `offset`; raises as `read_records`."""
    while header := file.read(_HEADER.size):
        if len(header) < _HEADER.size:
            raise CutOff(f"cut off within the record header at byte {offset}")
        size, crc = _HEADER.unpack(header)
        # Some file systems leave zeros at the end after a power cut, which look like empty
        # records with the right checksum, 0.
        if not 0 < size <= MAX_RECORD_BYTES:
            raise Damaged(f"the record at byte {offset} has an impossible length of {size}")
        body = file.read(size)
        if len(body) < size:
            if zlib.crc32(body) == crc:  # the body is complete: the length was changed
                raise Damaged(f"the record at byte {offset} has another length than it says")
            raise CutOff(f"cut off within the record at byte {offset}")
        if zlib.crc32(body) != crc:
            raise Damaged(f"the record at byte {offset} does not match its checksum")
        yield Framed(offset, body)
        offset += _HEADER.size + size


class Damage(NamedTuple):
    """A place in a file of records where some are missing."""

    error: Damaged | DecodeError
    at: int
    """The end of the last sound record."""
    behind: int | None
    """The start of the next sound record; None if there is none, or it was not searched."""


def take_records(
    file: BinaryIO, magic: bytes, take: Callable[[Framed], None], *, search: bool = True
) -> Iterator[Damage]:
    """Call `take` with each sound record of a file, and yield each damage, after which reading continues.

    A record that `take` cannot use, for which it raises `Damaged` or `DecodeError`, is damage too. Without `search`
    reading ends at the first damage.
    """
    at: int | None = 0
    records = read_records(file, magic)
    while at is not None:
        # Nothing is yielded in the handler: compiled, it would raise the error again afterwards.
        error: Damaged | DecodeError | None = None
        try:
            for record in records:
                at = record.offset
                take(record)
                at = file.tell()
        except (Damaged, DecodeError) as caught:
            error = caught
        if error is None:
            return
        behind = next_record(file, at) if search else None
        yield Damage(error, at, behind)
        at = behind
        if at is not None:
            file.seek(at)
            records = records_from(file, at)


def next_record(file: BinaryIO, after: int) -> int | None:
    """Return the start of the first sound record after a damaged byte; None if there is none.

    Other bytes may look like a record by chance, once in four billion places. The search ends
    early in a file where it would take too long.
    """
    file.seek(after)
    data = memoryview(file.read(_SEARCHED_BYTES))
    work = 0
    for at in range(1, len(data) - _HEADER.size):
        size, crc = _HEADER.unpack_from(data, at)
        begin = at + _HEADER.size
        if not 0 < size <= MAX_RECORD_BYTES or begin + size > len(data):
            continue
        work += size
        if work > _SEARCHED_WORK:
            return None
        if zlib.crc32(data[begin : begin + size]) == crc:
            return after + at
    return None


_SEARCHED_BYTES: Final = 4 * MAX_RECORD_BYTES
"""The length of the search after damage: any record ends before."""
_SEARCHED_WORK: Final = 1 << 29
"""The maximal number of bytes of which the search computes checksums."""


def _why_not(magic: bytes, found: bytes) -> str:
    """Return why `found`, a file's first bytes, is not `magic`."""
    _, kind, version = magic.decode().split()
    stem = magic[: magic.rindex(b" ") + 1]
    if found.startswith(stem) and found[len(stem) :].strip().isdigit():
        theirs = found[len(stem) :].strip().decode()
        return f"this {kind} has format {theirs}; this arena reads format {version}"
    if found and magic.startswith(found):
        return f"this {kind} is cut off within its first line"
    return f"this is not a {kind} of the arena"


def check_match_id(match_id: str) -> None:
    """Require an id that can name a file.

    Raises `ValueError` if it is empty, over 128 characters, or has others than letters, digits, `.`, `_` and `-`.
    """
    if not _MATCH_ID.fullmatch(match_id):
        raise ValueError(f"{match_id!r} cannot be the id of a match")


def _write_all(fd: int, data: bytes) -> None:
    written = os.write(fd, data)
    while written < len(data):
        written += os.write(fd, data[written:])


write_all: Callable[[int, bytes], None] = _write_all
"""Writes all of the bytes, in one call if the system accepts them.

It is a variable, so that tests can replace it in compiled modules too.
"""


class AppendLog:
    """A log of records that this process alone writes.

    Raises:
      Unwritten: from any method that writes or waits for the disk, once the disk has failed.
        Nothing is written afterwards, and play must stop. A failed sync is never tried again:
        the kernel may have dropped the data and report success the next time.
    """

    def __init__(
        self,
        fd: int,
        name: str,
        *,
        on_broken: Callable[[str], None],
        on_write: Callable[[float], None] = lambda _: None,
        on_sync: Callable[[float], None] = lambda _: None,
        after_sync: Callable[[], None] = lambda: None,
    ) -> None:
        """Append to the open file `fd`, which this log closes.

        Args:
          name: The name of the log in the sentence that `on_broken` gets.
          on_broken: Called once with the reason when writing has ended.
          on_write: Called with the seconds of each write, on the path of every move.
          after_sync: Called after each sync that a caller waited for; it may `continue_in`
            another file.
        """
        self._fd = fd
        self._name = name
        self._on_broken = on_broken
        self._on_write = on_write
        self._on_sync = on_sync
        self._after_sync = after_sync
        self._buffer: list[bytes] = []
        self._broken = ""
        self._written = 0
        self._synced = 0
        self._syncing: trio.Event | None = None
        self._dirty: trio.Event | None = None
        self._file_begins = -os.fstat(fd).st_size
        """`written_bytes` at the first byte of the current file."""

    @property
    def broken(self) -> str:
        """Why writing has ended, in a sentence; empty while it has not."""
        return self._broken

    @property
    def written_bytes(self) -> int:
        return self._written

    @property
    def synced_bytes(self) -> int:
        """Of these, the bytes that are on the disk."""
        return self._synced

    @property
    def file_bytes(self) -> int:
        """Size of the current file with its head."""
        return self._written - self._file_begins

    def append(self, body: bytes) -> None:
        """Add a record, to be written by the next `flush`."""
        self.append_framed(framed(body))

    def append_framed(self, records: bytes) -> None:
        """Add records that have their frames, as `append`."""
        if self._broken:
            raise Unwritten(self._broken)
        self._buffer.append(records)

    def flush(self) -> None:
        """Write all records added so far, so that they survive the process."""
        if not self._buffer:
            return
        if self._broken:
            raise Unwritten(self._broken)
        data = b"".join(self._buffer)
        began_s = time.perf_counter()
        try:
            write_all(self._fd, data)
        except OSError as error:
            self._break(error)
        # The buffer is cleared only after the write: while it has unwritten records, every flush fails, and no message
        # that depends on them is sent.
        self._buffer.clear()
        self._on_write(time.perf_counter() - began_s)
        self._written += len(data)
        if self._dirty is not None:
            self._dirty.set()

    async def synced(self) -> None:
        """Wait until all records added so far are on disk."""
        self.check()
        self.flush()
        wanted = self._written
        while self._synced < wanted:
            self.check()
            if self._syncing is not None:
                await self._syncing.wait()
            else:
                await self._sync()

    async def keep_synced(
        self, interval_s: float, *, task_status: "trio.TaskStatus[None] | None" = None
    ) -> None:
        """Sync at most `interval_s` after each write, until cancelled."""
        import trio  # imported late, as readers of replays need no trio

        self._dirty = trio.Event()
        if task_status is not None:
            task_status.started()
        while not self._broken:
            await self._dirty.wait()
            self._dirty = trio.Event()
            await trio.sleep(interval_s)
            if self._synced < self._written and self._syncing is None:
                try:
                    await self._sync()
                except Unwritten:
                    return

    def sync_now(self) -> None:
        """Write and sync all records. Blocks."""
        self.check()
        self.flush()
        try:
            durable_files.sync_data(self._fd)
        except OSError as error:
            self._break(error)
        self._synced = self._written

    def continue_in(self, next_file: Callable[[], int]) -> None:
        """Sync this file, and continue in the one that `next_file` opens. Blocks."""
        try:
            durable_files.sync_data(self._fd)
            full, self._fd = self._fd, next_file()
            os.close(full)
        except OSError as error:
            self._break(error)
        self._synced = self._written
        self._file_begins = self._written - os.fstat(self._fd).st_size

    def check(self) -> None:
        """Raise `Unwritten` if writing has ended."""
        if self._broken:
            raise Unwritten(self._broken)

    def end(self, why: str) -> None:
        """End writing, because a related log has failed."""
        self._broken = self._broken or why

    def close(self) -> None:
        """Write and sync all records, unless writing has ended, and close the file."""
        try:
            if not self._broken:
                self.sync_now()
        finally:
            os.close(self._fd)

    async def _sync(self) -> None:
        import trio

        self._syncing = trio.Event()
        written = self._written
        try:
            began_s = time.perf_counter()
            await trio.to_thread.run_sync(durable_files.sync_data, self._fd)
            self._on_sync(time.perf_counter() - began_s)
            self._after_sync()
            # It is already higher if another file was begun.
            self._synced = max(self._synced, written)
        except OSError as error:
            self._break(error)
        finally:
            self._syncing.set()
            self._syncing = None

    def _break(self, error: OSError) -> NoReturn:
        if not self._broken:
            self._broken = f"{self._name} cannot be written: {error.strerror}"
            _log.error(self._broken)
            self._on_broken(self._broken)
        raise Unwritten(self._broken) from error
