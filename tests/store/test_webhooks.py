"""Webhooks in the store: which events they get, and the queue of what is to be sent."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from arena.results.states import Action
from arena.results.versions import VersionEvent
from arena.store import BotKind, StoredMatch, open_store, webhooks
from arena.store.events import CRASHES_MS
from arena.store.moments import unix_ms
from arena.store.webhooks import (
    BACK_OFF_S,
    MOST_FAILURES,
    MOST_OF_OWNER,
    MOST_WAITING,
    NoWebhook,
    TooManyWebhooks,
)
from tests.store.made import MATCHES as PLANNED
from tests.store.made import made, result
from tests.store.test_registry import key_of

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
URL = "https://bots.example/hook"


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "arena.db") as store:
        for owner in ("ann", "bob"):
            registry = store.registry()
            registry.invite(owner, owner, invited_by="org", now=NOW)
            registry.register(owner, key_of, now=NOW)
            registry.create_bot(f"{owner}s", owner, BotKind.UPLOADED, now=NOW)
            registry.submit(f"{owner}s", sha256=owner, manifest={}, now=NOW)
        yield store


def later(seconds=0.0):
    return NOW + timedelta(seconds=1 + seconds)


def told(store, seconds=0.0):
    """The types of the events that are sent now, with whose webhook it is; each is taken."""
    store.webhooks().collect(now=later(seconds))
    sent = []
    for at in range(99):
        now = later(seconds + 2 * at)
        due, _ = store.webhooks().due(now=now, most=9)
        if not due:
            return sent
        for delivery in due:
            sent.append(json.loads(delivery.body))
            store.webhooks().settle(delivery, "", 1.0, now=now)
    raise AssertionError("sent without end")


def qualify(store, bot, event=VersionEvent.QUALIFIED):
    for step in (VersionEvent.CHECKED, event):
        store.registry().record(bot, 1, step, who="arena", reason="all passed", now=later())


def crashed(store, number, kind, at=0.0, bot="anns"):
    faults = ({kind: 2}, {})
    outcome = result(PLANNED[number], faults=faults)
    ended = unix_ms(later(at))
    store.matches().record([StoredMatch(outcome, "jam", (bot, "bobs"), "", ended)])


def reject(store):
    qualify(store, "anns", VersionEvent.REJECTED)


def play(store, *actions):
    made(store, bots=("anns", "bobs"))
    for action in (Action.START, *actions):
        store.competitions().control("autumn", action, who="org", now=later())


WHAT_HAPPENS = [
    pytest.param(lambda store: qualify(store, "anns"), ["qualified"], [], id="a version qualifies"),
    pytest.param(reject, ["failed"], [], id="a version does not qualify"),
    pytest.param(lambda store: qualify(store, "bobs"), [], [], id="another owner's bot qualifies"),
    pytest.param(lambda store: crashed(store, 0, "error"), ["crashed"], [], id="its code fails"),
    pytest.param(lambda store: crashed(store, 0, "gone"), ["crashed"], [], id="it goes"),
    pytest.param(lambda store: crashed(store, 0, "timeout"), [], [], id="it is late"),
    pytest.param(
        lambda store: crashed(store, 0, "error", bot="guest"), [], [], id="a guest's code fails"
    ),
    pytest.param(play, [], ["begun"], id="a competition begins"),
    pytest.param(
        lambda store: play(store, Action.FREEZE, Action.PAUSE, Action.FINISH),
        [],
        ["begun", "frozen", "finished"],
        id="a competition is frozen, paused and finishes",
    ),
]


@pytest.mark.parametrize(("act", "owners", "organisers"), WHAT_HAPPENS)
def test_an_event_is_told_once_to_those_whom_it_concerns(store, act, owners, organisers):
    hooks = store.webhooks()
    hooks.add("ann", "", URL, "s", now=NOW)
    hooks.add("org", "autumn", URL, "s", now=NOW)
    act(store)
    events = told(store)
    of_competition = [event for event in events if "competition" in event["data"]]
    assert [event["type"] for event in events if event not in of_competition] == owners
    assert [event["type"] for event in of_competition] == organisers
    for event in events:
        assert set(event) == {"id", "type", "timestamp", "data"}
    assert told(store, 600) == []


def test_an_owner_is_told_of_the_competitions_of_the_owners_bots(store):
    store.webhooks().add("anns", "", URL, "s", now=NOW)
    play(store)  # in which entrants are their own owners
    (begun,) = told(store)
    assert (begun["type"], begun["data"]) == ("begun", {"competition": "autumn"})


def test_what_happened_before_is_not_told(store):
    qualify(store, "anns")
    store.webhooks().add("ann", "", URL, "s", now=later(60))
    assert told(store, 60) == []


def test_a_crash_names_no_match_and_is_told_once_in_ten_minutes(store):
    store.webhooks().add("ann", "", URL, "s", now=NOW)
    for number, at in enumerate((0, 1, 2, CRASHES_MS / 1000)):
        crashed(store, number, "error", at)
    events = told(store, 700)
    assert [event["data"] for event in events] == [
        {"bot": "anns", "game": "jam", "fault": "error"}
    ] * 2


def test_a_delivery_whose_answer_was_not_stored_is_sent_again_after_a_kill(store, tmp_path):
    store.webhooks().add("ann", "", URL, "s", now=NOW)
    qualify(store, "anns")
    store.webhooks().collect(now=later())
    (first,), _ = store.webhooks().due(now=later(), most=9)
    with open_store(tmp_path / "arena.db") as again:
        again.webhooks().collect(now=later())
        (second,), _ = again.webhooks().due(now=later(), most=9)
    assert (second.event, second.body) == (first.event, first.body)


def test_attempts_follow_further_apart_until_a_delivery_is_given_up(store):
    hooks = store.webhooks()
    hooks.test("ann", hooks.add("ann", "", URL, "s", now=NOW).id, now=NOW)
    now = later()
    for wait_s in BACK_OFF_S:
        (delivery,), _ = hooks.due(now=now, most=9)
        hooks.settle(delivery, "it answered 500", wait_s, now=now)
        assert hooks.due(now=now + timedelta(seconds=wait_s - 1), most=9)[0] == ()
        now += timedelta(seconds=wait_s)
        assert hooks.due(now=now, most=9)[1] == unix_ms(now), "when to look next"
    (last,), _ = hooks.due(now=now, most=9)
    hooks.settle(last, "it answered 500", 1.0, now=now)
    assert hooks.due(now=now + timedelta(days=9), most=9) == ((), None)
    assert hooks.of_owner("ann")[0].failures == len(BACK_OFF_S) + 1


def test_a_webhook_is_off_after_many_failures_in_a_row_and_a_test_switches_it_on(store):
    hooks = store.webhooks()
    number = hooks.add("ann", "", URL, "s", now=NOW).id
    for at in range(MOST_FAILURES):
        assert not hooks.of_owner("ann")[0].off
        hooks.test("ann", number, now=NOW + timedelta(seconds=at))
        (delivery, *_), _ = hooks.due(now=later(at), most=9)
        with store._database.writing() as connection:  # failures of different deliveries
            webhooks._set(connection, number, failures=at)
        hooks.settle(delivery, "it answered 500", 0.0, now=later(at))
    assert hooks.of_owner("ann")[0].off == (
        f"{MOST_FAILURES} attempts in a row failed, the last one because it answered 500"
    )
    assert hooks.due(now=later(9_999), most=9) == ((), None)
    assert hooks.test("ann", number, now=later(50)).off == ""
    assert hooks.due(now=later(9_999), most=9)[0]


def test_so_many_deliveries_wait_and_no_more(store, monkeypatch):
    monkeypatch.setattr(webhooks, "MOST_WAITING", 2)
    store.webhooks().add("ann", "", URL, "s", now=NOW)
    for number in range(3):
        crashed(store, number, "error", 700 * number)
    store.webhooks().collect(now=later(9_999))
    assert store.webhooks().of_owner("ann")[0].off == "more than 2 deliveries waited"
    assert MOST_WAITING == 1_000


def test_an_owner_is_sent_one_thing_at_a_time(store):
    hooks = store.webhooks()
    for owner in ("ann", "ann", "bob"):
        number = hooks.add(owner, "", URL, "s", now=NOW).id
        hooks.test(owner, number, now=NOW)
    due, _ = hooks.due(now=later(), most=9)
    assert sorted(delivery.webhook for delivery in due) == [1, 3]
    assert len(hooks.due(now=later(), most=1)[0]) == 1


def test_a_webhook_is_of_its_owner_alone(store):
    hooks = store.webhooks()
    number = hooks.add("ann", "", URL, "s", now=NOW).id
    for act in (lambda: hooks.remove("bob", number), lambda: hooks.test("bob", number, now=NOW)):
        with pytest.raises(NoWebhook):
            act()
    hooks.test("ann", number, now=NOW)
    hooks.remove("ann", number)
    assert (hooks.of_owner("ann"), hooks.due(now=later(), most=9)) == ((), ((), None))
    for _ in range(MOST_OF_OWNER):
        hooks.add("ann", "", URL, "s", now=NOW)
    with pytest.raises(TooManyWebhooks):
        hooks.add("ann", "", URL, "s", now=NOW)


def test_a_banned_owner_is_told_nothing(store):
    hooks = store.webhooks()
    number = hooks.add("ann", "", URL, "s", now=NOW).id
    hooks.test("ann", number, now=NOW)
    store.registry().ban("ann", reason="two accounts", who="org", now=NOW)
    assert told(store) == []
    assert hooks.of_owner("ann")[0].off == "its owner is banned"
