"""Workers: deal-sets go out and reports come back, whatever becomes of a worker on the way."""

import errno
import os
from collections import Counter
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
import trio
import trio.testing

from arena.contests.workers import messages
from arena.contests.workers import worker as workers
from arena.contests.workers.assigned import AssignedDealSet, Stale
from arena.contests.workers.messages import Begin, add_part, match_of, report_parts
from arena.contests.workers.player import COUNT_S, AssignmentPlayer
from arena.contests.workers.pool import MOST_BEGINS, PoolPlayer, PoolTerms, WorkerPool, least_loaded
from arena.contests.workers.processes import AGAIN_S, LONGEST_AGAIN_S, MOST_STARTS
from arena.contests.workers.worker import MOST_UNREAD, Needs, Worker
from arena.live.arena_player import MAX_MATCHES
from arena.live.players import ArchivedBot
from arena.live.work import CannotPlay
from arena.records.deal_book import DEALS_NAME, read_deals, read_log
from arena.records.fairness import context_of
from arena.records.read import replay_path
from arena.records.verify import verify_file
from arena.sandbox.command import BadCommand
from arena.sandbox.spawner.order import Level
from arena.store import StoreError
from cardarena.v1 import game_pb2, journal_pb2, play_pb2, work_pb2
from tests.contests.workers import KEY, Once, Process, World, alone, passed, plans_of, played, until
from tests.live.cuts import quick_disk
from tests.live.lives import run


def contexts(world):
    """The context of each fair deal, by the replays."""
    found = [each.opened for each in world.replays() if each.opened.HasField("fair_deal")]
    return {opened.deal_set: context_of(opened) for opened in found}


def require_whole(world, report, number=3):
    """Every match has a result and a replay that anybody can verify; no deal-set has two live commitments."""
    ids = {match.id for plan in plans_of(number) for match in plan.matches}
    assert set(report.outcomes) == ids
    assert report.incomplete == ()
    assert set(world.results.ended) == ids
    assert world.results.published == ids
    home = world.folder / "home"
    log = read_log(home / "commitments")
    assert log.damage == []
    for match_id in ids:
        path = replay_path(home / "replays", match_id)
        verdict = verify_file(path, log=log, arena=KEY.public_key)
        assert verdict.ok, verdict.problem
    assert not [each for replay in world.replays() for each in replay.decided if each.fault]
    assert log.unopened == set()
    if not world.terms.seeded:
        live = [context for context, entry in log.opened.items() if not entry.void_reason]
        assert sorted(live) == sorted(contexts(world).values())
    assert [*(world.folder / "workers").iterdir()] == []


@pytest.mark.parametrize("fair", [True, False], ids=["fair", "seeded"])
def test_workers_play_all_and_the_arena_records_it(fair, tmp_path, monkeypatch):
    world, report = played(tmp_path, monkeypatch, fair=fair)
    require_whole(world, report)
    assert {number for number, _ in world.seen} == {1, 2}, "both played"
    assert not world.bots.processes, "the arena launched no bot"


def test_outcomes_are_those_of_an_arena_without_workers(tmp_path, monkeypatch):
    (tmp_path / "alone").mkdir()
    twin = alone(tmp_path / "alone", monkeypatch, fair=False)
    _, report = played(tmp_path, monkeypatch, fair=False)
    assert report.outcomes == twin
    kinds = [[type(score) for score in each.scores] for each in report.outcomes.values()]
    assert kinds == [[type(score) for score in each.scores] for each in twin.values()]


# fmt: off
BEGINS = [
    # begin   read  why
    (1,       0,    "taken for the first time"),
    (2,       1,    "taken again, as after a restart"),
    (0,       1,    "kept in memory"),
]
# fmt: on


@pytest.mark.parametrize(("begin", "read"), [row[:2] for row in BEGINS], ids=[r[2] for r in BEGINS])
def test_results_are_read_where_there_may_be_some(begin, read, tmp_path, monkeypatch):
    plans = [replace(plan, begin=begin) for plan in plans_of(3)]
    reads = []

    def during(world):
        monkeypatch.setattr(world.results, "outcomes", lambda ids: reads.append(ids) or {})
        return world.play(plans)

    _, report = played(tmp_path, monkeypatch, fair=False, during=during)
    assert len(report.outcomes) == 6
    assert len(reads) == 3 * read


