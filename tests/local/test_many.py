"""Many deal-sets: the same results, whatever plays them."""

import dataclasses
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from arena.local.engines import Engine, EngineError
from arena.local.many import RESULTS, Unplayed, play_many
from arena.local.play import play
from arena.records.verify import verify_file
from tests.local.bots import Counting, Drawing, Dying, Raising

TABLES = [(Drawing, Counting), (Drawing, Drawing), (Counting(), Drawing)]


def played(tables=TABLES, **changed):
    given = {"deal_sets": 4, "seed": 7, "options": {"hands": 2}}
    return list(play_many("sixty_six", tables, **given | changed))


@pytest.fixture(scope="module")
def reference():
    """Deal-sets on one process, one a task."""
    return played(processes=1)


@pytest.fixture(scope="module")
def threads():
    """An executor, which is quicker than processes where only results matter."""
    with ThreadPoolExecutor(2) as executor:
        yield executor


def assert_nothing_is_lost(folder, reference, *, times=1, **how):
    """Play with a bot that ends its process so often, and compare the tables at which it does not sit."""
    tables = [(Dying(folder, times), Drawing), *TABLES[1:]]
    results = played(tables, **how)
    assert [result.matches for result in results[1::3]] == [
        result.matches for result in reference[1::3]
    ]
    assert len(list(folder.iterdir())) == times, "it has died"


@pytest.mark.slow
@pytest.mark.parametrize("deal_sets_per_task", [1, 5])
def test_results_do_not_depend_on_processes_and_tasks(deal_sets_per_task, reference):
    assert played(processes=3, deal_sets_per_task=deal_sets_per_task) == reference


@pytest.mark.slow
@pytest.mark.deep("engines")
def test_a_dask_cluster_plays_the_same_also_if_a_process_dies(reference, tmp_path):
    distributed = pytest.importorskip("distributed", reason="needs cardarena-engine[dask]")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert played(client=client) == reference
        assert_nothing_is_lost(tmp_path, reference, client=client)


@pytest.mark.slow
@pytest.mark.deep("engines")
def test_ray_plays_the_same_also_if_a_process_dies(reference, tmp_path, monkeypatch):
    ray = pytest.importorskip("ray", reason="needs cardarena-engine[ray]")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    # Its sockets need a short path.
    with tempfile.TemporaryDirectory(prefix="ray") as folder:
        ray.init(num_cpus=2, include_dashboard=False, _temp_dir=folder)
        try:
            assert played(client=ray) == reference
            assert_nothing_is_lost(tmp_path, reference, client=ray)
        finally:
            ray.shutdown()


def test_results_come_by_the_numbers_of_deal_sets(threads):
    order = [(result.number, result.table) for result in played(client=threads, deal_sets=2)]
    assert order == [(number, table) for number in (0, 1) for table in (0, 1, 2)]


def test_a_deal_set_has_the_cards_of_its_seed_in_each_rotation(threads):
    (first, *_) = played([(Drawing, Drawing)], client=threads)
    alone = play("sixty_six", [Drawing, Drawing], seed=first.seed, options={"hands": 2})
    for match in first.matches:
        assert (match.scores, match.seed) == (alone.scores, alone.seed)
    assert first.scores == (sum(alone.scores), sum(alone.scores))


def test_the_scores_of_a_bot_follow_it_through_the_seats(threads):
    for result in played(client=threads):
        one, two = (match.scores for match in result.matches)
        assert result.scores == (one[0] + two[1], one[1] + two[0])


@pytest.mark.slow
def test_a_dead_process_loses_nothing(tmp_path, reference):
    assert_nothing_is_lost(tmp_path, reference, times=2, processes=2)


@pytest.mark.slow
def test_a_process_that_dies_at_each_begin_is_told(tmp_path):
    with pytest.raises(Unplayed, match=r"a process has died 3 times at deal-set 0 of table 0"):
        played([(Dying(tmp_path, 100), Drawing)], processes=1)


def test_an_exception_of_a_bot_ends_all_or_is_a_fault(threads):
    tables = [(Raising, Drawing)]
    with pytest.raises(RuntimeError, match="no move"):
        played(tables, client=threads)
    (first, *_) = played(tables, client=threads, raising=False)
    assert {failure.raised.error for failure in first.matches[0].exceptions} == {
        "RuntimeError: no move"
    }


WRONG = [
    # change, error, words, reason
    ({"tables": [(Drawing,)]}, ValueError, "seats", "too few seats"),
    ({"replays": True}, ValueError, "replays need a folder", "replays go nowhere"),
    ({"client": "dask"}, TypeError, "a str runs no tasks", "a client that is none"),
    ({"options": {"hand": 2}}, ValueError, "hand", "an option that the game does not have"),
]


@pytest.mark.parametrize(("changed", "error", "words", "reason"), WRONG, ids=[r[-1] for r in WRONG])
def test_what_cannot_be_played_is_told(changed, error, words, reason):
    with pytest.raises(error, match=words):
        played(**changed)


