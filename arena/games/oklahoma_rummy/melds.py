"""The melds of Oklahoma Rummy: sets and runs, their points and their extensions.

Rulings are numbered R1 to R11. Every 2 is wild, also in the place of the two in a run (R4).

| meld  | cards                                                                    |
|-------|--------------------------------------------------------------------------|
| set   | 3 or 4 of a rank, also equal cards; 2s are wild, and may be all of it     |
| run   | 3 or 4 of a suit in sequence, the ace at either end; 2s are wild, not all |
"""

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from itertools import combinations
from typing import Final, TypeAlias

from arena.games.cards import RANKS, SUITS, Card, pack
from arena.games.frozen import Frozen

QUEEN_OF_SPADES: Final[Card] = "Qs"
TWO: Final = "2"
TWOS: Final = frozenset(TWO + suit for suit in SUITS)

_LOW_POINTS: Final = dict.fromkeys("234567", 5)
RANK_POINTS: Final = dict.fromkeys("89TJQK", 10) | _LOW_POINTS | {"A": 20}
"""The points by rank, except the queen of spades and 2s."""
CARD_POINTS: Final = {card: RANK_POINTS[card[0]] for card in pack()} | {QUEEN_OF_SPADES: 50}
"""The points in a meld, by the card that a card represents (R1)."""
HELD_POINTS: Final = CARD_POINTS | dict.fromkeys(TWOS, 20) | {QUEEN_OF_SPADES: 100}
"""The points lost for a card left in the hand."""
ALL_TWOS_POINTS: Final = 25
"""The points of each 2 in a set of 2s."""
OUT_POINTS: Final = 100
_PACKS: Final = 2

MOST_MELDED: Final = _PACKS * sum(
    max(CARD_POINTS.values()) if card in TWOS else points for card, points in CARD_POINTS.items()
)
"""An upper bound of the points of all cards in melds; a 2 counts as the card with most points."""

MOST_HELD: Final = _PACKS * sum(HELD_POINTS.values())
"""The cost of all cards together."""


CardList: TypeAlias = tuple[Card, ...]
LooseMeld: TypeAlias = tuple["MeldKind", CardList]
ByTwos: TypeAlias = tuple[tuple[LooseMeld, ...], ...]

SIZES: Final = (3, 4)
"""The possible numbers of cards in a meld."""

LADDER: Final = "A" + RANKS
"""The ranks of a run by place, from 0: the ace is at both ends, the two at place 1."""
TWO_PLACE: Final = LADDER.index(TWO)
QUEEN_PLACE: Final = LADDER.index("Q")

_MEMO: Final = 1 << 12
"""The cache size of each function that lists melds."""


class MeldKind(StrEnum):
    SET = "set"
    RUN = "run"


class End(StrEnum):
    """The end at which a run is extended."""

    LOW = "low"
    HIGH = "high"


class TableMeld(Frozen):
    """A meld on the table."""

    kind: MeldKind
    cards: CardList
    """Those of a run are from low to high."""
    stands_for: CardList
    """The card that each card of a run represents, which never changes (R5). Empty for a set, whose 2s
    count as cards of its rank (R2)."""
    points: int


def set_rank(cards: Iterable[Card]) -> str | None:
    """Return the rank of a set, `2` if all are 2s; None if the ranks are mixed."""
    ranks = {card[0] for card in cards if card not in TWOS}
    if len(ranks) > 1:
        return None
    return ranks.pop() if ranks else TWO


@lru_cache(_MEMO)
def read_meld(kind: MeldKind, cards: CardList) -> TableMeld | None:
    """Return the meld of these cards, those of a run from low to high; None if they are none."""
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
    # One natural card fixes every place. An ace is low as the first card, and high otherwise.
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
    """Return whether a 2 represents the queen of spades; then it must be the only 2 (R2)."""
    return QUEEN_OF_SPADES in stands_for and cards[stands_for.index(QUEEN_OF_SPADES)] in TWOS


def extended(meld: TableMeld, card: Card, end: End | None) -> TableMeld | None:
    """Return the meld with one more card; None if it does not fit.

    `end` is required for a run, and None for a set.
    """
    if (end is None) != (meld.kind is MeldKind.SET):
        return None
    if end is None and card not in TWOS and set_rank(meld.cards) == TWO:
        return None  # a set of 2s can be extended only by 2s (R3)
    cards = (card, *meld.cards) if end is End.LOW else (*meld.cards, card)
    if end is None:
        cards = canonical(MeldKind.SET, cards)
    return read_meld(meld.kind, cards)


@lru_cache(_MEMO)
def additions_to(meld: TableMeld) -> tuple[tuple[End | None, frozenset[Card]], ...]:
    """Return the cards that extend a meld, by end."""
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
    """Return the canonical order of a meld: a set in order with 2s last, a run with its 2s in order.

    Texts that are no cards are last; the rules reject them.
    """
    if kind is MeldKind.SET:
        return tuple(sorted(cards, key=lambda card: (_TWOS_LAST.get(card, 99), card)))
    twos = sorted([card for card in cards if card in TWOS], key=_TWOS_LAST.__getitem__)
    return filled(cards, tuple(twos))