def in_play(child):
    """Whether a worker has decisions."""
    arena = child.bots and child.bots.arena
    return arena and any(each.decisions for each in arena.metrics.counts.games.values())


def dies(child, message):
    child.kill()
    return []


# fmt: off
DEATHS = [
    # before this comes, the packs are
    ("assignment",   "drawn"),
    ("draw",         "drawn"),
    ("commitments",  "drawn"),
    ("signatures",   "drawn"),
    ("entropies",    "drawn"),
    ("deals",        "fixed"),
    ("report",       "fixed"),
    ("done",         "recorded"),
]
# fmt: on


@pytest.mark.parametrize(("kind", "packs"), DEATHS, ids=[row[0] for row in DEATHS])
def test_a_worker_that_dies_costs_nobody_cards_or_faults(kind, packs, tmp_path, monkeypatch):
    before = {}

    def dies_here(child, message):
        home = child.world.folder / "home"
        fixed = [
            each for each in read_deals(home / "journal" / DEALS_NAME).deals() if each.entropies
        ]
        before.update({each.fair_deal.deal_set: each.context for each in fixed})
        if kind not in ("report", "done"):
            own = {
                match.id
                for plan in plans_of(3)
                for match in plan.matches
                if plan.id == message.begin.deal_set
            }
            assert not own & set(child.bots.arena.matches.in_play), (
                "no card before the packs are fixed"
            )
        return dies(child, message)

    death = Once(kind, dies_here)
    world, report = played(tmp_path, monkeypatch, between=death)
    require_whole(world, report)
    assert death.child.returncode is not None
    assert contexts(world).items() >= before.items(), "packs that were fixed stay"
    handed_out = [kind for _, kind in world.seen].count("assignment")
    lost = {"drawn": 1, "fixed": 1, "recorded": 0}[packs]
    # What else it played is lost with it.
    assert handed_out >= 3 + lost
    if packs == "recorded":
        assert handed_out <= 3 + 1
    else:
        assert before or packs == "drawn"


def test_a_worker_that_dies_in_play_costs_nobody_cards_or_faults(tmp_path, monkeypatch):
    async def during(world):
        async with trio.open_nursery() as nursery:
            found = []

            async def play():
                found.append(await world.play(plans_of(3)))

            nursery.start_soon(play)
            await until(lambda: in_play(world.children[0]))
            live = {each.fair_deal.deal_set: each.context for each in world.home.deal_sets.live}
            world.children[0].kill()
        return found[0], live

    world, (report, live) = played(tmp_path, monkeypatch, during=during, hands=50)
    require_whole(world, report)
    assert len(live) >= 2
    assert contexts(world).items() >= live.items()


@pytest.mark.parametrize("number", [1, 8], ids=["fewer deal-sets than it asks for", "more"])
def test_a_worker_asks_for_one_deal_set_at_a_time(number, tmp_path, monkeypatch):
    """One that asked again whenever a deal-set ended was ended for asking too much, with all that it played."""
    open_, most = Counter(), []

    def between(child, message):
        kind = message.WhichOneof("body")
        open_[kind] += 1
        most.append(open_["takes"] - open_["assignment"])
        return [message]

    async def during(world):
        reports = [await world.play(plans_of(number)[at : at + 1]) for at in range(number)]
        await trio.sleep(10)
        return reports

    played(tmp_path, monkeypatch, workers=1, fair=False, during=during, between=between)
    assert open_["report"] == number
    assert max(most) == 1


