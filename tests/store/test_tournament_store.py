"""Tournaments in the store: settings, schedule and results."""

import signal
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
import trio
from sqlalchemy import select

from arena.ladder.results import MatchOutcome, aborted
from arena.ladder.schedule import planned_tables, round_robin
from arena.ladder.tournament import run_tournament
from arena.server.tournaments.leased_work import LeasedWork
from arena.store import (
    EndedMatch,
    Entrant,
    EntrantsChanged,
    Settings,
    SettingsDiffer,
    StoreError,
    open_store,
    schema,
)

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
TERMS = {
    "game": "democracy",
    "rules_version": 1,
    "options": {"hands": 4, "suits": "all", "wild": False},
    "seats": 2,
    "time_control": {"move_ms": 1000, "bank_ms": 0},
    "fault_limit": 10,
    "away_limit_ms": 60_000,
    "seeded": True,
}
SETTINGS = Settings(
    name="autumn",
    terms=TERMS,
    seed="7",
    entrants=(Entrant("ann", "python ann.py", "1.0"), Entrant("bob", "./bob")),
)
PLAN = round_robin(["ann", "bob"], seats=2, deal_sets=3, seed="7", tournament="autumn")
MATCHES = [match for each in PLAN for match in each.matches]
DEAL_SETS = {match.id: match.deal_set_id for match in MATCHES}
AT = 1_795_176_000_000
"""When matches ended, in milliseconds since 1970."""
OUTCOME = MatchOutcome(
    match_id=MATCHES[0].id,
    scores=(12, -12),
    places=(1, 2),
    ending="forfeit",
    faults=({}, {"timeout": 9, "gone": 1}),
    left=(False, True),
    fallback_share=(0.0, 1 / 3),
    hands=4,
    decisions=99,
    evidence="the bot's stream ended",
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arena.db"


@pytest.fixture
def store(path):
    with open_store(path) as opened:
        yield opened


@pytest.fixture
def tournament(store):
    return store.open_tournament(SETTINGS, PLAN, now=NOW)


def record(store, *outcomes, bots=None):
    """Record how matches of the plan ended."""
    seated = {match.id: match.bots for match in MATCHES}
    store.matches().record(
        [
            EndedMatch(
                each, "democracy", bots or seated[each.match_id], DEAL_SETS[each.match_id], AT
            )
            for each in outcomes
        ]
    )


def result(match, **more):
    settled = {"scores": (1, 0), "places": (1, 2), "ending": "completed", "faults": ({}, {})}
    return MatchOutcome(match.id, **(settled | more))


def changed(change):
    """The settings with a field of theirs changed, or one of their terms."""
    terms = {name: value for name, value in change.items() if name in TERMS}
    rest = {name: value for name, value in change.items() if name not in TERMS}
    return replace(SETTINGS, terms=TERMS | terms, **rest)


def another(name):
    """The settings and the schedule of a tournament of another name."""
    plan = round_robin(["ann", "bob"], seats=2, deal_sets=3, seed="7", tournament=name)
    return replace(SETTINGS, name=name), plan


class TestGoingOn:
    def test_everything_comes_back_after_closing(self, path):
        with open_store(path) as store:
            store.open_tournament(SETTINGS, PLAN, now=NOW)
            record(store, OUTCOME)
        with open_store(path) as store:
            again = store.open_tournament(SETTINGS, PLAN, now=NOW + timedelta(days=1))
            assert again.settings() == SETTINGS
            assert again.deal_sets() == PLAN
            assert again.outcomes() == {OUTCOME.match_id: OUTCOME}
            assert store.tournaments() == (SETTINGS,)
            assert store.tournament("autumn").outcomes() == again.outcomes()

    def test_the_order_of_bots_does_not_matter(self, store, tournament):
        other_order = replace(SETTINGS, entrants=SETTINGS.entrants[::-1])
        store.open_tournament(other_order, PLAN, now=NOW)

    def test_values_that_json_spells_otherwise_are_the_same(self, store):
        listed = replace(SETTINGS, terms=TERMS | {"options": {"ranks": (1, 2)}})
        store.open_tournament(listed, PLAN, now=NOW)
        store.open_tournament(listed, PLAN, now=NOW)

    def test_a_schedule_may_grow_and_keeps_its_results(self, store):
        store.open_tournament(SETTINGS, PLAN[:1], now=NOW)
        record(store, OUTCOME)
        longer = store.open_tournament(SETTINGS, PLAN, now=NOW)
        assert longer.deal_sets() == PLAN
        assert longer.outcomes() == {OUTCOME.match_id: OUTCOME}

    def test_a_shorter_schedule_takes_nothing_away(self, store, tournament):
        assert store.open_tournament(SETTINGS, PLAN[:1], now=NOW).deal_sets() == PLAN

    def test_tournaments_of_one_store_are_apart(self, store, tournament):
        spring, plan = another("spring")
        other = store.open_tournament(spring, plan, now=NOW)
        record(store, OUTCOME)
        assert other.outcomes() == {}
        assert store.tournaments() == (SETTINGS, spring)

    def test_a_match_is_of_one_tournament(self, store, tournament, path):
        with pytest.raises(StoreError) as raised:
            store.open_tournament(replace(SETTINGS, name="spring"), PLAN, now=NOW)
        assert str(raised.value) == (
            f"{path} has matches already that the tournament 'spring' would play: give it "
            "another name"
        )
        assert store.tournaments() == (SETTINGS,)

    def test_when_it_was_created_is_kept_in_utc(self, store, tournament):
        noon_in_bern = NOW.astimezone(timezone(timedelta(hours=1)))
        store.open_tournament(*another("spring"), now=noon_in_bern)
        with store._database.reading() as connection:
            created = connection.execute(select(schema.tournaments.c.created)).scalars().all()
        assert created == ["2026-11-20T12:00:00+00:00"] * 2

    def test_a_time_without_a_zone_is_refused_and_leaves_nothing(self, store):
        with pytest.raises(ValueError, match="needs a time zone"):
            store.open_tournament(SETTINGS, PLAN, now=NOW.replace(tzinfo=None))
        assert store.tournaments() == ()


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"game": "arlington"}, "the game democracy, not arlington"),
        ({"rules_version": 2}, "rules version 1, not 2"),
        ({"seats": 3}, "seats 2, not 3"),
        ({"fault_limit": 0}, "fault limit 10, not 0"),
        ({"away_limit_ms": 0}, "away limit in ms 60000, not 0"),
        ({"seed": "8"}, "seed 7, not 8"),
        ({"seeded": False}, "seeded deals, not fair deals"),
        ({"options": {**TERMS["options"], "hands": 8}}, "option hands 4, not 8"),
        (
            {"options": {"hands": 4, "wild": False, "jokers": 2}},
            "option jokers unset, not 2 and option suits all, not unset",
        ),
        ({"time_control": {"move_ms": 5, "bank_ms": 0}}, "time control move_ms 1000, not 5"),
        ({"entrants": (Entrant("ann", "x"), Entrant("cy", "x"))}, "the bots ann, bob, not ann, cy"),
        (
            {"entrants": (SETTINGS.entrants[0], Entrant("bob", "./bob2"))},
            "bob started by `./bob`, not `./bob2`",
        ),
        ({"seed": "8", "game": "arlington"}, "the game democracy, not arlington and seed 7, not 8"),
    ],
)
def test_other_settings_are_refused_and_named(store, tournament, path, change, difference):
    with pytest.raises(SettingsDiffer) as raised:
        store.open_tournament(changed(change), PLAN, now=NOW)
    assert str(raised.value) == (
        f"{path} already holds the tournament 'autumn' with {difference}: give it the same "
        "settings to go on, or start another in a new folder"
    )
    assert store.tournaments() == (SETTINGS,)


