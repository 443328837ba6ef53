"""Workers that fail deal-sets, hold them or send too much: what they cost others, and how it is counted."""

import contextlib
from types import SimpleNamespace

import pytest
import trio

from arena.contests.workers import holding
from arena.contests.workers.holding import (
    AT_FIRST,
    FIRST_S,
    LEAST_S,
    LESS,
    LONGER,
    MORE,
    TIMES,
    Account,
    HeldTime,
)
from arena.contests.workers.messages import MOST_QUOTED
from arena.contests.workers.pool import MOST_BEGINS, OTHERS_FIRST_S, WorkerPool
from arena.contests.workers.worker import Needs, Worker
from arena.sandbox.command import BadCommand
from cardarena.v1 import work_pb2
from tests.api.test_joined_workers import first_match, move_a_point
from tests.contests.test_workers import aborts, dies, require_whole
from tests.contests.workers import passed, plans_of, played, until
from tests.live.lives import run


def aborted(child, message):
    """What aborts a match of each report."""
    return aborts(1)(child, message)


def forged(child, message):
    """What forges each report."""
    return first_match(lambda it: move_a_point(it.scores))(child, message)


def fails(why="my favourite lost", *, bot=False):
    """What fails each deal-set in place of its report."""

    def act(child, message):
        return [
            work_pb2.WorkRequest(begin=message.begin, failed=work_pb2.WorkFailed(bot=bot, why=why))
        ]

    return act


def at_worker(number, act, handed_out=None):
    """What changes the reports of one worker; `handed_out` gets each worker and deal-set."""

    def between(child, message):
        kind = message.WhichOneof("body")
        if kind == "assignment" and handed_out is not None:
            handed_out.append((child.worker.name, message.begin.deal_set))
        if kind == "report" and child.number == number:
            return act(child, message)
        return passed(child, message)

    return between


# fmt: off
FAILURES = [
    # in place of a report    why
    (fails(),                 "it says that it failed"),
    (fails(bot=True),         "it says that a bot cannot be launched"),
    (dies,                    "its connection ends"),
    (aborted,                 "it aborts a match"),
    (forged,                  "its report is not true"),
    (lambda *_: [],           "it says nothing more of it"),
]
# fmt: on


@pytest.mark.parametrize("act", [row[0] for row in FAILURES], ids=[row[1] for row in FAILURES])
def test_a_deal_set_that_failed_at_a_worker_is_played_by_another(act, tmp_path, monkeypatch):
    """A worker failed what its favourite lost, got the same cards again, and the first of three equal bots had +1.17."""
    monkeypatch.setattr(holding, "LEAST_S", 5.0)
    monkeypatch.setattr(holding, "FIRST_S", 5.0)
    handed_out, counted = [], {}

    async def during(world):
        report = None
        with contextlib.suppress(BadCommand):
            report = await world.play(plans_of(3))
        counted.update(world.pool.failed_begins)
        return report

    world, report = played(
        tmp_path,
        monkeypatch,
        between=at_worker(1, act, handed_out),
        during=during,
        workers=0,
        joined=2,
    )
    assert report is not None, "one worker is not believed that a bot cannot be launched"
    require_whole(world, report)
    of_first = [deal_set for worker, deal_set in handed_out if worker == "m1"]
    assert of_first, "it played"
    assert len(of_first) == len(set(of_first)), "it gets none twice"
    assert {each.opened.played_at.worker for each in world.replays()} == {"m2"}
    assert counted == {"m1": len(of_first)}


def test_where_there_is_no_other_a_deal_set_begins_again_at_the_same_worker(tmp_path, monkeypatch):
    handed_out = []
    act = at_worker(1, fails(), handed_out)
    _, report = played(tmp_path, monkeypatch, between=act, number=1, workers=0, joined=1)
    assert [each.id for each in report.incomplete] == [plans_of(1)[0].id]
    assert len(handed_out) == MOST_BEGINS


