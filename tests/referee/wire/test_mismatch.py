"""A codec that exists is one that fits: every way in which the two definitions can differ.

A toy family is made of a little proto text and a few classes. Each row changes
one of them, and the codec must say so when it is made.
"""

import dataclasses
import itertools
import re
import sys
from dataclasses import dataclass
from enum import StrEnum
from types import ModuleType, SimpleNamespace

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import enum_type_wrapper
from hypothesis import given
from hypothesis import strategies as st

from arena.games.cards import PACK_52
from arena.games.contract import Seat
from arena.referee.wire.codec import Codec, Malformed
from arena.referee.wire.shape import Mismatch
from tests.referee.wire.slowly import fill, flat

CARDS = "cardarena/games/v1/cards.proto"


class Colour(StrEnum):
    RED = "red"
    DEEP_BLUE = "deep blue"


@dataclass(frozen=True, slots=True)
class Pile:
    name: str
    open: bool
    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class View:
    turn: Seat
    colour: Colour
    shade: Colour | None
    past: tuple[Colour, ...]
    piles: tuple[Pile, ...]
    top: Pile | None
    last: int | None
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class PlaceCard:
    card: str
    pile: int
    why: str | None


@dataclass(frozen=True, slots=True)
class Stop:
    pass


@dataclass(frozen=True, slots=True)
class Placed:
    seat: int
    pile: Pile
    colours: tuple[Colour, ...]


@dataclass(frozen=True, slots=True)
class Stopped:
    seat: int
    rows: tuple[tuple[str, ...], ...]


MESSAGES = {
    "View": """uint32 turn; Colour colour; Colour shade; repeated Colour past; repeated Pile piles;
        Pile top; optional sint32 last; repeated Cards rows""",
    "Pile": "string name; bool open; repeated string cards",
    "Move": "Verb verb; string card; uint32 pile; optional string why",
    "Event": "EventKind kind; uint32 seat; Pile pile; repeated Colour colours; repeated Cards rows",
    "Ask": "View view; repeated Event events; repeated Move moves; bool moves_complete",
}
ENUMS = {
    "Colour": "RED DEEP_BLUE",
    "Verb": "PLACE_CARD STOP",
    "EventKind": "PLACED STOPPED",
}
RULES = SimpleNamespace(View=View, Move=PlaceCard | Stop, Event=Placed | Stopped)

_Field = descriptor_pb2.FieldDescriptorProto
_PLAIN = {
    "uint32": _Field.TYPE_UINT32,
    "sint32": _Field.TYPE_SINT32,
    "double": _Field.TYPE_DOUBLE,
    "string": _Field.TYPE_STRING,
    "bool": _Field.TYPE_BOOL,
}
_numbers = itertools.count(1)


class Family:
    """A family of games whose proto is made up here."""

    def __init__(self, messages=MESSAGES, enums=ENUMS):
        self.name = f"toy{next(_numbers)}"
        self.prefix = self.name.capitalize()
        self.file = descriptor_pb2.FileDescriptorProto(
            name=f"cardarena/games/v1/{self.name}.proto",
            package="cardarena.games.v1",
            syntax="proto3",
            dependency=[CARDS],
        )
        for name, values in enums.items():
            self._add_enum(name, values.split())
        for name, fields in messages.items():
            self._add_message(name, [field.split() for field in fields.split(";") if field.strip()])
        pool = descriptor_pool.Default()
        pool.Add(self.file)
        self.module = ModuleType(f"cardarena.games.v1.{self.name}_pb2")
        for name in messages:
            message = pool.FindMessageTypeByName(f"cardarena.games.v1.{self.prefix}{name}")
            setattr(self.module, self.prefix + name, message_factory.GetMessageClass(message))
        for name in enums:
            message = pool.FindEnumTypeByName(f"cardarena.games.v1.{self.prefix}{name}")
            wrapper = enum_type_wrapper.EnumTypeWrapper(message)
            setattr(self.module, self.prefix + name, wrapper)
        sys.modules[self.module.__name__] = self.module

    def codec(self, rules=RULES):
        return Codec(self.name, 16, rules)

    def _add_enum(self, name, values):
        enum = self.file.enum_type.add(name=self.prefix + name)
        prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.prefix + name).upper()
        for number, value in enumerate(["UNSPECIFIED", *values]):
            enum.value.add(name=f"{prefix}_{value}", number=number)

    def _add_message(self, name, fields):
        message = self.file.message_type.add(name=self.prefix + name)
        for number, words in enumerate(fields, 1):
            *label, kind, field_name = words
            field = message.field.add(name=field_name, number=number, label=_Field.LABEL_OPTIONAL)
            if label == ["repeated"]:
                field.label = _Field.LABEL_REPEATED
            if label == ["optional"]:
                field.proto3_optional = True
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field_name}")
            if kind in _PLAIN:
                field.type = _PLAIN[kind]
            else:
                own = "" if kind == "Cards" else self.prefix
                is_enum = kind in ENUMS
                field.type = _Field.TYPE_ENUM if is_enum else _Field.TYPE_MESSAGE
                field.type_name = f".cardarena.games.v1.{own}{kind}"


