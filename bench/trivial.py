"""Matching pennies: a game whose rules cost almost nothing, to measure the arena itself.

Both seats show a coin at the same time; seat 0 wins a point if the coins are equal, seat 1 if they are not. So each
seat always has one open ask in each match, as each stream of the bare ping-pong has one message on its way.

It is a rules module (see `arena.games.contract`) outside the catalogue: `offer` adds it to the measured process, and
creates its messages.
"""

# ruff: noqa: ARG001 - all rules modules have the same functions

import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Final, TypeAlias

from arena.games.contract import (
    Deals,
    IllegalMove,
    Listed,
    Result,
    Seat,
    SentEvent,
    Step,
    places_of,
    require_to_act,
)
from arena.games.options import setting

SEATS: Final = (Seat(0), Seat(1))


@dataclass(frozen=True, slots=True)
class Options:
    turns: int = setting(100, "turns in the match", minimum=1, maximum=1 << 60)


@dataclass(frozen=True, slots=True)
class Show:
    """Show heads (0) or tails (1)."""

    coin: int


Move: TypeAlias = Show
_SHOWS: Final = Listed((Show(0), Show(1)))


@dataclass(frozen=True, slots=True)
class View:
    turn: int
    points: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """The coins of a turn, by seat."""

    coins: tuple[int, ...]


Event: TypeAlias = Shown


@dataclass(frozen=True, slots=True)
class State:
    turns: int
    turn: int
    points: tuple[int, ...]


def start(options: Options, seats: int, deals: Deals) -> Step:
    return Step(State(options.turns, 0, (0, 0)), ())


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    first, second = require_to_act(chosen, to_act(state))
    if not (first in _SHOWS and second in _SHOWS):
        raise IllegalMove("a coin has two sides")
    mine, theirs = state.points
    if first.coin == second.coin:
        mine += 1
    else:
        theirs += 1
    after = State(state.turns, state.turn + 1, (mine, theirs))
    return Step(after, (SentEvent(Shown((first.coin, second.coin))),))


def to_act(state: State) -> tuple[Seat, ...]:
    return SEATS if state.turn < state.turns else ()


def moves(state: State, seat: Seat) -> Listed:
    return _SHOWS


def view(state: State, seat: Seat | None) -> View:
    return View(state.turn, state.points)


def fallback(state: State, seat: Seat) -> Move:
    return _SHOWS.all[0]


def hand_number(state: State) -> int:
    return 0


def heavy(state: State, seat: Seat, move: Move) -> bool:
    return False


def result(state: State) -> Result | None:
    if to_act(state):
        return None
    return Result(state.points, places_of(state.points), (state.points,))


ID: Final = "trivial"
_NUMBER: Final = 2047
"""Its number in each `oneof game`, far from those of real games."""


def offer() -> None:
    """Add the game to the catalogue of this process."""
    from arena.games import catalogue
    from arena.games.game import Game
    from arena.referee.wire import games
    from arena.referee.wire.codec import Codec

    rules = sys.modules[__name__]
    sys.modules[f"cardarena.games.v1.{ID}_pb2"] = _messages()
    games._CODECS[ID] = Codec(ID, _NUMBER, rules)
    catalogue._BY_ID[ID] = Game(
        id=ID,
        family=ID,
        number=_NUMBER,
        title="Matching pennies",
        summary="Both seats show a coin.",
        rules=rules,
        messages=rules,
        rules_version=1,
        seats=(2,),
    )


def _messages() -> ModuleType:
    """Create the module that protoc would write for this game."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    Field = descriptor_pb2.FieldDescriptorProto  # noqa: N806
    package = "cardarena.bench.v1"
    file = descriptor_pb2.FileDescriptorProto(
        name="cardarena/bench/v1/trivial.proto", package=package, syntax="proto3"
    )

    def enum(name: str, *values: str) -> None:
        made = file.enum_type.add(name=name)
        for number, value in enumerate(values):
            made.value.add(name=value, number=number)

    def message(name: str, *fields: tuple[str, str, bool]) -> None:
        made = file.message_type.add(name=name)
        for number, (field, kind, repeated) in enumerate(fields, 1):
            label = Field.LABEL_REPEATED if repeated else Field.LABEL_OPTIONAL
            one = made.field.add(name=field, number=number, label=label)
            if kind in ("uint32", "bool"):
                one.type = Field.TYPE_UINT32 if kind == "uint32" else Field.TYPE_BOOL
            else:
                is_enum = kind in {each.name for each in file.enum_type}
                one.type = Field.TYPE_ENUM if is_enum else Field.TYPE_MESSAGE
                one.type_name = f".{package}.{kind}"

    enum("TrivialVerb", "TRIVIAL_VERB_UNSPECIFIED", "TRIVIAL_VERB_SHOW")
    enum("TrivialEventKind", "TRIVIAL_EVENT_KIND_UNSPECIFIED", "TRIVIAL_EVENT_KIND_SHOWN")
    message("TrivialView", ("turn", "uint32", False), ("points", "uint32", True))
    message("TrivialMove", ("verb", "TrivialVerb", False), ("coin", "uint32", False))
    message("TrivialEvent", ("kind", "TrivialEventKind", False), ("coins", "uint32", True))
    message(
        "TrivialAsk",
        ("view", "TrivialView", False),
        ("events", "TrivialEvent", True),
        ("moves", "TrivialMove", True),
        ("moves_complete", "bool", False),
    )
    pool = descriptor_pool.Default()
    pool.Add(file)
    module = ModuleType(f"cardarena.games.v1.{ID}_pb2")
    for name in ("TrivialView", "TrivialMove", "TrivialEvent", "TrivialAsk"):
        descriptor = pool.FindMessageTypeByName(f"{package}.{name}")
        setattr(module, name, message_factory.GetMessageClass(descriptor))
    return module
