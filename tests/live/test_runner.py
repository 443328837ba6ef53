"""The runner: every match once, whatever fails, and nothing finished is lost."""

import itertools
import math
from collections import Counter

import pytest
import trio
import trio.testing

from arena.live.runner import DEFAULT_ATTEMPTS, MatchByMatch, run_deal_sets
from arena.live.work import ScheduledWork
from arena.results.deal_sets import MatchOutcome, aborted, round_robin

PLAN = round_robin(["a", "b", "c"], seats=2, deal_sets=2, seed="s")
MATCHES = [match for each in PLAN for match in each.matches]


def outcome(match, **more):
    settled = {"scores": (1, 0), "places": (1, 2), "ending": "completed", "faults": ({}, {})}
    return MatchOutcome(match.id, **(settled | more))


class Tables:
    """Matches in memory: each takes a second, ends as told, and is kept."""

    def __init__(self, ends=None):
        self.ends = ends or {}
        self.started = []
        self.kept = {}
        self.in_play = self.most_in_play = 0

    async def __call__(self, _, match):
        self.started.append(match.id)
        self.in_play += 1
        self.most_in_play = max(self.most_in_play, self.in_play)
        try:
            await trio.sleep(1)
        finally:
            self.in_play -= 1
        end = self.ends.get(match.id, outcome)
        if isinstance(end, list):
            end = end.pop(0)
        if isinstance(end, Exception):
            raise end
        self.kept[match.id] = end(match)
        return self.kept[match.id]


def play(
    tables, known=(), *, plan=PLAN, max_matches=1, attempts=DEFAULT_ATTEMPTS, on_progress=None
):
    """Play deal-sets of which the matches of these outcomes were played before."""
    by_id = {each.match_id: each for each in known}

    async def main():
        player = MatchByMatch(tables, max_matches=max_matches, attempts=attempts)
        return await run_deal_sets(
            ScheduledWork(plan), player, deal_sets=plan, known=by_id, on_progress=on_progress
        )

    return trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


def failing(match):
    return aborted(match.id, "the worker died")


def test_every_match_is_played_once_in_the_order_of_the_schedule():
    tables = Tables()
    report = play(tables)
    assert tables.started == [match.id for match in MATCHES]
    assert report.outcomes == tables.kept
    assert report.incomplete == ()


@pytest.mark.parametrize("max_matches", [1, 2, 5, 12, 100])
def test_as_many_matches_are_in_play_as_allowed(max_matches):
    tables = Tables()
    play(tables, max_matches=max_matches)
    assert tables.most_in_play == min(max_matches, len(MATCHES))
    assert Counter(tables.started) == Counter(match.id for match in MATCHES)


def test_matches_that_have_a_result_are_not_played_again():
    known = [outcome(match) for match in MATCHES[:5]]
    tables = Tables()
    report = play(tables, known)
    assert tables.started == [match.id for match in MATCHES[5:]]
    assert set(report.outcomes) == {match.id for match in MATCHES}


def test_matches_that_were_aborted_in_an_earlier_run_are_played_again():
    tables = Tables()
    assert play(tables, map(failing, MATCHES)).incomplete == ()
    assert len(tables.started) == len(MATCHES)


def test_results_of_other_tournaments_are_not_looked_at():
    stranger = MatchOutcome("stranger", (5, 5), (1, 1), "completed", ({}, {}))
    report = play(Tables(), [stranger])
    assert "stranger" not in report.outcomes


def test_a_finished_tournament_plays_nothing():
    tables = Tables()
    assert len(play(tables, map(outcome, MATCHES)).outcomes) == len(MATCHES)
    assert tables.started == []


def test_a_failing_bot_gets_faults_and_the_tournament_continues():
    def killed(match):
        return outcome(match, ending="forfeit", faults=({"gone": 10}, {}))

    report = play(Tables(ends={match.id: killed for match in MATCHES}))
    assert report.incomplete == ()
    assert all(outcome.faults[0] == {"gone": 10} for outcome in report.outcomes.values())


class TestArenaFailures:
    def test_an_aborted_match_is_played_again(self):
        tables = Tables(ends={MATCHES[3].id: [failing, failing, outcome]})
        report = play(tables)
        assert tables.started.count(MATCHES[3].id) == 3
        assert report.incomplete == ()

    def test_after_its_last_attempt_the_deal_set_stays_incomplete_and_the_rest_is_played(self):
        tables = Tables(ends={MATCHES[3].id: failing})
        report = play(tables, attempts=2)
        assert tables.started.count(MATCHES[3].id) == 2
        assert report.incomplete == (PLAN[1],)
        assert set(report.outcomes) == {match.id for match in MATCHES} - {MATCHES[3].id}

    def test_an_exception_of_a_match_stops_the_tournament_as_itself(self):
        cause = RuntimeError("no worker left")
        tables = Tables(ends={MATCHES[4].id: cause})
        with pytest.raises(RuntimeError) as raised:
            play(tables, max_matches=2)
        assert raised.value is cause
        assert tables.in_play == 0
        assert len(tables.started) <= 7  # the other ended first, at most, and had begun another
        # Matches end in order here: those before it are kept, and so is what ends with it.
        assert {match.id for match in MATCHES[:4]} <= set(tables.kept)


