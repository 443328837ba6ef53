"""Plays Democracy by comparing the effect of each card on this upcard with its effect on the average one.

A point is worth its increase of the seat's chance of the tribe, less the increase of the others' chances. The others
may play any card that the seat has not seen. Sets of cards are the bits of an integer, so that they are counted at
once.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from arena.games.cards import JOKER, SUITS, Card
from arena.games.contract import Seat
from arena.games.democracy.messages import PLAYS, RANKING, SIZES, PlayCard
from arena.games.democracy.rules import State
from arena.games.democracy.scoring import POINTS, TRIBE_POINTS

_SUIT_POINTS: Final = 25
_LUMP: Final = 3
"""The number of points for which the chance of a tribe is compared."""
_NO_TRUMP: Final = len(SUITS)
_FIVE: Final = RANKING.index("5")

_PACK: Final = [rank + suit for rank in RANKING for suit in SUITS]
_BIT: Final = {card: 1 << at for at, card in enumerate(_PACK)}
_JOKERS: Final = (0, 1 << len(_PACK), 3 << len(_PACK))
"""The bits of the jokers, by their number."""
_OF_SUIT: Final = (*[sum(_BIT[rank + suit] for rank in RANKING) for suit in SUITS], 0)
_OF_RANK: Final = [
    sum(_BIT[rank + suit] for suit in SUITS) | (_JOKERS[2] if at == _FIVE else 0)
    for at, rank in enumerate(RANKING)
]
_HIGHER: Final = [sum(_OF_RANK[at + 1 :]) for at in range(len(RANKING))]
_RANK: Final = {card: RANKING.index(card[0]) for card in _PACK} | {JOKER: _FIVE}
_SUIT: Final = {card: SUITS.index(card[1]) for card in _PACK} | {JOKER: _NO_TRUMP}
_POINTS: Final = {card: POINTS[card[0]] for card in _PACK} | {JOKER: 0}


def policy(state: State, seat: Seat, below: Callable[[int], int]) -> PlayCard:
    trick = _trick(state, seat)
    return PLAYS[max(state.day.hands[seat], key=trick.gain)]


@dataclass(slots=True)
class _Trick:
    unseen: int
    """The cards that may be in the others' hands."""
    size: int
    others: int
    mine: tuple[float, ...]
    """By suit, the worth of a point in the seat's own heap."""
    theirs: tuple[float, ...]
    """The same in another's heap."""
    thrown: tuple[float, float]
    """The worth of the others' cards, in the seat's own heap and in another's."""
    trumps: tuple[tuple[int, float, float, float], ...]
    """For each trump that may be next: its suit, its chance, its upcard's average worth in both heaps."""
    now: tuple[int, float, float, float]
    """The same of this trick's upcard."""

    def gain(self, card: Card) -> float:
        return self._worth(card, self.now) - sum([self._worth(card, up) for up in self.trumps])

    def _worth(self, card: Card, up: tuple[int, float, float, float]) -> float:
        trump, chance, up_mine, up_theirs = up
        wins, ties = self._chances(card, trump)
        kept = _POINTS[card] * self.mine[_SUIT[card]]
        lost = _POINTS[card] * self.theirs[_SUIT[card]]
        thrown_mine, thrown_theirs = self.thrown
        win = kept + up_mine + thrown_mine
        tie = kept + thrown_theirs
        lose = lost + up_theirs + thrown_theirs
        return chance * (wins * win + ties * tie + (1 - wins - ties) * lose)

    def _chances(self, card: Card, trump: int) -> tuple[float, float]:
        size, others, rank = self.size, self.others, _RANK[card]
        trumps = self.unseen & _OF_SUIT[trump]
        if trump == _SUIT[card] != _NO_TRUMP:
            if rank == 0:  # a six wins as the only trump, or beside the five
                five = bool(trumps & _OF_RANK[_FIVE])
                return _none_of(trumps.bit_count(), size, others) + five * others / size, 0.0
            higher = trumps & (_OF_RANK[0] if rank == _FIVE else _HIGHER[rank])
            return _none_of(higher.bit_count(), size, others), 0.0
        equal = self.unseen & ~trumps & _OF_RANK[rank]
        beaten_by = (trumps | self.unseen & _HIGHER[rank]).bit_count()
        wins = _none_of(beaten_by + equal.bit_count(), size, others)
        return wins, _none_of(beaten_by, size, others) - wins


