"""What organisers and owners may do with competitions, and what is said of everything else."""

import functools
import json
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from arena.app.standings_file import NotVerified, verify
from arena.contests.competition_service import CompetitionService
from arena.contests.draws import next_round
from arena.contests.plan import PlanError, read_plan
from arena.records.signing import ArenaKey
from arena.results.deal_sets import DealSetState
from arena.results.record import Out
from arena.results.rounds import DrawError
from arena.results.states import Action, NotAllowed, State
from arena.store import (
    BotKind,
    CompetitionEntry,
    DrawDiffers,
    MayNotEnter,
    NoCompetition,
    NoEntrant,
    NoOfficialStandings,
    NotExpected,
    StoredMatch,
    StoreError,
    open_store,
)
from tests.contests.played import LADDER, outcome, toml

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
NAMES = ("ann", "bob", "cid", "dan")
SKILLS = {name: -float(at) for at, name in enumerate((*NAMES, "eve", "fay", "gus", "hal"))}


def bot(name, owner=None, content=None, kind=BotKind.COMMAND):
    return CompetitionEntry(name, owner or name, kind, f"./{name}", content or f"{name}.py")


class Clock:
    """Says what time it is; it may be set back."""

    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


class House:
    """An office over a store, and whoever plays what is drawn."""

    def __init__(self, store):
        self.store, self.held = store, store.competitions()
        self.clock, self.key = Clock(), ArenaKey.new()
        self.service = CompetitionService(self.held, self.key, now=self.clock)

    def made(self, text=None, names=NAMES):
        self.service.create(text or toml("swiss"), who="org", bots=[bot(name) for name in names])
        return self

    def act(self, action, **given):
        return self.service.control("autumn", Action(action), who="org", **given)

    def draw(self):
        """Draw and keep the next round; False if there is none."""
        record = self.held.record("autumn")
        plan = read_plan(record.config)
        drawn = next_round(plan, 0, record.candidates, record.games[0].past())
        if drawn is not None:
            self.held.keep_round("autumn", 0, drawn.round, drawn.deal_sets)
        return drawn is not None

    def play(self, most=999, worker=None):
        deal_sets = self.held.deal_sets("autumn", 0)
        plans = deal_sets.take(most)
        if worker and plans:
            deal_sets.begin_many([(plan, worker) for plan in plans])
        for plan in plans:
            told = {match.id: outcome(match, SKILLS) for match in plan.matches}
            deal_sets.report_many([(plan, told)], now_unix_ms=1)
        return len(plans)

    def run(self):
        while self.draw():
            self.play()
        return self


@pytest.fixture
def house(tmp_path):
    with open_store(tmp_path / "arena.db") as store:
        yield House(store)
        assert store.violations() == ()


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE matches SET scores = '[9, -9]'", "has other scores than in official standings"),
        (
            "UPDATE official_standings SET record = replace(record, 'ann', 'eve')",
            "the record of official standings 1 was changed",
        ),
    ],
)
def test_scores_that_were_changed_after_official_standings_are_found(tmp_path, statement, sentence):
    with open_store(tmp_path / "arena.db") as store:
        house = House(store).made()
        house.act("start")
        house.run().act("finish")
        with store._database.writing() as connection:
            connection.exec_driver_sql(statement)
        assert any(sentence in each for each in store.violations())


