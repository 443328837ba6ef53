"""The pictured examples of each game's rules in a minute, from `arena/games/pages/in_a_minute.toml`."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from arena.games.cards import CANONICAL
from arena.pictures.vocabulary import Card, Chips, Gap, Item, Line, Tone, Word

_ITEM: Final = re.compile(
    r'(?:"(?P<word>[^"]+)"|\+(?P<chips>\d+)|(?P<card>\w\w|##|--))(?P<tone>[*~!]?)(?::(?P<tag>[^\s*~!]+))?'
)
_TONES: Final = {"": Tone.PLAIN, "*": Tone.MARKED, "~": Tone.DIM, "!": Tone.WRONG}


@dataclass(frozen=True, slots=True)
class Example:
    """One step of a game's rules."""

    title: str
    groups: tuple[tuple[Item, ...], ...]
    """The cards on the table, in groups from left to right."""
    sentence: str


def examples_of(game_id: str) -> Sequence[Example]:
    """Return the examples of a game; empty if there are none, as for a new game."""
    return tuple(
        Example(title, tuple(map(_group, picture.split(" | "))), sentence)
        for title, picture, sentence in _all().get(game_id, ())
    )


@cache
def _all() -> Mapping[str, Sequence[tuple[str, str, str]]]:
    file = resources.files("arena.games").joinpath("pages", "in_a_minute.toml")
    return tomllib.loads(file.read_text("utf-8"))


def _group(written: str) -> tuple[Item, ...]:
    items = tuple(_ITEM.finditer(written))
    if " ".join(match[0] for match in items) != written:
        raise ValueError(f"{written!r} is no picture")
    return tuple(map(_item, items))


def _item(match: re.Match[str]) -> Item:
    tone, tag = _TONES[match["tone"]], _line(match["tag"])
    if match["word"]:
        return Word((match["word"],), tone)
    if match["chips"]:
        return Chips(int(match["chips"]), tag, tone)
    if match["card"] == "--":
        return Gap(tag)
    if match["card"] != "##" and match["card"] not in CANONICAL:
        raise ValueError(f"{match[0]!r} is no card")
    return Card(None if match["card"] == "##" else match["card"], tone, tag)


def _line(caption: str | None) -> Line:
    return (caption.replace("_", " "),) if caption else ()
