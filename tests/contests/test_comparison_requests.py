"""Comparisons that owners request: one question is one comparison, and its time counts by day."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
import trio

from arena.api.comparisons import comparison_message
from arena.contests import comparison_requests, comparison_runner
from arena.contests.comparison import UnfinishedComparison
from arena.contests.comparison_requests import (
    CORE_MS_A_DAY,
    MOST_OPEN,
    ComparisonQuery,
    judged,
    request_comparison,
)
from arena.contests.comparison_runner import ComparisonProgress, ComparisonRunner
from arena.contests.plan import read_plan
from arena.errors.refused import Refused
from arena.results.anytime.forecast import MOST_NEEDED, forecast
from arena.results.anytime.verdict import verdict
from arena.results.versions import VersionEvent
from arena.store import BotKind, ComparisonState, QuotaSpent, TooManyOpen, open_store
from arena.store.versions import UnknownVersion
from tests.live.lives import goes_on
from tests.store.test_registry import key_of

NOW = datetime(2026, 11, 25, 23, tzinfo=UTC)
TOMORROW = NOW + timedelta(hours=2)
TERMS = (
    read_plan('name = "l"\nkind = "ladder"\ngame = "sixty_six"\nseats = 2\nseed = "s"\n')
    .games[0]
    .terms
)
OTHER_TERMS = (
    read_plan('name = "l"\nkind = "ladder"\ngame = "klaberjass"\nseats = 2\nseed = "s"\n')
    .games[0]
    .terms
)


@pytest.fixture
def store(tmp_path):
    """A store with two versions of ann's bot `kj`."""
    with open_store(tmp_path / "arena.db") as store:
        registry = store.registry()
        registry.invite("code", "ann", invited_by="org", now=NOW)
        registry.register("code", key_of, now=NOW)
        registry.create_bot("kj", "ann", BotKind.UPLOADED, now=NOW)
        for number in (1, 2):
            registry.submit("kj", sha256=str(number) * 64, manifest={"games": []}, now=NOW)
            for event in (VersionEvent.CHECKED, VersionEvent.QUALIFIED):
                registry.record("kj", number, event, who="ann", now=NOW)
        yield store
        assert store.violations() == ()


def ask(store, *, now=NOW, owner="ann", bot="kj", **given):
    query = {"terms": TERMS, "each_other": True, "most": 9, "same_within": None} | given
    wanted = ComparisonQuery(f"{bot}@2", f"{bot}@1", **query)
    return request_comparison(store, owner, wanted, now=now)


def terms_of(hands):
    """Terms that make another comparison of the same two."""
    plan = f'name = "l"\nkind = "ladder"\ngame = "sixty_six"\nseats = 2\nseed = "s"\noptions.hands = {2 * hands}\n'
    return read_plan(plan).games[0].terms


EVEN = (0.5, -0.5, 0.5, -0.5)
AHEAD = (1.0,) * 20

# fmt: off
AGAIN = [
    # margins   ended                     asked again with                      the same one   and it is      why
    (EVEN,      None,                     {},                                   True,          "open",        "it is being played"),
    (EVEN,      ComparisonState.STOPPED,  {},                                   True,          "open",        "it was cancelled"),
    (EVEN,      ComparisonState.STOPPED,  {"most": 4},                          True,          "stopped",     "it has played as many"),
    (EVEN,      ComparisonState.STOPPED,  {"most": 4, "same_within": 0.9},      True,          "stopped",     "and is not the same within that"),
    (AHEAD,     ComparisonState.DECIDED,  {"most": 90},                         True,          "decided",     "it is decided"),
    (EVEN,      None,                     {"most": 90, "same_within": 0.1},     True,          "open",        "it has other limits"),
    (EVEN,      ComparisonState.STOPPED,  {"each_other": False},                False,         "open",        "against the field"),
    (EVEN,      ComparisonState.STOPPED,  {"terms": OTHER_TERMS},               False,         "open",        "another game"),
]
# fmt: on


@pytest.mark.parametrize(
    ("margins", "ended", "again", "is_same", "state", "why"), AGAIN, ids=[row[-1] for row in AGAIN]
)
def test_the_same_question_continues(store, margins, ended, again, is_same, state, why):
    requests, first = store.comparison_requests(), ask(store)
    requests.keep_margins(first.id, margins, 5_000, now=NOW)
    if ended is not None:
        requests.end(first.id, ended, "it ended")
    found = ask(store, **again)
    assert (found.id == first.id, str(found.state)) == (is_same, state)
    if is_same:
        assert found.margins == margins
        assert found.query["field"] == first.query["field"]
    if is_same and state == "open":
        limits = {name: again[name] for name in ("most", "same_within") if name in again}
        assert {name: found.query[name] for name in limits} == limits
        assert found.reason == ""


