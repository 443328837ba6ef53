"""Results of matches in the store: recorded once, and nothing of them is lost."""

import signal
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from arena.live.runner import MatchByMatch, run_deal_sets
from arena.live.shared_transactions import StoredWork
from arena.results.deal_sets import MatchOutcome, aborted, planned_tables
from arena.store import StoredMatch, StoreError, open_store
from tests.store.made import AT, MATCHES, PLAN, made, outcomes, record, result

ROOT = Path(__file__).parents[2]
OUTCOME = MatchOutcome(
    match_id=MATCHES[0].id,
    scores=(12, -12),
    places=(1, 2),
    ending="forfeit",
    faults=({}, {"timeout": 9, "gone": 1}),
    forfeited=(False, True),
    fallback_share=(0.0, 1 / 3),
    hands=4,
    decisions=99,
    evidence="the bot's stream ended",
)


@pytest.fixture
def competition(store):
    return made(store)


class TestRecording:
    def test_the_same_again_changes_nothing(self, store, competition):
        for _ in range(3):
            record(store, OUTCOME)
        assert outcomes(store) == {OUTCOME.match_id: OUTCOME}

    @pytest.mark.parametrize(
        "change",
        [{"scores": (12, -11)}, {"faults": ({}, {"timeout": 9})}, {"decisions": 98}],
        ids=["scores", "faults", "decisions"],
    )
    def test_another_result_of_the_same_match_is_refused(self, store, competition, change):
        record(store, OUTCOME)
        with pytest.raises(StoreError, match="already has another result"):
            record(store, replace(OUTCOME, **change))
        with pytest.raises(StoreError, match="already has another result"):
            record(store, aborted(MATCHES[0].id))
        assert outcomes(store) == {OUTCOME.match_id: OUTCOME}

    def test_the_journal_position_is_stored_with_the_result(self, store, competition):
        """In one write; and the same result, found elsewhere in a journal, is the same."""
        here = replace(OUTCOME, journal_position="run-000001.journal:4711")
        record(store, here)
        record(store, replace(OUTCOME, journal_position="later:1"))
        (kept,) = outcomes(store).values()
        assert kept.journal_position == "run-000001.journal:4711"

    def test_a_result_replaces_an_aborted_attempt(self, store, competition):
        attempt = aborted(MATCHES[0].id, "the worker died")
        record(store, attempt)
        assert outcomes(store) == {attempt.match_id: attempt}
        record(store, attempt)
        record(store, OUTCOME)
        assert outcomes(store) == {OUTCOME.match_id: OUTCOME}

    def test_scores_keep_being_whole_numbers_or_not(self, store, competition):
        record(store, result(MATCHES[0], scores=(2, -2)))
        record(store, result(MATCHES[1], scores=(0.5, -0.5)))
        scores = [each.scores for each in outcomes(store).values()]
        assert {repr(each) for each in scores} == {"(2, -2)", "(0.5, -0.5)"}

    def test_a_match_without_a_competition_is_stored(self, store, competition):
        alone = MatchOutcome("alone", (1, 0), (1, 2), "completed", ({}, {}))
        store.matches().record([StoredMatch(alone, "jam", ("cy", "ann"), "", AT)])
        assert outcomes(store) == {}
        found = store.matches().get("alone")
        assert (found.outcome, found.game, found.bots) == (alone, "jam", ("cy", "ann"))
        assert (found.competition, found.deal_set, found.ended_unix_ms) == ("", "", AT)

    def test_a_planned_match_has_no_result_between_other_bots(self, store, competition):
        with pytest.raises(StoreError, match="is planned between other bots"):
            record(store, OUTCOME, bots=("ann", "cy"))
        assert outcomes(store) == {}

    def test_a_remote_bot_is_planned_as_a_version_and_sits_under_its_name(self, store):
        (deal_set,) = plan = (planned_tables(1, [("far@2", "ann@7")], "s", "t"),)
        made(store, "versions", plan, ("far", "ann"))
        (match,) = deal_set.matches

        def sat(*bots):
            told = StoredMatch(result(match), "democracy", bots, deal_set.id, AT)
            store.matches().record([told])

        for bots in (("far", "bob@7"), ("far@3", "ann@7"), ("fa", "ann@7"), ("far",)):
            with pytest.raises(StoreError, match="is planned between other bots"):
                sat(*bots)
        sat("far", "ann@7")
        assert store.matches().get(match.id).bots == ("far@2", "ann@7")

    def test_a_submitted_bot_of_a_tournament_is_planned_by_its_name_and_sits_as_a_version(
        self, store, competition
    ):
        for bots in (("anna@7", "bob"), ("ann@7", "cy")):
            with pytest.raises(StoreError, match="is planned between other bots"):
                record(store, OUTCOME, bots=bots)
        record(store, OUTCOME, bots=("ann@7", "bob"))
        assert store.matches().get(OUTCOME.match_id).bots == ("ann", "bob")

    def test_several_results_are_stored_all_or_none(self, store, competition):
        record(store, OUTCOME)
        with pytest.raises(StoreError, match="already has another result"):
            record(store, result(MATCHES[1]), replace(OUTCOME, scores=(0, 0)))
        assert outcomes(store) == {OUTCOME.match_id: OUTCOME}

    def test_a_write_that_fails_half_way_leaves_nothing_behind(self, store, competition):
        unspeakable = replace(OUTCOME, faults=({}, {"timeout": object()}))
        with pytest.raises(Exception, match="type 'object' is not supported"):
            record(store, unspeakable)
        assert outcomes(store) == {}
        record(store, OUTCOME)

    def test_many_threads_may_record_at_once(self, store, competition):
        threads = [
            threading.Thread(target=record, args=(store, result(match))) for match in MATCHES
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert outcomes(store).keys() == {match.id for match in MATCHES}

    def test_another_program_sees_a_result_at_once(self, store, competition, path):
        with open_store(path) as other:
            record(store, OUTCOME)
            assert outcomes(other) == {OUTCOME.match_id: OUTCOME}


def test_a_killed_program_loses_no_result_and_leaves_no_half(path):
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from arena.store import open_store\n"
        "from tests.store.made import made, record\n"
        "from tests.store.test_match_results import OUTCOME\n"
        "store = open_store(Path(sys.argv[1]))\n"
        "made(store)\n"
        "record(store, OUTCOME)\n"
        "with store._database.writing() as connection:\n"
        "    connection.exec_driver_sql('UPDATE matches SET status = ?', ('finished',))\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(path)], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    with open_store(path) as store:
        assert outcomes(store) == {OUTCOME.match_id: OUTCOME}


def test_the_runner_continues_after_the_store_was_closed(path):
    started = []

    async def played(match):
        started.append(match.id)
        if len(started) == 4:
            raise RuntimeError("the power is cut")
        return result(match)

    def play():
        with open_store(path) as store:
            if not store.competitions().all():
                made(store)

            async def recorded(_, match):
                outcome = await played(match)
                record(store, outcome)
                return outcome

            async def main():
                source = StoredWork(store.competitions().deal_sets("autumn", 0))
                await source.start_anew()
                player = MatchByMatch(recorded, max_matches=1)
                return await run_deal_sets(source, player, deal_sets=PLAN, known=outcomes(store))

            return trio.run(main)

    with pytest.raises(RuntimeError, match="the power is cut"):
        play()
    report = play()
    assert report.incomplete == ()
    # Which deal-sets begin first depends on how long each table takes.
    assert Counter(started) == Counter([*(match.id for match in MATCHES), started[3]])
