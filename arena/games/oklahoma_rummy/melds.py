"""The melds of Oklahoma Rummy: what a set and a run are, what they score, how they grow.

R1 to R11 are the digest's rulings. Every 2 is wild and is a natural card
nowhere, not even in the two-slot of a run (R4).

| meld  | cards                                                                    |
|-------|--------------------------------------------------------------------------|
| set   | 3 or 4 of a rank, twins too; 2s fill up, or are all of it                |
| run   | 3 or 4 of a suit in a row, the ace at either end; 2s fill up, never all  |
"""

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from itertools import combinations
from typing import Final, TypeAlias

from arena.cards import RANKS, SUITS, Card
from arena.games.oklahoma_rummy.scoring import (
    ALL_TWOS_POINTS,
    CARD_POINTS,
    QUEEN_OF_SPADES,
    RANK_POINTS,
    TWO,
    TWOS,
)
from arena.games.values import value

CardList: TypeAlias = tuple[Card, ...]
LooseMeld: TypeAlias = tuple["MeldKind", CardList]
ByTwos: TypeAlias = tuple[tuple[LooseMeld, ...], ...]
"""Melds by the number of their 2s."""

SIZES: Final = (3, 4)
"""Cards in a meld."""

LADDER: Final = "A" + RANKS
"""Ranks of a run from place 0 up: the ace stands at both ends, the two at place 1."""
ACE_HIGH: Final = len(LADDER) - 1
TWO_PLACE: Final = LADDER.index(TWO)
QUEEN_PLACE: Final = LADDER.index("Q")

_MEMO: Final = 1 << 12
"""Answers kept of each of the pure functions that listing asks again and again."""


class MeldKind(StrEnum):
    SET = "set"
    RUN = "run"


class End(StrEnum):
    """Where a run grows."""

    LOW = "low"
    HIGH = "high"


@value(frozen=True, slots=True)
class TableMeld:
    """A meld on the table."""

    kind: MeldKind
    cards: CardList
    """A run's from low to high."""
    stands_for: CardList
    """What each card of a run stands for, for good (R5); empty for a set, whose
    2s are plain cards of its rank (R2)."""
    points: int


def set_rank(cards: Iterable[Card]) -> str | None:
    """The rank of a set, `2` if it has nothing but 2s; None if the ranks are mixed."""
    ranks = {card[0] for card in cards if card not in TWOS}
    if len(ranks) > 1:
        return None
    return ranks.pop() if ranks else TWO


@lru_cache(_MEMO)
def read_meld(kind: MeldKind, cards: CardList) -> TableMeld | None:
    """The meld that these cards make, a run's from low to high; None if they make none."""
    if len(cards) not in SIZES:
        return None
    return _read_set(cards) if kind is MeldKind.SET else _read_run(cards)


def _read_set(cards: CardList) -> TableMeld | None:
    rank = set_rank(cards)
    if rank is None:
        return None
    two_points = ALL_TWOS_POINTS if rank == TWO else RANK_POINTS[rank]
    points = sum(two_points if card in TWOS else CARD_POINTS[card] for card in cards)
    return TableMeld(MeldKind.SET, cards, (), points)


def _read_run(cards: CardList) -> TableMeld | None:
    naturals = [(at, card) for at, card in enumerate(cards) if card not in TWOS]
    if not naturals:
        return None
    # One natural card fixes every place. An ace is low in front of others, high behind them.
    at, first = naturals[0]
    place = 0 if first[0] == "A" and at == 0 else LADDER.rindex(first[0])
    low, suit = place - at, first[1]
    if low < 0 or low + len(cards) > len(LADDER):
        return None
    stands_for = tuple([LADDER[low + up] + suit for up in range(len(cards))])
    if any(card != stands_for[at] for at, card in naturals):
        return None
    twos = len(cards) - len(naturals)
    if twos > 1 and _two_is_queen(cards, stands_for):
        return None
    return TableMeld(MeldKind.RUN, cards, stands_for, sum(CARD_POINTS[card] for card in stands_for))


