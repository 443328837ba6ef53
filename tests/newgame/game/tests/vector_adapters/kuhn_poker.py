"""Vectors of Kuhn Poker, and what is hidden in it."""

from arena.games.kuhn_poker import rules
from arena.games.kuhn_poker.messages import Scored, Shown
from arena.games.kuhn_poker.rules import PACK, State
from arena.testing.deals import UnshuffledDeals
from tests.vector_adapters.deals import compare, only

GAMES = ("kuhn_poker",)


def hand(vector):
    given, events = vector["input"], []
    only(given, "dealer", "cards", "bets")
    before = ((0, 0),) * given["dealer"]
    state = State(given["dealer"] + 1, tuple(given["cards"]), (), before)
    for bet in given["bets"]:
        (seat,) = rules.to_act(state)
        move = rules.moves(state, seat).all[bet]
        state, sent = rules.step(state, ((seat, move),), UnshuffledDeals())
        events += [each.event for each in sent]
    observe = {
        "gained": lambda: next(each.gained for each in events if isinstance(each, Scored)),
        "shown": lambda: any(isinstance(each, Shown) for each in events),
    }
    compare(vector["expect"], observe)


def hidden(state, seat):
    """The other card, unless it was shown, and the card that nobody has."""
    if state.over and state.bets[-1] == state.bets[-2]:
        return ()
    return [card for card in PACK if seat is None or card != state.cards[seat]]


KINDS = {"hand": hand}
