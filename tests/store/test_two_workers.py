"""Two workers over one store, one of which freezes: one result each, and nothing is lost."""

from dataclasses import replace

import pytest
import trio
import trio.testing

from arena.ladder.tournament import run_tournament
from arena.ladder.work import LEASE_S
from arena.store import open_store
from tests.store.test_tournament_store import NOW, PLAN, SETTINGS, result


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
            self.leases.report(worker, job, outcomes, now_unix_ms=self.now_unix_ms)
        except Exception as error:
            self.refused.append((worker, job.id, type(error).__name__))
            raise

    async def give_up(self, worker, job):
        self.leases.give_up(worker, job)


def played_by(scores):
    """Matches of a minute, whose scores tell who played them."""

    async def play(match):
        await trio.sleep(20)
        return replace(result(match), scores=scores)

    return play


async def worker(name, tournament, work, play):
    """Play until nothing is left, as a worker does that asks again."""
    while not all(each.has_result for each in everything(tournament)):
        await run_tournament(PLAN, source=work, play=play, known={}, max_matches=1, worker=name)
        await trio.sleep(5)


def everything(tournament):
    outcomes = tournament.outcomes()
    return [outcomes.get(match.id, _Missing) for each in PLAN for match in each.matches]


class _Missing:
    has_result = False


@pytest.mark.parametrize("frozen_s", [0, 30, 90], ids=lambda s: f"frozen for {s} s")
def test_each_deal_set_has_one_result_and_none_is_lost(tmp_path, frozen_s, caplog):
    async def main(store):
        tournament = store.open_tournament(SETTINGS, PLAN, now=NOW)
        frozen, well = Work(tournament.leases()), Work(tournament.leases())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker, "frozen", tournament, frozen, played_by((1, -1)))
            await trio.sleep(0.1)
            nursery.start_soon(worker, "well", tournament, well, played_by((2, -2)))
            if frozen_s:
                await trio.sleep(15)
                frozen.thawed = trio.Event()
                await trio.sleep(frozen_s)
                frozen.thawed.set()
        return tournament, frozen, well

    with open_store(tmp_path / "arena.db") as store:
        tournament, frozen, well = trio.run(
            main, store, clock=trio.testing.MockClock(autojump_threshold=0)
        )
        outcomes = tournament.outcomes()
        assert store.violations() == ()
    first = {outcomes[match.id].scores for match in PLAN[0].matches}
    late = frozen_s > LEASE_S
    assert first == {(2, -2) if late else (1, -1)}
    assert len(outcomes) == sum(len(each.matches) for each in PLAN)
    assert all(len({outcomes[match.id].scores for match in each.matches}) == 1 for each in PLAN)
    assert frozen.refused == ([("frozen", PLAN[0].id, "OutOfDate")] if late else [])
    assert well.refused == []
