"""Vectors of Arlington."""

import pytest

from arena.cards import pack
from arena.games import arlington
from arena.games.arlington import rules
from arena.games.arlington.layout import Layout, table_of
from arena.games.arlington.options import Options
from arena.games.arlington.sets import Spectrum, is_set, points_of, set_of, spectra_of, strength_of
from arena.games.arlington.state import Match, State
from arena.games.arlington.words import (
    Add,
    Kill,
    LeadCard,
    LeadSet,
    Overplay,
    Pass,
    Phase,
    PlayCard,
    PlayS2,
    Scored,
    TakeJoker,
)
from arena.games.contract import IllegalMove, Seat, places_of
from arena.testing.deals import Loaded
from tests.vector_adapters.deals import compare, only

GAMES = ("arlington",)

PHASES = {
    Phase.LEAD: "lead",
    Phase.TRICK: "trick",
    Phase.RESPOND: "respond",
    Phase.OVER: "scoring",  # the vectors' matches are one hand long
}
NO_DEALS = Loaded({})


def move_of(action):
    match action["type"]:
        case "lead_card":
            only(action, "type", "card")
            return LeadCard(action["card"])
        case "lead_set":
            only(action, "type", "cards", "spectrum")
            name = action.get("spectrum")
            return LeadSet(tuple(action["cards"]), None if name is None else Spectrum(name))
        case "play_s2":
            only(action, "type", "seat", "index")
            return PlayS2(action["seat"], action["index"])
        case "add":
            only(action, "type", "seat", "index", "card")
            return Add(action["seat"], action["index"], action["card"])
        case "take_joker":
            only(action, "type", "seat", "index", "card")
            return TakeJoker(action["seat"], action["index"], action["card"])
        case "play_card":
            only(action, "type", "card")
            return PlayCard(action["card"])
        case "pass":
            only(action, "type")
            return Pass()
        case "overplay":
            only(action, "type", "cards")
            return Overplay(tuple(action["cards"]))
        case "kill":
            only(action, "type")
            return Kill()
    raise AssertionError(f"the adapter does not know the action {action['type']!r}")


def match_of_one_hand(seats, hand=0):
    return Match(Options(hands=hand + 1), hand, (0,) * seats, ((0,) * seats,) * hand)


def state_at(given):
    only(given, "n", "hands", "tables", "lead", "graveyard_count")
    seats = given["n"]
    assert len(given["hands"]) == len(given["tables"]) == seats
    for cards in (cards for table in given["tables"] for cards in table):
        assert is_set(set_of(cards)), cards
    layout = Layout(
        hands=tuple(set_of(hand) for hand in given["hands"]),
        known=((),) * seats,
        tables=tuple(table_of(map(set_of, table)) for table in given["tables"]),
        buried=(),
        undealt=given["graveyard_count"],
    )
    turn = rules.new_turn(Phase.LEAD, Seat(given["lead"]))
    return State(match_of_one_hand(seats), layout, turn)


def play(state, steps):
    """Play a script; the state after it and the points of the hand, once it is scored."""
    points = None
    for one in steps:
        only(one, "do", "reject", "expect")
        if "do" in one:
            seat, action = one["do"]
            move = move_of(action)
            assert move in arlington.moves(state, seat)
            state, told = arlington.step(state, ((Seat(seat), move),), NO_DEALS)
            scored = [event.points for event, _ in told if isinstance(event, Scored)]
            points = scored[0] if scored else points
        elif "reject" in one:
            seat, action = one["reject"]
            before, move = state, move_of(action)
            if (seat,) == arlington.to_act(state):
                assert move not in arlington.moves(state, seat)
            with pytest.raises(IllegalMove):
                arlington.step(state, ((Seat(seat), move),), NO_DEALS)
            assert state == before
        else:
            check(one["expect"], state, points, None)
    return state, points


def by_seat(given):
    """Seats and values, of an object or of a list with one for each seat."""
    return given.items() if isinstance(given, dict) else enumerate(given)


def sets_of(table):
    """A table as it compares: the sets in order, the cards of a set in none."""
    return [sorted(cards) for cards in table]


def check(expect, state, points, decisions):
    """Compare what a vector expects with the state after its last step."""
    layout, turn = state.layout, state.turn
    expect = dict(expect)
    if "hands" in expect:
        for seat, cards in by_seat(expect.pop("hands")):
            assert sorted(layout.hands[int(seat)]) == sorted(cards), f"hand of seat {seat}"
    if "tables" in expect:
        for seat, table in by_seat(expect.pop("tables")):
            assert sets_of(layout.tables[int(seat)].sets) == sets_of(table), f"table of {seat}"

    def graveyard():
        return arlington.view(state, None).graveyard

    def graveyard_before_scoring():
        assert turn.phase is Phase.OVER
        return graveyard()

    def active():
        owner, index = turn.active.owner, turn.active.index
        return sorted(layout.tables[owner].sets[index])

    if "active" in expect:
        expect["active"] = sorted(expect["active"])
    observe = {
        "phase": lambda: PHASES[turn.phase],
        "lead": lambda: turn.lead,
        "actor": lambda: turn.to_act,
        "graveyard_count": graveyard,
        "graveyard_count_before_scoring": graveyard_before_scoring,
        "active": active,
        "spectrum": lambda: str(turn.active.spectrum),
        "scores": lambda: list(points),
        "decisions": lambda: decisions,
    }
    compare(expect, observe)


