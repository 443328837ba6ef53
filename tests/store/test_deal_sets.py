"""Deal-sets in play: taken once, reported for good, and a report of an earlier begin changes nothing."""

import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlalchemy import event

from arena.results.deal_sets import DealSetState, aborted
from arena.results.states import Action
from arena.store import Contradicted, OutOfDate, StoredMatch, open_store
from tests.store.made import NOW, PLAN, made, outcomes, record, result


@pytest.fixture
def store(store):
    made(store)
    return store


@pytest.fixture
def deal_sets(store):
    return store.competitions().deal_sets("autumn", 0)


def in_play(plans):
    return tuple(replace(plan, state=DealSetState.IN_PLAY) for plan in plans)


def told(plan):
    return {match.id: result(match) for match in plan.matches}


def other(plan):
    """Outcomes of which the first is another."""
    (first, outcome), *rest = told(plan).items()
    return {first: replace(outcome, scores=(5, -5)), **dict(rest)}


def report(deal_sets, *plans):
    deal_sets.report_many([(plan, told(plan)) for plan in plans], now_unix_ms=1)


def states(store):
    return [plan.state for plan in store.competitions().record("autumn").games[0].deal_sets]


def test_whole_deal_sets_are_taken_in_the_order_of_the_schedule(store, deal_sets):
    assert deal_sets.take(2) == in_play(PLAN[:2])
    assert states(store) == ["in play", "in play", "waiting"]
    assert deal_sets.take(9) == in_play(PLAN[2:])
    assert deal_sets.take(9) == ()


def test_what_was_taken_before_says_so(deal_sets):
    assert [plan.begin for plan in deal_sets.take(2)] == [1, 1]
    deal_sets.start_anew()
    assert [plan.begin for plan in deal_sets.take(3)] == [2, 2, 1]


def test_what_is_put_back_waits_unless_another_has_taken_it(store, deal_sets):
    mine = deal_sets.take(2)
    deal_sets.put_back(mine[:1])
    assert states(store) == ["waiting", "in play", "waiting"]
    another = store.competitions().deal_sets("autumn", 0)
    another.start_anew()
    another.take(2)
    deal_sets.put_back(mine)
    assert states(store) == ["in play", "in play", "waiting"]


def test_none_is_taken_of_a_competition_that_does_not_run(store, deal_sets):
    assert deal_sets.take(1, if_running=True) == ()
    store.competitions().control("autumn", Action.START, who="org", now=NOW)
    assert deal_sets.take(1, if_running=True) == in_play(PLAN[:1])


def test_threads_share_the_work(deal_sets):
    taken = []

    def work():
        while plans := deal_sets.take(1):
            taken.extend(plans)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken, key=lambda plan: plan.number) == [*in_play(PLAN)]


def test_the_same_report_again_changes_nothing(store, deal_sets):
    (plan,) = deal_sets.take(1)
    report(deal_sets, plan)
    report(deal_sets, plan)
    assert outcomes(store) == told(plan)
    assert states(store) == ["complete", "waiting", "waiting"]


def statements_of(path, number):
    """How many statements the begins and reports of so many deal-sets take."""
    statements = []
    with open_store(path) as store:
        made(store)
        deal_sets = store.competitions().deal_sets("autumn", 0)
        plans = deal_sets.take(number)
        ended = [
            StoredMatch(told(plan)[match.id], "sixty_six", match.bots, plan.id, 1)
            for plan in plans
            for match in plan.matches
        ]
        engine = store._database._engine
        event.listen(engine, "before_cursor_execute", lambda *at: statements.append(at))
        deal_sets.begin_many([(plan, "worker 1") for plan in plans])
        store.matches().record(ended)
        report(deal_sets, *plans)
    return len(statements)


def test_many_deal_sets_need_no_more_statements_than_one(tmp_path):
    assert statements_of(tmp_path / "3.db", 3) == statements_of(tmp_path / "1.db", 1)


def test_another_report_is_an_incident(store, deal_sets):
    (plan,) = deal_sets.take(1)
    report(deal_sets, plan)
    with pytest.raises(Contradicted, match=f"deal-set {plan.id}: .* already has another result"):
        deal_sets.report_many([(plan, other(plan))], now_unix_ms=2)
    assert outcomes(store) == told(plan)


