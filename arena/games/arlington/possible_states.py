"""States of Arlington that a seat cannot tell from the real one."""

from collections.abc import Callable

from arena.games.arlington.layout import Layout
from arena.games.arlington.messages import Options, View
from arena.games.arlington.rules import Match, State, Turn
from arena.games.arlington.sets import JOKERS
from arena.games.cards import hands_of, in_order, pack, without
from arena.games.contract import Seat


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view, all such deals being equally likely."""
    seats = range(len(view.totals))
    sure = [view.held if owner == seat else view.known[owner] for owner in seats]
    placed = [card for table in view.tables for cards in table.sets for card in cards]
    seen = [*placed, *view.trick_cards, *view.buried, *[card for cards in sure for card in cards]]
    hidden = [view.hand_sizes[owner] - len(sure[owner]) for owner in seats]
    undealt = view.graveyard - len(view.buried)
    drawn = hands_of(without(pack(jokers=JOKERS), seen), [*hidden, undealt], below)
    hands = tuple([in_order((*sure[owner], *drawn[owner])) for owner in seats])
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
