"""Second plays of matches, in the store."""

import json

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.competition.spot_checks import CheckedMatch
from arena.server.data_folder import store_path
from arena.store import open_store
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


def said(folder, *words):
    outcome = CliRunner().invoke(
        main, ["competition", "spot-checks", *words, "--data", str(folder)]
    )
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


def test_an_unknown_competition_is_an_error(store, tmp_path):
    code, text = said(tmp_path, "winter")
    assert (code, text.startswith("Error: there is no such competition: 'winter'")) == (1, True)
