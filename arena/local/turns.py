"""The loop over the rules: a match of any game in one process, turn after turn.

The caller chooses the moves; nothing is timed, judged or written. A program that is itself called for each step uses
`first_turn` and `next_turn`. The referee does not use this loop, as it waits for bots. This module imports the rules
alone.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from arena.games.contract import Deals, Move, Options, Rules, Seat, SentEvent, State

Chosen: TypeAlias = tuple[tuple[Seat, Move], ...]
"""The moves of all seats to act, in seat order."""
Choose: TypeAlias = Callable[[State, Seat], Move]
"""Chooses the move of a seat to act. It receives the whole state; `rules.view` has what the seat may know."""


class Turn(NamedTuple):
    """One step of the rules: the chosen moves, and the state and events after them."""

    before: State | None
    """The state in which the moves were chosen; None at the first deal."""
    chosen: Chosen
    events: tuple[SentEvent, ...]
    after: State
    acting: tuple[Seat, ...]
    """The seats to act next; empty at the end of the match."""


def first_turn(rules: Rules, options: Options, seats: int, deals: Deals) -> Turn:
    """Return the first deal, at which nothing was chosen."""
    state, events = rules.start(options, seats, deals)
    return Turn(None, (), events, state, rules.to_act(state))


def next_turn(rules: Rules, turn: Turn, chosen: Chosen, deals: Deals) -> Turn:
    """Return the turn after `turn` with these moves.

    Raises `IllegalMove` if a move is illegal, or the moves are not those of the seats to act.
    """
    state, events = rules.step(turn.after, chosen, deals)
    return Turn(turn.after, chosen, events, state, rules.to_act(state))


def turns(
    rules: Rules, options: Options, seats: int, deals: Deals, choose: Choose
) -> Iterator[Turn]:
    """Play a match; yields each turn before the moves of the next one are chosen.

    The first turn is the deal. The last one has no seats to act, and `rules.result` has the result of its state.
    """
    turn = first_turn(rules, options, seats, deals)
    yield turn
    while turn.acting:
        chosen = tuple([(seat, choose(turn.after, seat)) for seat in turn.acting])
        turn = next_turn(rules, turn, chosen, deals)
        yield turn