@pytest.mark.parametrize(
    ("names", "gets", "why"),
    [
        (["m1@a", "m1@b", "m2@a"], "m2@a", "another key, as a worker chooses its host"),
        (["m1@a", "m1@b"], "m1@b", "another host of the key"),
        (["m1@a", "m1@a"], "m1@a", "no other"),
    ],
    ids=["another key", "another host", "the same"],
)
def test_which_worker_gets_what_failed_at_another(names, gets, why, tmp_path, monkeypatch):
    handed_out = []
    act = at_worker(1, fails(), handed_out)

    async def during(world):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(world.play, plans_of(1))
            # The first worker has it before the others join.
            await until(lambda: len(handed_out) > 1)
            nursery.cancel_scope.cancel()

    played(tmp_path, monkeypatch, between=act, during=during, workers=0, names=names)
    assert handed_out[0][0] == "m1@a"
    assert handed_out[1][0] == gets, why


def ready(pool, number, key, *, takes=0):
    found = pool.add(number, key)
    found.connect(SimpleNamespace(send=lambda _: None, end=lambda: None))
    found.take(work_pb2.WorkRequest(ready=work_pb2.WorkerReady(sandbox="S2")))
    for _ in range(takes):
        found.take(work_pb2.WorkRequest(takes=work_pb2.WorkerTakes()))
    return found


# fmt: off
WAITS = [
    # what happens to the other worker           waits for       why
    (lambda pool, other: pool.remove(other),     10,             "it has left"),
    (lambda pool, other: other.take(work_pb2.WorkRequest(leaves={})), 10, "it is about to leave"),
    (lambda pool, other: None,                   OTHERS_FIRST_S, "it takes nothing for long"),
]
# fmt: on


@pytest.mark.parametrize(("happens", "waits_s", "why"), WAITS, ids=[row[-1] for row in WAITS])
def test_what_failed_waits_for_another_worker_as_long_as_it_may_come(happens, waits_s, why):
    async def main():
        pool = WorkerPool()
        first, other = ready(pool, 65, "m1", takes=1), ready(pool, 66, "m2")
        began_s = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(later, pool, other)
            assert await pool.find(Needs(0), ["m1"]) is first
        return trio.current_time() - began_s

    async def later(pool, other):
        await trio.sleep(10)
        happens(pool, other)

    assert run(main) == pytest.approx(waits_s), why


def holds(keys):
    """What plays nothing at workers of these keys: they ask for deal-sets, and say how they fare."""

    def between(child, message):
        if child.worker.key not in keys:
            return passed(child, message)
        match message.WhichOneof("body"):
            case "ready":
                return [message, *[work_pb2.WorkRequest(takes=work_pb2.WorkerTakes())] * 9]
            case "joined" | "counts":
                return [message]
        return []

    return between


def test_workers_that_hold_deal_sets_cost_others_little(tmp_path, monkeypatch):
    """Two connections of one key held 36 of 36 deal-sets for as long as they liked, and said only how they fare."""
    monkeypatch.setattr(holding, "AT_FIRST", 2)
    monkeypatch.setattr(holding, "LEAST_S", 5.0)
    held, began_s = [], []

    async def during(world):
        began_s.append(trio.current_time())
        world.nursery.start_soon(watch, world)
        report = None
        with trio.move_on_after(120):
            report = await world.play(plans_of(6))
        began_s.append(trio.current_time())
        return report

    async def watch(world):
        while True:
            held.extend(a.held for key, a in world.pool._accounts.items() if key == "m1")
            await trio.sleep(0.1)

    names = ["m1@a", "m1@b", "m2"]
    world, report = played(
        tmp_path, monkeypatch, between=holds({"m1"}), during=during, workers=0, names=names
    )
    assert report is not None, "they hold them for ever"
    require_whole(world, report, 6)
    assert {each.opened.played_at.worker for each in world.replays()} == {"m2"}
    assert max(held) == 2
    assert began_s[1] - began_s[0] < 60


