"""Oklahoma Rummy's moves, and the choice of them: before the draw and after it.

R3 to R11 are the digest's rulings. A hand may hold sixty cards and allow
hundreds of melds, so a choice is listed only when somebody reads the list, and
a single move is judged without it.

A list names each meld once, with the first 2s held: another 2 in its place
does the same and is legal too. `complete` is False where a list leaves such
moves out; `count` and `sample` go over them all.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

from arena.cards import PACK_52, Card, in_order
from arena.games.contract import MAX_OFFERED
from arena.games.oklahoma_melds import (
    QUEEN_OF_SPADES,
    SIZES,
    TWO,
    TWOS,
    CardList,
    End,
    MeldKind,
    TableMeld,
    additions_to,
    canonical,
    extended,
    filled,
    is_two,
    read_meld,
    runs_within,
    sets_of_twos,
    sets_within,
    subsets,
)


@dataclass(frozen=True, slots=True)
class Draw:
    """Draw the top card of the stock, which is made anew if it is empty (R8)."""


@dataclass(frozen=True, slots=True)
class TakePile:
    """Meld the top discard with two cards of the hand, then take the rest of the pile (R6)."""

    kind: MeldKind
    cards: CardList
    """Exactly three, as for `Meld`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "cards", canonical(self.kind, self.cards))


@dataclass(frozen=True, slots=True)
class Decline:
    """Leave the pile where nothing can be drawn, which ends the hand (R8)."""


@dataclass(frozen=True, slots=True)
class Meld:
    """Put down three or four cards of the hand."""

    kind: MeldKind
    cards: CardList
    """A run's from low to high, a set's in any order."""

    def __post_init__(self) -> None:
        # Equal melds are to be equal moves, however they were written down.
        object.__setattr__(self, "cards", canonical(self.kind, self.cards))


@dataclass(frozen=True, slots=True)
class Extend:
    """Add a card of the hand to a meld of one's own."""

    index: int
    """The meld's place on the own table, from 0 in the order laid."""
    card: Card
    end: End | None
    """Where a run grows; None for a set."""


@dataclass(frozen=True, slots=True)
class Discard:
    """End the turn with any card but a queen of spades."""

    card: Card


@dataclass(frozen=True, slots=True)
class NoDiscard:
    """End the turn with nothing but queens of spades in hand (R9)."""


Move: TypeAlias = Draw | TakePile | Decline | Meld | Extend | Discard | NoDiscard

# Moves are interned: equal moves are one object. There are some 12,000 melds.
DRAW: Final = Draw()
DECLINE: Final = Decline()
NO_DISCARD: Final = NoDiscard()
DISCARDS: Final = {card: Discard(card) for card in PACK_52}
_meld: Final = cache(Meld)
_take_pile: Final = cache(TakePile)
_extend: Final = cache(Extend)

NOT_HELD: Final = "you do not hold that"


class Choice:
    """The moves of a seat that is to act. Listed when first asked for."""

    __slots__ = ("_listed", "hand")

    def __init__(self, hand: CardList) -> None:
        self.hand = hand
        self._listed: tuple[Move, ...] | None = None

    @property
    def all(self) -> tuple[Move, ...]:
        """The moves, each meld with the first 2s only."""
        if self._listed is None:
            self._listed = tuple(self.listed())
        return self._listed

    @property
    def offered(self) -> tuple[Move, ...]:
        return self.all[:MAX_OFFERED]

    @property
    def complete(self) -> bool:
        return self.count() <= MAX_OFFERED and self.count() == len(self.all)

    def __contains__(self, move: object) -> bool:
        return self.why_not(move) is None

    def count(self) -> int:
        return len(self.all) if self._twos_are_alike() else sum(map(self._ways, self.all))

    def sample(self, below: Callable[[int], int]) -> Move:
        if self._twos_are_alike():
            return self.all[below(len(self.all))]
        at = below(self.count())
        for move in self.all:
            ways = self._ways(move)
            if at < ways:
                return self._with_twos(move, at)
            at -= ways
        raise AssertionError("there are fewer moves than counted")

    def listed(self) -> list[Move]:
        """The moves in their fixed order."""
        raise NotImplementedError

    def why_not(self, move: object) -> str | None:
        """Why the move is not legal, in words for the bot; None if it is."""
        raise NotImplementedError

    def fixed_twos(self) -> CardList:
        """The 2s of a meld that do not come from the hand."""
        return ()

    def _twos_are_alike(self) -> bool:
        return len(TWOS.intersection(self.hand)) < 2

    def _ways(self, move: Move) -> int:
        """In how many ways 2s of the hand can fill the move's meld."""
        if not isinstance(move, Meld | TakePile):
            return 1
        return len(self._fillings(move))

    def _fillings(self, move: Meld | TakePile) -> tuple[CardList, ...]:
        needed = sum(map(is_two, move.cards)) - len(self.fixed_twos())
        return subsets(twos_of(self.hand), needed)

    def _with_twos(self, move: Move, at: int) -> Move:
        if not isinstance(move, Meld | TakePile):
            return move
        cards = filled(move.cards, self._fillings(move)[at] + self.fixed_twos())
        make = _meld if isinstance(move, Meld) else _take_pile
        return make(move.kind, canonical(move.kind, cards))