def _trick(state: State, seat: Seat) -> _Trick:
    held, upcard, island = state.day.hands[seat], state.day.pool[0], state.island
    seats = len(state.match.seats)
    seen = (*held, upcard, *island.upcards, *island.plays)
    bits = sum([_BIT[card] for card in seen if card != JOKER])
    jokers = SIZES[seats].jokers - seen.count(JOKER)
    unseen = (1 << len(_PACK)) - 1 - bits | _JOKERS[jokers]
    size = unseen.bit_count()
    heaps = [(heap.clubs, heap.diamonds, heap.hearts, heap.spades) for heap in island.points]
    left = [_SUIT_POINTS - sum(have) for have in zip(*heaps, strict=True)]
    for card in island.discarded:
        if card != JOKER:
            left[_SUIT[card]] -= _POINTS[card]
    worths = [
        _worths(tuple([heap[suit] for heap in heaps]), left[suit], seat)
        for suit in range(_NO_TRUMP)
    ]
    hidden = left.copy()
    for card in (*held, upcard):
        if card != JOKER:
            hidden[_SUIT[card]] -= _POINTS[card]
    mine = (*[worth[0] for worth in worths], 0.0)
    theirs = (*[worth[1] for worth in worths], 0.0)
    trumps, sum_mine, sum_theirs = (
        [(_NO_TRUMP, jokers / size, 0.0, 0.0)] if jokers else [],
        0.0,
        0.0,
    )
    for suit, points in enumerate(hidden):
        count = (unseen & _OF_SUIT[suit]).bit_count()
        if count:
            worth_mine, worth_theirs = points * mine[suit], points * theirs[suit]
            trumps.append((suit, count / size, worth_mine / count, worth_theirs / count))
            sum_mine += worth_mine
            sum_theirs += worth_theirs
    suit, points = _SUIT[upcard], _POINTS[upcard]
    return _Trick(
        unseen,
        size,
        seats - 1,
        mine,
        theirs,
        (sum_mine * (seats - 1) / size, sum_theirs * (seats - 1) / size),
        tuple(trumps),
        (suit, 1.0, points * mine[suit], points * theirs[suit]),
    )


@lru_cache(maxsize=1 << 12)
def _none_of(few: int, size: int, draws: int) -> float:
    """Return the chance that none of `few` cards is among `draws` drawn of `size` cards."""
    return math.prod([max(0, size - few - at) / (size - at) for at in range(draws)])


@lru_cache(maxsize=1 << 14)
def _worths(have: tuple[int, ...], left: int, me: Seat) -> tuple[float, float]:
    """Return the worth of a point of a suit in the seat's heap, and on average in another's."""
    step = min(_LUMP, left)
    if not step:
        return 0.0, 0.0
    before = _lead(have, left, me)
    gains = []
    for player in range(len(have)):
        after = (*have[:player], have[player] + step, *have[player + 1 :])
        gains.append((_lead(after, left - step, me) - before) / step)
    mine = gains.pop(me)
    return mine, sum(gains) / len(gains)


def _lead(have: tuple[int, ...], left: int, me: Seat) -> float:
    """Return the seat's chance of the tribe less the others' mean."""
    chances = [_chance_of_tribe(points, left, len(have)) for points in have]
    return chances[me] - (sum(chances) - chances[me]) / (len(chances) - 1)


@lru_cache(maxsize=1 << 12)
def _chance_of_tribe(have: int, left: int, seats: int) -> float:
    """Return the chance to end with the points of a tribe if the remaining points go to the seats at random, in lumps."""
    spread = math.sqrt(4 * left * (seats - 1)) / seats
    over = have + left / seats - (TRIBE_POINTS - 0.5)
    return 0.5 * (1 + math.erf(over / spread / math.sqrt(2))) if spread else float(over > 0)
