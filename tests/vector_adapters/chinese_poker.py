"""Vectors of Chinese Poker."""

import pytest

from arena.games.cards import PACK_52
from arena.games.chinese.hands import SURRENDERED, is_foul, pair_units, settle_pairs, strengths
from arena.games.chinese.naturals import best_natural, natural_of
from arena.games.chinese.unit_values import unit_values
from arena.games.chinese_poker import rules
from arena.games.chinese_poker import rules as chinese_poker
from arena.games.chinese_poker.messages import DECLARE_NATURAL, PLAY, SURRENDER, Phase, Scored, Set
from arena.games.chinese_poker.rules import Match
from arena.games.contract import Seat
from arena.testing.deals import StackedDeals
from tests.vector_adapters.deals import compare, only, others, seats
from tests.vector_adapters.steps import Hand

GAMES = ("chinese_poker",)

ACTIONS = {"declare_natural": DECLARE_NATURAL, "play": PLAY, "surrender": SURRENDER}
PHASES = {Phase.SET: "set", Phase.SURRENDER: "surrender", Phase.OVER: "done"}


LIKE = {"to_act": seats}


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
    only(vector["input"], "players", "unit_values")
    players = vector["input"]["players"]
    values = unit_values(vector["input"].get("unit_values", ""), len(players))
    net = settle_pairs([standing_of(player) for player in players], pair_units, values)
    compare(vector["expect"], {"net_units": lambda: net})


class Table(Hand):
    """One hand on a prepared deck."""

    like = LIKE
    scored_by = Scored

    def __init__(self, vector):
        given = vector["input"]
        only(given, "seats", "dealer", "deck", "unit_values")
        number, dealer = given["seats"], given["dealer"]
        deck = tuple(given["deck"])
        # Two seats use 26 cards; the vector leaves out the rest of the pack.
        deck += tuple(card for card in PACK_52 if card not in deck)
        deals = StackedDeals({(dealer, "deck"): deck})
        everybody = tuple(Seat(seat) for seat in range(number))
        nothing = ((0,) * number,) * dealer
        # Seat d deals hand d, here the last of the match.
        values = unit_values(given.get("unit_values", ""), number)
        match = Match(everybody, dealer + 1, values, dealer, nothing, (0,) * number)
        super().__init__(chinese_poker, rules.deal_hand(match, deals).state, deals)
        assert chinese_poker.view(self.state, None).dealer == dealer

    def move_of(self, action):
        return move_of(action)

    def observe(self):
        return {
            "phase": lambda: PHASES[chinese_poker.view(self.state, None).phase],
            "to_act": self.actors,
            "net_units": lambda: None if self.scored is None else self.scored.units,
        }


def move_of(action):
    if action["type"] == "set":
        only(action, "type", "front", "middle", "back")
        return Set(tuple(action["front"]), tuple(action["middle"]), tuple(action["back"]))
    only(action, "type")
    assert action["type"] in ACTIONS, f"the adapter does not know the action {action['type']!r}"
    return ACTIONS[action["type"]]


def hidden(state, seat):
    """Other hands, but for naturals that were shown."""
    hands = list(state.deal.hands)
    if state.committed is not None:
        for shown in state.committed.naturals:
            hands[shown.seat] = ()
    return others(hands, seat)


def is_secret(move):
    """Settings are shown together when all have been made."""
    return isinstance(move, Set)


KINDS = {
    "set_legality": set_legality,
    "natural": natural,
    "settle": settle_vector,
}
SITTINGS = {"script": Table}
