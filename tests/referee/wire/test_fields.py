"""Protobuf fields written by hand, against protobuf itself."""

import pytest

from arena.referee.wire.fields import delimited, tag_bytes, tag_varint, varint
from cardarena.v1 import game_pb2, play_pb2

# fmt: off
VARINTS = [
    # number      bytes                why
    (0,          "00",                 "zero is one byte"),
    (1,          "01",                 "one"),
    (127,        "7f",                 "the last of one byte"),
    (128,        "8001",               "the first of two: low seven bits first"),
    (300,        "ac02",               "protobuf's own example"),
    (16_383,     "ff7f",               "the last of two, and of the table"),
    (16_384,     "808001",             "the first of three, past the table"),
    (2**21 - 1,  "ffff7f",             "the last of three"),
    (2**32 - 1,  "ffffffff0f",         "the largest uint32"),
    (2**63,      "80808080808080808001", "past what an int64 holds"),
]
# fmt: on


@pytest.mark.parametrize(("number", "encoded", "why"), VARINTS, ids=[row[-1] for row in VARINTS])
def test_a_varint_is(number, encoded, why):
    assert varint(number).hex() == encoded


def test_protobuf_reads_what_is_written():
    for number in [*range(1, 20_000), 2**21, 2**31, 2**32 - 1]:
        given = tag_varint(1) + varint(number)
        assert play_pb2.Clock.FromString(given).move_ms == number
        assert play_pb2.Clock(move_ms=number).SerializeToString() == given


@pytest.mark.parametrize("length", [0, 1, 127, 128, 16_383, 16_384, 70_000])
def test_text_of_any_length_is_read_back(length):
    text = "x" * length
    read = game_pb2.Setting.FromString(delimited(tag_bytes(1), text.encode()))
    assert read.name == text


@pytest.mark.parametrize("field", [1, 15, 16, 28, 2047])
def test_a_tag_holds_number_and_wire_type(field):
    assert int.from_bytes(tag_varint(field), "little") & 7 == 0
    assert int.from_bytes(tag_bytes(field), "little") & 7 == 2
    assert len(tag_bytes(field)) == (1 if field < 16 else 2)
