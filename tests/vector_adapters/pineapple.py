"""Vectors of the three Pineapples."""

from arena.games.betting.match import HandEnded
from arena.games.betting.pots import Pot
from arena.games.betting.rounds import clockwise
from arena.games.cards import PACK_52
from arena.games.catalogue import game_by_id
from arena.games.pineapple import messages, rules
from arena.games.pineapple import rules as pineapple
from arena.games.pineapple.messages import Discard, Options
from arena.games.pineapple.rules import award
from arena.games.pineapple.state import BOARD, first_match
from arena.testing.deals import StackedDeals
from tests.vector_adapters.deals import compare, only, others
from tests.vector_adapters.poker_table import PokerTable, betting_move
from tests.vector_adapters.steps import Sitting

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
    betting = (messages.Phase.BET,)

    def __init__(self, vector):
        given = vector["input"]
        only(given, "config", "dealer", "stacks", "cards", "deck")
        only(given["config"], *SETTINGS)
        super().__init__(
            pineapple, messages, Options(**given["config"], variant=VARIANTS[vector["game"]]), given
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


class SeveralHands(Table):
    """A match from its first hand."""

    def __init__(self, vector):
        given = vector["input"]
        only(given, "config", "seats", "decks")
        only(given["config"], "structure", "format", "stacks", "hands")
        decks = {
            (hand, "deck"): (*deck, *(card for card in PACK_52 if card not in deck))
            for hand, deck in enumerate(given["decks"])
        }
        deals = StackedDeals(decks)
        options = game_by_id(vector["game"]).options(given["config"], given["seats"])
        state, _ = pineapple.start(options, given["seats"], deals)
        Sitting.__init__(self, pineapple, state, deals)
        self.words, self.told, self.match = messages, [], state.hand.match

    def observe(self):
        seen = pineapple.view(self.state, None)
        chips = seen.chips
        return {
            **super().observe(),
            "stacks": lambda: list(
                map(sum, zip(chips.stacks, chips.bets, chips.paid, strict=True))
            ),
            "dealer": lambda: seen.dealer,
            "totals": lambda: seen.totals,
            "hand_scores": lambda: [event.nets for event in self.events(HandEnded)],
        }


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


def hidden(state, seat):
    """Other hole cards and discards, for ever, and the board that is still to come."""
    if state.phase == "over":
        return ()
    deal = state.hand.deal
    given_up = [card for at, card in enumerate(deal.given_up) if card and at != seat]
    return (*others(deal.holes, seat), *given_up, *deal.runout[BOARD[state.street] :])


def is_secret(move):
    """Discards are never shown to others."""
    return isinstance(move, Discard)


KINDS = {"showdown": showdown}
SITTINGS = {"script": Table, "playthrough": Table, "match": SeveralHands}
