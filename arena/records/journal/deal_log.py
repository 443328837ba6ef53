"""Writes the two files of deals: secrets, and public commitments.

An entry of the public log is written after the secrets before it are on the disk, and the
caller shows it only after that (`synced`). So a crash at any moment leaves each commitment of
the public log with a secret that opens it.

Both files are an `AppendLog`. An entry waits until all older secrets are on the disk
(`_release`). If one file cannot be written, writing ends for both.
"""

import contextlib
import hashlib
import logging
import os
from collections import Counter, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Self

from arena import durable_files
from arena.durable_files import Unwritten
from arena.records import records
from arena.records.deal_book import (
    DEALS_MAGIC,
    DEALS_NAME,
    LOG_MAGIC,
    BookedDeal,
    CommitmentLog,
    DealBook,
    DealState,
    scan,
)
from arena.records.records import MAX_RECORD_BYTES, AppendLog, chained
from cardarena.v1 import deals_pb2, journal_pb2

STOPPED: Final = "the arena stopped before all had opened their commitments"
"""The reason why a deal-set is void after a crash."""
DAMAGED: Final = "what the arena had written of it was damaged"
"""The reason why a deal-set is void after damage that hides its state."""
LEFT_BYTES: Final = MAX_RECORD_BYTES
"""The number of bytes below which damage at the end of a file is left there: a reader finds the records after it."""

REMEMBERED_SEEDS: Final = 1_000
"""The number of keys of seeded deals that are remembered, so that they are not written twice."""

_log = logging.getLogger(__name__)


