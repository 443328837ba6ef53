"""States of Jam that a seat cannot tell from the real one."""

from collections.abc import Callable

from arena.games.cards import hands_of, in_order
from arena.games.contract import Seat
from arena.games.jam.messages import Options, View
from arena.games.jam.rules import BLACK, RED, Deal, Match, Side, State
from arena.games.two_seats import SEATS


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view, all such deals being equally likely.

    A view does not show how many hands of the rubber were played; the state has none.
    """
    assert view.to_act is not None
    sides = tuple(_side(view, owner, seat, below) for owner in SEATS)
    deal = Deal(
        (sides[0], sides[1]),
        view.phase,
        view.to_act,
        view.led,
        view.draws_left,
        tuple(map(Seat, view.winners)),
    )
    (a, b), (one, other) = view.totals, view.rubbers
    match = Match(options, view.hand, 0, (a, b), (one, other), one + other, ((0, 0),) * view.hand)
    return State(match, deal)


def _side(view: View, of: Seat, seat: Seat, below: Callable[[int], int]) -> Side:
    held = view.held if of == seat else view.known[of]
    pack = BLACK if of == view.dealer else RED
    unseen = set(pack).difference(held, view.discards[of], view.played[of])
    hidden = view.hand_sizes[of] - len(held)
    drawn, stock = hands_of(unseen, (hidden, view.stock_sizes[of]), below)
    hand = in_order((*held, *drawn))
    return Side(hand, stock, view.discards[of], view.played[of], view.known[of])
