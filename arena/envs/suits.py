"""Renamed suits: the same decision in other suits, which is a further example for a learner."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import permutations, product
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.envs.codes import Rename
from arena.envs.encoders import Layout
from arena.games.cards import CANONICAL, SUITS
from arena.games.loo.tricks import PAM

ALIKE: Final = {
    "democracy": (SUITS,),
    "jam": ("cs", "dh"),
    "klaberjass": (SUITS,),
    "loo": (SUITS.replace(PAM[1], ""),),
    "pineapple": (SUITS,),
    "sixty_six": (SUITS,),
    "soko": (SUITS,),
}
"""By family the sets of suits that can be renamed without a change of the game or of the order of observations."""
_WORDS: Final = dict(zip(SUITS, ("clubs", "diamonds", "hearts", "spades"), strict=True))


class Renaming(NamedTuple):
    """A renaming of the suits, by the numbers of a layout."""

    inputs: NDArray[np.intp]
    """For each number of an observation the number that it takes."""
    actions: NDArray[np.intp]
    """For each action the action that it takes the value of."""


def renamings(family: str, layout: Layout) -> list[Renaming]:
    """Return all renamings of the suits of a family that are alike, the unchanged one first."""
    alike = ALIKE.get(family, ())
    return [
        _renaming(
            layout, rename_by(dict(zip("".join(alike), "".join(map("".join, to)), strict=True)))
        )
        for to in product(*map(permutations, alike))
    ]


def rename_by(suits: dict[str, str]) -> Rename:
    """Return a function that renames these suits in cards, moves and states."""
    words = suits | {_WORDS[suit]: _WORDS[to] for suit, to in suits.items()}

    def renamed(value: Any) -> Any:
        if isinstance(value, str):
            if value in CANONICAL and len(value) == 2:
                return value[0] + suits.get(value[1], value[1])
            return words.get(value, value) if type(value) is str else value
        if isinstance(value, tuple):
            parts = map(renamed, value)
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in fields(value) if field.init]
            return replace(value, **{name: renamed(getattr(value, name)) for name in names})
        return value

    return renamed


def _renaming(layout: Layout, rename: Rename) -> Renaming:
    return Renaming(_inverse(layout.view.renamed(rename)), _inverse(layout.actions.renamed(rename)))


def _inverse(places: Sequence[int]) -> NDArray[np.intp]:
    inverse = np.empty(len(places), np.intp)
    inverse[np.array(places)] = np.arange(len(places))
    return inverse
