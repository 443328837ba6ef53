"""What a killed arena leaves in its journal: finished matches get their replays, none is lost."""

import os

import pytest

from arena.durable_files import Unwritten
from arena.games.contract import Seat
from arena.records.deal_book import seeded_opening
from arena.records.journal.journal import Journal
from arena.records.journal.kept_sessions import KeptSession
from arena.records.journal.recovery import recover
from arena.records.notes_file import notes_of
from arena.records.read import Replay, read_body, replay_path
from arena.records.records import JOURNAL_MAGIC, read_records
from arena.records.verify import verify
from arena.records.write import partial_path, write_replay
from arena.referee.ledger import UsedTime
from arena.referee.spec import Ending
from cardarena.v1 import journal_pb2
from tests.records.matches import Bot, cut, play, spec_of


@pytest.fixture
def folders(tmp_path):
    return tmp_path / "journal", tmp_path / "replays"


def bots():
    return [Bot(5, note="a note"), Bot(6)]


def segments(folder):
    return sorted(folder.glob("*.journal"))


def killed(folder, *matches, then=lambda journal: None):
    """Play matches, given as arguments of `play`, and end the process without a word."""
    journal = Journal(folder)
    played = [play(journal, bots=bots(), **each) for each in matches]
    then(journal)
    os.close(journal._records._fd)  # what the kernel does when it ends a process
    return played


def begun(journal, match_id="begun", records=9):
    """A match of which only the beginning is written."""
    whole = play(journal_of(journal, "aside"), bots=bots(), match_id=match_id)
    log = journal.match(spec_like(whole))
    for body in whole.log.bodies[:records]:
        journal.append(body.replace(b"\x08\x01", b"\x08" + bytes((journal._matches,)), 1))
    journal.flush()
    return log


def spec_like(played):
    return spec_of("abstrac", 2, {}, match_id=played.match_id, seeded=True, key=bytes(32))


def journal_of(journal, name):
    return Journal(journal.folder.parent / name)


def test_finished_matches_are_cut_as_they_would_have_been(folders, tmp_path):
    played = killed(folders[0], {"match_id": "one"}, {"match_id": "two", "seed": ""})
    found = recover(*folders)
    assert (found.unfinished, found.damage) == ([], [])
    assert [each.outcome for each in found.ended] == [each.outcome for each in played]
    for ended, match in zip(found.ended, played, strict=True):
        recovered = ended.path.read_bytes()
        assert recovered == cut(tmp_path / "live", match).read_bytes()
        assert ended.opened.match_id == match.match_id


def test_what_has_a_replay_is_left_alone(folders):
    killed(folders[0], {"match_id": "one"})
    first = recover(*folders)
    first.ended[0].path.write_bytes(b"kept")
    again = recover(*folders)
    assert again.ended == []
    assert first.ended[0].path.read_bytes() == b"kept"


def test_a_match_in_play_is_listed_with_its_records(folders):
    killed(folders[0], {"match_id": "one"}, then=begun)
    found = recover(*folders)
    assert [each.opened.match_id for each in found.ended] == ["one"]
    (unfinished,) = found.unfinished
    assert unfinished.opened.match_id == "begun"
    assert len(unfinished.bodies) == 9
    assert unfinished.opening == seeded_opening("a seed")


@pytest.mark.parametrize("cut_bytes", [1, 5, 9, 30])
def test_a_torn_tail_costs_only_what_was_torn(cut_bytes, folders):
    killed(folders[0], {"match_id": "one"}, {"match_id": "two"})
    (segment,) = segments(folders[0])
    segment.write_bytes(segment.read_bytes()[:-cut_bytes])
    found = recover(*folders)
    assert [each.opened.match_id for each in found.ended] == ["one"]
    assert [each.opened.match_id for each in found.unfinished] == ["two"]
    (damage,) = found.damage
    assert "cut off within the record" in damage
    assert segment.name in damage


