"""Keeps the deals: secrets in one file, commitments for everybody in another.

What is shown of a deal-set must not be lost afterwards. So an entry of the public
log is written only when the secrets before it are on the disk, and the caller
shows it only after that (`synced`). A crash at any moment leaves each commitment
of the public log with a secret that opens it.

Both files are logs of their own (`arena.replay.journal.append_log`). This module
joins them: an entry waits until all secrets that are older than it are on the disk
(`_release`), and once one file cannot be written, neither is.
"""

import contextlib
import hashlib
import logging
import os
from collections import Counter, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from arena.referee import Unwritten
from arena.replay import disk
from arena.replay.deal_book import (
    DEALS_MAGIC,
    DEALS_NAME,
    LOG_MAGIC,
    BookedDeal,
    CommitmentLog,
    DealBook,
    DealState,
    scan,
)
from arena.replay.journal.append_log import AppendLog
from arena.replay.records import chained
from cardarena.v1 import deals_pb2, journal_pb2

STOPPED: Final = "the arena stopped before all had opened their commitments"
"""Why a deal-set is void that a crash interrupted."""

REMEMBERED_SEEDS: Final = 1_000
"""Keys of seeded deals that are not written again when they come again."""

_log = logging.getLogger(__name__)


class DealLog:
    """The two files of deals. One process alone writes them.

    Opening them cuts off torn ends and finishes what an earlier process left half
    done: deal-sets that were not fixed are void, and openings that the public log
    lacks are published. All of that is then on disk.

    Raises:
      Unwritten: from any method that writes, once the disk has refused; from
        then on nothing is written any more and play must stop.
    """

    def __init__(
        self,
        folder: Path,
        *,
        public: Path,
        on_broken: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Go on with the secrets in `folder` and the log at `public`, or begin them.

        `on_broken` is told why writing ended.
        """
        self.folder = folder
        self.book = DealBook()
        """The deal-sets that are not over, and earlier attempts at them that bots made void."""
        self.counts: Counter[str] = Counter()
        """Records that were written, by kind, for metrics."""
        self._on_broken = on_broken
        self._waiting: deque[tuple[int, bytes]] = deque()
        """Entries for the public log, each with the length of secrets that must be on the disk first."""
        log = CommitmentLog()
        with contextlib.ExitStack() as unless_done:
            try:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                secrets = disk.append_only(folder / DEALS_NAME)
                unless_done.callback(os.close, secrets)
                _hold(secrets, folder)
                entries = disk.append_only(public, 0o644)
                unless_done.callback(os.close, entries)
                damage = _go_on(folder / DEALS_NAME, secrets, DEALS_MAGIC, self.book.take)
                damage += self.book.damage
                damage += _go_on(public, entries, LOG_MAGIC, log.take)
                damage += log.damage
                self.damage = damage
                """What was found damaged, in sentences."""
                self.head = log.head
                """The head of the public log, with entries that are about to be written."""
                self._committed = log.unopened
                name = f"the deals in {folder}"
                self._secrets = AppendLog(secrets, name, on_broken=self._broke)
                self._public = AppendLog(entries, name, on_broken=self._broke)
                self._bring_to_an_end()
                self._secrets.sync_now()
                self._release()
                self._public.sync_now()
                disk.sync_folder(folder)
                disk.sync_folder(public.parent)
            except OSError as error:
                raise Unwritten(f"cannot keep deals in {folder}: {error.strerror}") from error
            unless_done.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def live(self) -> tuple[BookedDeal, ...]:
        """Deal-sets whose packs are fixed and not opened yet."""
        return tuple(each for each in self.book.deals() if each.state is DealState.FIXED)

    def drawn(
        self,
        context: bytes,
        fair_deal: journal_pb2.FairDeal,
        secret: bytes,
        plan: str,
        plan_salt: bytes,
    ) -> None:
        """Keep what the arena drew, and commit to it in the public log.

        Nobody may be told of the commitment before `synced` has returned.

        Raises:
          ValueError: if another commitment has got into the public log since
            `fair_deal.log_head` was read from `head`.
        """
        if fair_deal.log_head != self.head:
            raise ValueError("the public log has gone on since this deal-set was drawn")
        self._keep(
            deals_pb2.DealRecord(
                drawn=deals_pb2.DealDrawn(
                    context=context,
                    fair_deal=fair_deal,
                    secret=secret,
                    plan=plan,
                    plan_salt=plan_salt,
                )
            )
        )
        committed = deals_pb2.LogCommitted(
            context=context, server_commitment=fair_deal.server_commitment
        )
        self._publish(deals_pb2.LogEntry(committed=committed))
        self._committed.add(context)

    def fixed(
        self, context: bytes, commitments: Sequence[bytes], entropies: Sequence[bytes]
    ) -> BookedDeal:
        """Keep what the bots added, in the order of the participants.

        No card may be shown before `synced` has returned.
        """
        fixed = deals_pb2.DealFixed(context=context, commitments=commitments, entropies=entropies)
        self._keep(deals_pb2.DealRecord(fixed=fixed))
        deal = self.book.get(context)
        assert deal is not None
        return deal

    def voided(
        self,
        context: bytes,
        reason: str,
        commitments: Sequence[bytes] = (),
        entropies: Sequence[bytes] = (),
    ) -> BookedDeal:
        """End a deal-set without any match, and open it in the public log.

        If a bot is the reason, `commitments` and `entropies` show which one.
        """
        voided = deals_pb2.DealVoided(
            context=context, reason=reason, commitments=commitments, entropies=entropies
        )
        self._keep(deals_pb2.DealRecord(voided=voided))
        deal = self._open(context)
        if not deal.defaulters:
            self.book.forget(context)
        return deal

    def opened(self, context: bytes) -> BookedDeal:
        """Open a deal-set that was played, in the public log."""
        record = deals_pb2.DealRecord(opened=deals_pb2.DealOpened(context=context))
        self._keep(record)
        deal = self._open(context)
        for each in list(self.book.deals()):  # with the void attempts at it
            over = each.state in (DealState.OPENED, DealState.VOIDED)
            if over and each.fair_deal.deal_set == deal.fair_deal.deal_set:
                self.book.forget(each.context)
        return deal

    def seeded(self, key: bytes, seed: str) -> None:
        """Keep a key that follows from a seed, once."""
        known = self.book.seeded
        if hashlib.sha256(key).digest() not in known:
            seeded = deals_pb2.DealSeeded(deal_key=key, seed=seed)
            self._keep(deals_pb2.DealRecord(seeded=seeded))
            if len(known) > REMEMBERED_SEEDS:
                del known[next(iter(known))]

    async def synced(self) -> None:
        """Wait until all that was added so far is on disk, in both files."""
        await self._secrets.synced()
        self._release()
        await self._public.synced()

    def close(self) -> None:
        """Bring what is left to the disk, if it can be written, and close the files."""
        with contextlib.ExitStack() as files:
            # The lock on the secrets keeps a second writer out of both: it goes last.
            files.callback(self._secrets.close)
            files.callback(self._public.close)
            if not self._secrets.broken:
                self._secrets.sync_now()
                self._release()

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
        """Hand the entries to the public log whose secrets are on the disk by now.

        A commitment in the log whose secret is lost could never be opened.
        """
        while self._waiting and self._waiting[0][0] <= self._secrets.synced_bytes:
            self._public.append(self._waiting[0][1])
            self._waiting.popleft()

    def _open(self, context: bytes) -> BookedDeal:
        """Publish the secrets of a deal-set that is void or was played, if it was committed to."""
        deal = self.book.get(context)
        assert deal is not None
        if context in self._committed:
            opened = deals_pb2.LogOpened(
                context=context,
                secret=deal.secret,
                entropies=deal.shown_entropies,
                void_reason=deal.void_reason,
            )
            self._publish(deals_pb2.LogEntry(opened=opened))
            self._committed.remove(context)
        return deal

    def _bring_to_an_end(self) -> None:
        """Finish what an earlier process began, and forget what is over."""
        for deal in self.book.deals():
            if deal.state in (DealState.VOIDED, DealState.OPENED):
                self._open(deal.context)
            # What is not in the public log was never shown to anybody.
            elif deal.state is DealState.DRAWN or deal.context not in self._committed:
                self.voided(deal.context, STOPPED)
        for context in self._committed:
            if self.book.get(context) is None:
                self.damage.append(f"the secret of deal-set {context.hex()[:16]} is lost")
        deals = list(self.book.deals())
        played = {each.fair_deal.deal_set for each in deals if each.state is DealState.OPENED}
        for deal in deals:
            void = deal.state is DealState.VOIDED
            needed = deal.defaulters and deal.fair_deal.deal_set not in played
            if deal.state is DealState.OPENED or (void and not needed):
                self.book.forget(deal.context)
        self.book.seeded.clear()

    def _broke(self, why: str) -> None:
        """One of the files cannot be written: then neither is."""
        self._secrets.end(why)
        self._public.end(why)
        self._on_broken(why)


def _go_on(path: Path, fd: int, magic: bytes, take: Callable[[bytes], None]) -> list[str]:
    """Read a file and make it end where it is sound; what was cut off, in sentences.

    What is cut off is kept beside the file, for a person to look at.
    """
    sound, found = scan(path, magic, take)
    damage = list(found)
    size = path.stat().st_size
    if sound < size:
        with path.open("rb") as file:
            begins = file.read(len(magic))
            if not magic.startswith(begins):
                raise Unwritten(f"{path}: {damage[0].removeprefix(f'{path.name}: ')}")
            file.seek(sound)
            torn = file.read()
        kept = path.with_name(f"{path.name}.torn-{sound}")
        kept.touch(mode=0o600)
        kept.write_bytes(torn)
        os.ftruncate(fd, sound)
        damage.append(f"{path.name}: the last {len(torn)} bytes were moved to {kept.name}")
    if sound == 0:
        disk.write_all(fd, magic)
    return damage


def _hold(fd: int, folder: Path) -> None:
    """Keep a second writer out. Where files cannot be locked, only care keeps it out."""
    try:
        held = disk.lock(fd)
    except OSError as error:
        fields = {"path": str(folder / DEALS_NAME), "why": error.strerror}
        _log.warning("the file of deals cannot be locked", extra=fields)
        return
    if not held:
        raise Unwritten(f"another arena keeps its deals in {folder}")
