"""Phases: no two tables of a deal-set are in play at a time, and no process lives through two of them."""

import itertools
import random
from collections import Counter, defaultdict

import pytest
import trio
import trio.testing
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from arena.live.runner import (
    FIRST_PHASE_S,
    KEPT_S,
    LATER_PHASES,
    LINGER_S,
    PHASE_STARTS,
    PHASE_TABLES,
    MatchByMatch,
    Phases,
    run_deal_sets,
)
from arena.live.work import ScheduledWork
from arena.results.deal_sets import MatchOutcome, aborted, planned_tables

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
        self.in_phase = []
        """The phases in which they were played."""

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
        self.in_phase.append(self.phases.phase)
        if self.lots.random() < self.aborts:
            return aborted(match.id)
        none = (0.0,) * len(match.bots)
        return MatchOutcome(match.id, none, (1,) * len(none), "completed", ({},) * len(none))

    def player(self, slots, *, phases_of=None):
        return MatchByMatch(
            self.play, max_matches=slots, attempts=2, phases_of=phases_of or (lambda _: self.phases)
        )


class Again(ScheduledWork):
    """Has a deal-set that was given up once more, as the store does after a restart."""

    def __init__(self, plans):
        super().__init__(plans)
        self.again = set()

    async def give_up(self, deal_set):
        if deal_set.id not in self.again:
            self.again.add(deal_set.id)
            self.add(deal_set)


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
    """Two games of one process, whose bots are the same; matches are aborted, and deal-sets taken again."""
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
    run(lambda: run_deal_sets(ScheduledWork(plans), machine.player(9)))  # one is kept for a ninth
    at = dict(machine.played)
    ends = [{at[plan.matches[turn].id] for plan in plans} for turn in range(2)]
    assert [len(end) for end in ends] == [1, 1]
    assert machine.started == {"ann": 2, "bob": 2}, "a process plays its tables of all deal-sets"


@pytest.mark.parametrize(
    ("start_s", "match_s", "lasts_s"),
    [
        (0.1875, 0.125, PHASE_STARTS * 0.1875),
        (0.0625, 0.4375, PHASE_TABLES * 0.4375),
        (2.0, 0.25, FIRST_PHASE_S),
    ],
    ids=["many times a start of bots", "some times the longest match", "no longer at first"],
)
def test_a_phase_takes_deal_sets_for_so_long(start_s, match_s, lasts_s):
    machine = Machine()
    machine.start_s = start_s
    machine.lots.choice = lambda _: match_s
    plans = pairs(200)
    run(lambda: run_deal_sets(ScheduledWork(plans), machine.player(2)))
    turned = {plan.matches[1].id for plan in plans}
    played = [match in turned for match, _ in machine.played].index(True)
    assert 0 <= played - 2 * lasts_s / match_s <= 2


def test_phases_grow_until_starts_are_a_small_part_of_them():
    """So the first results come soon, although it takes a minute to start these bots."""
    machine = Machine()
    machine.start_s = 60.0
    machine.lots.choice = lambda _: 1.0
    run(lambda: run_deal_sets(ScheduledWork(pairs(400)), machine.player(2)))
    matches = Counter(machine.in_phase)
    lasted_s = [matches[phase] / 2 for phase in sorted(matches)]
    for phase, phase_s in enumerate(lasted_s[:-2]):
        since_s = sum(lasted_s[:phase]) + 0.3 * phase  # and what it takes to end processes
        gathers_s = max(FIRST_PHASE_S, LATER_PHASES * since_s)
        assert 0 <= phase_s - gathers_s <= 0.6 * gathers_s  # for later tables that are left
    assert max(lasted_s) > 4 * FIRST_PHASE_S


def test_new_deal_sets_begin_beside_later_tables_of_others():
    """A bot that plays one match at a time, and has its table first, does not wait for the later ones."""
    machine = Machine()
    machine.start_s = 0.2
    machine.lots.choice = lambda _: 1.0
    plans = [planned_tables(at, [("ann", "bob"), ("cat", "ben")], "s", "t") for at in range(1, 100)]
    run(lambda: run_deal_sets(ScheduledWork(plans), machine.player(2)))
    first = {plan.matches[0].id for plan in plans}
    ends = [at for match, at in machine.played if match in first]
    gaps = [after - before - 1.0 for before, after in itertools.pairwise(ends)]
    assert sum(gap for gap in gaps if gap > 0.0) <= 0.2 * (ends[-1] - ends[0])


@pytest.mark.parametrize(
    ("slots", "linger_s"),
    [
        pytest.param(1, LINGER_S, id="the only slot is kept for a new deal-set"),
        pytest.param(4, LINGER_S, id="a deal-set might come"),
        pytest.param(4, 0.0, id="none comes beside it"),
    ],
)
def test_a_phase_does_not_wait_for_deal_sets_that_do_not_come(slots, linger_s):
    machine = Machine()
    machine.phases = Phases(machine.end_processes, linger_s)
    machine.lots.choice = lambda _: 1.0
    began_s = []

    async def main():
        began_s.append(trio.current_time())
        await run_deal_sets(ScheduledWork(pairs(1)), machine.player(slots))
        return trio.current_time() - began_s[0]

    kept_s = KEPT_S if slots == 1 else 0.0
    assert run(main) <= 1.0 + linger_s + 0.3 + kept_s + 1.0 + 0.1


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
