"""What an organiser may ask for, and what is said of everything else."""

import datetime as dt
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.competition.plan_file import Entry, Format, Jail, Kind, PlanError, read_plan
from arena.competition.reckoning import Span, TooFewBots, reckon

LADDER = """
name = "summer"
kind = "ladder"
game = "klaberjass"
seats = 2
seed = "s"
"""
SWISS = """
name = "autumn"
kind = "tournament"
format = "swiss"
game = "sixty_six"
seats = 2
deal_sets = 20
seed = "autumn 2026"
season = "2026"
entry = "invited"
max_bots_per_owner = 3
jail = "S3"
opens = 2026-12-01T18:00:00Z
closes = 2026-12-08T18:00:00+01:00
options = { hands = 4 }
time_control = { move_ms = 1000, bank_ms = 5000 }

[swiss]
rounds = 7
"""


def with_line(text, line):
    """The text with a line put in its place, or at the end of its first part."""
    name = line.split("=")[0].strip()
    lines = [each for each in text.splitlines() if each.split("=")[0].strip() != name]
    at = next((n for n, each in enumerate(lines) if each.startswith("[")), len(lines))
    return "\n".join([*lines[:at], line, *lines[at:]])


def without(text, name):
    return "\n".join(each for each in text.splitlines() if each.split("=")[0].strip() != name)


def problems(text):
    with pytest.raises(PlanError) as raised:
        read_plan(text)
    return raised.value.problems


def test_everything_that_can_be_said_is_read():
    plan = read_plan(SWISS)
    assert (plan.name, plan.kind, plan.format) == ("autumn", Kind.TOURNAMENT, Format.SWISS)
    assert (plan.seed, plan.season, plan.deal_sets) == ("autumn 2026", "2026", 20)
    assert (plan.entry, plan.max_bots_per_owner, plan.jail) == (Entry.INVITED, 3, Jail.S3)
    assert plan.format_terms.rounds == 7
    assert plan.terms.game.id == "sixty_six"
    assert (plan.terms.seats, plan.terms.options.hands) == (2, 4)
    assert (plan.terms.time_control.move_ms, plan.terms.time_control.bank_ms) == (1000, 5000)
    assert plan.opens == dt.datetime(2026, 12, 1, 18, tzinfo=dt.UTC)


