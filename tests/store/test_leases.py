"""Deal-sets on lease: one holder at a time, one report for good, and nothing lost."""

import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from arena.schedule.deal_sets import aborted
from arena.schedule.work import LEASE_S, Contradicted, OutOfDate
from arena.store import open_store
from arena.store.leases import MAX_ATTEMPTS, LeaseBegin, LeaseReport
from tests.store.made import PLAN, made, outcomes, record, result

LEASE_MS = int(LEASE_S * 1000)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arena.db"


@pytest.fixture
def store(path):
    with open_store(path) as opened:
        made(opened)
        yield opened


@pytest.fixture
def leases(store):
    return store.competitions().leases("autumn", 0)


def told(job):
    return {match.id: result(match) for match in job.deal_set.matches}


def other(job):
    """A report in which the first match ended otherwise."""
    (first, outcome), *rest = told(job).items()
    return {first: replace(outcome, scores=(5, -5)), **dict(rest)}


def test_jobs_are_whole_deal_sets_in_the_order_of_the_schedule(leases):
    jobs = leases.lease("w1", 2, now_unix_ms=0)
    assert [job.deal_set for job in jobs] == list(PLAN[:2])
    assert [job.epoch for job in jobs] == [1, 1]
    assert [job.deal_set for job in leases.lease("w2", 9, now_unix_ms=0)] == list(PLAN[2:])
    assert leases.lease("w3", 9, now_unix_ms=0) == ()


@pytest.mark.parametrize(
    ("later_ms", "is_free"),
    [(LEASE_MS - 1, False), (LEASE_MS, True), (90_000, True), (-3_600_000, False)],
    ids=["just before its end", "at its end", "a worker frozen for 90 s", "clocks set back"],
)
def test_a_lease_expires(leases, later_ms, is_free):
    (job,) = leases.lease("w1", 1, now_unix_ms=10**9)
    again = leases.lease("w2", 1, now_unix_ms=10**9 + later_ms)
    assert ([each.id for each in again] == [job.id]) == is_free
    if is_free:
        assert again[0].epoch == 2


def test_a_sign_of_life_prolongs_it(leases):
    (job,) = leases.lease("w1", 1, now_unix_ms=0)
    assert leases.heartbeat("w1", now_unix_ms=50_000) == {job.id}
    assert job.id not in {each.id for each in leases.lease("w2", 9, now_unix_ms=100_000)}


def test_a_sign_of_life_with_the_clock_set_back_shortens_nothing(leases):
    (job,) = leases.lease("w1", 1, now_unix_ms=10**9)
    assert leases.heartbeat("w1", now_unix_ms=0) == {job.id}
    now = 10**9 + LEASE_MS - 1
    assert job.id not in {each.id for each in leases.lease("w2", 9, now_unix_ms=now)}


def test_a_worker_that_was_taken_for_dead_is_refused_and_the_other_counts(store, leases):
    (late,) = leases.lease("w1", 1, now_unix_ms=0)
    (job,) = leases.lease("w2", 1, now_unix_ms=90_000)
    assert leases.heartbeat("w1", now_unix_ms=90_001) == frozenset()
    for refused in (
        lambda: leases.report_many([LeaseReport("w1", late, other(late))], now_unix_ms=90_002),
        lambda: leases.give_up("w1", late),
    ):
        with pytest.raises(
            OutOfDate, match="was leased to w1 as number 1, with begin 0; it is leased now, at num"
        ):
            refused()
    assert outcomes(store) == {}
    leases.report_many([LeaseReport("w2", job, told(job))], now_unix_ms=90_003)
    assert outcomes(store) == told(job)


def test_a_late_report_is_refused_even_if_it_equals_the_other(leases):
    (late,) = leases.lease("w1", 1, now_unix_ms=0)
    (job,) = leases.lease("w2", 1, now_unix_ms=90_000)
    leases.report_many([LeaseReport("w2", job, told(job))], now_unix_ms=90_001)
    with pytest.raises(OutOfDate, match="it is complete now, at number 2 and begin 0"):
        leases.report_many([LeaseReport("w1", late, told(late))], now_unix_ms=90_002)