# fmt: off
CHANGES = [
    # where       was                        becomes                  named as
    ("View",      "uint32 turn;",            "",                      r"View\.turn is not in"),
    ("View",      "uint32 turn;",            "uint32 turn; bool odd;", r"View .*differ in: odd"),
    ("View",      "uint32 turn",             "string turn",           r"View\.turn does not fit"),
    ("View",      "uint32 turn",             "double turn",           r"View\.turn does not fit"),
    ("View",      "uint32 turn",             "repeated uint32 turn",  r"View\.turn is one value"),
    ("View",      "optional sint32 last",    "sint32 last",           r"View\.last may be None"),
    ("View",      "Colour colour",           "string colour",         r"View\.colour does not fit"),
    ("View",      "Colour colour",           "uint32 colour",         r"View\.colour does not fit"),
    ("View",      "Colour colour",           "optional Colour colour", r"View\.colour is an enum"),
    ("View",      "Colour shade",            "optional Colour shade", r"View\.shade is an enum"),
    ("View",      "repeated Colour past",    "Colour past",           r"View\.past is a tuple"),
    ("View",      "repeated Pile piles",     "Pile piles",            r"View\.piles is a tuple"),
    ("View",      "repeated Pile piles",     "repeated uint32 piles", r"View\.piles does not fit"),
    ("View",      "repeated Pile piles",     "repeated Cards piles",  r"View\.piles does not fit"),
    ("View",      "repeated Cards rows",     "repeated string rows",  r"View\.rows does not fit"),
    ("View",      "repeated Cards rows",     "repeated Pile rows",    r"View\.rows does not fit"),
    ("View",      "repeated Cards rows",     "Cards rows",            r"View\.rows is a tuple"),
    ("Pile",      "bool open;",              "",                      r"Pile .*differ in: open"),
    ("Pile",      "bool open;",              "bool open; bool odd;",  r"Pile .*differ in: odd"),
    ("Pile",      "bool open",               "uint32 open",           r"Pile\.open does not fit"),
    ("Move",      "Verb verb;",              "",                      r"Move has no enum field verb"),
    ("Move",      "Verb verb",               "uint32 verb",           r"Move has no enum field verb"),
    ("Move",      "uint32 pile;",            "",                      r"PlaceCard\.pile is not in"),
    ("Move",      "uint32 pile;",            "uint32 pile; bool odd;", r"Move has fields .*odd"),
    ("Move",      "optional string why",     "string why",            r"PlaceCard\.why may be None"),
    ("Event",     "EventKind kind;",         "",                      r"Event has no enum field kind"),
    ("Event",     "Pile pile",               "Cards pile",            r"Placed\.pile does not fit"),
    ("Event",     "repeated Colour colours", "repeated Verb colours", r"Colour .*differ in"),
    ("Event",     "repeated Cards rows",     "",                      r"Stopped\.rows is not in"),
    ("Ask",       "bool moves_complete",     "",                      r"Ask has the fields"),
    ("Ask",       "View view",               "Pile view",             r"Ask has the fields"),
    ("Ask",       "repeated Event events; repeated Move moves",
                  "repeated Move moves; repeated Event events",       r"Ask has the fields"),
    ("Ask",       "repeated Move moves",     "repeated Event moves",  r"Ask has the fields"),
    ("Ask",       "repeated Move moves",     "Move moves",            r"Ask has the fields"),
    ("Colour",    "DEEP_BLUE",               "",                      r"Colour .*DEEP_BLUE"),
    ("Colour",    "DEEP_BLUE",               "DEEP_BLUE GREEN",       r"Colour .*GREEN"),
    ("Verb",      "STOP",                    "",                      r"Move .*VERB_STOP"),
    ("Verb",      "STOP",                    "STOP PASS",             r"Move .*VERB_PASS"),
    ("EventKind", "STOPPED",                 "HALTED",                r"Event .*HALTED.*STOPPED"),
]
# fmt: on


@pytest.mark.parametrize(
    ("where", "was", "becomes", "text"),
    CHANGES,
    ids=[f"{where}: {was.strip(';')} -> {new or 'nothing'}" for where, was, new, _ in CHANGES],
)
def test_a_proto_that_differs_is_refused(where, was, becomes, text):
    definitions = ENUMS if where in ENUMS else MESSAGES
    assert definitions[where].count(was) == 1
    changed = {**definitions, where: definitions[where].replace(was, becomes)}
    family = Family(enums=changed) if where in ENUMS else Family(messages=changed)
    with pytest.raises(Mismatch, match=text):
        family.codec()


@pytest.mark.parametrize("name", ["View", "Move", "Event", "Ask"])
def test_a_message_that_is_missing_is_refused(name):
    family = Family()
    delattr(family.module, family.prefix + name)
    with pytest.raises(Mismatch, match=f"there is no message {family.prefix}{name}"):
        family.codec()


