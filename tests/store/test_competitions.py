"""Competitions in the store: made, continued with more deal-sets, replaced, and kept apart."""

from datetime import timedelta, timezone

import pytest
from sqlalchemy import select

from arena.contests.plan_text import public_text
from arena.results.record import Out, Round
from arena.results.states import State
from arena.store import (
    CompetitionTexts,
    DrawDiffers,
    NameTaken,
    NoCompetition,
    NoEntrant,
    NoOfficialStandings,
    open_store,
    schema,
)
from tests.store.made import (
    AT,
    MATCHES,
    NOW,
    PLAN,
    TERMS,
    config,
    made,
    outcomes,
    plan_of,
    record,
    result,
)


@pytest.fixture
def store(store):
    yield store
    assert store.violations() == ()


@pytest.fixture
def competitions(store):
    return made(store)


def texts(**given):
    text = config(**given)
    return CompetitionTexts(text, public_text(text))


def test_everything_comes_back_after_closing(path):
    with open_store(path) as store:
        made(store)
        record(store, result(MATCHES[0]))
    with open_store(path) as store:
        found = store.competitions().get("autumn")
        game = store.competitions().record("autumn").games[0]
        assert (found.config, found.terms, found.state) == (config(), (TERMS,), State.DRAFT)
        assert [each.command for each in found.entries] == ["./bot", "./bot"]
        assert game.deal_sets == PLAN
        assert game.outcomes == {MATCHES[0].id: result(MATCHES[0])}


def test_competitions_of_one_store_are_apart(store, competitions):
    made(store, "spring")
    record(store, result(MATCHES[0]))
    assert outcomes(store, "spring") == {}
    assert [each.name for each in competitions.all()] == ["autumn", "spring"]


def test_a_name_is_given_once(store, competitions):
    with pytest.raises(NameTaken, match="there is a competition 'autumn'"):
        made(store)


def test_the_time_of_creation_is_stored_in_utc(store, competitions):
    noon_in_bern = NOW.astimezone(timezone(timedelta(hours=1)))
    competitions.create("spring", texts(name="spring"), [TERMS], organiser="o", now=noon_in_bern)
    with store._database.reading() as connection:
        created = connection.execute(select(schema.competitions.c.created)).scalars().all()
    assert created == ["2026-11-20T12:00:00+00:00"] * 2


def test_a_time_without_a_zone_is_refused_and_leaves_nothing(store):
    with pytest.raises(ValueError, match="needs a time zone"):
        store.competitions().create(
            "autumn", texts(), [TERMS], organiser="o", now=NOW.replace(tzinfo=None)
        )
    assert store.competitions().all() == ()


LONGER = plan_of(deal_sets=5)
DRAWN = Round(1, (("ann", "bob"),), (), "other inputs")


def test_a_round_robin_may_get_more_deal_sets_and_keeps_its_results(store, competitions):
    record(store, result(MATCHES[0]))
    competitions.extend("autumn", texts(deal_sets=5), DRAWN, LONGER, who="org", now=NOW)
    game = competitions.record("autumn").games[0]
    assert game.deal_sets == LONGER
    assert game.rounds == (DRAWN,)
    assert game.outcomes == {MATCHES[0].id: result(MATCHES[0])}
    found = competitions.get("autumn")
    assert (found.config, found.state) == (config(deal_sets=5), State.RUNNING)


def test_other_first_deal_sets_are_refused(store, competitions):
    other = plan_of(deal_sets=5, seed="other")
    with pytest.raises(DrawDiffers, match="the first deal-sets of 'autumn' were drawn differently"):
        competitions.extend("autumn", texts(deal_sets=5), DRAWN, other, who="org", now=NOW)
    game = competitions.record("autumn").games[0]
    assert game.deal_sets == PLAN
    assert competitions.get("autumn").config == config()


def test_one_of_which_no_match_has_ended_is_removed_with_all_that_it_has(store, competitions):
    made(store, "spring")
    assert competitions.remove_unplayed("autumn", who="org", now=NOW)
    assert [each.name for each in competitions.all()] == ["spring"]
    assert len(competitions.record("spring").games[0].deal_sets) == len(PLAN)
    made(store)


def test_one_that_has_played_stays(store, competitions):
    record(store, result(MATCHES[0]))
    assert not competitions.remove_unplayed("autumn", who="org", now=NOW)
    assert outcomes(store) == {MATCHES[0].id: result(MATCHES[0])}


def test_other_versions_of_bots_may_be_accepted(store, competitions):
    competitions.set_versions("autumn", {"ann": "2"}, who="org", now=NOW)
    versions = {each.name: each.version for each in competitions.get("autumn").entries}
    assert versions == {"ann": "2", "bob": "bob 1"}


def test_replays_are_known_by_their_matches(store, competitions):
    record(store, result(MATCHES[0]), result(MATCHES[1]))
    store.matches().mark_published([MATCHES[0].id])
    assert competitions.published("autumn") == {MATCHES[0].id}
    assert store.matches().get(MATCHES[0].id).competition == "autumn"
    assert store.matches().get(MATCHES[0].id).ended_unix_ms == AT


# fmt: off
UNKNOWN = [
    # call                                                                             error                 what is said
    (lambda held: held.get("winter"),                                                  NoCompetition,        "there is no such competition: 'winter' (R-UNKNOWN-COMPETITION)"),
    (lambda held: held.official("autumn", 3),                                          NoOfficialStandings,  "there are no such official standings: number 3 of 'autumn' (R-UNKNOWN-STANDINGS)"),
    (lambda held: held.go_out("autumn", "cy", Out.WITHDRAWN, reason="", who="o", now=NOW), NoEntrant,       "there is no such bot: 'cy' is not in the competition 'autumn' (R-UNKNOWN-BOT)"),
]
# fmt: on


@pytest.mark.parametrize(("call", "error", "said"), UNKNOWN, ids=[row[2] for row in UNKNOWN])
def test_what_is_unknown_is_said(competitions, call, error, said):
    with pytest.raises(error) as raised:
        call(competitions)
    assert str(raised.value) == said
