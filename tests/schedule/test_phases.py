"""Phases: no two tables of a deal-set are in play at a time, and no process lives through two of them."""

import random
from collections import Counter, defaultdict

import pytest
import trio
import trio.testing
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from arena.schedule.deal_sets import MatchOutcome, aborted, planned_tables
from arena.schedule.runner import (
    BLOCK_STARTS,
    BLOCK_TABLES,
    FIRST_BLOCK_S,
    LATER_BLOCKS,
    LINGER_S,
    MatchByMatch,
    Phases,
    run_deal_sets,
)
from arena.schedule.work import ScheduledWork

START_S = 2.0
OWNERS = {"ann": "a", "art": "a", "bob": "b", "ben": "b", "cat": "c", "cy": "c"}


class Process:
    """A launched process of a bot."""

    def __init__(self):
        self.seen = Counter()
        """Its tables, by deal-set."""
        self.is_alive = True


class Machine:
    """Starts processes for tables, and holds what must be so when a table begins."""

    def __init__(self, seed=0, *, aborts=0.0):
        self.lots, self.aborts, self.start_s = random.Random(seed), aborts, START_S
        self.phases = Phases(self.end_processes)
        self.processes = {}
        self.started = Counter()
        self.in_play = defaultdict(list)
        """Tables in play, by deal-set."""
        self.dead_owners = []
        self.played = []
        """Matches that have ended and when, in order."""

    async def end_processes(self):
        await trio.sleep(0.3)
        for process in self.processes.values():
            process.is_alive = False
        self.processes.clear()

    def sit(self, match):
        """The bots of a match sit down: no living process has sat at another table of the deal-set."""
        deal_set = match.deal_set_id
        assert not self.in_play[deal_set], "a table of the deal-set is in play"
        for owner in {OWNERS[bot] for bot in match.bots}:
            for (name, _), process in self.processes.items():
                if OWNERS[name] == owner:
                    others = process.seen[deal_set] - process.seen[match.id]
                    assert not others, f"{name} has sat at another table of {match.id}"
        for bot in match.bots:
            instance = bot, match.rotation % 2
            if instance not in self.processes:
                self.processes[instance] = Process()
                self.started[bot] += 1
            self.processes[instance].seen.update((deal_set, match.id))
        self.in_play[deal_set].append(match)

    async def play(self, _, match):
        self.phases.started(self.start_s)
        self.sit(match)
        try:
            await trio.sleep(self.lots.choice((0.0, 0.1, 1.0, 20.0)))
        finally:
            self.in_play[match.deal_set_id].remove(match)
        self.played.append((match.id, trio.current_time()))
        if self.lots.random() < self.aborts:
            return aborted(match.id)
        none = (0.0,) * len(match.bots)
        return MatchOutcome(match.id, none, (1,) * len(none), "completed", ({},) * len(none))

    def player(self, slots, *, phases_of=None):
        return MatchByMatch(
            self.play, max_matches=slots, attempts=2, phases_of=phases_of or (lambda _: self.phases)
        )


class Again(ScheduledWork):
    """Leases a deal-set that was given up once more, as the store does after a restart."""

    def __init__(self, plans):
        super().__init__(plans)
        self.again = set()

    async def give_up(self, worker, job):
        await super().give_up(worker, job)
        if job.id not in self.again:
            self.again.add(job.id)
            self.add(job.deal_set)


def run(main):
    return trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


@st.composite
def deal_sets(draw):
    """Deal-sets whose tables share bots, owners or nobody."""
    found = []
    for number in range(1, draw(st.integers(1, 12)) + 1):
        seats = draw(st.integers(2, 3))
        bots = st.permutations(sorted(OWNERS)).map(lambda names: tuple(names[:seats]))  # noqa: B023
        tables = draw(st.lists(bots, min_size=1, max_size=4))
        found.append(planned_tables(number, tables, "s", f"t{number}"))
    return found


# Without shrinking, which takes minutes.
@settings(max_examples=40, deadline=None, phases=(Phase.reuse, Phase.generate))
@given(deal_sets(), deal_sets(), st.integers(0, 10_000), st.sampled_from([1, 2, 8]))
def test_no_process_that_sat_at_a_table_is_alive_at_its_sister(first, second, seed, slots):
    """Two games of one process, whose bots are the same; matches are aborted, and deal-sets leased again."""
    machine = Machine(seed, aborts=0.2)

    async def main():
        async with trio.open_nursery() as nursery:
            for plans in (first, [plan for plan in second if plan.id not in ids(first)]):
                nursery.start_soon(run_deal_sets, Again(plans), machine.player(slots))

    run(main)
    assert machine.played


