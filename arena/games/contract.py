"""What a rules module offers, and the few types that all games share.

A rules module is a set of pure functions over frozen values:

    start(options, seats, deals) -> Step
    step(state, chosen, deals) -> Step
    to_act(state) -> seats to ask now; empty when the match is over
    moves(state, seat) -> Moves
    view(state, seat | None) -> what that seat may know; None is the spectator
    fallback(state, seat) -> the move played for a seat that does not answer
    hand_number(state) -> int, counting every deal from 0
    heavy(state, seat, move) -> Work or bool, whether a step may take over 5 ms
    result(state) -> Result | None
    margin_bound(options, seats) -> the most that a seat's score may differ, or None

`step` takes all the choices that were asked for together, in seat order, so a
half-made simultaneous choice is never part of a state. An illegal choice
raises `IllegalMove` and leaves the state as it was: states are immutable.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, NewType, Protocol, TypeAlias

from arena.cards import Card

Seat = NewType("Seat", int)
"""A place at the table, 0 to n - 1, clockwise."""

MAX_OFFERED: Final = 512
"""Moves listed on one ask at most; the rules may allow more."""

# Each game has its own classes for these; here only their roles matter.
Options: TypeAlias = Any
State: TypeAlias = Any
Move: TypeAlias = Any
Event: TypeAlias = Any
View: TypeAlias = Any


class IllegalMove(Exception):
    """The rules forbid this move here. The state is unchanged.

    The text names only what the moving seat may know: it is shown to that seat.
    """


class BadOptions(ValueError):
    """An option has a wrong name or value, or does not suit the number of seats."""


class Deals(Protocol):
    """The chance of a match: every shuffle, as a function of where it happens."""

    def shuffle(self, hand: int, label: str, cards: Sequence[Card]) -> tuple[Card, ...]:
        """Return `cards` in the order fixed for hand number `hand` and `label`.

        The same arguments give the same order, whatever was played before.
        """
        ...


class Told(NamedTuple):
    """Something that happened, and who learns of it."""

    event: Event
    seats: tuple[Seat, ...] | None = None
    """The seats that may know; None is everybody, spectators included."""


class Step(NamedTuple):
    """The state after a step and what to tell of it, in order."""

    state: State
    told: tuple[Told, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """How a match ended by the rules."""

    scores: tuple[int, ...]
    """By seat, in the game's own unit; higher is better."""
    places: tuple[int, ...]
    """By seat, 1 is first; equal scores share a place."""
    hand_scores: tuple[tuple[int, ...], ...]
    """For each hand in order, the score of every seat."""


class Moves(Protocol):
    """The moves a seat may make now. Never empty while the seat is to act."""

    @property
    def offered(self) -> tuple[Move, ...]:
        """Legal moves in a fixed order, at most `MAX_OFFERED` of them."""
        ...

    @property
    def complete(self) -> bool:
        """Whether `offered` is all of them."""
        ...

    def __contains__(self, move: object) -> bool: ...

    def count(self) -> int:
        """How many moves the rules allow, listed or not."""
        ...

    def sample(self, below: Callable[[int], int]) -> Move:
        """One legal move, uniformly; `below(n)` draws an integer in [0, n)."""
        ...


class Work(NamedTuple):
    """How long a step may take at most, as the rules count it on any machine alike."""

    steps: int
    """All of it."""
    charged: int = 0
    """What the seat itself has to answer for: its clock is charged for that."""


class Listed:
    """Moves few enough to hold: those offered are the first `MAX_OFFERED`."""

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
        return move in self.all

    def __iter__(self) -> Iterator[Move]:
        return iter(self.all)

    def count(self) -> int:
        return len(self.all)

    def sample(self, below: Callable[[int], int]) -> Move:
        return self.all[below(len(self.all))]


class Rules(Protocol):
    """The functions of a rules module, as the module itself offers them."""

    def start(self, options: Options, seats: int, deals: Deals) -> Step: ...
    def step(self, state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step: ...
    def to_act(self, state: State) -> tuple[Seat, ...]: ...
    def moves(self, state: State, seat: Seat) -> Moves: ...
    def view(self, state: State, seat: Seat | None) -> View: ...
    def fallback(self, state: State, seat: Seat) -> Move: ...
    def hand_number(self, state: State) -> int: ...
    def heavy(self, state: State, seat: Seat, move: Move) -> Work | bool: ...
    def result(self, state: State) -> Result | None: ...
    def margin_bound(self, options: Options, seats: int) -> int | None: ...


def places_of(scores: Sequence[int]) -> tuple[int, ...]:
    """Places by score, highest first; equal scores share the better place."""
    return tuple(1 + sum(other > score for other in scores) for score in scores)


def require_to_act(
    chosen: tuple[tuple[Seat, Move], ...], asked: tuple[Seat, ...]
) -> tuple[Move, ...]:
    """The chosen moves in seat order.

    Raises:
      IllegalMove: if the choices are not from exactly the seats that were asked.
    """
    if len(chosen) == 1:  # nearly always
        ((seat, move),) = chosen
        if (seat,) == asked:
            return (move,)
    if tuple([seat for seat, _ in chosen]) != asked:
        raise IllegalMove(f"moves were asked of seats {list(asked)}")
    return tuple([move for _, move in chosen])
