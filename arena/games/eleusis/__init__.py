"""Eleusis and Eleusis Express: one seat makes a rule, the others find it by playing."""

from typing import Final

from arena.games.eleusis import messages, rules
from arena.games.eleusis.messages import Variant
from arena.games.game import Game


def _game(variant: Variant, game_id: str, title: str, summary: str) -> Game:
    return Game(
        id=game_id,
        family="eleusis",
        number=28,
        title=title,
        summary=summary,
        rules=rules,
        messages=messages,
        rules_version=3,
        seats=tuple(rules.SEATS),
        preset={"variant": variant.value},
    )


GAMES: Final = (
    _game(
        Variant.ELEUSIS,
        "eleusis",
        "Eleusis",
        "One seat invents a rule; the others find it out by playing, or turn prophet.",
    ),
    _game(
        Variant.EXPRESS,
        "eleusis_express",
        "Eleusis Express",
        "The short Eleusis: single cards, no prophet, and a guess ends the hand.",
    ),
)