# fmt: off
SPENT = [
    # minutes, when          asked                 refused   why
    (((60, NOW),),           NOW,                  True,     "an hour today"),
    (((30, NOW),) * 2,       NOW,                  True,     "two halves"),
    (((59, NOW),),           NOW,                  False,    "less"),
    (((60, NOW),),           TOMORROW,             False,    "an hour yesterday"),
    (((60, TOMORROW),),      NOW,                  True,     "an hour of tomorrow, as clocks may be set back"),
]
# fmt: on


@pytest.mark.parametrize("again", [True, False], ids=["the same question", "another one"])
@pytest.mark.parametrize(("spent", "now", "refused", "why"), SPENT, ids=[row[-1] for row in SPENT])
def test_a_day_has_an_hour_for_all_questions(store, spent, now, refused, why, again):
    requests, first = store.comparison_requests(), ask(store)
    for minutes, day in spent:
        requests.keep_margins(first.id, EVEN, minutes * 60_000, now=day)
    requests.end(first.id, ComparisonState.STOPPED, "cancelled")
    given = {} if again else {"terms": OTHER_TERMS}
    if refused:
        with pytest.raises(QuotaSpent, match="of 60 core-minutes today"):
            ask(store, now=now, **given)
        return
    assert ask(store, now=now, **given).state is ComparisonState.OPEN


def test_an_answer_costs_nothing_when_the_day_is_spent(store):
    requests, first = store.comparison_requests(), ask(store)
    requests.keep_margins(first.id, AHEAD, CORE_MS_A_DAY, now=NOW)
    requests.end(first.id, ComparisonState.DECIDED, "it is decided")
    assert ask(store).state is ComparisonState.DECIDED


# fmt: off
OPEN = [
    # comparisons that are open, those that were stopped, what is asked then        refused  why
    (MOST_OPEN,     0,           {"terms": terms_of(20)},     True,    "one more"),
    (MOST_OPEN - 1, 2,           {"terms": terms_of(20)},     False,   "those that have ended do not count"),
    (MOST_OPEN,     0,           {"terms": terms_of(1)},      False,   "one that is open already"),
    (MOST_OPEN,     1,           {"terms": terms_of(15)},     True,    "one that was stopped is opened again"),
]
# fmt: on


@pytest.mark.parametrize(
    ("number", "stopped", "asked", "refused", "why"), OPEN, ids=[row[-1] for row in OPEN]
)
def test_an_owner_has_some_open_comparisons_at_a_time(store, number, stopped, asked, refused, why):
    requests = store.comparison_requests()
    for at in range(stopped):
        requests.end(
            ask(store, terms=terms_of(15 + at % 2)).id, ComparisonState.STOPPED, "cancelled"
        )
    for at in range(number):
        ask(store, terms=terms_of(1 + at))
    if refused:
        with pytest.raises(
            TooManyOpen, match=f"ann has {MOST_OPEN} open ones; at most {MOST_OPEN}"
        ):
            ask(store, **asked)
    else:
        assert ask(store, **asked).state is ComparisonState.OPEN
    assert len(requests.open()) == min(MOST_OPEN, number + (not refused))


def test_an_answer_computes_no_verdict_twice(store, monkeypatch):
    """150 comparisons of an owner took 2 s of processor time for each look at one of them."""
    computed = []

    def counted(margins, *limits, **more):
        computed.append(len(margins))
        return verdict(margins, *limits, **more)

    monkeypatch.setattr(comparison_requests, "verdict", counted)
    monkeypatch.setattr(comparison_requests, "_VERDICTS", comparison_requests._KnownVerdicts())
    requests, first = store.comparison_requests(), ask(store)
    second = ask(store, terms=OTHER_TERMS)
    requests.keep_margins(first.id, EVEN, 0, now=NOW)
    for _ in range(3):
        found = judged(requests.of_owner("ann"))
        assert [each.verdict.deal_sets for each in found.values()] == [len(EVEN), 0]
    assert computed == [len(EVEN), 0]
    requests.keep_margins(second.id, AHEAD, 0, now=NOW)
    assert judged(requests.of_owner("ann"))[second.id].verdict.deal_sets == len(AHEAD)
    assert computed == [len(EVEN), 0, len(AHEAD)]


class Bounded:
    """A comparison whose margins are at most 1."""

    class measure:
        bound = 1.0


# fmt: off
ENDS = [
    # margins   limits given while it is played    then                                                why
    ((),        {},                                (True, "open", ""),                                 "it begins"),
    (EVEN,      {},                                (False, "open", ""),                                "a block was played: others have their turn"),
    (EVEN,      {"most": 4},                       (False, "stopped", "not decided after 4 deal-sets"), "a lower limit"),
    (AHEAD,     {},                                (False, "decided", "it is decided"),                "a decision"),
]
# fmt: on


