"""Vectors of Jam."""

import pytest

from arena.games import jam
from arena.games.contract import IllegalMove, Seat
from arena.games.jam import rules, scoring
from arena.games.jam.options import Options
from arena.games.jam.state import Deal, Match, Side, State
from arena.games.jam.words import Discard, Draw, Phase, Play, Scored, Source, Won
from arena.testing.deals import Loaded
from tests.vector_adapters.deals import compare, only

GAMES = ("jam",)

SOURCES = {"stock": Source.STOCK, "discard": Source.DISCARDS}
# A deal after the one under test, so that the rules can go on.
NEXT_DEAL = Loaded(
    {
        (hand, label): pack
        for hand in (1, 2)
        for label, pack in (("black", rules.BLACK), ("red", rules.RED))
    }
)


def move_of(action):
    match action["type"]:
        case "play":
            only(action, "type", "card")
            return Play(action["card"])
        case "draw":
            only(action, "type", "source")
            return Draw(SOURCES[action["source"]])
        case "discard":
            only(action, "type", "card")
            return Discard(action["card"])
    raise AssertionError(f"the adapter does not know the action {action['type']!r}")


def state_at(given):
    only(given, "hands", "stocks", "discards", "leader", "winners")
    sides = [
        Side(tuple(hand), tuple(stock), tuple(discards), (), ())
        for hand, stock, discards in zip(
            given["hands"], given["stocks"], given["discards"], strict=True
        )
    ]
    winners = tuple(Seat(int(winner)) for winner in given["winners"])
    deal = Deal((sides[0], sides[1]), Phase.LEAD, Seat(given["leader"]), None, 0, winners)
    return State(Match(Options(), 0, 0, (0, 0), (0, 0), 0, ()), deal)


def play(state, steps):
    """Play a script; the state after it and all that was scored."""
    scored = []
    for one in steps:
        only(one, "do", "reject", "expect")
        if "do" in one:
            seat, action = one["do"]
            state, told = jam.step(state, ((Seat(seat), move_of(action)),), NEXT_DEAL)
            scored += [event for event, _ in told if isinstance(event, Scored)]
        elif "reject" in one:
            seat, action = one["reject"]
            before = state
            with pytest.raises(IllegalMove):
                jam.step(state, ((Seat(seat), move_of(action)),), NEXT_DEAL)
            assert state == before
        else:
            compare(one["expect"], observables(state))
    return state, scored


def observables(state):
    deal = state.deal

    def phase():
        return "done" if state.match.hand_scores else str(deal.phase)

    return {
        "phase": phase,
        "actor": lambda: deal.turn,
        "winners": lambda: "".join(map(str, deal.winners)),
    }


def script(vector):
    only(vector["input"], "state")
    state, _ = play(state_at(vector["input"]["state"]), vector["steps"])
    for name, value in vector["expect"].items():
        if name not in ("hands", "stocks", "discards"):
            compare({name: value}, observables(state))
            continue
        for seat, cards in value.items() if isinstance(value, dict) else enumerate(value):
            side = state.deal.sides[int(seat)]
            if name == "hands":  # a hand has no order
                assert sorted(side.hand) == sorted(cards)
            else:
                assert list({"stocks": side.stock, "discards": side.discards}[name]) == cards


def trick(vector):
    only(vector["input"], "lead", "follow")
    wins = rules.follower_wins(vector["input"]["lead"], vector["input"]["follow"])
    compare(vector["expect"], {"winner": lambda: "follower" if wins else "leader"})


def deal_points(vector):
    only(vector["input"], "winners")
    winners = [int(winner) for winner in vector["input"]["winners"]]
    points = [scoring.claim_points(scoring.best_claim(winners, seat)) for seat in (0, 1)]
    compare(vector["expect"], {"points": lambda: points})


def rubber(vector):
    only(vector["input"], "deal_points")
    totals, over = (0, 0), False
    for number, points in enumerate(vector["input"]["deal_points"], 1):
        assert not over, "the rubber was over before its last deal"
        totals = (totals[0] + points[0], totals[1] + points[1])
        over = scoring.rubber_is_over(Options().target, number, totals)
    observe = {
        "totals": lambda: list(totals),
        "over": lambda: over,
        "winner": lambda: totals.index(max(totals)) if over else None,
    }
    compare(vector["expect"], observe)


def view(vector):
    only(vector["input"], "state", "seat")
    state, _ = play(state_at(vector["input"]["state"]), vector["steps"])
    seen = jam.view(state, Seat(vector["input"]["seat"]))
    shown = {*seen.held, *(card for pile in (*seen.discards, *seen.played) for card in pile)}
    expect = dict(vector["expect"])
    assert shown == set(expect.pop("visible"))
    assert not shown & set(expect.pop("hidden"))
    observe = {
        "stock_sizes": lambda: list(seen.stock_sizes),
        "hand_sizes": lambda: list(seen.hand_sizes),
    }
    compare(expect, observe)


def replay(vector):
    given = vector["input"]
    only(given, "dealer", "piles")
    dealer = given["dealer"]
    orders = {
        (dealer, "black"): given["piles"][dealer],
        (dealer, "red"): given["piles"][1 - dealer],
    }
    match = Match(Options(), dealer, 0, (0, 0), (0, 0), 0, ((0, 0),) * dealer)
    state, _ = rules.deal_hand(match, Loaded(orders))
    tricks = []
    for one in vector["steps"]:
        only(one, "do")
        seat, action = one["do"]
        state, told = jam.step(state, ((Seat(seat), move_of(action)),), NEXT_DEAL)
        tricks += [event.seat for event, _ in told if isinstance(event, Won)]
        points = [event.points for event, _ in told if isinstance(event, Scored)]
    observe = {
        "winners": lambda: "".join(map(str, tricks)),
        "points": lambda: list(points[-1]),
        "decisions": lambda: len(vector["steps"]),
    }
    compare(vector["expect"], observe)


KINDS = {
    "trick": trick,
    "deal_points": deal_points,
    "rubber": rubber,
    "script": script,
    "view": view,
    "replay": replay,
}
