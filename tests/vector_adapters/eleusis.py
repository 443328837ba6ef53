"""Vectors of Eleusis and Eleusis Express."""

import random
from dataclasses import replace

import pytest

from arena.cards import PACK_52
from arena.games import eleusis
from arena.games.cel import Rule as Language
from arena.games.contract import IllegalMove, Seat
from arena.games.eleusis import rules
from arena.games.eleusis.cards import PACKS, in_hand_order
from arena.games.eleusis.hidden_rule import Draws, judge_guess, validate
from arena.games.eleusis.options import Options
from arena.games.eleusis.scoring import Prophecy, eleusis_scores
from arena.games.eleusis.state import (
    NO_CALLS,
    NO_OFFICE,
    Attempts,
    Cards,
    Match,
    Secret,
    State,
    Table,
    Turn,
)
from arena.games.eleusis.words import (
    Declare,
    Guess,
    HandScored,
    Judge,
    Layout,
    NoPlay,
    Office,
    Opinion,
    Pass,
    Phase,
    Play,
    Rule,
)
from arena.testing.deals import Loaded
from tests.vector_adapters.deals import compare, only

GAMES = ("eleusis", "eleusis_express")

VARIANTS = {"eleusis": "eleusis", "eleusis_express": "express"}
PHASES = {
    Phase.PLAY: "play",
    Phase.JUDGE: "judge",
    Phase.PROPHET_OPTION: "prophet_option",
    Phase.GUESS_OPTION: "guess_option",
    Phase.OVER: "done",
}
VERDICTS = {"accept": "accepted"}
"""Verdicts that are not just written with spaces for underscores."""


def some_draws():
    """Clear-cut cases come out the same by any draws; the second are drawn from a fixed order."""
    for seed in range(2):
        order = list(PACK_52)
        random.Random(seed).shuffle(order)
        yield Draws(order)


def rule_eval(vector):
    given = vector["input"]
    only(given, "rule", "rule_name", "mainline")
    rule, line = Language.parse(given["rule"]), given["mainline"]
    (expected,) = vector["expect"].values()
    legal = rule.legal(line)
    assert {card: card in legal for card in expected} == expected
    answers = {card: rule.allows(card, line) for card in expected}
    compare(vector["expect"], {"legal": lambda: answers})


def rule_validate(vector):
    only(vector["input"], "rule")
    wanted = vector["expect"]["verdict"]
    wanted = VERDICTS.get(wanted, wanted.replace(" ", "_"))
    for draws in some_draws():
        # The examples are known to be sound; with a space before them they are tried.
        for text in (vector["input"]["rule"], " " + vector["input"]["rule"]):
            verdict = validate(text, draws).verdict
            compare({**vector["expect"], "verdict": wanted}, {"verdict": lambda it=verdict: it})


def guess(vector):
    given = vector["input"]
    only(given, "rule", "guess", "mainline")
    for draws in some_draws():
        found = judge_guess(given["rule"], given["guess"], given["mainline"], draws)
        compare(vector["expect"], {"accepted": lambda it=found: it.accepted})


def score(vector):
    given = vector["input"]
    only(
        given,
        *("hand_sizes", "prophet", "right_after_marker"),
        *("wrong_after_marker", "played_before_marker"),
    )
    dealer = Seat(0)
    sizes = [0] * (1 + len(given["hand_sizes"]))
    for seat, size in given["hand_sizes"].items():
        sizes[int(seat)] = size
    prophecy = Prophecy(
        Seat(given["prophet"]),
        given["played_before_marker"],
        given["right_after_marker"],
        given["wrong_after_marker"],
    )
    scores = eleusis_scores(sizes, dealer, prophecy)
    named = {str(seat): points for seat, points in enumerate(scores) if seat != dealer}
    compare(vector["expect"], {"scores": lambda: {**named, "dealer": scores[dealer]}})


def last_hand(vector, *extra):
    """The match of a vector, in its last hand, and the deals of that hand."""
    given = vector["input"]
    seats, dealer = given["seats"], given["dealer"]
    options = Options(max_turns=given.get("max_turns", 40), variant=VARIANTS[vector["game"]])
    everybody = tuple(Seat(seat) for seat in range(seats))
    nothing = (0,) * seats
    match = Match(options, everybody, dealer, (nothing,) * (seats - 1), nothing, "")
    orders = {(dealer, f"guess {number}"): PACK_52 for number in range(1, 4)}
    for number, deck in enumerate(given.get("extra_decks", []), PACKS + 1):
        orders[dealer, f"pack {number}"] = deck
    return match, Loaded({**orders, **dict(extra)})


