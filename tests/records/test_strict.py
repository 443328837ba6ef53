"""A replay has one reading, sane bounds, and cannot be stripped of what proves it."""

import io
import itertools

import pytest
from click.testing import CliRunner

from arena.cli.replay import replay as command
from arena.games.catalogue import GAMES
from arena.records import read as read_module
from arena.records import verify as verify_module
from arena.records.deal_book import read_log
from arena.records.journal.journal import Journal
from arena.records.playback import Discrepancy
from arena.records.read import Replay, Unplayable
from arena.records.records import CHAIN_START, REPLAY_MAGIC, Damaged, chained, framed, read_records
from arena.records.signing import ArenaKey, replay_statement
from arena.records.verify import verify, verify_file
from arena.records.write import write_replay
from arena.referee.wire.fields import delimited, tag_bytes, tag_varint
from cardarena.v1 import game_pb2, journal_pb2
from tests.records.matches import ILLEGAL, Bot, bodies_of, fitting, play, read, record, retold
from tests.records.test_fairness import log_file
from tests.referee.deal.house import BARE, SDK, House
from tests.rows import slow_unless_of_each_kind

KEY = ArenaKey.new()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    bots = [Bot(3, (ILLEGAL,), note="a note"), Bot(4)]
    return record(tmp_path_factory.mktemp("strict"), "abstrac", bots, {"hands": 2})


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A match with a fair deal."""
    return House(tmp_path_factory.mktemp("fair"), {"ann": SDK, "bare": BARE}).run()


# One reading.


def inner(change):
    """A change of what stands within a record, its length made to fit."""

    def changed(body):
        head, rest = body[:2], body[2:]
        size = 1 if rest[1] < 0x80 else 2
        return head + delimited(rest[:1], change(rest[1 + size :]))

    return changed


# fmt: off
TWO_READINGS = [
    (lambda b: b + tag_varint(99) + b"\x01",              "a field that nobody knows"),
    (lambda b: b + tag_bytes(15) + b"\x03abc",            "text that nobody reads"),
    (lambda b: b + b"\x08\x01",                           "a field twice, alike"),
    (lambda b: b"\x08\x07" + b,                           "a field twice, the last one counts"),
    (lambda b: b"\x08\x81\x00" + b[2:],                   "a number with padding"),
    (lambda b: b[2:] + b[:2],                             "fields out of order"),
    (inner(lambda b: b + tag_varint(99) + b"\x01"),       "an unknown field within"),
    (inner(lambda b: b + tag_bytes(9) + b"\x02hi"),       "a note in clear, as there once were"),
    (inner(lambda b: tag_varint(1) + b"\x00" + b[2:]),    "a zero that need not be said"),
]
# fmt: on


@pytest.mark.parametrize(("change", "why"), TWO_READINGS, ids=[row[-1] for row in TWO_READINGS])
def test_a_record_that_could_be_read_otherwise_is_refused(change, why, path):
    parts = bodies_of(path)
    at = next(
        at for at, b in enumerate(parts) if b[2:4] and b[2:3] == b"\x1a" and b[4:5] == b"\x08"
    )
    parts[at] = change(parts[at])
    with pytest.raises(Damaged, match="is not encoded as the arena does it"):
        read(fitting(parts))


def test_the_last_record_has_no_padding_either(path):
    *most, last = bodies_of(path)
    with pytest.raises(Damaged, match="is not encoded as the arena does it"):
        read(fitting([*most, last + tag_varint(77) + b"\x01"]))


@pytest.mark.parametrize("game", slow_unless_of_each_kind(GAMES), ids=[game.id for game in GAMES])
def test_what_the_arena_writes_has_one_reading_in_every_game(game, tmp_path):
    bots = [Bot(seat, (ILLEGAL,), note="n") for seat in range(game.seats[0])]
    with Journal(tmp_path / "journal") as journal:
        played = play(journal, game.id, bots)
    path = write_replay(tmp_path / "replays", "m1", played.log.bodies, played.opening, KEY)
    assert verify(Replay.open(path)).outcome == played.outcome


# Bounds.


def huge(records, field, value):
    """A time of a match that no match can have."""
    of, name = field
    setattr(
        {
            "opened": records[0].opened,
            "closed": records[-2].closed,
            "decided": records[2].decided,
            "evidence": records[2].decided.evidence,
        }[of],
        name,
        value,
    )


MAX_U64 = (1 << 64) - 1
TIMES = [
    ("opened", "start_unix_ms"),
    ("closed", "end_us"),
    ("decided", "sent_us"),
    ("decided", "charged_us"),
    ("decided", "refunded_us"),
    ("evidence", "due_us"),
    ("evidence", "received_us"),
]


@pytest.mark.parametrize("field", TIMES, ids=["_".join(each) for each in TIMES])
@pytest.mark.parametrize("value", [MAX_U64, 1 << 60], ids=["the largest", "a large one"])
def test_a_time_that_no_date_can_have_is_refused(field, value, path):
    with pytest.raises(Damaged, match="after the year 9999"):
        read(retold(path, lambda records: huge(records, field, value)))


@pytest.mark.parametrize("match_id", ["../../m1", "m1\n", ""], ids=["a path", "a line", "none"])
def test_an_id_that_cannot_name_a_file_is_refused(match_id, path):
    """Exports of a folder of replays are files with these names."""
    with pytest.raises(Damaged, match="cannot be the id of a match"):
        read(retold(path, lambda records: huge(records, ("opened", "match_id"), match_id)))


# fmt: off
LATE = [
    (("decided", "sent_us"),      "asked after the end",   "an ask"),
    (("decided", "refunded_us"),  "settled after the end", "a refund"),
    (("evidence", "received_us"), "settled after the end", "an answer"),
]
# fmt: on


@pytest.mark.parametrize(("field", "said", "why"), LATE, ids=[row[-1] for row in LATE])
def test_nothing_happens_after_the_end(field, said, why, path):
    late_us = Replay.open(path).closed.end_us + 10
    with pytest.raises(Discrepancy, match=said):
        verify(read(retold(path, lambda records: huge(records, field, late_us))))


def endless(path):
    """A replay's records, the decisions of which never end."""
    first, second, *_ = bodies_of(path)
    return itertools.chain([REPLAY_MAGIC, framed(first)], itertools.repeat(framed(second)))