def _two_is_queen(cards: CardList, stands_for: CardList) -> bool:
    """Whether a 2 stands for the queen of spades: then it is to be the only 2 (R2)."""
    return QUEEN_OF_SPADES in stands_for and cards[stands_for.index(QUEEN_OF_SPADES)] in TWOS


def extended(meld: TableMeld, card: Card, end: End | None) -> TableMeld | None:
    """The meld with one more card; None if it does not fit.

    A run needs the end, a set has none.
    """
    if (end is None) != (meld.kind is MeldKind.SET):
        return None
    if end is None and card not in TWOS and set_rank(meld.cards) == TWO:
        return None  # a set of 2s stays one (R3)
    cards = (card, *meld.cards) if end is End.LOW else (*meld.cards, card)
    if end is None:
        cards = canonical(MeldKind.SET, cards)
    return read_meld(meld.kind, cards)


@lru_cache(_MEMO)
def additions_to(meld: TableMeld) -> tuple[tuple[End | None, frozenset[Card]], ...]:
    """By end, the cards that a meld can grow by."""
    ends: tuple[End | None, ...]
    if meld.kind is MeldKind.SET:
        rank, ends = set_rank(meld.cards), (None,)
        near = [card for card in CARD_POINTS if card[0] == rank or card in TWOS]
    else:
        suit, ends = meld.stands_for[0][1], (End.LOW, End.HIGH)
        near = [card for card in CARD_POINTS if card[1] == suit or card in TWOS]
    fitting = [(end, frozenset(card for card in near if extended(meld, card, end))) for end in ends]
    return tuple((end, cards) for end, cards in fitting if cards)


_TWOS_LAST: Final = {
    card: at
    for at, card in enumerate(sorted(CARD_POINTS, key=lambda card: RANKS.index(card[0]) or 99))
}


def canonical(kind: MeldKind, cards: CardList) -> CardList:
    """The one way to write a meld: a set in order with its 2s last, a run with its 2s in order.

    Cards that are none come last, for the rules to refuse.
    """
    if kind is MeldKind.SET:
        return tuple(sorted(cards, key=lambda card: (_TWOS_LAST.get(card, 99), card)))
    twos = sorted([card for card in cards if card in TWOS], key=_TWOS_LAST.__getitem__)
    return filled(cards, tuple(twos))


def filled(cards: CardList, twos: CardList) -> CardList:
    """The cards with these 2s, in order, in the places of theirs."""
    following = iter(twos)
    return tuple([next(following) if card in TWOS else card for card in cards])


@lru_cache(_MEMO)
def subsets(cards: CardList, size: int) -> tuple[CardList, ...]:
    """All choices of `size` cards, those that differ in twins alone once."""
    return tuple(dict.fromkeys(combinations(cards, size)))


@lru_cache(_MEMO)
def sets_within(naturals: CardList, twos: CardList) -> ByTwos:
    """The sets of one rank, from the cards held of it and the first 2s."""
    return tuple(
        tuple(
            (MeldKind.SET, chosen + twos[:count])
            for size in SIZES
            if count < size
            for chosen in subsets(naturals, size - count)
        )
        for count in range(len(twos) + 1)
    )


_PLACES: Final = {
    rank + suit: sum(1 << place for place, each in enumerate(LADDER) if each == rank)
    for rank in RANKS
    for suit in SUITS
}
"""The places of a natural card on the ladder, as bits: an ace has two."""


_Shape: TypeAlias = tuple[Card | None, ...]
"""The cards of a run, with gaps for 2s."""
_Window: TypeAlias = tuple[int, int, tuple[tuple[_Shape, ...], ...]]
"""Places next to each other: the lowest, a mask of as many bits, and by which of them are held the runs there."""


