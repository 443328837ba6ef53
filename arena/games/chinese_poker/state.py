"""What a match of Chinese Poker consists of while it is played."""

from dataclasses import dataclass

from arena.cards import Card
from arena.games.chinese.naturals import Natural
from arena.games.chinese_poker.words import Set, ShownNatural
from arena.games.contract import Seat


@dataclass(frozen=True, slots=True)
class Match:
    """What outlasts a hand."""

    seats: tuple[Seat, ...]
    hands: int
    """Hands of the whole match."""
    hand: int
    hand_scores: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Deal:
    """The cards of a hand, by seat."""

    hands: tuple[tuple[Card, ...], ...]
    """Thirteen to each seat, high first; none when the match is over."""
    naturals: tuple[Natural | None, ...]
    """The highest natural in each hand, declared or not."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The hand after all have set: by seat, what each did."""

    settings: tuple[Set | None, ...]
    """None where a natural was declared."""
    naturals: tuple[ShownNatural, ...]
    asked: tuple[Seat, ...]
    """The seats without natural, which now play or surrender."""


@dataclass(frozen=True, slots=True)
class State:
    """A match before a choice of all seats concerned; half of one is never in it."""

    match: Match
    deal: Deal
    committed: Committed | None
    """None while the seats set their cards."""