CHANGED = {"entrants": (replace(SETTINGS.entrants[0], version="2"), SETTINGS.entrants[1])}


def test_another_version_of_a_bot_is_refused_unless_it_is_accepted(store, tournament, path):
    for _ in range(2):
        with pytest.raises(EntrantsChanged) as raised:
            store.open_tournament(changed(CHANGED), PLAN, now=NOW)
    assert str(raised.value) == (
        f"ann changed since the tournament 'autumn' in {path} began, and its results would be "
        "of both versions"
    )
    store.open_tournament(changed(CHANGED), PLAN, now=NOW, accept_changed=True)
    assert store.tournaments() == (changed(CHANGED),)
    store.open_tournament(changed(CHANGED), PLAN, now=NOW)


def test_what_is_not_known_of_a_version_is_no_change(store, tournament):
    known = {"entrants": (SETTINGS.entrants[0], replace(SETTINGS.entrants[1], version="9"))}
    store.open_tournament(changed(known), PLAN, now=NOW)
    assert store.tournaments() == (changed(known),)
    other = {"entrants": (SETTINGS.entrants[0], replace(SETTINGS.entrants[1], version="10"))}
    with pytest.raises(EntrantsChanged):
        store.open_tournament(changed(other), PLAN, now=NOW)


OTHER = round_robin(["ann", "cy"], seats=2, deal_sets=2, seed="8", tournament="autumn")
OTHERS = {"seed": "8", "entrants": (SETTINGS.entrants[0], Entrant("cy", "./cy"))}


