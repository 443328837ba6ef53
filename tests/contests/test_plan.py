"""What an organiser may ask for, and what is said of everything else."""

import datetime as dt
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.contests.estimate import Span, TooFewBots, estimate, warnings
from arena.contests.plan import (
    CompetitionKind,
    EntryPolicy,
    Format,
    PlanError,
    SandboxLevel,
    read_plan,
)
from arena.referee.terms import TIME_CLASSES

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
sandbox = "S3"
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
    assert (plan.name, plan.kind, plan.format) == (
        "autumn",
        CompetitionKind.TOURNAMENT,
        Format.SWISS,
    )
    assert (plan.seed, plan.season, plan.games[0].deal_sets) == ("autumn 2026", "2026", 20)
    assert (plan.entry, plan.max_bots_per_owner, plan.sandbox) == (
        EntryPolicy.INVITED,
        3,
        SandboxLevel.S3,
    )
    assert plan.swiss.rounds == 7
    terms = plan.games[0].terms
    assert (terms.game.id, terms.seats, terms.options.hands) == ("sixty_six", 2, 4)
    assert (terms.time_control.move_ms, terms.time_control.bank_ms) == (1000, 5000)
    assert not terms.seeded
    assert plan.opens == dt.datetime(2026, 12, 1, 18, tzinfo=dt.UTC)


def test_left_out_keys_have_their_defaults():
    plan = read_plan(LADDER)
    assert (plan.format, plan.games[0].deal_sets, plan.opens, plan.closes) == (None, 0, None, None)
    assert (plan.entry, plan.max_bots_per_owner, plan.sandbox) == (EntryPolicy.OPEN, 2, None)


def test_a_plan_may_name_a_time_class():
    (game,) = read_plan(with_line(SWISS, 'time_control = "slow"')).games
    assert game.terms.time_control == TIME_CLASSES["slow"]


