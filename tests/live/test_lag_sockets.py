"""The real server measures its own lateness while matches are in play, and refunds it."""

import io
import math
import threading
import time

import pytest

from arena.api import play
from arena.bots.tokens import Tokens
from arena.records.records import REPLAY_MAGIC, read_records
from arena.referee import clock
from arena.store import open_store
from arena.store.keys import Scope
from cardarena.v1 import journal_pb2, lobby_pb2, play_pb2
from tests.doubles.streams import PATIENCE_S, Client
from tests.live.running import running
from tests.live.test_identity import make_key
from tests.live.test_sockets import QUICK, create, eventually, fetched, played, seated

BLOCKED_S = 0.3


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    with running(tmp_path_factory.mktemp("arena"), Tokens(guests=True)) as arena:
        yield arena


def decisions(replay):
    records = [
        journal_pb2.Record.FromString(record.body)
        for record in read_records(io.BytesIO(replay), REPLAY_MAGIC)
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


def test_what_a_stream_makes_the_arena_do_is_its_owners(arena, monkeypatch):
    for module in (clock, play):
        monkeypatch.setattr(module, "NOTED_S", 0.0)
    works = arena.lag._causes
    with seated(arena, "o1", "o2") as (first, _):
        said = eventually(lambda: len([*works.of("o1", 0.0, math.inf)]))
        first.say(ready=play_pb2.Ready(max_matches=3))
        eventually(lambda: len([*works.of("o1", 0.0, math.inf)]) > said)
        assert len([*works.of("o2", 0.0, math.inf)]) == said, "its hello, and nothing of another's"


def test_what_a_call_makes_the_arena_do_is_its_owners(tmp_path, monkeypatch):
    monkeypatch.setattr(clock, "NOTED_S", 0.0)
    with open_store(tmp_path / "arena.db") as store:
        token = make_key(store.keys(), Scope.BOT, "ann", "alpha")
        tokens = Tokens(guests=True, keys=store.keys().all())
    with running(tmp_path, tokens) as arena, Client(arena.address) as client:
        client.lobby.ListBots(
            lobby_pb2.ListBotsRequest(), metadata=[("authorization", f"Bearer {token}")]
        )
        works = arena.lag._causes
        assert eventually(lambda: [*works.of("ann", 0.0, math.inf)])
        assert set(works._works) == {"ann"}


def test_the_way_of_answers_is_probed_while_a_match_is_in_play(arena):
    """By a word of the arena's own; what had come before it left has been read."""
    meter = arena.lag
    with Client(arena.address) as client, seated(arena, "p1", "p2") as streams:
        create(client, "p1", "p2", time_control=QUICK)
        began_s = arena.now_s()
        assert eventually(lambda: meter._read_s > began_s)
        played(*streams)
