"""The page and `arena replay verify` make the same of a replay, whatever was done to it.

The page knows no rules: it takes moves, clocks and results as they are written. In all else, that
is whether the file is as it was written, who signed it and where its packs come from, the two have
nothing in common but the contract, and must agree.
"""

import functools
import io
import random

import pytest

from arena.records.playback import Discrepancy
from arena.records.read import Replay, Unplayable
from arena.records.records import CHAIN_START, REPLAY_MAGIC, Damaged, chained, framed
from arena.records.verify import verify, verify_deals
from arena.referee.wire.fields import delimited, tag_bytes, tag_varint
from cardarena.v1 import journal_pb2
from tests.browser.fair_matches import ALPHA, BARE, BETA, GAMMA, played, seeded, written
from tests.browser.test_signing import signed

DAMAGED, LIE, BY_THE_RULES = "damaged", "lie", "not by the rules"
QUICK, ALL = 150, 2_000
AT_ONCE = 250
"""Replays that are handed to the page together."""


def of_python(data):
    """What the arena makes of a replay, in the page's words where the page has some."""
    try:
        replay = Replay.read(io.BytesIO(data))
    except Damaged:
        return DAMAGED
    try:
        _, fairness = verify_deals(replay)
    except Discrepancy:
        return LIE
    except Unplayable:
        return BY_THE_RULES
    try:
        verify(replay)
    except (Damaged, Discrepancy, Unplayable):
        return BY_THE_RULES
    if fairness.seeded:
        return "seeded"
    if not fairness.participants:
        return "alone"
    return "fair" if fairness.entropy_from else "unmixed"


def agree(arena, page):
    """Whether the two say the same, as far as the page can know."""
    return page != DAMAGED if arena == BY_THE_RULES else page == arena


@functools.cache
def originals():
    """Honest replays of every kind, as the bodies of their records."""
    made = [
        played(),
        played(bots=(ALPHA, BARE)),
        played("jam"),
        played("eleusis", (ALPHA, BETA, GAMMA), {"hands": 3, "max_turns": 10}),
        seeded(),
        seeded(""),
        signed(played()),
        signed(seeded()),
    ]
    for match in made:
        written(match.records)
    return [[record.SerializeToString() for record in match.records] for match in made]


# What is done to them. Each gets the bodies of the records, which it may change.


def a_flipped_bit(draw, bodies):
    at = draw.randrange(len(bodies))
    body = bytearray(bodies[at])
    body[draw.randrange(len(body))] ^= 1 << draw.randrange(8)
    bodies[at] = bytes(body)


def a_byte_more(draw, bodies):
    at = draw.randrange(len(bodies))
    where = draw.randrange(len(bodies[at]) + 1)
    bodies[at] = bodies[at][:where] + draw.randbytes(1) + bodies[at][where:]


def a_byte_less(draw, bodies):
    at = draw.randrange(len(bodies))
    where = draw.randrange(len(bodies[at]))
    bodies[at] = bodies[at][:where] + bodies[at][where + 1 :] or b"\x08\x01"


def an_unknown_field(draw, bodies):
    at = draw.randrange(len(bodies))
    number = draw.choice((11, 12, 15, 99, 5000))
    bodies[at] += draw.choice((tag_varint(number) + b"\x01", delimited(tag_bytes(number), b"x")))


def a_record_more(draw, bodies):
    bodies.insert(draw.randrange(len(bodies) + 1), draw.choice(bodies))


def a_record_less(draw, bodies):
    bodies.pop(draw.randrange(len(bodies)))


def two_records_exchanged(draw, bodies):
    one, other = draw.randrange(len(bodies)), draw.randrange(len(bodies))
    bodies[one], bodies[other] = bodies[other], bodies[one]


def a_record_of_another_replay(draw, bodies):
    bodies[draw.randrange(len(bodies))] = draw.choice(draw.choice(originals()))


def fields_rewritten(draw, bodies):
    """A record whose fields are put down again: in another order, twice, or with padding."""
    at = draw.randrange(len(bodies))
    fields = list(fields_of(bodies[at]))
    change = draw.choice((draw.shuffle, lambda f: f.append(draw.choice(f)), list.pop, padded))
    change(fields)
    bodies[at] = b"".join(fields) or b"\x08\x01"


def padded(fields):
    fields[0] = fields[0][:1] + bytes((fields[0][1] | 0x80, 0)) + fields[0][2:]


def fields_of(body):
    """The fields of a message, as they stand."""
    at = 0
    while at < len(body):
        begin = at
        tag, at = number_at(body, at)
        size, at = number_at(body, at)
        if tag & 7 == 2:
            at += size
        yield body[begin:at]


