"""States of Loo that a seat cannot tell from the real one."""

from collections.abc import Callable, Iterator
from typing import Final

from arena.games.cards import PACK_52, Card, hands_of, in_order
from arena.games.contract import Seat
from arena.games.loo.messages import Options, Phase, View
from arena.games.loo.state import Cards, Deal, Line, Match, State, Tricks, before
from arena.games.loo.tricks import legal_replies

TRIES: Final = 12
"""The most hands that are drawn for a seat to find one with which its replies were legal."""


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view.

    The other hands are drawn one after the other from those with which the replies of their seats were legal. A view
    shows neither the recycled cards nor the discards of the others; the state has none.
    """
    fee, seats = options.hand_size, len(view.chips)
    gone = view.discarded if _are_dead(view, options, seat) else ()
    unseen = set(PACK_52).difference(view.held, gone, *view.played, [view.upcard])
    hands = [view.held if owner == seat else () for owner in range(seats)]
    for owner in range(seats):
        if owner != seat and owner not in view.passed:
            hands[owner] = _hand(view, options, Seat(owner), unseen, below)
            unseen.difference_update(hands[owner])
    stock, dead = hands_of(unseen, (view.stock, view.dead - len(gone)), below)
    discarded = tuple([view.discarded if owner == seat else () for owner in range(seats)])
    players = tuple(map(Seat, view.players))
    deal = Deal(
        view.upcard,
        Cards(tuple(hands), stock, gone + dead, discarded),
        Line(players, tuple(map(Seat, view.passed)), view.exchanged),
        Tricks(
            view.leader, view.trick, view.played, tuple(map(Seat, view.winners)), civil=view.civil
        ),
        view.phase,
        seat if view.to_act is None else view.to_act,
    )
    unpaid = tuple([had + fee * (at == view.dealer) for at, had in enumerate(view.chips)])
    scores = ((0,) * seats,) * view.hand
    match = Match(options, view.hand, view.pot, view.chips, unpaid, scores)
    return State(match, deal, ()) if view.phase is Phase.OVER else before(match, deal)


def _are_dead(view: View, options: Options, seat: Seat) -> bool:
    """Return whether the seat's discards are still dead cards, and were not shuffled into a new stock."""
    size = options.hand_size
    stock, dead = len(PACK_52) - 1 - size * len(view.chips), size * len(view.passed)
    are_dead = False
    for player in view.players:
        count = view.exchanged[player]
        if count > stock:
            stock, dead, are_dead = stock + dead, 0, False
        stock, dead = stock - count, dead + count
        are_dead = are_dead or player == seat
    return are_dead


def _hand(
    view: View, options: Options, of: Seat, unseen: set[Card], below: Callable[[int], int]
) -> tuple[Card, ...]:
    size = options.hand_size - len(view.played[of])
    replies = list(_replies(view, of))
    hand: tuple[Card, ...] = ()
    for _ in range(TRIES):
        hand = hands_of(unseen, (size, len(unseen) - size), below)[0]
        if all(_is_legal(view, options, (*hand, *later), trick) for trick, later in replies):
            break
    return in_order(hand)


def _replies(view: View, of: Seat) -> Iterator[tuple[tuple[Card, ...], tuple[Card, ...]]]:
    """Yield each trick of a seat up to its reply, and the cards that it has played since then."""
    mine = view.played[of]
    leaders = (*view.players[:1], *view.winners)
    for at in range(len(mine)):
        led = view.players.index(leaders[at])
        order = (*view.players[led:], *view.players[:led])
        upto = order[: order.index(of) + 1]
        if len(upto) > 1:
            yield tuple([view.played[player][at] for player in upto]), mine[at:]


def _is_legal(
    view: View, options: Options, hand: tuple[Card, ...], trick: tuple[Card, ...]
) -> bool:
    """Return whether the last card of a trick was legal; the view does not show which past tricks were civil."""
    *before_it, card = trick
    trump = view.upcard[1]
    ways = (False, True) if trick[0] == "A" + trump else (False,)
    return any(
        card in legal_replies(hand, before_it, trump, civil=civil, pam=options.has_pam)
        for civil in ways
    )