def script(vector):
    given = vector["input"]
    only(
        given,
        *("rule", "hands", "mainline", "stock", "seats", "dealer", "extra_decks"),
        *("prophet", "cards_played_before_marker", "to_act", "expelled"),
    )
    match, deals = last_hand(vector)
    hands = [()] * given["seats"]
    for seat, cards in given["hands"].items():
        hands[int(seat)] = tuple(cards)
    mainline = tuple(given["mainline"])
    layout = Layout(mainline, (given["dealer"],) * len(mainline), (), (), ())
    office = replace(NO_OFFICE, expelled=tuple(given.get("expelled", [])))
    if "prophet" in given:
        office = Office(given["prophet"], given["cards_played_before_marker"], (), office.expelled)
    cards = Cards(tuple(hands), tuple(given["stock"]), PACKS)
    seat = Seat(given.get("to_act", match.players[0]))
    state = State(
        match,
        Secret(given["rule"]),
        Phase.PLAY,
        Turn(seat, None, (0,) * given["seats"]),
        Table(cards, layout, NO_CALLS, office),
        Attempts(),
    )
    run(Sitting(state, deals), vector)


def playthrough(vector):
    """Plays from the deal, with a rule sent by the dealer."""
    given = vector["input"]
    only(given, "seats", "dealer", "rule", "stock_full", "extra_decks", "max_turns")
    dealer = given["dealer"]
    match, deals = last_hand(
        vector, ((dealer, "deck"), given["stock_full"]), ((dealer, "validate 1"), PACK_52)
    )
    sitting = Sitting(rules.begin_hand(match).state, deals)
    sitting.do(dealer, {"type": "rule", "rule": given["rule"]})
    run(sitting, vector)


class Sitting:
    """A hand that is played step by step."""

    def __init__(self, state, deals):
        self.state, self.deals = state, deals
        self.scored = None

    def do(self, seat, action):
        move = move_of(action)
        assert eleusis.to_act(self.state) == (seat,)
        assert move in eleusis.moves(self.state, Seat(seat))
        self.state, told = eleusis.step(self.state, ((Seat(seat), move),), self.deals)
        for event, _ in told:
            if isinstance(event, HandScored):
                self.scored = event

    def reject(self, seat, action):
        move, before = move_of(action), self.state
        if eleusis.to_act(before) == (seat,):
            assert move not in eleusis.moves(before, Seat(seat))
        with pytest.raises(IllegalMove):
            eleusis.step(before, ((Seat(seat), move),), self.deals)

    def compare(self, expected):
        state, match = self.state, self.state.match
        seen = eleusis.view(state, None)
        hands = {str(seat): list(eleusis.view(state, seat).held) for seat in match.players}
        expected = dict(expected)
        if "hands" in expected:
            given = expected["hands"].items()
            expected["hands"] = {seat: list(in_hand_order(cards)) for seat, cards in given}
        if "expelled" in expected:
            expected["expelled"] = sorted(expected["expelled"])
        observe = {
            "to_act": lambda: seen.to_act,
            "phase": lambda: PHASES[seen.phase],
            "hands": lambda: hands,
            "hand_sizes": lambda: {str(seat): seen.hand_sizes[seat] for seat in match.players},
            "stock_left": lambda: seen.stock,
            "mainline": lambda: list(seen.layout.mainline),
            "wrong_cards": lambda: [card for unit in seen.layout.sidelines for card in unit],
            "prophet": lambda: seen.office.prophet,
            "expelled": lambda: sorted(seen.office.expelled),
            "end": lambda: self.scored.end,
            "scores": lambda: list(self.scored.scores),
        }
        compare(expected, observe)


def move_of(action):
    kind = action["type"]
    if kind == "play":
        only(action, "type", "cards")
        return Play(tuple(action["cards"]))
    if kind == "judge":
        only(action, "type", "verdict", "card")
        return Judge(Opinion(action["verdict"]), action.get("card"))
    if kind in ("guess", "rule"):
        only(action, "type", "rule")
        return (Guess if kind == "guess" else Rule)(action["rule"])
    only(action, "type")
    return {"no_play": NoPlay(), "declare": Declare(), "pass": Pass()}[kind]


def run(sitting, vector):
    for one in vector["steps"]:
        only(one, "do", "reject", "expect")
        assert len(one) == 1, "a step is one thing"
        if "do" in one:
            sitting.do(*one["do"])
        elif "reject" in one:
            sitting.reject(*one["reject"])
        else:
            sitting.compare(one["expect"])
    sitting.compare(vector.get("expect", {}))


KINDS = {
    "rule_eval": rule_eval,
    "rule_validate": rule_validate,
    "guess": guess,
    "score": score,
    "script": script,
    "playthrough": playthrough,
}