class DealLog:
    """The two files of deals. Only one process writes them.

    Opening them cuts off torn ends and completes the work of an earlier process: deal-sets that
    were not fixed become void, and missing openings are published. All of that is on disk then.

    Other damage is left in a file, and the records after it are read. Deal-sets whose packs are
    lost, or whose commitment is missing in the public log, become void by the arena's fault.

    A void attempt at a deal-set of several matches is opened only together with the deal-set: an
    opening names all participants, and they play the same boards again.

    Raises:
      Unwritten: from any method that writes, once the disk has failed; nothing is written
        afterwards, and play must stop.
    """

    def __init__(
        self, folder: Path, *, public: Path, on_broken: Callable[[str], None] = lambda _: None
    ) -> None:
        """Continue the secrets in `folder` and the log at `public`, or begin them.

        `on_broken` is called with the reason when writing has ended.
        """
        self.folder = folder
        self.book = DealBook()
        """The open deal-sets, and earlier attempts at them that bots made void."""
        self.counts: Counter[str] = Counter()
        """Written records by kind, for metrics."""
        self._on_broken = on_broken
        self._waiting: deque[tuple[int, bytes]] = deque()
        """Entries for the public log, each with the bytes of secrets that must be on the disk first."""
        log = _PublicLog()
        with contextlib.ExitStack() as unless_done:
            try:
                durable_files.private_folder(folder)
                secrets = durable_files.append_only(folder / DEALS_NAME)
                unless_done.callback(os.close, secrets)
                _lock(secrets, folder)
                entries = durable_files.append_only(public, 0o644)
                unless_done.callback(os.close, entries)
                self._doubtful: set[bytes] = set()
                """Contexts of deal-sets that may have later records among those that are lost."""
                damage = _continue(
                    folder / DEALS_NAME, secrets, DEALS_MAGIC, self.book.take, self._lost_secrets
                )
                damage += self.book.damage
                damage += _continue(public, entries, LOG_MAGIC, log.take, log.lost)
                damage += log.damage
                self.damage = damage
                """Problems of both files, in sentences."""
                self.head = log.head_by(self.book)
                """The head of the public log, with the waiting entries."""
                self._committed = log.unopened
                name = f"the deals in {folder}"
                self._secrets = AppendLog(secrets, name, on_broken=self._broke)
                self._public = AppendLog(entries, name, on_broken=self._broke)
                self._complete(log)
                self._secrets.sync_now()
                self._release()
                self._public.sync_now()
                durable_files.sync(folder)
                durable_files.sync(public.parent)
            except OSError as error:
                raise Unwritten(f"cannot keep deals in {folder}: {error.strerror}") from error
            unless_done.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def live(self) -> tuple[BookedDeal, ...]:
        """Deal-sets that are fixed and not opened."""
        return tuple(deal for deal in self.book.deals() if deal.state is DealState.FIXED)

    def drawn(
        self,
        context: bytes,
        fair_deal: journal_pb2.FairDeal,
        secret: bytes,
        plan: str,
        plan_salt: bytes,
    ) -> None:
        """Write the arena's secret, and commit to it in the public log.

        Do not send the commitment before `synced` has returned.

        Raises `ValueError` if the public log has another entry since `fair_deal.log_head` was read from `head`.
        """
        if fair_deal.log_head != self.head:
            raise ValueError("the public log has another entry since this deal-set was drawn")
        drawn = deals_pb2.DealDrawn(
            context=context, fair_deal=fair_deal, secret=secret, plan=plan, plan_salt=plan_salt
        )
        self._keep(deals_pb2.DealRecord(drawn=drawn))
        committed = deals_pb2.LogCommitted(
            context=context, server_commitment=fair_deal.server_commitment
        )
        self._publish(deals_pb2.LogEntry(committed=committed))
        self._committed.add(context)

    def fixed(
        self, context: bytes, commitments: Sequence[bytes], entropies: Sequence[bytes]
    ) -> BookedDeal:
        """Write the bots' commitments and entropy, in the order of the participants.

        Do not show a card before `synced` has returned.
        """
        fixed = deals_pb2.DealFixed(context=context, commitments=commitments, entropies=entropies)
        self._keep(deals_pb2.DealRecord(fixed=fixed))
        return self._deal(context)

    def voided(
        self,
        context: bytes,
        reason: str,
        commitments: Sequence[bytes] = (),
        entropies: Sequence[bytes] = (),
    ) -> tuple[BookedDeal, ...]:
        """End an attempt at a deal-set; return the deal-sets that this opens in the public log.

        If a bot is the reason, `commitments` and `entropies` show which one.
        """
        voided = deals_pb2.DealVoided(
            context=context, reason=reason, commitments=commitments, entropies=entropies
        )
        self._keep(deals_pb2.DealRecord(voided=voided))
        deal = self._deal(context)
        if not deal.shared:
            self._open(deal)
        if not (deal.defaulters or context in self._committed):
            self.book.forget(context)
        return () if deal.shared else (deal,)

    def opened(self, context: bytes) -> tuple[BookedDeal, ...]:
        """Open a played deal-set and the void attempts at it in the public log; return them."""
        record = deals_pb2.DealRecord(opened=deals_pb2.DealOpened(context=context))
        self._keep(record)
        deal = self._deal(context)
        self._open(deal)
        void = self.given_up(deal.fair_deal.deal_set)
        self.book.forget(context)
        return (*void, deal)

    def given_up(self, deal_set: str) -> tuple[BookedDeal, ...]:
        """Open the void attempts at a deal-set that is over; return those that were not open."""
        opened = []
        for deal in list(self.book.deals()):
            if deal.state is DealState.VOIDED and deal.fair_deal.deal_set == deal_set:
                if self._open(deal):
                    opened.append(deal)
                self.book.forget(deal.context)
        return tuple(opened)

    def seeded(self, key: bytes, seed: str) -> None:
        """Write a key that follows from a seed, once."""
        known = self.book.seeded
        if hashlib.sha256(key).digest() not in known:
            seeded = deals_pb2.DealSeeded(deal_key=key, seed=seed)
            self._keep(deals_pb2.DealRecord(seeded=seeded))
            if len(known) > REMEMBERED_SEEDS:
                del known[next(iter(known))]

    async def synced(self) -> None:
        """Wait until all records so far are on disk, in both files."""
        await self._secrets.synced()
        self._release()
        await self._public.synced()

    def close(self) -> None:
        """Write and sync all records, unless writing has ended, and close the files."""
        with contextlib.ExitStack() as files:
            # The lock on the secrets protects both files, so it is released last.
            files.callback(self._secrets.close)
            files.callback(self._public.close)
            if not self._secrets.broken:
                self._secrets.sync_now()
                self._release()

    def _deal(self, context: bytes) -> BookedDeal:
        deal = self.book.get(context)
        assert deal is not None
        return deal

    def _keep(self, record: deals_pb2.DealRecord) -> None:
        """Write a record to the file of secrets, so that it survives the process."""
        self._secrets.check()
        self.book.add(record)
        self._secrets.append(record.SerializeToString())
        self._secrets.flush()
        self.counts[record.WhichOneof("body") or ""] += 1

    def _publish(self, entry: deals_pb2.LogEntry) -> None:
        """Add an entry to the public log, to be written when all secrets so far are on the disk."""
        body = entry.SerializeToString()
        self.head = chained(self.head, body)
        self._waiting.append((self._secrets.written_bytes, body))

    def _release(self) -> None:
        """Write the entries to the public log whose secrets are on the disk.

        A commitment whose secret is lost could never be opened.
        """
        while self._waiting and self._waiting[0][0] <= self._secrets.synced_bytes:
            self._public.append(self._waiting[0][1])
            self._waiting.popleft()

    def _open(self, deal: BookedDeal) -> bool:
        """Publish the secrets of a deal-set; false if they were, or it was never committed to."""
        if deal.context not in self._committed:
            return False
        opened = deals_pb2.LogOpened(
            context=deal.context,
            secret=deal.secret,
            entropies=deal.shown_entropies,
            void_reason=deal.void_reason,
        )
        self._publish(deals_pb2.LogEntry(opened=opened))
        self._committed.remove(deal.context)
        return True

    def _lost_secrets(self) -> None:
        """Note that records of the file of secrets are missing here."""
        drawn = (deal for deal in self.book.deals() if deal.state is DealState.DRAWN)
        self._doubtful.update(deal.context for deal in drawn)

    def _complete(self, log: "_PublicLog") -> None:
        """Complete the deal-sets of an earlier process, and forget those that are over."""
        for deal in self.book.deals():
            self._finish(deal, log)
        for context in self._committed:
            if self.book.get(context) is None:
                self.damage.append(f"the secret of deal-set {context.hex()[:16]} is lost")
        for deal in self.book.deals():
            if deal.state is DealState.OPENED:
                self.given_up(deal.fair_deal.deal_set)
                self.book.forget(deal.context)
        for deal in self.book.deals():
            needed = deal.defaulters or deal.context in self._committed
            if deal.state is DealState.VOIDED and not needed:
                self.book.forget(deal.context)
        self.book.seeded.clear()

    def _finish(self, deal: BookedDeal, log: "_PublicLog") -> None:
        context = deal.context
        if deal.state is DealState.VOIDED and deal.shared:
            return  # it is opened with its deal-set
        if deal.state in (DealState.VOIDED, DealState.OPENED):
            self._open(deal)
        elif context in log.opened:
            # It is already public; only the record in the file of secrets is lost.
            reason = log.opened[context].void_reason
            if not reason and deal.state is DealState.FIXED:
                self._keep(deals_pb2.DealRecord(opened=deals_pb2.DealOpened(context=context)))
            else:
                self.voided(context, reason or DAMAGED)
        elif log.gaps and context not in log.committed:
            self._committed.add(context)
            self.voided(context, DAMAGED)
        # A deal-set that is not in the public log was never shown.
        elif deal.state is DealState.DRAWN or context not in self._committed:
            self.voided(context, DAMAGED if context in self._doubtful else STOPPED)

    def _broke(self, why: str) -> None:
        self._secrets.end(why)
        self._public.end(why)
        self._on_broken(why)


