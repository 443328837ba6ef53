"""The legal moves of Arlington: at the lead, in a trick, in answer to a set.

Numbers such as (R8) are those of `rules.py`. A hand may have forty cards and contain over a thousand
sets. So moves are listed only when the list is read, and a single move is checked without it.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Final

from arena.games.arlington.messages import (
    KILL,
    LEAD_CARDS,
    PASS,
    PLAY_CARDS,
    Add,
    Kill,
    LeadCard,
    LeadSet,
    Move,
    Overplay,
    Pass,
    PlayCard,
    PlayS2,
    Table,
    TakeJoker,
)
from arena.games.arlington.sets import (
    JOKERS,
    TWO_OF_SPADES,
    CardSet,
    Spectrum,
    additions_to,
    joker_swaps_of,
    sets_within,
    spectra_of,
    strength_of,
)
from arena.games.cards import JOKER, Card
from arena.games.contract import MAX_OFFERED, Seat

# Moves are interned, as the codec finds the bytes of a move by its identity.
_lead_set: Final = cache(LeadSet)
_overplay: Final = cache(Overplay)
_play_s2: Final = cache(PlayS2)
_add: Final = cache(Add)
_take_joker: Final = cache(TakeJoker)

NOT_HELD: Final = "you do not hold that"
NO_SUCH_SET: Final = "there is no such set on that table"


class Choice:
    """The legal moves of a seat to act. They are listed on first access, as far as needed."""

    __slots__ = ("_all", "_first", "hand")

    def __init__(self, hand: CardSet) -> None:
        self.hand = hand
        self._first: tuple[Move, ...] | None = None
        self._all: tuple[Move, ...] | None = None

    @property
    def offered(self) -> tuple[Move, ...]:
        return self._first_moves()[:MAX_OFFERED]

    @property
    def complete(self) -> bool:
        return len(self._first_moves()) <= MAX_OFFERED

    def __contains__(self, move: object) -> bool:
        return self.why_not(move) is None

    def count(self) -> int:
        return len(self._all_moves())

    def sample(self, below: Callable[[int], int]) -> Move:
        listed = self._all_moves()
        return listed[below(len(listed))]

    def each(self) -> Iterator[Move]:
        """Yield the moves in a fixed order; a set once for each spectrum that it fits."""
        raise NotImplementedError

    def why_not(self, move: object) -> str | None:
        """Return why a move is illegal, for its bot; None if it is legal."""
        raise NotImplementedError

    def _first_moves(self) -> tuple[Move, ...]:
        """Return the moves that are offered, and one more if there is one."""
        if self._first is None:
            self._first = self._all or tuple(islice(self.each(), MAX_OFFERED + 1))
        return self._first

    def _all_moves(self) -> tuple[Move, ...]:
        if self._all is None:
            self._all = tuple(self.each())
        return self._all


class AtLead(Choice):
    """The moves of the seat with the lead (R8): cards, then moves on tables, then sets.

    Sets without jokers are first, so that a truncated list omits only the smallest of them.
    """

    __slots__ = ("tables",)

    def __init__(self, hand: CardSet, tables: tuple[Table, ...]) -> None:
        super().__init__(hand)
        self.tables = tables

    def each(self) -> Iterator[Move]:
        for card in _distinct(self.hand):
            yield LEAD_CARDS[card]
        held = frozenset(self.hand)
        for at, table in enumerate(self.tables):
            player = Seat(at)
            for index, cards in enumerate(table.sets):
                if TWO_OF_SPADES in held:
                    yield _play_s2(player, index)
                for card in _among(self.hand, held & additions_to(cards)):
                    yield _add(player, index, card)
                for card in _among(self.hand, held & joker_swaps_of(cards)):
                    yield _take_joker(player, index, card)
        for jokers in range(self.hand.count(JOKER) + 1):
            for spectrum in Spectrum:
                for cards in sets_within(spectrum, self.hand, jokers):
                    yield _lead_set(cards, spectrum)

    def why_not(self, move: object) -> str | None:
        match move:
            case LeadCard(card) | LeadSet((card,), None):
                return None if card in self.hand else NOT_HELD
            case LeadSet(cards, spectrum):
                if not spectra_of(cards):
                    return "these cards are no set"
                if spectrum is None or strength_of(cards, spectrum) is None:
                    return f"these cards are no set of {spectrum}"
                return None if _holds(self.hand, cards) else NOT_HELD
            case PlayS2(seat, index):
                if self._target(seat, index) is None:
                    return NO_SUCH_SET
                return None if TWO_OF_SPADES in self.hand else NOT_HELD
            case Add(seat, index, card):
                return self._why_not_onto(seat, index, card, additions_to)
            case TakeJoker(seat, index, card):
                return self._why_not_onto(seat, index, card, joker_swaps_of)
        return "you have the lead: lead, or play onto a table"

    def _target(self, seat: int, index: int) -> CardSet | None:
        if not 0 <= seat < len(self.tables):
            return None
        sets = self.tables[seat].sets
        return sets[index] if 0 <= index < len(sets) else None

    def _why_not_onto(
        self, seat: int, index: int, card: Card, fitting: Callable[[CardSet], frozenset[Card]]
    ) -> str | None:
        target = self._target(seat, index)
        if target is None:
            return NO_SUCH_SET
        if card not in self.hand:
            return NOT_HELD
        return None if card in fitting(target) else "that does not leave a legal set"


class InTrick(Choice):
    """The plays to a trick: any card (R9), equal jokers once."""

    __slots__ = ()

    def each(self) -> Iterator[Move]:
        for card in _distinct(self.hand):
            yield PLAY_CARDS[card]

    def why_not(self, move: object) -> str | None:
        if not isinstance(move, PlayCard):
            return "a card was led: play a card to it"
        return None if move.card in self.hand else NOT_HELD


class InAnswer(Choice):
    """The answers to the active set (R10, R11, R14)."""

    __slots__ = ("spectrum", "strength")

    def __init__(self, hand: CardSet, active: CardSet, spectrum: Spectrum) -> None:
        super().__init__(hand)
        self.spectrum = spectrum
        self.strength = strength_of(active, spectrum) or 0

    def each(self) -> Iterator[Move]:
        yield PASS
        if TWO_OF_SPADES in self.hand:
            yield KILL
        for jokers in range(self.hand.count(JOKER) + 1):
            for cards in sets_within(self.spectrum, self.hand, jokers):
                if self._beats(cards):
                    yield _overplay(cards)

    def why_not(self, move: object) -> str | None:
        match move:
            case Pass():
                return None
            case Kill():
                return None if TWO_OF_SPADES in self.hand else NOT_HELD
            case Overplay(cards):
                if not self._beats(cards):
                    return f"these cards are no higher set of {self.spectrum}"
                return None if _holds(self.hand, cards) else NOT_HELD
        return "a set was led: pass, overplay or kill it"

    def _beats(self, cards: CardSet) -> bool:
        strength = strength_of(cards, self.spectrum)
        return strength is not None and strength > self.strength


def _distinct(hand: CardSet) -> CardSet:
    """Return the cards, with equal jokers once (ruling 6)."""
    return hand[:-1] if hand[-JOKERS:] == (JOKER,) * JOKERS else hand


def _among(hand: CardSet, cards: frozenset[Card]) -> CardSet:
    """Return those of the cards that are in the hand, in the order of the hand."""
    return tuple([card for card in _distinct(hand) if card in cards]) if cards else ()


def _holds(hand: CardSet, cards: CardSet) -> bool:
    return cards.count(JOKER) <= hand.count(JOKER) and all(card in hand for card in cards)