def test_what_is_left_out_is_as_the_design_says():
    plan = read_plan(LADDER)
    assert (plan.format, plan.deal_sets, plan.opens, plan.closes) == (None, 0, None, None)
    assert (plan.entry, plan.max_bots_per_owner, plan.jail) == (Entry.OPEN, 2, None)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param(with_line(SWISS, "sead = 1"), "there is no key 'sead'", id="a key misspelt"),
        pytest.param(
            SWISS + "\nround = 7",
            "[swiss]: there is no key 'round'; the keys are: rounds",
            id="in a table",
        ),
        pytest.param(
            SWISS + "\n[gauntlet]\nchallenger = 'a'",
            "[gauntlet] is of the format gauntlet, and this is swiss",
            id="a table of another format",
        ),
        pytest.param(without(SWISS, "name"), "name is missing", id="no name"),
        pytest.param(
            with_line(SWISS, 'name = "Herbst 2026"'), "name is 1 to 80 of a-z", id="a name"
        ),
        pytest.param(with_line(SWISS, "name = 7"), "name is 1 to 80", id="a number as name"),
        pytest.param(
            with_line(SWISS, 'kind = "cup"'), "kind is one of ladder, tournament", id="kind"
        ),
        pytest.param(
            with_line(SWISS, 'format = "cup"'), "format is one of round_robin", id="format"
        ),
        pytest.param(with_line(SWISS, 'game = "chess"'), "there is no game 'chess'", id="a game"),
        pytest.param(
            with_line(SWISS, "seats = 5"),
            "sixty_six is played by 2 seats, not 5",
            id="seats of the game",
        ),
        pytest.param(
            with_line(SWISS, "seats = 1"), "seats is a whole number from 2", id="one seat"
        ),
        pytest.param(
            with_line(SWISS, "seats = true"), "seats is a whole number", id="yes as a number"
        ),
        pytest.param(
            with_line(SWISS, "deal_sets = 0"), "deal_sets is a whole number from 1", id="none"
        ),
        pytest.param(
            with_line(SWISS, "deal_sets = 2.5"), "deal_sets is a whole number", id="a half"
        ),
        pytest.param(without(SWISS, "deal_sets"), "deal_sets is missing", id="no end"),
        pytest.param(
            with_line(SWISS, "seed = ''"), "seed is a text that is not empty", id="no seed"
        ),
        pytest.param(
            with_line(SWISS, 'jail = "S0"'), "jail is one of S3, S2, S1", id="no jail at all"
        ),
        pytest.param(
            with_line(SWISS, 'entry = "all"'), "entry is one of open, invited", id="entry"
        ),
        pytest.param(
            with_line(SWISS, "options = { hand = 4 }"), "there is no option 'hand'", id="an option"
        ),
        pytest.param(
            with_line(SWISS, "options = 4"), "options is a table", id="options of no kind"
        ),
        pytest.param(
            with_line(SWISS, "time_control = { move = 1 }"),
            "time_control: there is no key 'move'",
            id="a clock misspelt",
        ),
        pytest.param(
            with_line(SWISS, "time_control = { move_ms = 0 }"),
            "time_control: a move needs at least 1 ms",
            id="no time",
        ),
        pytest.param(
            with_line(SWISS, "opens = 2026-12-01T18:00:00"),
            "opens is a date and time with a zone",
            id="zone",
        ),
        pytest.param(
            with_line(SWISS, "closes = 2026-11-01T18:00:00Z"),
            "it closes at 2026-11-01",
            id="closes first",
        ),
        pytest.param(
            with_line(LADDER, 'format = "swiss"'),
            "a ladder has no format",
            id="a ladder with a format",
        ),
        pytest.param(
            with_line(LADDER, "deal_sets = 9"), "a ladder has no deal_sets", id="ends twice"
        ),
        pytest.param(
            with_line(LADDER, 'kind = "tournament"'),
            "format is missing: one of round_robin",
            id="which",
        ),
        pytest.param(
            with_line(without(SWISS, "rounds").replace("[swiss]", ""), 'format = "gauntlet"'),
            "[gauntlet]: challenger is missing",
            id="a gauntlet for nobody",
        ),
        pytest.param(
            with_line(without(SWISS, "rounds").replace("[swiss]", ""), 'format = "knockout"'),
            "a knockout of two seats has no deal_sets",
            id="a knockout of so many",
        ),
        pytest.param(
            with_line(
                with_line(
                    without(SWISS, "rounds").replace("[swiss]", "[knockout]\ndouble = true"),
                    'format = "knockout"',
                ),
                "seats = 3",
            ),
            "[knockout]: double is for two seats",
            id="a double knockout of three",
        ),
        pytest.param("name = ", "this is not TOML: ", id="no TOML"),
        pytest.param(
            with_line(SWISS, "swiss = 7").replace("[swiss]\nrounds = 7", ""),
            "swiss is a table, not 7",
            id="a table that is none",
        ),
    ],
)
def test_what_is_wrong_is_said(text, sentence):
    assert any(each.startswith(sentence) for each in problems(text))


def test_all_that_is_wrong_is_said_at_once():
    text = with_line(with_line(with_line(SWISS, 'game = "chess"'), "sead = 1"), 'jail = "S0"')
    assert len(problems(text)) == 3


values = st.one_of(
    st.integers(),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(['""', '"swiss"', '"ladder"', '"knockout"', '"sixty_six"', "[]", "{}", "[1]"]),
)


@given(st.lists(st.tuples(st.sampled_from(sorted(tomllib.loads(SWISS))), values), max_size=4))
def test_any_values_are_a_plan_or_sentences(changes):
    text = SWISS
    for name, value in changes:
        written = str(value).lower() if isinstance(value, bool) else value
        text = with_line(text, f"{name} = {written}")
    try:
        read_plan(text)
    except PlanError as error:
        said = error.problems
    else:
        return
    assert said
    assert all(each and "\n" not in each for each in said if "TOML" not in each)


