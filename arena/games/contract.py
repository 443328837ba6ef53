"""The functions of a rules module, and the types that all games share.

A rules module is a set of pure functions over immutable values:

    start(options, seats, deals) -> Step
    step(state, chosen, deals) -> Step
    to_act(state) -> the seats to ask now; empty when the match is over
    moves(state, seat) -> Moves, the legal moves of a seat to act
    view(state, seat | None) -> what that seat may know; None stands for a spectator
    fallback(state, seat) -> the move played for a seat that does not answer
    hand_number(state) -> int, counting every deal from 0
    hand_scores(state) -> the scores of completed hands, each by seat
    result(state) -> Result; None before the match is over
    margin_bound(options, seats) -> the largest difference of scores; None without a useful bound
    heavy(state, seat, move) -> Work or bool, whether a step may take more than 5 ms; optional

`step` takes the moves of all seats to act together, in seat order, so no state contains part of a
simultaneous choice. It raises `IllegalMove` if a move is illegal. States are immutable.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, NewType, Protocol, TypeAlias, TypeVar

from arena.games.cards import Card

T = TypeVar("T")

Seat = NewType("Seat", int)
"""A place at the table, 0 to n - 1, clockwise."""

MAX_OFFERED: Final = 512
"""The number of moves listed on one ask at most; the rules may allow more."""

# Each game has its own classes for these; here only their roles matter.
Options: TypeAlias = Any
State: TypeAlias = Any
Move: TypeAlias = Any
Event: TypeAlias = Any
View: TypeAlias = Any


class IllegalMove(Exception):
    """The rules forbid this move in this state.

    The text is shown to the seat that moved, so it may contain only what that seat may know.
    """


class BadOptions(ValueError):
    """An option has an unknown name or an invalid value, or does not fit the number of seats."""


class Deals(Protocol):
    """The shuffles of a match. Each is a function of its hand and label."""

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:
        """Return `cards` in the order that is fixed for hand number `hand` and `label`.

        The same arguments give the same order at every table, whatever was played before.
        """
        ...


class SentEvent(NamedTuple):
    """An event and the seats that it is sent to."""

    event: Event
    sent_to: tuple[Seat, ...] | None = None
    """None sends it to all seats and to spectators."""

    def is_for(self, seat: Seat | None) -> bool:
        """Return whether a seat receives the event; None stands for a spectator."""
        return self.sent_to is None or (seat is not None and seat in self.sent_to)


class Step(NamedTuple):
    """The state after a step, and the events of the step in order."""

    state: State
    events: tuple[SentEvent, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a match that was played to its end."""

    scores: tuple[int, ...]
    """Scores by seat, in the unit of the game; higher is better."""
    places: tuple[int, ...]
    """Places by seat, from 1; equal scores share a place."""
    hand_scores: tuple[tuple[int, ...], ...]
    """For each hand in order, the scores by seat."""
    ended_by_limit: bool = field(default=False, repr=False)  # golden matches do not have it
    """Whether a limit of hands ended the match before its goal was reached, such as the target of a race."""

    @classmethod
    def of(
        cls,
        scores: tuple[int, ...],
        hand_scores: tuple[tuple[int, ...], ...],
        *,
        ended_by_limit: bool = False,
    ) -> "Result":
        """Return the result of these scores; equal scores share the better place."""
        return cls(scores, places_of(scores), hand_scores, ended_by_limit)


class Moves(Protocol):
    """The legal moves of a seat to act; there is always at least one."""

    @property
    def offered(self) -> tuple[Move, ...]:
        """Legal moves in a fixed order, at most `MAX_OFFERED` of them."""
        ...

    @property
    def complete(self) -> bool:
        """Whether `offered` contains all legal moves."""
        ...

    def __contains__(self, move: object) -> bool: ...

    def count(self) -> int:
        """Return the number of legal moves, listed or not."""
        ...

    def sample(self, below: Callable[[int], int]) -> Move:
        """Draw a legal move uniformly; `below(n)` draws an integer in [0, n)."""
        ...


class Work(NamedTuple):
    """An upper bound of the running time of a step, in steps that are the same on every machine."""

    steps: int
    """All steps."""
    charged: int = 0
    """The steps that are charged to the clock of the seat."""


class Listed:
    """Legal moves as a tuple, of which the first `MAX_OFFERED` are offered."""

    __slots__ = ("all",)

    def __init__(self, moves: tuple[Move, ...]) -> None:
        self.all = moves

    @property
    def offered(self) -> tuple[Move, ...]:
        return self.all if len(self.all) <= MAX_OFFERED else self.all[:MAX_OFFERED]

    @property
    def complete(self) -> bool:
        return len(self.all) <= MAX_OFFERED

    def __contains__(self, move: object) -> bool:
        return is_among(move, self.all)

    def __iter__(self) -> Iterator[Move]:
        return iter(self.all)

    def count(self) -> int:
        return len(self.all)

    def sample(self, below: Callable[[int], int]) -> Move:
        return self.all[below(len(self.all))]


class Rules(Protocol):
    """The functions of a rules module, which the module itself implements."""

    def start(self, options: Options, seats: int, deals: Deals) -> Step: ...
    def step(self, state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step: ...
    def to_act(self, state: State) -> tuple[Seat, ...]: ...
    def moves(self, state: State, seat: Seat) -> Moves: ...
    def view(self, state: State, seat: Seat | None) -> View: ...
    def fallback(self, state: State, seat: Seat) -> Move: ...
    def hand_number(self, state: State) -> int: ...
    def hand_scores(self, state: State) -> tuple[tuple[int, ...], ...]: ...
    def result(self, state: State) -> Result | None: ...
    def margin_bound(self, options: Options, seats: int) -> int | None: ...


def with_entry(values: tuple[T, ...], at: int, value: T) -> tuple[T, ...]:
    """Return the values with the one at index `at` replaced."""
    return (*values[:at], value, *values[at + 1 :])


def is_among(move: object, legal: tuple[Move, ...]) -> bool:
    """Return whether a move is one of these, which most are by identity: a comparison of fields takes ten times as long."""
    for one in legal:
        if one is move:
            return True
    return move in legal


def work_of(rules: Rules, state: State, seat: Seat, move: Move) -> Work | bool:
    """Return the work of a step; False if it takes less than 5 ms, as all steps of most games."""
    # Not by `getattr`, which formats an error if a module has no such function.
    heavy: Callable[[State, Seat, Move], Work | bool] | None = vars(rules).get("heavy")
    return False if heavy is None else heavy(state, seat, move)


def places_of(scores: Sequence[int]) -> tuple[int, ...]:
    """Return places by seat: 1 for the highest score; equal scores share the better place."""
    return tuple(1 + sum(other > score for other in scores) for score in scores)


def require_to_act(
    chosen: tuple[tuple[Seat, Move], ...], asked: tuple[Seat, ...]
) -> tuple[Move, ...]:
    """Return the chosen moves in seat order.

    Raises `IllegalMove` if the moves do not come from exactly the seats that were asked.
    """
    if len(chosen) == 1:  # nearly always
        ((player, move),) = chosen
        if (player,) == asked:
            return (move,)
    if tuple([player for player, _ in chosen]) != asked:
        raise IllegalMove(f"moves were asked of seats {list(asked)}")
    return tuple([move for _, move in chosen])