def test_a_line_up_of_which_no_match_has_ended_gives_way(store, tournament):
    store.open_tournament(*another("spring"), now=NOW)
    store.open_tournament(changed(OTHERS), OTHER, now=NOW, replace_unplayed=True)
    assert [each.name for each in store.tournaments()] == ["spring", "autumn"]
    assert store.tournament("autumn").settings() == changed(OTHERS)
    assert store.tournament("autumn").deal_sets() == OTHER
    assert store.tournament("spring").deal_sets() == another("spring")[1]
    assert store.matches().bots() == ("ann", "bob", "cy")


def test_one_that_has_played_holds_its_name(store, tournament):
    record(store, OUTCOME)
    for change in (OTHERS, CHANGED):
        with pytest.raises(SettingsDiffer):
            store.open_tournament(changed(change), OTHER, now=NOW, replace_unplayed=True)
    assert tournament.deal_sets() == PLAN


def test_the_same_line_up_goes_on_though_it_has_not_played(store, tournament):
    store.open_tournament(SETTINGS, PLAN, now=NOW, replace_unplayed=True)
    assert tournament.deal_sets() == PLAN


def test_another_schedule_for_the_same_settings_is_refused(store, tournament):
    other = round_robin(["ann", "bob"], seats=2, deal_sets=3, seed="other", tournament="autumn")
    with pytest.raises(StoreError, match="holds another schedule of the tournament 'autumn'"):
        store.open_tournament(SETTINGS, other, now=NOW)
    assert tournament.deal_sets() == PLAN


def test_a_tournament_that_is_not_there_is_said_so(store, path):
    with pytest.raises(StoreError) as raised:
        store.tournament("winter")
    assert str(raised.value) == f"{path} holds no tournament 'winter'"


