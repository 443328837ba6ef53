"""States of Oklahoma Rummy that a seat cannot tell from the real one."""

from collections.abc import Callable

from arena.cards import in_order, without
from arena.games.contract import Seat
from arena.games.oklahoma_rummy.messages import View
from arena.games.oklahoma_rummy.options import Options
from arena.games.oklahoma_rummy.rules import DECK
from arena.games.oklahoma_rummy.state import Deal, Match, Piles, State
from arena.games.possible_cards import hands_of


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view, all such deals being equally likely.

    A view does not tell which discards went into a rebuilt stock; they are drawn with the other cards.
    """
    seats = range(len(view.totals))
    sure = [view.held if each == seat else view.known[each] for each in seats]
    melded = [card for table in view.tables for meld in table.melds for card in meld.cards]
    unseen = without(DECK, [*melded, *view.pile, *[card for cards in sure for card in cards]])
    hidden = [view.hand_sizes[each] - len(sure[each]) for each in seats]
    *drawn, stock = hands_of(unseen, [*hidden, view.stock], below)
    deal = Deal(
        view.phase,
        seat if view.to_act is None else view.to_act,
        tuple([in_order((*sure[each], *drawn[each])) for each in seats]),
        view.known,
        view.tables,
        Piles(stock, view.pile, view.rebuilds),
        view.drawn,
    )
    scores = ((0,) * len(seats),) * view.hand
    return State(Match(options, view.hand, view.totals, scores), deal)