class Pieces(io.RawIOBase):
    """A file of pieces that are made as they are read."""

    def __init__(self, pieces):
        self.pieces, self.left = iter(pieces), b""

    def readable(self):
        return True

    def readinto(self, buffer):
        self.left = self.left or next(self.pieces)
        size = min(len(buffer), len(self.left))
        buffer[:size], self.left = self.left[:size], self.left[size:]
        return size


@pytest.mark.parametrize("limit", ["MAX_REPLAY_RECORDS", "MAX_REPLAY_BYTES"])
def test_a_file_without_end_is_read_to_a_bound(limit, path, monkeypatch):
    small = {"MAX_REPLAY_RECORDS": 1_000, "MAX_REPLAY_BYTES": 50_000}[limit]
    monkeypatch.setattr(read_module, limit, small)
    with pytest.raises(Damaged, match="larger than any replay"):
        Replay.read(io.BufferedReader(Pieces(endless(path))))


def test_a_replay_that_takes_too_long_is_given_up(path):
    clock = itertools.count(0, verify_module.LONGEST_S / 10)
    with pytest.raises(Unplayable, match="takes more than 10 minutes to verify"):
        verify(Replay.open(path), now_s=lambda: next(clock))


# Which match it is.


def run(*arguments):
    return CliRunner().invoke(command, ["verify", *map(str, arguments)])


def test_verify_names_the_match_and_its_bots(path):
    said = run(path).stdout
    assert "match m1 · abstrac · bot 0, bot 1 ·" in said


def test_verify_takes_the_match_that_is_wanted_and_no_other(path):
    assert run(path, "--match", "m1").exit_code == 0
    refused = run(path, "--match", "m2")
    assert refused.exit_code == 1
    assert "it is of match m1, not of m2" in refused.stdout


