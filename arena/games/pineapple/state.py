"""The stakes and the state of a match of the Pineapple games."""

from dataclasses import dataclass
from typing import Final

from arena.games.betting.match import Line, Match, check_depth, check_stacks, new_match
from arena.games.betting.rounds import Limits, Round, Structure
from arena.games.cards import Card
from arena.games.contract import BadOptions
from arena.games.options import check_match, numbers_of
from arena.games.pineapple.messages import (
    FIXED_STACK,
    NOLIMIT_STACK,
    Options,
    Phase,
    Street,
    Variant,
)

SEATS: Final[range] = range(2, 10)


@dataclass(frozen=True, slots=True)
class Stakes:
    """Stakes, as computed from the options."""

    variant: Variant
    ante: int
    blinds: tuple[int, int]
    limits: tuple[Limits, Limits]
    """Limits before and on the flop, and limits on turn and river."""


def first_match(options: Options, seats: int) -> tuple[Stakes, Match]:
    """Return the stakes, and a match before its first hand.

    Raises `BadOptions` if the number of seats is invalid, or the stakes contradict each other.
    """
    check_match("Pineapple", SEATS, seats, options.hands)
    stakes = stakes_of(options)
    fixed = options.structure == Structure.FIXED
    stack = options.start_stack or (FIXED_STACK if fixed else NOLIMIT_STACK)
    stacks = numbers_of(options.stacks) or (stack,) * seats
    if len(stacks) != seats:
        raise BadOptions(f"stacks={options.stacks} is not one number for each of {seats} seats")
    option = "stacks" if options.stacks else "start_stack"
    check_stacks(option, stacks, options.ante)
    check_depth(option, stacks, stakes.limits[0].least)
    return stakes, new_match(options.hands, options.format, stacks)


def stakes_of(options: Options) -> Stakes:
    """Return the stakes of a match. Raises `BadOptions` if blinds and bets contradict each other."""
    small, big = options.small_blind, options.big_blind
    if small > big:
        raise BadOptions(f"small_blind={small} is over big_blind={big}")
    if not big and not options.ante:
        raise BadOptions("there is nothing to play for: set ante or big_blind")
    if options.structure == Structure.NOLIMIT:
        limits = Limits(Structure.NOLIMIT, big or options.min_bet, 0, None)
        return Stakes(Variant(options.variant), options.ante, (small, big), (limits, limits))
    if big not in (0, options.small_bet):
        raise BadOptions(f"big_blind={big} is not small_bet={options.small_bet}, as in fixed limit")
    if options.big_bet < options.small_bet:
        raise BadOptions(f"big_bet={options.big_bet} is under small_bet={options.small_bet}")
    early, late = (
        Limits(Structure.FIXED, size, size, options.max_raises)
        for size in (options.small_bet, options.big_bet)
    )
    return Stakes(Variant(options.variant), options.ante, (small, big), (early, late))


BOARD: Final = {Street.PREFLOP: 0, Street.FLOP: 3, Street.TURN: 4, Street.RIVER: 5}
"""The number of board cards by street."""


@dataclass(frozen=True, slots=True)
class Deal:
    holes: tuple[tuple[Card, ...], ...]
    """By seat, in the order dealt; two after the discard."""
    given_up: tuple[Card | None, ...]
    runout: tuple[Card, ...]
    """All five board cards, of which the first `BOARD[street]` are public."""


@dataclass(frozen=True, slots=True)
class Hand:
    """The part of a hand that does not change with a betting move."""

    stakes: Stakes
    match: Match
    deal: Deal


@dataclass(frozen=True, slots=True)
class State:
    """A match before a move, or before the discards of all seats."""

    hand: Hand
    phase: Phase
    street: Street
    betting: Round
    line: Line
