"""Spot checks: a deal-set of a worker on another machine is played again at another one, with the same packs."""

from types import SimpleNamespace

import pytest
import trio
from trio.testing import MockClock

from arena.contests.workers import spot_checks
from arena.contests.workers import worker as workers
from arena.contests.workers.spot_checks import AT_ONCE, SpotChecker
from arena.store import StoreError
from cardarena.v1 import journal_pb2
from tests.api.test_joined_workers import first_match, move_a_point
from tests.contests.test_workers import require_whole
from tests.contests.workers import passed, plans_of, played, until
from tests.live.lives import goes_on

NUMBER = 3


def checked(
    folder, monkeypatch, *, machines=2, share=1.0, wanted=NUMBER, between=passed, keep=None, **how
):
    """Deal-sets that were played by workers, and again; the world, the report, and the checked matches."""
    rows, draws = [], iter([0.0, 0.5, 0.99] * 10)
    keep = keep or (lambda found, _: rows.extend(found))

    async def during(world):
        report = await world.play(plans_of(NUMBER))
        with trio.move_on_after(workers.SILENT_S * 3):
            await until(lambda: len(rows) >= 2 * wanted)
        return report

    def prepared(world):
        world.checker = SpotChecker(keep, share=share, draw=lambda: next(draws))

    how = {"workers": 0, "joined": machines} | how
    world, report = played(
        folder, monkeypatch, number=NUMBER, between=between, during=during, prepare=prepared, **how
    )
    return world, report, rows


def test_every_drawn_deal_set_is_played_by_another_worker_and_counts_once(tmp_path, monkeypatch):
    world, report, rows = checked(tmp_path, monkeypatch)
    require_whole(world, report)
    assert {each.match_id for each in rows} == set(report.outcomes)
    assert {(each.worker, each.checker) for each in rows} <= {("m1", "m2"), ("m2", "m1")}
    assert all(each.scores == report.outcomes[each.match_id].scores for each in rows)
    assert len(world.results.ended) == 2 * NUMBER, "the second play is not recorded"
    assert len(world.replays()) == 2 * NUMBER


# fmt: off
CHECKERS = [
    # workers                      where a deal-set of m1@a is checked   why
    (("m1@a", "m1@b"),             {"m1@b"},                             "another host of the key"),
    (("m1@a", "m1@b", "m2@a"),     {"m2@a"},                             "another key, as a host is the worker's word"),
]
# fmt: on


@pytest.mark.parametrize(("names", "checkers", "why"), CHECKERS, ids=[row[-1] for row in CHECKERS])
def test_which_worker_checks_another(names, checkers, why, tmp_path, monkeypatch):
    """Where all workers share a key, as in a batch system, nothing was ever checked."""
    world, report, rows = checked(tmp_path, monkeypatch, names=names, machines=0)
    require_whole(world, report)
    assert len(rows) == 2 * NUMBER
    assert {each.checker for each in rows if each.worker == "m1@a"} <= checkers
    assert all(each.checker != each.worker for each in rows)


@pytest.mark.slow
def test_bots_that_always_choose_alike_score_the_same_with_the_same_packs(tmp_path, monkeypatch):
    _, _, rows = checked(tmp_path, monkeypatch)
    assert [each.scores_again for each in rows] == [each.scores for each in rows]
    assert len({each.scores for each in rows}) > 1


@pytest.mark.slow
def test_the_second_play_of_seeded_deals_has_their_packs(tmp_path, monkeypatch):
    _, _, rows = checked(tmp_path, monkeypatch, fair=False)
    assert [each.scores_again for each in rows] == [each.scores for each in rows]


@pytest.mark.slow
def test_a_share_of_the_deal_sets_is_drawn(tmp_path, monkeypatch):
    _, _, rows = checked(tmp_path, monkeypatch, share=0.6, wanted=2)
    assert len({each.deal_set for each in rows}) == 2, "0.0 and 0.5, and not 0.99"


def test_a_second_play_that_is_forged_is_not_kept(tmp_path, monkeypatch):
    # One at a time: all checks of a call are lost when it is ended.
    monkeypatch.setattr(spot_checks, "AT_ONCE", 1)
    forged = first_match(lambda it: move_a_point(it.scores))
    seen, reported = [], set()

    def between(child, message):
        if message.WhichOneof("body") == "report":
            if message.begin.deal_set in reported and not seen:
                seen.append(child)
                return forged(child, message)
            reported.add(message.begin.deal_set)
        return passed(child, message)

    world, report, rows = checked(tmp_path, monkeypatch, wanted=NUMBER - 1, between=between)
    require_whole(world, report)
    assert seen[0].returncode is not None, "its call is ended"
    assert len(rows) == 2 * (NUMBER - 1)


@pytest.mark.slow
def test_without_a_second_machine_the_competition_is_played_and_nothing_is_checked(
    tmp_path, monkeypatch
):
    world, report, rows = checked(tmp_path, monkeypatch, machines=1)
    require_whole(world, report)
    assert rows == []


@pytest.mark.slow
def test_local_workers_are_not_checked(tmp_path, monkeypatch):
    world, report, rows = checked(tmp_path, monkeypatch, machines=0, workers=2)
    require_whole(world, report)
    assert rows == []


@pytest.mark.parametrize(("stuck", "others"), [(AT_ONCE - 1, 3), (AT_ONCE, 0)], ids=str)
def test_a_check_that_waits_for_its_worker_keeps_others_waiting_only_beyond_a_bound(
    stuck, others, monkeypatch
):
    monkeypatch.setattr(spot_checks, "SecondPlay", lambda *_: None)

    class Other:
        async def play(self, _):
            played.append(self)

    async def find(needs, _):
        return Other() if needs else await trio.sleep_forever()

    async def main():
        checker = SpotChecker(lambda *_: None, share=1.0)
        assigned = SimpleNamespace(played_by="m1", order=SimpleNamespace(deal_set="d1"))
        for needs in [False] * stuck + [True] * 3:
            checker.consider(assigned, needs)
        with trio.move_on_after(1):
            await checker.run(find)

    played = []
    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert len(played) == others


@pytest.mark.slow
@pytest.mark.parametrize(
    "error", [StoreError("the disk is full"), KeyError("a bug")], ids=["the store", "a bug"]
)
def test_an_error_costs_the_check_alone(tmp_path, monkeypatch, caplog, error):
    def fails(*_):
        raise error

    with goes_on():
        world, report, _ = checked(tmp_path, monkeypatch, keep=fails)
    require_whole(world, report)
    assert "a spot check was not finished" in [each.message for each in caplog.records]


@pytest.mark.slow
def test_replays_are_those_of_the_first_play(tmp_path, monkeypatch):
    world, _, rows = checked(tmp_path, monkeypatch)
    first = {each.match_id: each.worker for each in rows}
    for replay in world.replays():
        assert isinstance(replay.opened, journal_pb2.Opened)
        assert replay.opened.played_at.worker == first[replay.opened.match_id]
