"""Vectors of Jam."""

from arena.games.contract import Seat
from arena.games.jam import rules, scoring
from arena.games.jam import rules as jam
from arena.games.jam.messages import Discard, Draw, Options, Phase, Play, Scored, Source
from arena.games.jam.rules import Deal, Match, Side, State
from arena.games.options import match_is_over
from arena.testing.deals import StackedDeals
from tests.vector_adapters.deals import Hidden, compare, only, seats, unordered
from tests.vector_adapters.steps import Hand

GAMES = ("jam",)

SOURCES = {"stock": Source.STOCK, "discard": Source.DISCARDS}
PHASES = {
    Phase.LEAD: "lead",
    Phase.FOLLOW: "follow",
    Phase.DRAW: "draw",
    Phase.DISCARD: "discard",
    Phase.OVER: "done",
}
LIKE = {"actor": seats, "hands": unordered, "visible": unordered}


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
    """The last deal of its match, so that nothing is dealt over it when it is done."""
    only(given, "hands", "stocks", "discards", "leader", "winners")
    sides = [
        Side(tuple(hand), tuple(stock), tuple(discards), (), ())
        for hand, stock, discards in zip(
            given["hands"], given["stocks"], given["discards"], strict=True
        )
    ]
    winners = tuple(Seat(int(winner)) for winner in given["winners"])
    deal = Deal((sides[0], sides[1]), Phase.LEAD, Seat(given["leader"]), None, 0, winners)
    return State(Match(Options(hands=1), 0, 0, (0, 0), (0, 0), 0, ()), deal)


class Table(Hand):
    """One deal, from its beginning or in the middle."""

    like = LIKE
    scored_by = Scored

    def __init__(self, state, deals, seat=None):
        super().__init__(jam, state, deals, seat)

    @classmethod
    def of_state(cls, vector):
        given = vector["input"]
        only(given, "state", "seat")
        return cls(state_at(given["state"]), StackedDeals({}), given.get("seat"))

    @classmethod
    def of_piles(cls, vector):
        given = vector["input"]
        only(given, "dealer", "piles")
        dealer = given["dealer"]
        orders = {
            (dealer, "black"): given["piles"][dealer],
            (dealer, "red"): given["piles"][1 - dealer],
        }
        nothing = ((0, 0),) * dealer
        match = Match(Options(hands=dealer + 1), dealer, 0, (0, 0), (0, 0), 0, nothing)
        deals = StackedDeals(orders)
        return cls(rules.deal_hand(match, deals).state, deals)

    def move_of(self, action):
        return move_of(action)

    def observe(self):
        sides, deal = self.state.deal.sides, self.state.deal
        seen = jam.view(self.state, self.seat)
        piles = (*seen.discards, *seen.played)
        shown = {*seen.held, *(card for pile in piles for card in pile)}
        return {
            "phase": lambda: PHASES[deal.phase],
            "actor": self.actors,
            "winners": lambda: "".join(map(str, deal.winners)),
            "hands": lambda: [side.hand for side in sides],
            "stocks": lambda: [side.stock for side in sides],
            "discards": lambda: [side.discards for side in sides],
            "points": lambda: self.scored and self.scored.points,
            "decisions": lambda: self.decisions,
            "visible": lambda: list(shown),
            "hidden": Hidden(lambda: shown),
            "stock_sizes": lambda: seen.stock_sizes,
            "hand_sizes": lambda: seen.hand_sizes,
        }


def trick(vector):
    only(vector["input"], "lead", "follow")
    wins = rules.follower_wins(vector["input"]["lead"], vector["input"]["follow"])
    compare(vector["expect"], {"winner": lambda: "follower" if wins else "leader"})


def deal_points(vector):
    only(vector["input"], "winners")
    winners = [int(winner) for winner in vector["input"]["winners"]]
    points = [scoring.claim_points(scoring.best_claim(winners, seat)) for seat in (0, 1)]
    compare(vector["expect"], {"points": lambda: points})


def winner_of(totals):
    """The seat with more points; None if it is drawn (after the most deals of a rubber)."""
    return None if totals[0] == totals[1] else totals.index(max(totals))


def rubber(vector):
    only(vector["input"], "deal_points")
    totals, over = (0, 0), False
    for number, points in enumerate(vector["input"]["deal_points"], 1):
        assert not over, "the rubber was over before its last deal"
        totals = (totals[0] + points[0], totals[1] + points[1])
        over = match_is_over(Options(), number, totals)
    observe = {
        "totals": lambda: list(totals),
        "over": lambda: over,
        "winner": lambda: winner_of(totals) if over else None,
    }
    compare(vector["expect"], observe)


def hidden(state, seat):
    """The other hand, but for cards drawn from discards, and the order of both stocks."""
    for at, side in enumerate(state.deal.sides):
        yield from side.stock
        if at != seat:
            yield from set(side.hand) - set(side.known)


KINDS = {
    "trick": trick,
    "deal_points": deal_points,
    "rubber": rubber,
}
SITTINGS = {"script": Table.of_state, "view": Table.of_state, "replay": Table.of_piles}
