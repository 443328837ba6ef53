"""Vectors of Eleusis and Eleusis Express."""

import random
from dataclasses import replace

from arena.games.cards import PACK_52
from arena.games.cel import DECK_ORDER
from arena.games.cel import Rule as Language
from arena.games.contract import Seat
from arena.games.eleusis import rules
from arena.games.eleusis import rules as eleusis
from arena.games.eleusis.cards import PACKS
from arena.games.eleusis.hidden_rule import Draws, judge_guess, validate
from arena.games.eleusis.messages import (
    SHOWN_CALLS,
    Declare,
    Guess,
    Guessers,
    HandScored,
    Judge,
    Layout,
    NoPlay,
    Office,
    Opinion,
    Options,
    Pass,
    Phase,
    Play,
    Rule,
)
from arena.games.eleusis.scoring import Prophecy, eleusis_scores, express_scores
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
from arena.testing.deals import StackedDeals
from tests.vector_adapters.deals import compare, only, others, seats, unordered
from tests.vector_adapters.steps import Sitting

GAMES = ("eleusis", "eleusis_express")

VARIANTS = {"eleusis": "eleusis", "eleusis_express": "express"}
PHASES = {
    Phase.RULE: "rule",
    Phase.PLAY: "play",
    Phase.JUDGE: "judge",
    Phase.PROPHET_OPTION: "prophet_option",
    Phase.GUESS_OPTION: "guess_option",
    Phase.OVER: "done",
}
VERDICTS = {"accepted": "accept"}
"""Verdicts that are not just written with spaces for underscores."""
LIKE = {
    "to_act": seats,
    "hands": unordered,
    "wrong_cards": unordered,
    "expelled": unordered,
    "end": lambda value: value and str(value),
}


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
    legal = rule.legal(line)
    answers = {card: rule.allows(card, line) for card in DECK_ORDER}
    assert {card for card, may in answers.items() if may} == set(legal)
    compare(vector["expect"], {"legal": lambda: answers})


def rule_validate(vector):
    only(vector["input"], "rule")
    for draws in some_draws():
        # The examples are known to be sound; with a space before them they are tried.
        for text in (vector["input"]["rule"], " " + vector["input"]["rule"]):
            verdict = validate(text, draws).verdict
            observe = {"verdict": lambda it=verdict: VERDICTS.get(it, it.replace("_", " "))}
            compare(vector["expect"], observe)


def guess(vector):
    given = vector["input"]
    only(given, "rule", "guess", "mainline")
    for draws in some_draws():
        found = judge_guess(given["rule"], given["guess"], given["mainline"], draws)
        compare(vector["expect"], {"accepted": lambda it=found: it.accepted})


def score(vector):
    """Scores of a hand: without a prophet where none is given, or of Express with a guesser."""
    given = vector["input"]
    only(
        given,
        *("hand_sizes", "prophet", "right_after_marker"),
        *("wrong_after_marker", "played_before_marker", "guesser"),
    )
    sizes = {int(seat): size for seat, size in given["hand_sizes"].items()}
    everybody = range(len(sizes) + 1)
    (dealer,) = (Seat(seat) for seat in everybody if seat not in sizes)
    held = [sizes.get(seat, 0) for seat in everybody]
    if vector["game"] == "eleusis_express":
        scores = express_scores(held, dealer, given.get("guesser"))
    else:
        scores = eleusis_scores(held, dealer, prophecy_of(given))
    named = {str(seat): points for seat, points in enumerate(scores) if seat != dealer}
    compare(vector["expect"], {"scores": lambda: {**named, "dealer": scores[dealer]}})


def prophecy_of(given):
    """The prophet's office and the cards played before and in it; None if there is none."""
    if given.get("prophet") is None:
        return None
    return Prophecy(
        Seat(given["prophet"]),
        given.get("played_before_marker") or 0,
        given.get("right_after_marker") or 0,
        given.get("wrong_after_marker") or 0,
    )


