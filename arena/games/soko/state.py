"""The stakes and the state of a match of Soko."""

from dataclasses import dataclass
from typing import Final

from arena.games.betting.match import Line, Match, check_depth, check_stacks, new_match
from arena.games.betting.rounds import Limits, Round, Structure
from arena.games.cards import Card
from arena.games.contract import BadOptions
from arena.games.options import check_match
from arena.games.soko.messages import Options, Phase

SEATS: Final[range] = range(2, 9)


@dataclass(frozen=True, slots=True)
class Stakes:
    """Stakes, as computed from the options."""

    ante: int
    bring_in: int
    limits: tuple[Limits, Limits]
    """Normal and doubled limits."""


def first_match(options: Options, seats: int) -> tuple[Stakes, Match]:
    """Return the stakes, and a match before its first hand.

    Raises `BadOptions` if the number of seats is invalid, or the stakes contradict each other.
    """
    check_match("Soko", SEATS, seats, options.hands)
    stacks = (options.start_stack,) * seats
    check_stacks("start_stack", stacks, options.ante)
    if options.structure != Structure.SPREAD:
        check_depth("start_stack", stacks, options.min_bet)
    return stakes_of(options), new_match(options.hands, options.format, stacks)


def stakes_of(options: Options) -> Stakes:
    least, structure = options.min_bet, Structure(options.structure)
    most, max_raises = (
        (options.max_bet, options.max_raises) if structure is Structure.SPREAD else (0, None)
    )
    if least > options.max_bet and structure is Structure.SPREAD:
        raise BadOptions(f"min_bet={least} is over max_bet={options.max_bet}")
    plain, doubled = (
        Limits(structure, times * least, times * most, max_raises) for times in (1, 2)
    )
    return Stakes(options.ante, max(1, least // 2), (plain, doubled))


@dataclass(frozen=True, slots=True)
class Deal:
    holes: tuple[Card | None, ...]
    """By seat; None for a seat that is out of the match."""
    upcards: tuple[tuple[Card, ...], ...]
    stock: tuple[Card, ...]
    """The rest of the deck, the next card first."""


@dataclass(frozen=True, slots=True)
class Hand:
    """The part of a hand that does not change during a betting round."""

    stakes: Stakes
    match: Match
    deal: Deal


@dataclass(frozen=True, slots=True)
class State:
    hand: Hand
    phase: Phase
    """`OVER` after a hand; of the states that `step` returns only the last has it."""
    number: int
    """The number of the betting round, from 1."""
    betting: Round
    line: Line