def test_a_plan_gives_bots_shares_of_the_clock():
    (game,) = read_plan(with_line(SWISS, "time_odds = { bob = 0.5, ann = 0.25, cid = 1 }")).games
    assert game.terms.time_odds == (("ann", 250), ("bob", 500)), "the whole clock is no odds"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param(
            with_line(SWISS, "sead = 1"),
            "there is no key 'sead'; did you mean seed?",
            id="a key misspelt",
        ),
        pytest.param(
            SWISS + "\nround = 7",
            "swiss: there is no key 'round'; did you mean rounds?",
            id="in a table",
        ),
        pytest.param(
            SWISS + "\n[gauntlet]\nchallenger = 'a'",
            "format: is swiss, and there is a table [gauntlet]",
            id="a table of another format",
        ),
        pytest.param(without(SWISS, "name"), "name: is missing", id="no name"),
        pytest.param(
            with_line(SWISS, 'name = "Herbst 2026"'),
            "name: should be 1 to 80 lower-case letters, digits, dashes, underscores and dots, not 'Herbst 2026'",
            id="a name",
        ),
        pytest.param(
            with_line(SWISS, "name = 7"),
            "name: should be a valid string, not 7",
            id="a number as name",
        ),
        pytest.param(
            with_line(SWISS, 'kind = "cup"'),
            "kind: should be 'ladder' or 'tournament', not 'cup'",
            id="kind",
        ),
        pytest.param(
            with_line(SWISS, 'format = "cup"'), "format: should be 'round_robin', ", id="format"
        ),
        pytest.param(
            with_line(SWISS, 'game = "chess"'),
            "game: there is no game 'chess'; the games are: abstrac, ",
            id="a game",
        ),
        pytest.param(
            with_line(SWISS, "seats = 5"),
            "sixty_six is played by 2 seats, not 5",
            id="seats of the game",
        ),
        pytest.param(
            with_line(SWISS, "seats = 1"),
            "seats: should be greater than or equal to 2, not 1",
            id="one seat",
        ),
        pytest.param(
            with_line(SWISS, "seats = true"),
            "seats: should be a valid integer, not True",
            id="yes as a number",
        ),
        pytest.param(
            with_line(SWISS, "deal_sets = 0"), "deal_sets: should be 1 or more", id="none"
        ),
        pytest.param(
            with_line(SWISS, "deal_sets = 2.5"),
            "deal_sets: should be a valid integer, ",
            id="a half",
        ),
        pytest.param(without(SWISS, "deal_sets"), "deal_sets: should be 1 or more", id="no end"),
        pytest.param(
            with_line(SWISS, 'sandbox = "S0"'),
            "sandbox: should be 'S3', 'S2' or 'S1'",
            id="no jail at all",
        ),
        pytest.param(
            with_line(SWISS, 'entry = "all"'), "entry: should be 'open' or 'invited'", id="entry"
        ),
        pytest.param(
            with_line(SWISS, "options = { hand = 4 }"), "there is no option 'hand'", id="an option"
        ),
        pytest.param(
            with_line(SWISS, "options = { hands = 1 }"),
            "hands=1 is not a multiple of the 2 seats",
            id="one hand, which only one seat deals",
        ),
        pytest.param(
            with_line(SWISS, "options = 4"),
            "options: should be a table, not 4",
            id="options of no kind",
        ),
        pytest.param(
            with_line(SWISS, "time_control = { move = 1 }"),
            "time_control: there is no key 'move'",
            id="a clock misspelt",
        ),
        pytest.param(
            with_line(SWISS, "time_control = 'fast'"),
            "time_control: there is no time class 'fast': standard, slow, human or a table of times",
            id="a time class that there is not",
        ),
        pytest.param(
            with_line(SWISS, "time_odds = { ann = 1.5 }"),
            "time_odds: the share of ann is 1.5: give one from 0.001 to 1",
            id="odds of more than the clock",
        ),
        pytest.param(
            with_line(SWISS, "time_control = { move_ms = 0 }"),
            "time_control: a move needs at least 1 ms",
            id="no time",
        ),
        pytest.param(
            with_line(SWISS, "opens = 2026-12-01T18:00:00"),
            "opens: should have timezone info",
            id="zone",
        ),
        pytest.param(
            with_line(SWISS, "closes = 2026-11-01T18:00:00Z"),
            "closes: is 2026-11-01 18:00:00+00:00, and it opens no earlier",
            id="closes first",
        ),
        pytest.param(
            with_line(LADDER, 'format = "swiss"'),
            "format: a ladder has none",
            id="a ladder with a format",
        ),
        pytest.param(
            with_line(LADDER, "deal_sets = 9"), "deal_sets: a ladder has none", id="ends twice"
        ),
        pytest.param(
            with_line(LADDER, 'kind = "tournament"'),
            "format: is missing: one of round_robin",
            id="which",
        ),
        pytest.param(
            with_line(without(SWISS, "rounds").replace("[swiss]", ""), 'format = "gauntlet"'),
            "gauntlet.challenger: is missing",
            id="a gauntlet for nobody",
        ),
        pytest.param(
            with_line(without(SWISS, "rounds").replace("[swiss]", ""), 'format = "knockout"'),
            "deal_sets: a knockout of two seats has none",
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
            "seats: should be 2 where there is a table [knockout]",
            id="a double knockout of three",
        ),
        pytest.param("name = ", "this is not TOML: ", id="no TOML"),
        pytest.param(
            with_line(SWISS, "swiss = 7").replace("[swiss]\nrounds = 7", ""),
            "swiss: should be a table, not 7",
            id="a table that is none",
        ),
    ],
)
def test_what_is_wrong_is_said(text, sentence):
    assert any(each.startswith(sentence) for each in problems(text))


def test_all_that_is_wrong_is_said_at_once():
    text = with_line(with_line(with_line(SWISS, 'game = "chess"'), "sead = 1"), 'sandbox = "S0"')
    assert len(problems(text)) == 3


SEVERAL = (
    without(without(SWISS, "game"), "time_control")
    + """
[[games]]
game = "sixty_six"

[[games]]
game = "klaberjass"
options = {}
fair = false
"""
)


def test_a_game_takes_from_the_top_what_it_leaves_out():
    first, second = read_plan(SEVERAL).games
    assert (first.name, first.deal_sets, first.terms.options.hands) == ("sixty_six of 2", 20, 4)
    assert (second.name, second.deal_sets, dict(second.options)) == ("klaberjass of 2", 20, {})
    assert (first.terms.seeded, second.terms.seeded) == (False, True)


