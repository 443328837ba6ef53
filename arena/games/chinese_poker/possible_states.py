"""States of Chinese Poker that a seat cannot tell from the real one."""

from collections.abc import Callable

from arena.games.cards import PACK_52, Card, hands_of
from arena.games.chinese.hands import HAND_SIZE, Rows, high_first
from arena.games.chinese.naturals import natural_of
from arena.games.chinese.settings import candidates
from arena.games.chinese.unit_values import unit_values
from arena.games.chinese_poker.messages import HANDS_PER_SEAT, Options, Phase, Set, View
from arena.games.chinese_poker.rules import Committed, Deal, Match, State
from arena.games.contract import Seat


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view.

    All deals are equally likely, even if no natural was declared. Other seats have made the settings that `candidates`
    rates best. A view does not show the units of each hand played, which are taken as 0.
    """
    seats = len(view.totals)
    everybody = tuple(Seat(number) for number in range(seats))
    match = Match(
        everybody,
        options.hands or HANDS_PER_SEAT * seats,
        unit_values(options.unit_values, seats),
        view.hand,
        ((0,) * seats,) * view.hand,
        view.totals,
    )
    shown = {natural.seat: high_first(natural.cards) for natural in view.naturals}
    hands = _hands(shown | {seat: view.held}, seats, below)
    deal = Deal(hands, tuple(map(natural_of, hands)))
    if view.phase is not Phase.SURRENDER:
        return State(match, deal, None)
    settings = tuple(
        None if player in shown else _set(view.setting if player == seat else _best(hands[player]))
        for player in everybody
    )
    return State(match, deal, Committed(settings, view.naturals, view.to_act))


def _hands(
    known: dict[Seat, tuple[Card, ...]], seats: int, below: Callable[[int], int]
) -> tuple[tuple[Card, ...], ...]:
    hidden = seats - len(known)
    unseen = set(PACK_52).difference(*known.values())
    *drawn, _ = hands_of(unseen, (*[HAND_SIZE] * hidden, len(unseen) - HAND_SIZE * hidden), below)
    left = iter(drawn)
    return tuple(known.get(Seat(player)) or high_first(next(left)) for player in range(seats))


def _best(held: tuple[Card, ...]) -> Rows:
    return candidates(held, 1)[0]


def _set(rows: Rows | None) -> Set:
    assert rows is not None
    return Set(rows.front, rows.middle, rows.back)
