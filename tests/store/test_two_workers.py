"""Two workers over one store, one of which freezes: one result each, and nothing is lost."""

from dataclasses import replace

import pytest
import trio
import trio.testing

from arena.schedule.runner import MatchByMatch, run_deal_sets
from arena.schedule.work import LEASE_S
from arena.store import open_store
from arena.store.leases import LeaseReport
from tests.store.made import PLAN, made, outcomes, result


class Work:
    """A worker's way to the store, which tells the time of the mock clock and may freeze."""

    def __init__(self, leases):
        self.leases = leases
        self.thawed = trio.Event()
        self.thawed.set()
        self.refused = []

    @property
    def now_unix_ms(self):
        return round(trio.current_time() * 1000)

    async def lease(self, worker, most):
        return self.leases.lease(worker, most, now_unix_ms=self.now_unix_ms)

    async def heartbeat(self, worker):
        await self.thawed.wait()
        return self.leases.heartbeat(worker, now_unix_ms=self.now_unix_ms)

    async def report(self, worker, job, outcomes):
        await self.thawed.wait()
        try:
            self.leases.report_many(
                [LeaseReport(worker, job, outcomes)], now_unix_ms=self.now_unix_ms
            )
        except Exception as error:
            self.refused.append((worker, job.id, type(error).__name__))
            raise

    async def give_up(self, worker, job):
        self.leases.give_up(worker, job)


def played_by(scores):
    """Matches of a minute, whose scores tell who played them."""

    async def play(_, match):
        await trio.sleep(20)
        return replace(result(match), scores=scores)

    return play


async def worker(name, store, work, play):
    """Play until nothing is left, as a worker does that asks again."""
    while not all(each.has_result for each in everything(store)):
        player = MatchByMatch(play, max_matches=1)
        await run_deal_sets(work, player, deal_sets=PLAN, worker=name)
        await trio.sleep(5)


def everything(store):
    known = outcomes(store)
    return [known.get(match.id, _Missing) for each in PLAN for match in each.matches]


class _Missing:
    has_result = False


@pytest.mark.parametrize("frozen_s", [0, 30, 90], ids=lambda s: f"frozen for {s} s")
def test_each_deal_set_has_one_result_and_none_is_lost(tmp_path, frozen_s, caplog):
    async def main(store):
        held = made(store)
        frozen, well = Work(held.leases("autumn", 0)), Work(held.leases("autumn", 0))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker, "frozen", store, frozen, played_by((1, -1)))
            await trio.sleep(0.1)
            nursery.start_soon(worker, "well", store, well, played_by((2, -2)))
            if frozen_s:
                await trio.sleep(15)
                frozen.thawed = trio.Event()
                await trio.sleep(frozen_s)
                frozen.thawed.set()
        return frozen, well

    with open_store(tmp_path / "arena.db") as store:
        frozen, well = trio.run(main, store, clock=trio.testing.MockClock(autojump_threshold=0))
        known = outcomes(store)
        assert store.violations() == ()
    first = {known[match.id].scores for match in PLAN[0].matches}
    late = frozen_s > LEASE_S
    assert first == {(2, -2) if late else (1, -1)}
    assert len(known) == sum(len(each.matches) for each in PLAN)
    assert all(len({known[match.id].scores for match in each.matches}) == 1 for each in PLAN)
    assert frozen.refused == ([("frozen", PLAN[0].id, "OutOfDate")] if late else [])
    assert well.refused == []