def test_a_tail_of_zeros_is_a_torn_tail(folders):
    killed(folders[0], {"match_id": "one"})
    (segment,) = segments(folders[0])
    segment.write_bytes(segment.read_bytes() + bytes(4096))
    found = recover(*folders)
    assert [each.opened.match_id for each in found.ended] == ["one"]
    assert len(found.damage) == 1


def test_a_flipped_bit_harms_its_match_and_not_the_others(folders):
    first, *_ = killed(folders[0], {"match_id": "one"}, {"match_id": "two"})
    segment = segments(folders[0])[0]
    data = segment.read_bytes()
    at = data.index(first.log.bodies[5]) + 7
    segment.write_bytes(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :])
    found = recover(*folders)
    assert [each.opened.match_id for each in found.ended] == ["two"]
    (unfinished,) = found.unfinished
    assert (unfinished.opened.match_id, unfinished.damaged) == ("one", True)
    assert list(unfinished.bodies) == first.log.bodies[:5]
    assert "does not match its checksum" in found.damage[0]


def test_a_match_continues_in_the_next_segment(folders, monkeypatch):
    journal = Journal(folders[0])
    monkeypatch.setattr(journal, "append", appending_in_pieces(journal))
    played = play(journal, bots=bots())
    journal.close()
    assert len(segments(folders[0])) > 3
    found = recover(*folders)
    assert [each.outcome for each in found.ended] == [played.outcome]
    assert found.damage == []


def appending_in_pieces(journal):
    whole = journal.append

    def append(body):
        whole(body)
        journal.flush()
        if journal.written_bytes % 7 == 0:
            journal._roll()

    return append


def decides(segment):
    """Whether a segment has a decision, and not only what is no part of a match's chain."""
    with segment.open("rb") as file:
        bodies = [read_body(each)[1] for each in read_records(file, JOURNAL_MAGIC)]
    return any(isinstance(body, journal_pb2.Decided) for body in bodies)


def test_a_lost_segment_is_noticed_by_the_hash_chain(folders, monkeypatch):
    journal = Journal(folders[0])
    monkeypatch.setattr(journal, "append", appending_in_pieces(journal))
    play(journal, bots=bots())
    journal.close()
    next(each for each in segments(folders[0])[1:] if decides(each)).unlink()
    found = recover(*folders)
    assert found.ended == []
    assert "records are missing" in found.damage[0]


def test_a_lost_first_segment_is_noticed(folders, monkeypatch):
    journal = Journal(folders[0])
    monkeypatch.setattr(journal, "append", appending_in_pieces(journal))
    play(journal, bots=bots())
    journal.close()
    segments(folders[0])[0].unlink()
    found = recover(*folders)
    assert (found.ended, found.unfinished) == ([], [])
    assert "beginning of match number 1" in found.damage[0]


def test_a_journal_that_is_being_written_is_passed_over(folders):
    with Journal(folders[0]) as journal:
        play(journal, bots=bots())
        assert recover(*folders).ended == []
    assert len(recover(*folders).ended) == 1


def test_the_deals_of_a_held_deal_set_stay_closed(folders):
    killed(
        folders[0],
        {"match_id": "one", "deal_set": "open"},
        {"match_id": "two", "deal_set": "done"},
        {"match_id": "three"},
    )
    found = recover(*folders, is_secret=lambda deal_set: deal_set == "open")
    assert [each.path is None for each in found.ended] == [True, False, False]
    assert not replay_path(folders[1], "one").exists()
    assert [each.opened.match_id for each in recover(*folders).ended] == ["one"]


def test_an_aborted_match_of_a_deal_set_is_not_cut_because_it_is_played_again(folders):
    aborted = {"match_id": "one", "deal_set": "set", "options": {"hands": 40}, "stop_after_s": 3}
    killed(folders[0], aborted)
    (ended,) = recover(*folders).ended
    assert (ended.outcome.ending, ended.path) == (Ending.ABORTED, None)
    killed(folders[0], {"match_id": "one", "deal_set": "set"})
    (ended,) = recover(*folders).ended
    assert ended.outcome.ending is Ending.COMPLETED
    assert verify(Replay.open(ended.path))