# What a folder keeps.


def test_a_run_goes_on_after_the_last_deal_set_that_is_kept(tmp_path, threads, reference):
    results = play_many(
        "sixty_six",
        TABLES,
        deal_sets=4,
        seed=7,
        options={"hands": 2},
        client=threads,
        folder=tmp_path,
    )
    first = [next(results) for _ in range(5)]
    results.close()
    calls = []
    again = played(client=threads, folder=tmp_path, on_progress=lambda *done: calls.append(done))
    assert again[:5] == first
    assert again == reference
    assert calls == [(done, 12) for done in range(1, 13)]


def test_more_deal_sets_are_played_later(tmp_path, threads, reference):
    played(client=threads, folder=tmp_path, deal_sets=1)
    assert played(client=threads, folder=tmp_path) == reference


def test_fewer_deal_sets_are_the_first_that_are_kept(tmp_path, threads, reference):
    played(client=threads, folder=tmp_path)
    before = (tmp_path / RESULTS).read_bytes()
    assert played(client=threads, folder=tmp_path, deal_sets=1) == reference[:3]
    assert (tmp_path / RESULTS).read_bytes() == before


@pytest.mark.parametrize("cut", [1, 60])
def test_a_line_that_was_cut_off_is_played_again(cut, tmp_path, threads, reference):
    played(client=threads, folder=tmp_path)
    file = tmp_path / RESULTS
    whole = file.read_bytes()
    file.write_bytes(whole[:-cut])
    assert played(client=threads, folder=tmp_path) == reference
    assert file.read_bytes() == whole


OTHER_RUNS = [
    {"seed": 8},
    {"options": {"hands": 3}},
    {"tables": [*TABLES[:2], (Drawing, Drawing)]},
    {"raising": False},
]


@pytest.mark.parametrize("changed", OTHER_RUNS, ids=lambda changed: next(iter(changed)))
def test_results_of_another_run_are_not_mixed_in(changed, tmp_path, threads):
    played(client=threads, folder=tmp_path)
    before = (tmp_path / RESULTS).read_bytes()
    with pytest.raises(Unplayed, match="name another folder"):
        played(client=threads, folder=tmp_path, **changed)
    assert (tmp_path / RESULTS).read_bytes() == before


def test_faults_and_exceptions_are_kept(tmp_path, threads):
    tables = [(Raising, Drawing)]
    first = played(tables, client=threads, raising=False, folder=tmp_path)
    assert first[0].matches[0].faults
    assert played(tables, client=threads, raising=False, folder=tmp_path) == first


def test_replays_come_back_from_where_they_were_played(tmp_path, threads, reference):
    results = played(client=threads, folder=tmp_path, replays=True)
    for result, without in zip(results, reference, strict=True):
        for match, bare in zip(result.matches, without.matches, strict=True):
            assert verify_file(match.replay).verified.outcome.scores == match.scores
            assert dataclasses.replace(match, replay=None) == bare
    assert played(client=threads, folder=tmp_path, replays=True) == results


def test_each_line_is_json_that_other_programs_read(tmp_path, threads):
    played(client=threads, folder=tmp_path)
    run, *lines = map(json.loads, (tmp_path / RESULTS).read_text().splitlines())
    assert run["game"] == "sixty_six"
    assert {line["seed"] for line in lines} == {f"7/{number}" for number in range(4)}


# fmt: off
UNSTARTED = [
    # what Ray raises                                what is said                                           why
    (Exception("the node timed out during startup"), "Ray does not start: the node timed out",              "a busy machine"),
    (ConnectionError("nobody there"),                "no ray answers at local: nobody there",               "no cluster"),
]
# fmt: on


@pytest.mark.parametrize(("error", "words", "why"), UNSTARTED, ids=[r[-1] for r in UNSTARTED])
def test_an_engine_that_does_not_start_is_one_sentence(error, words, why, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=Mock(side_effect=error)))
    with pytest.raises(EngineError, match=words):
        Engine.named("ray:local")


@pytest.mark.parametrize(
    ("address", "ended"),
    [
        pytest.param("local", ["client", "cluster"], id="a cluster of its own ends with it"),
        pytest.param("127.0.0.1:8786", ["client"], id="a cluster that runs goes on"),
        pytest.param("tls://10.0.0.5:8786", ["client"], id="a cluster on other machines goes on"),
    ],
)
def test_an_engine_ends_what_was_started_for_it(address, ended, monkeypatch):
    ends = []
    cluster = Mock(close=lambda: ends.append("cluster"))
    client = Mock(close=lambda: ends.append("client"))
    dask = Mock(**{"LocalCluster.return_value": cluster, "Client.return_value": client})
    monkeypatch.setitem(sys.modules, "distributed", dask)
    Engine.named(f"dask:{address}").close()
    assert ends == ended
    assert dask.Client.call_args.args == (cluster if address == "local" else address,)