# What it will come to.


def tournament(format_, table="", *, seats=2, deal_sets=10, game="pineapple"):
    length = f"deal_sets = {deal_sets}" if deal_sets else ""
    return read_plan(
        f'name = "a"\nkind = "tournament"\nformat = "{format_}"\ngame = "{game}"\n'
        f'seats = {seats}\nseed = "s"\n{length}\n[{format_}]\n{table}'
    )


@pytest.mark.parametrize(
    ("plan", "bots", "deal_sets"),
    [
        pytest.param(tournament("round_robin"), 8, Span(280, 280), id="28 pairs"),
        pytest.param(
            tournament("round_robin", seats=3), 8, Span(560, 560), id="56 groups of three"
        ),
        pytest.param(
            tournament("round_robin", seats=4), 20, Span(2000, 2000), id="200 groups at most"
        ),
        pytest.param(
            tournament("round_robin", "max_groups = 30", seats=4),
            20,
            Span(300, 300),
            id="30 at most",
        ),
        pytest.param(tournament("gauntlet", "challenger = 'a'"), 8, Span(10, 10), id="a gauntlet"),
        pytest.param(tournament("swiss"), 9, Span(240, 240), id="six rounds of four pairs"),
        pytest.param(
            tournament("swiss", "rounds = 3", seats=4), 17, Span(120, 120), id="of four seats"
        ),
        pytest.param(tournament("knockout", deal_sets=0), 8, Span(70, 1470), id="seven games"),
        pytest.param(
            tournament("knockout", "double = true\nmost_deal_sets = 20", deal_sets=0),
            8,
            Span(140, 450),
            id="14 or 15 games",
        ),
        pytest.param(
            tournament("knockout", seats=4), 16, Span(70, 70), id="four, two and one table"
        ),
        pytest.param(
            tournament("groups", "groups = 2\nbest = 2"), 8, Span(180, 180), id="two groups of 4"
        ),
        pytest.param(
            tournament("groups", "groups = 2\nbest = 1"), 5, Span(50, 50), id="3 and 1, and 1"
        ),
    ],
)
def test_how_much_is_played(plan, bots, deal_sets):
    found = reckon(plan, bots=bots, cores=8, match_s=36.0)
    assert found.deal_sets == deal_sets
    assert found.matches == deal_sets.times(plan.terms.seats)
    assert found.at_a_time == 8 // plan.terms.seats
    assert found.core_hours.most == pytest.approx(deal_sets.most * plan.terms.seats**2 / 100)
    assert found.hours.most == pytest.approx(
        found.core_hours.most / (found.at_a_time * plan.terms.seats)
    )


def test_of_a_ladder_it_is_what_an_hour_has():
    found = reckon(read_plan(LADDER), bots=8, cores=8, match_s=36.0)
    assert found.hours == Span(1.0, 1.0)
    assert found.matches == Span(400, 400)
    assert found.core_hours == Span(8.0, 8.0)


@pytest.mark.parametrize(
    ("plan", "bots", "sentence"),
    [
        pytest.param(tournament("swiss", seats=4), 3, "needs 4 bots; 3 entered", id="no table"),
        pytest.param(
            tournament("groups", "groups = 3\nbest = 2"), 5, "need 6; 5 entered", id="small groups"
        ),
        pytest.param(
            tournament("groups", "groups = 1\nbest = 1"),
            5,
            "finals of 2 seats need 2 bots",
            id="final",
        ),
    ],
)
def test_too_few_bots_are_told_before(plan, bots, sentence):
    with pytest.raises(TooFewBots, match=sentence):
        reckon(plan, bots=bots, cores=8, match_s=1.0)


def test_too_few_cores_are_told_before():
    with pytest.raises(ValueError, match="takes 2 cores; there are 1"):
        reckon(read_plan(LADDER), bots=8, cores=1, match_s=1.0)