@pytest.mark.parametrize(("margins", "limits", "then", "why"), ENDS, ids=[row[-1] for row in ENDS])
def test_a_comparison_in_play_ends_by_the_limits_that_were_given_last(
    store, margins, limits, then, why
):
    requests, first = store.comparison_requests(), ask(store, most=30)
    progress = ComparisonProgress(first, Bounded, requests, lambda: NOW)
    ask(store, **{"most": 30} | limits)
    progress.margins.extend(margins)
    goes_on = trio.run(progress.goes_on, 2.5)
    found = requests.get(first.id)
    assert (goes_on, str(found.state), found.reason) == then
    assert found.core_ms_by_day == ({"2026-11-25": 2_500} if margins else {})


def test_a_forecast_beyond_all_play_fits_its_message(store):
    """Margins whose mean hardly differs from zero once had a forecast of 2.7e33 deal-sets."""
    margins = (0.5, -0.5 + 1e-15) * 3
    found = forecast(margins, 1.0)
    assert found.likely == MOST_NEEDED
    assert found.most in (None, MOST_NEEDED)
    requests, first = store.comparison_requests(), ask(store)
    requests.keep_margins(first.id, margins, 0, now=NOW)
    (comparison,) = judged(requests.of_owner("ann")).values()
    assert comparison_message(comparison).needed_mid == MOST_NEEDED


# fmt: off
FAILURES = [
    # the error                                        its owner reads             why
    (TypeError("line 7 of secret.py"),                 "it cannot be played",      "a bug"),
    (ExceptionGroup("", [KeyError("secret")]),         "it cannot be played",      "a bug in a nursery"),
    (UnknownVersion("'kj@1'"),                         "it cannot be played",      "a row that is missing"),
    (Refused("MATCH_ID_TAKEN"),                        "it cannot be played",      "a refusal"),
    (UnfinishedComparison("deal-set 3 is unfinished"), "deal-set 3 is unfinished", "a match that is not finished"),
]
# fmt: on


@pytest.mark.parametrize(("error", "said", "why"), FAILURES, ids=[row[-1] for row in FAILURES])
def test_a_comparison_that_fails_stops_no_other(store, monkeypatch, error, said, why):
    async def plays(work, comparison, *_):
        if comparison.each_other:
            raise error
        while await work._goes_on(0.0):
            work._record.margins.extend(AHEAD)

    monkeypatch.setattr(comparison_runner, "play_comparison", plays)
    asked = [ask(store), ask(store, each_other=False)]

    play_all(store)
    requests = store.comparison_requests()
    first, second = (requests.get(each.id) for each in asked)
    assert (first.state, first.reason) == (ComparisonState.STOPPED, said)
    assert second.state is ComparisonState.DECIDED


def test_owners_have_their_blocks_in_turn(store, monkeypatch):
    registry = store.registry()
    registry.invite("second", "bob", invited_by="org", now=NOW)
    registry.register("second", key_of, now=NOW)
    registry.create_bot("bee", "bob", BotKind.UPLOADED, now=NOW)
    for number in (1, 2):
        registry.submit("bee", sha256=f"{number}b" * 32, manifest={"games": []}, now=NOW)
        for event in (VersionEvent.CHECKED, VersionEvent.QUALIFIED):
            registry.record("bee", number, event, who="bob", now=NOW)
    blocks = []

    async def plays(work, comparison, *_):
        while await work._goes_on(1.0):
            blocks.append(comparison.first)
            work._record.margins.extend(EVEN)

    monkeypatch.setattr(comparison_runner, "play_comparison", plays)
    asked = [ask(store, most=8), ask(store, most=8, terms=OTHER_TERMS)]
    asked += [ask(store, most=8, owner="bob", bot="bee")]
    play_all(store)
    assert blocks == ["kj@2", "bee@2", "kj@2", "bee@2", "kj@2", "kj@2"]
    requests = store.comparison_requests()
    assert {len(requests.get(each.id).margins) for each in asked} == {8}
    assert requests.get(asked[0].id).core_ms_by_day == {"2026-11-25": 2_000}


def play_all(store):
    """Have all open comparisons played to their ends."""
    requests = store.comparison_requests()

    async def main():
        players = SimpleNamespace(is_launched=lambda _: True)
        runner = ComparisonRunner(store, None, players, now=lambda: NOW)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(runner.run)
            with trio.fail_after(60):
                while requests.open():  # noqa: ASYNC110 - the store announces nothing
                    await trio.sleep(0.01)
            nursery.cancel_scope.cancel()

    with goes_on():
        trio.run(main)
