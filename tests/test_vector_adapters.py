"""That the adapters of the vectors look at what they are given: each value, refusal and name.

`FORMAT` is the format of the vectors as far as they expect something: by game
and kind the names, and values that each may take. The public files hold only
some of these. Of a game without a row the format is what its own vectors expect.
"""

import copy
import json
from pathlib import Path
from typing import NamedTuple

import pytest

from arena.games.contract import Step
from arena.games.loo.messages import Exchange
from arena.games.oklahoma_rummy.messages import Phase
from arena.games.oklahoma_rummy.rules import Piles
from tests.vector_adapters import ADAPTERS, SITTINGS, oklahoma_rummy, steps
from tests.vector_adapters.deals import Differs, Hidden, OfSeat, compare, only

pytestmark = pytest.mark.deep("vectors")  # tests of a tool for tests

FOLDER = Path(__file__).parent / "vectors"
EVERY = [
    vector
    for file in sorted(FOLDER.glob("*.json"))
    for vector in json.loads(file.read_text())["vectors"]
]
BY_KIND = {}
for each in EVERY:
    BY_KIND.setdefault((each["game"], each["kind"]), []).append(each)

SEAT = (None, 0, 5)
FLAG = (False, True)
NUMBER = (0, 999)
NUMBERS = ([0, 0], [1, 2, 3], None)
SEATS = ([], [0], [1, 2])
CARDS = ([], ["As"], ["2c", "Kd"])
HANDS = ([["As"], []], {"0": ["Kd", "Qh"]})
SCORES = ([], [99, 98], None)
TEXT = ("no such word", None)


def of_seat(*values):
    """Values of an observable that is asked of a seat, also of one that is not to act."""
    return tuple([seat, value] for seat in (0, 1) for value in values)


LEGAL = of_seat([], [{"type": "pass"}])
LEGAL_CARDS = of_seat(*CARDS)
SHOWN = {
    "visible": CARDS,
    "hidden": (["no card"], ["neither"]),
    "hand_sizes": NUMBERS,
}
WAGERS = {"fold": False, "check": True, "call": None, "bet": [2, 4], "raise": None}
POKER = {
    "to_act": (*SEAT, [0, 1]),
    "legal": (WAGERS, {**WAGERS, "call": 2}, {"bring_in": [1, 2]}, None),
    "net": SCORES,
    "net_units": SCORES,
    "awards": SCORES,
    "showdown": FLAG,
    "pots": ([], [{"amount": 9, "eligible": [0], "winners": [0]}]),
}
JAM = {
    "phase": ("lead", "follow", "draw", "discard", "done"),
    "actor": SEAT,
    "winners": ("", "01"),
    "hands": HANDS,
    "stocks": HANDS,
    "discards": HANDS,
    "points": SCORES,
    "decisions": NUMBER,
}
ARLINGTON = {
    "phase": ("lead", "trick", "respond", "scoring"),
    "lead": (0, 5),
    "actor": SEAT,
    "hands": HANDS,
    "tables": ([[["As"]], []], {"1": [["Kd"]]}),
    "graveyard_count": NUMBER,
    "graveyard_count_before_scoring": (None, 0, 999),
    "active": (None, *CARDS[1:]),
    "spectrum": (None, "aces", "multiples", "couples", "runs"),
    "scores": SCORES,
    "decisions": NUMBER,
}
ELEUSIS = {
    "to_act": SEAT,
    "phase": ("rule", "play", "judge", "prophet_option", "guess_option", "done"),
    "hands": ({"1": ["As"]}, {"1": [], "2": ["Kd"]}),
    "hand_sizes": ({"1": 0}, {"1": 99}),
    "stock_left": NUMBER,
    "mainline": CARDS,
    "wrong_cards": CARDS,
    "prophet": SEAT,
    "expelled": SEATS,
    "end": (None, "depleted", "no_play", "expelled", "guess", "turn_cap"),
    "scores": SCORES,
}
ELEUSIS_KINDS = {
    "rule_eval": {"legal": ({"As": True}, {"As": False})},
    "rule_validate": {
        "verdict": (
            *("accept", "syntax", "runtime error", "cost"),
            *("dead end", "too restrictive", "too permissive"),
        )
    },
    "score": {"scores": ({"1": 0, "dealer": 0}, {"1": 99})},
    "guess": {"accepted": FLAG},
    "script": ELEUSIS,
    "playthrough": ELEUSIS,
}
OVER = {"over": FLAG, "winners": SEATS}
OPEN_FACE = {
    "to_act": (*SEAT, [0, 1]),
    "net_units": SCORES,
    "fouls": (None, [True, True, True, True]),
    "royalties": SCORES,
    "next_fantasyland": (None, [True, True, True, True]),
}
TRICKS = {
    "actors": SEATS,
    "dealer": (0, 5),
    "tricks": NUMBERS,
    "hands": HANDS,
    "legal": LEGAL,
    "legal_cards": LEGAL_CARDS,
    **OVER,
}