def changed_view(**kinds):
    hints = {field.name: field.type for field in dataclasses.fields(View)} | kinds
    made = dataclasses.make_dataclass("View", list(hints.items()), frozen=True, slots=True)
    return SimpleNamespace(View=made, Move=RULES.Move, Event=RULES.Event)


# fmt: off
CLASSES = [
    ({"extra": int},                            r"View\.extra is not in", "a field more"),
    ({"turn": str},                             r"View\.turn does not",   "another type"),
    ({"turn": int | None},                      r"View\.turn may be",     "None where it cannot be"),
    ({"colour": Seat},                          r"View\.colour does not", "a number for an enum"),
    ({"past": tuple[Colour, int]},              r"View\.past .*several",  "elements of two types"),
    ({"rows": tuple[tuple[int, ...], ...]},     r"View\.rows does not",   "numbers for cards"),
    ({"piles": tuple[Pile, ...] | None},        r"View\.piles .*tuple",   "None for a list"),
    ({"turn": float},                           r"View\.turn does not",   "no whole number"),
]
# fmt: on


@pytest.mark.parametrize(("kinds", "text", "why"), CLASSES, ids=[row[-1] for row in CLASSES])
def test_classes_that_differ_are_refused(kinds, text, why):
    with pytest.raises(Mismatch, match=text):
        Family().codec(changed_view(**kinds))


# The family as it stands fits, and every value of it survives.

FAMILY = Family()
CODEC = FAMILY.codec()
cards = st.lists(st.sampled_from(PACK_52), max_size=4).map(tuple)
rows = st.lists(cards, max_size=3).map(tuple)
uint32 = st.integers(0, 2**32 - 1)
colours = st.lists(st.sampled_from(Colour), max_size=3).map(tuple)
piles = st.builds(Pile, st.text(), st.booleans(), cards)
views = st.builds(
    View,
    uint32,
    st.sampled_from(Colour),
    st.none() | st.sampled_from(Colour),
    colours,
    st.lists(piles, max_size=3).map(tuple),
    st.none() | piles,
    st.none() | st.integers(-(2**31), 2**31 - 1),
    rows,
)
moves = st.builds(PlaceCard, st.text(), uint32, st.none() | st.text()) | st.just(Stop())
events = st.builds(Placed, uint32, piles, colours) | st.builds(Stopped, uint32, rows)


@given(views)
def test_a_view_is_the_message_that_protobuf_would_build(view):
    made = getattr(FAMILY.module, f"{FAMILY.prefix}View")
    assert CODEC.view(view) == fill(made(), view).SerializeToString()


@given(moves)
def test_a_move_survives(move):
    message = flat(FAMILY.module, FAMILY.name, "Move", move)
    assert CODEC.move(move) == message.SerializeToString()
    assert CODEC._moves.read(message) == move


@given(events)
def test_an_event_survives(event):
    message = flat(FAMILY.module, FAMILY.name, "Event", event)
    assert CODEC.read_event(message) == event
    assert CODEC._events.encode(event) == message.SerializeToString()


def test_a_nested_message_of_an_event_is_read_with_its_defaults():
    made = getattr(FAMILY.module, f"{FAMILY.prefix}Event")
    assert CODEC.read_event(made(kind=1)) == Placed(0, Pile("", open=False, cards=()), ())
    with pytest.raises(Malformed, match="placed does not use the field rows"):
        CODEC.read_event(made(kind=1, rows=[{"cards": ["As"]}]))


# fmt: off
OUT_OF_RANGE = [
    ({"turn": -1},          "a negative number in an unsigned field"),
    ({"turn": 1 << 32},     "a number of 33 bits"),
    ({"last": 1 << 31},     "a signed number of 33 bits"),
    ({"last": -1 - (1 << 31)}, "likewise below zero"),
    ({"rows": (("\ud800",),)}, "half a character"),
]
# fmt: on


@pytest.mark.parametrize(("fields", "why"), OUT_OF_RANGE, ids=[row[-1] for row in OUT_OF_RANGE])
def test_what_a_field_cannot_hold_is_no_bytes(fields, why):
    fitting = View(0, Colour.RED, None, (), (), None, None, ())
    for _ in range(2):  # nothing of the first attempt is kept
        with pytest.raises(ValueError, match=r"cannot hold|encode"):
            CODEC.view(dataclasses.replace(fitting, **fields))


def test_bytes_of_more_values_than_are_kept_are_right_as_well():
    fitting = View(0, Colour.RED, None, (), (), None, None, ())
    made = getattr(FAMILY.module, f"{FAMILY.prefix}View")
    for turn in (*range(5_000), 1, 4_999):
        pile = Pile(str(turn), open=True, cards=("As",))
        view = dataclasses.replace(fitting, turn=Seat(turn), piles=(pile,))
        assert made.FromString(CODEC.view(view)) == fill(made(), view)