def test_what_a_lost_worker_had_waits_again(tmp_path, monkeypatch):
    """The last deal-sets of a round wait for a worker that an engine has to start."""
    lost = []

    def between(child, message):
        if message.WhichOneof("body") == "report" and not lost:
            lost.append(child)
            child.kill()
            return []
        return [message]

    async def during(world):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(world.play, plans_of(1))
            await until(lambda: lost and lost[0].returncode is not None)
            await trio.testing.wait_all_tasks_blocked()
            waited = +world.pool.waiting_again
        return waited, world.pool.waiting_again

    _, (waited, in_the_end) = played(
        tmp_path, monkeypatch, workers=0, joined=1, between=between, during=during
    )
    assert waited == {0: 1}
    assert not +in_the_end, "another worker has played it"


def test_seeded_deal_sets_end_alike_however_often_workers_die(tmp_path, monkeypatch):
    (tmp_path / "alone").mkdir()
    twin = alone(tmp_path / "alone", monkeypatch, fair=False)
    death = Once("report", dies)
    _, report = played(tmp_path, monkeypatch, fair=False, between=death)
    assert report.outcomes == twin


# What a worker should not say.


def other(kind, change):
    """What changes the first message of a kind."""

    def act(child, message):
        changed = type(message)()
        changed.CopyFrom(message)
        change(changed)
        return [changed]

    return Once(kind, act)


def other_packs(message):
    for match in message.report.matches:
        record = journal_pb2.Record.FromString(match.records[0])
        record.opened.deal_key_sha256 = b"?" * 32
        match.records[0] = record.SerializeToString()


def swapped(message):
    first, second = message.report.matches
    first.match_id, second.match_id = second.match_id, first.match_id


def another_bot_dealt(message):
    message.commitments.commitments.append(b"c" * 32)


