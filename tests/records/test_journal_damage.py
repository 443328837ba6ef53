"""A journal that is damaged in the middle: what was told is never untold.

A match may go on only where all that was written of it is known. A torn record at the very end is
what a kill leaves, and nobody was told of it; any other damage met what had been told.
"""

import os
import shutil

import pytest

from arena.records.deal_book import DEALS_NAME
from arena.records.journal.journal import Journal
from arena.records.journal.kept_sessions import KeptSession
from arena.records.journal.recovery import recover
from arena.records.records import JOURNAL_MAGIC, framed, read_records
from cardarena.v1 import journal_pb2
from tests.records.matches import Bot, play

RECORDS = 10
"""Of the match in play, so many are written."""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The journal of a killed process: a match that had ended, one in play, and one that was ordered."""
    folder = tmp_path_factory.mktemp("written")
    with Journal(folder / "aside") as aside:
        ended = play(aside, bots=[Bot(1, note="a note"), Bot(2)], match_id="ended")
        played = play(aside, bots=[Bot(3), Bot(4)], match_id="in-play")
    journal = Journal(folder / "journal")
    shutil.copy(folder / "aside" / DEALS_NAME, folder / "journal")
    append(journal, session=journal_pb2.SessionKept(bot="bot 0", epoch=3, matches=2))
    append(journal, ordered=journal_pb2.Ordered(match_id="promised"))
    append(journal, ordered=journal_pb2.Ordered(match_id="scheduled", ordered_again=True))
    for body in (*ended.log.bodies[:20], *played.log.bodies[:5], *ended.log.bodies[20:]):
        journal.append(body)
    for body in played.log.bodies[5:RECORDS]:
        journal.append(body)
    journal.flush()
    os.close(journal._records._fd)
    (segment,) = (folder / "journal").glob("*.journal")
    return segment, played.log.bodies[:RECORDS]


def append(journal, **body):
    journal.append(journal_pb2.Record(**body).SerializeToString())


@pytest.fixture
def recovered(written, tmp_path):
    """What is found after the journal's bytes were changed."""
    segment, _ = written
    folder = tmp_path / "journal"
    folder.mkdir()
    shutil.copy(segment.with_name(DEALS_NAME), folder)

    def with_bytes(data, second=None):
        (folder / segment.name).write_bytes(data)
        if second is not None:
            (folder / segment.name.replace("-000001", "-000002")).write_bytes(second)
        return recover(folder, tmp_path / "replays", is_secret=lambda _: True)

    return with_bytes


def flipped(data, at, bit=0):
    return data[:at] + bytes((data[at] ^ 1 << bit,)) + data[at + 1 :]


def in_play(found):
    return next(each for each in found.unfinished if each.opened.match_id == "in-play")


def test_an_undamaged_journal_is_recovered_whole(written, recovered):
    segment, bodies = written
    found = recovered(segment.read_bytes())
    assert found.damage == []
    assert (list(in_play(found).bodies), in_play(found).damaged) == (bodies, False)
    assert [each.opened.match_id for each in found.ended] == ["ended"]
    assert set(found.ordered) == {"promised", "scheduled"}
    assert found.doubtful == {}


@pytest.mark.parametrize(
    "every", [7, pytest.param(1, marks=pytest.mark.slow)], ids=["some bytes", "all bytes"]
)
def test_no_flipped_bit_lets_a_match_go_on_from_an_earlier_point(every, written, recovered):
    segment, bodies = written
    data = segment.read_bytes()
    rewound, spared = [], 0
    for at in range(len(JOURNAL_MAGIC), len(data), every):
        for each in recovered(flipped(data, at, at % 8)).unfinished:
            if each.opened.match_id == "in-play" and not each.damaged:
                spared += list(each.bodies) == bodies
                rewound += [at] * (list(each.bodies) != bodies)
    assert rewound == []
    assert spared, "damage before it began does it no harm"


@pytest.mark.parametrize("bit", range(8))
def test_a_changed_length_of_the_last_record_is_not_a_torn_end(bit, written, recovered):
    segment, bodies = written
    data = segment.read_bytes()
    at = len(data) - len(framed(bodies[-1]))
    assert in_play(recovered(flipped(data, at, bit))).damaged


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_end_loses_only_unsent_records(cut, written, recovered):
    segment, bodies = written
    found = recovered(segment.read_bytes()[:-cut])
    unfinished = in_play(found)
    assert not unfinished.damaged
    assert list(unfinished.bodies) == bodies[: len(unfinished.bodies)]


def test_a_torn_end_of_an_earlier_segment_is_damage(written, recovered):
    segment, _ = written
    run = framed(journal_pb2.Record(run=journal_pb2.Run(boot_id="b")).SerializeToString())
    found = recovered(segment.read_bytes()[:-5], JOURNAL_MAGIC + run)
    assert in_play(found).damaged


def test_records_after_damage_are_read(written, recovered):
    """A match that had ended is as good as ever, if none of its records is lost."""
    segment, bodies = written
    data = segment.read_bytes()
    found = recovered(flipped(data, data.index(bodies[3]) + 5))
    assert [each.opened.match_id for each in found.ended] == ["ended"]
    assert in_play(found).damaged
    assert list(in_play(found).bodies) == bodies[:3]


def test_a_match_of_which_the_end_is_lost_is_not_gone(written, recovered):
    segment, _ = written
    data = segment.read_bytes()
    at = next(each for each in offsets(segment) if is_closed(each.body))
    found = recovered(flipped(data, at.offset + 20))
    assert found.ended == []
    damaged = {each.opened.match_id: each.damaged for each in found.unfinished}
    assert damaged == {"ended": True, "in-play": True}


def test_a_match_that_may_have_begun_where_the_damage_is_does_not_begin_again(written, recovered):
    segment, bodies = written
    data = segment.read_bytes()
    found = recovered(flipped(data, data.index(bodies[3]) + 5))
    assert set(found.doubtful) == {"promised"}
    assert set(found.ordered) == {"scheduled"}, "its schedule orders it again"


def test_no_stream_and_no_match_is_numbered_again(written, recovered):
    """Each lost record may have counted one further."""
    segment, bodies = written
    data = segment.read_bytes()
    found = recovered(flipped(data, data.index(bodies[3]) + 5))
    lost = len(framed(bodies[3])) // 12
    assert found.sessions["bot 0", 0] == KeptSession(3 + lost, 2 + lost)
    assert found.matches == 2 + lost


def test_a_whole_page_of_zeros_is_no_torn_end(written, recovered):
    segment, _ = written
    assert in_play(recovered(segment.read_bytes() + bytes(4096))).damaged


def offsets(segment):
    with segment.open("rb") as file:
        return list(read_records(file, JOURNAL_MAGIC))


def is_closed(body):
    return journal_pb2.Record.FromString(body).HasField("closed")