FORMAT = {
    "abstrac": {
        "combo_points": {"points": NUMBER},
        "deal_result": {"scores": NUMBERS},
        "max_take": {"min": NUMBER, "max": NUMBER},
        "row_script": {
            "illegal_at": SEAT,
            "scores": SCORES,
            "remaining": NUMBER,
            "next_max": NUMBER,
        },
        "half52": {"factors": NUMBERS, "score": NUMBER},
        "game52": {"first_seat_half2": (0, 1), "totals": NUMBERS, "winners": SEATS},
        "choose": {"chooser": (0, 1), "first_seat": (0, 1)},
        "view": {"visible_count": NUMBER, "hidden_count": NUMBER},
    },
    "arlington": {
        "set_spectra": {"spectra": ([], ["aces"], ["couples", "runs"])},
        "set_compare": {"result": ("higher", "equal", "lower")},
        "set_score": {"points": NUMBER},
        "script": ARLINGTON,
        "legal_actions": {"count": NUMBER},
        "deal": {
            "hand_size": NUMBER,
            "hand0": CARDS,
            "hand1": CARDS,
            "hands": HANDS,
            "first_cards": (["As"], {"0": "Kd"}),
            "graveyard_count": NUMBER,
            "lead": (0, 5),
        },
        "game_end": {"totals": NUMBERS, **OVER},
        "view": {**SHOWN, "graveyard_count": NUMBER},
        "replay": ARLINGTON,
    },
    "chinese_poker": {
        "set_legality": {"foul": FLAG},
        "natural": {
            "natural": (None, "dragon", "six_pair", "three_flushes", "three_straights"),
        },
        "settle": {"net_units": NUMBERS},
        "script": {
            "phase": ("set", "surrender", "done"),
            "to_act": (*SEAT, [0, 1]),
            "net_units": SCORES,
        },
    },
    "democracy": {
        "deck": dict.fromkeys(
            (
                *("deck_size", "jokers", "day1_each", "pool_day1"),
                *("day2_each", "pool_day2", "leftover"),
            ),
            NUMBER,
        ),
        "trick": {"winner": SEAT, "captured": HANDS[:1], "discarded": CARDS},
        "island": {
            "points": ([{"c": 1, "d": 0, "h": 0, "s": 0}], []),
            "tribes": ([[], ["s"]], [["c"], []]),
        },
        "game_end": OVER,
        "script": {
            "actors": SEATS,
            "day": (1, 2),
            "dealer": (0, 5),
            "upcard": (None, "no card"),
            "pool_left": NUMBER,
            "hand_sizes": NUMBERS,
            "legal_cards": LEGAL_CARDS,
            "last_winner": SEAT,
            "captured_points": ([{"c": 99, "d": 0, "h": 0, "s": 0}], []),
            "tribes": ([["c", "d"]], []),
            "scores": NUMBERS,
            **OVER,
        },
    },
    "eleusis": ELEUSIS_KINDS,
    "eleusis_express": ELEUSIS_KINDS,
    "jam": {
        "trick": {"winner": ("leader", "follower")},
        "deal_points": {"points": NUMBERS},
        "rubber": {"totals": NUMBERS, "over": FLAG, "winner": SEAT},
        "script": JAM,
        "replay": JAM,
        "view": {**SHOWN, "stock_sizes": NUMBERS},
    },
    "klaberjass": {
        "sequences": {"sequences": ([], [[20, ["7h", "8h", "9h"]]])},
        "contest": {
            "announce": (None, 20, 50),
            "dealer_replies": ([], ["good"], ["good", "how_high"], ["good", "not_good"]),
            "if_contested": (None, "nondealer", "dealer", "tie"),
        },
        "legal_cards": {"cards": CARDS},
        "trick": {"winner": ("leader", "follower"), "points": NUMBER},
        "settle": {"gained": NUMBERS, "hand_winner": SEAT},
        "game_end": OVER,
        "script": {
            **TRICKS,
            "phase": (
                *("bid1", "bid2", "schmeiss_reply", "forced_name", "dix"),
                *("meld_nd", "meld_dl_first", "meld_dl_reply", "play", "done"),
            ),
            "deals": NUMBER,
            "upcard": TEXT,
            "maker": SEAT,
            "trump": (None, "c", "d", "h", "s"),
            "meld_holder": SEAT,
            "melds_shown": ([], [[20, ["7h", "8h", "9h"]]]),
            "hand_scores_so_far": NUMBERS,
            "scores": NUMBERS,
            "last_hand": (None, {"maker": 5}, {"hand_scores": [0, 0], "gained": [1, 2]}),
        },
    },
    "sixty_six": {
        "trick": {"winner": ("leader", "follower"), "points": NUMBER},
        "legal_cards": {"cards": CARDS},
        "settle": {"gained": NUMBERS, "carry_after": NUMBER},
        "script": {
            **TRICKS,
            "trump": ("c", "d", "h", "s"),
            "upcard": (None, "no card"),
            "stock_left": NUMBER,
            "closed": FLAG,
            "strict": FLAG,
            "points": NUMBERS,
            "pending_marriage": NUMBERS,
            "scores": NUMBERS,
            "carry": NUMBER,
            "last_hand": (None, {"carry_after": 99}, {"points": [0, 0], "tricks": [0, 0]}),
        },
    },
    "loo": {
        "flush": {"flush": (None, "plain", "trump", "mouche")},
        "legal_cards": {"cards": CARDS},
        "trick": {"winner_index": (0, 1, 2, 3)},
        "loo_board": {"winner": (0, 1), "payers": SEATS},
        "script": {
            **TRICKS,
            "phase": ("declare", "flush1", "exchange", "flush2", "play", "done"),
            "trump": ("c", "d", "h", "s"),
            "upcard": TEXT,
            "pot": NUMBER,
            "chips": NUMBERS,
            "active": SEATS,
            "stock_left": NUMBER,
            "dead": NUMBER,
            "last_deal": (
                None,
                {"type": "all_pass"},
                {"type": "walkover", "winner": 9, "won": 1},
                {"type": "flush", "winner": 9, "won": 1, "looed": []},
                {"type": "played", "won": [], "looed": [], "tricks": []},
            ),
        },
    },
    "oklahoma_rummy": {
        "meld": {"valid": FLAG, "represents": CARDS, "value": NUMBER},
        "extend": {"valid": FLAG, "cards": CARDS, "represents": CARDS, "value": NUMBER},
        "take": {"valid": FLAG, "represents": CARDS, "value": NUMBER, "hand_after": CARDS},
        "hand_value": {"value": NUMBER},
        "setup": {"hand_size": NUMBER, "stock_after_upcard": NUMBER},
        "settle": {"gained": NUMBERS},
        "draw_phase": {"actions": ([], ["draw"], ["decline", "take_pile"]), "hand_ends": FLAG},
        "game_end": OVER,
        "script": {
            "actors": SEATS,
            "phase": ("draw", "play", "done"),
            "legal": of_seat([], [{"type": "draw"}], [{"type": "discard", "card": "As"}]),
            "legal_types": of_seat([], ["draw"], ["meld", "discard"]),
            "pile": CARDS,
            "stock_left": NUMBER,
            "rebuilds": NUMBER,
            "hands": HANDS,
            "hand_sizes": NUMBERS,
            "scores": NUMBERS,
            "dealer": (0, 99),
            "turns": NUMBER,
            "last_hand": (None, {"out": 5}, {"out": None, "turns": 99}),
            "melds": ([], [[{"kind": "set", "cards": ["2c", "Ah", "As"], "value": 60}]]),
            **OVER,
        },
    },
    "soko": {
        "ranking": {"order": ([], [1, 0]), "categories": ([], ["straight"])},
        "classify": {"category": ("high_card", "straight", "canadian_flush")},
        "compare": {"winner": ("a", "b", "tie")},
        "first_to_act": {"seat": (0, 1)},
        "script": POKER,
        "playthrough": POKER,
    },
    "poker_common": {"pots": {"pots": ([], [{"amount": 1, "eligible": [0]}])}},
    **{
        game: {
            "script": POKER,
            "playthrough": POKER,
            "showdown": {
                "awards": SCORES,
                "winners": ([], [[0]]),
                "low_winners": ([], [None], [[0]]),
            },
        }
        for game in ("pineapple", "crazy_pineapple", "crazy_pineapple_hi_lo")
    },
    "open_face_chinese_poker": {
        "royalties": {
            "foul": FLAG,
            "royalties": ({"front": 0}, {"front": 99, "back": 0}),
            "next_fantasyland": FLAG,
        },
        "settle": {"net_units": NUMBERS},
        "rotation": {"dealers": SEATS},
        "script": OPEN_FACE,
        "playthrough": OPEN_FACE,
    },
}
ANOTHER = {bool: "no such word", int: 999, str: "no such word", list: ["no such word"]}
"""By the type of a value: one that no vector expects."""


