"""What the relay lets a sandboxed bot send."""

import pytest

from arena.api.admission import connections
from arena.sandbox.play_relay.budget import (
    BURST_BYTES,
    BURST_DATA_BYTES,
    BURST_FRAMES,
    BYTES_PER_S,
    CALL_BYTES,
    CONNECTION_BYTES,
    DATA_BYTES_PER_S,
    FRAMES_PER_S,
    Budget,
    FrameCounter,
    Sent,
)
from tests.attack.http2 import HEAD_BYTES, PREFACE, Frame, call, frame, said, settings

PING = frame(Frame.PING, body=bytes(8))
ANSWER = said(1, bytes(20))
HUGE = b"\xff\xff\xff\xf0" + bytes(5)
"""The head of an unknown frame of 16 MB, of which no more arrives."""

# fmt: off
COUNTED = [
    # sent after the preface                 beside                 frames  data             why
    (b"",                                    0,                     0,      0,               "the preface alone"),
    (PING,                                   len(PING),             1,      0,               "a ping"),
    (settings(window=5) * 3,                 45,                    3,      0,               "settings"),
    (ANSWER,                                 0,                     1,      len(ANSWER),     "a message"),
    (frame(Frame.DATA, stream=9) * 4,        0,                     4,      4 * HEAD_BYTES,  "empty DATA"),
    (call(1),                                len(call(1)) + CALL_BYTES, 1,  0,               "a call"),
    (call(1) + ANSWER + PING,                len(call(1)) + CALL_BYTES + len(PING), 3, len(ANSWER), "one of each"),
    (frame(0xF0, body=bytes(100)) * 2,       218,                   2,      0,               "kinds that HTTP/2 does not know"),
    (HUGE,                                   (1 << 24) + 8,         1,      0,               "a frame counts when its head has arrived"),
    (PING[:8],                               0,                     0,      0,               "a head that is not whole"),
]
# fmt: on


@pytest.mark.parametrize("chunk", [1, 2, 7, 9, 10, 1 << 16], ids="by {}".format)
@pytest.mark.parametrize(
    ("data", "beside", "frames", "of_messages"),
    [row[:4] for row in COUNTED],
    ids=[row[4] for row in COUNTED],
)
def test_frames_are_counted_however_they_arrive(data, beside, frames, of_messages, chunk):
    counter, whole = FrameCounter(), PREFACE + data
    parts = [
        counter.count(memoryview(whole[at : at + chunk])) for at in range(0, len(whole), chunk)
    ]
    assert tuple(map(sum, zip(*parts, strict=True))) == (beside, frames, of_messages)


SECONDS = 600
# fmt: off
BUDGETS = [
    # at once                        a second                       closed  why
    (Sent(BURST_BYTES),              Sent(),                        False,  "a whole burst"),
    (Sent(BURST_BYTES + 1),          Sent(),                        True,   "more than a burst"),
    (Sent(),                         Sent(BYTES_PER_S),             False,  "bytes at the rate for long"),
    (Sent(),                         Sent(BYTES_PER_S + 1_000),     True,   "bytes above the rate for long"),
    (Sent(0, BURST_FRAMES),          Sent(),                        False,  "a burst of frames"),
    (Sent(0, BURST_FRAMES + 1),      Sent(),                        True,   "more frames than a burst"),
    (Sent(),                         Sent(0, FRAMES_PER_S),         False,  "frames at the rate for long"),
    (Sent(),                         Sent(0, FRAMES_PER_S + 100),   True,   "frames above the rate for long"),
    (Sent(0, 0, BURST_DATA_BYTES),   Sent(),                        False,  "a burst of messages"),
    (Sent(0, 0, BURST_DATA_BYTES + 1), Sent(),                      True,   "more messages than a burst"),
    (Sent(),                         Sent(0, 0, DATA_BYTES_PER_S),  False,  "messages at the rate for long"),
    (Sent(),                         Sent(0, 0, DATA_BYTES_PER_S + 20_000), True, "messages above the rate for long"),
    (Sent(CONNECTION_BYTES),         Sent(260, 10_000, 400_000),    False,  "a fast bot that plays"),
    (Sent(),                         Sent(CONNECTION_BYTES * 17),   True,   "a bot that connects without end"),
]
# fmt: on


@pytest.mark.parametrize(
    ("burst", "each_second", "closed"),
    [row[:3] for row in BUDGETS],
    ids=[row[3] for row in BUDGETS],
)
def test_a_bot_is_cut_off_for_what_it_sends(burst, each_second, closed):
    budget = Budget(0.0)
    whys = [budget.spend(0.0, burst)]
    whys += [budget.spend(float(second), each_second) for second in range(1, SECONDS)]
    assert any(whys) is closed
    assert all(why.startswith("it sent more than ") for why in whys if why)


def test_all_connections_of_a_bot_share_its_budget_and_a_flood_keeps_it_out_for_a_while():
    budget = Budget(0.0)
    assert budget.spend(1.0, Sent(BURST_BYTES // 2)) == ""
    assert budget.rest_s == 0
    assert budget.spend(1.0, Sent(BURST_BYTES)) != ""
    rest_s = budget.rest_s
    assert rest_s == BURST_BYTES / BYTES_PER_S
    assert budget.since_s == 1.0
    assert budget.spend(1.0 + rest_s, Sent(BURST_BYTES // 2)) == ""
    assert budget.since_s == 1.0, "what it sent then has not leaked yet"


def test_a_burst_is_as_large_on_a_socket_file_as_on_a_tcp_connection():
    assert (BURST_BYTES, BYTES_PER_S) == (connections.BURST_BYTES, connections.BYTES_PER_S)
