"""Vectors of the three Pineapples."""

from arena.games import pineapple
from arena.games.betting.pots import Pot
from arena.games.betting.rounds import clockwise
from arena.games.pineapple import rules, words
from arena.games.pineapple.options import Options
from arena.games.pineapple.showdown import award
from arena.games.pineapple.stakes import first_match
from arena.games.pineapple.words import Discard
from tests.vector_adapters.deals import compare, only
from tests.vector_adapters.poker_table import PokerTable, betting_move

VARIANTS = {
    "pineapple": "pineapple",
    "crazy_pineapple": "crazy",
    "crazy_pineapple_hi_lo": "crazy_hilo",
}
GAMES = tuple(VARIANTS)
SETTINGS = (
    "structure",
    "ante",
    "small_blind",
    "big_blind",
    "small_bet",
    "big_bet",
    "max_raises",
)


class Table(PokerTable):
    betting = (words.Phase.BET,)

    def __init__(self, vector):
        given = vector["input"]
        only(given, "config", "dealer", "stacks", "cards", "deck")
        only(given["config"], *SETTINGS)
        super().__init__(
            pineapple, words, Options(**given["config"], variant=VARIANTS[vector["game"]]), given
        )
        for seat, cards in given.get("cards", {}).items():
            if seat == "board":
                board = self.state.hand.deal.runout
                assert (
                    given["deck"][len(self.state.hand.deal.holes) * 3 :] == []
                    or list(board) == cards
                )
            else:
                assert list(self.state.hand.deal.holes[int(seat)]) == cards

    def begin(self, options, deals):
        stakes, _ = first_match(options, len(self.match.stacks))
        return rules.begin_hand(stakes, self.match, deals)

    def move_of(self, action):
        move = betting_move(action)
        if move is None:
            only(action, "type", "card")
            assert action["type"] == "discard", f"the adapter does not know {action['type']!r}"
            move = Discard(action["card"])
        return move

    def more_of(self, pot):
        return {"low_winners": sorted(pot.low_winners) or None}


def showdown(vector):
    given = vector["input"]
    only(given, "dealer", "seats", "pots", "hole", "board")
    holes = [given["hole"].get(str(seat), []) for seat in range(given["seats"])]
    pots = []
    for pot in given["pots"]:
        only(pot, "amount", "eligible")
        pots.append(Pot(pot["amount"], tuple(pot["eligible"])))
    shown = tuple(sorted(map(int, given["hole"])))
    with_low = VARIANTS[vector["game"]] == "crazy_hilo"
    order = clockwise(shown, given["dealer"])
    won = award(pots, order, holes, given["board"], with_low=with_low)
    awards = [sum(chips) for chips in zip(*(each.shares for each in won), strict=True)]
    observe = {
        "awards": lambda: awards,
        "low_winners": lambda: [sorted(each.low_winners) or None for each in won],
        "winners": lambda: [sorted(each.winners) for each in won],
    }
    compare(vector["expect"], observe)


KINDS = {"showdown": showdown}
SITTINGS = {"script": Table, "playthrough": Table}
