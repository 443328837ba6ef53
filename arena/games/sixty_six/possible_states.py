"""States of Sixty-Six that a seat cannot tell from the real one."""

from collections.abc import Callable

from arena.games.cards import Card, hands_of, in_order
from arena.games.contract import Seat
from arena.games.sixty_six.messages import Options, Phase, View
from arena.games.sixty_six.scoring import PACK_24
from arena.games.sixty_six.state import Deal, Match, Side, State, Stock, before
from arena.games.two_seats import SEATS, by_seat, other


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view, all such deals being equally likely.

    A view of a closed stock has neither the upcard nor the tricks before the closing. The upcard is drawn with the
    other cards, and all tricks of the closer's opponent are taken to be won before the closing.
    """
    opponent = other(seat)
    unseen = set(PACK_24).difference(
        view.held, view.known[opponent], *view.played, [view.upcard or ""]
    )
    hidden = view.hand_sizes[opponent] - len(view.known[opponent])
    is_closed = view.closer is not None
    sizes = (hidden, view.stock, 1 if is_closed else 0)
    drawn, stock, turned = hands_of(unseen, sizes, below)
    held = by_seat(seat, view.held, in_order((*view.known[opponent], *drawn)))
    upcard = turned[0] if is_closed else view.upcard
    closer_lacks = 0 if view.closer is None else view.winners.count(other(view.closer))
    deal = Deal(
        (_side(view, SEATS[0], held[0]), _side(view, SEATS[1], held[1])),
        Stock(stock, upcard, view.closer, closer_lacks),
        view.trump,
        view.phase,
        seat if view.to_act is None else view.to_act,
        view.led,
        view.declared,
        tuple(map(Seat, view.winners)),
    )
    a, b = view.totals
    match = Match(options, view.hand, view.carry, (a, b), ((0, 0),) * view.hand)
    return State(match, deal, ()) if view.phase is Phase.OVER else before(match, deal)


def _side(view: View, seat: Seat, hand: tuple[Card, ...]) -> Side:
    return Side(hand, view.known[seat], view.played[seat], view.points[seat], view.pending[seat])
