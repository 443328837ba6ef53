"""A store of an older version is brought up to date, and nothing of it is lost.

`files/revision_0003.sql` was dumped by the version before the one that keeps every match.
"""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from arena.ladder.results import ABORTED
from arena.ladder.standings import standings
from arena.store import EndedMatch, MatchFilter, StoreError, open_store

OLD = Path(__file__).parent / "files" / "revision_0003.sql"

# As the version that wrote the file ranked these results: bot, skill, half-width, faults.
RANKED = [
    ("bob", 2.644444444444442, 10.46423585356149, {}),
    ("cy", 1.1111111111111112, 5.6009766052687695, {"gone": 1, "timeout": 3}),
    ("ann", -3.755555555555553, 9.683346271052558, {}),
]


@pytest.fixture
def store(tmp_path):
    connection = sqlite3.connect(tmp_path / "arena.db")
    connection.executescript(OLD.read_text("utf-8"))
    connection.close()
    with open_store(tmp_path / "arena.db") as opened:
        yield opened


def test_results_rank_the_bots_as_before(store):
    tournament = store.tournament("autumn")
    table = standings(tournament.deal_sets(), tournament.outcomes())
    found = [(row.bot, row.skill, row.half_width, dict(row.faults)) for row in table.rows]
    assert found == [(*names, pytest.approx(skill), pytest.approx(width), faults)
                     for *names, skill, width, faults in RANKED]  # fmt: skip


def test_the_terms_of_a_tournament_say_what_its_columns_said(store):
    autumn, winter = store.tournaments()
    assert autumn.terms == {
        "game": "democracy",
        "rules_version": 1,
        "options": {"hands": 4},
        "seats": 2,
        "time_control": {
            "move_ms": 1000,
            "bank_ms": 0,
            "increment_ms": 0,
            "hand_ms": 0,
            "match_ms": 0,
        },
        "fault_limit": 10,
        "away_limit_ms": 60_000,
        "seeded": True,
    }
    assert not winter.terms["seeded"], "its deals were fair"
    assert [each.name for each in autumn.entrants] == ["ann", "bob", "cy"]


def test_matches_are_found_by_bot_and_by_how_they_ended(store):
    matches = store.matches()
    assert len(matches.find()) == 17, "all but one of autumn; none of winter was played"
    assert {each.tournament for each in matches.find()} == {"autumn"}
    of_ann = matches.find(MatchFilter(bots=("ann",)))
    assert 0 < len(of_ann) < 17
    assert all("ann" in each.bots for each in of_ann)
    (stopped,) = matches.find(MatchFilter(ending=ABORTED))
    assert (stopped.outcome.evidence, stopped.published) == ("error 0a1b", False)
    (forfeited,) = matches.find(MatchFilter(ending="forfeit"))
    assert forfeited.published
    assert forfeited.outcome.faults[1] == {"gone": 1, "timeout": 3}
    assert forfeited.outcome.journal_position == "run:2"


def test_of_results_from_before_it_is_not_known_who_left(store):
    outcomes = store.tournament("autumn").outcomes().values()
    assert {(each.left, each.fallback_share) for each in outcomes} == {((), ())}


def test_a_result_from_before_that_is_recorded_again_changes_nothing(store):
    matches = store.matches()
    (found,) = matches.find(MatchFilter(ending="forfeit"))
    again = replace(found.outcome, left=(False, True), fallback_share=(0.0, 0.5))
    matches.record([EndedMatch(again, found.game, found.bots, found.deal_set, 1)])
    assert matches.get(found.outcome.match_id).outcome == found.outcome
    other = replace(again, scores=tuple(score + 1 for score in again.scores))
    with pytest.raises(StoreError, match="already has another result"):
        matches.record([EndedMatch(other, found.game, found.bots, found.deal_set, 1)])


def test_what_was_brought_up_to_date_breaks_no_rule(store):
    assert store.violations() == ()
