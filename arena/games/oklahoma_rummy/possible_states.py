"""States of Oklahoma Rummy that a seat cannot tell from the real one."""

from collections.abc import Callable

from arena.games.cards import hands_of, in_order, without
from arena.games.contract import Seat
from arena.games.oklahoma_rummy.messages import Options, View
from arena.games.oklahoma_rummy.rules import DECK, Deal, Match, Piles, State


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view, all such deals being equally likely.

    A view does not show which discards went into a rebuilt stock; they are drawn with the other cards.
    """
    seats = range(len(view.totals))
    sure = [view.held if owner == seat else view.known[owner] for owner in seats]
    melded = [card for table in view.tables for meld in table.melds for card in meld.cards]
    unseen = without(DECK, [*melded, *view.pile, *[card for cards in sure for card in cards]])
    hidden = [view.hand_sizes[owner] - len(sure[owner]) for owner in seats]
    *drawn, stock = hands_of(unseen, [*hidden, view.stock], below)
    deal = Deal(
        view.phase,
        seat if view.to_act is None else view.to_act,
        tuple([in_order((*sure[owner], *drawn[owner])) for owner in seats]),
        view.known,
        view.tables,
        Piles(stock, view.pile, view.rebuilds),
        view.drawn,
    )
    scores = ((0,) * len(seats),) * view.hand
    return State(Match(options, view.hand, view.totals, scores), deal)
