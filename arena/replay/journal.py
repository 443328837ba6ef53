"""The journal: everything that happens in the matches of one process, as it happens.

Records are collected in memory and written with one `write` before anything
that follows from them is sent to a bot (`flush`); they reach the disk in
groups, at most 20 ms later (`run`), and at once where a result is to be shown
(`synced`). A killed process so loses nothing that a bot has seen, a power cut
at most 20 ms of moves and never a result.

The keys of deals stand in a file of their own, which is never served.
"""

import contextlib
import fcntl
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import trio

from arena.referee import FaultKind, MatchSpec, Outcome, Unwritten
from arena.replay.records import (
    CHAIN_START,
    JOURNAL_MAGIC,
    chained,
    check_match_id,
    framed,
    sync_folder,
)
from arena.wire.fields import delimited, tag_bytes, tag_varint, varint
from arena.wire.settings import settings_of_options
from cardarena.v1 import game_pb2, journal_pb2

SYNC_INTERVAL_S: Final = 0.02
"""Longest time that a move stays off the disk."""
SEGMENT_BYTES: Final = 64 << 20
"""A segment that has grown past this is followed by a new one."""

KEYS_NAME: Final = "deal-keys"
"""The file of keys: a line for each match, its id, the key and the seed, both in hex."""
SEGMENT_SUFFIX: Final = ".journal"
"""Segments of one run sort by name; `<run>-<number>.journal`."""

_log = logging.getLogger(__name__)

# Fields of Record and of Decided.
_MATCH: Final = tag_varint(1)
_DECIDED: Final = tag_bytes(3)
_SEAT: Final = tag_varint(1)
_DECISION: Final = tag_varint(2)
_MOVE: Final = tag_bytes(3)
_SENT_US: Final = tag_varint(4)
_CHARGED_US: Final = tag_varint(5)
_BANK_MS: Final = tag_varint(6)
_FAULT: Final = tag_varint(7)
_REASON: Final = tag_bytes(8)
_NOTE: Final = tag_bytes(9)
_UNASKED: Final = tag_varint(10) + b"\x01"
_FORFEITED: Final = tag_varint(11) + b"\x01"

# Flushes a file's content; not every system can leave its other data out.
_sync_data: Final[Callable[[int], None]] = getattr(os, "fdatasync", os.fsync)


