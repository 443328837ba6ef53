"""Vectors of the four Abstracs."""

import pytest

from arena.games.abstrac import messages, rules, scoring
from arena.games.abstrac import rules as abstrac
from arena.games.abstrac.messages import Choose, Options, Order, Take
from arena.games.abstrac.rules import Row, State
from arena.games.cards import pack
from arena.games.contract import IllegalMove, Seat, places_of
from arena.testing.deals import StackedDeals
from tests.vector_adapters.deals import compare, only

GAMES = ("abstrac",)


def state_at(variant, row, previous=None, *, first=0):
    """A state in the middle of a deal, with `first` to take from `row`."""
    one = Row(tuple(row), ((), ()), Seat(first), Seat(first), previous or 0)
    return State(Options(hands=0, variant=variant), 0, 1, one, (), (0, 0), (), (0, 0))


def combo_points(vector):
    only(vector["input"], "cards")
    points = scoring.combination_points(vector["input"]["cards"])
    compare(vector["expect"], {"points": lambda: points})


def deal_result(vector):
    only(vector["input"], "first", "second")
    scores = scoring.deal_points(vector["input"]["first"], vector["input"]["second"])
    compare(vector["expect"], {"scores": lambda: list(scores)})


def max_take(vector):
    given = vector["input"]
    only(given, "variant", "row", "previous_take")
    state = state_at(given["variant"], given["row"], given["previous_take"])
    counts = [move.count for move in abstrac.moves(state, Seat(0))]
    observe = {
        "min": lambda: min(counts, default=None),
        "max": lambda: max(counts, default=None),
    }
    compare(vector["expect"], observe)


def row_script(vector):
    given = vector["input"]
    only(given, "variant", "row", "takes")
    deals = StackedDeals({(1, "deck"): pack("9TJQKA")})
    state, illegal_at, points = state_at(given["variant"], given["row"]), None, None
    for at, count in enumerate(given["takes"]):
        seat = abstrac.to_act(state)[0]
        try:
            state, told = abstrac.step(state, ((seat, Take(count)),), deals)
        except IllegalMove:
            illegal_at = at
            break
        for event, _ in told:
            if isinstance(event, messages.Scored):
                points = event.points
    observe = {
        "illegal_at": lambda: illegal_at,
        "scores": lambda: points,  # seat 0 took first; None before the end
        "remaining": lambda: len(state.row.cards),
        "next_max": lambda: abstrac.moves(state, abstrac.to_act(state)[0]).count(),
    }
    compare(vector["expect"], observe)


def half52(vector):
    only(vector["input"], "cards")
    cards = vector["input"]["cards"]
    observe = {
        "factors": lambda: list(scoring.half_factors(cards)),
        "score": lambda: scoring.half_points(cards),
    }
    compare(vector["expect"], observe)


def game52(vector):
    """Given the points of two halves, plays the glue between them for real."""
    given = vector["input"]
    only(given, "half1", "half2")
    only(given["half1"], "first_seat", "scores_by_order")
    only(given["half2"], "scores_by_order")
    options = Options(hands=0, variant="fiftytwo", target=1)
    first = Seat(given["half1"]["first_seat"])
    one = Row((), ((), ()), first, Seat(1 - first), 1)
    state = State(options, 0, 1, one, pack()[:26], (0, 0), (), (0, 0))
    half1 = by_seat(first, given["half1"]["scores_by_order"])
    second, _told = rules._second_half(state, half1)
    first2 = abstrac.to_act(second)[0]
    half2 = by_seat(first2, given["half2"]["scores_by_order"])
    totals = rules._added(second.half_points, half2)
    places = places_of(totals)
    observe = {
        "first_seat_half2": lambda: first2,
        "totals": lambda: list(totals),
        "winners": lambda: [seat for seat in (0, 1) if places[seat] == 1],
    }
    compare(vector["expect"], observe)


def by_seat(first, scores_by_order):
    scores = (scores_by_order[0], scores_by_order[1])
    return scores if first == 0 else scores[::-1]


def choose(vector):
    given = vector["input"]
    only(given, "dealer", "choice")
    hand = given["dealer"]  # seat 0 deals the first hand, seat 1 the second
    deals = StackedDeals({(hand, "deck"): pack("9TJQKA")})
    state, _ = rules._deal(Options(), hand, ((0, 0),) * hand, (0, 0), deals)
    chooser = abstrac.to_act(state)[0]
    with pytest.raises(IllegalMove):
        abstrac.step(state, ((Seat(1 - chooser), Choose(Order.FIRST)),), deals)
    chosen = Choose(Order(given["choice"]))
    state, _ = abstrac.step(state, ((chooser, chosen),), deals)
    observe = {"chooser": lambda: chooser, "first_seat": lambda: abstrac.to_act(state)[0]}
    compare(vector["expect"], observe)


def view(vector):
    """What can be seen of a row in the middle, or at the beginning of a half."""
    given = vector["input"]
    only(given, "variant", "row", "takes", "seat", "half")
    deals = StackedDeals({(0, "deck"): pack()})
    if "row" in given:
        state = state_at(given["variant"], given["row"])
    else:
        state, _ = abstrac.start(Options(variant=given["variant"]), 2, deals)
    while state.half < given.get("half", 1):
        state, _ = abstrac.step(state, played_by_fallback(state), deals)
    for count in given.get("takes", ()):
        state, _ = abstrac.step(state, ((abstrac.to_act(state)[0], Take(count)),), deals)
    seen = abstrac.view(state, given["seat"])
    visible = len(seen.row) + sum(len(heap) for heap in seen.taken)
    observe = {"visible_count": lambda: visible, "hidden_count": lambda: seen.undealt}
    compare(vector["expect"], observe)


def played_by_fallback(state):
    (seat,) = abstrac.to_act(state)
    return ((seat, abstrac.fallback(state, seat)),)


def hidden(state, seat):
    """Only the order of the second half of the 52-card game is hidden."""
    return state.undealt


KINDS = {
    "combo_points": combo_points,
    "deal_result": deal_result,
    "max_take": max_take,
    "row_script": row_script,
    "half52": half52,
    "game52": game52,
    "choose": choose,
    "view": view,
}
