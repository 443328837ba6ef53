"""Journals get smaller while they are written, and whatever is still needed is read as before."""

import os
import random
import shutil
import tracemalloc

import pytest

from arena import durable_files
from arena.records.journal import compaction, match_state
from arena.records.journal.compaction import Compactor
from arena.records.journal.deal_log import DealLog
from arena.records.journal.journal import Journal
from arena.records.journal.match_state import JournaledState, journaled_match
from arena.records.journal.recovery import recover
from arena.records.journal.segments import head_of
from arena.records.records import JOURNAL_MAGIC, Damaged, framed, read_records
from arena.referee.deal import seeded_key
from cardarena.v1 import journal_pb2
from tests.records.matches import Bot, play

NAMES = ("m1", "m2", "m3", "m4", "m5", "m6")


@pytest.fixture(scope="module")
def bodies(tmp_path_factory):
    """The records of some matches that were played to their ends, by id, with notes in them."""
    folder = tmp_path_factory.mktemp("played")
    with Journal(folder) as journal:
        return {
            name: play(
                journal, bots=[Bot(at, note="a note"), Bot(at + 1)], match_id=name
            ).log.bodies
            for at, name in enumerate(NAMES)
        }


class Life:
    """A process that writes matches, a record of one and then of another, into short segments."""

    def __init__(self, folder, bodies, *, seed=0, cut_short=(), earlier=0):
        self.folder, self.replays = folder / "journal", folder / "replays"
        self.replays.mkdir(parents=True)
        self.journal = Journal(self.folder)
        with DealLog(self.folder, public=folder / "commitments") as deals:
            deals.seeded(seeded_key("a seed"), "a seed")
        chance = random.Random(seed)
        left = {name: list(each) for name, each in bodies.items()}
        for name in cut_short:
            left[name] = left[name][: 2 + chance.randrange(len(left[name]) - 3)]
        begun = set()
        for at in range(10_000):
            if not left:
                break
            # Few at a time, so that matches end in segments that others begin in.
            name = chance.choice(list(left)[:3])
            number = journal_pb2.Record.FromString(left[name][0]).match
            if name not in begun:
                begun.add(name)
                self.append(ordered=journal_pb2.Ordered(match_id=name))
            body = left[name].pop(0)
            self.journal.append(body)
            if journal_pb2.Record.FromString(body).HasField("opened"):
                seats = [journal_pb2.SeatedBot(bot=f"bot {s}", match=number) for s in range(2)]
                self.append(match=number, seated=journal_pb2.Seated(bots=seats))
            if not left[name]:
                del left[name]
            if chance.random() < 0.3:
                bot = f"silent {chance.randrange(3)}"
                self.append(session=journal_pb2.SessionKept(bot=bot, epoch=at + earlier))
            if chance.random() < 0.08:
                self.roll()
        self.append(ordered=journal_pb2.Ordered(match_id="promised"))
        self.roll()

    def append(self, **body):
        self.journal.append(journal_pb2.Record(**body).SerializeToString())

    def roll(self):
        """The segment is full: go on in the next."""
        self.journal.flush()
        self.journal._roll()

    def published(self, *names):
        for name in names:
            (self.replays / f"{name}.replay").touch()

    def killed(self):
        os.close(self.journal._records._fd)

    @property
    def size(self):
        return sum(each.stat().st_size for each in self.journal.full_segments)


