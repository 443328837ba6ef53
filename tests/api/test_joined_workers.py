"""Workers on other machines: what they report is verified, and what is not true counts for nothing."""

import asyncio
import pickle
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
import trio.testing
from google.protobuf.message import DecodeError

from arena.api.work import (
    MESSAGES,
    MESSAGES_OF_KEY,
    MESSAGES_OF_KEY_PER_S,
    MESSAGES_PER_S,
    WorkCalls,
    _why_unfit,
)
from arena.bots.blobs import Blobs
from arena.bots.tokens import Tokens, key_id, new_token, token_sha256
from arena.contests.plan import read_plan
from arena.contests.scheduler import arena_player_of
from arena.contests.workers import pool as pools
from arena.contests.workers import speed as speed_class
from arena.contests.workers.holding import Account
from arena.contests.workers.player import COUNT_S
from arena.contests.workers.pool import MOST_BEGINS, MOST_OF_KEY, WorkerPool
from arena.contests.workers.reports import ReportProcesses
from arena.contests.workers.worker import MOST_TAKES, Needs, Worker
from arena.errors.refused import Refused
from arena.live.metrics import PlacementStatus, Traffic
from arena.live.players import ArchivedBot
from arena.live.work import CannotPlay
from arena.records.deal_book import DEALS_NAME, read_deals
from arena.records.journal.match_log import renumbered
from arena.results.deal_sets import round_robin
from arena.sandbox.spawner.order import Level
from arena.store import Key, Scope
from arena.store.data_folder import arena_version
from arena.token_bucket import TokenBucket
from cardarena.v1 import game_pb2, journal_pb2, work_pb2
from tests.contests.played import toml
from tests.contests.test_workers import aborts, contexts, dies, other, require_whole
from tests.contests.workers import NAMES, Once, alone, passed, plans_of, played
from tests.doubles.streams import PATIENCE_S

JOINED = {"workers": 0, "joined": 2}


def test_replays_are_signed_by_the_arena_and_name_the_machine(tmp_path, monkeypatch):
    world, report = played(tmp_path, monkeypatch, **JOINED)
    require_whole(world, report)
    assert {each.opened.played_at.worker for each in world.replays()} == {"m1", "m2"}
    assert {each.opened.played_at.sandbox for each in world.replays()} == {"S2"}
    assert not world.bots.processes, "the arena launched no bot"


def test_outcomes_are_those_of_an_arena_without_workers(tmp_path, monkeypatch):
    (tmp_path / "alone").mkdir()
    twin = alone(tmp_path / "alone", monkeypatch, fair=False)
    _, report = played(tmp_path, monkeypatch, fair=False, **JOINED)
    assert report.outcomes == twin


# What is forged.


def first_match(change):
    """What changes the first match of a report."""
    return other("report", lambda message: change(message.report.matches[0]))


def opened(change):
    """What changes the first record of a match, and computes the hash chain anew."""

    def act(match):
        record = journal_pb2.Record.FromString(match.records[0])
        change(record.opened)
        rechained(match, [record.SerializeToString(), *match.records[1:]])

    return first_match(act)


def rechained(match, records):
    closed = journal_pb2.Record.FromString(records[-1])
    del match.records[:]
    match.records.extend(renumbered(records, closed.match))


def closed(change):
    """What changes the last record of a match and its outcome alike."""

    def act(match):
        record = journal_pb2.Record.FromString(match.records[-1])
        change(record.closed)
        change(match)
        match.records[-1] = record.SerializeToString()

    return first_match(act)


def first_decision(match):
    """The place of the first decision among the records of a match; bots' notes are between them."""
    records = map(journal_pb2.Record.FromString, match.records)
    return next(at for at, each in enumerate(records) if each.HasField("decided"))


def decided(change):
    """What changes the first decision, and computes the hash chain anew."""

    def act(match):
        records, at = [*match.records], first_decision(match)
        record = journal_pb2.Record.FromString(records[at])
        change(record.decided)
        records[at] = record.SerializeToString()
        rechained(match, records)

    return first_match(act)


class Touches:
    """Unpickled, it makes a file."""

    def __reduce__(self):
        return open, ("unpickled", "w")


PICKLE = pickle.dumps(Touches())
TAKES = work_pb2.WorkRequest(takes=work_pb2.WorkerTakes())


