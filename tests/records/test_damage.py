"""A replay file that is not as it was written is found out, and the damage said plainly."""

import pytest

from arena.records.records import REPLAY_MAGIC, Damaged, framed
from arena.records.verify import verify, verify_file
from tests.records.matches import bodies_of, read, record, retold, unnoticed_cuts


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return record(tmp_path_factory.mktemp("damage"), "abstrac")


def rebuilt(*parts):
    return REPLAY_MAGIC + b"".join(map(framed, parts))


def test_every_flipped_bit_is_found(path):
    intact = path.read_bytes()
    verify(read(intact))
    missed = []
    for at in range(len(intact)):
        for bit in range(8):
            flipped = bytearray(intact)
            flipped[at] ^= 1 << bit
            try:
                read(bytes(flipped))
            except Damaged:
                continue
            missed.append((at, bit))
    assert missed == []


def test_every_cut_tail_is_found(path):
    assert unnoticed_cuts(path.read_bytes(), read) == []


# fmt: off
DAMAGE = [
    (lambda data, parts: b"",                             "not a replay",             "an empty file"),
    (lambda data, parts: b"PK\x03\x04" + data,            "not a replay",             "another kind of file"),
    (lambda data, parts: b"cardarena journal 1\n",        "not a replay",             "a journal"),
    (lambda data, parts: data[:10],                       "within its first line",    "cut in the first line"),
    (lambda data, parts: data.replace(b"1\n", b"2\n", 1), "format 2",                 "a newer format"),
    (lambda data, parts: REPLAY_MAGIC,                    "before its first record",  "no records"),
    (lambda data, parts: data[:-3],                       "cut off within the record", "cut in a record"),
    (lambda data, parts: rebuilt(*parts[:-1]),            "opens the deals",          "no last record"),
    (lambda data, parts: rebuilt(*parts[:-2]),            "before the match's end",   "no end"),
    (lambda data, parts: rebuilt(*parts[:2]),             "after 1 decisions",        "a match broken off"),
    (lambda data, parts: rebuilt(*parts[1:]),             "out of place",             "no beginning"),
    (lambda data, parts: rebuilt(*parts, parts[-1]),      "out of place",             "more after the end"),
    (lambda data, parts: rebuilt(parts[0], b"\x08\x01\x62\x02\x10\x01", *parts[1:]),
                                                          "out of place",             "time that journals alone hold"),
    (lambda data, parts: rebuilt(*parts[:3], *parts[4:]), "hash chain",               "a decision taken out"),
    (lambda data, parts: rebuilt(parts[0], parts[2], parts[1], *parts[3:]),
                                                          "hash chain",               "two decisions exchanged"),
    (lambda data, parts: rebuilt(parts[0], b"\x08\x07" + parts[1][2:], *parts[2:]),
                                                          "another match", "a record of another match"),
    (lambda data, parts: rebuilt(b"\x08\x01"),            "unknown kind",             "a record of a newer arena"),
    (lambda data, parts: rebuilt(b"\xff\xff"),            "cannot be read",           "a record that is no message"),
    (lambda data, parts: data + bytes(64),                "impossible length",        "a tail of zeros"),
    (lambda data, parts: data + b"\xff" * 64,             "impossible length",        "a tail of ones"),
]
# fmt: on


@pytest.mark.parametrize(("damage", "said", "why"), DAMAGE, ids=[row[2] for row in DAMAGE])
def test_damage_is_said_plainly(damage, said, why, path):
    with pytest.raises(Damaged, match=said):
        read(damage(path.read_bytes(), bodies_of(path)))


def test_a_record_of_another_match_is_found_even_if_the_chain_fits(path):
    with pytest.raises(Damaged, match="belongs to another match"):
        read(retold(path, lambda records: setattr(records[3], "match", 9)))


def test_a_file_that_is_not_there_is_a_verdict_like_any_other(tmp_path):
    verdict = verify_file(tmp_path / "none.replay")
    assert not verdict.ok
    assert "No such file" in verdict.problem
