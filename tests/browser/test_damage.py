"""A replay that is not as it was written gets one plain sentence, and no verdict."""

import pytest

from arena.records.records import REPLAY_MAGIC, chained, framed
from tests.browser.fair_matches import Bot, played, written

BARE = Bot("bare", adds_entropy=False)


def swap(one, other):
    """The two values of a list in each other's place."""

    def swapped(values):
        values[one], values[other] = values[other], values[one]

    return swapped


def bodies(match):
    written(match.records)  # makes the chain fit
    return [record.SerializeToString() for record in match.records]


def chain_of(pieces):
    """A file of these bodies, with checksums, and the chain as they have it."""
    return REPLAY_MAGIC + b"".join(map(framed, pieces))


def reordered(change):
    pieces = bodies(played())
    change(pieces)
    return chain_of(pieces)


def with_body(at, body):
    return reordered(lambda pieces: pieces.__setitem__(at, body(pieces[at])))


FIRST_BYTE = len(REPLAY_MAGIC)

# fmt: off
DAMAGED = [
    (reordered(swap(2, 3)),                       "hash chain is broken",      "two records swapped"),
    (reordered(lambda p: p.pop(4)),               "hash chain is broken",      "a record left out"),
    (reordered(lambda p: p.insert(2, p[2])),      "hash chain is broken",      "a record doubled"),
    (reordered(swap(0, 1)),                       "out of place",              "the first record second"),
    (reordered(lambda p: p.append(p[-1])),        "out of place",              "two openings"),
    (reordered(lambda p: p.pop()),                "which opens the deals",     "no opening"),
    (reordered(lambda p: p.__delitem__(slice(-2, None))), "before the end of the match", "no end"),
    (REPLAY_MAGIC,                                "before its first record",   "no records"),
    (with_body(3, lambda b: b"\x08\x02" + b[2:]), "belongs to another match",  "a record of another match"),
    (with_body(3, lambda b: b"\x08\x01"),         "of an unknown kind",        "a record that says nothing"),
    (with_body(3, lambda b: b"\x08\x01\x32\x00"), "the unknown number 6",      "a record of journals"),
    (with_body(0, lambda b: b[:-1]),              "cut off",                   "a message cut short"),
    (with_body(0, lambda b: b + b"\x22\x00"),     "opened and closed at the same time", "two things at a time"),
    (with_body(0, lambda b: b + b"\x12\x00"),     "stands there twice",        "a record opened twice"),
    (with_body(0, lambda b: b"\x08" + b"\xff" * 9 + b"\x7f"), "too long",      "a number without end"),
    (with_body(0, lambda b: b"\x08" + b"\xff" * 5 + b"\x01"), "too large",     "a number beyond its kind"),
    (with_body(0, lambda b: b"\x0a\x00"),         "another kind",              "text for a number"),
    (with_body(0, lambda b: b"\x10\x00"),         "another kind",              "a number for a message"),
    (with_body(0, lambda b: b"\x00\x00"),         "no number",                 "field number 0"),
    (with_body(0, lambda b: b"\x0b\x0c"),         "no known kind",             "a group"),
    (with_body(0, lambda b: b"\x08\x01\x12\x04\x0a\x02\xff\xfe"), "not UTF-8", "a text that is none"),
    (played().replay[:FIRST_BYTE] + bytes(64),    "impossible length",         "zeros"),
]
# fmt: on


@pytest.mark.parametrize(("replay", "said", "why"), DAMAGED, ids=[row[-1] for row in DAMAGED])
def test_damage_is_told_in_a_sentence(node, replay, said, why):
    report = node.examine(replay)
    assert set(report) == {"damaged"}
    assert said in report["damaged"]


@pytest.mark.slow
def test_every_flipped_byte_is_found(node):
    intact = played().replay
    flipped = [
        intact[:at] + bytes([intact[at] ^ 1 << at % 8]) + intact[at + 1 :]
        for at in range(FIRST_BYTE, len(intact))
    ]
    assert set(node.call("verdicts", replays=flipped)) == {"damaged"}


@pytest.mark.slow
def test_every_cut_tail_is_found(node):
    intact = played().replay
    cut = [intact[:size] for size in range(FIRST_BYTE, len(intact))]
    assert set(node.call("verdicts", replays=cut)) == {"damaged"}


@pytest.mark.slow
@pytest.mark.parametrize("which", ["fair_deal", "revealed"])
def test_no_byte_of_what_was_fixed_or_opened_can_change_with_fitting_checksums(node, which):
    match = played()
    records = match.records
    message = records[0].opened.fair_deal if which == "fair_deal" else records[-1].revealed
    intact = message.SerializeToString()
    pieces = [record.SerializeToString() for record in records]
    at_record = 0 if which == "fair_deal" else len(pieces) - 1
    start = pieces[at_record].index(intact)
    replays = []
    for at in range(start, start + len(intact)):
        body = bytearray(pieces[at_record])
        body[at] ^= 1 << at % 7
        changed = [*pieces[:at_record], bytes(body), *pieces[at_record + 1 :]]
        closed = type(records[-2]).FromString(changed[-2])
        closed.closed.chain = head_of(changed[:-2])
        changed[-2] = closed.SerializeToString()
        replays.append(chain_of(changed))
    verdicts = node.call("verdicts", replays=replays)
    assert set(verdicts) == {"damaged", "lie"}


def head_of(pieces):
    chain = bytes(32)
    for piece in pieces:
        chain = chained(chain, piece)
    return chain