def _window(suit: str, twos: int, low: int, size: int) -> _Window:
    """The runs with so many 2s in the `size` places from `low` up."""
    places = range(low, low + size)
    shapes: list[tuple[int, _Shape]] = []
    for filled_by_twos in combinations(places, twos):
        natural = [place for place in places if place not in filled_by_twos]
        # The queen of spades' place takes a 2 only where that is the only one (R2).
        queen = suit == "s" and QUEEN_PLACE in filled_by_twos
        # A 2 is a natural card nowhere (R4).
        if natural and TWO_PLACE not in natural and not (queen and twos > 1):
            needed = sum(1 << place - low for place in natural)
            shapes.append(
                (needed, tuple(LADDER[p] + suit if p in natural else None for p in places))
            )
    return (
        low,
        (1 << size) - 1,
        tuple(
            tuple(cards for needed, cards in shapes if held & needed == needed)
            for held in range(1 << size)
        ),
    )


_RUNS: Final = {
    suit: tuple(
        tuple(
            _window(suit, twos, low, size)
            for size in SIZES
            for low in range(len(LADDER) - size + 1)
        )
        for twos in range(SIZES[-1])
    )
    for suit in SUITS
}
"""By suit and number of 2s, where runs may be: what is held there tells which are."""


def runs_within(naturals: CardList, twos: CardList) -> ByTwos:
    """The runs of one suit, from the cards held of it and the first 2s."""
    held = 0
    for card in naturals:
        held |= _PLACES[card]
    return _runs(naturals[0][1], held, twos)


@lru_cache(_MEMO)
def _runs(suit: str, held: int, twos: CardList) -> ByTwos:
    """The runs of one suit, from the places held of it."""
    runs = _RUNS[suit]
    found: list[tuple[LooseMeld, ...]] = []
    for count in range(len(twos) + 1):
        melds: list[LooseMeld] = [
            (MeldKind.RUN, _without_gaps(cards, twos))
            for low, mask, by_held in runs[count]
            for cards in by_held[held >> low & mask]
        ]
        found.append(tuple(melds))
    return tuple(found)


def _without_gaps(cards: _Shape, twos: CardList) -> CardList:
    following = iter(twos)
    return tuple([card or next(following) for card in cards])


def melds_within(cards: Iterable[Card], twos: CardList) -> list[list[LooseMeld]]:
    """Melds of these natural cards, in canonical order, and the first of these 2s.

    By the number of their 2s. Cards that are 2s count only in `twos`.
    """
    ranks: defaultdict[str, list[Card]] = defaultdict(list)
    suits: defaultdict[str, list[Card]] = defaultdict(list)
    for card in cards:
        if card[0] != TWO:
            ranks[card[0]].append(card)
            suits[card[1]].append(card)
    few = twos[: SIZES[-1] - 1]  # beside a natural card
    needed = SIZES[0] - len(few)
    groups = [sets_within(tuple(group), few) for group in ranks.values() if len(group) >= needed]
    groups += [runs_within(tuple(group), few) for group in suits.values() if len(group) >= needed]
    found: list[list[LooseMeld]] = [[] for _ in range(SIZES[-1] + 1)]
    for group in groups:
        for twos_in, melds in enumerate(group):
            if melds:
                found[twos_in] += melds
    for size in SIZES:
        if len(twos) >= size:
            found[size].append((MeldKind.SET, twos[:size]))
    return found


def melds_of_three(top: Card, cards: CardList, twos: CardList) -> list[list[LooseMeld]]:
    """As `melds_within`, those of three cards that have `top`, which is one of the cards and no 2."""
    few = twos[: SIZES[0] - 1]
    found: list[list[LooseMeld]] = [[] for _ in range(len(few) + 1)]
    of_rank = tuple([card for card in cards if card[0] == top[0]])
    of_suit = tuple([card for card in cards if card[1] == top[1] and card[0] != TWO])
    for group, within in ((of_rank, sets_within), (of_suit, runs_within)):
        if len(group) + len(few) >= SIZES[0]:
            for twos_in, melds in enumerate(within(group, few)):
                if melds:
                    some = [meld for meld in melds if len(meld[1]) == SIZES[0] and top in meld[1]]
                    found[twos_in] += some
    return found