def test_a_report_against_what_was_recorded_is_an_incident_and_undone(store, path, deal_sets):
    (plan,) = deal_sets.take(1)
    first, *_ = told(plan).values()
    with open_store(path) as other_program:
        record(other_program, first)
    with pytest.raises(Contradicted, match="already has another result"):
        deal_sets.report_many([(plan, other(plan))], now_unix_ms=2)
    assert outcomes(store) == {first.match_id: first}
    assert states(store)[0] == "in play"
    report(deal_sets, plan)
    assert outcomes(store) == told(plan)


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
def test_a_report_of_half_a_deal_set_is_a_bug(store, deal_sets, spoil):
    (plan,) = deal_sets.take(1)
    half = told(plan)
    spoil(half)
    with pytest.raises(ValueError, match="needs a result for each match"):
        deal_sets.report_many([(plan, half)], now_unix_ms=1)
    assert outcomes(store) == {}


def test_reports_of_one_transaction_count_all_or_none(store, deal_sets):
    plans = deal_sets.take(2)
    deal_sets.give_up(plans[1])
    with pytest.raises(OutOfDate):
        report(deal_sets, *plans)
    assert outcomes(store) == {}
    both = [(plans[0], each(plans[0])) for each in (told, other)]
    with pytest.raises(Contradicted):
        deal_sets.report_many(both, now_unix_ms=1)
    assert outcomes(store) == {}
    report(deal_sets, plans[0], plans[0])
    assert outcomes(store) == told(plans[0])


def test_begins_are_counted_on_through_starts(store, deal_sets):
    (plan,) = deal_sets.take(1)
    assert deal_sets.begin_many([(plan, "m1")]) == [2]
    assert deal_sets.begin_many([(plan, "m2")]) == [3]
    next_start = store.competitions().deal_sets("autumn", 0)
    next_start.start_anew()
    assert next_start.take(2) == in_play(PLAN[:2])
    assert next_start.begin_many([(PLAN[1], "m1"), (PLAN[0], "m3")]) == [2, 5]
    report(next_start, plan)
    assert store.competitions().workers("autumn") == ("m3",)


CALLS = {
    "report": report,
    "begin": lambda deal_sets, plan: deal_sets.begin_many([(plan, "m1")]),
    "give up": lambda deal_sets, plan: deal_sets.give_up(plan),
}


def taken_by_another(deal_sets, plan, store):
    another = store.competitions().deal_sets("autumn", 0)
    another.start_anew()
    another.take(1)


def waiting(deal_sets, plan, store):
    store.competitions().deal_sets("autumn", 0).start_anew()


def begun_by_another(deal_sets, plan, store):
    another = store.competitions().deal_sets("autumn", 0)
    another.start_anew()
    another.take(1)
    another.begin_many([(plan, "m9")])


def complete(deal_sets, plan, store):
    report(deal_sets, plan)


def void(deal_sets, plan, store):
    deal_sets.begin_many([(plan, "m1")])
    report(deal_sets, plan)
    competitions = store.competitions()
    competitions.drop_worker("autumn", "m1", reason="it cheats", who="org", now=NOW)


# fmt: off
REFUSED = [
    # what happened    to it                                     refused                          why
    (taken_by_another, ["report", "begin", "give up"],           "is in play now, with begin 2",  "another arena has taken it"),
    (begun_by_another, ["report", "begin", "give up"],           "is in play now, with begin 3",  "another arena has it played by a worker"),
    (waiting,          ["report", "begin", "give up"],           "is waiting now, with begin 1",  "another arena will take it"),
    (complete,         ["begin", "give up"],                     "is complete now, with begin 1", "it has its results"),
    (void,             ["report", "begin", "give up"],           "is void now, with begin 2",     "its worker was dropped"),
    (lambda deal_sets, plan, _: deal_sets.give_up(plan),
                       ["report", "begin", "give up"],           "is given up now, with begin 1", "it was given up"),
]
# fmt: on


