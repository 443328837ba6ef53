"""Who is drawn on a ladder: who is there, for how long, and who has left too many seats."""

import itertools
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
import trio
from trio.testing import MockClock

from arena.bots.bot_ids import BotId
from arena.contests.competition_service import CompetitionService
from arena.contests.ladder import Ladder
from arena.contests.ladder_presence import FORFEITS_IN_A_ROW, LadderPresence
from arena.contests.pairing import AHEAD, MIN_DEAL_SETS, Pairing
from arena.contests.plan import read_plan
from arena.records.signing import ArenaKey
from arena.results.deal_sets import bot_of, planned_tables
from arena.results.record import Out
from arena.results.states import Action, State
from arena.results.versions import VersionEvent
from arena.store import BotKind, Competition, CompetitionEntry, EnteredBot, open_store
from tests.contests.played import outcome
from tests.store.test_registry import key_of

TEXT = 'name = "l"\nkind = "ladder"\ngame = "sixty_six"\nseats = 2\nseed = "s"\n'
PLAN = read_plan(TEXT)
TERMS = PLAN.games[0].terms


@dataclass
class Session:
    present: bool = True
    max_matches: int = 4
    came_ready: int = 1
    games: frozenset = frozenset({"sixty_six"})
    version: str = ""

    @property
    def declared(self):
        return self

    def plays(self, game_id, rules_version, seats):
        return game_id in self.games


@dataclass
class Arena:
    sessions: dict = field(default_factory=dict)

    def come(self, name, **how):
        self.sessions[BotId(name)] = Session(**how)


@dataclass
class Players:
    resting: frozenset = frozenset()

    def rests(self, name):
        return name in self.resting


def held(name, kind=BotKind.REMOTE, *, out=None, away="", present=None):
    return EnteredBot(name, name, 1, kind=kind, out=out, present=present or {}, away=away)


def entered(*bots):
    return Competition("l", "", State.RUNNING, "org", "", ("l",), bots, 0)


def run(main):
    return trio.run(main, clock=MockClock(autojump_threshold=0))


def looked(bots, arena, *, after_s=100.0, served=None, in_play=None, active=None, resting=()):
    async def main():
        players = Players(frozenset(resting))
        presence = LadderPresence(TERMS, arena, players, entered(*bots))
        await trio.sleep(after_s)
        return presence.look(entered(*bots), active or {}, served or {}, in_play or {})

    return run(main)


class PlaysAtOnce:
    """Plays deal-sets by arithmetic, and pauses the ladder with the last one. What was drawn is kept."""

    def __init__(self, service, number):
        self.service, self.number, self.drawn = service, number, []

    def why_waits(self):
        return ""

    async def ready(self):
        return 1

    async def play(self, deal_set, known, ended, begin, *, task_status):
        self.drawn.append(deal_set.bots)
        if len(self.drawn) == self.number:
            self.service.control("l", Action.PAUSE, who="org")
        task_status.started()
        skills = dict.fromkeys(deal_set.bots, 0.0)
        outcomes = {match.id: outcome(match, skills) for match in deal_set.matches}
        for match in deal_set.matches:
            ended(match, outcomes[match.id])
        return outcomes


# fmt: off
TEAMS = [
    # plan                            pairs of 12 deal-sets that are missing   why
    ("",                              set(),                                   "without teams all meet"),
    ('teams = [["ann", "bob"]]\n',    {("ann-bot", "bob-bot")},                "two owners of a team never meet"),
    ('teams = [["ann", "bob", "cid"]]\n', {("ann-bot", "bob-bot"), ("ann-bot", "cid-bot"), ("bob-bot", "cid-bot")}, "nor do three"),
]
# fmt: on


@pytest.mark.parametrize(("teams", "missing", "why"), TEAMS, ids=[row[-1] for row in TEAMS])
def test_the_teams_of_a_plan_are_kept_apart_on_a_ladder(tmp_path, monkeypatch, teams, missing, why):
    async def inline(call, *given, **_):
        await trio.lowlevel.checkpoint()
        return call(*given)

    monkeypatch.setattr("arena.contests.ladder.run_sync", inline)
    monkeypatch.setattr(trio.to_thread, "run_sync", inline)
    owners = ("ann", "bob", "cid", "dan")
    with open_store(tmp_path / "arena.db") as store:
        service = CompetitionService(store.competitions(), ArenaKey.new(), now=lambda: NOW)
        bots = [
            CompetitionEntry(f"{owner}-bot", owner, BotKind.COMMAND, "./x", "x") for owner in owners
        ]
        text = TEXT + teams
        service.create(text, who="org", bots=bots)
        service.control("l", Action.START, who="org")
        plays = PlaysAtOnce(service, 12)
        ladder = Ladder(
            read_plan(text),
            0,
            store,
            Arena(),
            Players(),
            make_player=lambda *_: plays,
            now=lambda: NOW,
        )
        run(ladder.run)
    pairs = set(itertools.combinations([f"{owner}-bot" for owner in owners], 2))
    assert pairs - {tuple(sorted(pair)) for pair in plays.drawn} == missing, why


