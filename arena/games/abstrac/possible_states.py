"""States of Abstrac that a seat cannot tell from the real one."""

from collections.abc import Callable

from arena.games.abstrac.messages import Options, Phase, View
from arena.games.abstrac.rules import Row, State
from arena.games.cards import PACK_52, Card, hands_of
from arena.games.contract import Seat


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view: the other half of a 52-card round is in any order.

    A view does not show who took first, which is drawn if both seats may have taken. It does not show the points of the
    first half either; the state has none.
    """
    assert view.to_act is not None
    (one, other), (a, b) = view.taken, view.totals
    undealt: tuple[Card, ...] = ()
    if view.undealt:
        (undealt,) = hands_of(set(PACK_52).difference(view.row, one, other), (view.undealt,), below)
    begun = bool(one or other)
    first = Seat(below(2)) if begun else view.to_act
    row = Row(
        view.row,
        (one, other),
        None if view.phase is Phase.CHOOSE else first,
        view.to_act,
        view.limit - 1 if begun else 0,
    )
    return State(options, view.hand, view.half, row, undealt, (0, 0), ((0, 0),) * view.hand, (a, b))
