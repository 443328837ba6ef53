"""How results of matches are recorded: together, in order, and with patience."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from arena.live.matches.results import ResultWriter
from arena.live.shared_transactions import LOCKED_ATTEMPTS
from arena.results.deal_sets import MatchOutcome
from arena.store import StoreBusy, StoredMatch, StoreError
from arena.testing.results import MemoryResults


def ended(match_id):
    outcome = MatchOutcome(match_id, (1, -1), (1, 2), "completed", ({}, {}))
    return StoredMatch(outcome, "abstrac", ("ann", "bob"), "", 0)


class Locked(MemoryResults):
    """Results in a store that another program keeps locked for some attempts."""

    def __init__(self, attempts, error=StoreBusy):
        super().__init__()
        self.attempts = attempts
        self.error = error

    def record(self, ended, published=()):
        if self.attempts:
            self.attempts -= 1
            raise self.error("another program has kept it locked")
        super().record(ended, published)


def test_a_result_waits_for_a_locked_store():
    locked = Locked(LOCKED_ATTEMPTS - 1)
    trio.run(ResultWriter(locked).record, ended("m"))
    assert list(locked.ended) == ["m"]


# fmt: off
GIVEN_UP = [
    (Locked(LOCKED_ATTEMPTS),  0,  "locked for longer than anybody waits"),
    (Locked(1, StoreError),    0,  "a store that no waiting mends"),
]
# fmt: on


@pytest.mark.parametrize(("locked", "left", "why"), GIVEN_UP, ids=[row[-1] for row in GIVEN_UP])
def test_callers_get_the_error_if_a_result_cannot_be_recorded(locked, left, why):
    with pytest.raises(StoreError, match="locked"):
        trio.run(ResultWriter(locked).record, ended("m"))
    assert locked.attempts == left
    assert not locked.ended


class Batches(MemoryResults):
    """Results that note what came together, and hold the first up for as long as wanted."""

    def __init__(self, refused=()):
        super().__init__()
        self.batches = []
        self.refused = refused
        self.go_on = trio.Event()

    def record(self, ended, published=()):
        self.batches.append([end.outcome.match_id for end in ended] + list(published))
        if len(self.batches) == 1:
            trio.from_thread.run(self.go_on.wait)
        if any(end.outcome.match_id in self.refused for end in ended):
            raise StoreError("it already has another result")
        super().record(ended, published)


async def record_all(results, match_ids):
    """Record these at the same time, the first of them first; who heard of an error."""
    writer, errors = ResultWriter(results), []

    async def one(match_id):
        try:
            await writer.record(ended(match_id))
        except StoreError:
            errors.append(match_id)

    async with trio.open_nursery() as nursery:
        for match_id in match_ids:
            nursery.start_soon(one, match_id)
            await wait_all_tasks_blocked()
        results.go_on.set()
    return errors


def test_results_that_wait_for_the_disk_share_a_transaction():
    results = Batches()
    assert trio.run(record_all, results, ["a", "b", "c", "d"]) == []
    assert results.batches == [["a"], ["b", "c", "d"]]
    assert list(results.ended) == ["a", "b", "c", "d"]


def test_a_result_that_does_not_fit_takes_no_other_with_it():
    results = Batches(refused={"c"})
    assert trio.run(record_all, results, ["a", "b", "c", "d"]) == ["c"]
    assert list(results.ended) == ["a", "b", "d"]


def test_what_was_published_is_noted_with_the_results_that_come_meanwhile():
    async def play():
        writer = ResultWriter(results)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(writer.record, ended("a"))
            await wait_all_tasks_blocked()
            nursery.start_soon(writer.mark_published, ["z", "y"])
            nursery.start_soon(writer.record, ended("b"))
            await wait_all_tasks_blocked()
            results.go_on.set()

    results = Batches()
    trio.run(play)
    assert [sorted(batch) for batch in results.batches] == [["a"], ["b", "y", "z"]]
    assert results.published == {"y", "z"}


def test_nothing_that_was_published_is_nothing_to_write():
    results = Batches()
    trio.run(ResultWriter(results).mark_published, [])
    assert results.batches == []