def expected_by(vector):
    """What a vector expects, at its end and after its steps, by name."""
    for each in (vector, *(vector.get("steps") or ())):
        yield from (each.get("expect") or {}).items()


def format_of(game, kind):
    """The names that a kind's vectors expect, each with a value and another one."""
    return {
        name: (value, ANOTHER.get(type(value), 999))
        for vector in BY_KIND.get((game, kind), ())
        for name, value in expected_by(vector)
    }


for each in ADAPTERS.keys() - FORMAT.keys():
    FORMAT[each] = {kind: format_of(each, kind) for kind in ADAPTERS[each]}
for each in ("pineapple", "crazy_pineapple", "crazy_pineapple_hi_lo"):
    FORMAT[each]["match"] = format_of("pineapple", "match")
# Matches of Pineapple discard before the flop, so the other two games cannot be tried with them.
KINDS = [
    (game, kind)
    for game, kinds in FORMAT.items()
    for kind in kinds
    if kind != "match" or (game, kind) in BY_KIND
]
SCRIPTED = [(game, kind) for game, kind in KINDS if kind in SITTINGS[game]]
AT_ONCE = [(game, kind) for game, kind in KINDS if kind not in SITTINGS[game]]
CHEAP = tuple(f"eleusis-{each}" for each in ("020", "025", "026", "064", "068", "072", "n01"))
"""Trials and guesses that are decided soon; each of the others takes about a second."""
LOOKS = 12
"""Moments of a vector at which everything is looked at."""


