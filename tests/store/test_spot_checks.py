"""Second plays of matches, in the store."""

import functools
import json

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.competition.spot_checks import CheckedMatch
from arena.server.data_folder import store_path
from arena.store import open_store
from arena.store.leases import LeaseBegin, LeaseReport
from tests.store.made import AT, MATCHES, made, plan_of, record, result


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
    assert said(tmp_path, "autumn") == (0, "autumn: no deal-set was played again yet\n")
    store.spot_checks().add([of(MATCHES[0], (-1.0, 2.0))], AT)
    code, text = said(tmp_path, "autumn")
    assert code == 0
    assert text.startswith("m1: 1 deal-set played again, 0 with the same scores\n")
    assert "ann" in text
    assert "+2.00" in text
    found = json.loads(said(tmp_path, "autumn", "--json")[1])
    assert found["workers"][0]["favours"][0]["per_deal_set"] == 2.0


def test_a_worker_is_dropped_with_a_reason(store, tmp_path):
    leases = store.competitions().leases("autumn", 0)
    begins = [LeaseBegin("arena", job, "m1") for job in leases.lease("arena", 2, now_unix_ms=0)]
    for job in leases.begin_many(begins):
        ended = {match.id: result(match) for match in job.deal_set.matches}
        leases.report_many([LeaseReport("arena", job, ended)], now_unix_ms=1)
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
