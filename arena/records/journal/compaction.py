"""Compacts journals while the arena runs: it removes records that are not needed any more.

A full segment is never appended to. Several consecutive ones are rewritten as one file without
the records of matches that are over. It replaces the last of them in one step, and its first
record names the others, which are then removed. A kill or a power cut at any moment leaves
either the old files or the new one.

Some segments may still have records of a match after those in other segments were removed. The
new file also names such matches, and readers skip their records.

`keep_matches` removes matches from journals that no process writes.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from arena import durable_files
from arena.records.journal.kept_sessions import KeptSession, session_records
from arena.records.journal.segments import SEGMENT_SUFFIX, head_of
from arena.records.records import JOURNAL_MAGIC, CutOff, Damaged, framed, read_records
from arena.referee.wire.fields import tag_bytes, tag_varint
from cardarena.v1 import journal_pb2

_PAGE_BITS: Final = 12
_OF_PAGE: Final = (1 << _PAGE_BITS) - 1

MAX_KEPT_BYTES: Final = 32 << 20
"""The kept records of several segments are written into one file up to this size."""
SLICE_RECORDS: Final = 1_000
"""The number of records that are read between two pauses, in about a millisecond."""
SESSION_BYTES: Final = 32
"""The size of a session's record, approximately."""

_NUMBER: Final = tag_varint(1)[0]
_OPENED: Final = tag_bytes(2)[0]
_CLOSED: Final = tag_bytes(4)[0]
_SEATED: Final = tag_bytes(6)[0]
_SESSION: Final = tag_bytes(7)[0]
_ORDERED: Final = tag_bytes(9)[0]

_log = logging.getLogger(__name__)


