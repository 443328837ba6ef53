"""When a competition is played: from when to when, at which hours of a day, and how much in a time."""

from datetime import UTC, datetime

import pytest

from arena.contests.plan import PlanError, read_plan
from arena.contests.timetable import Rate
from arena.results.record import PlayedCount

LADDER = 'name = "l"\nkind = "ladder"\ngame = "sixty_six"\nseats = 2\nseed = "s"\n'
SWISS = (
    'name = "l"\nkind = "tournament"\nformat = "swiss"\ngame = "sixty_six"\nseats = 2\nseed = "s"\n'
    "deal_sets = 1\n"
)
WEEK = "opens = 2026-12-01T18:00:00Z\ncloses = 2026-12-08T18:00:00Z\n"
NIGHT = '[daily]\nbegin = "22:00"\nend = 06:00:00\nzone = "Europe/Vienna"\n'
DAY = "[daily]\nbegin = 09:00:00\nend = 17:00:00\n"


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# fmt: off
MOMENTS = [
    # plan           moment, UTC             why it is not played                                why
    ("",             "2026-12-05T12:00",     "",                                                 "no timetable"),
    (WEEK,           "2026-12-01T17:59",     "it opens at 2026-12-01 18:00:00+00:00",            "before it opens"),
    (WEEK,           "2026-12-01T18:00",     "",                                                 "as it opens"),
    (WEEK,           "2026-12-08T17:59",     "",                                                 "before it closes"),
    (WEEK,           "2026-12-08T18:00",     "it closed at 2026-12-08 18:00:00+00:00",           "as it closes"),
    (NIGHT,          "2026-12-05T20:59",     "it is played daily from 22:00 to 06:00 Europe/Vienna", "before the night"),
    (NIGHT,          "2026-12-05T21:00",     "",                                                 "as the night begins there"),
    (NIGHT,          "2026-12-06T04:59",     "",                                                 "after midnight"),
    (NIGHT,          "2026-12-06T05:00",     "it is played daily from 22:00 to 06:00 Europe/Vienna", "as the night ends there"),
    (NIGHT,          "2026-07-05T20:00",     "",                                                 "summer time"),
    (DAY,            "2026-12-05T08:59",     "it is played daily from 09:00 to 17:00 UTC",       "before the day"),
    (DAY,            "2026-12-05T09:00",     "",                                                 "in the day"),
    (WEEK + DAY,     "2026-12-01T18:00",     "it is played daily from 09:00 to 17:00 UTC",       "open, at another hour"),
]
# fmt: on


@pytest.mark.parametrize(("more", "moment", "said", "why"), MOMENTS, ids=[r[-1] for r in MOMENTS])
@pytest.mark.parametrize("plan", [LADDER, SWISS], ids=["ladder", "swiss"])
def test_at_which_moments_a_competition_is_played(plan, more, moment, said, why):
    assert read_plan(plan + more).why_not_played(at(moment)) == said


# fmt: off
PROBLEMS = [
    # plan      more                                                     what is said
    (LADDER,    '[daily]\nbegin = "22:00"\nend = "22:00"\n',             "daily.end: is the time at which they begin"),
    (LADDER,    '[daily]\nbegin = "22:00"\nend = "6"\n',                 "daily.end: "),
    (LADDER,    NIGHT.replace("Vienna", "Wien"),                         "daily.zone: there is no time zone 'Europe/Wien' here"),
    (LADDER,    NIGHT.replace("Europe/Vienna", "../../etc/passwd"),      "daily.zone: there is no time zone"),
    (LADDER,    "[rate]\nmatches_an_hour = 3\n",                         "rate: matches_an_hour should be 4 or more"),
    (LADDER,    "[rate]\ndeal_sets_a_day = 0\n",                         "rate.deal_sets_a_day: should be greater"),
    (LADDER,    "[rate]\nmatches_a_day = 3\n",                           "there is no key 'matches_a_day'"),
    (SWISS,     "[rate]\ndeal_sets_a_day = 9\n",                         "rate: is for ladders"),
]
# fmt: on


@pytest.mark.parametrize(("plan", "more", "said"), PROBLEMS, ids=[row[-1] for row in PROBLEMS])
def test_a_timetable_that_is_not_right(plan, more, said):
    with pytest.raises(PlanError) as error:
        read_plan(plan + more)
    assert said in str(error.value)


# fmt: off
RATES = [
    # an hour, a day    in the last hour   in the last day     more           may it   why
    (None, None,        PlayedCount(9, 99),     PlayedCount(99, 999),    PlayedCount(1, 2),  True,    "no rate"),
    (6, None,           PlayedCount(2, 4),      PlayedCount(99, 999),    PlayedCount(1, 2),  True,    "the last matches of the hour"),
    (5, None,           PlayedCount(2, 4),      PlayedCount(2, 4),       PlayedCount(1, 2),  False,   "a match too many"),
    (None, 3,           PlayedCount(0, 0),      PlayedCount(2, 4),       PlayedCount(1, 2),  True,    "the last deal-set of the day"),
    (None, 2,           PlayedCount(0, 0),      PlayedCount(2, 4),       PlayedCount(1, 2),  False,   "a deal-set too many"),
    (99, 2,             PlayedCount(0, 0),      PlayedCount(2, 4),       PlayedCount(1, 2),  False,   "both limits hold"),
]
# fmt: on


@pytest.mark.parametrize(
    ("hourly", "daily", "hour", "day", "more", "may", "why"), RATES, ids=[row[-1] for row in RATES]
)
def test_a_rate_bounds_what_begins(hourly, daily, hour, day, more, may, why):
    assert Rate(hourly, daily).allows(hour, day, more) == may


def test_a_timetable_in_words():
    plan = read_plan(LADDER + NIGHT + "[rate]\nmatches_an_hour = 1200\ndeal_sets_a_day = 50\n")
    assert plan.timetable == (
        "daily from 22:00 to 06:00 Europe/Vienna, "
        "at most 1,200 matches an hour and at most 50 deal-sets a day"
    )
    assert read_plan(LADDER).timetable == ""
