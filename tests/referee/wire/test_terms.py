"""Terms of a match as messages and as JSON: all of them come back, and bad ones are refused."""

import json

import pytest

from arena.games.catalogue import GAMES, BadOptions, UnknownGame, game_by_id
from arena.referee.terms import DEFAULT_AWAY_LIMIT_MS, DEFAULT_FAULT_LIMIT, MatchTerms, TimeControl
from arena.referee.wire.terms import (
    OtherRules,
    terms_json,
    terms_message,
    terms_of_json,
    terms_of_message,
)
from cardarena.v1 import game_pb2

ABSTRAC = game_by_id("abstrac")
CONTROL = TimeControl(move_ms=1, bank_ms=2, increment_ms=3, hand_ms=4, match_ms=5)
# fmt: off
LIMITS = [
    ({},                                  "the defaults"),
    ({"time_control": CONTROL},           "every time its own"),
    ({"time_control": TimeControl(1, 0)}, "a time of nothing is no default"),
    ({"fault_limit": 3},                  "a fault limit"),
    ({"fault_limit": 0},                  "no fault limit is no default"),
    ({"away_limit_ms": 1},                "an away limit"),
    ({"away_limit_ms": 0},                "no away limit is no default"),
    ({"seeded": True},                    "seeded"),
    ({"time_odds": (("a", 250), ("b", 1))}, "time odds"),
]
# fmt: on


def terms_of(game, seats, options=None, **limits):
    return MatchTerms(game, game.options(options or {}, seats), seats, **limits)


def by_message(terms):
    data = terms_message(terms).SerializeToString()
    return terms_of_message(game_pb2.MatchTerms.FromString(data))


def by_json(terms):
    return terms_of_json(json.loads(json.dumps(terms_json(terms))))


BOTH_WAYS = pytest.mark.parametrize("there_and_back", [by_message, by_json])


@BOTH_WAYS
@pytest.mark.parametrize("game", GAMES, ids=[game.id for game in GAMES])
def test_terms_of_every_game_and_number_of_seats_come_back(game, there_and_back):
    for seats in game.seats:
        for options in ({}, {"hands": seats}):
            terms = terms_of(game, seats, options)
            assert there_and_back(terms) == terms


@BOTH_WAYS
@pytest.mark.parametrize(("limits", "why"), LIMITS, ids=[row[-1] for row in LIMITS])
def test_limits_come_back(limits, why, there_and_back):
    terms = terms_of(ABSTRAC, 2, **limits)
    assert there_and_back(terms) == terms


def test_the_json_of_terms_has_the_names_of_the_message():
    fields = {field.name for field in game_pb2.MatchTerms.DESCRIPTOR.fields}
    assert terms_json(terms_of(ABSTRAC, 2, time_odds=(("a", 250),))).keys() == fields
    assert terms_json(terms_of(ABSTRAC, 2)).keys() == fields - {"time_odds"}, "as digests have it"


def test_what_a_message_leaves_out_is_the_default():
    terms = terms_of_message(game_pb2.MatchTerms(game="abstrac", seats=2))
    assert terms == terms_of(ABSTRAC, 2)
    assert terms.time_control == TimeControl()
    assert (terms.fault_limit, terms.away_limit_ms) == (DEFAULT_FAULT_LIMIT, DEFAULT_AWAY_LIMIT_MS)
    assert not terms.seeded


NEXT = ABSTRAC.rules_version + 1
DAY_MS = 24 * 3600 * 1000
# fmt: off
REFUSED = [
    ({"game": "nosuch"},                         UnknownGame, "there is no game 'nosuch'",             "no such game"),
    ({"game": ""},                               UnknownGame, "there is no game ''",                   "no game at all"),
    ({"rules_version": NEXT},                    OtherRules,  f"it is for version {NEXT} of the rules of abstrac; this arena has version {ABSTRAC.rules_version}", "other rules"),
    ({"seats": 3},                               BadOptions,  "abstrac is played by 2 seats, not 3",   "too many seats"),
    ({"seats": 0},                               BadOptions,  "abstrac is played by 2 seats, not 0",   "no seats"),
    ({"options": {"hands": 999}},                BadOptions,  "hands is from 0 to 50, not 999",        "a value out of its range"),
    ({"options": {"speed": 9}},                  BadOptions,  "there is no option 'speed'",            "no such option"),
    ({"options": {"hands": "x"}},                BadOptions,  "hands is a whole number, not 'x'",      "a value of another kind"),
    ({"time_control": {"move_ms": 0}},           ValueError,  "a move needs at least 1 ms",            "no time for a move"),
    ({"time_control": {"move_ms": DAY_MS + 1}},  ValueError,  "no time is longer than a day",          "too long a time"),
]
# fmt: on
EVERY_REFUSAL = pytest.mark.parametrize(
    ("changes", "error", "sentence", "why"), REFUSED, ids=[row[-1] for row in REFUSED]
)


@EVERY_REFUSAL
def test_a_message_is_refused(changes, error, sentence, why):
    fields = {"game": "abstrac", "seats": 2} | changes
    settings = [
        game_pb2.Setting(name=name, **{"text" if isinstance(value, str) else "number": value})
        for name, value in fields.pop("options", {}).items()
    ]
    if "time_control" in fields:
        fields["time_control"] = game_pb2.TimeControl(**fields["time_control"])
    with pytest.raises(error) as raised:
        terms_of_message(game_pb2.MatchTerms(options=settings, **fields))
    assert sentence in str(raised.value)


@EVERY_REFUSAL
def test_json_is_refused_with_the_same_sentence(changes, error, sentence, why):
    with pytest.raises(error) as raised:
        terms_of_json(terms_json(terms_of(ABSTRAC, 2)) | changes)
    assert sentence in str(raised.value)


def test_an_option_without_a_value_is_refused():
    message = game_pb2.MatchTerms(game="abstrac", seats=2, options=[game_pb2.Setting(name="hands")])
    with pytest.raises(BadOptions, match="hands"):
        terms_of_message(message)


@pytest.mark.parametrize("name", sorted(terms_json(terms_of(ABSTRAC, 2))))
def test_json_that_lacks_a_value_is_refused(name):
    values = terms_json(terms_of(ABSTRAC, 2))
    del values[name]
    with pytest.raises(KeyError, match=name):
        terms_of_json(values)