class MatchNumbers:
    """A set of numbers that are mostly consecutive.

    A number takes one bit, where Python's set takes 60 to 90 bytes, which the process would not
    give back to the system after a compaction.
    """

    __slots__ = ("_pages",)

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        """Make the set of `numbers`, which are not negative."""
        self._pages: dict[int, bytearray] = {}
        self.update(numbers)

    def add(self, number: int) -> None:
        page = self._pages.get(number >> _PAGE_BITS)
        if page is None:
            page = self._pages[number >> _PAGE_BITS] = bytearray(1 << _PAGE_BITS >> 3)
        at = number & _OF_PAGE
        page[at >> 3] |= 1 << (at & 7)

    def update(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self.add(number)

    def __contains__(self, number: int) -> bool:
        page = self._pages.get(number >> _PAGE_BITS)
        at = number & _OF_PAGE
        return page is not None and bool(page[at >> 3] >> (at & 7) & 1)

    def __iter__(self) -> Iterator[int]:
        for first, page in sorted(self._pages.items()):
            for at, bits in enumerate(page):
                if bits:
                    here = (first << _PAGE_BITS) + (at << 3)
                    yield from (here + bit for bit in range(8) if bits >> bit & 1)


@dataclass(slots=True)
class _Content:
    """The content of a segment. An unneeded match takes one bit."""

    size: int
    head: journal_pb2.Run
    bytes_of: Counter[int] = field(default_factory=Counter)
    """The bytes of the needed matches, by number."""
    orders: Counter[str] = field(default_factory=Counter)
    """Bytes of orders by match id, of the matches that were needed."""
    sessions: dict[tuple[str, int], KeptSession] = field(default_factory=dict)
    """The counters of sessions, by the bot's name and instance."""
    ids: dict[int, str] = field(default_factory=dict)
    """The ids of the needed matches that begin here, by number."""
    over: MatchNumbers = field(default_factory=MatchNumbers)
    """Numbers of the matches that have records here and were not needed."""
    ends: MatchNumbers = field(default_factory=MatchNumbers)
    """Numbers of matches that end here."""

    def take(self, number: int, kind: int, body: bytes, needed: Collection[str]) -> None:
        size = len(framed(body))
        if kind == _CLOSED:
            self.ends.add(number)
        elif kind in (_OPENED, _SEATED, _SESSION, _ORDERED):
            record = journal_pb2.Record.FromString(body)
            if kind == _OPENED and record.opened.match_id in needed:
                self.ids[number] = record.opened.match_id
            elif kind == _OPENED:
                self.over.add(number)
            elif kind == _ORDERED and record.ordered.match_id in needed:
                self.orders[record.ordered.match_id] += size
            elif kind == _SESSION:
                each = record.session
                self.keep_session(each.bot, each.instance, each.epoch, each.matches)
            elif kind == _SEATED:
                for bot in record.seated.bots:
                    self.keep_session(bot.bot, bot.instance, 0, bot.match)
        if number and number not in self.over:
            self.bytes_of[number] += size

    def keep_session(self, bot: str, instance: int, epoch: int, matches: int) -> None:
        known = self.sessions.pop((bot, instance), KeptSession())
        self.sessions[bot, instance] = known.including(epoch, matches)  # the latest comes last

    def touches(self, number: int) -> bool:
        return number in self.bytes_of or number in self.over

    def stays(self, over: MatchNumbers, needed: Collection[str]) -> int:
        """Return the number of needed bytes, approximately."""
        matches = sum(size for number, size in self.bytes_of.items() if number not in over)
        orders = sum(size for name, size in self.orders.items() if name in needed)
        return matches + orders + SESSION_BYTES * len(self.sessions)


class Compactor:
    """Compacts the segments of one process repeatedly. Blocks; used on one thread at a time."""

    def __init__(self, pause: Callable[[], None] = lambda: None) -> None:
        """`pause` is called after each piece of work; it may sleep, or raise to stop."""
        self._pause = pause
        self._contents: dict[Path, _Content] = {}
        self._unusable: set[Path] = set()

    def compact(
        self, segments: Sequence[Path], needed: Collection[str], *, sessions: bool = True
    ) -> int:
        """Compact full segments, oldest first; return the bytes that were freed.

        Damaged segments and those of which half or more is needed are not changed.

        Args:
          segments: All of one process but the one that is being written.
          needed: The ids of the matches whose records are needed.
          sessions: Whether the counters of bots' sessions are kept.

        Raises `OSError` if a file cannot be read or written; no needed record is lost then.
        """
        replaced = {name for segment in segments for name in head_of(segment).replaces}
        freed = self._remove([segment for segment in segments if segment.name in replaced])
        segments = [segment for segment in segments if segment.name not in replaced]
        before, self._contents = self._contents, {}
        over = MatchNumbers()
        for segment in segments:
            content = self._content(segment, before.get(segment), needed, over)
            if content is not None:
                self._contents[segment] = content
                over.update(content.head.over)
                over.update(content.over)
                over.update(number for number, name in content.ids.items() if name not in needed)
        for group in list(self._groups(segments, over, needed)):
            freed += self._rewrite(group, over, needed, sessions=sessions)
        return freed

    def _content(
        self, segment: Path, known: _Content | None, needed: Collection[str], over: MatchNumbers
    ) -> _Content | None:
        """Return the content of a segment; None if it is damaged.

        Args:
          known: Its content at the last compaction.
          needed: The ids of the matches whose records are needed.
          over: Numbers of matches that earlier segments show to be over.
        """
        size = segment.stat().st_size
        if segment in self._unusable or (known is not None and known.size == size):
            return known
        content = _Content(size, head_of(segment))
        try:
            with segment.open("rb") as file:
                for number, kind, body in self._records(file):
                    if number in over:
                        content.over.add(number)
                    content.take(number, kind, body, needed)
        except Damaged as error:
            self._unusable.add(segment)
            why = f"{segment.name}: {error}"
            _log.error("a journal is damaged, and is not compacted", extra={"why": why})
            return None
        return content

    def _records(self, file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
        """Yield the match's number, the tag of the kind, and the body of each record after the first."""
        for at, record in enumerate(read_records(file, JOURNAL_MAGIC)):
            if at % SLICE_RECORDS == SLICE_RECORDS - 1:
                self._pause()
            if at:
                yield *_number_and_kind(record.body), record.body

    def _groups(
        self, segments: Sequence[Path], over: MatchNumbers, needed: Collection[str]
    ) -> Iterator[list[Path]]:
        group: list[Path] = []
        size = kept = 0
        for segment in (*segments, None):
            content = None if segment is None else self._contents.get(segment)
            stays = 0 if content is None else content.stays(over, needed)
            if group and (content is None or kept + stays > MAX_KEPT_BYTES):
                if 2 * kept < size:
                    yield group
                group, size, kept = [], 0, 0
            if segment is not None and content is not None:
                group.append(segment)
                size += content.size
                kept += stays

    def _rewrite(
        self, group: Sequence[Path], over: MatchNumbers, needed: Collection[str], *, sessions: bool
    ) -> int:
        """Rewrite a group without the records that are not needed; return the bytes that were freed."""
        target = group[-1]
        contents = [self._contents[segment] for segment in group]
        others = [content for path, content in self._contents.items() if path not in group]
        touched = MatchNumbers()
        for content in contents:
            touched.update(content.bytes_of)
            touched.update(content.over)
            touched.update(content.head.over)
        run = journal_pb2.Run(
            boot_id=contents[0].head.boot_id,
            replaces=[segment.name for segment in group[:-1]],
            # A match without an end in a full segment may have more records in the current one.
            over=(
                number
                for number in touched
                if number in over
                and (
                    not any(number in content.ends for content in self._contents.values())
                    or any(content.touches(number) for content in others)
                )
            ),
        )
        size = sum(content.size for content in contents)
        partial = target.with_name(f".{target.name}.partial")
        pieces = self._kept(group, run, over, needed, sessions=sessions)
        durable_files.write_whole(target, pieces, partial, 0o600)
        del self._contents[target]
        for segment in group[:-1]:
            self._remove([segment])
        return size - target.stat().st_size

    def _kept(
        self,
        group: Sequence[Path],
        run: journal_pb2.Run,
        over: MatchNumbers,
        needed: Collection[str],
        *,
        sessions: bool,
    ) -> Iterator[bytes]:
        yield JOURNAL_MAGIC + framed(journal_pb2.Record(run=run).SerializeToString())
        counted = _Content(0, run)
        for segment in group:
            for (bot, instance), kept in self._contents[segment].sessions.items():
                counted.keep_session(bot, instance, kept.epoch, kept.matches)
        if sessions:
            for record in session_records(counted.sessions):
                yield framed(record.SerializeToString())
        for segment in group:
            with segment.open("rb") as file:
                for number, kind, body in self._records(file):
                    if number == 0:
                        if kind != _ORDERED:
                            continue
                        record = journal_pb2.Record.FromString(body)
                        if record.ordered.match_id not in needed:
                            continue
                    elif number in over:
                        continue
                    yield framed(body)

    def _remove(self, segments: Sequence[Path]) -> int:
        size = 0
        for segment in segments:
            size += segment.stat().st_size
            segment.unlink()
            self._contents.pop(segment, None)
        return size


def _number_and_kind(body: bytes) -> tuple[int, int]:
    """Return the number of a record's match, 0 for none, and the tag of its body."""
    if body[0] != _NUMBER:
        return 0, body[0]
    number = shift = 0
    for at in range(1, len(body) - 1):
        number |= (body[at] & 0x7F) << shift
        if body[at] < 0x80:
            return number, body[at + 1]
        shift += 7
    raise Damaged("a record has no end of its match's number")


def keep_matches(folder: Path, wanted: Collection[str]) -> tuple[str, ...]:
    """Remove the records of all matches except those of these ids, and all records behind damage.

    Returns:
      A sentence for each damaged segment. An incomplete record at the end is no damage: it was
      being written.

    Raises `OSError` if a file cannot be read or written.
    """
    dropped: set[int] = set()  # numbers of matches, which are unique in a folder
    damage: list[str] = []
    for segment in sorted(folder.glob(f"*{SEGMENT_SUFFIX}")):
        partial = segment.with_name(f".{segment.name}.partial")
        durable_files.write_whole(segment, _kept(segment, wanted, dropped, damage), partial, 0o600)
    return tuple(damage)


def _kept(
    segment: Path, wanted: Collection[str], dropped: set[int], damage: list[str]
) -> Iterator[bytes]:
    yield JOURNAL_MAGIC
    with segment.open("rb") as file:
        try:
            for framed_record in read_records(file, JOURNAL_MAGIC):
                record = journal_pb2.Record.FromString(framed_record.body)
                match_id = record.opened.match_id or record.ordered.match_id
                if match_id and match_id not in wanted:
                    dropped.add(record.match)
                    continue
                if not record.match or record.match not in dropped:
                    yield framed(framed_record.body)
        except CutOff:
            pass
        except Damaged as why:
            damage.append(f"{segment.name} is damaged, and ends before it: {why}")
