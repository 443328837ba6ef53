"""A tournament's work over a store that is locked now and then, or that another arena uses."""

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from arena.live.runner import MatchByMatch, run_deal_sets
from arena.live.shared_transactions import LOCKED_ATTEMPTS, SharedTransactions, StoredWork
from arena.store import StoreBusy, StoreError, open_store
from tests.store.made import PLAN, made, outcomes, result


class LockedDealSets:
    """Deal-sets in a store that refuses so many calls."""

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

    def take(self, most, *, if_running):
        self._call("take")
        return ()

    def begin_many(self, begins):
        self._call("begin")
        return begins

    def report_many(self, reports, *, now_unix_ms):
        self._call("report")

    def give_up(self, deal_set):
        self._call("give_up")


CALLS = {
    "start_anew": lambda work: work.start_anew(),
    "take": lambda work: work.take(2),
    "begin": lambda work: work.begin(None, "worker 1"),
    "report": lambda work: work.report(None, {}),
    "give_up": lambda work: work.give_up(None),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_locked_store_is_asked_again(call):
    deal_sets = LockedDealSets(LOCKED_ATTEMPTS - 1)
    trio.run(call, StoredWork(deal_sets))
    assert len(deal_sets.calls) == LOCKED_ATTEMPTS


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_one_that_stays_locked_is_an_error(call):
    deal_sets = LockedDealSets(LOCKED_ATTEMPTS)
    with pytest.raises(StoreBusy):
        trio.run(call, StoredWork(deal_sets))


def test_any_other_failure_is_one_at_once():
    deal_sets = LockedDealSets(1, StoreError)
    with pytest.raises(StoreError):
        trio.run(CALLS["take"], StoredWork(deal_sets))
    assert deal_sets.calls == ["take"]


TAKEN = [
    # each step: seconds passed, what is taken, calls of the store so far
    ([(0, "a", "take 1")],                                     "the first is taken alone"),
    ([(0, "a", "take 1"), (0.1, "b", "take 4"), (0.1, "c", ""), (0, "d", "")], "those that follow at once come together"),
    ([(0, "a", "take 1"), (0.3, "b", "take 1")],               "one that follows later is taken alone"),
    ([(0, "a", "take 1"), (0.1, "b", "take 4"), (0.3, "c", "back cde, take 1")], "what waits for long is put back"),
]  # fmt: skip


class CountedDealSets(LockedDealSets):
    """Deal-sets a, b, c … in a store that writes down what it is asked."""

    def __init__(self):
        super().__init__(0)
        self.waiting = list("abcdefgh")

    def take(self, most, *, if_running):
        assert if_running
        self.calls.append(f"take {most}")
        taken, self.waiting = self.waiting[:most], self.waiting[most:]
        return taken

    def put_back(self, deal_sets):
        self.calls.append(f"back {''.join(deal_sets)}")
        self.waiting = [*deal_sets, *self.waiting]


@pytest.mark.parametrize(("steps", "_why"), TAKEN, ids=[row[-1] for row in TAKEN])
def test_when_deal_sets_are_taken_ahead(steps, _why):
    async def main():
        deal_sets = CountedDealSets()
        work = StoredWork(deal_sets, if_running=True)
        for passed_s, taken, calls in steps:
            await trio.sleep(passed_s)
            deal_sets.calls.clear()
            assert await work.take(1) == [taken]
            assert ", ".join(deal_sets.calls) == calls

    trio.run(main, clock=MockClock(autojump_threshold=0.01))


def test_what_was_taken_ahead_waits_again_once_play_does_not_go_on():
    goes_on = True

    async def asked():
        return goes_on

    async def main():
        nonlocal goes_on
        deal_sets = CountedDealSets()
        work = StoredWork(deal_sets, goes_on=asked, if_running=True)
        await work.take(1), await work.take(1)
        goes_on = False
        assert await work.take(1) == ()
        assert "".join(deal_sets.waiting) == "cdefgh"

    trio.run(main, clock=MockClock(autojump_threshold=0.01))


class SlowDealSets:
    """Deal-sets whose first transaction takes as long as is wanted."""

    def __init__(self):
        self.transactions, self.go_on = [], trio.Event()

    def begin_many(self, begins):
        self.transactions.append([deal_set for deal_set, _ in begins])
        if len(self.transactions) == 1:
            trio.from_thread.run(self.go_on.wait)
        return [deal_set.upper() for deal_set, _ in begins]

    def report_many(self, reports, *, now_unix_ms):
        self.begin_many(reports)


CALLS_OF_MANY = {
    "begin": lambda work, deal_set: work.begin(deal_set, "worker 1"),
    "report": lambda work, deal_set: work.report(deal_set, {}),
}


@pytest.mark.parametrize("call", CALLS_OF_MANY.values(), ids=CALLS_OF_MANY)
def test_those_that_wait_share_a_transaction(call):
    async def main():
        deal_sets, taken = SlowDealSets(), []
        work = StoredWork(deal_sets)

        async def one(deal_set):
            taken.append(await call(work, deal_set))

        async with trio.open_nursery() as nursery:
            for deal_set in "abc":
                nursery.start_soon(one, deal_set)
                await wait_all_tasks_blocked()
            deal_sets.go_on.set()
        assert deal_sets.transactions == [["a"], ["b", "c"]]
        assert sorted(taken, key=str) in (["A", "B", "C"], [None] * 3)

    trio.run(main)


def test_one_that_is_cancelled_costs_no_other_its_write():
    scope = trio.CancelScope()

    def write(items):
        if items == ["a"]:
            trio.from_thread.run(go_on.wait)
        elif len(items) > 1:
            trio.from_thread.run_sync(scope.cancel)
            raise StoreError("they are refused together")
        return [item.upper() for item in items]

    async def main():
        shared, written = SharedTransactions(write), []

        async def one(item, scope):
            with scope:
                written.append(await shared.write(item))

        async with trio.open_nursery() as nursery:
            for item, own in (("a", trio.CancelScope()), ("b", scope), ("c", trio.CancelScope())):
                nursery.start_soon(one, item, own)
                await wait_all_tasks_blocked()
            go_on.set()
        assert sorted(written) == ["A", "C"]

    go_on = trio.Event()
    trio.run(main)


def test_so_many_are_written_at_once_and_so_many_together():
    begun, go_on = [], trio.Event()

    def write(items):
        begun.append(items)
        trio.from_thread.run(go_on.wait)
        return items

    async def main():
        shared = SharedTransactions(write, at_once=2, most=3)
        async with trio.open_nursery() as nursery:
            for item in range(8):
                nursery.start_soon(shared.write, item)
                await wait_all_tasks_blocked()
            while len(begun) < 2:  # their threads start
                await trio.lowlevel.checkpoint()
            assert sorted(begun) == [[0], [1]]
            go_on.set()
        assert sorted(begun[2:]) == [[2, 3, 4], [5, 6, 7]]

    trio.run(main)


def test_an_arena_that_another_has_replaced_plays_on_and_changes_nothing(tmp_path, caplog):
    """Two arenas with one store, as when one is frozen and an operator starts the other on another machine."""
    begun, replaced = trio.Event(), trio.Event()

    async def play_match(_, match):
        if not begun.is_set():
            begun.set()
            await replaced.wait()
        return result(match, scores=(5, -5))

    async def replace(competitions):
        await begun.wait()
        another = competitions.deal_sets("autumn", 0)
        another.start_anew()
        (plan,) = another.take(1)
        another.report_many([(plan, {m.id: result(m) for m in plan.matches})], now_unix_ms=1)
        replaced.set()

    async def main(store):
        competitions = made(store)
        work = StoredWork(competitions.deal_sets("autumn", 0))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(replace, competitions)
            player = MatchByMatch(play_match, max_matches=len(PLAN[0].matches))
            return await run_deal_sets(work, player, deal_sets=PLAN)

    with open_store(tmp_path / "arena.db") as store:
        trio.run(main, store)
        known = outcomes(store)
    assert {known[match.id].scores for match in PLAN[0].matches} == {(1, 0)}
    assert {known[match.id].scores for plan in PLAN[1:] for match in plan.matches} == {(5, -5)}
    (warned,) = [
        record
        for record in caplog.records
        if record.message == "another process has taken a deal-set"
    ]
    assert (
        f"deal-set {PLAN[0].id} was begun as number 1 here; it is complete now, with begin 2"
        in warned.why
    )