# fmt: off
ROOM = [
    # what becomes of deal-sets       room afterwards          why
    ("",                              AT_FIRST,                "at first"),
    ("h",                             AT_FIRST - 1,            "one is held"),
    ("h" * (AT_FIRST + 3),            0,                       "more are held"),
    ("r",                             AT_FIRST + MORE,         "one was reported"),
    ("f",                             AT_FIRST - LESS,         "one failed"),
    ("f" * 9,                         1,                       "all failed: it may try one"),
    ("f" * 9 + "r",                   1 + MORE,                "and reports it"),
]
# fmt: on


@pytest.mark.parametrize(("events", "room", "why"), ROOM, ids=[row[-1] for row in ROOM])
def test_a_key_may_hold_more_deal_sets_the_more_it_has_reported(events, room, why):
    account = Account()
    for event in events:
        match event:
            case "h":
                account.held += 1
            case "r":
                account.reported()
            case "f":
                account.failed("m1")
    assert account.room == room


# fmt: off
LIMITS = [
    # reported took, begins that failed    the limit                 why
    ((),             0,                    FIRST_S,                  "nothing was reported yet"),
    ((),             2,                    FIRST_S * LONGER**2,      "bots that are slow have their time at last"),
    ((1.0,),         0,                    LEAST_S,                  "short ones"),
    ((60.0,) * 3,    0,                    60.0 * TIMES,             "long ones"),
    ((1.0,) * 5 + (9e9,) * 4, 0,           LEAST_S,                  "the fewer do not set the limit of the others"),
]
# fmt: on


@pytest.mark.parametrize(
    ("took", "failed", "limit_s", "why"), LIMITS, ids=[row[-1] for row in LIMITS]
)
def test_the_limit_of_time_follows_from_what_was_reported(took, failed, limit_s, why):
    held_time = HeldTime()
    for seconds in took:
        held_time.reported(seconds)
    assert held_time.limit_s(failed) == limit_s


LONG = "x" * 100_000


def worker(**ready):
    found = Worker(65, lambda: None, "m1", Account())
    found.connect(SimpleNamespace(send=lambda _: None, end=lambda: None))
    found.take(work_pb2.WorkRequest(ready=work_pb2.WorkerReady(**ready)))
    return found


# fmt: off
SAID = [
    (work_pb2.WorkRequest(begin=work_pb2.WorkBegin(deal_set=LONG), commitments={}),  "the name of a deal-set"),
    (work_pb2.WorkRequest(begin=work_pb2.WorkBegin(deal_set=LONG), report={}),       "a report of it"),
]
# fmt: on


@pytest.mark.parametrize(("message", "why"), SAID, ids=[row[-1] for row in SAID])
def test_what_a_worker_says_is_cut_before_it_is_logged(message, why, caplog):
    worker(sandbox="S2").take(message)
    (record,) = caplog.records
    assert 0 < len(record.why) <= MOST_QUOTED + 1


@pytest.mark.parametrize("bot", [False, True], ids=["an error of its own", "a bot"])
def test_why_a_worker_fails_is_cut(bot, tmp_path, monkeypatch, caplog):
    act = at_worker(1, fails(LONG, bot=bot))
    played(tmp_path, monkeypatch, between=act, number=1, workers=0, joined=2)
    (said,) = [
        record.why for record in caplog.records if record.message == "a deal-set begins again"
    ]
    assert 0 < len(said) <= MOST_QUOTED + 1


def test_a_bot_that_no_machine_can_launch_is_named(tmp_path, monkeypatch):
    def between(child, message):
        if message.WhichOneof("body") == "report":
            return fails("its files are gone", bot=True)(child, message)
        return passed(child, message)

    async def during(world):
        with pytest.raises(BadCommand, match="its files are gone"):
            await world.play(plans_of(1))
        return world.pool.failed_begins

    _, failed = played(tmp_path, monkeypatch, between=between, during=during, workers=0, joined=2)
    assert failed == {"m1": 1, "m2": 1}


def test_a_worker_is_ready_once():
    found = worker(sandbox="S2")
    assert found.is_ready
    found.take(work_pb2.WorkRequest(ready=work_pb2.WorkerReady(sandbox="S3")))
    assert not found.is_ready
