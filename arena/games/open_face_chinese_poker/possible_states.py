"""States of Open-Face Chinese Poker that a seat cannot tell from the real one."""

from collections.abc import Callable

from arena.games.cards import PACK_52, Card, hands_of
from arena.games.chinese.hands import HAND_SIZE
from arena.games.chinese.settings import candidates
from arena.games.chinese.unit_values import unit_values
from arena.games.contract import Seat
from arena.games.open_face_chinese_poker.messages import Layout, Options, Phase, View
from arena.games.open_face_chinese_poker.rules import (
    EMPTY,
    HANDS_PER_DEALER,
    INITIAL,
    Hand,
    Match,
    State,
)


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view, all such deals being equally likely.

    Other seats in Fantasyland have made the settings that `candidates` rates best. A view does not show the units of
    each hand played, which are taken as 0.
    """
    seats = len(view.totals)
    scheduled = options.hands or HANDS_PER_DEALER * seats
    match = Match(
        tuple(Seat(number) for number in range(seats)),
        scheduled,
        unit_values(options.unit_values, seats),
        scheduled - view.hands_left,
        view.dealer,
        view.fantasyland,
        ((0,) * seats,) * view.hand,
        view.totals,
    )
    return State(match, view.phase, _hand(view, seat, below))


def _hand(view: View, seat: Seat, below: Callable[[int], int]) -> Hand:
    seats = len(view.totals)
    around = [Seat((view.dealer + 1 + at) % seats) for at in range(seats)]
    order = tuple(player for player in around if not view.fantasyland[player])
    setting = view.own_setting or EMPTY
    drawn = () if view.drawn is None else (view.drawn,)
    seen = {*view.to_place, *setting.front, *setting.middle, *setting.back, *drawn}
    for layout in view.layouts:
        seen.update(layout.front, layout.middle, layout.back)
    hidden = [0 if player == seat else _hidden(view, Seat(player)) for player in range(seats)]
    *held, stock = hands_of(set(PACK_52) - seen, (*hidden, view.stock), below)
    settings: list[Layout | None] = [None] * seats
    dealt: list[tuple[Card, ...]] = held
    if view.phase is Phase.PLACE:
        for player in around:
            if view.fantasyland[player] and player != seat:
                rows = candidates(held[player], 1)[0]
                settings[player], dealt[player] = Layout(rows.front, rows.middle, rows.back), ()
        dealt[view.to_act[0]] = drawn or dealt[view.to_act[0]]
    dealt[seat], settings[seat] = view.to_place, view.own_setting
    turns = sum([_turns(view.layouts[player]) for player in order])
    return Hand(view.layouts, tuple(dealt), tuple(settings), stock, order, turns)


def _hidden(view: View, seat: Seat) -> int:
    if view.fantasyland[seat]:
        return HAND_SIZE
    return 0 if _turns(view.layouts[seat]) else INITIAL


def _turns(layout: Layout) -> int:
    """Return how many turns a seat has had, from the cards that it has placed."""
    return max(0, len(layout.front) + len(layout.middle) + len(layout.back) - INITIAL + 1)
