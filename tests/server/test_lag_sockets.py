"""The real server measures its own lateness while matches are in play, and refunds it."""

import io
import threading
import time

import pytest

from arena.replay.records import REPLAY_MAGIC, read_records
from cardarena.v1 import journal_pb2, play_pb2
from tests.doubles.streams import PATIENCE_S, Client
from tests.server.test_sockets import (
    QUICK,
    create,
    eventually,
    fetched,
    played,
    seated,
    serving,
)

BLOCKED_S = 0.3


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("arena")) as arena:
        yield arena


def decisions(replay):
    records = [
        journal_pb2.Record.FromString(each.body)
        for each in read_records(io.BytesIO(replay), REPLAY_MAGIC)
    ]
    return [each.decided for each in records if each.HasField("decided")]


def test_the_time_that_the_arena_was_blocked_is_refunded_and_stands_in_the_replay(arena):
    with Client(arena.address) as client, seated(arena, "l1", "l2") as (first, second):
        match = create(client, "l1", "l2", time_control=QUICK)
        second.expect("match_start")
        (ask,) = second.expect("asks").asks
        # Trio and the transport share a thread: what blocks one blocks both.
        blocked = threading.Event()
        arena.matches._token.run_sync_soon(lambda: (blocked.set(), time.sleep(BLOCKED_S)))
        assert blocked.wait(PATIENCE_S)
        second.answer(play_pb2.Answer(ask_id=ask.ask_id, index=0))
        played(first, second)
        replay = eventually(lambda: fetched(client, match.match_id))
    asked_first, *_ = decisions(replay)
    assert asked_first.refunded_us >= (BLOCKED_S - 0.02) * 1e6


def test_lateness_is_measured_while_a_match_is_in_play_and_not_when_all_is_quiet(arena):
    meter = arena.lag
    with Client(arena.address) as client, seated(arena, "m1", "m2") as streams:
        assert meter._next is None
        before = meter.counts().ticks
        create(client, "m1", "m2", time_control=QUICK)
        eventually(lambda: meter.counts().ticks > before + 5)
        played(*streams)
        eventually(lambda: meter._next is None)
