"""What tricks, sequences and hands of Klaberjass are worth."""

from typing import Final, NamedTuple

from arena.cards import SUITS, Card, pack
from arena.games.contract import Seat
from arena.games.values import value

NATURAL: Final = "789TJQKA"
"""Ranks from low to high in sequences, of every suit."""
PLAIN_POINTS: Final = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2}
TRUMP_POINTS: Final = PLAIN_POINTS | {"J": 20, "9": 14}
LAST_TRICK: Final = 10
BELA: Final = 20
TWENTY: Final = 20
"""A sequence of three."""
FIFTY: Final = 50
"""A longer sequence."""

PACK_32: Final = pack(NATURAL)
_POINTS: Final = {
    trump: {
        card: (TRUMP_POINTS if card[1] == trump else PLAIN_POINTS).get(card[0], 0)
        for card in PACK_32
    }
    for trump in SUITS
}


MOST_POINTS: Final = sum(_POINTS["s"].values()) + LAST_TRICK + BELA + 2 * FIFTY
"""Of a hand in which one seat takes every trick: nine cards hold two fifties at most."""


@value(frozen=True, slots=True)
class Split:
    """What the points of a seat in a hand came from."""

    tricks: int
    """The cards of its tricks, the last one's bonus apart."""
    last_trick: int
    sequences: int
    """0 unless its sequences won the contest and it has a trick."""
    bela: int


class Sequence(NamedTuple):
    """Cards of one suit that follow one another; sequences compare as they contest (R9)."""

    value: int
    top: int
    """Place of the highest card in `NATURAL`."""
    is_trump: bool
    """Decides between equal tops."""
    cards: tuple[Card, ...]
    """From low to high."""

    @property
    def strength(self) -> tuple[int, int, bool]:
        """What sequences are compared by; the length of a fifty is none of it."""
        return self.value, self.top, self.is_trump

    @property
    def rank(self) -> str:
        """Rank of the highest card."""
        return self.cards[-1][0]

    @property
    def suit(self) -> str:
        return self.cards[0][1]


def sequences(cards: tuple[Card, ...], trump: str) -> tuple[Sequence, ...]:
    """The runs of three cards or more, as long as they go (R9), by suit, low ones first."""
    held = set(cards)
    found = []
    for suit in SUITS:
        run: list[Card] = []
        for rank in (*NATURAL, ""):
            card = rank + suit
            if card in held:
                run.append(card)
                continue
            if len(run) >= 3:
                value = TWENTY if len(run) == 3 else FIFTY
                top = NATURAL.index(run[-1][0])
                found.append(Sequence(value, top, suit == trump, tuple(run)))
            run = []
    return tuple(found)


def best_sequence(cards: tuple[Card, ...], trump: str) -> Sequence | None:
    """The sequence that a seat goes into the contest with; of twins the trump one (R9)."""
    return max(sequences(cards, trump), key=lambda each: each.strength, default=None)


def trick_points(led: Card, reply: Card, trump: str) -> int:
    """Points of a trick's two cards."""
    points = _POINTS[trump]
    return points[led] + points[reply]


def split_of(points: int, *, sequences: int, bela: bool, last_trick: bool) -> Split:
    """The points of a seat by what they came from; `sequences` is what its own counted."""
    last = LAST_TRICK if last_trick else 0
    called = BELA if bela else 0
    return Split(points - last - sequences - called, last, sequences, called)


def settle(maker: Seat, points: tuple[int, int]) -> tuple[tuple[int, int], Seat]:
    """What each seat scores for a hand, and who won it (R12).

    A maker with more than the other lets both score their own. On a tie the
    maker scores nothing; with less, it gives its points to the other (bate).
    """
    opponent = Seat(1 - maker)
    mine, theirs = points[maker], points[opponent]
    if mine > theirs:
        return points, maker
    gained = theirs if mine == theirs else mine + theirs
    return ((gained, 0) if opponent == 0 else (0, gained)), opponent
