"""States of Democracy that a seat cannot tell from the real one."""

from collections.abc import Callable

from arena.games.cards import Card, hands_of, without
from arena.games.contract import Seat
from arena.games.democracy.messages import HAND_ORDER, Options, View
from arena.games.democracy.rules import PACKS, Day, Match, State


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view, all such deals being equally likely.

    A view does not show the tribes of each island played, which are taken as 0.
    """
    assert view.upcard is not None
    seats = len(view.totals)
    seen = (*view.held, view.upcard, *view.island.upcards, *view.island.plays)
    sizes = (*[view.hand_size] * (seats - 1), view.pool, view.undealt)
    *drawn, pool, undealt = hands_of(without(PACKS[seats], seen), sizes, below)
    hands: list[tuple[Card, ...]] = [_in_order(hand) for hand in drawn]
    hands.insert(seat, view.held)
    everybody = tuple(Seat(number) for number in range(seats))
    scores = ((0,) * seats,) * view.hand
    match = Match(options, everybody, view.hand, scores, view.totals)
    return State(match, view.island, Day(view.day, tuple(hands), (view.upcard, *pool), undealt))


def _in_order(hand: tuple[Card, ...]) -> tuple[Card, ...]:
    return tuple(sorted(hand, key=HAND_ORDER.__getitem__))
