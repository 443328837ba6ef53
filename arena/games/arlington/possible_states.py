"""States of Arlington that a seat cannot tell from the real one."""

from collections.abc import Callable

from arena.cards import in_order, pack, without
from arena.games.arlington.layout import Layout
from arena.games.arlington.messages import View
from arena.games.arlington.options import Options
from arena.games.arlington.sets import JOKERS
from arena.games.arlington.state import Match, State, Turn
from arena.games.contract import Seat
from arena.games.possible_cards import hands_of


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view, all such deals being equally likely."""
    seats = range(len(view.totals))
    sure = [view.held if each == seat else view.known[each] for each in seats]
    placed = [card for table in view.tables for cards in table.sets for card in cards]
    seen = [*placed, *view.trick_cards, *view.buried, *[card for cards in sure for card in cards]]
    hidden = [view.hand_sizes[each] - len(sure[each]) for each in seats]
    undealt = view.graveyard - len(view.buried)
    drawn = hands_of(without(pack(jokers=JOKERS), seen), [*hidden, undealt], below)
    hands = tuple([in_order((*sure[each], *drawn[each])) for each in seats])
    layout = Layout(hands, view.known, view.tables, view.buried, undealt)
    turn = Turn(
        view.phase,
        view.lead,
        seat if view.to_act is None else view.to_act,
        view.trick_seats,
        view.trick_cards,
        view.active,
    )
    scores = ((0,) * len(seats),) * view.hand
    return State(Match(options, view.hand, view.totals, scores), layout, turn)