def script(vector):
    only(vector["input"], "state")
    state, points = play(state_at(vector["input"]["state"]), vector["steps"])
    check(vector.get("expect", {}), state, points, None)


def legal_actions(vector):
    only(vector["input"], "state")
    state, _ = play(state_at(vector["input"]["state"]), vector["steps"])
    (seat,) = arlington.to_act(state)
    moves = arlington.moves(state, seat)
    assert len(set(moves.offered)) == len(moves.offered)
    compare(vector["expect"], {"count": moves.count})


def deck_of(given):
    return pack(jokers=2) if given["deck"] == "canonical" else tuple(given["deck"])


def dealt(given):
    seats, dealer, deck = given["n"], given["dealer"], deck_of(given)
    return rules.deal_hand(match_of_one_hand(seats, dealer), Loaded({(dealer, "deck"): deck}))


def deal(vector):
    only(vector["input"], "n", "dealer", "deck")
    state, told = dealt(vector["input"])
    hands, expect = state.layout.hands, dict(vector["expect"])
    deck = deck_of(vector["input"])
    for seat, card in by_seat(expect.pop("first_cards", {})):
        assert next(each for each in deck if each in hands[int(seat)]) == card
    for event, seats in told[1:]:
        assert (event.cards, seats) == (hands[event.seat], (event.seat,))
    (hand_size,) = {len(hand) for hand in hands}
    observe = {
        **{f"hand{seat}": lambda hand=hand: list(hand) for seat, hand in enumerate(hands)},
        "hand_size": lambda: hand_size,
        "graveyard_count": lambda: arlington.view(state, None).graveyard,
        "lead": lambda: state.turn.lead,
    }
    compare(expect, observe)


def game_end(vector):
    given = vector["input"]
    only(given, "totals_before", "hand_scores")
    before, points = given["totals_before"], given["hand_scores"]
    totals = [had + won for had, won in zip(before, points, strict=True)]
    over = rules.match_is_over(Options(), 2, totals)
    firsts = [seat for seat, place in enumerate(places_of(totals)) if place == 1]
    observe = {
        "totals": lambda: totals,
        "over": lambda: over,
        "winners": lambda: firsts if over else [],
    }
    compare(vector["expect"], observe)


def view(vector):
    given = vector["input"]
    only(given, "state", "seat")
    state, _ = play(state_at(given["state"]), vector["steps"])
    seen = arlington.view(state, given["seat"])
    piles = [*seen.known, *(cards for table in seen.tables for cards in table.sets)]
    shown = {*seen.held, *seen.trick_cards, *seen.buried, *(c for pile in piles for c in pile)}
    expect = dict(vector["expect"])
    assert shown == set(expect.pop("visible"))
    assert not shown & set(expect.pop("hidden"))
    observe = {
        "hand_sizes": lambda: list(seen.hand_sizes),
        "graveyard_count": lambda: seen.graveyard,
    }
    compare(expect, observe)


def replay(vector):
    only(vector["input"], "n", "dealer", "deck")
    state, _ = dealt(vector["input"])
    state, points = play(state, vector["steps"])
    check(vector["expect"], state, points, len(vector["steps"]))


def set_spectra(vector):
    only(vector["input"], "cards")
    found = spectra_of(set_of(vector["input"]["cards"]))
    compare(vector["expect"], {"spectra": lambda: [str(spectrum) for spectrum in found]})


def set_compare(vector):
    given = vector["input"]
    only(given, "spectrum", "a", "b")
    a, b = (strength_of(set_of(given[which]), Spectrum(given["spectrum"])) for which in "ab")
    assert a is not None
    assert b is not None
    result = "higher" if a > b else "lower" if a < b else "equal"
    compare(vector["expect"], {"result": lambda: result})


def set_score(vector):
    only(vector["input"], "cards")
    points = points_of(set_of(vector["input"]["cards"]))
    compare(vector["expect"], {"points": lambda: points})


KINDS = {
    "set_spectra": set_spectra,
    "set_compare": set_compare,
    "set_score": set_score,
    "script": script,
    "legal_actions": legal_actions,
    "deal": deal,
    "game_end": game_end,
    "view": view,
    "replay": replay,
}