def test_a_tournament_from_its_plan_to_its_official_table(house):
    house.made()
    house.act("start")
    house.run()
    assert house.act("finish") is State.FINISHED
    table = house.service.standings("autumn")
    assert (table["live"], table["number"]) == (False, 1)
    assert table["games"][0]["rows"][0]["bot"] == "ann"
    assert house.service.get("autumn")[1][0].deal_sets == {DealSetState.COMPLETE: 12}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The lines of an official table, and the key that signed it."""
    with open_store(tmp_path_factory.mktemp("exported") / "arena.db") as store:
        house = House(store).made()
        house.act("start")
        house.run().act("finish")
        return tuple(house.service.deals("autumn")), house.key.public_key


def test_an_exported_table_is_verified(exported):
    lines, key = exported
    found = verify(lines, public_key=key)
    assert (found.competition, found.number, found.deal_sets) == ("autumn", 1, 12)


def test_seeds_are_those_of_an_official_table_and_newcomers_are_drawn_behind(house):
    house.made()
    house.act("start")
    house.run().act("finish")
    best = [row["bot"] for row in house.service.standings("autumn")["games"][0]["rows"]]
    text = toml("knockout", deal_sets=0, head='seeds_from = "autumn"')
    text = text.replace('name = "autumn"', 'name = "winter"')
    house.service.create(text, who="org", bots=[bot(name) for name in ("eve", *reversed(NAMES))])
    house.service.control("winter", Action.START, who="org")
    entries = house.service.get("winter")[0].entries
    seeds = sorted((entered.seed, entered.name) for entered in entries)
    assert [name for _, name in seeds] == [*best, "eve"]


# fmt: off
NO_SEEDS = [
    # seeds_from  raises         sentence                     why
    ("spring",    NoCompetition, "spring",                    "nobody knows it"),
    ("autumn",    DrawError,     "has no official standings yet", "nothing of it is official"),
]
# fmt: on


@pytest.mark.parametrize(
    ("name", "error", "sentence", "_why"), NO_SEEDS, ids=[row[-1] for row in NO_SEEDS]
)
def test_a_tournament_does_not_start_without_the_table_that_seeds_it(
    house, name, error, sentence, _why
):
    house.made(toml("swiss", head=f'seeds_from = "{name}"'))
    with pytest.raises(error, match=sentence):
        house.act("start")
    assert house.service.get("autumn")[0].state == "draft"


def changed(at, change):
    def lie(lines):
        lines = list(lines)
        value = json.loads(lines[at])
        change(value)
        lines[at] = json.dumps(value)
        return lines

    return lie


def better_score(value):
    scores = value["tables"][0]["scores"]
    scores.reverse()


def better_table(value):
    value["standings"] = value["standings"].replace('"ann"', '"eve"')


# fmt: off
LIES = [
    # what is done to the lines                                   what is said
    (changed(3, better_score),                                    "other deal-sets"),
    (lambda lines: [*lines[:2], *lines[3:]],                      "other deal-sets"),
    (lambda lines: [lines[0], *lines[2:-1], lines[1], lines[-1]], "other deal-sets"),
    (changed(0, lambda head: head["entrants"].pop()),             "other deal-sets"),
    (changed(-1, better_table),                                   "the signature is not of these standings"),
    (changed(-1, lambda last: last.update(number=2)),             "it names the number 2"),
    (changed(-1, lambda last: last.pop("signature")),             "not signed"),
    (lambda lines: lines[:-1],                                    "it has no standings"),
    (lambda lines: lines[1:],                                     "no export of deal-sets"),
    (lambda lines: [],                                            "it has too few lines"),
    (lambda lines: [*lines[:2], "{", *lines[2:]],                 "line 3 is not JSON"),
    (lambda lines: [*lines[:2], "{}", *lines[2:]],                "line 3 is not a deal-set"),
]
# fmt: on


@pytest.mark.parametrize(("lie", "said"), LIES, ids=[f"{n} {row[1]}" for n, row in enumerate(LIES)])
def test_standings_that_do_not_follow_from_their_deal_sets_are_refused(exported, lie, said):
    lines, _ = exported
    with pytest.raises(NotVerified, match=said):
        verify(lie(list(lines)))


def test_standings_of_another_arena_are_refused(exported):
    lines, _ = exported
    with pytest.raises(NotVerified, match="another arena signed"):
        verify(lines, public_key=ArenaKey.new().public_key)


def test_two_organisers_at_once_do_not_undo_each_other(house):
    house.made()
    house.act("start")
    house.act("pause", expected=State.RUNNING)
    with pytest.raises(NotExpected, match="is paused, not running"):
        house.act("finish", expected=State.RUNNING)
    assert house.service.get("autumn")[0].state == "paused"
    assert house.held.official("autumn") is None, "and no table is made of it"


# fmt: off
NOT_NOW = [
    ([],                          "pause",  "draft and cannot pause, only start"),
    (["start"],                   "start",  "running and cannot start"),
    (["start", "pause"],          "pause",  "paused and cannot pause, only resume, freeze, finish"),
    (["start", "finish"],         "resume", "finished and cannot resume, only freeze"),
]
# fmt: on


@pytest.mark.parametrize(("before", "action", "said"), NOT_NOW, ids=[row[2] for row in NOT_NOW])
def test_a_refused_action_lists_the_allowed_actions(house, before, action, said):
    house.made()
    for each in before:
        house.act(each)
    with pytest.raises(NotAllowed, match=said):
        house.act(action)


def test_too_few_bots_are_told_before_it_starts(house):
    house.made(names=["ann"])
    with pytest.raises(DrawError, match="needs at least 2 bots"):
        house.act("start")
    assert house.service.get("autumn")[0].state == "draft"


def test_a_plan_with_an_unknown_key_makes_nothing(house):
    with pytest.raises(PlanError, match="there is no key 'dealsets'; did you mean deal_sets"):
        house.service.create(toml("swiss", head="dealsets = 4"), who="org")
    assert house.service.all() == ()


def test_a_name_is_given_once(house):
    house.made()
    with pytest.raises(StoreError, match=r"there is a competition 'autumn' .R-NAME-TAKEN"):
        house.made()


# fmt: off
TOGETHER = [
    # bots of a plan                                        refusal                                           why
    ([bot("Ann"), bot("ann")],                              "the bots 'Ann' and 'ann' of 'autumn' have names that look alike",  "names that differ in case"),
    ([bot("a-b"), bot("a.b")],                              "the bots 'a-b' and 'a.b' of 'autumn'",           "names that differ in their separator"),
    ([bot("a", "x"), bot("b", "x"), bot("c", "x")],         "'x' has 3 bots, a, b, c",                        "more bots of an owner than are allowed"),
    ([bot("ann"), bot("ann", content="other")],             "'ann' is in the competition 'autumn' already",   "a bot twice, which the store refuses"),
]
# fmt: on


@pytest.mark.parametrize(("bots", "refusal", "why"), TOGETHER, ids=[row[-1] for row in TOGETHER])
def test_a_competition_is_made_with_all_its_bots_or_not_at_all(house, bots, refusal, why):
    with pytest.raises(MayNotEnter, match=refusal):
        house.service.create(toml("swiss"), who="org", bots=bots)
    assert house.service.all() == ()


# fmt: off
MAY_NOT = [
    (bot("bob"),                        "'bob' was disqualified from 'summer': two accounts"),
    (bot("BOB"),                        "'BOB' was disqualified"),
    (bot("new", content="bob.py"),      "'new' was disqualified from 'summer' as 'bob'"),
    (bot("ann"),                        "'ann' is in the competition 'summer' already"),
    (bot("Ann", owner="eve"),           "the name 'Ann' is taken"),
    (bot("third", owner="ann"),         "'ann' has 2 bots in 'summer', which is the most"),
]
# fmt: on


@pytest.mark.parametrize(("entry", "said"), MAY_NOT, ids=[row[1] for row in MAY_NOT])
def test_a_refused_entry_has_a_reason(house, entry, said):
    bots = [bot("ann"), bot("bob"), bot("second", owner="ann")]
    house.service.create(LADDER, who="org", bots=bots)
    house.service.disqualify("summer", "bob", reason="two accounts", who="org")
    with pytest.raises(MayNotEnter, match=said):
        house.service.enter("summer", entry, who=entry.owner)


def test_a_competition_by_invitation_is_entered_by_organisers(house):
    house.service.create(LADDER + 'entry = "invited"\n', who="org")
    with pytest.raises(MayNotEnter, match="by invitation"):
        house.service.enter("summer", bot("ann"), who="ann")
    house.service.enter("summer", bot("ann"), who="org", organises=True)


def test_a_running_tournament_is_closed_to_entries_and_a_ladder_open(house):
    house.made()
    house.act("start")
    house.draw()
    with pytest.raises(MayNotEnter, match="has begun"):
        house.service.enter("autumn", bot("eve"), who="eve")
    house.service.create(LADDER, who="org")
    house.service.control("summer", Action.START, who="org")
    house.service.enter("summer", bot("eve"), who="eve")


def test_disqualification_after_the_end_makes_another_table_and_leaves_the_first(house):
    house.made()
    house.act("start")
    house.run().act("finish")
    house.service.disqualify("autumn", "bob", reason="two accounts", who="org")
    first, second = (house.service.standings("autumn", number) for number in (1, 2))
    assert "bob" in {row["bot"] for row in first["games"][0]["rows"]}
    assert "bob" not in {row["bot"] for row in second["games"][0]["rows"]}
    assert second["out"] == [{"bot": "bob", "why": "disqualified", "reason": "two accounts"}]
    for number in (1, 2):
        assert verify(house.service.deals("autumn", number)).number == number


def test_a_disqualification_is_taken_back_with_a_reason(house, tmp_path):
    house.made(toml("round_robin"))
    house.act("start")
    house.draw()
    house.play(3)
    for name in ("bob", "cid"):
        house.service.disqualify("autumn", name, reason="two accounts", who="org")
    house.act("freeze")
    house.service.reinstate("autumn", "bob", reason="another Bob", who="org")
    out, again = (house.service.standings("autumn", number) for number in (1, 2))
    assert {row["bot"] for row in out["out"]} == {"bob", "cid"}
    assert [row["bot"] for row in again["out"]] == ["cid"]
    house.play()
    house.service.reinstate("autumn", "cid", reason="no second account either", who="org")
    house.play()
    assert house.service.get("autumn")[1][0].deal_sets == {DealSetState.COMPLETE: 12}
    rows = sqlite3.connect(tmp_path / "arena.db").execute(
        "SELECT before, after FROM audit WHERE what LIKE 'reinstate%'"
    )
    before, after = map(json.loads, next(rows))
    assert before == {"bot": "bob", "out": "disqualified", "reason": "two accounts"}
    assert after == {"bot": "bob", "reason": "another Bob"}


def test_deal_sets_of_a_dropped_worker_stay_void_when_a_bot_comes_back(house):
    house.made(toml("round_robin"))
    house.act("start")
    house.draw()
    house.play(12, worker="m1")
    house.service.drop_worker("autumn", "m1", reason="it cheats", who="org")
    house.service.disqualify("autumn", "bob", reason="two accounts", who="org")
    house.service.reinstate("autumn", "bob", reason="a mistake", who="org")
    assert house.service.get("autumn")[1][0].deal_sets == {DealSetState.VOID: 12}


def withdrawn(house):
    house.service.withdraw("autumn", "bob", who="bob")


def left_behind(house):
    house.service.disqualify("autumn", "bob", reason="two accounts", who="org")
    house.play()
    house.draw()


# fmt: off
NOT_BACK = [
    # before           refusal                                                  why
    (lambda _: None,   "'bob' is not disqualified from 'autumn'",               "it takes part"),
    (withdrawn,        "'bob' is not disqualified from 'autumn'",               "its owner withdrew it"),
    (left_behind,      "a round of 'autumn' was drawn without 'bob'",           "a later round would be drawn otherwise"),
]
# fmt: on


@pytest.mark.parametrize(("before", "refusal", "why"), NOT_BACK, ids=[row[-1] for row in NOT_BACK])
def test_a_bot_that_cannot_come_back(house, before, refusal, why):
    house.made()
    house.act("start")
    house.draw()
    before(house)
    with pytest.raises(NotAllowed, match=refusal):
        house.service.reinstate("autumn", "bob", reason="a mistake", who="org")


def test_a_draft_is_deleted_and_nothing_else(house):
    house.made()
    house.service.delete("autumn", who="org")
    assert house.service.all() == ()
    house.made()
    for action, state in (("start", "running"), ("pause", "paused"), ("finish", "finished")):
        house.act(action)
        with pytest.raises(
            NotAllowed, match=f"'autumn' is {state}, and only a draft can be deleted"
        ):
            house.service.delete("autumn", who="org")


def test_deal_sets_of_a_bot_that_went_out_are_not_played(house):
    house.made(toml("round_robin"))
    house.act("start")
    house.draw()
    house.play(1)
    house.service.withdraw("autumn", "bob", who="bob")
    house.play()
    shown = house.service.get("autumn")[1][0].deal_sets
    assert shown[DealSetState.VOID] > 0
    assert shown[DealSetState.COMPLETE] + shown[DealSetState.VOID] == 12
    assert not house.draw()


def test_deal_sets_of_a_dropped_worker_do_not_count(house):
    house.made(toml("round_robin"))
    house.act("start")
    house.draw()
    house.play(3, worker="m1")
    house.play(2, worker="m2")
    house.play()
    house.act("finish")
    assert house.held.workers("autumn") == ("m1", "m2")
    drop = functools.partial(house.service.drop_worker, "autumn", reason="it cheats", who="org")
    assert drop("m3") == 0
    assert house.service.get("autumn")[0].official == 1
    assert drop("m1") == 3
    assert house.held.workers("autumn") == ("m2",)
    first, second = (house.service.standings("autumn", number) for number in (1, 2))
    assert [table["games"][0]["deal_sets"]["complete"] for table in (first, second)] == [12, 9]
    assert house.service.get("autumn")[1][0].deal_sets[DealSetState.VOID] == 3
    assert verify(house.service.deals("autumn", 2)).number == 2


def test_what_later_rounds_rest_on_is_not_dropped(house):
    house.made()  # a Swiss
    house.act("start")
    house.draw()
    house.play(worker="m1")
    with pytest.raises(NotAllowed, match="rounds of the swiss 'autumn' are drawn from results"):
        house.service.drop_worker("autumn", "m1", reason="it cheats", who="org")


def test_a_clock_that_is_set_back_changes_no_draw_and_reopens_nothing(house):
    house.made()
    house.act("start")
    house.draw()
    house.play(2)
    house.clock.now = NOW - timedelta(days=400)
    house.run().act("finish")
    with pytest.raises(MayNotEnter, match="finished"):
        house.service.enter("autumn", bot("eve"), who="eve")
    assert verify(house.service.deals("autumn")).number == 1


def test_a_round_that_comes_out_otherwise_is_not_played_on(house):
    house.made()
    house.act("start")
    house.draw()
    record = house.held.record("autumn")
    plan = read_plan(record.config)
    others = [each for each in record.candidates if each.name != "dan"]
    drawn = next_round(plan, 0, others, ())
    with pytest.raises(DrawDiffers, match="from other entrants"):
        house.held.keep_round("autumn", 0, drawn.round, drawn.deal_sets)


def test_a_whole_deal_set_that_was_not_reported_is_open(house):
    house.made()
    house.act("start")
    house.draw()
    (plan, *_) = house.held.deal_sets("autumn", 0).take(9)
    house.store.matches().record(
        [
            StoredMatch(outcome(match, SKILLS), "sixty_six", match.bots, plan.id, 1)
            for match in plan.matches
        ]
    )
    open_ = house.held.record("autumn").games[0].open
    assert plan in open_


def test_unknown_names_are_refused(house):
    house.made()
    for ask in (house.service.get, house.service.rounds, house.service.standings):
        with pytest.raises(NoCompetition, match="no such competition: 'spring'"):
            ask("spring")
    with pytest.raises(NoOfficialStandings, match="number 3"):
        house.service.standings("autumn", 3)
    with pytest.raises(NoEntrant, match="'eve' is not in"):
        house.held.go_out("autumn", "eve", Out.WITHDRAWN, reason="", who="eve", now=NOW)


def test_the_audit_records_who_did_what(house, tmp_path):
    house.made()
    house.act("start")
    house.service.disqualify("autumn", "bob", reason="two accounts", who="olga")
    rows = sqlite3.connect(tmp_path / "arena.db").execute("SELECT who, what FROM audit").fetchall()
    assert rows[-1] == ("olga", "out of competition autumn")
    assert ("org", "start competition autumn") in rows
