"""Arlington's moves, and the choice of them: at the lead, in a trick, in answer to a set.

R8 to R17 and the rulings are the digest's. A hand may hold forty cards and
allow over a thousand sets, so a choice is listed only when somebody reads the
list, and a single move is judged without it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

from arena.cards import JOKER, PACK_52, Card
from arena.games.arlington_sets import (
    JOKERS,
    CardSet,
    Spectrum,
    Table,
    additions_to,
    joker_swaps_of,
    set_of,
    sets_within,
    spectra_of,
    strength_of,
)
from arena.games.contract import MAX_OFFERED, Seat

TWO_OF_SPADES: Final[Card] = "2s"
"""Buries a set, played to it or in answer to it."""


@dataclass(frozen=True, slots=True)
class LeadCard:
    """Lead a card to a trick (R9)."""

    card: Card


@dataclass(frozen=True, slots=True)
class LeadSet:
    """Lead a set onto the own table, in a spectrum that it fits (R10).

    Cards come in any order. Without a spectrum a set is read in the first that
    it fits, and a single card is a card led to a trick (R12, ruling 8).
    """

    cards: tuple[Card, ...]
    spectrum: Spectrum | None

    def __post_init__(self) -> None:
        # Equal sets are to be equal moves, however they were written down.
        cards = set_of(self.cards)
        object.__setattr__(self, "cards", cards)
        if self.spectrum is None and len(cards) > 1:
            object.__setattr__(self, "spectrum", next(iter(spectra_of(cards)), None))


@dataclass(frozen=True, slots=True)
class PlayS2:
    """Bury a set on any table, the 2s with it (R15)."""

    seat: Seat
    """Whose table."""
    index: int
    """The set's place on that table, from 0."""


@dataclass(frozen=True, slots=True)
class Add:
    """Add a card of the hand to a set on any table (R16)."""

    seat: Seat
    index: int
    card: Card


@dataclass(frozen=True, slots=True)
class TakeJoker:
    """Take a joker out of a set on any table, a suit card for it (R17)."""

    seat: Seat
    index: int
    card: Card


@dataclass(frozen=True, slots=True)
class PlayCard:
    """Play a card, any card, to the trick."""

    card: Card


@dataclass(frozen=True, slots=True)
class Pass:
    """Let the active set be."""


@dataclass(frozen=True, slots=True)
class Overplay:
    """Beat the active set with a higher one of its spectrum, cards in any order (R11)."""

    cards: tuple[Card, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "cards", set_of(self.cards))


@dataclass(frozen=True, slots=True)
class Kill:
    """Bury the active set with the 2s and take the lead (R14)."""


Move: TypeAlias = LeadCard | LeadSet | PlayS2 | Add | TakeJoker | PlayCard | Pass | Overplay | Kill

# Moves that come again are interned: equal moves are one object.
LEAD_CARDS: Final = {card: LeadCard(card) for card in (*PACK_52, JOKER)}
PLAY_CARDS: Final = {card: PlayCard(card) for card in (*PACK_52, JOKER)}
PASS: Final = Pass()
KILL: Final = Kill()
_lead_set: Final = cache(LeadSet)
_overplay: Final = cache(Overplay)
_play_s2: Final = cache(PlayS2)
_add: Final = cache(Add)
_take_joker: Final = cache(TakeJoker)

NOT_HELD: Final = "you do not hold that"
NO_SUCH_SET: Final = "there is no such set on that table"


class Choice:
    """The moves of a seat that is to act. Listed when first asked for."""

    __slots__ = ("_listed", "hand")

    def __init__(self, hand: CardSet) -> None:
        self.hand = hand
        self._listed: tuple[Move, ...] | None = None

    @property
    def all(self) -> tuple[Move, ...]:
        """All moves; a set named two ways counts once, by its spectrum."""
        if self._listed is None:
            self._listed = tuple(self.listed())
        return self._listed

    @property
    def offered(self) -> tuple[Move, ...]:
        return self.all[:MAX_OFFERED]

    @property
    def complete(self) -> bool:
        return len(self.all) <= MAX_OFFERED

    def __contains__(self, move: object) -> bool:
        return self.why_not(move) is None

    def count(self) -> int:
        return len(self.all)

    def sample(self, below: Callable[[int], int]) -> Move:
        return self.all[below(len(self.all))]

    def listed(self) -> list[Move]:
        """The moves in their fixed order."""
        raise NotImplementedError

    def why_not(self, move: object) -> str | None:
        """Why the move is not legal, in words for the bot; None if it is."""
        raise NotImplementedError


class AtLead(Choice):
    """What the seat with the lead may do (R8): cards, then tables, then sets.

    Sets without jokers come first, so that a cut list has lost none of them
    but the smallest.
    """

    __slots__ = ("tables",)

    def __init__(self, hand: CardSet, tables: tuple[Table, ...]) -> None:
        super().__init__(hand)
        self.tables = tables

    def listed(self) -> list[Move]:
        found: list[Move] = [LEAD_CARDS[card] for card in _distinct(self.hand)]
        held = frozenset(self.hand)
        for seat, table in enumerate(self.tables):
            for index, cards in enumerate(table.sets):
                if TWO_OF_SPADES in held:
                    found.append(_play_s2(Seat(seat), index))
                fitting = held & additions_to(cards)
                if fitting:
                    found += [_add(Seat(seat), index, card) for card in set_of(fitting)]
                swaps = held & joker_swaps_of(cards)
                if swaps:
                    found += [_take_joker(Seat(seat), index, card) for card in set_of(swaps)]
        for jokers in range(self.hand.count(JOKER) + 1):
            for spectrum in Spectrum:
                found += [
                    _lead_set(cards, spectrum)
                    for cards in sets_within(spectrum, self.hand, jokers)
                ]
        return found

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
    """What a seat may play to a trick: any card (R9), equal jokers once."""

    __slots__ = ()

    def listed(self) -> list[Move]:
        return [PLAY_CARDS[card] for card in _distinct(self.hand)]

    def why_not(self, move: object) -> str | None:
        if not isinstance(move, PlayCard):
            return "a card was led: play a card to it"
        return None if move.card in self.hand else NOT_HELD


class InAnswer(Choice):
    """How a seat may answer the active set (R10, R11, R14)."""

    __slots__ = ("spectrum", "strength")

    def __init__(self, hand: CardSet, active: CardSet, spectrum: Spectrum) -> None:
        super().__init__(hand)
        self.spectrum = spectrum
        self.strength = strength_of(active, spectrum) or 0

    def listed(self) -> list[Move]:
        found: list[Move] = [PASS]
        if TWO_OF_SPADES in self.hand:
            found.append(KILL)
        for jokers in range(self.hand.count(JOKER) + 1):
            found += [
                _overplay(cards)
                for cards in sets_within(self.spectrum, self.hand, jokers)
                if self._beats(cards)
            ]
        return found

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
    """The cards, two jokers as one (ruling 6)."""
    return hand[:-1] if hand[-JOKERS:] == (JOKER,) * JOKERS else hand


def _holds(hand: CardSet, cards: CardSet) -> bool:
    return cards.count(JOKER) <= hand.count(JOKER) and all(card in hand for card in cards)
