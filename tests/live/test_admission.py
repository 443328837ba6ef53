"""New matches are taken while the arena is punctual and has room, and wait or are refused else."""

import logging

import grpc
import pytest
import trio
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from trio.testing import MockClock, wait_all_tasks_blocked

from arena.bots.bot_ids import BotId
from arena.bots.tokens import new_token
from arena.errors.refused import Refused
from arena.live import match_admission
from arena.live.match_admission import Admission
from arena.testing.outbox import MemoryOutbox
from cardarena.v1 import play_pb2
from tests.live.lives import arena_in, run, says_hello

GB = 1_000_000_000
MB = 1_000_000


class Machine:
    """How late an arena is and what room it has, and how often it was asked."""

    def __init__(self, late_ms=0.0, total=100 * GB, free=50 * GB):
        self.now_s = 100.0
        self.late_ms, self.total, self.free = late_ms, total, free
        self.looks_at_lateness = self.looks_at_disk = 0

    def p99_ms(self):
        self.looks_at_lateness += 1
        return self.late_ms

    def disk(self):
        self.looks_at_disk += 1
        if self.free is None:
            raise OSError("no such disk")
        return self.total, self.total - self.free, self.free

    def door(self, now_s=None, **limits):
        now_s = now_s or (lambda: self.now_s)
        return Admission(p99_ms=self.p99_ms, disk=self.disk, now_s=now_s, **limits)


# fmt: off
MACHINES = [
    # late (ms)  total      free        refused, and to retry after  why
    (0,          100 * GB,  50 * GB,    None,                        "nothing is wrong"),
    (20,         100 * GB,  50 * GB,    None,                        "as late as is allowed"),
    (20.1,       100 * GB,  50 * GB,    ("20 ms late", 5),           "later than is allowed"),
    (300,        100 * GB,  50 * GB,    ("300 ms late", 5),          "far too late"),
    (0,          100 * GB,  5 * GB,     None,                        "a twentieth of the disk is free"),
    (0,          100 * GB,  4.9 * GB,   ("4,900 MB", 60),            "less than a twentieth is free"),
    (0,          2 * GB,    500 * MB,   None,                        "500 MB of a small disk are free"),
    (0,          2 * GB,    499 * MB,   ("499 MB", 60),              "less than 500 MB are free"),
    (300,        100 * GB,  0,          ("0 MB", 60),                "both: the one that lasts longer"),
    (0,          100 * GB,  None,       None,                        "a disk that cannot be asked"),
]
# fmt: on


@pytest.mark.parametrize(
    ("late_ms", "total", "free", "refused", "why"), MACHINES, ids=[row[-1] for row in MACHINES]
)
def test_whether_a_match_is_taken(late_ms, total, free, refused, why):
    door = Machine(late_ms, total, free).door()
    if refused is None:
        door.require_open()
        assert door.refused == 0
        return
    with pytest.raises(Refused, match=refused[0]) as caught:
        door.require_open()
    assert (caught.value.code, caught.value.reason) == (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "BUSY",
    )
    assert caught.value.retry_s == refused[1]
    assert door.refused == 1


def test_a_refusal_carries_the_time_to_retry_for_programs():
    with pytest.raises(Refused) as caught:
        Machine(late_ms=50).door().require_open()
    (key, value) = caught.value.trailing_metadata()[0]
    assert key == rpc_status.GRPC_DETAILS_METADATA_KEY
    status = rpc_status.status_pb2.Status.FromString(value)
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    assert [status.details[0].Unpack(info), status.details[1].Unpack(retry)] == [True, True]
    assert info.reason == "BUSY"
    assert retry.retry_delay.ToMilliseconds() == 5_000


def test_a_refusal_that_no_time_mends_names_none():
    refused = Refused("UNKNOWN_GAME")
    status = rpc_status.status_pb2.Status.FromString(refused.trailing_metadata()[0][1])
    assert len(status.details) == 1


def test_checks_are_cached_however_many_orders_arrive():
    machine = Machine()
    door = machine.door()
    for _ in range(1_000):
        door.require_open()
        machine.now_s += 0.002
    assert machine.looks_at_disk == pytest.approx(2, abs=1)
    assert machine.looks_at_lateness == pytest.approx(20, abs=1)


def test_matches_are_accepted_again_after_the_arena_recovers():
    machine = Machine(late_ms=50)
    door = machine.door()
    assert door.why_closed()
    machine.late_ms = 0.0
    machine.now_s += match_admission.CHECK_LATE_S
    assert not door.why_closed()
    machine.free = 0
    machine.now_s += match_admission.CHECK_DISK_S
    assert door.why_closed()
    machine.free = machine.total
    machine.now_s += match_admission.CHECK_DISK_S
    assert not door.why_closed()


def test_limits_of_the_disk_can_be_set():
    door = Machine(total=2 * MB, free=1 * MB).door(min_free_bytes=1000, min_free_share=0.01)
    assert not door.why_closed()


