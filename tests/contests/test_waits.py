"""Why nothing of a competition is played: each reason in words, from what plays to its readers."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
from trio.testing import MockClock

from arena.api.public_competition import competition_message
from arena.contests import scheduler
from arena.contests.plan import read_plan
from arena.contests.scheduler import Scheduler
from arena.contests.workers.pool import WorkerPool, player_of
from arena.contests.workers.worker import LOCAL, Needs
from arena.live import players
from arena.live.arena_player import ArenaPlayer
from arena.live.work import CannotPlay
from arena.results.record import Out
from arena.results.states import Action
from arena.sandbox.spawner.order import Level
from arena.store import BotKind, open_store
from cardarena.v1 import work_pb2
from tests.contests.played import toml, waits
from tests.contests.test_competition_service import LADDER, House, bot
from tests.contests.test_ladder_presence import (
    TERMS,
    Arena,
    LadderPresence,
    Players,
    entered,
    held,
)

READY = work_pb2.WorkerReady(sandbox="S2", speed_class=3)
OF_CLASS = Needs(3, Level.S2)


# Ladders.

REMOTE = tuple(map(held, ("ann", "bob", "cid", "dan", "eve", "fay", "gus")))
NO_TWO = "no two bots of different owners can play now"
# fmt: off
NO_PAIR = [
    # bots                                connected       resting    why no two can meet                                             why
    ((),                                  [],             (),        "no bot has entered",                                           "a new ladder"),
    ((held("ann", out=Out.WITHDRAWN),),   ["ann"],        (),        "no bot has entered",                                           "the only one has withdrawn"),
    (REMOTE[:1],                          ["ann"],        (),        "all bots that have entered are of one owner or team, and these never meet", "one bot alone"),
    (REMOTE[:2],                          ["ann"],        (),        f"{NO_TWO}: bob is not connected",                                       "one of two is absent"),
    (REMOTE,                              [],             (),        f"{NO_TWO}: ann is not connected; bob is not connected; cid is not connected; dan is not connected; eve is not connected; and 2 more", "many are absent"),
    ((held("ann", BotKind.COMMAND), *REMOTE[1:2]), ["bob"], ("ann",), f"{NO_TWO}: ann could not be started by the arena, which tries again within a minute", "one does not start"),
    ((REMOTE[0], held("bob", away="forfeited 3 seats in a row")), ["ann", "bob"], (), f"{NO_TWO}: bob forfeited 3 seats in a row",          "one is not drawn"),
]
# fmt: on


@pytest.mark.parametrize(
    ("bots", "connected", "resting", "shown", "why"), NO_PAIR, ids=[row[-1] for row in NO_PAIR]
)
def test_why_no_two_bots_of_a_ladder_can_meet(bots, connected, resting, shown, why):
    arena = Arena()
    for name in connected:
        arena.come(name)

    async def main():
        presence = LadderPresence(TERMS, arena, Players(frozenset(resting)), entered(*bots))
        return presence.why_none(entered(*bots), {})

    assert trio.run(main) == shown, why


# Workers.


def joined(pool, **changes):
    ready = work_pb2.WorkerReady()
    ready.CopyFrom(READY)
    for name, value in changes.items():
        setattr(ready, name, value)
    worker = pool.add(7, "m1")
    worker._ready = ready


def broken(pool, key=""):
    pool.add(0, key).why_broken = "the program of worker 0 is missing"


# fmt: off
LEVELS = [
    # plan                                needs                  why
    ("",                                  Needs(None),           "local workers have the arena's own level"),
    ("sandbox = 'S1'\n",                  Needs(None, Level.S1), "which the plan asks for"),
    ("speed_class = 3\n",                 Needs(3, Level.S2),    "submitted bots need S2"),
    ("speed_class = 3\nsandbox = 'S1'\n", Needs(3, Level.S2),    "also where a plan asks for less"),
    ("speed_class = 3\nsandbox = 'S3'\n", Needs(3, Level.S3),    "or for more"),
]
# fmt: on


@pytest.mark.parametrize(("head", "needs", "why"), LEVELS, ids=[row[-1] for row in LEVELS])
def test_which_level_the_workers_of_a_competition_need(head, needs, why):
    make_player = player_of(
        WorkerPool(), lambda *_: None, read_plan(toml("round_robin", head=head))
    )
    assert make_player.keywords["terms"].needs == needs, why


NONE_JOINED = "no worker of speed class 3 with sandbox level S2 or better has joined; `arena worker` starts one"
# fmt: off
POOLS = [
    # pool                                      needs                                     why none plays                              why
    (lambda _: None,                            OF_CLASS,                                 NONE_JOINED,                                "no worker"),
    (lambda pool: joined(pool, speed_class=2),  OF_CLASS,                                 NONE_JOINED,                                "a worker of another class"),
    (lambda pool: joined(pool, sandbox="S1"),   OF_CLASS,                                 NONE_JOINED,                                "a worker with a weaker sandbox"),
    (joined,                                    Needs(3, Level.S2, frozenset({"f00"})),   NONE_JOINED.replace(" has joined", " and the runtimes of its bots has joined"), "a worker without a runtime"),
    (joined,                                    OF_CLASS,                                 "",                                         "a worker that fits"),
    (lambda pool: pool.add(0),                  LOCAL,                                    "the arena's workers are starting",         "local workers that start"),
    (broken,                                    LOCAL,                                    "the program of worker 0 is missing",       "local workers that cannot start"),
    (lambda pool: broken(pool, "engine"),       OF_CLASS,                                 "the program of worker 0 is missing",       "an engine that cannot be used"),
    (lambda _: None,                            LOCAL,                                    "",                                         "no local workers: the arena plays"),
    (lambda pool: pool.drain(),                 LOCAL,                                    "the arena drains: it finishes what is in play, and stops", "an arena that stops"),
]
# fmt: on


@pytest.mark.parametrize(("make", "needs", "expected", "why"), POOLS, ids=[r[-1] for r in POOLS])
def test_why_no_worker_plays(make, needs, expected, why):
    async def main():
        pool = WorkerPool()
        make(pool)
        return pool.why_waits(needs)

    assert trio.run(main) == expected


def test_nothing_waits_for_an_engine_that_cannot_be_used():
    async def main():
        pool = WorkerPool()
        broken(pool, "engine")
        with trio.fail_after(1), pytest.raises(CannotPlay, match="worker 0 is missing"):
            await pool.find(OF_CLASS)

    trio.run(main, clock=MockClock(autojump_threshold=0))


# The arena.

# fmt: off
ADMISSIONS = [
    (None,                           "",                                                "an arena that refuses nothing"),
    ("",                             "",                                                "an arena that is in time"),
    ("the arena is 35 ms late",      "the arena is busy, so fewer matches begin or none",  "a late arena, without its figure"),
    ("1 MB of its disk are free",    "1 MB of its disk are free, so fewer matches begin or none", "a full disk"),
]
# fmt: on


@pytest.mark.parametrize(("closed", "expected", "why"), ADMISSIONS, ids=[r[-1] for r in ADMISSIONS])
def test_a_late_arena_says_so(closed, expected, why):
    full = closed if closed and "disk" in closed else ""
    admission = closed and SimpleNamespace(why_closed=lambda: closed, why_full=lambda: full)
    admission = None if closed is None else admission or SimpleNamespace(why_closed=lambda: "")
    arena = SimpleNamespace(admission=admission, matches=SimpleNamespace(play=None, fix_deals=None))
    assert ArenaPlayer(arena, None, None).why_waits() == expected


# What its readers see.


@pytest.fixture
def house(tmp_path, monkeypatch):
    async def inline(call, *given):
        return call(*given)

    monkeypatch.setattr(scheduler, "run_sync", inline)
    with open_store(tmp_path / "arena.db") as store:
        yield House(store)


def noted(house, plan, games, arena=None, looks=1):
    """What the scheduler notes after so many looks; `games` change what they say by themselves."""

    async def main():
        async with trio.open_nursery() as nursery:
            bots = players.Players(arena, Path(), Path("bots"), nursery)
            plays = Scheduler(arena, house.store, house.service, bots)
            nursery.start_soon(plays._note_waits, plan, games)
            await trio.sleep(scheduler.NOTE_S * (looks + 0.5))
            nursery.cancel_scope.cancel()

    trio.run(main, clock=MockClock(autojump_threshold=0))


class Says:
    """A game that waits for these reasons, one a look."""

    def __init__(self, *reasons):
        self.reasons = list(reasons)

    @property
    def waits(self):
        return self.reasons.pop(0) if len(self.reasons) > 1 else self.reasons[0]


# fmt: off
SHOWN = [
    # reasons of each game            looks   shown                      why
    ([Says("a is absent")],           1,      "a is absent",             "one game that waits"),
    ([Says("late"), Says("late")],    1,      "late",                    "two games for one reason"),
    ([Says("late"), Says("absent")],  1,      "late; absent",            "two games for two reasons"),
    ([Says("late"), Says("")],        1,      "",                        "one of two games is played"),
    ([Says("late", "")],              2,      "",                        "it is played again"),
]
# fmt: on


@pytest.mark.parametrize(("games", "looks", "shown", "why"), SHOWN, ids=[r[-1] for r in SHOWN])
def test_readers_see_why_nothing_begins(house, games, looks, shown, why):
    house.service.create(LADDER, who="org", bots=[bot("ann"), bot("bob")])
    house.service.control("summer", Action.START, who="org")
    noted(house, read_plan(LADDER), games, looks=looks)
    assert waits(house.service, "summer") == shown


def test_a_reason_does_not_outlast_the_run(house):
    house.service.create(LADDER, who="org", bots=[bot("ann"), bot("bob")])
    house.service.control("summer", Action.START, who="org")
    noted(house, read_plan(LADDER), [Says("late")])
    house.service.control("summer", Action.PAUSE, who="org")
    assert waits(house.service, "summer") == ""
    house.held.note_waits("summer", "a look that was under way")
    assert waits(house.service, "summer") == ""


def test_what_limits_a_bot_does_not_outlast_the_run(house):
    house.service.create(LADDER, who="org", bots=[bot("ann"), bot("bob")])
    house.service.control("summer", Action.START, who="org")
    house.held.note_limits("summer", {"ann": "the ladder plays at most 60 matches an hour"})

    def shown():
        message = competition_message(*house.service.get("summer"), waits="")
        return [entry.away for entry in message.bots]

    assert shown() == ["the ladder plays at most 60 matches an hour", ""]
    house.service.control("summer", Action.FINISH, who="org")
    assert shown() == ["", ""]


def test_absent_bots_of_a_tournament_are_named(house):
    text = toml("swiss")
    bots = [bot(name, kind=BotKind.REMOTE) for name in ("ann", "bob")]
    house.service.create(text, who="org", bots=[*bots, bot("cid")])
    house.act("start")
    arena = Arena()
    arena.come("ann")
    noted(house, read_plan(text), [Says("")], arena)
    shown = {entry.name: entry.limited for entry in house.held.get("autumn").entries}
    assert shown["bob"].startswith("is not connected, so the fallback player plays its seats")
    assert (shown["ann"], shown["cid"]) == ("", "")
