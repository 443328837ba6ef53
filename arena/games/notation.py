"""Write moves and events as one line of text, and read them.

The notation is derived from the classes. A line is the name of the class in lower case and its
fields: the value alone if there is one field, otherwise `name=value`:

    take 3
    taken seat=1 cards=As9d

| value            | written as                          |
|------------------|-------------------------------------|
| None             | `-`                                 |
| boolean          | `yes`, `no`                         |
| integer          | `12`                                |
| card, enum, text | unchanged; quoted as JSON if needed |
| cards            | together: `As9d`; none: `()`        |
| other lists      | elements joined by `,`; none: `()`  |
| lists of cards   | joined by `/`: `As9d/()/Kh`         |
| nested class     | its values in braces: `{1;As9d}`    |
"""

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from arena.games.cards import CANONICAL, Card

_EMPTY: Final = "()"
_BARE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_LITERALS: Final = ("-", "yes", "no", _EMPTY)


class NotationError(ValueError):
    """A line is not valid notation. The text says what was expected."""


class Notation:
    """The notation of a union of classes, such as a game's `Move` or `Event`."""

    def __init__(self, union: Any) -> None:
        classes = get_args(union) or (union,)
        self._classes: Mapping[str, type] = {_verb(cls): cls for cls in classes}

    def write(self, value: Any) -> str:
        """Return the line of a move or an event."""
        cls = type(value)
        hints = _hints(cls)
        if len(hints) == 1:
            (name,) = hints
            return f"{_verb(cls)} {_write(getattr(value, name))}"
        fields = (f"{name}={_write(getattr(value, name))}" for name in hints)
        return " ".join((_verb(cls), *fields))

    def forms(self) -> tuple[str, ...]:
        """Return how lines of each class look: `take COUNT`, `taken seat=SEAT cards=CARDS`."""
        return tuple(
            " ".join((verb, *(n.upper() if len(hints) == 1 else f"{n}={n.upper()}" for n in hints)))
            for verb, cls in self._classes.items()
            for hints in (_hints(cls),)
        )

    def read(self, line: str) -> Any:
        """Return the move or event of a line. Raises `NotationError` if `write` never returns such a line."""
        verb, _, rest = line.strip().partition(" ")
        cls = self._classes.get(verb)
        if cls is None:
            raise NotationError(f"{verb!r} is none of: {', '.join(self._classes)}")
        hints = _hints(cls)
        if len(hints) == 1:
            ((name, hint),) = hints.items()
            return cls(**{name: _read(hint, rest, f"{verb} {name}")})
        words = _split(rest, " ")
        if len(words) != len(hints):
            raise NotationError(f"{verb} has {len(hints)} fields: {', '.join(hints)}")
        values = {}
        for word, (name, hint) in zip(words, hints.items(), strict=True):
            label, _, text = word.partition("=")
            if label != name:
                raise NotationError(f"{verb}: {name}= expected, not {word!r}")
            values[name] = _read(hint, text, f"{verb} {name}")
        return cls(**values)


def _verb(cls: type) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()


def _hints(cls: type) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def _write(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        text = str(value)
        plain = text in CANONICAL or (_BARE.fullmatch(text) and _as_cards(text) is None)
        return text if plain and text not in _LITERALS else json.dumps(text)
    if isinstance(value, tuple):
        return _write_list(value)
    values = (_write(getattr(value, name)) for name in _hints(type(value)))
    return "{" + ";".join(values) + "}"


def _write_list(values: Sequence[Any]) -> str:
    if not values:
        return _EMPTY
    if all(type(element) is str and element in CANONICAL for element in values):
        return "".join(values)
    if all(isinstance(element, tuple) for element in values):
        # A trailing slash distinguishes a list that contains one list from that list.
        joined = "/".join(_write(element) for element in values)
        return joined if len(values) > 1 else joined + "/"
    return ",".join(_write(element) for element in values)


def _read(hint: Any, text: str, where: str) -> Any:
    if get_origin(hint) in (Union, UnionType):
        inner = [member for member in get_args(hint) if member is not type(None)]
        return None if text == "-" else _read(inner[0], text, where)
    hint = getattr(hint, "__supertype__", hint)
    if get_origin(hint) is tuple:
        return _read_list(get_args(hint)[0], text, where)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _read_nested(hint, text, where)
    if hint is bool:
        if text not in ("yes", "no"):
            raise NotationError(f"{where}: yes or no expected, not {text!r}")
        return text == "yes"
    if hint is int:
        if not re.fullmatch(r"-?[0-9]{1,19}", text):
            raise NotationError(f"{where}: a whole number expected, not {text!r}")
        return int(text)
    if text.startswith('"'):
        try:
            text = json.loads(text)
        except ValueError:
            raise NotationError(f"{where}: {text!r} is not quoted text") from None
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        try:
            return hint(text)
        except ValueError:
            raise NotationError(f"{where}: one of {', '.join(hint)} expected") from None
    return text


def _read_list(element: Any, text: str, where: str) -> tuple[Any, ...]:
    if text == _EMPTY:
        return ()
    if get_origin(element) is tuple:
        parts = _split(text.removesuffix("/"), "/")
        return tuple(_read(element, part, where) for part in parts)
    cards = _as_cards(text) if element is str else None
    if cards is not None:
        return cards
    return tuple(_read(element, part, where) for part in _split(text, ","))


def _as_cards(text: str) -> tuple[Card, ...] | None:
    cards = tuple(text[at : at + 2] for at in range(0, len(text), 2))
    return cards if all(card in CANONICAL for card in cards) else None


def _read_nested(cls: type, text: str, where: str) -> Any:
    hints = _hints(cls)
    if not (text.startswith("{") and text.endswith("}")):
        raise NotationError(f"{where}: braces expected, not {text!r}")
    parts = _split(text[1:-1], ";")
    if len(parts) != len(hints):
        raise NotationError(f"{where}: {len(hints)} values expected")
    pairs = zip(hints.items(), parts, strict=True)
    return cls(**{name: _read(hint, part, where) for (name, hint), part in pairs})


def _split(text: str, separator: str) -> list[str]:
    """Split at a separator outside quotes and braces."""
    parts, depth, quoted, escaped, begin = [], 0, False, False, 0
    for at, char in enumerate(text):
        if quoted:
            escaped, quoted = (char == "\\" and not escaped), (char != '"' or escaped)
        elif char == '"':
            quoted = True
        elif char in "{}":
            depth += 1 if char == "{" else -1
        elif char == separator and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [*parts, text[begin:]] if text else []
