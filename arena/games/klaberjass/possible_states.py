"""States of Klaberjass that a seat cannot tell from the real one."""

from collections.abc import Callable
from typing import Final

from arena.games.cards import Card, hands_of, in_order
from arena.games.contract import Seat
from arena.games.klaberjass.messages import Options, Phase, View, Word
from arena.games.klaberjass.scoring import (
    FIFTY,
    NATURAL,
    PACK_32,
    Sequence,
    best_sequence,
    sequences,
)
from arena.games.klaberjass.state import Deal, Match, Side, State, Talon, Tricks, before
from arena.games.klaberjass.tricks import legal_replies
from arena.games.two_seats import SEATS, by_seat, other

TRIES: Final = 120
"""The most hands that are drawn to find one that fits the announcement and the replies."""


def sample_state(view: View, options: Options, seat: Seat, below: Callable[[int], int]) -> State:
    """Draw a state in which `seat` has this view.

    The other hand has the sequence that it announced, and its replies were legal, unless no hand of `TRIES` fits; then
    it has at least an announced sequence. A seat that announces none may have one, because announcements are voluntary.
    """
    opponent = other(seat)
    hand, stock = _drawn(view, seat, opponent, below)
    held = by_seat(seat, view.held, hand)
    deal = Deal(
        (_side(view, SEATS[0], held[0]), _side(view, SEATS[1], held[1])),
        Talon(view.upcard, stock),
        view.auction,
        view.contest,
        Tricks(view.led, tuple(map(Seat, view.winners)), view.bela),
        view.phase,
        seat if view.to_act is None else view.to_act,
    )
    a, b = view.totals
    match = Match(options, view.hand, view.dealer, (a, b), ((0, 0),) * view.hand)
    return State(match, deal, ()) if view.phase is Phase.OVER else before(match, deal)


def _side(view: View, seat: Seat, hand: tuple[Card, ...]) -> Side:
    return Side(hand, view.known[seat], view.played[seat], view.points[seat])


def _drawn(
    view: View, seat: Seat, opponent: Seat, below: Callable[[int], int]
) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    known = view.known[opponent]
    unseen = set(PACK_32).difference(view.held, known, *view.played, [view.upcard])
    sizes = (view.hand_sizes[opponent] - len(known), view.stock)
    value = _value_said(view, opponent)
    drawn, stock = hands_of(unseen, sizes, below)
    hand = in_order((*known, *drawn))
    for _ in range(TRIES):
        if _has_announced(view, opponent, hand, value) and _follows(view, opponent, hand):
            return hand, stock
        drawn, stock = hands_of(unseen, sizes, below)
        hand = in_order((*known, *drawn))
    if not value or view.winners or view.led:
        return hand, stock
    # The announced sequence is in the hand for sure, as the rules compare it.
    possible = sequences((*known, *unseen), view.auction.trump or "")
    rows = [row.cards for row in possible if row.value >= value]
    row = rows[below(len(rows))][: 3 if value < FIFTY else 4]
    added = set(row).difference(known)
    drawn, stock = hands_of(unseen - added, (sizes[0] - len(added), sizes[1]), below)
    return in_order((*known, *added, *drawn)), stock


def _value_said(view: View, seat: Seat) -> int:
    """Return the value of the best sequence that a seat is known to have; 0 if none is."""
    contest = view.contest
    if contest.announcer == seat:
        return contest.value
    if contest.answer is Word.NOT_GOOD:
        return FIFTY
    return contest.value if contest.answer is Word.HOW_HIGH else 0


def _has_announced(view: View, seat: Seat, hand: tuple[Card, ...], value: int) -> bool:
    """Return whether the hand before the play fits what its seat announced."""
    if not value:
        return True
    trump, contest = view.auction.trump or "", view.contest
    best = best_sequence((*hand, *view.played[seat]), trump)
    if best is None or best.value != value:
        return False
    top, suit, theirs = contest.tops[seat], contest.suits[seat], contest.tops[1 - seat]
    if not top:
        return contest.verdict is not Word.GOOD or not theirs or _is_lower(best, theirs)
    return best.rank == top and suit in ("", best.suit)


def _is_lower(best: Sequence, rank: str) -> bool:
    return best.top < NATURAL.index(rank)


def _follows(view: View, seat: Seat, hand: tuple[Card, ...]) -> bool:
    """Return whether the replies of a seat were legal with this hand and what it played later."""
    leader = other(view.dealer)
    mine, theirs = view.played[seat], view.played[1 - seat]
    for at, winner in enumerate(view.winners):
        if leader != seat:
            then = (*hand, *mine[at:])
            if mine[at] not in legal_replies(then, theirs[at], view.auction.trump or ""):
                return False
        leader = Seat(winner)
    return True
