"""States of the Pineapple games that a seat cannot tell from the real one."""

from collections.abc import Callable, Generator, Iterator

from arena.games.betting import rounds
from arena.games.betting.match import Match
from arena.games.betting.possible_states import (
    MOVES,
    OneDeck,
    chips_before,
    folded,
    live_before,
    match_of,
    replayed,
)
from arena.games.betting.rounds import Round
from arena.games.cards import PACK_52, Card, hands_of
from arena.games.contract import Seat
from arena.games.pineapple.messages import DISCARDS, Move, Options, Phase, Street, View
from arena.games.pineapple.rules import BOARD_PLACES, DISCARD_ON, HOLE, begin_hand, opening, step
from arena.games.pineapple.state import BOARD, Deal, Hand, Stakes, State, stakes_of

_BOARD = BOARD[Street.RIVER]


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view, all such deals being equally likely.

    The discards of the others are drawn uniformly. A view does not show the scores of each hand played, which are taken
    as 0.
    """
    stakes = stakes_of(options)
    match = match_of(options.hands, options.format, view.hand, view.dealer, view.chips, view.totals)
    hand = Hand(stakes, match, _deal(view, match, stakes, seat, below))
    return State(hand, view.phase, view.street, _betting(view, match, stakes), view.line)


def hand_so_far(state: State) -> Iterator[tuple[State, Seat, Move]]:
    """Yield each earlier state of the hand, with the seat that moved and its move. Simultaneous discards are yielded one by one."""
    hand, line = state.hand, state.line
    deals = OneDeck(_deck(hand.match, hand.deal))
    before = begin_hand(hand.stakes, hand.match, deals).state
    for player, action, to in zip(line.seats, line.actions, line.tos, strict=True):
        before = yield from _discarded(before, hand.deal, deals)
        move: Move = MOVES[action](to)
        yield before, player, move
        before = step(before, ((player, move),), deals).state
    if state.phase is not Phase.DISCARD:
        yield from _discarded(before, hand.deal, deals)


def _discarded(
    state: State, deal: Deal, deals: OneDeck
) -> Generator[tuple[State, Seat, Move], None, State]:
    """Yield the discards if seats discard in this state. Return the state after them."""
    if state.phase is not Phase.DISCARD:
        return state
    moves = [
        (player, DISCARDS[gone]) for player in state.betting.live if (gone := deal.given_up[player])
    ]
    for player, move in moves:
        yield state, player, move
    after: State = step(state, tuple(moves), deals).state
    return after


def _deck(match: Match, deal: Deal) -> list[Card]:
    order = rounds.clockwise(match.players, match.dealer)
    given = {player: gone for player in order if (gone := deal.given_up[player]) is not None}
    dealt = [
        (*deal.holes[player], *([given[player]] if player in given else ())) for player in order
    ]
    deck = [cards[place] for place in range(HOLE) for cards in dealt]
    rest = sorted(set(PACK_52).difference(deck, deal.runout))
    for place, card in zip(BOARD_PLACES, deal.runout, strict=True):
        rest.insert(place, card)
    return deck + rest


def _deal(
    view: View, match: Match, stakes: Stakes, seat: Seat, below: Callable[[int], int]
) -> Deal:
    """Deal three cards to each other seat, of which it gave up the last if it was in the hand then."""
    others = [player for player in match.players if player != seat]
    gone = [] if view.given_up is None else [view.given_up]
    unseen = set(PACK_52).difference(view.held, gone, view.board)
    sizes = [*[HOLE] * len(others), _BOARD - len(view.board)]
    *drawn, rest, _ = hands_of(unseen, (*sizes, len(unseen) - sum(sizes)), below)
    holes: list[tuple[Card, ...]] = [()] * len(view.totals)
    given_up: list[Card | None] = [None] * len(holes)
    keeps = _folded_before_discard(view, stakes)
    for player, cards in zip(others, drawn, strict=True):
        gave_up = bool(gone) and player not in keeps
        holes[player] = cards[: HOLE - gave_up]
        given_up[player] = cards[-1] if gave_up else None
    holes[seat], given_up[seat] = view.held, view.given_up
    return Deal(tuple(holes), tuple(given_up), view.board + rest)


def _folded_before_discard(view: View, stakes: Stakes) -> set[Seat]:
    line = view.line
    after = 1 + list(BOARD).index(DISCARD_ON[stakes.variant])
    later = folded(line, line.starts[after]) if len(line.starts) > after else ()
    return {*folded(line)}.difference(later)


def _betting(view: View, match: Match, stakes: Stakes) -> Round:
    late = view.street in (Street.TURN, Street.RIVER)
    if view.phase is Phase.DISCARD:
        return rounds.closed(stakes.limits[0], view.chips, view.live)
    line, since = view.line, view.line.starts[-1]
    if view.street is Street.PREFLOP:
        return replayed(opening(stakes, match), line, since)
    live, limits = live_before(line, view.live), stakes.limits[late]
    order = rounds.clockwise(live, match.dealer)
    begun = rounds.begin(limits, chips_before(view.chips), live, order, rounds.unopened(limits))
    return replayed(begun, line, since)