def named(kinds):
    return pytest.mark.parametrize(("game", "kind"), kinds, ids=[f"{g} {k}" for g, k in kinds])


def samples(game, kind):
    """Vectors of a kind; where a game has none, those of a game of its family."""
    if (game, kind) in BY_KIND:
        return BY_KIND[game, kind]
    module = ADAPTERS[game]
    family = [each for each in SITTINGS if SITTINGS[each] is SITTINGS[game] and each != game]
    assert module.keys() == ADAPTERS[family[0]].keys()
    return [{**one, "game": game} for each in family for one in BY_KIND.get((each, kind), ())]


def test_the_format_has_all_that_the_adapters_and_the_public_files_have():
    assert {game: set(kinds) for game, kinds in FORMAT.items()} == {
        game: set(kinds) for game, kinds in ADAPTERS.items()
    }
    for (game, kind), vectors in BY_KIND.items():
        for vector in vectors:
            steps_expect = [one["expect"] for one in vector.get("steps") or () if "expect" in one]
            for expected in (vector.get("expect") or {}, *steps_expect):
                unknown = set(expected) - set(FORMAT[game][kind])
                assert {name for name in unknown if not name.startswith("hand")} == set(), game


# What is compared.


def agrees(check, given):
    """Whether a value is as expected; what cannot be read is another error."""
    try:
        check(given)
    except Differs:
        return False
    return True


