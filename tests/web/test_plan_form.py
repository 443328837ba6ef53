"""The form of a plan: a field for each key, filled from TOML and written as TOML, with what is wrong at its field."""

import types
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import Union, get_args, get_origin, get_type_hints

import pytest

from arena.contests.plan import CompetitionPlan, GamePlan, PlanError, read_plan
from arena.validation import InvalidInput
from arena.web.acting.organise import EXAMPLES, example_plan
from arena.web.acting.plan_form import KEYS, REST, by_field, plan_fields, plan_text, sides

IN_REST = {"games": "several games are tables", "bots": "no call may launch a command"}
"""The keys without a field, with the reason; the last field takes them as TOML."""


def keys_of(kind, table=""):
    """The keys of a dataclass of plans and of its tables, with their types."""
    for name, given in get_type_hints(kind).items():
        if name.startswith("_") or name in IN_REST:
            continue
        parts = get_args(given) if get_origin(given) in (Union, types.UnionType) else [given]
        (hint,) = [part for part in parts if part is not type(None)]
        if is_dataclass(hint):
            yield from keys_of(hint, f"{name}.")
        else:
            yield f"{table}{name}", hint


PLAN_KEYS = dict(keys_of(CompetitionPlan)) | dict(keys_of(GamePlan))


def test_every_key_of_a_plan_has_a_field():
    assert {*KEYS} - {REST} == {*PLAN_KEYS}
    assert {*IN_REST} <= {each.name for each in fields(CompetitionPlan)}


@pytest.mark.parametrize(("key", "hint"), PLAN_KEYS.items(), ids=PLAN_KEYS)
def test_a_field_is_of_the_kind_of_its_key(key, hint):
    row = KEYS[key]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        assert (row.kind, {*row.options}) == ("choice", {*hint})
    elif hint in (int, bool):
        assert row.kind == {int: "number", bool: "check"}[hint]
    else:
        assert row.kind not in ("number", "check")


WHOLE = """
name = "all-keys"
kind = "tournament"
format = "swiss"
game = "soko"
seats = 2
deal_sets = 4
fair = false
options = { hands = 4 }
time_control = "slow"
time_odds = { my-bot = 0.25 }
entry = "invited"
max_bots_per_owner = 3
teams = [["ann", "bob"], ["cid", "dan"]]
opens = 2026-12-01T18:00:00+01:00
closes = 2026-12-05T06:00:00Z
sandbox = "S2"
pondering = true
speed_class = -3
seed = 'a "quoted" word, and 🂡'
seeds_from = "spring"
season = "2026"
[swiss]
rounds = 7
[daily]
begin = "22:00"
end = 06:00:00
zone = "Europe/Vienna"
"""
# fmt: off
ROUND_TRIPS = [
    *((example_plan(name), "", f"the example of {name}") for name in EXAMPLES),
    (WHOLE, "", "all keys of a tournament"),
    (example_plan("ladder") + 'deal_sets_a_day = 9\n[ladder]\nrow = "all_versions"\nfinals_deal_sets = 3\n', "", "a ladder"),
    (('name = "x"\nkind = "tournament"\nformat = "knockout"\n[knockout]\ndouble = true\nmost_deal_sets = 90\n'
     '[[games]]\ngame = "soko"\nseats = 2\n[[games]]\ngame = "jam"\nseats = 2\n'), "games = [", "several games"),
    (example_plan("round_robin") + "[round_robin]\nmax_groups = 5\n[time_control]\nmove_ms = 900\n", "time_control = {", "times of its own"),
    (example_plan("round_robin") + '[bots]\nann = "ann.py"\n', "bots = {", "bots that are launched"),
]
# fmt: on


@pytest.mark.parametrize(("text", "rest", "_"), ROUND_TRIPS, ids=[row[-1] for row in ROUND_TRIPS])
def test_the_form_writes_the_plan_that_filled_it(text, rest, _):
    filled = plan_fields(text)
    assert filled[REST].partition("{")[0].partition("[")[0] == rest.rstrip("{[")
    assert read_plan(plan_text(filled)) == read_plan(text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('nam = "x"\n', "an unknown key"),
        ("seats = '2'\n", "a text in place of a number"),
        ('format = "swis"\n', "a choice that there is not"),
        ("[swiss]\nround = 3\n", "an unknown key of a table"),
        ("opens = 2026-12-01T18:00:00\n", "a time without its zone"),
        ("teams = ['ann']\n", "a list that is none"),
    ],
)
def test_what_no_field_can_show_is_kept_as_toml(text, what):
    assert plan_fields(text)[REST], what
    with pytest.raises(PlanError) as refused:
        read_plan(text)
    with pytest.raises(PlanError) as again:
        read_plan(plan_text(plan_fields(text)))
    assert again.value.problems == refused.value.problems


# fmt: off
WRONG = [
    # field, text                        the key at which it stands, and words
    ("seats",           "two",            "seats",       "Should be a valid integer"),
    ("name",            "My Plan",        "name",        "Should be 1 to 80 lower-case"),
    ("format",          "",               "format",      "Is missing"),
    ("opens",           "tomorrow",       "opens",       "Should be a valid datetime"),
    ("daily.begin",     "22:00",          "daily.end",   "Is missing"),
    ("rate.matches_an_hour", "60",        "rate.matches_an_hour", "Is for ladders"),
    ("teams",           "ann, bob\nann",  "teams",       "Ann is there twice"),
    ("gauntlet.challenger", "ann",        "format",      "And there is a table [gauntlet]"),
]
# fmt: on


@pytest.mark.parametrize(
    ("field", "text", "key", "words"), WRONG, ids=[f"{row[0]} {row[1]!r}" for row in WRONG]
)
def test_what_is_wrong_stands_at_its_field(field, text, key, words):
    filled = plan_fields(example_plan("round_robin")) | {field: text}
    with pytest.raises(PlanError) as refused:
        read_plan(plan_text(filled))
    at_fields, _ = by_field(refused.value.problems)
    assert words.lower() in at_fields[key].lower()


def test_a_field_of_toml_says_that_it_is_none():
    filled = plan_fields(example_plan("swiss")) | {"options": "hands: 4", REST: 'name = "other"'}
    with pytest.raises(InvalidInput) as refused:
        plan_text(filled)
    at_fields, others = by_field(refused.value.problems)
    assert ({*at_fields}, others) == ({"options", REST}, [])
    assert at_fields[REST].startswith("Name has a field of its own")


def test_beside_a_text_that_is_no_toml_stand_the_fields_of_the_example():
    fields, text = sides({"plan": "seats: 2"}, example_plan("swiss"))
    assert (fields, text) == (plan_fields(example_plan("swiss")), "seats: 2")
    assert fields["fair"] == "on"


REFUSALS = [
    (["the plan of the competition is not valid: seats: is missing (R-BAD-PLAN)"], []),
    (["the plan of the competition is not valid:", "seats: is missing (R-BAD-PLAN)"], []),
    (["seats: is missing", "there is no key 'x'"], ["there is no key 'x'"]),
    (["seats: is missing", "entrants: give a number"], ["entrants: give a number"]),
]


@pytest.mark.parametrize(
    ("problems", "others"), REFUSALS, ids=["one", "several", "an unknown key", "no key of a plan"]
)
def test_what_the_arena_says_is_put_at_fields(problems, others):
    assert by_field(problems) == ({"seats": "Is missing."}, others)
