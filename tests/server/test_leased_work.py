"""A tournament's work over a store that is locked now and then."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from arena.server.competitions.leased_work import LeasedWork
from arena.server.shared_transactions import LOCKED_ATTEMPTS
from arena.store import StoreBusy, StoreError


class LockedLeases:
    """Leases in a store that refuses so many calls."""

    def __init__(self, refusals, error=StoreBusy):
        self.refusals = refusals
        self.error = error
        self.calls = []

    def _call(self, name):
        self.calls.append(name)
        if len(self.calls) <= self.refusals:
            raise self.error("another program has kept it locked")

    def start_anew(self):
        self._call("start_anew")

    def lease(self, worker, most, *, now_unix_ms):
        self._call("lease")
        return (worker, most, now_unix_ms)

    def heartbeat(self, worker, *, now_unix_ms):
        self._call("heartbeat")

    def begin_many(self, begins):
        self._call("begin")
        return [job for _, job, _ in begins]

    def report_many(self, reports, *, now_unix_ms):
        self._call("report")

    def give_up(self, worker, job):
        self._call("give_up")


CALLS = {
    "start_anew": lambda work: work.start_anew(),
    "lease": lambda work: work.lease("w", 2),
    "heartbeat": lambda work: work.heartbeat("w"),
    "begin": lambda work: work.begin("w", None, "worker 1"),
    "report": lambda work: work.report("w", None, {}),
    "give_up": lambda work: work.give_up("w", None),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_locked_store_is_asked_again(call):
    leases = LockedLeases(LOCKED_ATTEMPTS - 1)
    trio.run(call, LeasedWork(leases))
    assert len(leases.calls) == LOCKED_ATTEMPTS


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_one_that_stays_locked_is_an_error(call):
    leases = LockedLeases(LOCKED_ATTEMPTS)
    with pytest.raises(StoreBusy):
        trio.run(call, LeasedWork(leases))


def test_any_other_failure_is_one_at_once():
    leases = LockedLeases(1, StoreError)
    with pytest.raises(StoreError):
        trio.run(CALLS["lease"], LeasedWork(leases))
    assert leases.calls == ["lease"]


def test_the_time_is_that_of_the_call():
    times = iter([5, 7])
    work = LeasedWork(LockedLeases(0), lambda: next(times))
    assert trio.run(work.lease, "w", 1) == ("w", 1, 5)
    assert trio.run(work.lease, "w", 1) == ("w", 1, 7)


class SlowLeases:
    """Leases whose first transaction takes as long as is wanted."""

    def __init__(self):
        self.transactions, self.go_on = [], trio.Event()

    def begin_many(self, begins):
        self.transactions.append([job for _, job, _ in begins])
        if len(self.transactions) == 1:
            trio.from_thread.run(self.go_on.wait)
        return [job.upper() for _, job, _ in begins]

    def report_many(self, reports, *, now_unix_ms):
        self.begin_many(reports)


CALLS_OF_MANY = {
    "begin": lambda work, job: work.begin("w", job, "worker 1"),
    "report": lambda work, job: work.report("w", job, {}),
}


@pytest.mark.parametrize("call", CALLS_OF_MANY.values(), ids=CALLS_OF_MANY)
def test_those_that_wait_share_a_transaction(call):
    async def main():
        leases, found = SlowLeases(), []
        work = LeasedWork(leases)

        async def one(job):
            found.append(await call(work, job))

        async with trio.open_nursery() as nursery:
            for job in "abc":
                nursery.start_soon(one, job)
                await wait_all_tasks_blocked()
            leases.go_on.set()
        assert leases.transactions == [["a"], ["b", "c"]]
        assert found in (["A", "B", "C"], [None] * 3)

    trio.run(main)
