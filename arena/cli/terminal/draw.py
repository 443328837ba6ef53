"""Cards, moves, events and views as text for a terminal.

Texts of bots (notes, names) are never trusted: it is drawn as plain text and cannot move the cursor or change colours.
"""

import dataclasses
import re
from collections.abc import Iterator
from typing import Any, Final

from rich.text import Text

from arena.cli.terminal.plain import plain
from arena.games.cards import CANONICAL, JOKER

_SYMBOLS: Final = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
# A four-colour pack: no two suits are mistaken for each other.
_COLOURS: Final = {"c": "green", "d": "cyan", "h": "red", "s": "bold"}
_CARDS: Final = re.compile(r"(?<![A-Za-z0-9])(?:[2-9TJQKA][cdhs]|Jk)+(?![A-Za-z0-9])")
_CARD: Final = re.compile("..")
_LIST_INDENT: Final = 2


def card(name: str) -> Text:
    """Return one card, such as `A♠` in its suit's colour."""
    if name == JOKER:
        return Text("Jk", "magenta")
    return Text(name[0] + _SYMBOLS[name[1]], _COLOURS[name[1]])


def notation(line: str) -> Text:
    """Return a line of notation with its cards drawn as cards."""
    text, at = Text(), 0
    for match in _CARDS.finditer(line):
        text.append(plain(line[at : match.start()]))
        text.append_text(Text(" ").join(card(name) for name in _CARD.findall(match.group())))
        at = match.end()
    return text.append(plain(line[at:]))


def view(value: Any) -> Iterator[Text]:
    """Yield a view as labelled lines, one for each field, in the order of its class."""
    yield from fields(value, [field.name for field in dataclasses.fields(value)])


def fields(value: Any, names: list[str]) -> Iterator[Text]:
    """Yield some fields of a view as labelled lines."""
    width = max((len(name) for name in names), default=0)
    for name in names:
        yield from _field(name, getattr(value, name), width)


def _field(name: str, value: Any, width: int) -> Iterator[Text]:
    label = Text().append(name.replace("_", " ").ljust(width) + "  ", "dim")
    if dataclasses.is_dataclass(value):
        yield label
        for line in view(value):
            yield Text(" " * _LIST_INDENT).append_text(line)
    elif isinstance(value, tuple) and any(_is_compound(item) for item in value):
        # Lists of lists and of classes, most often by seat: a line for each.
        margin = " " * (width + _LIST_INDENT)
        for at, item in enumerate(value):
            yield (label if at == 0 else Text(margin)).append(f"{at}: ").append_text(_value(item))
    else:
        yield label.append_text(_value(value))


def _is_compound(value: Any) -> bool:
    return isinstance(value, tuple) or dataclasses.is_dataclass(value)


def _value(value: Any) -> Text:
    if value is None:
        return Text("-", "dim")
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, tuple):
        return Text(" ").join(_value(item) for item in value) if value else Text("none", "dim")
    if dataclasses.is_dataclass(value):
        parts = (
            Text(f"{field.name} ").append_text(_value(getattr(value, field.name)))
            for field in dataclasses.fields(value)
        )
        return Text(", ").join(parts)
    if type(value) is str and value in CANONICAL:
        return card(value)
    return Text(plain(str(value)))
