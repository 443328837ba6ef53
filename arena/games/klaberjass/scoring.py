"""Points of tricks, sequences and hands of Klaberjass."""

from typing import Final, NamedTuple

from arena.games.cards import SUITS, Card, pack
from arena.games.contract import Seat
from arena.games.frozen import Frozen

NATURAL: Final = "789TJQKA"
"""Ranks from low to high in sequences."""
PLAIN_POINTS: Final = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2}
TRUMP_POINTS: Final = PLAIN_POINTS | {"J": 20, "9": 14}
LAST_TRICK: Final = 10
BELA: Final = 20
TWENTY: Final = 20
"""The points of a sequence of three."""
FIFTY: Final = 50
"""The points of a longer sequence."""

PACK_32: Final = pack(NATURAL)
_POINTS: Final = {
    trump: {
        card: (TRUMP_POINTS if card[1] == trump else PLAIN_POINTS).get(card[0], 0)
        for card in PACK_32
    }
    for trump in SUITS
}


MOST_POINTS: Final = sum(_POINTS["s"].values()) + LAST_TRICK + BELA + 2 * FIFTY
"""The most points of a hand: all tricks by one seat, and two fifties in its nine cards."""


class Split(Frozen):
    """The parts of a seat's points in a hand."""

    tricks: int
    """The points of the cards in its tricks, without the bonus for the last trick."""
    last_trick: int
    sequences: int
    """0 unless the seat won the contest and has a trick."""
    bela: int


class Sequence(NamedTuple):
    """Cards of one suit in sequence (R9)."""

    value: int
    top: int
    """The index of the highest card in `NATURAL`."""
    is_trump: bool
    """A trump sequence wins between equal tops."""
    cards: tuple[Card, ...]
    """From low to high."""

    @property
    def strength(self) -> tuple[int, int, bool]:
        """What sequences are compared by; the length of a fifty does not matter."""
        return self.value, self.top, self.is_trump

    @property
    def rank(self) -> str:
        return self.cards[-1][0]

    @property
    def suit(self) -> str:
        return self.cards[0][1]


def sequences(cards: tuple[Card, ...], trump: str) -> tuple[Sequence, ...]:
    """Return the longest sequences of three or more cards (R9), by suit, low ones first."""
    held = set(cards)
    runs = []
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
                runs.append(Sequence(value, top, suit == trump, tuple(run)))
            run = []
    return tuple(runs)


def best_sequence(cards: tuple[Card, ...], trump: str) -> Sequence | None:
    """Return the best sequence of a seat; between equal ones the trump sequence (R9)."""
    return max(sequences(cards, trump), key=lambda each: each.strength, default=None)


def trick_points(led: Card, reply: Card, trump: str) -> int:
    points = _POINTS[trump]
    return points[led] + points[reply]


def split_of(points: int, *, sequences: int, bela: bool, last_trick: bool) -> Split:
    """Return the parts of a seat's points; `sequences` are the points of its sequences that count."""
    last = LAST_TRICK if last_trick else 0
    called = BELA if bela else 0
    return Split(points - last - sequences - called, last, sequences, called)


def settle(maker: Seat, points: tuple[int, int]) -> tuple[tuple[int, int], Seat]:
    """Return what each seat scores for a hand, and the winner (R12).

    If the maker has more points, both seats score their own. On a tie the maker scores nothing. If the
    maker has fewer points, the other seat scores the points of both (bate).
    """
    opponent = Seat(1 - maker)
    mine, theirs = points[maker], points[opponent]
    if mine > theirs:
        return points, maker
    gained = theirs if mine == theirs else mine + theirs
    return ((gained, 0) if opponent == 0 else (0, gained)), opponent