def test_closing_and_reopening_of_admission_are_logged_once(caplog):
    machine = Machine(late_ms=50)
    door = machine.door()
    with caplog.at_level(logging.INFO, "arena.live.match_admission"):
        for late_ms in (50, 60, 70, 0, 0):
            machine.late_ms = late_ms
            machine.now_s += 1
            door.why_closed()
    assert caplog.messages == ["no new matches are taken", "new matches are taken again"]
    assert caplog.records[0].why == "the arena is 50 ms late"


# Tournaments.


class Tournament:
    """Matches that wait for their turns, on a mock clock."""

    def __init__(self, machine, match_s=10):
        self.match_s = match_s
        self.machine = machine
        self.door = machine.door(trio.current_time)
        self.begun = []
        self.playing = self.most = 0

    async def match(self, name):
        async with self.door.turn():
            self.begun.append(name)
            self.playing += 1
            self.most = max(self.most, self.playing)
            try:
                await trio.sleep(self.match_s)
            finally:
                self.playing -= 1

    async def order(self, nursery, count):
        for name in range(count):
            nursery.start_soon(self.match, name)
            await wait_all_tasks_blocked()


def play(main):
    return trio.run(main, clock=MockClock(autojump_threshold=0))


def test_all_matches_of_a_competition_are_accepted_at_once_while_admission_is_open():
    async def main():
        tournament, began_s = Tournament(Machine()), trio.current_time()
        async with trio.open_nursery() as nursery:
            await tournament.order(nursery, 8)
        assert tournament.most == 8
        assert trio.current_time() - began_s == pytest.approx(10)

    play(main)


def test_a_competition_plays_one_match_at_a_time_in_order_while_the_disk_is_full():
    async def main():
        machine = Machine()
        tournament, began_s = Tournament(machine), trio.current_time()
        async with trio.open_nursery() as nursery:
            await tournament.order(nursery, 8)
            await trio.sleep(match_admission.CHECK_DISK_S)
            machine.free = 0
            await tournament.order(nursery, 3)
            await trio.sleep(12)
            assert tournament.playing == 1
        assert tournament.begun[8:] == [0, 1, 2]
        assert trio.current_time() - began_s == pytest.approx(40, abs=4 * match_admission.WAIT_S)

    play(main)


def test_while_the_arena_is_late_half_as_many_matches_are_in_play_and_then_half_of_that():
    async def main():
        machine = Machine()
        tournament = Tournament(machine, match_s=1)
        in_play = []
        async with trio.open_nursery() as nursery:
            await tournament.order(nursery, 60)
            machine.late_ms = 50.0
            await trio.sleep(match_admission.CHECK_LATE_S)
            await tournament.order(nursery, 1_000)
            for _ in range(5):
                await trio.sleep(2)
                tournament.most = 0
                await trio.sleep(match_admission.HALVE_S - 3)
                in_play.append(tournament.most)
                await trio.sleep(1)
            machine.late_ms = 0.0
            await trio.sleep(2)
        assert in_play == [30, 15, 7, 3, 1]
        assert tournament.begun[60:] == list(range(1_000))
        assert tournament.most > 100

    play(main)


def test_a_competition_plays_its_matches_in_order_however_late_the_arena_is():
    async def main():
        tournament = Tournament(Machine(late_ms=50))
        async with trio.open_nursery() as nursery:
            await tournament.order(nursery, 5)
        assert tournament.begun == list(range(5))
        assert tournament.most == 1

    play(main)


def test_waiting_matches_are_accepted_after_recovery_and_halving_begins_anew():
    async def main():
        machine = Machine(late_ms=50)
        tournament = Tournament(machine)
        async with trio.open_nursery() as nursery:
            await tournament.order(nursery, 8)
            await trio.sleep(5)
            assert tournament.playing == 1
            machine.late_ms = 0.0
            await trio.sleep(1)
            assert tournament.playing == 8
            machine.late_ms = 50.0
            await trio.sleep(1)
            await tournament.order(nursery, 8)
            await trio.sleep(9)
            assert tournament.playing == 4

    play(main)


def test_a_match_that_is_stopped_while_it_waits_or_plays_keeps_no_place():
    async def main():
        tournament = Tournament(Machine(late_ms=50))
        async with trio.open_nursery() as nursery:
            await tournament.order(nursery, 3)
            nursery.cancel_scope.cancel()
        async with trio.open_nursery() as nursery:
            await tournament.order(nursery, 1)
        assert tournament.begun == [0, 0]

    play(main)


def test_a_bot_that_the_arena_launched_is_accepted_while_a_new_one_is_refused(tmp_path):
    """It would be blamed for a match that the arena itself kept it out of."""

    async def main():
        machine = Machine(late_ms=56)
        async with arena_in(tmp_path, admission=machine.door(now_s=trio.current_time)) as (
            arena,
            _,
        ):
            token = new_token()
            arena.tokens.add(token, BotId("house"))
            arena.hello(play_pb2.Hello(token=token), MemoryOutbox())
            with pytest.raises(Refused, match="56 ms late"):
                says_hello(arena, BotId("new"))
            assert [session.bot.name for session in arena.sessions] == ["house"]

    run(main)
