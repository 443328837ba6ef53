"""States of Soko that a seat cannot tell from the real one."""

from collections.abc import Callable, Iterator

from arena.games.betting import rounds
from arena.games.betting.match import Match
from arena.games.betting.moves import bring_in_of
from arena.games.betting.possible_states import (
    MOVES,
    OneDeck,
    chips_before,
    live_before,
    match_of,
    replayed,
)
from arena.games.betting.rounds import Round
from arena.games.cards import PACK_52, Card, hands_of
from arena.games.contract import Seat
from arena.games.soko.messages import Move, Options, Phase, View
from arena.games.soko.rules import begin_hand, first_to_act, step
from arena.games.soko.state import Deal, Hand, Stakes, State, stakes_of


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view, all such deals being equally likely.

    A view does not show the scores of each hand played, which are taken as 0. It does not show the cards that folded
    hands would have been dealt either.
    """
    stakes = stakes_of(options)
    match = match_of(options.hands, options.format, view.hand, view.dealer, view.chips, view.totals)
    hand = Hand(stakes, match, _deal(view, match, seat, below))
    return State(hand, view.phase, view.round, _betting(view, stakes), view.line)


def hand_so_far(state: State) -> Iterator[tuple[State, Seat, Move]]:
    """Yield each earlier state of the hand, with the seat that moved and its move."""
    match, deal, line = state.hand.match, state.hand.deal, state.line
    order = rounds.clockwise(match.players, match.dealer)
    holes = [hole for player in order if (hole := deal.holes[player]) is not None]
    upcards = [
        deal.upcards[player][number]
        for number in range(state.number)
        for player in order
        if number < len(deal.upcards[player])
    ]
    deals = OneDeck((*holes, *upcards, *deal.stock))
    before = begin_hand(state.hand.stakes, match, deals).state
    for seat, action, to in zip(line.seats, line.actions, line.tos, strict=True):
        brings_in = before.phase is Phase.BRING_IN
        move: Move = bring_in_of(to) if brings_in else MOVES[action](to)
        yield before, seat, move
        before = step(before, ((seat, move),), deals).state


def _deal(view: View, match: Match, seat: Seat, below: Callable[[int], int]) -> Deal:
    assert view.hole is not None
    others = [player for player in match.players if player != seat]
    unseen = set(PACK_52).difference([view.hole], *view.upcards)
    *drawn, stock = hands_of(unseen, (*[1] * len(others), len(unseen) - len(others)), below)
    holes: list[Card | None] = [None] * len(view.upcards)
    holes[seat] = view.hole
    for player, (card,) in zip(others, drawn, strict=True):
        holes[player] = card
    return Deal(tuple(holes), view.upcards, stock)


def _betting(view: View, stakes: Stakes) -> Round:
    limits = next(limit for limit in stakes.limits if limit.least == view.min_bet)
    if view.phase is Phase.BRING_IN:
        assert view.to_act is not None
        price = rounds.unopened(limits)
        pending = (view.to_act,)
        return Round(limits, view.chips, view.live, pending, price, (), 0, view.min_to, view.max_to)
    line, since = view.line, view.line.starts[-1]
    chips, live = chips_before(view.chips), live_before(line, view.live)
    if view.round == 1:
        first, to = line.seats[0], line.tos[0]
        chips = rounds.put_in(chips, first, to)
        price = rounds.opened(limits, max(to, stakes.bring_in))
        others = rounds.clockwise(live, first)[:-1]
        opening = rounds.begin(limits, chips, live, others, price, posted=first)
        return replayed(opening, line, 1)
    order = [player for player in rounds.clockwise(live, view.dealer) if chips.stacks[player]]
    first = first_to_act([cards[: view.round] for cards in view.upcards], order)
    turns = rounds.clockwise(live, first)
    opening = rounds.begin(limits, chips, live, turns[-1:] + turns[:-1], rounds.unopened(limits))
    return replayed(opening, line, since)
