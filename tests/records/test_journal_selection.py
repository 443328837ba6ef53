"""What stays of a journal when a restored arena forgets the matches that do not count."""

import pytest

from arena.records.journal.compaction import keep_matches
from arena.records.journal.segments import SEGMENT_SUFFIX
from arena.records.records import JOURNAL_MAGIC, framed, read_records
from cardarena.v1 import journal_pb2


def opened(match, match_id):
    record = journal_pb2.Record(match=match)
    record.opened.match_id = match_id
    return record


def ordered(match_id):
    record = journal_pb2.Record()
    record.ordered.match_id = match_id
    return record


def later(match):
    return journal_pb2.Record(match=match, decided=journal_pb2.Decided())


def of_no_match():
    return journal_pb2.Record(run=journal_pb2.Run())


# fmt: off
SEGMENTS = [
    # segments                                                    kept                              why
    ([[opened(1, "a"), later(1)]],                                [[opened(1, "a"), later(1)]],     "a match that counts"),
    ([[opened(2, "b"), later(2)]],                                [[]],                             "one that does not"),
    ([[ordered("b"), opened(2, "b"), opened(1, "a"), later(2), later(1)]],     [[opened(1, "a"), later(1)]],     "both in turns"),
    ([[opened(2, "b")], [later(2), opened(1, "a")]],              [[], [opened(1, "a")]],           "one over two segments"),
    ([[of_no_match(), opened(2, "b")]],                           [[of_no_match()]],                "records of no match"),
]
# fmt: on


@pytest.mark.parametrize(
    ("segments", "kept"), [row[:2] for row in SEGMENTS], ids=[row[-1] for row in SEGMENTS]
)
def test_a_restored_journal_has_the_matches_that_count(tmp_path, segments, kept):
    for number, records in enumerate(segments):
        body = b"".join(framed(each.SerializeToString()) for each in records)
        (tmp_path / f"{number:08}{SEGMENT_SUFFIX}").write_bytes(JOURNAL_MAGIC + body)
    keep_matches(tmp_path, {"a"})
    found = []
    for segment in sorted(tmp_path.glob(f"*{SEGMENT_SUFFIX}")):
        with segment.open("rb") as file:
            found.append(
                [
                    journal_pb2.Record.FromString(each.body)
                    for each in read_records(file, JOURNAL_MAGIC)
                ]
            )
    assert found == kept


# fmt: off
ENDS = [
    # the second of two records        damage                   reason
    (lambda record: record[:-1],       [],                      "a record that was being written"),
    (lambda record: record[:-1] + b"!", ["match its checksum"], "a byte that has changed"),
    (lambda record: bytes(64),         ["impossible length"],   "zeros"),
]
# fmt: on


@pytest.mark.parametrize(("end", "damage", "reason"), ENDS, ids=[row[-1] for row in ENDS])
def test_what_is_behind_damage_is_cut_off_and_named(end, damage, reason, tmp_path):
    segment = tmp_path / f"0{SEGMENT_SUFFIX}"
    first, second = (framed(opened(n, "a").SerializeToString()) for n in (1, 2))
    segment.write_bytes(JOURNAL_MAGIC + first + end(second))
    found = keep_matches(tmp_path, {"a"})
    assert segment.read_bytes() == JOURNAL_MAGIC + first
    assert [segment.name in each for each in found] == [True] * len(damage)
    for sentence, said in zip(found, damage, strict=True):
        assert said in sentence