@named(AT_ONCE)
def test_every_value_of_what_is_expected_is_read(game, kind):
    check = ADAPTERS[game][kind]
    some = samples(game, kind)
    for vector in [one for one in some if one["id"] in CHEAP] or some[:3]:
        for name, values in FORMAT[game][kind].items():
            same = 0
            for value in values:
                expected = {name: copy.deepcopy(value)}
                same += agrees(check, {**copy.deepcopy(vector), "expect": expected})
            assert same < len(values), f"{name} is as all of {values}"
        with pytest.raises(AssertionError, match="the adapter does not know") as error:
            check({**copy.deepcopy(vector), "expect": {"no such thing": 1}})
        assert not isinstance(error.value, Differs)


class Moment(NamedTuple):
    sitting: steps.Sitting
    step: dict


def moments(vector, *, most=10**9):
    """The moments before the steps of a vector, some of them, and the one after the last."""
    sitting = SITTINGS[vector["game"]][vector["kind"]](copy.deepcopy(vector))
    told = copy.deepcopy(vector.get("steps") or [])
    every = max(1, len(told) // most)
    for at, one in enumerate(told):
        if at % every == 0:
            yield Moment(sitting, one)
        if "do" in one:
            sitting.do(*one["do"])
    yield Moment(sitting, {"expect": copy.deepcopy(vector.get("expect") or {})})


@named(SCRIPTED)
def test_every_value_of_what_can_be_observed_is_read_at_any_moment(game, kind):
    for vector in samples(game, kind)[:4]:
        for sitting, _ in moments(vector, most=LOOKS):
            for name, values in FORMAT[game][kind].items():
                same = 0
                for value in values:
                    expected = {name: copy.deepcopy(value)}
                    same += agrees(sitting.compare, expected)
                assert same < len(values) or name == "hidden", f"{name} is as all of {values}"
            with pytest.raises(AssertionError, match="does not know the observable") as error:
                sitting.compare({"no such thing": 1})
            assert not isinstance(error.value, Differs)


def other(value):
    """A value that is another one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return f"{value}?"
    if isinstance(value, list):
        return value[:-1] if value else [99]
    if isinstance(value, dict) and value:
        name = next(iter(value))
        return {**value, name: other(value[name])}
    return 99


@pytest.mark.parametrize(
    "vector",
    [
        vector
        for vector in EVERY
        if vector["kind"] not in SITTINGS[vector["game"]]
        and (vector["kind"] not in ("guess", "rule_validate") or vector["id"] in CHEAP)
    ],
    ids=lambda vector: vector["id"],
)
def test_another_result_is_noticed(vector):
    check = ADAPTERS[vector["game"]][vector["kind"]]
    for name, value in vector["expect"].items():
        with pytest.raises(Differs, match=name):
            check({**copy.deepcopy(vector), "expect": {name: other(value)}})


STEPPED = [vector for vector in EVERY if vector["kind"] in SITTINGS[vector["game"]]]


@pytest.mark.parametrize("vector", STEPPED, ids=lambda vector: vector["id"])
def test_another_observation_is_noticed(vector):
    for sitting, step in moments(vector):
        expected = dict(step.get("expect", {}))
        if expected.pop("hidden", None):
            with pytest.raises(Differs, match="hidden"):
                sitting.compare({"hidden": expected["visible"]})
        for name, value in expected.items():
            of_seat = isinstance(sitting.observe()[name], OfSeat)
            changed = [value[0], other(value[1])] if of_seat else other(value)
            with pytest.raises(Differs, match=name):
                sitting.compare({name: changed})


# What is refused.


@pytest.mark.parametrize("vector", STEPPED, ids=lambda vector: vector["id"])
def test_what_may_be_done_is_not_refused(vector):
    """A step that says so fails."""
    for sitting, step in moments(vector):
        if "do" in step:
            with pytest.raises((AssertionError, pytest.fail.Exception)):
                sitting.reject(*copy.deepcopy(step["do"]))


REFUSING = [v for v in STEPPED if any("reject" in one for one in v.get("steps") or ())]


@pytest.mark.parametrize("vector", REFUSING, ids=lambda vector: vector["id"])
def test_a_refusal_is_the_rules_own(vector, monkeypatch):
    """Rules that let everything pass fail each step that says something is refused."""
    refused = 0
    for sitting, step in moments(vector):
        if "reject" not in step:
            continue
        sitting.reject(*copy.deepcopy(step["reject"]))
        with monkeypatch.context() as lenient:
            lenient.setattr(sitting.game, "step", lambda state, chosen, deals: Step(state, ()))
            with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
                sitting.reject(*copy.deepcopy(step["reject"]))
        refused += 1
    assert refused


@pytest.mark.parametrize("vector_id", ["chinese-poker-046", "democracy-040", "pineapple-001"])
def test_a_second_choice_of_a_seat_is_refused(vector_id):
    """By every choice that it could have made, as long as others have still to choose."""
    (vector,) = (each for each in EVERY if each["id"] == vector_id)
    tried = 0
    for sitting, _ in moments(vector):
        for seat in sitting.held:
            action = next(
                one["do"][1]
                for one in vector["steps"]
                if "do" in one
                and one["do"][0] == seat
                and sitting.move_of(one["do"][1]) == sitting.held[seat]
            )
            sitting.reject(seat, action)
            tried += 1
    assert tried


# How values compare.

# fmt: off
COMPARED = [
    # expected             seen                        like      same   why
    ({"x": 1},             {"x": lambda: True},        None,     False, "a number is no truth"),
    ({"x": True},          {"x": lambda: 1},           None,     False, "nor a truth a number"),
    ({"x": [1, 2]},        {"x": lambda: (1, 2)},      None,     True,  "a tuple is a list"),
    ({"x": {"1": 5}},      {"x": lambda: [4, 5]},      None,     True,  "one seat of a list"),
    ({"x": {"2": 5}},      {"x": lambda: [4, 5]},      None,     False, "a seat that there is not"),
    ({"x": {"1": 5}},      {"x": lambda: {1: 5, 2: 6}}, None,    True,  "one entry of an object"),
    ({"x": {}},            {"x": lambda: {1: 5}},      None,     False, "an empty object is empty"),
    ({"x": [0, 7]},        {"x": OfSeat(lambda s: 7)}, None,     True,  "a value of a seat"),
    ({"x": 7},             {"x": OfSeat(lambda s: 7)}, None,     False, "a value without its seat"),
    ({"x": ["a"]},         {"x": Hidden(lambda: "b")}, None,     True,  "what is not seen"),
    ({"x": ["a", "b"]},    {"x": Hidden(lambda: "b")}, None,     False, "what is seen"),
]
# fmt: on


@pytest.mark.parametrize(
    ("expected", "observe", "like", "same", "why"), COMPARED, ids=[row[-1] for row in COMPARED]
)
def test_values_compare(expected, observe, like, same, why):
    try:
        compare(expected, observe, like)
    except Differs:
        assert not same
    else:
        assert same


def test_a_key_that_is_passed_over_is_an_error():
    only({"a": 1}, "a", "b")
    with pytest.raises(AssertionError, match="c"):
        only({"a": 1, "c": 2}, "a", "b")


@named(KINDS)
def test_an_unknown_input_is_an_error(game, kind):
    vector = copy.deepcopy(samples(game, kind)[0])
    vector["input"]["no such thing"] = 1
    with pytest.raises(AssertionError, match="no such thing"):
        ADAPTERS[game][kind](vector)


@named(SCRIPTED)
def test_an_unknown_action_or_step_is_an_error(game, kind):
    vector = copy.deepcopy(samples(game, kind)[0])
    sitting = SITTINGS[game][kind](copy.deepcopy(vector))
    with pytest.raises((AssertionError, KeyError)):
        sitting.move_of({"type": "no such thing"})
    vector["steps"] = [{"no such thing": 1}]
    with pytest.raises(AssertionError, match="no such thing"):
        ADAPTERS[game][kind](vector)


# What the public files do not hold.


def test_no_prophet_is_none():
    vector = copy.deepcopy(BY_KIND["eleusis", "score"][0])
    vector["input"] |= {"prophet": None, "hand_sizes": {"1": 3, "2": 5}}
    vector["expect"] = {"scores": {"1": 2, "2": 0, "dealer": 2}}
    ADAPTERS["eleusis"]["score"](vector)
    for name in ("prophet", "right_after_marker", "wrong_after_marker", "played_before_marker"):
        del vector["input"][name]
    ADAPTERS["eleusis"]["score"](vector)


def test_the_winners_of_a_deal_of_jam_are_read_when_it_is_done():
    for vector in BY_KIND["jam", "replay"]:
        *_, (sitting, _) = moments(vector)
        sitting.compare({"phase": "done", "actor": None, "winners": vector["expect"]["winners"]})
        sitting.compare({"hands": [[], []], "stocks": [[], []]})


@pytest.mark.parametrize("hand", [["Ac", "Ah", "9h"], ["Jc"], []])
def test_whoever_leads_at_loo_may_lead_any_card(hand):
    given = {"hand": hand, "trick": [], "trump": "c", "civil": False}
    vector = {"input": given, "expect": {"cards": hand[::-1]}}
    ADAPTERS["loo"]["legal_cards"](vector)


# fmt: off
SETTLED = [
    # out   hands                    gained      why
    (None,  [["As"], ["3c"]],        [40, -5],   "blocked: nobody has the hundred"),
    (0,     [[], ["3c"]],            [160, -5],  "seat 0 is out"),
    (1,     [["As"], []],            [40, 100],  "seat 1 is out"),
]
# fmt: on


@pytest.mark.parametrize(("out", "hands", "gained", "why"), SETTLED, ids=[r[-1] for r in SETTLED])
def test_a_hand_of_oklahoma_rummy_is_settled(out, hands, gained, why):
    aces = {"kind": "set", "cards": ["Ah", "Ad", "Ac"]}
    players = [{"melds": [aces], "hand": hands[0]}, {"melds": [], "hand": hands[1]}]
    vector = {"input": {"out": out, "players": players}, "expect": {"gained": gained}}
    ADAPTERS["oklahoma_rummy"]["settle"](vector)


def test_a_turn_that_is_declined_has_begun():
    """Nothing can be drawn, and the pile that could be taken is left."""
    (first, *_) = BY_KIND["oklahoma_rummy", "script"]
    sitting = SITTINGS["oklahoma_rummy"]["script"](copy.deepcopy(first))
    piles = Piles((), ("Kh",), 3)
    sitting.state = oklahoma_rummy.state_of(Phase.DRAW, ("Kd", "Ks"), piles=piles)
    sitting.compare({"turns": 0, "legal_types": [0, ["decline", "take_pile"]]})
    sitting.do(0, {"type": "decline"})
    sitting.compare({"last_hand": {"out": None, "turns": 1}, "turns": 0})


def test_an_exchange_of_loo_may_name_its_cards_in_any_order():
    """The adapter gives the cards to the rules as the vector has them."""
    action = {"type": "exchange", "cards": ["Ah", "2c", "Kd"]}
    (first, *_) = BY_KIND["loo", "script"]
    move = SITTINGS["loo"]["script"](copy.deepcopy(first)).move_of(action)
    assert move == Exchange(("Kd", "Ah", "2c"))