class _PublicLog(CommitmentLog):
    """The public log with the entries after damage, for its writer."""

    def __init__(self) -> None:
        super().__init__()
        self.gaps = 0
        """Places where entries are missing."""
        self._behind: list[bytes] = []
        """Entries after the last of them."""

    def take(self, body: bytes) -> None:
        super().take(body)
        if self.gaps:
            self._behind.append(body)

    def lost(self) -> None:
        """Note that entries are missing here."""
        self.gaps += 1
        self._behind.clear()

    def head_by(self, book: DealBook) -> bytes:
        """Return the head of the log; after damage it is computed from the file of secrets."""
        for at in range(len(self._behind) - 1, -1, -1):
            entry = deals_pb2.LogEntry.FromString(self._behind[at])
            deal = book.get(entry.committed.context)
            if entry.HasField("committed") and deal is not None:
                head = deal.fair_deal.log_head
                for body in self._behind[at:]:
                    head = chained(head, body)
                return head
        return self.head


def _continue(
    path: Path, fd: int, magic: bytes, take: Callable[[bytes], None], lost: Callable[[], None]
) -> list[str]:
    """Read a file and prepare its end for appending; return its damage, in sentences.

    A torn end, or damage at the end that is too long for a reader to skip, is moved to a file beside it.
    """
    read = scan(path, magic, take, lost=lost)
    sound, damage = read.sound, list(read.damage)
    size = path.stat().st_size
    if sound < size:
        with path.open("rb") as file:
            begins = file.read(len(magic))
            if not magic.startswith(begins):
                raise Unwritten(f"{path}: {damage[0].removeprefix(f'{path.name}: ')}")
            file.seek(sound)
            torn = file.read()
        if sound and not read.torn and len(torn) <= LEFT_BYTES:
            return damage
        kept = path.with_name(f"{path.name}.torn-{sound}")
        kept.touch(mode=0o600)
        kept.write_bytes(torn)
        os.ftruncate(fd, sound)
        damage.append(f"{path.name}: the last {len(torn)} bytes were moved to {kept.name}")
    if sound == 0:
        records.write_all(fd, magic)
    return damage


def _lock(fd: int, folder: Path) -> None:
    """Lock the file against a second writer. Without locks a warning is logged."""
    try:
        locked = durable_files.lock(fd)
    except OSError as error:
        fields = {"path": str(folder / DEALS_NAME), "why": error.strerror}
        _log.warning("the file of deals cannot be locked", extra=fields)
        return
    if not locked:
        raise Unwritten(f"another arena keeps its deals in {folder}")