# fmt: off
OF_GAMES = [
    ("seats = 1",                   "games[1].seats: should be greater than or equal to 2, not 1", "a value"),
    ("seat = 1",                    "games[1]: there is no key 'seat'; did you mean seats?",       "a key"),
    ('game = "klaberjas"',          "games[1].game: there is no game 'klaberjas'; did you mean klaberjass?", "a game"),
    ("time_control = { mov_ms = 1 }", "games[1].time_control: there is no key 'mov_ms'",           "a clock"),
    ("options = { hand = 4 }",      "games[1]: there is no option 'hand'",                         "an option"),
    ('game = "sixty_six"',          "games: sixty_six of 2 seats is given twice",                  "a game twice"),
]
# fmt: on


@pytest.mark.parametrize(("line", "sentence", "_why"), OF_GAMES, ids=[row[-1] for row in OF_GAMES])
def test_a_problem_of_one_of_several_games_has_its_place(line, sentence, _why):
    first, game, second = SEVERAL.rpartition("[[games]]")
    (problem,) = problems(first + game + "\n" + with_line(second, line))
    assert problem.startswith(sentence)


@pytest.mark.parametrize("games", ["[]", "7", "[7]"])
def test_games_are_tables(games):
    (problem,) = problems(with_line(SWISS, f"games = {games}"))
    assert problem.startswith("games")


# fmt: off
BOTS = [
    ('ann = "python ann.py"',                       {"ann": ("python ann.py", "")},  "a command alone"),
    ('ann = { command = "./ann", owner = "team" }', {"ann": ("./ann", "team")},      "with its owner"),
]
NO_BOTS = [
    ("ann = 7",                     "bots.ann: should be a table, not 7",                          "a number"),
    ("ann = { comand = 'x' }",      "bots.ann: there is no key 'comand'; did you mean command?",   "a key"),
    ("'b b' = { owner = 'x' }",     "bots.'b b'.command: is missing",                              "no command"),
]
# fmt: on


@pytest.mark.parametrize(("line", "bots", "_why"), BOTS, ids=[row[-1] for row in BOTS])
def test_bots_that_are_launched(line, bots, _why):
    found = read_plan(f"{SWISS}\n[bots]\n{line}").bots
    assert {name: (each.command, each.owner) for name, each in found.items()} == bots


@pytest.mark.parametrize(("line", "sentence", "_why"), NO_BOTS, ids=[row[-1] for row in NO_BOTS])
def test_what_is_wrong_with_bots_is_said(line, sentence, _why):
    assert sentence in problems(f"{SWISS}\n[bots]\n{line}")


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
    found = estimate(plan, bots=[bots], cores=8, match_s=36.0)
    assert found.deal_sets == deal_sets
    assert found.matches == deal_sets.times(plan.games[0].seats)
    assert found.at_a_time == 8 // plan.games[0].seats
    assert found.core_hours.most == pytest.approx(deal_sets.most * plan.games[0].seats ** 2 / 100)
    assert found.hours.most == pytest.approx(
        found.core_hours.most / (found.at_a_time * plan.games[0].seats)
    )


def test_of_a_ladder_it_is_what_an_hour_has():
    found = estimate(read_plan(LADDER), bots=[8], cores=8, match_s=36.0)
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
        estimate(plan, bots=[bots], cores=8, match_s=1.0)


def test_too_few_cores_are_an_error_of_the_estimate():
    with pytest.raises(ValueError, match="takes 2 cores; there are 1"):
        estimate(read_plan(LADDER), bots=[8], cores=1, match_s=1.0)


# fmt: off
REMATCHES = [
    # bots  rounds  says                                                why
    (4,     7,      ["4 bots have all met after 3 rounds, and [swiss] has 7"], "four bots meet in three rounds"),
    (7,     7,      [],                                                 "seven bots need seven, as one sits out"),
    (8,     7,      [],                                                 "eight bots need seven"),
    (6,     7,      ["6 bots have all met after 5 rounds"],             "six need five"),
]
# fmt: on


@pytest.mark.parametrize(
    ("bots", "rounds", "says", "why"), REMATCHES, ids=[row[-1] for row in REMATCHES]
)
def test_a_swiss_whose_bots_meet_again_is_warned_of(bots, rounds, says, why):
    found = warnings(read_plan(SWISS.replace("rounds = 7", f"rounds = {rounds}")), [bots])
    assert len(found) == len(says)
    assert all(words in line for words, line in zip(says, found, strict=True))


def test_a_swiss_of_as_many_rounds_as_it_needs_is_not_warned_of():
    assert warnings(read_plan(without(SWISS, "rounds").replace("[swiss]", "")), [4]) == []