def found(life, folder):
    """What a later process finds, read in a copy of the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(life.folder.parent, folder)
    recovery = recover(folder / "journal", folder / "replays", is_secret=lambda _: True)
    assert recovery.damage == []
    return (
        {each.opened.match_id: (each.bodies, each.seated) for each in recovery.unfinished},
        {each.opened.match_id: (each.bodies, each.outcome) for each in recovery.ended},
        recovery.ordered,
        recovery.sessions,
    )


CASES = [
    pytest.param((), NAMES, id="all are over"),
    pytest.param(("m5", "m6"), NAMES[:4], id="the last are in play"),
    pytest.param(("m1",), NAMES[1:], id="an old one holds all segments"),
    pytest.param(("m2", "m5"), ("m1",), id="little is over"),
]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("cut_short", "over"), CASES)
def test_what_is_needed_is_found_as_before(cut_short, over, seed, bodies, tmp_path, monkeypatch):
    life = Life(tmp_path / "a", bodies, seed=seed, cut_short=cut_short)
    life.published(*over)
    needed = {*NAMES, "promised"} - set(over)
    before, size = found(life, tmp_path / "b"), life.size
    compactor = Compactor()
    freed = compactor.compact(life.journal.full_segments, needed)
    assert freed == size - life.size
    assert found(life, tmp_path / "c") == before
    assert before[2].keys() == {"promised"}
    assert before[0].keys() == set(cut_short)
    # Again and again, also by a process that knows nothing of what was done before.
    for each in (compactor, Compactor()):
        each.compact(life.journal.full_segments, needed)
        assert found(life, tmp_path / "c") == before
    life.journal.close()


def test_what_no_match_needs_is_gone(bodies, tmp_path):
    life = Life(tmp_path / "a", bodies)
    assert len(life.journal.full_segments) > 5
    size = life.size
    Compactor().compact(life.journal.full_segments, {"promised"})
    (left,) = life.journal.full_segments
    assert left.stat().st_size < size / 10
    with left.open("rb") as file:
        kinds = [
            journal_pb2.Record.FromString(each.body).WhichOneof("body")
            for each in read_records(file, JOURNAL_MAGIC)
        ]
    assert set(kinds) == {"run", "session", "ordered"}
    life.journal.close()


def most_bytes_of_compacting(folder, matches):
    """The most memory that it takes to compact a segment of so many matches, which are over."""
    with Journal(folder) as journal:
        for number in range(1, matches + 1):
            name = f"match-{number}"
            for body in (
                {"ordered": journal_pb2.Ordered(match_id=name)},
                {"match": number, "opened": journal_pb2.Opened(match_id=name)},
                {"match": number, "closed": journal_pb2.Closed()},
            ):
                journal.append(journal_pb2.Record(**body).SerializeToString())
        journal.flush()
        journal._roll()
        tracemalloc.start()
        try:
            assert Compactor().compact(journal.full_segments, ()) > 0
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


@pytest.mark.slow
def test_matches_that_are_over_take_next_to_no_memory(tmp_path):
    most_bytes_of_compacting(tmp_path / "first", 10)  # what is made once
    few = most_bytes_of_compacting(tmp_path / "few", 1_000)
    many = most_bytes_of_compacting(tmp_path / "many", 11_000)
    assert (many - few) / 10_000 < 4


def test_one_old_match_holds_no_more_than_its_own_records(bodies, tmp_path):
    life = Life(tmp_path / "a", bodies, cut_short=("m1",))
    own = sum(len(framed(each)) for each in bodies["m1"])
    assert life.size > 4 * own
    Compactor().compact(life.journal.full_segments, {"m1"})
    assert life.size < own + 1_000
    life.journal.close()


def test_nothing_is_rewritten_for_few_bytes(bodies, tmp_path):
    """Each time half or more of what is read goes: so all the work is bounded by what is written."""
    life = Life(tmp_path / "a", bodies)
    inodes = {each: each.stat().st_ino for each in life.journal.full_segments}
    assert Compactor().compact(life.journal.full_segments, set(NAMES) - {"m6"}) == 0
    assert {each: each.stat().st_ino for each in life.journal.full_segments} == inodes
    life.journal.close()


class Killed(Exception):
    """The process ends here."""


STEPS = ("write_whole", "unlink")


def test_a_kill_at_any_step_loses_nothing(bodies, tmp_path, monkeypatch):
    over = NAMES[:5]
    steps = 0
    for kill_at in range(100):
        shutil.rmtree(tmp_path / "a", ignore_errors=True)
        life = Life(tmp_path / "a", bodies, seed=2, cut_short=("m6",))
        life.published(*over)
        before = found(life, tmp_path / "b")
        left = [kill_at]

        def step(left=left):
            left[0] -= 1
            if left[0] < 0:
                raise Killed

        with monkeypatch.context() as patch:
            replace = durable_files.write_whole
            path_type = type(life.folder)
            unlink = path_type.unlink

            def write_whole(*args, replace=replace, step=step, **kwargs):
                step()
                replace(*args, **kwargs)
                step()

            def unlinked(path, unlink=unlink, step=step, **kwargs):
                step()
                unlink(path, **kwargs)

            patch.setattr(durable_files, "write_whole", write_whole)
            patch.setattr(path_type, "unlink", unlinked)
            # Two looks: between them a match ends and a segment fills.
            try:
                Compactor(step).compact(life.journal.full_segments, {"m6", "m4", "promised"})
                life.append(session=journal_pb2.SessionKept(bot="silent 0", epoch=1))
                life.roll()
                Compactor(step).compact(life.journal.full_segments, {"m6", "promised"})
                done = True
            except Killed:
                done = False
        assert found(life, tmp_path / "c") == before, kill_at
        life.journal.close()
        steps = kill_at
        if done:
            break
    assert steps > 8


def test_a_match_that_ends_after_its_first_records_are_gone_is_not_taken_for_damage(
    bodies, tmp_path
):
    """Its last records lie in the segment that is still written."""
    life = Life(tmp_path / "a", bodies | {"m1": bodies["m1"][:-3]})
    for body in bodies["m1"][-3:]:
        life.journal.append(body)
    life.journal.flush()
    life.published(*NAMES)
    Compactor().compact(life.journal.full_segments, {"promised"})
    (base,) = life.journal.full_segments
    assert head_of(base).over == [1]
    unfinished, ended, *_ = found(life, tmp_path / "c")
    assert (unfinished, ended) == ({}, {})
    # Once that segment is full as well, nothing has to be remembered of it.
    life.roll()
    for _ in range(2):
        Compactor().compact(life.journal.full_segments, {"promised"})
    assert not any(head_of(each).over for each in life.journal.full_segments)
    life.journal.close()


def test_a_damaged_segment_stays_as_it_is(bodies, tmp_path, caplog):
    life = Life(tmp_path / "a", bodies)
    middle = life.journal.full_segments[2]
    data = bytearray(middle.read_bytes())
    data[len(data) // 2] ^= 1
    middle.write_bytes(bytes(data))
    compactor = Compactor()
    for _ in range(2):
        compactor.compact(life.journal.full_segments, set())
    assert middle.read_bytes() == bytes(data)
    assert middle in life.journal.full_segments
    (line,) = [each for each in caplog.records if each.levelname == "ERROR"]
    assert line.why.startswith(middle.name)
    life.journal.close()


def test_an_earlier_journal_keeps_what_is_needed_and_no_sessions(bodies, tmp_path):
    life = Life(tmp_path / "a", bodies, cut_short=("m3",))
    life.published(*(name for name in NAMES if name != "m3"))
    life.killed()
    before = found(life, tmp_path / "b")
    segments = sorted(life.folder.glob("*.journal"))
    Compactor().compact(segments, {"m3"}, sessions=False)
    after = found(life, tmp_path / "c")
    assert after[0] == before[0]
    assert after[3].keys() == {("bot 0", 0), ("bot 1", 0)}, "those that the match names"


@pytest.mark.parametrize("at", [0, 1, 2, 7], ids=lambda at: f"after {at} looks into files")
@pytest.mark.parametrize("what", ["rolls", "compacts", "both"])
def test_a_reader_finds_a_match_in_play_during_compaction(what, at, bodies, tmp_path, monkeypatch):
    life = Life(tmp_path / "a", bodies, cut_short=("m6",), seed=1)
    expected = journaled_match(life.folder, "m6")
    left = [at]

    def changed_before(read):
        """The journal changes while it is read."""

        def then(segment):
            left[0] -= 1
            if left[0] == -1 and what != "rolls":
                Compactor().compact(life.journal.full_segments, {"m6"})
            if left[0] == -1 and what != "compacts":
                life.roll()
            return read(segment)

        return then

    for name in ("alive", "head_of"):
        monkeypatch.setattr(match_state, name, changed_before(getattr(match_state, name)))
    found = journaled_match(life.folder, "m6")
    assert left[0] < 0
    assert (found.state, found.decided) == (JournaledState.IN_PLAY, expected.decided)
    assert found.decided
    life.journal.close()


def test_rewritten_segments_are_private(bodies, tmp_path):
    umask = os.umask(0)
    try:
        life = Life(tmp_path / "a", bodies)
        Compactor().compact(life.journal.full_segments, {"promised"})
        (left,) = life.journal.full_segments
        assert left.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(umask)
    life.journal.close()


def test_a_large_base_is_not_written_again_with_each_segment(bodies, tmp_path, monkeypatch):
    life = Life(tmp_path / "a", bodies)
    largest = max(each.stat().st_size for each in life.journal.full_segments)
    monkeypatch.setattr(compaction, "MAX_KEPT_BYTES", largest)
    Compactor().compact(life.journal.full_segments, {"m1", "m4", "promised"})
    sizes = [each.stat().st_size for each in life.journal.full_segments]
    assert max(sizes) <= largest + 1_000
    life.journal.close()


def test_a_number_without_an_end_is_damage():
    with pytest.raises(Damaged):
        compaction._number_and_kind(b"\x08\xff\xff\xff")
