"""Workers that fail what a bot has lost are found, and those that fail by chance are left in peace."""

import pytest

from arena.results.failed_begins import LEAST_FAILED, failing_suspicions
from arena.results.margin_fit import MatchScores
from arena.results.record import WorkerBegins
from tests.results.failing_workers import FAILING, FAVOURITE, simulated

BOTS = ("ann", "bob", "cid")
"""Three bots that are equally good."""


def deal_sets(number, at, failed=lambda _: (), lead=lambda _: 0.0):
    """Deal-sets of two bots in turn: where each was played, where it failed, and what ann has over the other."""
    complete, begins = {}, WorkerBegins({}, {})
    for which in range(number):
        first, second = (BOTS * 2)[which % 3 : which % 3 + 2]
        noise = (which * 7 % 11 - 5) / 5
        has = lead(which) if first == "ann" else -lead(which) if second == "ann" else 0.0
        scores = (has + noise, -has - noise)
        complete[f"d{which}"] = (
            MatchScores((first, second), scores),
            MatchScores((second, first), scores[::-1]),
        )
        begins.played[f"d{which}"] = at(which)
        if workers := failed(which):
            begins.failed[f"d{which}"] = workers
    return complete, begins


def at_turns(which):
    return ("m1@a", "m2@a")[which % 2]


def every_fourth(which):
    """m1 fails what another worker reports then."""
    return ("m1@a",) if which % 4 == 1 else ()


def lost_there(which):
    """Ann loses what failed at m1, and wins what m1 reports."""
    return -2.0 if every_fourth(which) else 2.0 if which % 2 == 0 else 0.0


# fmt: off
FOUND = [
    # failed           ann's lead      who stands out                                   why
    (every_fourth,     lost_there,     {("m1@a", "ann"), ("m1", "ann")},                "it fails what ann has lost"),
    (every_fourth,     lambda _: 0.0,  set(),                                           "it fails whatever ann did"),
    (lambda _: (),     lost_there,     set(),                                           "nothing failed"),
    (lambda which: ("m1@a",) if which < 2 * LEAST_FAILED and which % 2 else (), lost_there, set(), "too few failed"),
]
# fmt: on


@pytest.mark.parametrize(("failed", "lead", "found", "why"), FOUND, ids=[row[-1] for row in FOUND])
def test_who_stands_out(failed, lead, found, why):
    complete, begins = deal_sets(240, at_turns, failed, lead)
    stand = [each for each in failing_suspicions(complete, begins) if each.stands]
    assert {(each.worker, each.bot) for each in stand if each.bot == "ann"} == found, why
    for each in stand:
        assert each.lost.points > 1.0


def test_a_bot_that_is_not_to_be_tested_is_left_out():
    complete, begins = deal_sets(240, at_turns, every_fourth, lost_there)
    assert not [
        each
        for each in failing_suspicions(complete, begins, lambda bot: bot != "ann")
        if each.bot == "ann"
    ]


def test_what_the_same_worker_reports_after_all_tells_nothing():
    complete, begins = deal_sets(240, lambda _: "m1@a", every_fourth, lost_there)
    assert failing_suspicions(complete, begins) == ()


@pytest.mark.deep("statistics")
def test_in_simulations_the_one_that_fails_is_found_and_no_other():
    for seed in range(5):
        complete, begins, _ = simulated(seed, deal_sets=60, fails=0.5, correlation=1.0)
        stand = [each for each in failing_suspicions(complete, begins) if each.stands]
        assert {each.worker for each in stand} == {FAILING, "m1"}
        assert FAVOURITE in {each.bot for each in stand}


@pytest.mark.deep("statistics")
def test_in_simulations_who_fails_by_chance_is_not_suspected():
    for seed in range(20):
        complete, begins, _ = simulated(seed, deal_sets=20, by_chance=0.2)
        assert not any(each.stands for each in failing_suspicions(complete, begins))