class TestRecording:
    def test_the_same_again_changes_nothing(self, store, tournament):
        for _ in range(3):
            record(store, OUTCOME)
        assert tournament.outcomes() == {OUTCOME.match_id: OUTCOME}

    @pytest.mark.parametrize(
        "change",
        [{"scores": (12, -11)}, {"faults": ({}, {"timeout": 9})}, {"decisions": 98}],
        ids=["scores", "faults", "decisions"],
    )
    def test_another_result_of_the_same_match_is_refused(self, store, tournament, change):
        record(store, OUTCOME)
        with pytest.raises(StoreError, match="already has another result"):
            record(store, replace(OUTCOME, **change))
        with pytest.raises(StoreError, match="already has another result"):
            record(store, aborted(MATCHES[0].id))
        assert tournament.outcomes() == {OUTCOME.match_id: OUTCOME}

    def test_where_the_journal_has_it_is_kept_with_the_result(self, store, tournament):
        """In one write; and the same result, found elsewhere in a journal, is the same."""
        here = replace(OUTCOME, journal_position="run-000001.journal:4711")
        record(store, here)
        record(store, replace(OUTCOME, journal_position="later:1"))
        (kept,) = tournament.outcomes().values()
        assert kept.journal_position == "run-000001.journal:4711"

    def test_a_result_replaces_an_aborted_attempt(self, store, tournament):
        attempt = aborted(MATCHES[0].id, "the worker died")
        record(store, attempt)
        assert tournament.outcomes() == {attempt.match_id: attempt}
        record(store, attempt)
        record(store, OUTCOME)
        assert tournament.outcomes() == {OUTCOME.match_id: OUTCOME}

    def test_scores_keep_being_whole_numbers_or_not(self, store, tournament):
        record(store, result(MATCHES[0], scores=(2, -2)))
        record(store, result(MATCHES[1], scores=(0.5, -0.5)))
        scores = [each.scores for each in tournament.outcomes().values()]
        assert {repr(each) for each in scores} == {"(2, -2)", "(0.5, -0.5)"}

    def test_a_match_that_is_in_no_schedule_is_kept_by_itself(self, store, tournament):
        alone = MatchOutcome("alone", (1, 0), (1, 2), "completed", ({}, {}))
        store.matches().record([EndedMatch(alone, "jam", ("cy", "ann"), "", AT)])
        assert tournament.outcomes() == {}
        found = store.matches().get("alone")
        assert (found.outcome, found.game, found.bots) == (alone, "jam", ("cy", "ann"))
        assert (found.tournament, found.deal_set, found.ended_unix_ms) == ("", "", AT)

    def test_a_planned_match_has_no_result_between_other_bots(self, store, tournament):
        with pytest.raises(StoreError, match="is planned between other bots"):
            record(store, OUTCOME, bots=("ann", "cy"))
        assert tournament.outcomes() == {}

    def test_who_dials_in_is_planned_as_a_version_and_sits_under_its_name(self, store):
        (deal_set,) = plan = (planned_tables(1, [("far@2", "ann@7")], "s", "t"),)
        store.open_tournament(replace(SETTINGS, name="versions"), plan, now=NOW)
        (match,) = deal_set.matches

        def sat(*bots):
            told = EndedMatch(result(match), "democracy", bots, deal_set.id, AT)
            store.matches().record([told])

        for bots in (("far", "bob@7"), ("far@3", "ann@7"), ("fa", "ann@7"), ("far",)):
            with pytest.raises(StoreError, match="is planned between other bots"):
                sat(*bots)
        sat("far", "ann@7")
        assert store.matches().get(match.id).bots == ("far@2", "ann@7")

    def test_of_several_results_all_are_kept_or_none(self, store, tournament):
        record(store, OUTCOME)
        with pytest.raises(StoreError, match="already has another result"):
            record(store, result(MATCHES[1]), replace(OUTCOME, scores=(0, 0)))
        assert tournament.outcomes() == {OUTCOME.match_id: OUTCOME}

    def test_a_write_that_fails_half_way_leaves_nothing_behind(self, store, tournament):
        unspeakable = replace(OUTCOME, faults=({}, {"timeout": object()}))
        with pytest.raises(Exception, match="type 'object' is not supported"):
            record(store, unspeakable)
        assert tournament.outcomes() == {}
        record(store, OUTCOME)

    def test_many_threads_may_record_at_once(self, store, tournament):
        threads = [
            threading.Thread(target=record, args=(store, result(match))) for match in MATCHES
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert tournament.outcomes().keys() == {match.id for match in MATCHES}

    def test_another_program_sees_a_result_at_once(self, store, tournament, path):
        with open_store(path) as other:
            seen = other.tournament("autumn")
            record(store, OUTCOME)
            assert seen.outcomes() == {OUTCOME.match_id: OUTCOME}


def test_a_killed_program_loses_no_result_and_leaves_no_half(path):
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from arena.store import open_store\n"
        "from tests.store.test_tournament_store import NOW, OUTCOME, PLAN, SETTINGS, record\n"
        "store = open_store(Path(sys.argv[1]))\n"
        "store.open_tournament(SETTINGS, PLAN, now=NOW)\n"
        "record(store, OUTCOME)\n"
        "with store._database.writing() as connection:\n"
        "    connection.exec_driver_sql('UPDATE matches SET status = ?', ('finished',))\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(path)], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    with open_store(path) as store:
        assert store.tournament("autumn").outcomes() == {OUTCOME.match_id: OUTCOME}


def test_the_runner_plays_into_the_store_and_goes_on_after_closing(path):
    started = []

    async def lease(match):
        started.append(match.id)
        if len(started) == 4:
            raise RuntimeError("the power is cut")
        return result(match)

    def play():
        with open_store(path) as store:
            tournament = store.open_tournament(SETTINGS, PLAN, now=NOW)

            async def recorded(match):
                outcome = await lease(match)
                record(store, outcome)
                return outcome

            async def main():
                source = LeasedWork(tournament.leases())
                await source.start_anew()
                return await run_tournament(
                    PLAN, source=source, play=recorded, known=tournament.outcomes(), max_matches=1
                )

            return trio.run(main)

    with pytest.raises(RuntimeError, match="the power is cut"):
        play()
    report = play()
    assert report.incomplete == ()
    in_order = [match.id for match in MATCHES]
    assert started == in_order[:4] + in_order[3:]