# fmt: off
THERE = [
    # who                                             how they are there             drawn    why
    (held("ann"),                                     {},                            True,    "connected and plays the game"),
    (held("ann"),                                     {"present": False},            False,   "its process has ended"),
    (held("ann"),                                     {"games": frozenset()},        False,   "does not play the game"),
    (held("ann"),                                     None,                          False,   "was never here"),
    (held("ann", away="left"),                        {},                            False,   "left too many seats"),
    (held("ann", out=Out.DISQUALIFIED),               {},                            False,   "was disqualified"),
    (held("ann", out=Out.WITHDRAWN),                  {},                            False,   "has withdrawn"),
    (held("ann", BotKind.COMMAND),                    None,                          True,    "is launched by the arena"),
    (held("ann", BotKind.UPLOADED),                   None,                          False,   "has no active version"),
]
# fmt: on


@pytest.mark.parametrize(("who", "how", "drawn", "why"), THERE, ids=[row[3] for row in THERE])
def test_who_could_be_drawn(who, how, drawn, why):
    arena = Arena()
    if how is not None:
        arena.come("ann", **how)
    assert bool(looked([who], arena)) == drawn


def test_a_bot_that_was_here_and_is_away_may_be_drawn_against_later():
    arena, bots = Arena(), (held("ann"), held("bob"))
    arena.come("ann")
    arena.come("bob")

    async def main():
        presence = LadderPresence(TERMS, arena, Players(frozenset()), entered(*bots))
        before = presence.look(entered(*bots), {}, {}, {})
        arena.come("ann", present=False)
        return before, presence.look(entered(*bots), {}, {}, {})

    before, now = run(main)
    assert [(each.name, each.away) for each in before] == [("ann", False), ("bob", False)]
    assert [(each.name, each.away) for each in now] == [("ann", True), ("bob", False)]


def test_time_counts_beside_that_of_who_was_there_longest():
    arena = Arena()
    arena.come("ann")
    bots = held("ann", present={"ann": 100_000}), held("bob", BotKind.COMMAND)
    ann, bob = looked(bots, arena)
    assert (ann.present_h, bob.present_h) == (1.0, 0.5)


def served_on_a_ladder(versions, draws=90):
    """Deal-sets of each of 24 remote bots, of which the first says so many versions, one after another."""
    names = [f"bot{at}" for at in range(24)]
    bots, arena, pairing = [held(name) for name in names], Arena(), Pairing("s", TERMS.seats)
    for name in names:
        arena.come(name)

    async def main():
        presence, served = LadderPresence(TERMS, arena, None, entered(*bots)), Counter()
        for at in range(draws):
            await trio.sleep(1)
            said = {names[0]: f"{names[0]}@{1 + at * versions // draws}"}
            drawn = pairing.draw(presence.look(entered(*bots), said, served, {}))
            served.update(drawn.bots)
        return served

    return run(main)


@pytest.mark.parametrize("versions", [1, 10, 90])
def test_a_bot_gains_no_deal_sets_by_another_version(versions):
    served = Counter(map(bot_of, served_on_a_ladder(versions).elements()))
    # A version without a place is drawn first, but not for much more than the share of its bot.
    assert served.pop("bot0") <= max(served.values()) + (MIN_DEAL_SETS if versions > 1 else AHEAD)


@pytest.mark.parametrize("after_s", [1.0, 7.7, 4_000.0])
def test_a_draw_hangs_not_on_the_speed_of_the_machine(after_s):
    """So that a ladder that was killed draws what its twin drew."""
    bots = held("ann", BotKind.COMMAND), held("bob", BotKind.COMMAND)
    assert looked(bots, Arena(), after_s=after_s) == looked(bots, Arena())


def test_a_bot_takes_no_more_seats_than_it_said():
    arena = Arena()
    arena.come("ann", max_matches=3)
    (ann,) = looked([held("ann")], arena, in_play={"ann": 2})
    assert ann.free_seats == 1
    (ann,) = looked([held("ann")], arena, in_play={"ann": 3})
    assert ann.free_seats == 0


def test_a_bot_that_the_arena_could_not_start_is_not_drawn_for_some_time():
    bots = held("ann", BotKind.COMMAND), held("bob", BotKind.COMMAND)
    assert [each.name for each in looked(bots, Arena(), resting=["ann"])] == ["bob"]


def test_a_launched_bot_takes_any_number_of_seats():
    (ann,) = looked([held("ann", BotKind.COMMAND)], Arena(), in_play={"ann": 10_000})
    assert ann.free_seats == TERMS.seats


NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.fixture
def ladder(tmp_path):
    """A ladder that ann's bot `far` may dial in to, and a bot with a key and no owner, `keyed`."""
    with open_store(tmp_path / "arena.db") as store:
        registry = store.registry()
        registry.invite("code", "ann", invited_by="org", now=NOW)
        registry.register("code", key_of, now=NOW)
        registry.create_bot("far", "ann", BotKind.REMOTE, now=NOW)
        yield Ladder(PLAN, 0, store, Arena(), None, now=lambda: NOW)


def drawn_as(ladder, said, *, name="far", in_play=None):
    """The name that a bot is drawn under when it is there and says that it is this version."""
    ladder._arena.come(name, version=said)
    bots = (held(name),)
    active = run(lambda: ladder.dialled_in(entered(*bots)))
    drawn = looked(bots, ladder._arena, active=active, in_play=in_play)
    return [(each.name, each.free_seats) for each in drawn]


def test_a_bot_that_dials_in_plays_as_the_version_that_it_says_it_is(ladder):
    assert drawn_as(ladder, "1.0") == [("far@1", 2)]
    assert drawn_as(ladder, "1.1") == [("far@2", 2)]
    assert drawn_as(ladder, "1.0") == [("far@1", 2)], "it went back"
    assert drawn_as(ladder, "") == [("far@3", 2)], "it says nothing"


def test_its_versions_share_the_seats_that_it_takes(ladder):
    assert drawn_as(ladder, "1.0", in_play={"far": 3}) == [("far@1", 1)]


def test_a_version_that_was_retired_is_not_drawn_when_it_dials_in_again(ladder):
    assert drawn_as(ladder, "1.0") == [("far@1", 2)]
    ladder._registry.record("far", 1, VersionEvent.RETIRED, who="ann", now=NOW)
    assert drawn_as(ladder, "1.0") == []
    assert drawn_as(ladder, "1.1") == [("far@2", 2)]


def test_a_bot_with_a_key_alone_plays_under_its_name(ladder):
    assert drawn_as(ladder, "1.0", name="keyed") == [("keyed", 2)]


def test_whoever_dials_in_sits_under_its_own_name_whatever_version_it_plays_as(ladder):
    plan = planned_tables(1, [("far@2", "ann@7"), ("ann@7", "far@2")], "s", "l")
    order = ladder.order(plan, frozenset({"far"}))
    assert [table.bots for table in order.tables] == [
        (BotId("far"), BotId("ann@7", 0)),
        (BotId("ann@7", 0), BotId("far")),
    ]


class Rests:
    """A ladder's bot `ann`, its tables one after the other, and when it rests."""

    def __init__(self, presence):
        self.presence, self.number = presence, 0

    def plays(self, *left):
        rested = []
        for gone in left:
            self.number += 1
            plan = planned_tables(self.number, [("ann", "bob")], "s", "l")
            (match,) = plan.matches
            told = {
                match.id: outcome(
                    match, {"ann": 0.0, "bob": 0.0}, forfeited=("ann",) if gone else ()
                )
            }
            rested += self.presence.count_forfeits(plan, told, frozenset({"ann"}))
        return rested


def rests(arena, check):
    async def main():
        presence = LadderPresence(TERMS, arena, None, entered(held("ann")))
        check(Rests(presence), presence)

    run(main)


def test_three_count_forfeits_in_a_row_are_a_rest():
    def check(ladder, _):
        assert ladder.plays(*[True] * (FORFEITS_IN_A_ROW - 1)) == []
        assert ladder.plays(False, True, True) == [], "one that it played begins anew"
        assert ladder.plays(True) == ["ann"]

    rests(Arena(), check)


def test_seats_that_two_versions_leave_are_left_by_one_bot():
    async def main():
        presence, rested = LadderPresence(TERMS, Arena(), None, entered(held("ann"))), []
        for number, player in enumerate(["ann@1", "ann@1", "ann@2"], 1):
            plan = planned_tables(number, [(player, "bob")], "s", "l")
            (match,) = plan.matches
            told = {match.id: outcome(match, {player: 0.0, "bob": 0.0}, forfeited=(player,))}
            rested += presence.count_forfeits(plan, told, frozenset({"ann"}))
        return rested

    assert run(main) == ["ann"]


def test_a_bot_that_rests_is_back_when_it_says_that_it_is_ready():
    arena = Arena()
    arena.come("ann", came_ready=5)

    def check(ladder, presence):
        assert ladder.plays(True, True, True) == ["ann"]
        resting = entered(held("ann", away="left"))
        assert presence.returned(resting) == []
        arena.sessions[BotId("ann")].came_ready += 1
        assert presence.returned(resting) == ["ann"]

    rests(arena, check)
