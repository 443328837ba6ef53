"""What a bot notes is for its owner: a replay has a salted hash of it, the text lies apart."""

import hashlib
import os
from types import SimpleNamespace

import pytest

from arena.games.contract import Seat
from arena.records.bot_notes import note_sha256, notes_path, without_notes
from arena.records.export import export_lines
from arena.records.journal.journal import Journal
from arena.records.journal.match_log import MatchLog
from arena.records.journal.recovery import recover
from arena.records.notes_file import NotesFile, notes_of, published_notes
from arena.records.playback import Discrepancy
from arena.records.read import Replay
from arena.records.records import NOTES_MAGIC, Damaged, framed
from arena.records.verify import verify, verify_file
from arena.records.write import write_replay
from arena.referee.ledger import Settled
from cardarena.v1 import journal_pb2
from tests.records.matches import ILLEGAL, PLAY, Bot, cut, play, record

OURS, THEIRS = "ours: I hold two jacks", "theirs: he bluffs"
SEATS = Seat(0), Seat(1)


def noting():
    return [Bot(0, (PLAY, ILLEGAL), note=OURS), Bot(1, note=THEIRS)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The replay of a match in which both bots note the same at each decision."""
    return record(tmp_path_factory.mktemp("notes"), "abstrac", noting(), {"hands": 2})


def notes_file(path, seat, match_id="m1"):
    return notes_path(path.parent.parent / "notes", match_id, seat)


def test_nothing_that_may_be_published_has_a_note(path):
    for text in (OURS, THEIRS):
        assert text.encode() not in path.read_bytes()
        assert not any(text in line for line in export_lines(Replay.open(path)))
    assert [each.name for each in path.parent.iterdir()] == ["m1.replay"]


def test_each_owner_s_notes_stand_in_a_file_of_its_own_for_nobody_else_to_read(path):
    replay = Replay.open(path)
    for seat, mine, foreign in ((Seat(0), OURS, THEIRS), (Seat(1), THEIRS, OURS)):
        data = notes_file(path, seat).read_bytes()
        assert (mine.encode() in data, foreign.encode() in data) == (True, False)
        made = [e.decision for e in replay.decided if e.seat == seat and e.note_sha256]
        assert notes_of(path, replay, seat) == dict.fromkeys(made, mine)
        assert notes_file(path, seat).stat().st_mode & 0o777 == 0o600
    assert path.parent.parent.joinpath("notes").stat().st_mode & 0o777 == 0o700


def shown(path):
    return published_notes(path, Replay.open(path))


def change(path, old, new):
    path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))


# fmt: off
PUBLISHING = [
    # publishing  spoil                                              seats   why
    ((),          None,                                              set(),  "no bot publishes its notes"),
    ((1,),        None,                                              {1},    "one of two does"),
    ((0, 1),      None,                                              {0, 1}, "both do"),
    ((0, 1),      lambda path: change(path, OURS, OURS.upper()),     {1},    "a damaged file shows nothing"),
    ((0, 1),      lambda path: path.unlink(),                        {1},    "a missing file shows nothing"),
    ((1,),        lambda path: path.write_bytes(b""),                {1},    "a file of a bot that does not is not read"),
]
# fmt: on


@pytest.mark.parametrize(
    ("publishing", "spoil", "seats", "why"), PUBLISHING, ids=[row[-1] for row in PUBLISHING]
)
def test_notes_are_published_where_the_bot_says_so(tmp_path, publishing, spoil, seats, why):
    path = record(tmp_path, "abstrac", noting(), {"hands": 2}, publishing=publishing)
    beside = {f"m1.{seat}.notes" for seat in publishing}
    assert {each.name for each in path.parent.iterdir()} == {"m1.replay", *beside}
    if spoil:
        spoil(path.with_name("m1.0.notes"))
    notes = shown(path)
    assert {seat for seat, _ in notes} == seats
    assert {text for (seat, _), text in notes.items() if seat == 1} <= {THEIRS}


OF_SDK = [
    "error: KeyError: 'jack'",
    "queue: decision 3: 4.2 s",
    "times: 4 asks waited 0.100 s in the own queue; 4 took 0.200 s on the network",
]


@pytest.mark.parametrize("note", OF_SDK, ids=["an error", "a wait", "times"])
def test_what_an_sdk_notes_of_errors_and_waits_is_for_the_owner(tmp_path, note):
    bots = [Bot(0, note=note), Bot(1)]
    path = record(tmp_path, "abstrac", bots, {"hands": 2}, publishing=(0,))
    assert shown(path) == {}


def test_the_hash_of_a_note_cannot_be_guessed_from_its_text(path):
    hashes = [each.note_sha256 for each in Replay.open(path).decided if each.note_sha256]
    assert len(set(hashes)) == len(hashes) > 2, "the same note has another hash each time"
    guesses = {hashlib.sha256(text.encode()).digest() for text in (OURS, THEIRS)}
    guesses |= {note_sha256(b"", text) for text in (OURS, THEIRS)}
    assert guesses.isdisjoint(hashes)
    salts = [each.salt for seat in SEATS for each in NotesFile.open(notes_file(path, seat)).noted]
    assert {len(salt) for salt in salts} == {32}
    assert len(set(salts)) == len(salts)


def test_notes_are_salted_and_hashed_as_the_contract_defines():
    journal = SimpleNamespace(append=lambda body: None)
    log = MatchLog(journal, 1, draw=lambda size: bytes(range(size)))
    settled = play_one(log, note="é")
    salt = bytes(range(32))
    enc = b"".join(len(p).to_bytes(4, "big") + p for p in (b"fd1", b"note", salt, "é".encode()))
    assert settled.note_sha256 == hashlib.sha256(enc).digest()


def play_one(log, note):
    """The record of one decision in a log."""
    log.decided(Settled(0, 1, b"", 0.0, 0.0, 0, None, "", note, unasked=False, forfeited=False))
    assert [journal_pb2.Record.FromString(each).WhichOneof("body") for each in log.bodies] == [
        "noted",
        "decided",
    ]
    return journal_pb2.Record.FromString(log.bodies[-1]).decided


def changed(path, tmp_path, change):
    """A copy of a match with one notes file changed, its checksums made to fit."""
    copy = tmp_path / "replays" / path.name
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    noted = list(NotesFile.open(notes_file(path, Seat(0))).noted)
    change(noted)
    notes_file(copy, Seat(0)).parent.mkdir()
    records = (journal_pb2.Record(match=1, noted=each) for each in noted)
    data = NOTES_MAGIC + b"".join(framed(each.SerializeToString()) for each in records)
    notes_file(copy, Seat(0)).write_bytes(data)
    return copy


# fmt: off
CHANGED = [
    (lambda n: setattr(n[0], "text", "I knew it"),     "another note at decision 1 of seat 0", "another text"),
    (lambda n: setattr(n[0], "salt", bytes(32)),       "another note at decision 1 of seat 0", "another salt"),
    (lambda n: setattr(n[0], "decision", n[1].decision), "another note at decision",           "at another decision"),
    (lambda n: setattr(n[0], "decision", 2),           "and the match has none",                  "at a decision without one"),
    (lambda n: setattr(n[0], "decision", 9_999),       "and the match has none",                  "at no decision"),
    (lambda n: setattr(n[0], "seat", 1),               "notes of seat 1, not 0",               "of another seat"),
]
# fmt: on


@pytest.mark.parametrize(("change", "said", "why"), CHANGED, ids=[row[-1] for row in CHANGED])
def test_a_note_that_was_not_made_is_found(change, said, why, path, tmp_path):
    copy = changed(path, tmp_path, change)
    with pytest.raises(Discrepancy, match=said):
        notes_of(copy, Replay.open(copy), Seat(0))


def test_owners_may_keep_few_of_their_notes(path, tmp_path):
    copy = changed(path, tmp_path, lambda noted: noted.__delitem__(slice(1, None)))
    assert notes_of(copy, Replay.open(copy), Seat(0)) == {1: OURS}


def test_an_owner_s_notes_file_is_found_beside_the_replay(path, tmp_path):
    mine = tmp_path / path.name
    mine.write_bytes(path.read_bytes())
    assert notes_of(mine, Replay.open(mine), Seat(0)) == {}
    (tmp_path / "m1.0.notes").write_bytes(notes_file(path, Seat(0)).read_bytes())
    assert set(notes_of(mine, Replay.open(mine), Seat(0)).values()) == {OURS}
    assert notes_of(mine, Replay.open(mine), Seat(1)) == {}


def test_a_notes_file_of_another_match_is_recognised(path, tmp_path):
    other = Replay.open(record(tmp_path, "abstrac", noting(), {"hands": 2}, match_id="m2"))
    own = NotesFile.open(notes_file(path, Seat(0)))
    assert (own.concerns(Replay.open(path)), own.concerns(other)) == (True, False)


# fmt: off
DAMAGED = [
    (lambda data: data[:-3],                           "cut off",          "cut off"),
    (lambda data: data.replace(b"jacks", b"kings"),    "checksum",         "a byte that was changed"),
    (lambda data: b"cardarena replay 1\n",             "not a notes-file",   "another file"),
    (lambda data: NOTES_MAGIC + framed(b"\x08\x01\x3a\x00"), "is no note", "other records"),
]
# fmt: on


@pytest.mark.parametrize(("damage", "said", "why"), DAMAGED, ids=[row[-1] for row in DAMAGED])
def test_a_damaged_notes_file_is_reported_in_a_sentence(damage, said, why, path, tmp_path):
    copy = tmp_path / "m1.0.notes"
    copy.write_bytes(damage(notes_file(path, Seat(0)).read_bytes()))
    with pytest.raises(Damaged, match=said):
        NotesFile.open(copy)


# What becomes of notes after a kill.


def killed(folder, records=None):
    """A match that was played, of which a killed process wrote so many records."""
    journal = Journal(folder / "journal")
    played = play(journal_aside(folder), bots=noting())
    for body in played.log.bodies[:records]:
        journal.append(body)
    journal.flush()
    os.close(journal._records._fd)
    return played


def journal_aside(folder):
    return Journal(folder / "aside" / "journal")


def keys_of(folder):
    for name in ("deals", "commitments"):
        (folder / "aside" / "journal" / name).rename(folder / "journal" / name)


def notes_by_seat(path):
    replay = Replay.open(path)
    return [notes_of(path, replay, seat) for seat in SEATS]


def test_a_recovery_keeps_the_notes_of_a_match_that_had_ended(tmp_path):
    played = killed(tmp_path)
    keys_of(tmp_path)
    (ended,) = recover(tmp_path / "journal", tmp_path / "replays").ended
    live = cut(tmp_path / "live", played)
    assert ended.path.read_bytes() == live.read_bytes()
    assert notes_by_seat(ended.path) == notes_by_seat(live)
    assert all(notes_by_seat(live))


def test_recovery_copies_the_notes_of_a_continued_match(tmp_path):
    played = killed(tmp_path, records=12)
    keys_of(tmp_path)
    (unfinished,) = recover(tmp_path / "journal", tmp_path / "replays").unfinished
    assert list(unfinished.bodies) == played.log.bodies[:12]
    with Journal(tmp_path / "second") as journal:
        log = journal.match_again(unfinished.bodies)
        for body in played.log.bodies[12:]:
            is_note = journal_pb2.Record.FromString(body).HasField("noted")
            (log._keep if is_note else log._append)(body)
    path = write_replay(tmp_path / "replays", "m1", log.bodies, played.opening)
    assert verify(Replay.open(path)).outcome == played.outcome
    assert notes_by_seat(path) == notes_by_seat(cut(tmp_path / "live", played))


def test_a_note_without_its_decision_is_dropped(tmp_path):
    """The bot is asked again, and what it notes then counts."""
    log = MatchLog(SimpleNamespace(append=lambda body: None), 1)
    play_one(log, "first thoughts")
    torn = log.bodies[:1]
    again = MatchLog(SimpleNamespace(append=lambda body: None), 1)
    play_one(again, "second thoughts")
    _, notes = without_notes([*torn, *again.bodies])
    assert notes == {Seat(0): again.bodies[:1]}


def test_a_replay_with_a_note_is_refused(path, tmp_path):
    with Journal(tmp_path / "journal") as journal:
        bodies = play(journal, bots=noting()).log.bodies
    data = b"".join(map(framed, bodies))
    spoilt = tmp_path / "spoilt.replay"
    spoilt.write_bytes(b"cardarena replay 1\n" + data)
    assert "out of place" in verify_file(spoilt).problem