def last_hand(vector, *extra):
    """The match of a vector, in its last hand, and the deals of that hand."""
    given = vector["input"]
    number, dealer = given["seats"], given["dealer"]
    options = Options(
        max_turns=given.get("max_turns") or 40,
        guessers=Guessers.PLAYER,  # X2, by which the scripts were written
        variant=VARIANTS[vector["game"]],
    )
    everybody = tuple(Seat(seat) for seat in range(number))
    nothing = (0,) * number
    match = Match(options, everybody, dealer, (nothing,) * (number - 1), nothing, "")
    orders = {(dealer, f"guess {number}"): PACK_52 for number in range(1, 4)}
    for number, deck in enumerate(given.get("extra_decks") or (), PACKS + 1):
        orders[dealer, f"pack {number}"] = deck
    return match, StackedDeals({**orders, **dict(extra)})


def begun(vector):
    """A hand in the middle."""
    given = vector["input"]
    only(
        given,
        *("rule", "hands", "mainline", "stock", "seats", "dealer", "extra_decks"),
        *("prophet", "cards_played_before_marker", "to_act", "expelled", "max_turns"),
    )
    match, deals = last_hand(vector)
    hands = [()] * given["seats"]
    for seat, cards in given["hands"].items():
        hands[int(seat)] = tuple(cards)
    mainline = tuple(given["mainline"])
    layout = Layout(mainline, (given["dealer"],) * len(mainline), (), (), ())
    office = replace(NO_OFFICE, expelled=tuple(given.get("expelled") or ()))
    if given.get("prophet") is not None:
        marker = given.get("cards_played_before_marker") or 0
        office = Office(given["prophet"], marker, (), office.expelled)
    cards = Cards(tuple(hands), tuple(given["stock"]), PACKS)
    asked = given.get("to_act")
    seat = Seat(match.players[0] if asked is None else asked)
    state = State(
        match,
        Secret(given["rule"]),
        Phase.PLAY,
        Turn(seat, None, (0,) * given["seats"]),
        Table(cards, layout, NO_CALLS, office),
        Attempts(),
    )
    return InPlay(state, deals)


def dealt(vector):
    """A hand from the deal, with a rule sent by the dealer."""
    given = vector["input"]
    only(given, "seats", "dealer", "rule", "stock_full", "extra_decks", "max_turns")
    dealer = given["dealer"]
    match, deals = last_hand(
        vector, ((dealer, "deck"), given["stock_full"]), ((dealer, "validate 1"), PACK_52)
    )
    table = InPlay(rules.begin_hand(match).state, deals)
    table.do(dealer, {"type": "rule", "rule": given["rule"]})
    return table


class InPlay(Sitting):
    """The last hand of its match."""

    like = LIKE

    def __init__(self, state, deals):
        super().__init__(eleusis, state, deals)
        self.scored = None

    def move_of(self, action):
        return move_of(action)

    def heard(self, event):
        if isinstance(event, HandScored):
            self.scored = event

    def observe(self):
        state, scored = self.state, self.scored
        players, seen = state.match.players, eleusis.view(self.state, None)
        return {
            "to_act": self.actors,
            "phase": lambda: PHASES[seen.phase],
            "hands": lambda: {seat: eleusis.view(state, seat).held for seat in players},
            "hand_sizes": lambda: {seat: seen.hand_sizes[seat] for seat in players},
            "stock_left": lambda: seen.stock,
            "mainline": lambda: seen.layout.mainline,
            "wrong_cards": lambda: [card for unit in seen.layout.sidelines for card in unit],
            "prophet": lambda: seen.office.prophet,
            "expelled": lambda: seen.office.expelled,
            "end": lambda: None if scored is None else scored.end,
            "scores": lambda: None if scored is None else scored.scores,
        }


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


def hidden(state, seat):
    """Other hands and the stock, but for faces of which a no-play has shown one.

    A hand that was shown goes back under the stock, where all may know it. Cards
    that wait to be judged lie open.
    """
    table, shown = state.table, set()
    if state.phase in ("rule", "over") or len(table.calls.hands) >= SHOWN_CALLS:
        return ()
    for hand in table.calls.hands:
        shown.update(hand)
    if state.turn.pending is not None:
        shown.update(table.cards.hands[state.turn.seat])
    hidden = (*others(table.cards.hands, seat), *table.cards.stock)
    return [card for card in hidden if card not in shown]


KINDS = {
    "rule_eval": rule_eval,
    "rule_validate": rule_validate,
    "guess": guess,
    "score": score,
}
SITTINGS = {"script": begun, "playthrough": dealt}
