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


_MESSAGES: Final = ("TrivialView", "TrivialMove", "TrivialEvent", "TrivialAsk")
_FILE: Final = """
name: "cardarena/bench/v1/trivial.proto" package: "cardarena.bench.v1" syntax: "proto3"
enum_type { name: "TrivialVerb"
  value { name: "TRIVIAL_VERB_UNSPECIFIED" number: 0 } value { name: "TRIVIAL_VERB_SHOW" number: 1 } }
enum_type { name: "TrivialEventKind"
  value { name: "TRIVIAL_EVENT_KIND_UNSPECIFIED" number: 0 } value { name: "TRIVIAL_EVENT_KIND_SHOWN" number: 1 } }
message_type { name: "TrivialView"
  field { name: "turn" number: 1 label: LABEL_OPTIONAL type: TYPE_UINT32 }
  field { name: "points" number: 2 label: LABEL_REPEATED type: TYPE_UINT32 } }
message_type { name: "TrivialMove"
  field { name: "verb" number: 1 label: LABEL_OPTIONAL type: TYPE_ENUM type_name: "TrivialVerb" }
  field { name: "coin" number: 2 label: LABEL_OPTIONAL type: TYPE_UINT32 } }
message_type { name: "TrivialEvent"
  field { name: "kind" number: 1 label: LABEL_OPTIONAL type: TYPE_ENUM type_name: "TrivialEventKind" }
  field { name: "coins" number: 2 label: LABEL_REPEATED type: TYPE_UINT32 } }
message_type { name: "TrivialAsk"
  field { name: "view" number: 1 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: "TrivialView" }
  field { name: "events" number: 2 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: "TrivialEvent" }
  field { name: "moves" number: 3 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: "TrivialMove" }
  field { name: "moves_complete" number: 4 label: LABEL_OPTIONAL type: TYPE_BOOL } }
"""


def _messages() -> ModuleType:
    """Create the module that protoc would write for this game."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

    file = text_format.Parse(_FILE, descriptor_pb2.FileDescriptorProto())
    pool = descriptor_pool.Default()
    pool.Add(file)
    module = ModuleType(f"cardarena.games.v1.{ID}_pb2")
    for name in _MESSAGES:
        descriptor = pool.FindMessageTypeByName(f"{file.package}.{name}")
        setattr(module, name, message_factory.GetMessageClass(descriptor))
    return module