def test_the_same_report_again_changes_nothing(store, leases):
    (job,) = leases.lease("w1", 1, now_unix_ms=0)
    leases.report_many([LeaseReport("w1", job, told(job))], now_unix_ms=1)
    leases.report_many([LeaseReport("w1", job, told(job))], now_unix_ms=10**9)
    assert outcomes(store) == told(job)
    assert job.id not in {each.id for each in leases.lease("w2", 9, now_unix_ms=10**9)}


def test_another_report_is_an_incident(store, leases):
    (job,) = leases.lease("w1", 1, now_unix_ms=0)
    leases.report_many([LeaseReport("w1", job, told(job))], now_unix_ms=1)
    with pytest.raises(Contradicted, match="another report already"):
        leases.report_many([LeaseReport("w1", job, other(job))], now_unix_ms=2)
    assert outcomes(store) == told(job)


def test_a_report_against_what_was_recorded_is_an_incident_and_undone(store, path, leases):
    (job,) = leases.lease("w1", 1, now_unix_ms=0)
    first, *_ = told(job).values()
    with open_store(path) as other_program:
        record(other_program, first)
    with pytest.raises(Contradicted, match="already has another result"):
        leases.report_many([LeaseReport("w1", job, other(job))], now_unix_ms=2)
    assert outcomes(store) == {first.match_id: first}
    leases.report_many([LeaseReport("w1", job, told(job))], now_unix_ms=3)
    assert outcomes(store) == told(job)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda report: report.popitem(), id="a match is missing"),
        pytest.param(
            lambda report: report.update({match: aborted(match) for match in report}),
            id="a match has no result",
        ),
    ],
)
def test_a_report_of_half_a_deal_set_is_a_bug(store, leases, spoil):
    (job,) = leases.lease("w1", 1, now_unix_ms=0)
    report = told(job)
    spoil(report)
    with pytest.raises(ValueError, match="needs a result for each match"):
        leases.report_many([LeaseReport("w1", job, report)], now_unix_ms=1)
    assert outcomes(store) == {}


def begun(leases, job, player="worker 1"):
    (found,) = leases.begin_many([LeaseBegin("w1", job, player)])
    return found


# fmt: off
STALE = [
    # of job, its first and its second begin    the late one   why
    (lambda job, first, second: first,                         "an older begin"),
    (lambda job, first, second: job,                           "the lease before it began"),
    (lambda job, first, second: replace(second, epoch=2),      "a lease that is not there yet"),
    (lambda job, first, second: replace(second, begin=3),      "a begin that is not there yet"),
]
# fmt: on


@pytest.mark.parametrize("late", [row[0] for row in STALE], ids=[row[1] for row in STALE])
def test_each_begin_makes_what_was_before_it_stale(store, leases, late):
    (job,) = leases.lease("w1", 1, now_unix_ms=0)
    first = begun(leases, job)
    second = begun(leases, first, "worker 2")
    assert (first.begin, second.begin) == (1, 2)
    stale = late(job, first, second)
    for refused in (
        lambda: leases.report_many([LeaseReport("w1", stale, other(stale))], now_unix_ms=1),
        lambda: leases.begin_many([LeaseBegin("w1", stale, "worker 3")]),
        lambda: leases.give_up("w1", stale),
    ):
        with pytest.raises(OutOfDate, match="it is leased now, at number 1 and begin 2"):
            refused()
    assert outcomes(store) == {}
    leases.report_many([LeaseReport("w1", second, told(second))], now_unix_ms=2)
    assert outcomes(store) == told(job)


def test_begins_are_counted_on_through_leases_and_starts(leases):
    (job,) = leases.lease("w1", 1, now_unix_ms=0)
    begun(leases, job)
    leases.start_anew()
    (again,) = leases.lease("w1", 1, now_unix_ms=1)
    assert (again.epoch, again.begin) == (2, 1)
    assert begun(leases, again).begin == 2


