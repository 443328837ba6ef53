"""Vectors of Chinese Poker."""

import pytest

from arena.cards import PACK_52
from arena.games import chinese_poker
from arena.games.chinese.hands import SURRENDERED, is_foul, settle, strengths
from arena.games.chinese.naturals import best_natural, natural_of
from arena.games.chinese_poker import rules
from arena.games.chinese_poker.state import Match
from arena.games.chinese_poker.words import DECLARE_NATURAL, PLAY, SURRENDER, Phase, Scored, Set
from arena.games.contract import IllegalMove, Seat
from arena.testing.deals import Loaded
from tests.vector_adapters.deals import compare, only

GAMES = ("chinese_poker",)

ACTIONS = {"declare_natural": DECLARE_NATURAL, "play": PLAY, "surrender": SURRENDER}
PHASES = {Phase.SET: "set", Phase.SURRENDER: "surrender", Phase.OVER: "done"}


def rows_of(given):
    return strengths(given["front"], given["middle"], given["back"])


def set_legality(vector):
    only(vector["input"], "front", "middle", "back")
    rows = rows_of(vector["input"])
    compare(vector["expect"], {"foul": lambda: is_foul(rows)})


def natural(vector):
    only(vector["input"], "cards")
    found = natural_of(vector["input"]["cards"])
    compare(vector["expect"], {"natural": lambda: found})


def standing_of(player):
    match player["kind"]:
        case "set":
            only(player, "kind", "front", "middle", "back")
            return rows_of(player)
        case "natural":
            only(player, "kind", "cards")
            standing = best_natural(player["cards"])
            assert standing is not None, "no natural was found"
            return standing
        case "surrender":
            only(player, "kind")
            return SURRENDERED
        case kind:
            pytest.fail(f"the adapter does not know the player kind {kind!r}")


def settle_vector(vector):
    only(vector["input"], "players")
    net = settle([standing_of(player) for player in vector["input"]["players"]])
    compare(vector["expect"], {"net_units": lambda: list(net)})


class Table:
    """One hand on a prepared deck, with the choices held as a referee holds them."""

    def __init__(self, given):
        only(given, "seats", "dealer", "deck")
        seats, dealer = given["seats"], given["dealer"]
        deck = tuple(given["deck"])
        # Two seats use 26 cards; the vector leaves out the rest of the pack.
        deck += tuple(card for card in PACK_52 if card not in deck)
        self.deals = Loaded({(dealer, "deck"): deck})
        everybody = tuple(Seat(seat) for seat in range(seats))
        nothing = ((0,) * seats,) * dealer
        # Seat d deals hand d, here the last of the match.
        match = Match(everybody, dealer + 1, dealer, nothing, (0,) * seats)
        self.state, _ = rules.deal_hand(match, self.deals)
        assert chinese_poker.view(self.state, None).dealer == dealer
        self.held = {}
        self.scored = None

    def to_act(self):
        return [seat for seat in chinese_poker.to_act(self.state) if seat not in self.held]

    def do(self, seat, action):
        assert seat in self.to_act(), f"seat {seat} is not to act"
        move = move_of(action)
        assert move in chinese_poker.moves(self.state, Seat(seat))
        self.held[seat] = move
        if self.to_act():
            return
        chosen = tuple(sorted(self.held.items()))
        self.state, told = chinese_poker.step(self.state, chosen, self.deals)
        self.held = {}
        for event, _ in told:
            if isinstance(event, Scored):
                self.scored = event

    def reject(self, seat, action):
        asked = chinese_poker.to_act(self.state)
        if seat in self.held:
            return  # a choice is final: the referee takes no second answer
        move, before = move_of(action), self.state
        choices = {each: chinese_poker.fallback(before, each) for each in asked} | {seat: move}
        if seat in asked:
            assert move not in chinese_poker.moves(before, Seat(seat))
        with pytest.raises(IllegalMove):
            chinese_poker.step(before, tuple(sorted(choices.items())), self.deals)

    def compare(self, expected):
        observe = {
            "phase": lambda: PHASES[chinese_poker.view(self.state, None).phase],
            "to_act": self.to_act,
            "net_units": lambda: list(self.scored.units),
        }
        compare(expected, observe)


def move_of(action):
    if action["type"] == "set":
        only(action, "type", "front", "middle", "back")
        return Set(tuple(action["front"]), tuple(action["middle"]), tuple(action["back"]))
    only(action, "type")
    assert action["type"] in ACTIONS, f"the adapter does not know the action {action['type']!r}"
    return ACTIONS[action["type"]]


def script(vector):
    table = Table(vector["input"])
    for one in vector["steps"]:
        only(one, "do", "reject", "expect")
        assert len(one) == 1, "a step is one thing"
        if "do" in one:
            table.do(*one["do"])
        elif "reject" in one:
            table.reject(*one["reject"])
        else:
            table.compare(one["expect"])
    table.compare(vector.get("expect", {}))


KINDS = {
    "set_legality": set_legality,
    "natural": natural,
    "settle": settle_vector,
    "script": script,
}
