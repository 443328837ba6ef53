"""Deal-sets that wait for a worker, as engines read them to start workers and to end them."""

from datetime import timedelta

import pytest

from arena.contests.waiting import waiting_by_class
from arena.results.states import Action
from arena.store import open_store
from tests.store import made as stores
from tests.store.made import NOW, config, made, result


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "arena.db") as opened:
        yield opened


def competition(
    store, monkeypatch, name, *, speed_class=None, events="", actions=(Action.START,), hours=""
):
    """A competition of three deal-sets: t was taken, b has begun at a worker, c is complete, f failed at a worker."""
    head = hours if speed_class is None else f"speed_class = {speed_class}\n{hours}"
    monkeypatch.setattr(stores, "config", lambda *of: head + config(*of))
    held = made(store, name)
    for action in actions:
        held.control(name, action, who="org", now=NOW)
    deal_sets = held.deal_sets(name, 0)
    for event in events:
        (plan,) = deal_sets.take(1)
        if event in "bcf":
            deal_sets.begin_many([(plan, "m1@a")])
        if event == "f":
            deal_sets.give_up(plan)
        if event == "c":
            ended = {match.id: result(match) for match in plan.matches}
            deal_sets.report_many([(plan, ended)], now_unix_ms=1)


RUNS, PAUSED = (Action.START,), (Action.START, Action.PAUSE)

# fmt: off
WAITING = [
    # class  deal-sets  actions   waiting        why
    (3,      "",        RUNS,     {3: 3},        "none was taken"),
    (3,      "ttt",     RUNS,     {3: 3},        "taken from the store, and at no worker yet"),
    (3,      "bc",      RUNS,     {3: 1},        "one is at a worker, and one complete"),
    (3,      "ccc",     RUNS,     {3: 0},        "all are complete"),
    (3,      "f",       RUNS,     {3: 2},        "one that was given up waits for no worker"),
    (3,      "",        PAUSED,   {},            "nothing is played while it is paused"),
    (3,      "",        (),       {},            "a draft"),
    (None,   "t",       RUNS,     {None: 2},     "what the arena's own machine has taken is in play"),
]
# fmt: on


@pytest.mark.parametrize(
    ("speed_class", "events", "actions", "waiting", "why"),
    WAITING,
    ids=[row[-1] for row in WAITING],
)
def test_what_waits(store, monkeypatch, speed_class, events, actions, waiting, why):
    competition(
        store, monkeypatch, "autumn", speed_class=speed_class, events=events, actions=actions
    )
    assert waiting_by_class(store.competitions(), NOW) == waiting, why


# fmt: off
HOURS = [
    # plan                                                  waiting  when it is 12:00
    ('daily = {begin = "11:00", end = "13:00"}\n',          3,       "within the hours of the day"),
    ('daily = {begin = "13:00", end = "11:00"}\n',          0,       "outside of the hours of the day"),
    (f"opens = {(NOW + timedelta(1)).isoformat()}\n",       0,       "before it opens"),
    (f"closes = {(NOW - timedelta(1)).isoformat()}\n",      0,       "after it closed"),
]
# fmt: on


@pytest.mark.parametrize(("hours", "waiting", "when"), HOURS, ids=[row[-1] for row in HOURS])
def test_nothing_waits_outside_of_the_hours_of_play(store, monkeypatch, hours, waiting, when):
    competition(store, monkeypatch, "autumn", speed_class=3, events="t", hours=hours)
    assert waiting_by_class(store.competitions(), NOW) == {3: waiting}, when


def test_competitions_of_a_class_are_counted_together(store, monkeypatch):
    for name, speed_class in (("autumn", -2), ("winter", 0), ("spring", -2)):
        competition(store, monkeypatch, name, speed_class=speed_class)
    assert waiting_by_class(store.competitions(), NOW) == {-2: 6, 0: 3}
