"""The finals of a ladder: fresh deal-sets of the versions as they are now, which make its official standings."""

import pytest

from arena.contests.competition_service import CompetitionService
from arena.contests.plan import Format, read_plan
from arena.contests.plan_text import finals_plan
from arena.records.signing import ArenaKey
from arena.results.deal_sets import ScheduleError
from arena.results.rounds import DrawError
from arena.results.states import Action, State
from arena.store import BotKind, CompetitionEntry, NoCompetition, open_store
from tests.contests.test_competition_service import LADDER, NOW, bot

MORE = """
opens = 2026-11-01T00:00:00Z
closes = 2026-12-01T00:00:00Z
[ladder]
finals_deal_sets = 3
[rate]
deal_sets_a_day = 100
[daily]
begin = "22:00"
end = "06:00"
"""


@pytest.fixture
def service(tmp_path):
    with open_store(tmp_path / "arena.db") as store:
        yield CompetitionService(store.competitions(), ArenaKey.new(), now=lambda: NOW)


def begun(service, *bots, text=LADDER):
    service.create(text, who="org", bots=bots)
    service.control("summer", Action.START, who="org")


def entrants(service, name):
    return {entered.name for entered in service.get(name)[0].entries}


def test_finals_are_a_round_robin_on_the_terms_of_the_ladder():
    ladder, finals = read_plan(LADDER + MORE), read_plan(finals_plan(LADDER + MORE, 2))
    assert (finals.name, finals.format) == ("summer-finals-2", Format.ROUND_ROBIN)
    assert [each.deal_sets for each in finals.games] == [3]
    assert finals.games[0].terms == ladder.games[0].terms
    assert (finals.opens, finals.closes, finals.rate.deal_sets_a_day) == (None, None, None)
    assert finals.daily == ladder.daily
    assert finals.seed not in (ladder.seed, read_plan(finals_plan(LADDER, 1)).seed)


@pytest.mark.parametrize(
    ("action", "state"), [(Action.FREEZE, State.RUNNING), (Action.FINISH, State.FINISHED)]
)
def test_a_ladder_has_finals_begun_instead_of_official_standings(service, action, state):
    begun(service, bot("ann"), bot("bob"), bot("cid"))
    service.withdraw("summer", "cid", who="cid")
    assert service.control("summer", action, who="org") is state
    finals, _ = service.get("summer-finals-1")
    assert (finals.state, finals.official) == (State.RUNNING, 0)
    assert read_plan(finals.config).format is Format.ROUND_ROBIN
    assert entrants(service, "summer-finals-1") == {"ann", "bob"}
    assert service.get("summer")[0].official == 0


def test_each_freeze_has_finals_of_its_own(service):
    begun(service, bot("ann"), bot("bob"))
    for _ in range(2):
        service.control("summer", Action.FREEZE, who="org")
    assert service.get("summer-finals-2")[0].state == "running"


def test_a_submitted_bot_plays_the_version_that_is_active_when_finals_begin(service):
    ann = CompetitionEntry("ann", "ann", BotKind.UPLOADED, version="")
    begun(service, bot("bob"))
    service.enter("summer", ann, who="ann")
    service.control("summer", Action.FREEZE, who="org")
    stored = service._competitions.get("summer-finals-1")
    assert {each.name: each.version for each in stored.entries} == {
        "ann": "",
        "bob": "bob.py",
    }


def test_too_few_bots_have_no_finals(service):
    begun(service, bot("ann"))
    with pytest.raises((DrawError, ScheduleError)):
        service.control("summer", Action.FREEZE, who="org")
    assert service.control("summer", Action.FINISH, who="org") is State.FINISHED
    with pytest.raises(NoCompetition):
        service.get("summer-finals-1")
