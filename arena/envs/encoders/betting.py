"""Observations and actions that the betting games share."""

from collections.abc import Iterator
from typing import Any, Final

from arena.envs.actions import ChosenMoves
from arena.envs.codes import BySeat, Fields, LatestOf, Maybe, Number, OneOf, SeatOf, ValueCode
from arena.games.betting.match import Action, Line, Match
from arena.games.betting.moves import Wager
from arena.games.betting.rounds import Chips
from arena.games.contract import Moves

_ACTIONS: Final = 40
"""The number of actions of a hand that are written; earlier ones are in a digest."""
POT_QUARTERS: Final = (1, 2, 3, 4, 6, 8)
"""Wagers of an abstraction, in quarters of the pot after a call."""
MOST_TOTALS: Final = 32
"""The maximal number of totals of a range of wagers in which each total is an action."""


def betting_codes(match: Match, seats: int) -> dict[str, ValueCode]:
    """Return the codes of the fields that views of betting games share."""
    together = sum(match.stacks)
    chips = Number(0, together, max(match.stacks))
    by_seat, line = BySeat(chips, seats), LatestOf(SeatOf(seats), _ACTIONS)
    return {
        "hand": Number(0, match.terms.hands),
        "chips": Fields(Chips, seats, stacks=by_seat, bets=by_seat, paid=by_seat),
        "to_call": chips,
        "min_to": Maybe(chips),
        "max_to": Maybe(chips),
        "line": Fields(
            Line,
            seats,
            seats=line,
            actions=LatestOf(OneOf(Action), _ACTIONS),
            tos=LatestOf(chips, _ACTIONS),
            starts=LatestOf(Number(0, 1 << 12, _ACTIONS), 5),
        ),
        "totals": BySeat(
            Number(-match.terms.hands * together, match.terms.hands * together, together), seats
        ),
    }


def wagers(range_of_totals: int) -> ChosenMoves:
    """Return the actions that bet, raise or bring in, for ranges of at most this many totals; 0 for any range."""
    if 0 < range_of_totals <= MOST_TOTALS:
        meaning = "bet, raise or bring in: the smallest total and as many chips more as the number"
        return ChosenMoves(range_of_totals, meaning, _all_totals)
    sizes = ", ".join(f"{quarters / 4:g}" for quarters in POT_QUARTERS)
    meaning = f"bet, raise or bring in: the smallest total; {sizes} of the pot after a call; the largest total"
    return ChosenMoves(2 + len(POT_QUARTERS), meaning, _pot_sizes)


def _wager(moves: Moves) -> Wager | None:
    """Return the largest wager; None if none is allowed."""
    last = moves.offered[-1]
    return last if isinstance(last, Wager) else None


def _all_totals(view: Any, moves: Moves) -> Iterator[Wager]:
    largest = _wager(moves)
    if largest is not None:
        for to in range(view.min_to, view.max_to + 1):
            yield type(largest)(to)


def _pot_sizes(view: Any, moves: Moves) -> Iterator[Wager | None]:
    largest = _wager(moves)
    if largest is None:
        return
    chips, kind = view.chips, type(largest)
    to_match = max(chips.bets)
    pot = sum(chips.bets) + sum(chips.paid) + view.to_call
    yield kind(view.min_to)
    below = view.min_to
    for quarters in POT_QUARTERS:
        to = to_match + pot * quarters // 4
        is_new = below < to < view.max_to
        yield kind(to) if is_new else None
        below = max(below, to)
    yield largest if view.max_to > view.min_to else None