def test_a_match_played_again_after_a_kill_is_not_unfinished(folders):
    killed(folders[0], then=lambda journal: begun(journal, "again"))
    killed(folders[0], {"match_id": "again", "seed": ""})
    found = recover(*folders)
    assert found.unfinished == []
    assert [each.opened.match_id for each in found.ended] == ["again"]


def test_a_match_whose_key_is_lost_is_named(folders):
    killed(folders[0], {"match_id": "one"})
    (folders[0] / "deals").unlink()
    found = recover(*folders)
    assert found.ended == []
    assert found.damage == ["match one: the key of its deals is missing"]


def test_a_replay_that_is_being_written_survives_a_recovery_during_play(folders, monkeypatch):
    """Others may look at the journals at any time: what is half written is its writer's alone."""
    killed(folders[0], {"match_id": "one"})
    (ended,) = recover(*folders, is_secret=lambda _: True).ended
    fsync, written = os.fsync, []

    def recover_meanwhile(fd):
        fsync(fd)
        recover(*folders, is_secret=lambda _: True)
        written.extend(path.suffix for path in folders[1].parent.glob("*/.*"))

    monkeypatch.setattr(os, "fsync", recover_meanwhile)
    path = write_replay(folders[1], "one", ended.bodies, ended.opening)
    assert written.count(".partial") == 4, "the notes and the replay, at the sync of each"
    assert notes_of(path, Replay.open(path), Seat(0))
    assert verify(Replay.open(path)).outcome == ended.outcome


def test_two_writes_of_one_replay_do_not_share_a_partial_file(folders):
    assert partial_path(folders[1], "one") != partial_path(folders[1], "one")


def test_nothing_is_recovered_where_nothing_was(folders):
    found = recover(*folders)
    assert (found.ended, found.unfinished, found.damage) == ([], [], [])


def test_the_journal_is_private(folders):
    killed(folders[0], {"match_id": "one"})
    assert folders[0].stat().st_mode & 0o077 == 0
    secret = [path for path in folders[0].iterdir() if path.name != "commitments"]
    assert [path.stat().st_mode & 0o077 for path in secret] == [0, 0]


def test_the_deals_key_is_not_in_the_journal(folders):
    (played,) = killed(folders[0], {"match_id": "one", "seed": ""})
    (segment,) = segments(folders[0])
    assert played.opening.key not in segment.read_bytes()


