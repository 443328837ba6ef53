"""Winners of tricks and points of captured cards in Democracy."""

from collections.abc import Iterable, Sequence
from typing import Final

from arena.games.cards import JOKER, SUITS, Card, pack
from arena.games.contract import Seat
from arena.games.democracy.messages import NO_POINTS, RANKING, TIE, Island, SuitPoints

POINTS: Final = dict(zip(RANKING, (0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5), strict=True))
"""Points of a captured card by rank; a joker has none."""

TRIBE_POINTS: Final = 13
"""Captured points of a suit that win its tribe, even if cards of the suit were discarded (R7)."""

# A joker that is played counts as a 5 without suit (R5).
_STRENGTH: Final = {card: RANKING.index(card[0]) for card in pack(RANKING)} | {
    JOKER: RANKING.index("5")
}


def trick_winner(upcard: Card, cards: Sequence[Card]) -> Seat | None:
    """Return the seat that captures, or None if the highest rank is tied.

    The upcard fixes trump but is not played: it cannot win, and does not count for the rule of the 5
    and the 6 (R3).
    """
    if upcard != JOKER:  # a joker as upcard makes no trump, not even the other joker (R6)
        trumps = [card for card in cards if card[1] == upcard[1]]
        if trumps:
            six = "6" + upcard[1]
            if six in trumps and "5" + upcard[1] in trumps:
                return Seat(cards.index(six))
            return Seat(cards.index(max(trumps, key=_STRENGTH.__getitem__)))
    strengths = [_STRENGTH[card] for card in cards]
    highest = max(strengths)
    return Seat(strengths.index(highest)) if strengths.count(highest) == 1 else None


def unplayed(seats: int) -> Island:
    """Return an island before its first trick."""
    return Island((), (), (), ((),) * seats, (NO_POINTS,) * seats, ())


def capture(island: Island, upcard: Card, cards: tuple[Card, ...], winner: Seat | None) -> Island:
    """Return the island after one more trick.

    In a tie every seat captures its own card, also one below the highest rank (R4).
    """
    if winner is None:
        spoils = [(card,) for card in cards]
        captured = tuple(map(_joined, island.captured, spoils))
        points = tuple(map(suit_points, spoils, island.points))
    else:
        taken = (*cards, upcard)
        heaps, sums = list(island.captured), list(island.points)
        heaps[winner] += taken
        sums[winner] = suit_points(taken, sums[winner])
        captured, points = tuple(heaps), tuple(sums)
    return Island(
        (*island.upcards, upcard),
        island.plays + cards,
        (*island.winners, TIE if winner is None else winner),
        captured,
        points,
        (*island.discarded, upcard) if winner is None else island.discarded,
    )


def suit_points(cards: Iterable[Card], before: SuitPoints = NO_POINTS) -> SuitPoints:
    """Return the points of the cards by suit, added to `before`."""
    sums = [before.clubs, before.diamonds, before.hearts, before.spades]
    for card in cards:
        if card != JOKER:
            sums[SUITS.index(card[1])] += POINTS[card[0]]
    return SuitPoints(*sums)


def tribes_of(points: SuitPoints) -> str:
    """Return the suits whose tribe is won, in canonical order. Only one seat can have 13 of 25 points."""
    sums = (points.clubs, points.diamonds, points.hearts, points.spades)
    return "".join(suit for suit, have in zip(SUITS, sums, strict=True) if have >= TRIBE_POINTS)


def _joined(heap: tuple[Card, ...], cards: tuple[Card, ...]) -> tuple[Card, ...]:
    return heap + cards
