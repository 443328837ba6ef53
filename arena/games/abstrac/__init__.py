"""Abstrac: four games of complete information for two."""

from typing import Final

from arena.games.abstrac import messages, rules
from arena.games.abstrac.messages import Variant
from arena.games.game import Game


def _game(variant: Variant, title: str, summary: str) -> Game:
    return Game(
        id="abstrac" if variant is Variant.BASIC else f"abstrac_{variant}",
        family="abstrac",
        number=16,
        title=title,
        summary=summary,
        rules=rules,
        messages=messages,
        rules_version=1,
        seats=(2,),
        preset={"variant": variant.value},
    )


GAMES: Final = (
    _game(
        Variant.BASIC,
        "Abstrac",
        "Take one to three cards at a time from an open row; little with much in it wins.",
    ),
    _game(
        Variant.SUIT,
        "Abstrac by suit",
        "Abstrac where the suit of the top card says how many may be taken.",
    ),
    _game(
        Variant.UNFETTERED,
        "Unfettered Abstrac",
        "Abstrac where each turn may take one card more than the turn before.",
    ),
    _game(
        Variant.FIFTYTWO,
        "52-card Abstrac",
        "Abstrac over two halves of a full pack, scored by flush, sequence and set.",
    ),
)
