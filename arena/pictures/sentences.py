"""Sentences that describe events, from templates.

A template contains fields of the event in braces. The type of a field, or the format after a colon,
determines its text:

| field                    | text                                                   |
|--------------------------|--------------------------------------------------------|
| a `Seat`                 | the name of the bot at this seat                       |
| a card, or several       | the cards                                              |
| a number, a word         | unchanged; underscores of a word become spaces         |
| `{winner:seat}`          | the name, if the field is a number                     |
| `{looed:seats}`          | names: ann, bob and cec                                |
| `{trump:suit}`           | the suit                                               |
| `{totals:each}`          | by seat: ann 12 and bob 5                              |
| `{gained:signed}`        | by seat: ann +12 and bob -5; of one number, +12        |
| `{rule:quoted}`          | text of a bot, in quotation marks                      |
| `{tricks:count trick}`   | 1 trick, 2 tricks                                      |

Instead of a template there may be a function that returns a template, or a line, for an event.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from string import Formatter
from types import UnionType
from typing import Any, Final, TypeAlias, Union, get_args, get_origin, get_type_hints

from arena.games.cards import CANONICAL
from arena.games.contract import Event, Seat
from arena.pictures.vocabulary import Face, Line, Name, Part, Suit

Template: TypeAlias = str | Callable[[Any], str | Line]
Sentences: TypeAlias = Mapping[type, Template]
"""By class of events, the template of their sentences."""

_FORMATTER: Final = Formatter()
_AND: Final = " and "


def sentence(event: Event, words: Sentences) -> Line:
    """Return the sentence that describes an event.

    Raises `KeyError` if there is no template for its class, or no such field.
    """
    template = words[type(event)]
    text = template if isinstance(template, str) else template(event)
    return fill(text, event) if isinstance(text, str) else text


def fill(template: str, fields: object) -> Line:
    """Fill a template with the attributes of an object. Raises `KeyError` if the object has no such attribute."""
    cls: Any = type(fields)
    seats = _seat_fields(cls)
    parts: list[Part] = []
    for text, name, spec, _ in _FORMATTER.parse(template):
        if text:
            parts.append(text)
        if name is not None:
            if not hasattr(fields, name):
                raise KeyError(name)
            parts += _said(getattr(fields, name), spec or ("seat" if name in seats else ""))
    return tuple(parts)


def line(*parts: object) -> Line:
    """Return running text of strings, numbers and parts."""
    known = (str, Name, Face, Suit)
    return tuple(part if isinstance(part, known) else str(part) for part in parts)


def listed(lines: Sequence[Line]) -> Line:
    """Join lines as in a sentence: a, b and c."""
    parts: list[Part] = []
    for at, part in enumerate(lines):
        if at:
            parts.append(_AND if at == len(lines) - 1 else ", ")
        parts += part
    return tuple(parts)


def joined(lines: Iterable[Line], between: str = " ") -> Line:
    """Join lines with a text between them."""
    parts: list[Part] = []
    for part in lines:
        if part and parts:
            parts.append(between)
        parts += part
    return tuple(parts)


def faces(cards: Iterable[str]) -> Line:
    """Return cards in running text, separated by spaces."""
    return joined((Face(card),) for card in cards)


def with_sign(amount: int) -> str:
    """Return a number with its sign; zero has none, and a minus is as wide as a plus."""
    return minus(f"{amount:+}") if amount else "0"


def minus(number: object) -> str:
    """Return a number as text, its sign as wide as a plus."""
    return str(number).replace("-", "−")


def by_seat(values: Sequence[int], *, signed: bool = False) -> Line:
    """Return a number for each seat: ann 12 and bob 5."""
    return listed(
        [
            line(Name(Seat(seat)), f" {with_sign(value)}" if signed else f" {minus(value)}")
            for seat, value in enumerate(values)
        ]
    )


def score_lines(
    scored: Sequence[int], totals: Sequence[int], *, signed: bool = False
) -> list[Line]:
    """Return the scores of a hand and of the match; `signed` adds signs to totals."""
    return [
        line("Scored: ", *by_seat(scored, signed=True), "."),
        line("In all: ", *by_seat(totals, signed=signed), "."),
    ]


def names(seats: Iterable[int]) -> Line:
    """Return names in a sentence; `nobody` if there are none."""
    return listed([(Name(Seat(player)),) for player in seats]) or ("nobody",)


def counted(number: int, what: str) -> str:
    """Return a number with its noun: 1 trick, 2 tricks, 3 passes."""
    plural = "es" if what.endswith(("s", "sh", "ch")) else "s"
    return f"{number} {what}" + ("" if number == 1 else plural)


def plain(value: object) -> str:
    """Return a value of the rules as text."""
    return str(value).replace("_", " ")


def _said(value: Any, spec: str) -> Line:
    match spec:
        case "seat":
            return (Name(value),)
        case "seats":
            return names(value)
        case "suit":
            return (Suit(value),)
        case "each":
            return by_seat(value)
        case "signed":
            return (with_sign(value),) if isinstance(value, int) else by_seat(value, signed=True)
        case "quoted":
            return (f"“{value}”",)
        case "":
            return _plainly(value)
    kind, _, what = spec.partition(" ")
    if kind != "count":
        raise KeyError(spec)
    return (counted(value, what),)


def _plainly(value: Any) -> Line:
    if isinstance(value, tuple):
        return faces(value)
    if isinstance(value, str) and value in CANONICAL:
        return (Face(value),)
    return (plain(value),)


@cache
def _seat_fields(cls: type[Any]) -> frozenset[str]:
    """Return the names of the fields whose type is `Seat`."""
    return frozenset(
        name
        for name, hint in get_type_hints(cls).items()
        if hint is Seat or (get_origin(hint) in (Union, UnionType) and Seat in get_args(hint))
    )
