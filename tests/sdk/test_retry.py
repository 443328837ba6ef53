"""How long an arena that is busy asks a bot to stay away, and that it does."""

from random import Random

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from arena.errors.refused import Refused
from cardarena._redial import Redial, StreamEnd
from cardarena._retry import MAX_RETRY_S, STATUS_KEY, error_reason, retry_delay_s


def asked(**delay):
    status = Status()
    status.details.add().Pack(RetryInfo(retry_delay=Duration(**delay)))
    return [(STATUS_KEY, status.SerializeToString())]


# fmt: off
SAID = [
    (Refused("BUSY", retry_s=5.0).trailing_metadata(),  5.0,         "as the arena says it"),
    (Refused("BUSY", retry_s=0.25).trailing_metadata(), 0.25,        "a part of a second"),
    (Refused("NOT_NOW").trailing_metadata(),           0.0,         "another refusal"),
    (None,                                        0.0,         "no metadata"),
    ([("x-other", "5")],                          0.0,         "other metadata"),
    (asked(seconds=2, nanos=500_000_000),         2.5,         "seconds and their parts"),
    (asked(seconds=10_000),                       MAX_RETRY_S, "longer than anybody should wait"),
    (asked(seconds=-3),                           0.0,         "before now"),
    (asked(),                                     0.0,         "no time at all"),
    ([(STATUS_KEY, b"\xff\xff")],                 0.0,         "bytes that are no status"),
    ([(STATUS_KEY, b"\x1a\x03\x0a\xff\x01")],     0.0,         "a detail that is none"),
    ([(STATUS_KEY, "text")],                      0.0,         "text where bytes belong"),
]
# fmt: on


@pytest.mark.parametrize(("metadata", "delay_s", "why"), SAID, ids=[row[2] for row in SAID])
def test_a_bot_reads_how_long_to_stay_away(metadata, delay_s, why):
    assert retry_delay_s(metadata) == delay_s


# fmt: off
NAMED = [
    (Refused("BUSY", retry_s=0.25).trailing_metadata(), "BUSY",  "a refusal with a time"),
    (Refused("NOT_NOW").trailing_metadata(),           "NOT_NOW", "another refusal"),
    (None,                                        "",      "no metadata"),
    (asked(seconds=2),                            "",      "a time alone"),
    ([(STATUS_KEY, b"\xff\xff")],                 "",      "bytes that are no status"),
]
# fmt: on


@pytest.mark.parametrize(("metadata", "reason", "why"), NAMED, ids=[row[2] for row in NAMED])
def test_a_bot_reads_why(metadata, reason, why):
    assert error_reason(metadata) == reason


def end(retry_s):
    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    return StreamEnd(code, "busy", welcomed=False, lived_s=0.0, retry_s=retry_s, error="BUSY")


def test_bots_that_were_told_the_same_spread_over_as_much_time_again():
    delays = []
    for seed in range(500):
        redial = Redial("home:1", once=False, random=Random(seed), now_s=lambda: 0.0)
        delays.append(redial.after(end(5.0)).delay_s)
    assert 5.0 <= min(delays) < 5.2
    assert 9.8 < max(delays) <= 10.0


def test_a_bot_that_plays_once_still_gives_up_in_time():
    redial = Redial("home:1", once=True, random=Random(1), now_s=lambda: 0.0)
    assert redial.after(end(60.0)).delay_s == 10.0