def number_at(body, at):
    value = shift = 0
    while True:
        byte = body[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def a_value_changed(draw, bodies):
    """Another value in a field of a message or of one within it; checksums, chain, all in order."""
    at = draw.randrange(len(bodies))
    record = journal_pb2.Record.FromString(bodies[at])
    message = getattr(record, record.WhichOneof("body"))
    while True:
        fields = [field for field, _ in message.ListFields()]
        if not fields:
            return
        field = draw.choice(fields)
        value = getattr(message, field.name)
        if field.message_type is None:
            break
        message = draw.choice(value) if field.is_repeated else value
    if field.is_repeated:
        new = list(value)
        place = draw.randrange(len(new))
        new[place] = other_value(draw, field, new[place])
        draw.choice((lambda: None, new.pop, lambda: new.append(new[0])))()
        del value[:]
        value.extend(new)
    else:
        setattr(message, field.name, other_value(draw, field, value))
    bodies[at] = record.SerializeToString()


def other_value(draw, field, value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        small = draw.choice((0, 1, value + 1, max(0, value - 1), 1 << draw.randrange(31)))
        return (
            draw.choice((small, (1 << 64) - 1)) if field.cpp_type == field.CPPTYPE_UINT64 else small
        )
    if isinstance(value, str):
        return draw.choice(("", value + "x", value[:-1], value + "\n" + value, "é\ufeff"))
    return draw.choice((b"", value[:-1], value + b"\0", draw.randbytes(len(value))))


def a_field_cleared(draw, bodies):
    at = draw.randrange(len(bodies))
    record = journal_pb2.Record.FromString(bodies[at])
    message = getattr(record, record.WhichOneof("body"))
    if fields := [field.name for field, _ in message.ListFields()]:
        message.ClearField(draw.choice(fields))
    bodies[at] = record.SerializeToString()


def a_zero_said(draw, bodies):
    """A field of a decision that need not be there, as it is zero."""
    at = draw.randrange(1, len(bodies) - 3)
    head, (decided,) = bodies[at][:2], list(fields_of(bodies[at]))[1:2]
    _, begin = number_at(decided, 1)
    fields = list(fields_of(decided[begin:]))
    there = {number_at(each, 0)[0] >> 3 for each in fields}
    number = draw.choice([each for each in (1, 4, 5, 7, 10, 11, 12) if each not in there])
    fields.append(tag_varint(number) + b"\x00")
    fields.sort(key=lambda each: number_at(each, 0)[0] >> 3)
    bodies[at] = head + delimited(decided[:1], b"".join(fields))


def a_flag_of_two(draw, bodies):
    """A flag is true for every number but zero."""
    seeded_flag = tag_varint(8)
    bodies[0] = bodies[0].replace(seeded_flag + b"\x01", seeded_flag + b"\x02")


def a_time_of_another_age(draw, bodies):
    at = draw.randrange(len(bodies))
    record = journal_pb2.Record.FromString(bodies[at])
    late = draw.choice((253_402_300_799_999_999, 253_402_300_799_999_000, 1 << 61, (1 << 64) - 1))
    if record.HasField("opened"):
        record.opened.start_unix_ms = draw.choice((late // 1000, late // 1000 + 1, late))
    elif record.HasField("decided"):
        setattr(record.decided, draw.choice(("sent_us", "charged_us", "refunded_us")), late)
    elif record.HasField("closed"):
        record.closed.end_us = late - draw.choice((0, 1, 1_790_000_000_000_000))
    bodies[at] = record.SerializeToString()


def a_bit_beneath(draw, bodies):
    """Nothing: what the file itself is changed at, see `mutated`."""


MUTATIONS = [
    a_flipped_bit,
    a_byte_more,
    a_byte_less,
    an_unknown_field,
    a_record_more,
    a_record_less,
    two_records_exchanged,
    a_record_of_another_replay,
    fields_rewritten,
    a_value_changed,
    a_value_changed,
    a_value_changed,
    a_field_cleared,
    a_zero_said,
    a_flag_of_two,
    a_time_of_another_age,
    a_bit_beneath,
]


def fitting(bodies):
    """A file of these bodies, its checksums and the chain that `closed` names made to fit."""
    chain, pieces = CHAIN_START, [REPLAY_MAGIC]
    for body in bodies:
        fits = body
        at = body.find(delimited(tag_bytes(5), bytes(32))[:2])  # chain, of 32 bytes
        if body[2:3] == tag_bytes(4) and at >= 0:
            fits = body[: at + 2] + chain + body[at + 34 :]
        chain = chained(chain, fits)
        pieces.append(framed(fits))
    return b"".join(pieces)


def mutated(number):
    """A replay to which something was done, always the same for a number; and what it was."""
    draw = random.Random(number)
    bodies = list(draw.choice(originals()))
    mutation = MUTATIONS[number % len(MUTATIONS)]
    for _ in range(draw.choice((1, 1, 1, 2))):
        mutation(draw, bodies)
    data = fitting(bodies)
    if mutation is a_bit_beneath:
        at = draw.randrange(len(data))
        data = data[:at] + bytes((data[at] ^ 1 << draw.randrange(8),)) + data[at + 1 :]
    return data, mutation.__name__


def compared(node, numbers):
    """How often each verdict was given, and the replays at which the two do not agree."""
    found, differing = {}, []
    for begin in range(numbers.start, numbers.stop, AT_ONCE):
        some = range(begin, min(begin + AT_ONCE, numbers.stop))
        files = [mutated(number) for number in some]
        pages = node.call("verdicts", replays=[data for data, _ in files])
        for number, (data, what), page in zip(some, files, pages, strict=True):
            arena = of_python(data)
            found[arena] = found.get(arena, 0) + 1
            if not agree(arena, page):
                differing.append((number, what, arena, page))
    return found, differing


def test_honest_replays_are_told_alike(node):
    files = [fitting(bodies) for bodies in originals()]
    assert node.call("verdicts", replays=files) == [of_python(data) for data in files]
    assert {of_python(data) for data in files} == {"fair", "seeded", "alone"}


@pytest.mark.parametrize(
    "numbers",
    [range(QUICK), pytest.param(range(QUICK, ALL), marks=pytest.mark.slow)],
    ids=["a few", "all two thousand"],
)
def test_the_page_and_the_arena_agree_on_replays_that_were_changed(node, numbers):
    found, differing = compared(node, numbers)
    assert differing == []
    assert {DAMAGED, LIE, BY_THE_RULES, "fair", "seeded", "alone"} <= set(found), found
