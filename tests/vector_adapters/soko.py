"""Vectors of Soko."""

from arena.games import poker
from arena.games.betting.moves import BringIn
from arena.games.betting.rounds import clockwise
from arena.games.soko import messages, rules
from arena.games.soko import rules as soko
from arena.games.soko.messages import Options, Phase
from arena.games.soko.rules import first_to_act
from arena.games.soko.state import first_match
from tests.vector_adapters.deals import compare, only
from tests.vector_adapters.poker_table import PokerTable, betting_move

GAMES = ("soko",)


def category(cards):
    return poker.hand_class(poker.soko(cards)).name.lower()


def ranking(vector):
    only(vector["input"], "hands")
    hands = vector["input"]["hands"]
    values = [poker.soko(hand) for hand in hands]
    assert len(set(values)) == len(values), "two of the hands tie"
    order = sorted(range(len(hands)), key=lambda at: -values[at])
    observe = {"order": lambda: order, "categories": lambda: [category(hand) for hand in hands]}
    compare(vector["expect"], observe)


def classify(vector):
    only(vector["input"], "cards")
    compare(vector["expect"], {"category": lambda: category(vector["input"]["cards"])})


def compare_hands(vector):
    only(vector["input"], "a", "b")
    a, b = (poker.soko(vector["input"][name]) for name in "ab")
    winner = "tie" if a == b else "a" if a > b else "b"
    compare(vector["expect"], {"winner": lambda: winner})


def first(vector):
    only(vector["input"], "dealer", "up")
    up = vector["input"]["up"]
    order = clockwise(tuple(range(len(up))), vector["input"]["dealer"])
    compare(vector["expect"], {"seat": lambda: first_to_act(up, order)})


class Table(PokerTable):
    betting = (Phase.BRING_IN, Phase.BET)

    def __init__(self, vector):
        given = vector["input"]
        only(given, "config", "dealer", "stacks", "cards", "deck")
        only(given["config"], "structure", "ante", "min_bet", "max_bet", "max_raises")
        super().__init__(soko, messages, Options(**given["config"]), given)
        self.cards = given.get("cards", {})

    def begin(self, options, deals):
        stakes, _ = first_match(options, len(self.match.stacks))
        return rules.begin_hand(stakes, self.match, deals)

    def move_of(self, action):
        move = betting_move(action)
        if move is None:
            only(action, "type", "amount")
            assert action["type"] == "bring_in", f"the adapter does not know {action['type']!r}"
            move = BringIn(action["amount"])
        return move

    def wagers(self):
        return {**super().wagers(), "bring_in": BringIn}

    def legal(self):
        found = super().legal()
        if found is None:
            return None
        if self.state.phase is Phase.BRING_IN:
            assert not any((found["fold"], found["check"], found["call"]))
            assert not any((found["bet"], found["raise"]))
            return {"bring_in": found["bring_in"]}
        assert found.pop("bring_in") is None
        return found

    def observe(self):
        for seat, cards in self.cards.items():
            held = [
                self.state.hand.deal.holes[int(seat)],
                *self.state.hand.deal.upcards[int(seat)],
            ]
            assert held == cards[: len(held)]
        return super().observe()


def hidden(state, seat):
    """Other hole cards, and the stock."""
    if state.phase == "over":
        return ()
    holes = [card for at, card in enumerate(state.hand.deal.holes) if card and at != seat]
    return (*holes, *state.hand.deal.stock)


KINDS = {
    "ranking": ranking,
    "classify": classify,
    "compare": compare_hands,
    "first_to_act": first,
}
SITTINGS = {"script": Table, "playthrough": Table}