@pytest.mark.parametrize(
    ("happened", "call", "sentence"),
    [
        pytest.param(happened, CALLS[name], sentence, id=f"{name}: {why}")
        for happened, names, sentence, why in REFUSED
        for name in names
    ],
)
def test_what_is_not_in_play_here_is_refused(store, deal_sets, happened, call, sentence):
    (plan,) = deal_sets.take(1)
    happened(deal_sets, plan, store)
    before = states(store), outcomes(store)
    with pytest.raises(OutOfDate, match=sentence):
        call(deal_sets, plan)
    assert (states(store), outcomes(store)) == before


def test_what_was_not_taken_here_is_refused(store, deal_sets):
    for call in CALLS.values():
        with pytest.raises(OutOfDate, match="was begun as number 0 here; it is waiting now"):
            call(deal_sets, PLAN[0])


def test_what_was_given_up_waits_for_the_next_start(deal_sets):
    (plan,) = deal_sets.take(1)
    deal_sets.give_up(plan)
    assert plan not in deal_sets.take(9)
    deal_sets.start_anew()
    assert deal_sets.take(1) == (plan,)


def test_starting_again_ends_play_and_removes_no_result(store, deal_sets):
    done, begun = deal_sets.take(2)
    report(deal_sets, done)
    deal_sets.start_anew()
    assert states(store) == ["complete", "waiting", "waiting"]
    assert deal_sets.take(1) == (begun,)
    assert outcomes(store) == told(done)


class Arenas(RuleBasedStateMachine):
    """Two arenas with one store, each of which freezes now and then; a model says what must stand."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = open_store(Path(self.folder.name) / "arena.db")
        competitions = made(self.store)
        self.arenas = [competitions.deal_sets("autumn", 0) for _ in range(2)]
        self.owner = {}
        """The arena that may report each deal-set in play, by id."""
        self.begins = dict.fromkeys((plan.id for plan in PLAN), 0)
        self.given_up, self.done = set(), {}

    def teardown(self):
        self.store.close()
        self.folder.cleanup()

    arenas = st.integers(0, 1)
    plans = st.sampled_from(PLAN)

    @rule(arena=arenas)
    def start(self, arena):
        self.arenas[arena].start_anew()
        self.owner, self.given_up = {}, set()

    @rule(arena=arenas, most=st.integers(1, 2))
    def take(self, arena, most):
        free = [
            plan
            for plan in PLAN
            if plan.id not in self.owner | self.done and plan.id not in self.given_up
        ]
        assert self.arenas[arena].take(most) == in_play(free[:most])
        for plan in free[:most]:
            self.owner[plan.id] = arena
            self.begins[plan.id] += 1

    @rule(arena=arenas, plan=plans)
    def begin(self, arena, plan):
        if self.owner.get(plan.id) == arena:
            self.begins[plan.id] += 1
            assert self.arenas[arena].begin_many([(plan, "m")]) == [self.begins[plan.id]]
        else:
            with pytest.raises(OutOfDate):
                self.arenas[arena].begin_many([(plan, "m")])

    @rule(arena=arenas, plan=plans)
    def give_up(self, arena, plan):
        if self.owner.get(plan.id) == arena:
            self.arenas[arena].give_up(plan)
            self.given_up.add(plan.id)
            del self.owner[plan.id]
        else:
            with pytest.raises(OutOfDate):
                self.arenas[arena].give_up(plan)

    @precondition(lambda self: self.owner or self.done)
    @rule(arena=arenas, plan=plans, honest=st.booleans())
    def report(self, arena, plan, honest):
        said = told(plan) if honest else other(plan)
        by, before = self.done.get(plan.id, (self.owner.get(plan.id), said))
        try:
            self.arenas[arena].report_many([(plan, said)], now_unix_ms=1)
        except OutOfDate:
            assert by != arena
        except Contradicted:
            assert before != said
        else:
            assert (by, before) == (arena, said)
            self.owner.pop(plan.id, None)
            self.done[plan.id] = arena, said

    @invariant()
    def what_was_reported_is_what_counts(self):
        expected = {
            match: outcome for _, said in self.done.values() for match, outcome in said.items()
        }
        assert outcomes(self.store) == expected
        complete = [state is DealSetState.COMPLETE for state in states(self.store)]
        assert complete == [plan.id in self.done for plan in PLAN]


TestArenas = Arenas.TestCase
TestArenas.settings = settings(max_examples=10, stateful_step_count=15, deadline=None)