def filled(cards: CardList, twos: CardList) -> CardList:
    """Return the cards with their 2s replaced by these 2s, in order."""
    following = iter(twos)
    return tuple([next(following) if card in TWOS else card for card in cards])


@lru_cache(_MEMO)
def subsets(cards: CardList, size: int) -> tuple[CardList, ...]:
    """Return all choices of `size` cards, equal choices once."""
    return tuple(dict.fromkeys(combinations(cards, size)))


@lru_cache(_MEMO)
def sets_within(naturals: CardList, twos: CardList) -> ByTwos:
    """Return the sets of one rank, from its cards in the hand and the first 2s."""
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
    rank + suit: sum(1 << place for place, step in enumerate(LADDER) if step == rank)
    for rank in RANKS
    for suit in SUITS
}
"""The places of a natural card in `LADDER`, as bits; an ace has two."""


_Shape: TypeAlias = tuple[Card | None, ...]
"""The cards of a run, with None for 2s."""
_Window: TypeAlias = tuple[int, int, tuple[tuple[_Shape, ...], ...]]
"""Adjacent places: the lowest, a mask of as many bits, and the runs by mask of the cards in the hand."""


def _window(suit: str, twos: int, low: int, size: int) -> _Window:
    """Return the runs with `twos` 2s in the `size` places from `low`."""
    places = range(low, low + size)
    shapes: list[tuple[int, _Shape]] = []
    for filled_by_twos in combinations(places, twos):
        natural = [place for place in places if place not in filled_by_twos]
        # A 2 may represent the queen of spades only if it is the only 2 (R2).
        queen = suit == "s" and QUEEN_PLACE in filled_by_twos
        # A 2 is never a natural card (R4).
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
"""By suit and number of 2s, the windows of possible runs."""


def runs_within(naturals: CardList, twos: CardList) -> ByTwos:
    """Return the runs of one suit, from its cards in the hand and the first 2s."""
    held = 0
    for card in naturals:
        held |= _PLACES[card]
    return _runs(naturals[0][1], held, twos)


@lru_cache(_MEMO)
def _runs(suit: str, held: int, twos: CardList) -> ByTwos:
    runs = _RUNS[suit]
    pairs: list[tuple[LooseMeld, ...]] = []
    for count in range(len(twos) + 1):
        melds: list[LooseMeld] = [
            (MeldKind.RUN, _without_gaps(cards, twos))
            for low, mask, by_held in runs[count]
            for cards in by_held[held >> low & mask]
        ]
        pairs.append(tuple(melds))
    return tuple(pairs)


def _without_gaps(cards: _Shape, twos: CardList) -> CardList:
    following = iter(twos)
    return tuple([card or next(following) for card in cards])


def melds_within(cards: Iterable[Card], twos: CardList) -> list[list[LooseMeld]]:
    """Return the melds of natural cards, in canonical order, and the first 2s, by number of 2s.

    2s among `cards` are ignored; they count only in `twos`.
    """
    ranks: defaultdict[str, list[Card]] = defaultdict(list)
    suits: defaultdict[str, list[Card]] = defaultdict(list)
    for card in cards:
        if card[0] != TWO:
            ranks[card[0]].append(card)
            suits[card[1]].append(card)
    few = twos[: SIZES[-1] - 1]  # a meld has at least one natural card
    needed = SIZES[0] - len(few)
    groups = [sets_within(tuple(group), few) for group in ranks.values() if len(group) >= needed]
    groups += [runs_within(tuple(group), few) for group in suits.values() if len(group) >= needed]
    by_size: list[list[LooseMeld]] = [[] for _ in range(SIZES[-1] + 1)]
    for group in groups:
        for twos_in, melds in enumerate(group):
            if melds:
                by_size[twos_in] += melds
    for size in SIZES:
        if len(twos) >= size:
            by_size[size].append((MeldKind.SET, twos[:size]))
    return by_size


def melds_of_three(top: Card, cards: CardList, twos: CardList) -> list[list[LooseMeld]]:
    """Return the melds of three cards that contain `top`, which is in `cards` and no 2; see `melds_within`."""
    few = twos[: SIZES[0] - 1]
    by_twos: list[list[LooseMeld]] = [[] for _ in range(len(few) + 1)]
    of_rank = tuple([card for card in cards if card[0] == top[0]])
    of_suit = tuple([card for card in cards if card[1] == top[1] and card[0] != TWO])
    for group, within in ((of_rank, sets_within), (of_suit, runs_within)):
        if len(group) + len(few) >= SIZES[0]:
            for twos_in, melds in enumerate(within(group, few)):
                if melds:
                    some = [meld for meld in melds if len(meld[1]) == SIZES[0] and top in meld[1]]
                    by_twos[twos_in] += some
    return by_twos