class TestStopping:
    @pytest.mark.parametrize("ended", [0, 1, 2, 7, 11])
    def test_stopped_in_any_match_it_has_played_those_before_and_begins_no_other(self, ended):
        kept = {}
        stop_in_match(ended, kept)
        assert list(kept) == [match.id for match in MATCHES[:ended]]

    def test_stopped_and_started_again_and_again_it_plays_each_match_once(self):
        kept = {}
        for number in range(1, len(MATCHES) + 1):
            stop_in_match(1, kept)
            assert list(kept) == [match.id for match in MATCHES[:number]]


def stop_in_match(number, kept):
    """Run the tournament and cancel it while the match after `number` others is in play."""
    ended = itertools.count()

    async def main():
        with trio.CancelScope() as scope:

            async def play_match(_, match):
                if next(ended) == number:
                    scope.cancel()
                    await trio.sleep_forever()
                assert match.id not in kept, "it is played once"
                kept[match.id] = outcome(match)
                return kept[match.id]

            player = MatchByMatch(play_match, max_matches=1)
            source = ScheduledWork(PLAN)
            await run_deal_sets(source, player, deal_sets=PLAN, known=dict(kept))

    trio.run(main)


def test_progress_is_reported_at_the_start_and_after_every_match():
    heard = []
    known = [outcome(match) for match in MATCHES[:1]]
    tables = Tables(ends={MATCHES[1].id: [failing, outcome]})
    play(tables, known, on_progress=heard.append)
    assert (heard[0].played, heard[0].matches, heard[0].latest) == (1, 12, None)
    assert (heard[0].complete, heard[0].deal_sets) == (0, 6)
    assert [each.played for each in heard] == [1, 1, *range(2, 13)]
    assert heard[1].latest == (MATCHES[1], failing(MATCHES[1]))
    assert heard[2].latest == (MATCHES[1], outcome(MATCHES[1]))
    assert [each.complete for each in heard][2:] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]


class Late(ScheduledWork):
    """A source that has a second deal-set once the first was reported."""

    def __init__(self):
        super().__init__(PLAN[:1])
        self.asked = 0

    async def take(self, most):
        self.asked += 1
        return await super().take(most)

    async def report(self, deal_set, outcomes):
        if deal_set == PLAN[0]:
            self.add(PLAN[1])


def test_a_source_is_asked_again_when_a_deal_set_has_ended():
    tables, source = Tables(), Late()

    async def main():
        return await run_deal_sets(source, MatchByMatch(tables, max_matches=9))

    report = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    assert tables.started == [match.id for each in PLAN[:2] for match in each.matches]
    assert report.incomplete == ()
    assert source.asked == 5, "for each deal-set once, and once after each, and at the end"


def test_what_a_listener_raises_stops_the_tournament():
    def listener(progress):
        if progress.played == 3:
            raise KeyError("display")

    with pytest.raises(KeyError, match="display"):
        play(Tables(), on_progress=listener)


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda match: outcome(MATCHES[-1]), "returned match"),
        (lambda match: outcome(match, scores=(1, 2, 3), places=(1, 2, 3), faults=({},) * 3), "3 s"),
        (lambda match: outcome(match, scores=(math.nan, 0)), "not a finite number"),
    ],
    ids=["another match", "seats that are not there", "a score that is no number"],
)
def test_a_result_that_cannot_be_is_a_bug_and_does_not_count(mistake, sentence):
    heard = []
    with pytest.raises(ValueError, match=sentence):
        play(Tables(ends={MATCHES[0].id: mistake}), on_progress=heard.append)
    assert [each.played for each in heard] == [0], "only the beginning was told"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"max_matches": 0}, "at least 1 match is played at a time, not 0"),
        ({"attempts": 0}, "a match is started at least once, not 0 times"),
    ],
)
def test_settings_that_would_play_nothing_are_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        play(Tables(), **settings)


def test_an_outcome_has_as_many_places_and_faults_as_scores():
    with pytest.raises(ValueError, match="2 scores, 1 places and faults of 2 seats"):
        outcome(MATCHES[0], places=(1,))