# fmt: off
GARBAGE = [
    # what comes                                                                       why it is none
    (Once("report", lambda *_: [work_pb2.WorkRequest()]),                              "nothing in it"),
    (Once("report", lambda _, it: [it] * (MOST_UNREAD + 2)),                           "a flood"),
    (other("report", lambda it: setattr(it.begin, "deal_set", "another")),             "another deal-set"),
    (other("report", lambda it: setattr(it.begin, "begin", 9)),                        "a begin that is to come"),
    (other("report", lambda it: it.report.matches.pop()),                              "a match is missing"),
    (other("report", lambda it: setattr(it.report.matches[0], "match_id", "x")),       "another match"),
    (other("report", swapped),                                                         "records of the other match"),
    (other("report", other_packs),                                                     "other packs"),
    (other("report", lambda it: it.report.matches[0].records.pop()),                   "records without an end"),
    (other("report", lambda it: it.report.matches[0].ClearField("records")),           "no records"),
    (other("report", lambda it: it.report.matches[0].records.insert(1, b"??")),        "a record that is none"),
    (other("report", lambda it: it.report.matches[0].places.pop()),                    "a seat without a place"),
    (other("report", lambda it: it.commitments.commitments.append(b"c" * 32)),         "another step"),
    (other("commitments", another_bot_dealt),                                          "a commitment too many"),
    (other("entropies", lambda it: it.entropies.entropies.pop()),                      "no entropy of a bot"),
    (other("entropies", lambda it: it.entropies.entropies.__setitem__(0, b"short")),   "entropy of a wrong size"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize("between", [row[0] for row in GARBAGE], ids=[row[1] for row in GARBAGE])
def test_a_worker_that_says_what_it_should_not_is_ended(between, tmp_path, monkeypatch, caplog):
    world, report = played(tmp_path, monkeypatch, between=between)
    require_whole(world, report)
    assert between.child.returncode is not None
    assert "a worker is ended" in [record.message for record in caplog.records]
    assert not (world.folder / "home" / "replays" / "x.replay").exists()


def test_a_worker_that_says_nothing_for_long_is_started_again(tmp_path, monkeypatch):
    silent = []

    def between(child, message):
        return [] if child is silent[0] else [message]

    async def during(world):
        silent.append(world.children[0])
        return await world.play(plans_of(3))

    def begins(child, message):
        return [message] if not silent else between(child, message)

    world, report = played(tmp_path, monkeypatch, between=begins, during=during)
    require_whole(world, report)
    assert silent[0].returncode is not None


# Begins.


@pytest.mark.slow
@pytest.mark.parametrize("waits", [True, False], ids=["reported", "in play"])
def test_what_the_arena_does_not_wait_for_any_more_counts_no_longer(waits, tmp_path, monkeypatch):
    plans = plans_of(1)
    late = []

    def between(child, message):
        if message.WhichOneof("body") == "report" and not message.report.more:
            late.append(message.begin)
        return [message]

    async def during(world):
        with trio.CancelScope() as scope:
            world.nursery.start_soon(drop, world, scope)
            await world.play(plans)
        if waits:
            await until(lambda: late)
            await trio.sleep(1)
        assert world.results.ended == {}
        return await world.play(plans)

    async def drop(world, scope):
        await until(lambda: in_play(world.children[0]))
        scope.cancel()

    world, report = played(
        tmp_path, monkeypatch, between=between, during=during, workers=1, hands=50
    )
    require_whole(world, report, 1)
    assert [kind for _, kind in world.seen].count("assignment") == 2
    assert len(late) == 2
    assert len(world.children) == 1
    assert len(contexts(world)) == 1


@pytest.fixture
def handed_out(tmp_path, monkeypatch):
    """What runs a test with a deal-set that was handed out and reported, before it is recorded."""

    def run_with(test, **how):
        async def during(world):
            caught = []
            real = AssignedDealSet.record

            async def record(self, report, *at):
                await test(world, self, report, lambda other: real(self, other, *at))
                caught.append(report)
                await real(self, report, *at)

            monkeypatch.setattr(AssignedDealSet, "record", record)
            report = await world.play(plans_of(1))
            assert caught
            return report

        world, report = played(tmp_path, monkeypatch, during=during, **how)
        require_whole(world, report, 1)

    return run_with


def begun(report, begin):
    """The same report, of another begin."""
    found = work_pb2.WorkRequest()
    found.CopyFrom(report)
    found.begin.CopyFrom(begin.message)
    return found


# fmt: off
OLD = [
    # begin                                                    why it is stale
    (lambda begin: begin._replace(begin=begin.begin - 1),      "an older begin"),
    (lambda begin: begin._replace(deal_set="other"),           "another deal-set"),
]
# fmt: on


@pytest.mark.parametrize("change", [row[0] for row in OLD], ids=[row[1] for row in OLD])
def test_a_report_of_what_is_not_the_latest_is_refused(change, handed_out):
    async def test(world, deal_set, report, record):
        stale = begun(report, change(Begin.of(report.begin)))
        with pytest.raises(Stale):
            await record(stale)
        assert world.results.ended == {}

    handed_out(test)


def test_a_report_after_the_next_begin_or_after_a_report_is_refused(handed_out):
    async def test(world, deal_set, report, record):
        again = await deal_set.hand_out("worker 1")
        assert again.begin.begin == report.begin.begin + 1
        with pytest.raises(Stale):
            await record(report)
        newest = begun(report, Begin.of(again.begin))
        await record(newest)
        with pytest.raises(Stale):
            await record(newest)
        assert set(world.results.ended) == set(again.assignment.matches)
        raise Recorded

    with pytest.raises(BaseExceptionGroup) as found:
        handed_out(test)
    assert found.group_contains(Recorded, depth=None)


class Recorded(Exception):
    pass


def test_a_deal_set_that_ends_every_worker_is_given_up(tmp_path, monkeypatch):
    def between(child, message):
        if message.WhichOneof("body") == "report":
            child.kill()
            return []
        return [message]

    world, report = played(tmp_path, monkeypatch, between=between, number=1)
    assert [each.id for each in report.incomplete] == [plans_of(1)[0].id]
    assert [kind for _, kind in world.seen].count("assignment") == MOST_BEGINS
    assert world.results.ended == {}


def test_an_error_of_a_worker_is_charged_to_no_bot(tmp_path, monkeypatch):
    real = AssignmentPlayer._ordered
    failed = []

    async def ordered(self, order, match_id):
        outcome = await real(self, order, match_id)
        if not failed:
            failed.append(match_id)
            raise KeyError(match_id)
        return outcome

    monkeypatch.setattr(AssignmentPlayer, "_ordered", ordered)
    world, report = played(tmp_path, monkeypatch, number=1, workers=1)
    require_whole(world, report, 1)
    assert [kind for _, kind in world.seen].count("failed") == 1
    assert len(world.children) == 1


def aborts(number):
    """A worker that aborts so many matches of its first report."""

    def change(message):
        for match in message.report.matches[:number]:
            match.ending = game_pb2.ENDING_ABORTED
            for field in ("scores", "places", "faults", "forfeited", "fallback_share"):
                match.ClearField(field)

    return other("report", change)


# fmt: off
ABORTED = [
    # matches  packs     why
    (1,        1,        "the other match counts with these packs"),
    (2,        2,        "bots had seen of the packs"),
]
# fmt: on


@pytest.mark.parametrize(
    ("number", "packs"), [row[:2] for row in ABORTED], ids=[row[2] for row in ABORTED]
)
def test_what_a_worker_aborts_is_played_again(number, packs, tmp_path, monkeypatch):
    handed_out = []

    def between(child, message):
        if isinstance(message, work_pb2.WorkResponse) and message.HasField("assignment"):
            handed_out.append(len(message.assignment.matches))
        return first(child, message)

    first = aborts(number)
    world, report = played(tmp_path, monkeypatch, between=between, number=1)
    require_whole(world, report, 1)
    assert handed_out == [2, number]
    assert len(read_log(tmp_path / "home" / "commitments").committed) == packs


def test_a_bot_that_cannot_be_launched_is_told(tmp_path, monkeypatch):
    def between(child, message):
        return [message]

    async def during(world):
        world.versions = {"ann": ArchivedBot("ann", "0" * 64, {"command": ("./bot",)}, "1" * 64)}

        def launch(version):
            assert version == ArchivedBot("ann", "0" * 64, {"command": ["./bot"]}, "1" * 64)
            raise BadCommand("its files are gone")

        world.launch_version = launch
        for child in world.children:
            child.bots.is_launched = lambda name: False
        with pytest.raises(BadCommand, match="its files are gone"):
            await world.play(plans_of(1))
        assert world.results.ended == {}

    played(tmp_path, monkeypatch, between=between, during=during)


def test_a_store_that_fails_is_told_and_the_worker_plays_on(tmp_path, monkeypatch):
    async def during(world):
        def fails(*_):
            raise StoreError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(world.results, "record", fails)
            with pytest.raises(StoreError, match="the disk is full"):
                await world.play(plans_of(1))
        report = await world.play(plans_of(2)[1:])
        assert [each.starts for each in world.pool.status()] == [1]
        return report

    _, report = played(tmp_path, monkeypatch, during=during, workers=1)
    assert report.incomplete == ()
    assert len(report.outcomes) == 2


@pytest.mark.parametrize("fair", [True, False], ids=["fair", "seeded"])
def test_a_report_that_was_taken_outlasts_the_arena(fair, tmp_path, monkeypatch):
    async def during(world):
        def fails(*_):
            raise StoreError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(world.results, "record", fails)
            with pytest.raises(StoreError):
                await world.play(plans_of(1))
        assert world.results.ended == {}
        assert len(world.home.matches.needed_records) == 2
        return [each.context for each in world.home.deal_sets.live]

    world, live = played(tmp_path, monkeypatch, during=during, fair=fair)
    handed_out = len(world.seen)

    async def later():
        async with world.arena():
            return await world.play(plans_of(1))

    with quick_disk(monkeypatch):
        report = run(later)
    assert len(world.seen) == handed_out > 0, "nothing is played again"
    require_whole(world, report, 1)
    assert set(contexts(world).values()) == set(live)


# Where deal-sets are played.


def test_a_deal_set_of_a_bot_that_dials_in_is_played_by_the_arena(tmp_path, monkeypatch):
    async def during(world):
        world.remote = ("bob",)
        return await world.play(plans_of(2))

    world, report = played(tmp_path, monkeypatch, during=during)
    require_whole(world, report, 2)
    assert world.seen == []


def test_a_match_that_was_cut_short_here_continues_here(tmp_path, monkeypatch):
    async def during(world):
        order = world.order(plans_of(1)[0])
        await world.bots.ensure(order.bots)
        with trio.move_on_after(0.2):
            await world.home.matches.play(order, order.match_ids[0])
        assert world.home.matches.has_begun(order)
        return await world.play(plans_of(1))

    world, report = played(tmp_path, monkeypatch, during=during, hands=50)
    require_whole(world, report, 1)
    assert world.seen == []


def test_only_matches_without_results_are_handed_out(tmp_path, monkeypatch):
    handed_out = []

    def between(child, message):
        if isinstance(message, work_pb2.WorkResponse) and message.HasField("assignment"):
            handed_out.extend(message.assignment.matches)
        return [message]

    async def during(world):
        first, second = plans_of(1)[0].matches
        order = world.order(plans_of(1)[0])
        await world.bots.ensure(order.bots)
        await world.home.matches.play(order, first.id)
        report = await world.play(plans_of(1))
        assert handed_out == [second.id]
        return report

    world, report = played(tmp_path, monkeypatch, between=between, during=during)
    require_whole(world, report, 1)


# fmt: off
ASKING = [
    # ready, asks for, matches of workers 1, 2, 3       gets it   why
    ([(True, 1, 4),  (True, 1, 2),  (True, 1, 3)],      2,        "the fewest matches"),
    ([(True, 1, 2),  (True, 1, 2),  (True, 1, 2)],      1,        "of equal ones the first"),
    ([(True, 1, 4),  (True, 0, 2),  (True, 1, 3)],      3,        "who cannot begin one does not ask"),
    ([(True, 1, 4),  (False, 1, 0), (True, 2, 3)],      3,        "who has ended gets none"),
    ([(True, 0, 0),  (False, 1, 0)],                    None,     "nobody asks"),
]
# fmt: on


@pytest.mark.parametrize(("workers", "gets", "why"), ASKING, ids=[row[2] for row in ASKING])
def test_a_deal_set_goes_to_the_worker_with_least_to_do(workers, gets, why):
    given = [
        SimpleNamespace(number=number, asks=takes * is_ready, matches=matches)
        for number, (is_ready, takes, matches) in enumerate(workers, 1)
    ]
    found = least_loaded(given)
    assert (found and found.number) == gets


def test_what_workers_ask_for_at_about_the_same_time_is_taken_together(tmp_path, monkeypatch):
    async def during(world):
        worker = world.pool.add(65, "m1")
        worker.take(work_pb2.WorkRequest(ready=work_pb2.WorkerReady(sandbox="S2")))
        player = PoolPlayer(
            world.pool, world.home, world.bots, world.order, terms=PoolTerms(Needs(0)), pack=None
        )
        ask = partial(worker.take, work_pb2.WorkRequest(takes=work_pb2.WorkerTakes()))
        ask()
        async with trio.open_nursery() as nursery:
            for ahead_s in (0.01, 0.02):
                nursery.start_soon(after, ahead_s, ask)
            return await player.ready()

    assert played(tmp_path, monkeypatch, during=during, workers=0)[1] == 3


async def after(seconds, call):
    await trio.sleep(seconds)
    call()


def test_a_deal_set_looks_at_workers_that_ask_alone(monkeypatch):
    pool, looked = WorkerPool(), []
    for number in range(65, 565):
        worker = pool.add(number, "m1")
        worker.take(work_pb2.WorkRequest(ready=work_pb2.WorkerReady(sandbox="S2")))
    worker.take(work_pb2.WorkRequest(takes=work_pb2.WorkerTakes()))
    fits = Worker.fits
    monkeypatch.setattr(Worker, "fits", lambda *given: looked.append(given) or fits(*given))
    assert pool.asks(Needs(0, Level.S0)) == 1
    assert trio.run(pool.find, Needs(0, Level.S0)) is worker
    assert len(looked) == 2


def test_a_worker_is_handed_a_deal_set_when_it_can_begin_one(tmp_path, monkeypatch):
    most = [0]

    def between(child, message):
        most[0] = max(most[0], len(child.bots.arena.matches.in_play))
        return [message]

    async def during(world):
        return await world.play(plans_of(20))

    # Matches that last longer than the arena gathers what is asked for.
    how = {"workers": 1, "hands": 10}
    world, report = played(tmp_path, monkeypatch, between=between, during=during, **how)
    require_whole(world, report, 20)
    assert most == [MAX_MATCHES]


def test_workers_play_the_tables_of_a_deal_set_by_other_processes(tmp_path, monkeypatch):
    async def during(world):
        return await world.play(plans_of(8))

    world, report = played(tmp_path, monkeypatch, during=during)
    require_whole(world, report, 8)
    deal_set_of = {match.id: plan.id for plan in plans_of(8) for match in plan.matches}
    for child in world.children:
        before, now = child.bots.ended, [*child.bots.processes.values()]
        assert len(before) == len(now) > 0
        for process in (*before, *now):
            starts = map(play_pb2.MatchStart.FromString, process.told.starts.values())
            seen = [deal_set_of[start.match_id] for start in starts]
            assert len(seen) == len(set(seen)) > 0, "it sees no boards twice"


@pytest.mark.parametrize("pondering", [True, False], ids=["may ponder", "are frozen"])
def test_workers_know_whether_bots_may_compute_at_any_time(pondering, tmp_path, monkeypatch):
    found = set()

    def between(child, message):
        found.update(child.bots.frozen_bots.may_ponder)
        return [message]

    async def during(world):
        terms = PoolTerms(pondering=pondering)
        make_player = partial(PoolPlayer, world.pool, pack=world.pack, terms=terms)
        report = await world.play(plans_of(3), make_player=make_player)
        for child in world.children:
            assert not child.bots.frozen_bots.may_ponder, "only while it plays"
        return report

    _, report = played(tmp_path, monkeypatch, between=between, during=during)
    assert found == (set(report.outcomes) if pondering else set())


# Fair deals.


def test_bots_are_told_how_the_deals_open_once_they_are_recorded(tmp_path, monkeypatch):
    told = []

    def between(child, message):
        if message.WhichOneof("body") == "closes":
            told.append(len(child.world.results.ended))
        return [message]

    async def during(world):
        report = await world.play(plans_of(1))
        await trio.sleep(1)
        return report

    world, report = played(tmp_path, monkeypatch, between=between, during=during, workers=1)
    require_whole(world, report, 1)
    assert told == [2]
    (replay,) = [each for each in world.replays() if each.opened.match_id == report_first(report)]
    bots = world.children[0].bots
    assert len(bots.ended) == len(bots.processes) == 2
    for process in bots.processes.values():
        (told,) = process.deals
        assert told.deal_close.secret == replay.revealed.secret
    for process in bots.ended:
        opened = next(each.deal_open for each in process.deals if each.HasField("deal_open"))
        assert opened.public_key == KEY.public_key
        assert all(each.signature for each in transcripts(process)), "signed by the arena"


def report_first(report):
    return next(iter(report.outcomes))


def transcripts(process):
    return [each.deal_transcript for each in process.deals if each.HasField("deal_transcript")]


def test_a_bot_that_opens_nothing_makes_the_draw_void_and_forfeits(tmp_path, monkeypatch):
    real = Process.receive

    def receive(self, data):
        before = len(self.said)
        real(self, data)
        kind = type(self).kind(data)
        if kind == "deal_transcript" and self.name == "ann":
            while len(self.said) > before:
                self.said.pop()

    monkeypatch.setattr(Process, "receive", receive)
    world, report = played(tmp_path, monkeypatch, number=1)
    assert report.incomplete == ()
    kinds = [kind for _, kind in world.seen]
    assert kinds.count("draw") == 2
    assert kinds.count("deals") == 1
    log = read_log(tmp_path / "home" / "commitments")
    assert [bool(entry.void_reason) for entry in log.opened.values()].count(True) == 1
    for replay in world.replays():
        seats = [replay.names[each.seat] for each in replay.opened.forfeited_seats]
        assert seats == ["ann"]


# The processes.


class Failing:
    """Starts no worker at first."""

    def __init__(self, world, how):
        self.world, self.how, self.failed = world, how, 0
        self.real = world._start

    async def __call__(self, command):
        if self.how is None:
            return await self.real(command)
        self.failed += 1
        return await self.how(self.world, command)


async def ends_at_once(world, command):
    child = await world._start(command)
    child.kill()
    return child


async def is_refused(world, command):
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


@pytest.mark.parametrize("how", [ends_at_once, is_refused])
def test_workers_that_do_not_start_are_waited_for_no_more_and_tried_again(
    how, tmp_path, monkeypatch
):
    world = World(tmp_path, workers=1)
    failing = world.starting = Failing(world, how)

    async def main():
        async with world.arena():
            assert failing.failed == MOST_STARTS
            with pytest.raises(CannotPlay, match="worker 1 does not start"):
                await world.play(plans_of(1))
            failing.how = None
            await trio.sleep(LONGEST_AGAIN_S + AGAIN_S)
            return await world.play(plans_of(1))

    with quick_disk(monkeypatch):
        report = run(main)
    require_whole(world, report, 1)


def test_a_drain_lets_workers_end_what_is_in_play(tmp_path, monkeypatch):
    async def during(world):
        async with trio.open_nursery() as nursery:
            with trio.CancelScope() as scope:
                nursery.start_soon(world.play, plans_of(40), 2)
                await until(lambda: in_play(world.children[0]))
                world.home.drain(60)
                handed_out = [kind for _, kind in world.seen].count("assignment")
                await world.home.idle()
                assert len(world.results.published) == 2 * handed_out < 2 * 40
                await trio.sleep(5)
                scope.cancel()
            nursery.cancel_scope.cancel()
        assert [kind for _, kind in world.seen].count("assignment") == handed_out

    played(tmp_path, monkeypatch, during=during)


def test_each_worker_has_a_row(tmp_path, monkeypatch):
    async def during(world):
        report = await world.play(plans_of(2))
        await trio.sleep(2 * COUNT_S)
        rows = world.pool.status()
        assert [(each.number, each.pid, each.starts) for each in rows] == [
            (1, os.getpid(), 1),
            (2, os.getpid(), 1),
        ]
        assert all(each.decisions and not each.matches for each in rows)
        return report

    played(tmp_path, monkeypatch, during=during)


# Reports.


@pytest.mark.parametrize("most", [1, 300, 10**6], ids=["a record each", "some parts", "one part"])
def test_a_report_is_whole_again_however_it_was_parted(most, tmp_path, monkeypatch):
    parts = []

    def between(child, message):
        if message.WhichOneof("body") == "report":
            parts.append(message.report)
        return passed(child, message)

    monkeypatch.setattr(messages, "PART_BYTES", most)
    world, report = played(tmp_path, monkeypatch, number=1, between=between)
    require_whole(world, report, 1)
    assert [part.more for part in parts] == [True] * (len(parts) - 1) + [False]
    assert (len(parts) > 1) == (most < 10**6)
    whole = work_pb2.WorkReport()
    for part in parts:
        add_part(whole, part)
    monkeypatch.undo()
    (again,) = report_parts(map(match_of, whole.matches))
    assert again == whole


def test_a_report_that_is_too_long_ends_its_worker(tmp_path, monkeypatch, caplog):
    def floods(_, message):
        part = work_pb2.WorkRequest(begin=message.begin)
        part.report.more = True
        part.report.matches.add(match_id="x", records=[b"x" * 1000])
        return [part] * 100

    monkeypatch.setattr(workers, "MOST_LOCAL_REPORT_BYTES", 90_000)
    between = Once("report", floods)
    world, report = played(tmp_path, monkeypatch, between=between)
    require_whole(world, report)
    assert between.child.returncode is not None
    assert "a report that is too long" in [getattr(record, "why", "") for record in caplog.records]
