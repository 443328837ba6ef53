"""Removes matches from journals that no process writes."""

from collections.abc import Collection, Iterator
from pathlib import Path

from arena.replay import durable_files
from arena.replay.journal.segments import SEGMENT_SUFFIX
from arena.replay.records import JOURNAL_MAGIC, CutOff, Damaged, framed, read_records
from cardarena.v1 import journal_pb2


def keep_matches(folder: Path, wanted: Collection[str]) -> tuple[str, ...]:
    """Remove the records of all matches but those of these ids, and of segments what is behind damage.

    Returns:
      What is damaged, a sentence for each segment. A record that is cut off at the end is no damage: it
      was being written.

    Raises:
      OSError: if a file cannot be read or written.
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
            for each in read_records(file, JOURNAL_MAGIC):
                record = journal_pb2.Record.FromString(each.body)
                match_id = record.opened.match_id or record.ordered.match_id
                if match_id and match_id not in wanted:
                    dropped.add(record.match)
                    continue
                if not record.match or record.match not in dropped:
                    yield framed(each.body)
        except CutOff:
            pass
        except Damaged as why:
            damage.append(f"{segment.name} is damaged, and ends before it: {why}")
