"""The legal moves of Oklahoma Rummy: at the draw and after it.

Numbers such as (R8) are those of `rules.py`. A hand may have sixty cards and allow hundreds of melds. So
moves are listed only when the list is read, and a single move is checked without it.

A list contains each meld once, with the first 2s of the hand; the same meld with another 2 is legal too.
`complete` is False if a list omits such moves; `count` and `sample` consider all of them.
"""

from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain, islice
from typing import Final

from arena.games.cards import Card, in_order
from arena.games.contract import MAX_OFFERED
from arena.games.oklahoma_rummy.melds import (
    QUEEN_OF_SPADES,
    SIZES,
    TWOS,
    CardList,
    LooseMeld,
    MeldKind,
    TableMeld,
    additions_to,
    canonical,
    extended,
    filled,
    melds_of_three,
    melds_within,
    read_meld,
    subsets,
)
from arena.games.oklahoma_rummy.messages import (
    DECLINE,
    DISCARDS,
    DRAW,
    NO_DISCARD,
    Decline,
    Discard,
    Draw,
    Extend,
    Meld,
    Move,
    NoDiscard,
    TakePile,
)

# Moves are interned when they are made, as there are about 12,000 melds.
_meld: Final = cache(Meld)
_take_pile: Final = cache(TakePile)
_extend: Final = cache(Extend)

NOT_HELD: Final = "you do not hold that"


class Choice:
    """The legal moves of a seat to act. They are listed on first access."""

    __slots__ = ("_listed", "hand")

    def __init__(self, hand: CardList) -> None:
        self.hand = hand
        self._listed: tuple[list[Move], list[list[LooseMeld]]] | None = None

    @property
    def offered(self) -> tuple[Move, ...]:
        plain, melds = self._parts()
        room = islice(chain.from_iterable(melds), MAX_OFFERED - len(plain))
        return (*plain, *[self.laying(kind, cards) for kind, cards in room])

    @property
    def complete(self) -> bool:
        plain, melds = self._parts()
        listed = len(plain) + sum(map(len, melds))
        return listed <= MAX_OFFERED and listed == self.count()

    def __contains__(self, move: object) -> bool:
        return self.why_not(move) is None

    def count(self) -> int:
        plain, melds = self._parts()
        return len(plain) + sum(
            len(some) * len(self._fillings(twos)) for twos, some in enumerate(melds) if some
        )

    def sample(self, below: Callable[[int], int]) -> Move:
        plain, melds = self._parts()
        drawn = below(self.count())
        if drawn < len(plain):
            return plain[drawn]
        drawn -= len(plain)
        for twos, some in enumerate(melds):
            if not some:
                continue
            fillings = self._fillings(twos)
            if drawn < len(some) * len(fillings):
                at, way = divmod(drawn, len(fillings))
                kind, cards = some[at]
                return self.laying(kind, canonical(kind, filled(cards, fillings[way])))
            drawn -= len(some) * len(fillings)
        raise AssertionError("there are fewer moves than counted")

    def _parts(self) -> tuple[list[Move], list[list[LooseMeld]]]:
        if self._listed is None:
            self._listed = self.listed()
        return self._listed

    def _fillings(self, twos: int) -> tuple[CardList, ...]:
        """Return all choices of 2s for a meld with `twos` 2s."""
        fixed = self.fixed_twos()
        ways = subsets(twos_of(self.hand), twos - len(fixed)) if twos else ((),)
        return tuple([fixed + way for way in ways]) if fixed else ways

    def listed(self) -> tuple[list[Move], list[list[LooseMeld]]]:
        """Return the moves in a fixed order: other moves, and melds by the number of their 2s."""
        raise NotImplementedError

    def laying(self, kind: MeldKind, cards: CardList) -> Move:
        raise NotImplementedError

    def fixed_twos(self) -> CardList:
        """Return the 2s of every meld that are not from the hand."""
        return ()

    def why_not(self, move: object) -> str | None:
        """Return why a move is illegal, for its bot; None if it is legal."""
        raise NotImplementedError