def test_another_match_under_the_name_of_the_one_that_is_wanted_is_refused(path, tmp_path):
    swapped = tmp_path / "m2.replay"
    swapped.write_bytes(path.read_bytes())
    assert verify_file(swapped).ok
    assert not verify_file(swapped, match_id="m2").ok


def test_names_that_would_take_over_the_terminal_are_shown_harmless(path, tmp_path):
    def renamed(records):
        records[0].opened.entrants[0].name = "\x1b[2Jann"
        records[0].opened.match_id = "m\r1"

    file = tmp_path / "x.replay"
    file.write_bytes(retold(path, renamed))
    said = run(file).stdout + run(file, "--match", "m1").stdout
    assert "ann" in said
    assert not {"\x1b", "\r"} & set(said)


# Notes.


def test_verify_holds_notes_against_the_match(path):
    notes = path.parent.parent / "notes" / "m1.0.notes"
    result = run(path, "--notes", notes)
    assert result.exit_code == 0
    assert "notes as made at it" in result.stdout


def test_verify_refuses_notes_of_another_match(path, tmp_path):
    other = record(tmp_path, "abstrac", [Bot(1, note="x"), Bot(2)], {"hands": 2}, match_id="m2")
    result = run(path, "--notes", other.parent.parent / "notes" / "m2.0.notes")
    assert (result.exit_code, "has no note of these matches" in result.stderr) == (1, True)


# What an attacker would take away.


def stripped(records):
    """The fair deal taken out: what is left says that the arena drew alone."""
    records[0].opened.ClearField("fair_deal")
    key = records[-1].revealed.deal_key
    records[-1].revealed.CopyFrom(journal_pb2.Revealed(deal_key=key))


def cut_short(records):
    """The last decisions taken out, and the result with them."""
    del records[-6:-2]
    closed = records[-2].closed
    del closed.scores[:], closed.places[:]
    closed.ending, closed.cause = game_pb2.ENDING_ABORTED, game_pb2.ABORT_CAUSE_STOPPED


def resigned(data, key):
    """A replay that somebody else has signed with a key of their own."""
    found = [journal_pb2.Record.FromString(each.body) for each in records_of(data)]
    found[-1].revealed.public_key = key.public_key
    parts = [each.SerializeToString() for each in found]
    chain = CHAIN_START
    for part in parts:
        chain = chained(chain, part)
    signed = journal_pb2.Signed(signature=key.sign(replay_statement(chain)))
    parts.append(journal_pb2.Record(match=found[0].match, signed=signed).SerializeToString())
    return REPLAY_MAGIC + b"".join(map(framed, parts))


def records_of(data):
    return read_records(io.BytesIO(data), REPLAY_MAGIC)


# fmt: off
TAKEN_AWAY = [
    (stripped,  "the fair deal was removed",                      "the fair deal"),
    (cut_short, "it says that the arena aborted the match",         "the result"),
]
# fmt: on
SIGNED = pytest.mark.parametrize("forged", [False, True], ids=["unsigned", "signed by another"])


@SIGNED
@pytest.mark.parametrize(("change", "said", "why"), TAKEN_AWAY, ids=[row[-1] for row in TAKEN_AWAY])
def test_what_was_taken_away_is_missed_where_a_log_or_a_key_is_given(
    change, said, why, forged, house, tmp_path
):
    file = house.replay_file(change)
    if forged:
        file.write_bytes(resigned(file.read_bytes(), ArenaKey.new()))
    log = read_log(log_file(house, name=f"log of {why}"))
    assert verify_file(file).ok, "the file alone does not show it"
    assert said in verify_file(file, log=log).problem
    for others in (None, log):
        assert "sign" in verify_file(file, log=others, arena=KEY.public_key).problem


def test_an_aborted_match_that_the_arena_signed_is_taken_with_its_key(house):
    file = house.replay_file(cut_short)
    file.write_bytes(resigned(file.read_bytes(), KEY))
    log = read_log(log_file(house, name="log beside a key"))
    assert verify_file(file, log=log, arena=KEY.public_key).ok
    assert not verify_file(file, log=log).ok


def test_a_seeded_match_needs_no_log(path, house):
    assert verify_file(path, log=read_log(log_file(house, name="another log"))).ok