class Journal:
    """The journal of one process, in a folder of its own (mode 0700).

    Raises:
      Unwritten: from any method that writes, once the disk has refused; from
        then on nothing is written any more and play must stop.
    """

    def __init__(self, folder: Path, *, on_broken: Callable[[str], None] = lambda _: None) -> None:
        """Start a new segment in `folder`. `on_broken` is told why writing ended."""
        self.folder = folder
        self._on_broken = on_broken
        self._buffer: list[bytes] = []
        self._broken = ""
        self._matches = 0
        self._written = 0
        self._synced = 0
        self._syncing: trio.Event | None = None
        self._dirty: trio.Event | None = None
        self._segment_left = SEGMENT_BYTES
        self._segments = 0
        self._keys_synced = True
        # Sorts by time; the process id keeps two processes apart.
        self._run = f"{time.time_ns():020d}-{os.getpid()}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._keys = _append_only(folder / KEYS_NAME)
            os.write(self._keys, b"\n")  # ends a line that a killed process left torn
            self._fd = self._new_segment()
        except OSError as error:
            raise Unwritten(f"cannot write a journal in {folder}: {error.strerror}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def match(self, spec: MatchSpec, key: bytes, seed: str = "") -> "MatchLog":
        """The ledger of one match. Keeps the key of its deals, apart from it.

        Raises:
          ValueError: if the match's id cannot be part of a file's name.
        """
        check_match_id(spec.match_id)
        line = f"{spec.match_id} {key.hex()} {seed.encode().hex()}\n"
        self._write(self._keys, line.encode())
        self._keys_synced = False
        self._matches += 1
        return MatchLog(self, self._matches, key, seed)

    def append(self, body: bytes) -> None:
        """Add a record, to be written by the next `flush`."""
        if self._broken:
            raise Unwritten(self._broken)
        self._buffer.append(framed(body))

    def flush(self) -> None:
        """Write all records added so far, so that they survive the process."""
        if not self._buffer:
            return
        data = b"".join(self._buffer)
        self._buffer.clear()
        self._write(self._fd, data)
        self._written += len(data)
        self._segment_left -= len(data)
        if self._dirty is not None:
            self._dirty.set()

    async def synced(self) -> None:
        """Wait until all records added so far are on disk."""
        self.flush()
        wanted = self._written
        while self._synced < wanted:
            if self._broken:
                raise Unwritten(self._broken)
            if self._syncing is not None:
                await self._syncing.wait()
            else:
                await self._sync()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep the disk at most 20 ms behind, until cancelled."""
        self._dirty = trio.Event()
        task_status.started()
        while not self._broken:
            await self._dirty.wait()
            self._dirty = trio.Event()
            await trio.sleep(SYNC_INTERVAL_S)
            if self._synced < self._written and self._syncing is None:
                try:
                    await self._sync()
                except Unwritten:
                    return

    def close(self) -> None:
        """Write what is left and close the files."""
        try:
            if not self._broken:
                self.flush()
                self._sync_files(self._fd)
        except OSError as error:
            self._break(error)
        finally:
            os.close(self._fd)
            os.close(self._keys)

    async def _sync(self) -> None:
        self._syncing = trio.Event()
        written = self._written
        try:
            await trio.to_thread.run_sync(self._sync_files, self._fd)
            if self._segment_left <= 0:
                self._roll()
            self._synced = max(self._synced, written)
        except OSError as error:
            # After a failed sync the kernel may have dropped the pages: no retry.
            self._break(error)
        finally:
            self._syncing.set()
            self._syncing = None

    def _sync_files(self, segment: int) -> None:
        # The keys first: a result on disk whose deals nobody can open is no replay.
        if not self._keys_synced:
            self._keys_synced = True
            _sync_data(self._keys)
        _sync_data(segment)

    def _roll(self) -> None:
        """Go on in a new segment; matches in progress simply continue there."""
        _sync_data(self._fd)
        full, self._fd = self._fd, self._new_segment()
        os.close(full)
        self._segment_left = SEGMENT_BYTES

    def _new_segment(self) -> int:
        self._segments += 1
        name = f"{self._run}-{self._segments:06d}{SEGMENT_SUFFIX}"
        fd = _append_only(self.folder / name)
        # Tells `recover` that this journal is alive. Where files cannot be locked,
        # as on some network disks, nobody may recover while an arena runs.
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(fd, JOURNAL_MAGIC)
        sync_folder(self.folder)
        return fd

    def _write(self, fd: int, data: bytes) -> None:
        if self._broken:
            raise Unwritten(self._broken)
        try:
            written = os.write(fd, data)
            while written < len(data):
                written += os.write(fd, data[written:])
        except OSError as error:
            self._break(error)

    def _break(self, error: OSError) -> None:
        self._broken = f"the journal in {self.folder} cannot be written: {error.strerror}"
        _log.error("%s", self._broken)
        self._on_broken(self._broken)
        raise Unwritten(self._broken) from error


class MatchLog:
    """The ledger of one match: `arena.referee.Ledger`. Keeps its records until it is cut."""

    def __init__(self, journal: Journal, number: int, key: bytes, seed: str) -> None:
        self.key = key
        self.seed = seed
        self._journal = journal
        self._number = number
        self._head = _MATCH + varint(number)
        self._chain = CHAIN_START
        self.bodies: list[bytes] = []
        """The records so far, as a replay will hold them."""

    def opened(self, spec: MatchSpec) -> None:
        """The match begins: everything that it is played by."""
        control = spec.time_control
        opened = journal_pb2.Opened(
            match_id=spec.match_id,
            game=spec.game.id,
            rules_version=spec.game.rules_version,
            options=settings_of_options(spec.game, spec.options),
            time_control=game_pb2.TimeControl(
                move_ms=control.move_ms,
                bank_ms=control.bank_ms,
                increment_ms=control.increment_ms,
                hand_ms=control.hand_ms,
                match_ms=control.match_ms,
            ),
            entrants=[
                journal_pb2.Entrant(name=entrant.name, version=entrant.version)
                for entrant in spec.entrants
            ],
            start_unix_ms=time.time_ns() // 1_000_000,
            seeded=spec.seeded,
            deal_key_sha256=spec.deal_key_sha256,
            deal_set=spec.deal_set,
            fault_limit=spec.fault_limit,
        )
        record = journal_pb2.Record(match=self._number, opened=opened)
        self._append(record.SerializeToString())

    def decided(
        self,
        seat: int,
        decision: int,
        game_move: bytes,
        sent_s: float,
        charged_s: float,
        bank_ms: int,
        fault: FaultKind | None,
        reason: str,
        note: str,
        *,
        unasked: bool,
        forfeited: bool,
    ) -> None:
        """A decision is settled. Written by hand: it is on the way of every move."""
        parts = [
            _SEAT + varint(seat) if seat else b"",
            _DECISION,
            varint(decision),
            _MOVE,
            varint(len(game_move)),
            game_move,
            _SENT_US,
            varint(int(sent_s * 1e6)),
            _CHARGED_US,
            varint(max(0, round(charged_s * 1e6))),
        ]
        if bank_ms:
            parts.append(_BANK_MS + varint(bank_ms))
        if fault is not None:
            parts.append(_FAULT + varint(fault) + delimited(_REASON, reason.encode()))
        if note:
            parts.append(delimited(_NOTE, note.encode()))
        if unasked:
            parts.append(_UNASKED)
        if forfeited:
            parts.append(_FORFEITED)
        decided = b"".join(parts)
        self._append(self._head + _DECIDED + varint(len(decided)) + decided)

    def closed(self, outcome: Outcome, end_s: float) -> None:
        """The match is over."""
        closed = journal_pb2.Closed(
            scores=outcome.scores,
            places=outcome.places,
            ending=outcome.ending.value,  # type: ignore[arg-type]
            end_us=int(end_s * 1e6),
            chain=self._chain,
        )
        record = journal_pb2.Record(match=self._number, closed=closed)
        self._append(record.SerializeToString())

    def _append(self, body: bytes) -> None:
        self._chain = chained(self._chain, body)
        self.bodies.append(body)
        self._journal.append(body)


def _append_only(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