class AtDraw(Choice):
    """The moves at the start of a turn: draw, or take the pile."""

    __slots__ = ("can_draw", "top")

    def __init__(self, hand: CardList, top: Card | None, can_draw: bool) -> None:
        super().__init__(hand)
        self.top = top
        """The top discard; None if the pile is empty."""
        self.can_draw = can_draw

    def listed(self) -> tuple[list[Move], list[list[LooseMeld]]]:
        first: list[Move] = [DRAW if self.can_draw else DECLINE]
        top = self.top
        if top is None:
            return first, []
        size = SIZES[0]
        if top in TWOS:
            # The top card is the first of the 2s, so exactly the melds with a 2 contain it.
            melds = melds_within(self.hand, (top, *twos_of(self.hand)))
            melds[0] = []
            return first, [[meld for meld in some if len(meld[1]) == size] for some in melds]
        return first, melds_of_three(top, in_order((*self.hand, top)), twos_of(self.hand))

    def laying(self, kind: MeldKind, cards: CardList) -> Move:
        return _take_pile(kind, cards)

    def can_take(self) -> bool:
        return any(self._parts()[1])

    def fixed_twos(self) -> CardList:
        return () if self.top is None or self.top not in TWOS else (self.top,)

    def why_not(self, move: object) -> str | None:
        match move:
            case Draw():
                return None if self.can_draw else "there is nothing to draw"
            case Decline():
                return "you can draw" if self.can_draw else None
            case TakePile(kind, cards):
                if self.top is None:
                    return "the pile is empty"
                if len(cards) != SIZES[0] or self.top not in cards:
                    return "take the pile with its top card and exactly two of your hand"
                from_hand = list(cards)
                from_hand.remove(self.top)
                if not holds(self.hand, from_hand):
                    return NOT_HELD
                return None if read_meld(kind, cards) else f"these cards are no {kind}"
        return "begin your turn: draw or take the pile"


class AtPlay(Choice):
    """The moves after the draw: meld, extend, and end the turn.

    Moves that end the turn are listed first, then extensions, then melds by the number of their 2s. So a
    truncated list omits only melds with many 2s.
    """

    __slots__ = ("melds",)

    def __init__(self, hand: CardList, melds: tuple[TableMeld, ...]) -> None:
        super().__init__(hand)
        self.melds = melds

    def listed(self) -> tuple[list[Move], list[list[LooseMeld]]]:
        held = dict.fromkeys(self.hand)
        others: list[Move] = [DISCARDS[card] for card in held if card != QUEEN_OF_SPADES]
        if not others:
            others.append(NO_DISCARD)
        for index, meld in enumerate(self.melds):
            if len(meld.cards) == SIZES[-1]:
                continue
            for end, fitting in additions_to(meld):
                if not fitting.isdisjoint(held):  # usually true, and quicker than a loop
                    others += [_extend(index, card, end) for card in held if card in fitting]
        return others, melds_within(self.hand, twos_of(self.hand))

    def laying(self, kind: MeldKind, cards: CardList) -> Move:
        return _meld(kind, cards)

    def why_not(self, move: object) -> str | None:
        match move:
            case Discard(card):
                if card not in self.hand:
                    return NOT_HELD
                return None if card != QUEEN_OF_SPADES else "a queen of spades is never discarded"
            case NoDiscard():
                stuck = all(card == QUEEN_OF_SPADES for card in self.hand)
                return None if stuck else "you can discard"
            case Meld(kind, cards):
                if not holds(self.hand, cards):
                    return NOT_HELD
                return None if read_meld(kind, cards) else f"these cards are no {kind}"
            case Extend(index, card, end):
                if not 0 <= index < len(self.melds):
                    return "you have no such meld"
                if card not in self.hand:
                    return NOT_HELD
                if extended(self.melds[index], card, end) is None:
                    return "that does not extend this meld"
                return None
        return "you have drawn: meld, extend or discard"


def twos_of(hand: CardList) -> CardList:
    return tuple([card for card in hand if card in TWOS])


def holds(hand: CardList, cards: Iterable[Card]) -> bool:
    """Return whether the hand contains all these cards, counting equal cards."""
    left = list(hand)
    for card in cards:
        if card not in left:
            return False
        left.remove(card)
    return True