def test_reports_of_one_transaction_count_all_or_none(store, leases):
    jobs = leases.lease("w1", 2, now_unix_ms=0)
    late = replace(jobs[1], epoch=9)
    with pytest.raises(OutOfDate):
        leases.report_many(
            [LeaseReport("w1", each, told(each)) for each in (jobs[0], late)], now_unix_ms=1
        )
    assert outcomes(store) == {}
    reports = [LeaseReport("w1", each, told(each)) for each in (*jobs, jobs[0])]
    leases.report_many(reports, now_unix_ms=1)
    assert outcomes(store) == told(jobs[0]) | told(jobs[1])
    with pytest.raises(Contradicted):
        leases.report_many([LeaseReport("w1", jobs[0], other(jobs[0]))], now_unix_ms=2)


def test_two_reports_of_one_deal_set_in_one_transaction_are_an_incident(store, leases):
    (job,) = leases.lease("w1", 1, now_unix_ms=0)
    both = [LeaseReport("w1", job, each) for each in (told(job), other(job))]
    with pytest.raises(Contradicted, match="another report already"):
        leases.report_many(both, now_unix_ms=1)
    assert outcomes(store) == {}


def test_what_was_given_up_waits_for_the_next_start(leases):
    (job,) = leases.lease("w1", 1, now_unix_ms=0)
    leases.give_up("w1", job)
    assert job.id not in {each.id for each in leases.lease("w1", 9, now_unix_ms=10**9)}
    leases.start_anew()
    assert leases.lease("w1", 1, now_unix_ms=0)[0].id == job.id


def test_a_deal_set_that_kills_its_workers_is_given_up(leases):
    for attempt in range(MAX_ATTEMPTS):
        assert leases.lease(f"w{attempt}", 1, now_unix_ms=attempt * LEASE_MS)[0].id == PLAN[0].id
    assert leases.lease("w", 1, now_unix_ms=MAX_ATTEMPTS * LEASE_MS)[0].id == PLAN[1].id


def test_starting_again_ends_leases_and_removes_no_result(store, leases):
    done, held = leases.lease("w1", 2, now_unix_ms=0)
    leases.report_many([LeaseReport("w1", done, told(done))], now_unix_ms=1)
    leases.start_anew()
    (job,) = leases.lease("w2", 1, now_unix_ms=2)
    assert (job.id, job.epoch) == (held.id, held.epoch + 1)
    assert outcomes(store) == told(done)


def test_any_number_of_workers_share_the_work(leases):
    taken = []

    def work(name):
        while jobs := leases.lease(name, 1, now_unix_ms=0):
            taken.extend(job.id for job in jobs)

    workers = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert sorted(taken) == sorted(each.id for each in PLAN)


class Workers(RuleBasedStateMachine):
    """Workers that come, freeze, come back and report; a model says what must stand."""

    def __init__(self):
        super().__init__()

        self.folder = tempfile.TemporaryDirectory()
        self.store = open_store(Path(self.folder.name) / "arena.db")
        self.leases = made(self.store).leases("autumn", 0)
        self.now = 0
        self.held = []
        """Every job that was ever leased, with its worker."""
        self.done = {}

    def teardown(self):
        self.store.close()
        self.folder.cleanup()

    workers = st.sampled_from(["w1", "w2"])

    @rule(worker=workers, most=st.integers(1, 2))
    def lease(self, worker, most):
        for job in self.leases.lease(worker, most, now_unix_ms=self.now):
            assert job.id not in self.done
            self.held.append((worker, job))

    @rule(later=st.integers(0, 2 * LEASE_MS))
    def wait(self, later):
        self.now += later

    @rule(worker=workers)
    def live(self, worker):
        self.leases.heartbeat(worker, now_unix_ms=self.now)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), honest=st.booleans())
    def report(self, data, honest):
        worker, job = data.draw(st.sampled_from(self.held))
        latest = max(each.epoch for _, each in self.held if each.id == job.id)
        report = told(job) if honest else other(job)
        try:
            self.leases.report_many([LeaseReport(worker, job, report)], now_unix_ms=self.now)
        except OutOfDate:
            assert job.epoch < latest
        except Contradicted:
            assert self.done[job.id] != report
        else:
            assert job.epoch == latest
            assert self.done.setdefault(job.id, report) == report

    @invariant()
    def what_was_reported_is_what_counts(self):
        expected = {
            match: outcome for each in self.done.values() for match, outcome in each.items()
        }
        assert outcomes(self.store) == expected


TestWorkers = Workers.TestCase
TestWorkers.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)
