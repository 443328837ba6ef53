"""Comparisons that owners request: one question is one comparison, and its time counts by day."""

from datetime import UTC, datetime, timedelta

import pytest
import trio

from arena.anytime.forecast import MOST_NEEDED, forecast
from arena.competition.plan import read_plan
from arena.server.comparison_requests import (
    CORE_MS_A_DAY,
    ComparisonQuery,
    comparison_json,
    request_comparison,
)
from arena.server.competitions.comparison_runner import ComparisonProgress
from arena.server.services.comparisons import _message
from arena.store import BotKind, ComparisonState, QuotaSpent, open_store
from arena.submission.versions import VersionEvent
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


def ask(store, *, now=NOW, **given):
    query = {"terms": TERMS, "each_other": True, "most": 9, "same_within": None} | given
    return request_comparison(store, "ann", ComparisonQuery("kj@2", "kj@1", **query), now=now)


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


class Bounded:
    """A comparison whose margins are at most 1."""

    class measure:
        bound = 1.0


# fmt: off
ENDS = [
    # margins   limits given while it is played    then                                                why
    (EVEN,      {},                                (True, "open", ""),                                 "it goes on"),
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
    assert found.core_ms_by_day == {"2026-11-25": 2_500}


def test_a_forecast_beyond_all_play_fits_its_message(store):
    """Margins whose mean hardly differs from zero once had a forecast of 2.7e33 deal-sets."""
    margins = (0.5, -0.5 + 1e-15) * 3
    found = forecast(margins, 1.0)
    assert found.likely == MOST_NEEDED
    assert found.most in (None, MOST_NEEDED)
    requests, first = store.comparison_requests(), ask(store)
    requests.keep_margins(first.id, margins, 0, now=NOW)
    said = comparison_json(requests.get(first.id), requests.of_owner("ann"))
    assert _message(said).needed_mid == MOST_NEEDED