class AtDraw(Choice):
    """What a seat may do at the start of its turn: draw, or take the pile."""

    __slots__ = ("can_draw", "top")

    def __init__(self, hand: CardList, top: Card | None, can_draw: bool) -> None:
        super().__init__(hand)
        self.top = top
        """The top discard; None if the pile is empty."""
        self.can_draw = can_draw

    def listed(self) -> list[Move]:
        found: list[Move] = [DRAW if self.can_draw else DECLINE]
        if self.top is None:
            return found
        held = in_order((*self.hand, self.top))
        if self.top in TWOS:
            # The top card is first of the 2s, so every meld with a 2 has it.
            melds = melds_within(held, (self.top, *twos_of(self.hand)))
        else:
            rank, suit = self.top
            near = [card for card in held if card[0] == rank or card[1] == suit]
            melds = melds_within(near, twos_of(self.hand))
        for kind, cards in melds:
            if len(cards) == SIZES[0] and self.top in cards:
                found.append(_take_pile(kind, cards))
        return found

    def can_take(self) -> bool:
        """Whether some meld takes the pile."""
        return len(self.all) > 1

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
    """What a seat may do after its draw: meld and extend, and end the turn.

    What ends the turn is listed first, then extensions, then melds, those with
    few 2s first if not all can be offered.
    """

    __slots__ = ("melds",)

    def __init__(self, hand: CardList, melds: tuple[TableMeld, ...]) -> None:
        super().__init__(hand)
        self.melds = melds

    def listed(self) -> list[Move]:
        held = dict.fromkeys(self.hand)
        found: list[Move] = [DISCARDS[card] for card in held if card != QUEEN_OF_SPADES]
        if not found:
            found.append(NO_DISCARD)
        for index, meld in enumerate(self.melds):
            if len(meld.cards) == SIZES[-1]:
                continue
            for end, fitting in additions_to(meld):
                found += [_extend(index, card, end) for card in held if card in fitting]
        melds = melds_within(self.hand, twos_of(self.hand))
        if len(found) + len(melds) > MAX_OFFERED:
            melds.sort(key=lambda meld: sum(map(is_two, meld[1])))
        found += [_meld(kind, cards) for kind, cards in melds]
        return found

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
    """Whether the hand has all these cards, twins counted."""
    left = list(hand)
    for card in cards:
        if card not in left:
            return False
        left.remove(card)
    return True


def melds_within(cards: Iterable[Card], twos: CardList) -> list[tuple[MeldKind, CardList]]:
    """Melds of these natural cards, in canonical order, and the first of these 2s.

    Cards that are 2s count only in `twos`.
    """
    ranks: defaultdict[str, list[Card]] = defaultdict(list)
    suits: defaultdict[str, list[Card]] = defaultdict(list)
    for card in cards:
        rank, suit = card
        if rank != TWO:
            ranks[rank].append(card)
            suits[suit].append(card)
    few = twos[: SIZES[-1] - 1]  # beside a natural card
    needed = SIZES[0] - len(few)
    sets = sets_of_twos(twos)
    for naturals in ranks.values():
        if len(naturals) >= needed:
            sets += sets_within(tuple(naturals), few)
    runs: list[CardList] = []
    for naturals in suits.values():
        if len(naturals) >= needed:
            runs += runs_within(tuple(naturals), few)
    set_kind, run_kind = MeldKind.SET, MeldKind.RUN
    return [(set_kind, meld) for meld in sets] + [(run_kind, meld) for meld in runs]