def test_a_full_disk_stops_play_with_a_message(folders, monkeypatch):
    told = []
    journal = Journal(folders[0], on_broken=told.append)
    play(journal, bots=bots())

    def full(fd, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    journal.append(b"a record")
    with pytest.raises(Unwritten, match="No space left on device"):
        journal.flush()
    monkeypatch.undo()
    with pytest.raises(Unwritten):  # a torn record must not be followed by another
        journal.append(b"a record")
    journal.close()
    assert len(told) == 1


def test_a_replay_that_cannot_be_written_leaves_nothing(folders, monkeypatch):
    (played,) = killed(folders[0], {"match_id": "one"})

    def full(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        cut(folders[1], played)
    assert list((folders[1] / "replays").iterdir()) == []


# fmt: off
IDS = [
    ("../escape", "a path"),
    (".hidden",   "a hidden file"),
    ("two words", "a space, which parts the words of deal-keys"),
    ("a\nb",      "a line end"),
    ("",          "nothing"),
    ("x" * 129,   "longer than any file system likes"),
]
# fmt: on


@pytest.mark.parametrize(("match_id", "why"), IDS, ids=[row[1] for row in IDS])
def test_an_id_that_cannot_name_a_file_is_refused(match_id, why, folders):
    with pytest.raises(ValueError, match="cannot be the id"):
        replay_path(folders[1], match_id)


def test_a_match_that_has_not_ended_is_not_cut(folders):
    (played,) = killed(folders[0], {"match_id": "one"})
    log = played.log
    with pytest.raises(ValueError, match="has not ended"):
        write_replay(folders[1], "one", log.bodies[:-1], played.opening)


# Matches that were promised, and what sessions had counted.


def promise(journal, match_id):
    ordered = journal_pb2.Ordered(match_id=match_id)
    journal.append(journal_pb2.Record(ordered=ordered).SerializeToString())
    journal.flush()


def keep(journal, epoch, matches, bot="ann"):
    kept = journal_pb2.SessionKept(bot=bot, epoch=epoch, matches=matches)
    journal.append(journal_pb2.Record(session=kept).SerializeToString())
    journal.flush()


def test_a_match_that_was_promised_is_found_until_it_has_begun(folders):
    killed(folders[0], then=lambda journal: [promise(journal, each) for each in ("one", "two")])
    assert list(recover(*folders).ordered) == ["one", "two"]
    killed(folders[0], then=lambda journal: promise(journal, "two"))
    assert list(recover(*folders).ordered) == ["two"], "the newest journal says what still holds"
    killed(folders[0], {"match_id": "two"})
    assert not recover(*folders).ordered


def test_a_process_that_was_killed_at_its_start_breaks_no_promise(folders):
    killed(folders[0], then=lambda journal: promise(journal, "one"))
    killed(folders[0])
    assert list(recover(*folders).ordered) == ["one"]


def test_sessions_go_on_counting_from_the_highest(folders):
    killed(folders[0], then=lambda journal: (keep(journal, 3, 7), keep(journal, 1, 0, "bob")))
    killed(folders[0], then=lambda journal: (keep(journal, 5, 7), keep(journal, 4, 8)))
    assert recover(*folders).sessions == {
        ("ann", 0): KeptSession(5, 8),
        ("bob", 0): KeptSession(1, 0),
    }


def test_matches_are_numbered_on_from_the_highest(folders):
    killed(folders[0], {"match_id": "one"}, {"match_id": "two"})
    found = recover(*folders)
    assert found.matches == 2
    with Journal(folders[0], matches=found.matches) as journal:
        play(journal, bots=bots(), match_id="three")
    assert recover(*folders).matches == 3


def test_a_continued_match_in_two_journals_is_found_once(folders):
    killed(folders[0], then=begun)
    (first,) = recover(*folders).unfinished
    killed(folders[0], then=lambda journal: journal.match_again(first.bodies[:4]))
    (torn,) = recover(*folders).unfinished
    assert torn.bodies == first.bodies, "killed while it was written down again"
    killed(folders[0], then=lambda journal: journal.match_again(first.bodies))
    (again,) = recover(*folders).unfinished
    assert again.bodies == first.bodies


def test_the_newer_attempt_at_a_match_counts(folders):
    killed(folders[0], then=begun)
    killed(folders[0], then=lambda journal: begun(journal, records=3))
    (found,) = recover(*folders).unfinished
    assert len(found.bodies) == 3


# Time that no decision tells.

ASKED, AWAY = UsedTime(0, 5, 2.5, 0.0), UsedTime(1, 4, 0.0, 7.25)


def goes_on(journal, bodies, *used):
    """A process goes on with a match, and is killed."""
    journal.match_again(bodies, (), used)
    journal.flush()


def test_the_last_that_is_known_of_each_seats_time_is_found(folders):
    killed(folders[0], then=begun)
    (first,) = recover(*folders).unfinished
    assert first.used == ()
    killed(
        folders[0],
        then=lambda journal: goes_on(
            journal, first.bodies, ASKED._replace(used_s=1.0), AWAY, ASKED
        ),
    )
    (found,) = recover(*folders).unfinished
    assert set(found.used) == {ASKED, AWAY}
    assert found.bodies == first.bodies, "it is no part of the match's records"


def test_a_process_that_wrote_down_no_more_of_a_match_forgets_no_time(folders):
    killed(folders[0], then=begun)
    (first,) = recover(*folders).unfinished
    killed(folders[0], then=lambda journal: goes_on(journal, first.bodies, ASKED))
    killed(folders[0], then=lambda journal: journal.match_again(first.bodies[:4]))
    (torn,) = recover(*folders).unfinished
    assert torn.used == (ASKED,), "killed while it was written down again"
    later = ASKED._replace(used_s=4.0)
    killed(folders[0], then=lambda journal: goes_on(journal, first.bodies, later))
    (found,) = recover(*folders).unfinished
    assert found.used == (later,)


def test_of_a_decision_that_was_settled_since_only_the_absence_is_left(folders):
    killed(folders[0], then=begun)
    (first,) = recover(*folders).unfinished
    last = journal_pb2.Record.FromString(first.bodies[-1]).decided
    used = UsedTime(last.seat, last.decision, 2.5, 7.25)

    def settles_it(journal):
        journal.match_again(first.bodies[:-1], (), (used,))._append(first.bodies[-1])
        journal.flush()

    killed(folders[0], then=settles_it)
    (found,) = recover(*folders).unfinished
    assert found.bodies == first.bodies
    assert found.used == (UsedTime(last.seat, 0, 0.0, 7.25),)


def test_the_time_of_a_missing_seat_is_ignored(folders):
    killed(folders[0], then=begun)
    (first,) = recover(*folders).unfinished
    killed(folders[0], then=lambda journal: goes_on(journal, first.bodies, ASKED._replace(seat=9)))
    assert recover(*folders).unfinished[0].used == ()


# Journals that are no longer needed.


def test_a_journal_is_spent_when_no_match_of_it_waits(folders):
    killed(folders[0], {"match_id": "one"}, then=begun)
    found = recover(*folders)
    assert found.spent(waiting=["begun"], unpublished=()) == []
    assert found.spent(waiting=["another"], unpublished=()) == segments(folders[0])


def test_a_journal_with_an_open_deal_set_is_not_removed(folders):
    killed(folders[0], {"match_id": "one", "deal_set": "set"})
    found = recover(*folders, is_secret=lambda name: True)
    assert found.spent((), unpublished=["one"]) == []
    assert found.spent((), unpublished=["another"]) == segments(folders[0])


def test_a_damaged_journal_is_not_removed(folders):
    killed(folders[0], {"match_id": "one"})
    (segment,) = segments(folders[0])
    segment.write_bytes(segment.read_bytes() + b"\x07")
    assert recover(*folders).spent((), ()) == []


def test_a_match_that_ended_later_keeps_no_older_journal(folders):
    killed(folders[0], then=begun)
    killed(folders[0], {"match_id": "begun"})
    assert recover(*folders).spent((), ()) == segments(folders[0])


def test_a_match_that_was_aborted_and_begun_again_is_not_over(folders):
    """Its tournament waits for the second attempt, whose moves bots have seen."""
    aborted = {"match_id": "one", "deal_set": "set", "options": {"hands": 40}, "stop_after_s": 3}
    killed(folders[0], aborted, then=lambda journal: begun(journal, "one"))
    found = recover(*folders)
    assert [each.opened.match_id for each in found.unfinished] == ["one"]
    assert found.spent(waiting=["one"], unpublished=()) == []
    killed(folders[0], {"match_id": "one", "deal_set": "set"})
    assert recover(*folders).unfinished == []


def test_an_aborted_attempt_ends_what_older_journals_hold_of_it(folders):
    aborted = {"match_id": "one", "deal_set": "set", "options": {"hands": 40}, "stop_after_s": 3}
    killed(folders[0], then=lambda journal: begun(journal, "one"))
    killed(folders[0], aborted)
    assert recover(*folders).unfinished == []
