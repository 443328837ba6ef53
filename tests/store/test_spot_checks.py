"""Second plays of matches, in the store."""

import functools
import json

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.results.record import WorkerBegins
from arena.results.spot_checks import CheckedMatch
from arena.store import open_store
from arena.store.data_folder import store_path
from tests.store.made import AT, MATCHES, NOW, made, plan_of, record, result


def of(match, scores, worker="m1"):
    return CheckedMatch(match.id, match.deal_set_id, worker, "m2", match.bots, (1.0, 0.0), scores)


@pytest.fixture
def store(tmp_path):
    with open_store(store_path(tmp_path)) as opened:
        made(opened)
        record(opened, *[result(match) for match in MATCHES])
        yield opened


def test_checked_matches_are_read_with_the_scores_that_count(store):
    first, second = (of(each, (0.0, 1.0)) for each in MATCHES[:2])
    checks = store.spot_checks()
    checks.add([first], AT)
    checks.add([second], AT + 1)
    assert checks.of("autumn") == (first, second)
    assert checks.of("winter") == ()
    assert store.violations() == ()


def test_a_competition_has_its_own(store):
    made(store, "winter", plan=plan_of("winter"))
    store.spot_checks().add([of(MATCHES[0], (1.0, 0.0))], AT)
    assert store.spot_checks().of("winter") == ()


def said(folder, *words, verb="spot-checks"):
    outcome = CliRunner().invoke(main, ["competition", verb, *words, "--data", str(folder)])
    return outcome.exit_code, outcome.output


def test_the_command_shows_each_worker(store, tmp_path):
    assert said(tmp_path, "autumn") == (0, "autumn: no worker has played a deal-set yet\n")
    store.spot_checks().add([of(MATCHES[0], (-1.0, 2.0))], AT)
    code, text = said(tmp_path, "autumn")
    assert code == 0
    assert text.startswith(
        "m1: 0 deal-sets reported, 0 begins failed; 1 played again, 0 with the same scores\n"
    )
    assert "ann" in text
    assert "+2.00" in text
    found = json.loads(said(tmp_path, "autumn", "--json")[1])
    assert found["workers"][0]["favours"][0]["per_deal_set"] == 2.0


def test_a_worker_is_dropped_with_a_reason(store, tmp_path):
    deal_sets = store.competitions().deal_sets("autumn", 0)
    plans = deal_sets.take(2)
    deal_sets.begin_many([(plan, "m1") for plan in plans])
    for plan in plans:
        ended = {match.id: result(match) for match in plan.matches}
        deal_sets.report_many([(plan, ended)], now_unix_ms=1)
    drop = functools.partial(said, tmp_path, verb="drop-worker")
    code, text = drop("autumn", "m9", "--reason", "favours ann")
    assert (code, text) == (
        1,
        "Error: no deal-set of autumn that counts was played by a worker 'm9'; workers: m1\n",
    )
    assert drop("autumn", "m1", "--reason", " ")[0] == 2
    assert drop("autumn", "m1", "--reason", "favours ann") == (
        0,
        "2 deal-sets of autumn that m1 played no longer count: favours ann\n",
    )
    code, text = drop("autumn", "m1", "--reason", "favours ann")
    assert (code, text.endswith("the arena played all itself\n")) == (1, True)
    assert store.violations() == ()


def test_an_unknown_competition_is_an_error(store, tmp_path):
    code, text = said(tmp_path, "winter")
    assert (code, text.startswith("Error: there is no such competition: 'winter'")) == (1, True)


def test_failed_begins_are_counted_for_each_worker(store, tmp_path):
    deal_sets = store.competitions().deal_sets("autumn", 0)
    first, second = deal_sets.take(2)
    for worker in ("m1@a", "m1@b", "m2@a"):
        deal_sets.begin_many([(first, worker)])
    ended = {match.id: result(match) for match in first.matches}
    deal_sets.report_many([(first, ended)], now_unix_ms=1)
    deal_sets.begin_many([(second, "m1@a")])
    (begins,) = store.competitions().begins_at_workers("autumn")
    assert begins == WorkerBegins({first.id: "m2@a"}, {first.id: ("m1@a", "m1@b")})
    deal_sets.give_up(second)
    (begins,) = store.competitions().begins_at_workers("autumn")
    assert begins.failed == {first.id: ("m1@a", "m1@b"), second.id: ("m1@a",)}
    assert store.violations() == ()
    text = said(tmp_path, "autumn")[1].splitlines()
    assert text == [
        "m1: 0 deal-sets reported, 3 begins failed; 0 played again, 0 with the same scores",
        "m1@a: 0 deal-sets reported, 2 begins failed; 0 played again, 0 with the same scores",
        "m1@b: 0 deal-sets reported, 1 begin failed; 0 played again, 0 with the same scores",
        "m2@a: 1 deal-set reported, 0 begins failed; 0 played again, 0 with the same scores",
    ]


def test_a_begin_that_the_arena_itself_cut_off_has_not_failed(store):
    deal_sets = store.competitions().deal_sets("autumn", 0)
    (first,) = deal_sets.take(1)
    deal_sets.begin_many([(first, "m1")])
    deal_sets.start_anew()  # as after a restart, or a pause
    (first,) = deal_sets.take(1)
    deal_sets.begin_many([(first, "m2")])
    (begins,) = store.competitions().begins_at_workers("autumn")
    assert begins.failed == {}


def test_a_competition_that_workers_only_failed_can_be_removed(tmp_path):
    with open_store(store_path(tmp_path)) as store:
        deal_sets = made(store).deal_sets("autumn", 0)
        (first,) = deal_sets.take(1)
        for worker in ("m1", "m2"):
            deal_sets.begin_many([(first, worker)])
        assert store.competitions().remove_unplayed("autumn", who="org", now=NOW)
        assert store.violations() == ()


# fmt: off
DROPPED = [
    # drop    deal-sets   why
    ("m1@a",  1,          "one host of a key"),
    ("m1",    2,          "all hosts of a key"),
    ("m",     0,          "the beginning of a name"),
    ("M1",    0,          "another name"),
]
# fmt: on


@pytest.mark.parametrize(("name", "number", "why"), DROPPED, ids=[row[-1] for row in DROPPED])
def test_a_key_names_the_workers_of_all_its_hosts(store, tmp_path, name, number, why):
    deal_sets = store.competitions().deal_sets("autumn", 0)
    plans = deal_sets.take(2)
    deal_sets.begin_many([*zip(plans, ("m1@a", "m1@b"), strict=True)])
    for plan in plans:
        ended = {match.id: result(match) for match in plan.matches}
        deal_sets.report_many([(plan, ended)], now_unix_ms=1)
    code, text = said(tmp_path, "autumn", name, "--reason", "favours ann", verb="drop-worker")
    assert code == (number == 0), why
    assert text.startswith(f"{number} deal-set") == (number > 0)