def move_a_point(scores):
    """Change any scores of two seats, and keep their sum."""
    scores[0], scores[1] = scores[0] + 1, scores[1] - 1


# fmt: off
FORGED = [
    # what comes                                                                   why it is refused
    (first_match(lambda it: move_a_point(it.scores)),                              "another score than the records have"),
    (closed(lambda it: move_a_point(it.scores)),                                   "another score than the moves come to"),
    (closed(lambda it: setattr(it, "ending", game_pb2.ENDING_FORFEIT)),            "another ending"),
    (first_match(lambda it: it.faults[0].counts.__setitem__(1, 1)),                "a fault that is not in the records"),
    (first_match(lambda it: setattr(it, "decisions", 1)),                          "another number of decisions"),
    (first_match(lambda it: it.forfeited.__setitem__(0, True)),                    "a seat that did not forfeit"),
    (first_match(lambda it: it.records.pop(first_decision(it))),                   "a decision is missing"),
    (decided(lambda it: setattr(it, "sent_us", 10**15)),                           "a decision after the end"),
    (decided(lambda it: setattr(it, "bank_ms", it.bank_ms + 5)),                   "time that was not left"),
    (opened(lambda it: setattr(it.entrants[0], "name", "eve")),                    "another bot"),
    (opened(lambda it: setattr(it.entrants[0], "version", "9")),                   "another version"),
    (opened(lambda it: setattr(it.terms, "fault_limit", 1)),                       "other terms"),
    (opened(lambda it: setattr(it, "deal_set", "other")),                          "another deal-set"),
    (opened(lambda it: setattr(it.fair_deal, "server_id", "other")),               "another commitment"),
    (opened(lambda it: setattr(it.played_at, "worker", "m9")),                     "the name of another worker"),
    (first_match(lambda it: it.records.insert(1, PICKLE)),                         "a pickle"),
    (Once("report", lambda *_: [TAKES] * (MOST_TAKES + 1)),                        "it asks for everything"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize("between", [row[0] for row in FORGED], ids=[row[1] for row in FORGED])
def test_what_is_forged_counts_for_nothing(between, tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    live = []

    def passes(child, message):
        live.append({each.context for each in child.world.home.deal_sets.live})
        return between(child, message)

    world, report = played(tmp_path, monkeypatch, between=passes, **JOINED)
    require_whole(world, report)
    assert between.child.returncode is not None, "its call is ended"
    assert "a worker is ended" in [record.message for record in caplog.records]
    again = [kind for _, kind in world.seen].count("assignment")
    assert again > 3, "its deal-set begins again"
    assert len(set(contexts(world).values()) | set.union(*live)) == 3, "with the same packs"
    assert not Path("unpickled").exists(), "nothing of a report is run"


def test_what_such_a_worker_aborts_begins_again_with_the_same_packs(tmp_path, monkeypatch):
    world, report = played(tmp_path, monkeypatch, between=aborts(1), number=1, **JOINED)
    require_whole(world, report, 1)
    assert [kind for _, kind in world.seen].count("assignment") == 2
    (_,) = read_deals(tmp_path / "home" / "journal" / DEALS_NAME).deals()


def test_what_it_aborts_again_and_again_is_given_up(tmp_path, monkeypatch):
    def between(child, message):
        return aborts(1)(child, message)

    world, report = played(tmp_path, monkeypatch, between=between, number=1, **JOINED)
    assert [each.id for each in report.incomplete] == [plans_of(1)[0].id]
    assert [kind for _, kind in world.seen].count("assignment") == MOST_BEGINS
    assert world.results.ended == {}


@pytest.mark.parametrize("kind", ["deals", "report"], ids=["begun", "reported"])
def test_a_machine_that_dies_costs_nobody_cards(kind, tmp_path, monkeypatch):
    before = {}

    def dies_here(child, message):
        live = child.world.home.deal_sets.live
        before.update({each.fair_deal.deal_set: each.context for each in live})
        return dies(child, message)

    world, report = played(tmp_path, monkeypatch, between=Once(kind, dies_here), **JOINED)
    require_whole(world, report)
    assert before
    assert contexts(world).items() >= before.items()


def test_a_worker_that_leaves_finishes_what_it_plays(tmp_path, monkeypatch):
    left = []

    def between(child, message):
        if child.number == 1 and message.WhichOneof("body") == "deals" and not left:
            left.append(child)
            child.leave()
        if child in left and message.WhichOneof("body") == "assignment":
            raise AssertionError("it has left")
        return passed(child, message)

    world, report = played(tmp_path, monkeypatch, between=between, number=6, **JOINED)
    require_whole(world, report, 6)
    assert left[0].returncode is not None
    assert {each.opened.played_at.worker for each in world.replays()} == {"m1", "m2"}


def test_reports_that_wait_for_verification_take_no_threads_of_others(monkeypatch):
    verified = threading.Event()

    def prepare_all(_, reports):
        verified.wait()
        return [()] * len(reports)

    monkeypatch.setattr(ReportProcesses, "_prepare_all", prepare_all)

    async def main():
        prepare = ReportProcesses()
        async with trio.open_nursery() as nursery:
            for _ in range(1_000):
                nursery.start_soon(prepare, None)
            await trio.testing.wait_all_tasks_blocked()
            with trio.move_on_after(PATIENCE_S) as patience:
                await trio.to_thread.run_sync(bool)
            verified.set()
        assert not patience.cancelled_caught

    trio.run(main)


def test_a_key_has_messages_for_as_many_workers_as_it_may_have():
    slots, deal_set_s, messages = 8, 60, 5
    now_s = 0.0
    bucket = TokenBucket(MESSAGES_OF_KEY, MESSAGES_OF_KEY_PER_S, lambda: now_s)
    of_worker_per_s = 1 / COUNT_S + slots * messages / deal_set_s
    for _ in range(60):
        now_s += 1
        assert all(bucket.take() for _ in range(round(MOST_OF_KEY * of_worker_per_s)))


# Which worker gets what.


def worker_with(**ready):
    worker = Worker(65, lambda: None, "m1", Account())
    worker._take(work_pb2.WorkRequest(ready=work_pb2.WorkerReady(**ready)))
    return worker


# fmt: off
FITTING = [
    # the worker's own                                          what is needed                            fits   why
    ({"speed_class": 1, "sandbox": "S2"},                       Needs(1),                                 True,  "the class"),
    ({"speed_class": 1, "sandbox": "S2"},                       Needs(0),                                 False, "another class"),
    ({"speed_class": 1, "sandbox": "S2"},                       Needs(),                                  False, "what the arena's own machine plays"),
    ({"sandbox": "S2"},                                         Needs(0, Level.S3),                       False, "a stronger sandbox"),
    ({"sandbox": "S3"},                                         Needs(0, Level.S2),                       True,  "a weaker sandbox"),
    ({"sandbox": "S2", "runtimes": ["aa", "bb"]},               Needs(0, runtimes=frozenset(["bb"])),     True,  "a runtime that it has"),
    ({"sandbox": "S2", "runtimes": ["aa"]},                     Needs(0, runtimes=frozenset(["bb"])),     False, "a runtime that it lacks"),
]
UNFIT = [
    ({"engine": arena_version(), "sandbox": "S2"},              "",                                       "as the arena"),
    ({"engine": "0.1", "sandbox": "S2"},                        "it runs version 0.1",                    "another version"),
    ({"engine": arena_version(), "sandbox": "S1"},              "its sandbox is S1",                      "a weak sandbox"),
    ({"engine": arena_version()},                               "its sandbox is S0",                      "no sandbox"),
    ({"engine": arena_version(), "sandbox": "S2", "host": "n-1.a_b"}, "",                                 "a name of a host"),
    ({"engine": arena_version(), "sandbox": "S2", "host": "a@b"}, "'a@b' is no name of a host",           "a host that looks like a worker"),
    ({"engine": arena_version(), "sandbox": "S2", "host": "a" * 65}, f"{'a' * 65!r} is no name of a host", "a long one"),
]
# fmt: on


@pytest.mark.parametrize(
    ("ready", "needs", "fits"), [row[:3] for row in FITTING], ids=[row[3] for row in FITTING]
)
def test_a_worker_gets_only_what_it_fits(ready, needs, fits):
    assert worker_with(**ready).fits(needs) == fits


@pytest.mark.parametrize(
    ("ready", "why"), [row[:2] for row in UNFIT], ids=[row[2] for row in UNFIT]
)
def test_a_worker_is_told_why_it_cannot_join(ready, why):
    found = _why_unfit(work_pb2.WorkerReady(**ready))
    assert found.startswith(why)
    assert bool(found) == bool(why)


def test_a_bot_of_a_command_is_packed_for_other_machines(tmp_path, monkeypatch):
    packed = []

    async def during(world):
        del world.versions["ann"]
        world.pack = lambda command: (
            packed.append(command.argv) or ArchivedBot("ann", "1" * 64, {}, "")
        )
        return await world.play(plans_of(3))

    world, report = played(tmp_path, monkeypatch, during=during, **JOINED)
    require_whole(world, report)
    assert packed == [("bot", "ann")], "once"
    hashes = [child.bots.known["ann"].sha256 for child in world.children]
    assert hashes == ["1" * 64] * 2
    assert not world.bots.processes, "the arena launched no bot"


def test_a_bot_that_dials_in_is_no_bot_for_other_machines(tmp_path, monkeypatch):
    async def during(world):
        world.remote = ("ann",)
        del world.versions["ann"]
        with pytest.raises(CannotPlay, match="ann is a remote bot"):
            await world.play(plans_of(1))
        assert world.results.ended == {}

    world, _ = played(tmp_path, monkeypatch, during=during, **JOINED)
    assert world.seen == []


def test_a_later_competition_has_its_files_by_the_name_of_an_earlier_bot(tmp_path, monkeypatch):
    async def during(world):
        await world.play(plans_of(3))
        world.versions["ann"] = ArchivedBot("ann", "2" * 64, {}, "")
        later = round_robin(NAMES, seats=2, deal_sets=3, seed="later", tournament="later")
        return await world.play(later)

    world, report = played(tmp_path, monkeypatch, during=during, workers=0, joined=1)
    assert not report.incomplete
    (child,) = world.children
    assert child.bots.known["ann"].sha256 == "2" * 64
    assert child.bots.known["bob"].sha256 == "0" * 64


# The calls.


TOKEN, OTHER = new_token(), new_token()
MADE = datetime(2026, 11, 25, tzinfo=UTC)


def key(token, owner, **more):
    digest = token_sha256(token)
    return Key(key_id(token), digest, Scope.WORKER, owner, "", MADE, **{"changed": 1, **more})


class Context:
    """A call, which reads what a test puts into `sent`."""

    def __init__(self, token=TOKEN):
        self.token, self.sent = token, asyncio.Queue()

    def peer(self):
        return "ipv4:192.0.2.1:5000"

    def invocation_metadata(self):
        return (("authorization", f"Bearer {self.token}"),)

    async def read(self):
        sent = await self.sent.get()
        if isinstance(sent, Exception):
            raise sent
        return sent


class Pool:
    """A pool in which workers of m1 need one archive."""

    def needed_by(self, name, sha256):
        return (name, sha256) == ("m1", "aa" * 32)


def joined(folder, tokens=None, pool=None):
    tokens = tokens or Tokens(keys=[key(TOKEN, "m1"), key(OTHER, "m2")])
    found = WorkCalls(tokens, Traffic(), Blobs(folder), dict)
    found._pool = pool
    return found


def refusal(call):
    with pytest.raises(Refused) as refused:
        asyncio.run(call())
    return refused.value.reason


# fmt: off
ARCHIVES = [
    # token,  archive, pool      the refusal         why
    (TOKEN,   "aa",    Pool(),   None,               "one that it needs"),
    (TOKEN,   "bb",    Pool(),   "UNKNOWN_VERSION",  "one that it does not need"),
    (OTHER,   "aa",    Pool(),   "UNKNOWN_VERSION",  "one that another worker needs"),
    (TOKEN,   "aa",    None,     "UNKNOWN_VERSION",  "an arena without a pool"),
]
# fmt: on


@pytest.mark.parametrize(
    ("token", "sha256", "pool", "reason"),
    [row[:4] for row in ARCHIVES],
    ids=[row[4] for row in ARCHIVES],
)
def test_a_worker_gets_the_archives_that_it_needs(token, sha256, pool, reason, tmp_path):
    (tmp_path / "blobs").mkdir()
    for name in ("aa", "bb"):
        (tmp_path / "blobs" / (name * 32)).write_bytes(b"zip " * 50_000)
    service = joined(tmp_path, pool=pool)

    async def call():
        request = work_pb2.GetArchiveRequest(sha256=sha256 * 32)
        return b"".join([each.piece async for each in service.GetArchive(request, Context(token))])

    if reason is None:
        assert asyncio.run(call()) == b"zip " * 50_000
    else:
        assert refusal(call) == reason


def test_an_arena_that_has_no_pool_lets_nobody_join(tmp_path):
    async def call():
        async for _ in joined(tmp_path).Work(None, Context()):
            raise AssertionError

    assert refusal(call) == "DRAINING"


READY = work_pb2.WorkRequest(
    ready=work_pb2.WorkerReady(pid=7, engine=arena_version(), sandbox="S2", speed_class=3)
)


def test_a_worker_joins_by_a_call_that_lasts_until_it_leaves(tmp_path):
    pool, context = WorkerPool(), Context()
    service = joined(tmp_path, pool=pool)

    async def call():
        answers = service.Work(None, context)
        first = asyncio.ensure_future(anext(answers))
        context.sent.put_nowait(READY)
        assert (await first).HasField("joined")
        (row,) = pool.status()
        context.sent.put_nowait(work_pb2.WorkRequest(leaves=work_pb2.WorkerLeaves()))
        assert [each async for each in answers] == []
        return row.name, row.pid, row.speed_class

    assert asyncio.run(call()) == ("m1", 7, 3)
    assert pool.status() == []


def test_a_local_worker_joins_by_the_token_that_the_arena_gave_it(tmp_path):
    pool, tokens, token = WorkerPool(), Tokens(), new_token()
    tokens.add_worker(token, 2)
    for number in (1, 2):
        pool.add(number)
    service = joined(tmp_path, tokens, pool)

    async def call():
        context, again = Context(token), Context(token)
        first, second = service.Work(None, context), service.Work(None, again)
        context.sent.put_nowait(work_pb2.WorkRequest(ready=work_pb2.WorkerReady(pid=7)))
        assert (await anext(first)).HasField("joined"), "whatever its sandbox is"
        again.sent.put_nowait(work_pb2.WorkRequest(ready=work_pb2.WorkerReady(pid=8)))
        assert (await anext(second)).HasField("joined")
        assert [each async for each in first] == [], "the earlier call is ended"
        return [(row.number, row.pid, row.starts) for row in pool.status()]

    assert asyncio.run(call()) == [(1, 0, 0), (2, 8, 2)]


def test_a_worker_that_the_arena_cannot_use_is_refused(tmp_path):
    pool, context = WorkerPool(), Context()
    service = joined(tmp_path, pool=pool)

    async def call():
        context.sent.put_nowait(work_pb2.WorkRequest(ready=work_pb2.WorkerReady(engine="0.1")))
        await anext(service.Work(None, context))

    assert refusal(call) == "UNFIT_WORKER"
    assert pool.status() == []


def test_a_key_has_some_workers_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(pools, "MOST_OF_KEY", 2)
    pool = WorkerPool()
    for number, name in enumerate(("m1", "m1", "m2"), 65):
        pool.add(number, name)
    service = joined(tmp_path, pool=pool)

    async def call(token=TOKEN):
        context = Context(token)
        context.sent.put_nowait(READY)
        await anext(service.Work(None, context))

    assert refusal(call) == "TOO_MANY_OPEN"
    asyncio.run(call(OTHER))


def test_what_a_worker_failed_is_shown_when_it_has_left():
    pool = WorkerPool()
    worker = pool.add(65, "m1")
    worker.connect(SimpleNamespace(send=lambda _: None))
    worker.take(work_pb2.WorkRequest(ready=work_pb2.WorkerReady(host="a")))
    worker._account.failed(worker.name)
    assert [(row.name, row.number, row.failed_begins) for row in pool.status()] == [("m1@a", 65, 1)]
    pool.remove(worker)
    assert [(row.name, row.number, row.failed_begins) for row in pool.status()] == [("m1@a", 0, 1)]


COUNTS = work_pb2.WorkRequest(counts=work_pb2.WorkerCounts())


@pytest.mark.parametrize(
    ("number", "times", "is_cut", "why"),
    [
        (MESSAGES - 2, 1, False, "no more than a burst"),
        (MESSAGES, 1, True, "a flood"),
        (MESSAGES - 2, 5, True, "a flood over several connections of a key"),
    ],
    ids=["a burst", "a flood", "several connections"],
)
def test_a_worker_that_floods_is_cut(number, times, is_cut, why, tmp_path, caplog):
    """A flood of tiny counts took 98 % of the arena's processor."""
    pool, now = WorkerPool(), [0.0]
    tokens = Tokens(keys=[key(TOKEN, "m1")])
    service = WorkCalls(tokens, Traffic(), Blobs(tmp_path), dict, lambda: now[0])
    service._pool = pool

    async def call():
        for _ in range(times):
            context = Context()
            for message in (READY, *[COUNTS] * number, work_pb2.WorkRequest(leaves={})):
                context.sent.put_nowait(message)
            async for _ in service.Work(None, context):
                pass
            if context.sent.qsize():
                return context.sent.qsize()
        return 0

    left = asyncio.run(call())
    said = [getattr(record, "why", "") for record in caplog.records]
    assert (f"it has sent more than {MESSAGES_PER_S:.0f} messages a second" in said) == is_cut, why
    assert bool(left) == is_cut, "the rest is not read"
    assert pool.status() == []


def test_a_program_that_places_workers_learns_what_there_is_to_play(tmp_path):
    pool = WorkerPool()
    service = WorkCalls(
        Tokens(keys=[key(TOKEN, "m1")]), Traffic(), Blobs(tmp_path), lambda: {2: 17, None: 4}
    )
    report = work_pb2.ReportPlacementRequest(
        engine="dask", speed_class=2, wanted=5, running=3, pending=1, problem="no room"
    )
    assert refusal(lambda: service.ReportPlacement(report, Context())) == "DRAINING"
    service._pool = pool
    pool.waiting_again.update({2: 1, 3: 5})
    answer = asyncio.run(service.ReportPlacement(report, Context()))
    assert answer == work_pb2.ReportPlacementResponse(deal_sets_waiting=18)
    assert pool.placements.status() == [PlacementStatus("m1", "dask", 2, 5, 3, 1, "no room")]


def test_what_is_no_message_ends_a_call(tmp_path, caplog):
    pool, context = WorkerPool(), Context()
    service = joined(tmp_path, pool=pool)

    async def call():
        context.sent.put_nowait(READY)
        context.sent.put_nowait(DecodeError("no WorkRequest"))
        answers = [each async for each in service.Work(None, context)]
        return [answer.WhichOneof("body") for answer in answers]

    assert asyncio.run(call()) == ["joined"]
    assert "it has sent what is no message" in [
        getattr(record, "why", "") for record in caplog.records
    ]
    assert pool.status() == []


def test_a_key_that_is_revoked_ends_its_calls(tmp_path):
    tokens, context, pool = Tokens(keys=[key(TOKEN, "m1")]), Context(), WorkerPool()
    service = joined(tmp_path, tokens, pool)

    async def call():
        answers = service.Work(None, context)
        context.sent.put_nowait(READY)
        await anext(answers)
        tokens.learn([key(TOKEN, "m1", revoked=MADE, changed=2)])
        context.sent.put_nowait(TAKES)
        await anext(answers)

    assert refusal(call) == "REVOKED_TOKEN"
    assert pool.status() == []


# Speed classes.

# fmt: off
CLASSES = [
    (1.0,        0,   "the reference machine"),
    (1.06,       0,   "nearly as fast"),
    (1.15,       1,   "15 % faster"),
    (1.15**2,    2,   "that again"),
    (1 / 1.15,  -1,   "slower"),
]
# fmt: on


@pytest.mark.parametrize(
    ("speed", "found"), [row[:2] for row in CLASSES], ids=[r[2] for r in CLASSES]
)
def test_the_class_of_a_machine(speed, found):
    assert speed_class.class_of(speed_class.REFERENCE_S / speed) == found


def test_the_best_of_three_counts(monkeypatch):
    monkeypatch.setattr(speed_class, "_work", lambda: None)
    times = iter([0, 9, 10, 10 + speed_class.REFERENCE_S, 20, 25])
    assert speed_class.speed_class(lambda: next(times)) == 0


def test_without_workers_a_plan_with_a_speed_class_is_not_played():
    plan = read_plan(f"{toml('round_robin', deal_sets=2)}")
    assert arena_player_of(plan)
    with pytest.raises(CannotPlay, match="is played by workers on other machines"):
        arena_player_of(replace(plan, speed_class=0))