def ids(plans):
    return {plan.id for plan in plans}


def pairs(number):
    return [
        planned_tables(at, [("ann", "bob"), ("bob", "ann")], "s", "t")
        for at in range(1, number + 1)
    ]


@pytest.mark.parametrize("broken", ["processes live on", "tables of a deal-set begin together"])
def test_a_fault_that_is_planted_is_found(broken, monkeypatch):
    machine = Machine()
    phases_of = None
    if broken == "processes live on":
        machine.phases = Phases(trio.lowlevel.checkpoint)
    else:
        phases_of = lambda _: None  # noqa: E731
    with pytest.raises(AssertionError, match="table"):
        run(lambda: run_deal_sets(ScheduledWork(pairs(3)), machine.player(8, phases_of=phases_of)))


def test_tables_of_one_phase_are_in_play_side_by_side():
    machine = Machine()
    machine.lots = random.Random()
    machine.lots.choice = lambda _: 1.0
    plans = pairs(8)
    run(lambda: run_deal_sets(ScheduledWork(plans), machine.player(8)))
    at = dict(machine.played)
    ends = [{at[plan.matches[turn].id] for plan in plans} for turn in range(2)]
    assert [len(each) for each in ends] == [1, 1]
    assert machine.started == {"ann": 2, "bob": 2}, "a process plays its tables of all deal-sets"


@pytest.mark.parametrize(
    ("start_s", "match_s", "lasts_s"),
    [
        (0.4, 0.25, BLOCK_STARTS * 0.4),
        (0.1, 1.5, BLOCK_TABLES * 1.5),
        (2.0, 0.25, FIRST_BLOCK_S),
    ],
    ids=["many times a start of bots", "some times the longest match", "no longer at first"],
)
def test_a_block_takes_deal_sets_for_so_long(start_s, match_s, lasts_s):
    machine = Machine()
    machine.start_s = start_s
    machine.lots.choice = lambda _: match_s
    plans = pairs(100)
    run(lambda: run_deal_sets(ScheduledWork(plans), machine.player(2)))
    turned = {plan.matches[1].id for plan in plans}
    played = [match in turned for match, _ in machine.played].index(True)
    assert 0 <= played - 2 * lasts_s / match_s <= 2


def test_blocks_grow_until_starts_are_a_small_part_of_them():
    """So the first results come soon, although it takes a minute to start these bots."""
    machine = Machine()
    machine.start_s = 60.0
    machine.lots.choice = lambda _: 1.0
    plans = pairs(400)
    run(lambda: run_deal_sets(ScheduledWork(plans), machine.player(1)))
    turned = {plan.matches[1].id for plan in plans}
    blocks, before = [], True
    for match, _ in machine.played:
        if match not in turned and before:
            blocks.append(0)
        before = match in turned
        blocks[-1] += not before
    for block, lasts_s in enumerate(blocks[:-1]):
        since_s = 2 * sum(blocks[:block])  # and what it takes to end processes
        assert 0 <= lasts_s - max(FIRST_BLOCK_S, LATER_BLOCKS * since_s) <= 3
    assert max(blocks) > 8 * FIRST_BLOCK_S


@pytest.mark.parametrize("slots", [1, 4])
def test_a_phase_does_not_wait_for_deal_sets_that_do_not_come(slots):
    machine = Machine()
    machine.lots.choice = lambda _: 1.0
    began_s = []

    async def main():
        began_s.append(trio.current_time())
        await run_deal_sets(ScheduledWork(pairs(1)), machine.player(slots))
        return trio.current_time() - began_s[0]

    assert run(main) <= 1.0 + LINGER_S + 0.3 + 1.0 + 0.1


def test_a_task_that_is_cancelled_while_it_ends_processes_is_replaced():
    machine = Machine()
    machine.lots.choice = lambda _: 1.0
    first, second = pairs(2)

    async def main():
        scope = trio.CancelScope()

        async def cancelled():
            with scope:
                await run_deal_sets(ScheduledWork([first]), machine.player(1))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(cancelled)
            nursery.start_soon(run_deal_sets, ScheduledWork([second]), machine.player(1))
            await trio.sleep(1.0 + LINGER_S + 0.1)
            scope.cancel()

    run(main)
    ended = [match for match, _ in machine.played]
    assert set(ended) >= {match.id for match in second.matches}
